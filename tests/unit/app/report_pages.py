"""What a reader sees of a page of the report."""

from __future__ import annotations

import html
import re

INLINE = "a|abbr|b|bdi|code|em|i|kbd|small|span|strong|sub|sup|wbr"


def first_page(page):
    """The part that a reader with five minutes reads."""
    (inside,) = re.findall(r'<header id="first".*?</header>', page, flags=re.DOTALL)
    return inside


def main_part(page):
    """All before the appendix."""
    return page[page.index('<main id="main">') : page.index('<div id="appendix">')]


def visible(part):
    """Text, with what a screen reader and a pointer are told; parts of a word are not torn apart."""
    told = " ".join(re.findall(r'(?:aria-label|title)="([^"]*)"', part))
    text = re.sub(r"<(script|style)\b.*?</\1>", " ", part, flags=re.DOTALL)
    text = re.sub(rf"</?(?:{INLINE})\b[^>]*>", "", text)
    text = re.sub(r"<[^>]*>", " ", text)
    return " ".join(html.unescape(f"{text} {told}").split())
