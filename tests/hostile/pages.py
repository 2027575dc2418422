"""What must hold for a page of the report: it is well-formed, loads nothing, and shows names as text only."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser

from hostile.attack import Broken

_VOID = {"meta", "link", "br", "hr", "wbr", "col", "input"}
_FOREIGN = {"img", "iframe", "object", "embed", "base", "form", "audio", "video", "marquee", "template", "frame"}
_LOADING = {"src", "srcset", "action", "formaction", "xlink:href", "poster", "background", "ping", "srcdoc", "manifest"}
NO_NUMBER = re.compile(r"(?<![\w.])(?:nan|NaN|[-+]?inf|Infinity|undefined|NaT|None(?! [a-z]))(?![\w])")
TEMPLATE = re.compile(r"\{\{|\{%|%\}|\}\}")
"""What a page must not show, unless the table itself holds it."""


class _Page(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.texts: list[str] = []
        self.scripts: list[tuple[dict, str]] = []
        self.attributes: list[tuple[str, str, str]] = []
        self.n_styles = 0

    def handle_starttag(self, tag, attrs):
        self.attributes += [(tag, name, value or "") for name, value in attrs]
        if tag in _FOREIGN:
            raise Broken(f"the page has an element {tag}")
        if len({name for name, _ in attrs}) < len(attrs):
            raise Broken(f"an element {tag} has an attribute twice")
        if tag == "script":
            self.scripts.append((dict(attrs), ""))
        self.n_styles += tag == "style"
        if tag not in _VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if tag not in _VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            raise Broken(f"an element {tag} ends that was not the last to begin")

    def handle_comment(self, data):
        raise Broken(f"the page has a comment\n{data[:200]}")

    def handle_data(self, data):
        if self.open and self.open[-1] == "script":
            attributes, text = self.scripts.pop()
            self.scripts.append((attributes, text + data))
        elif self.open and self.open[-1] != "style":
            self.texts.append(data)
        elif not self.open and data.strip():
            raise Broken("text outside of the page")


def check_page(page: str, *, says_such: bool) -> None:
    """Hold a page against what is promised.

    Parameters
    ----------
    page : str
    says_such : bool
        Whether the table itself has words such as "nan" or signs of a template.
    """
    found = _Page()
    found.feed(page)
    found.close()
    if found.open:
        raise Broken(f"elements do not end: {found.open}")
    if found.n_styles != 1 or len(found.scripts) != 2:
        raise Broken("the page has other scripts or styles than its own")
    for tag, name, value in found.attributes:
        if name.startswith("on") or name in _LOADING:
            raise Broken(f"an element {tag} has {name}")
        if name == "href" and not value.startswith("#") and value != "data:,":
            raise Broken(f"a link leads to elsewhere: {value[:40]}")
        if name == "style" and ("url(" in value or "expression" in value):
            raise Broken("a style loads something")
        if not says_such and NO_NUMBER.search(value):
            raise Broken(f"an attribute {name} of {tag} has a number that is none\n{value[:300]}")
    ids = [value for _, name, value in found.attributes if name == "id"]
    if len({*ids}) < len(ids):
        raise Broken(f"an id is used twice: {sorted({i for i in ids if ids.count(i) > 1})[:3]}")
    targets = {value[1:] for tag, name, value in found.attributes if name == "href" and value.startswith("#")}
    if targets - {*ids}:
        raise Broken(f"a link leads nowhere: {sorted(targets - {*ids})[:3]}")
    strict_json(next(text for attributes, text in found.scripts if attributes.get("type") == "application/json"))
    check_text("\n".join(found.texts), "the page", says_such=says_such)


def check_text(text: str, where: str, *, says_such: bool) -> None:
    """Text that people read has no numbers that are none, no templates, and no control characters."""
    control = re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]", text)
    if control:
        around = text[max(0, control.start() - 60) : control.start() + 60]
        raise Broken(f"{where} has a control character\n{around!r}")
    if says_such:
        return
    for pattern, what in ((NO_NUMBER, "a number that is none"), (TEMPLATE, "a template that was not filled in")):
        wrong = pattern.search(text)
        if wrong:
            raise Broken(f"{where} shows {what}\n{text[max(0, wrong.start() - 150) : wrong.start() + 80]!r}")


def strict_json(text: str):
    """A document in which every number is one."""

    def refuse(constant):
        raise Broken(f"JSON holds {constant}")

    try:
        return json.loads(text, parse_constant=refuse)
    except json.JSONDecodeError as error:
        raise Broken(f"no JSON: {error.msg}\n{text[:300]}") from None
