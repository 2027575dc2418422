"""The styles of the report: text is read on its paper by day and by night, and printed pages break between things."""

from __future__ import annotations

import re
from importlib import resources

import pytest

from kfrc_app.facts.palette import relative_luminance

READABLE = 4.5
"""Least contrast of text (Web Content Accessibility Guidelines, level AA)."""

TEXT_ON_PAPER = [
    *[(ink, paper) for ink in ("ink", "soft", "accent") for paper in ("paper", "panel", "accent-soft")],
    *[(ink, paper) for ink in ("ink", "warn") for paper in ("warn-back",)],
    *[(ink, paper) for ink in ("ink", "bad") for paper in ("bad-back",)],
]


def read(name):
    return (resources.files("kfrc_app.report") / "templates" / name).read_text(encoding="utf-8")


def colors(theme):
    """Variables of the page by name."""
    light, dark = re.findall(r":root \{(.*?)\}", read("style.css"), flags=re.DOTALL)
    found = dict(re.findall(r"--([a-z-]+): (#[0-9a-f]{6})", light))
    return found if theme == "light" else found | dict(re.findall(r"--([a-z-]+): (#[0-9a-f]{6})", dark))


def contrast(first, second):
    light, dark = sorted((relative_luminance(first), relative_luminance(second)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize(("ink", "paper"), TEXT_ON_PAPER)
def test_text_is_read_on_its_paper(theme, ink, paper):
    found = colors(theme)
    assert contrast(found[ink], found[paper]) >= READABLE


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("tint", ["high", "low"])
def test_text_is_read_on_the_strongest_tint(theme, tint):
    found = colors(theme)
    paper, color = ([int(found[name][k : k + 2], 16) for k in (1, 3, 5)] for name in ("paper", tint))
    share = float(re.search(r"--strength, 0%\) \* (\.\d+)", read("style.css")).group(1))
    mixed = "#" + "".join(f"{round(share * c + (1 - share) * p):02x}" for c, p in zip(color, paper, strict=True))
    assert contrast(found["ink"], mixed) >= READABLE


def test_dark_colors_are_for_screens_and_paper_stays_white():
    style = read("style.css")
    assert "@media screen and (prefers-color-scheme: dark)" in style
    assert not re.search(r"@media \(prefers-color-scheme", style)


def test_printed_pages_break_between_things():
    style = read("print.css")
    (kept,) = re.findall(r"([^{}]*)\{ break-inside: avoid; \}", style)
    for name in (".card", ".spread", ".map", "tr"):
        assert name in kept
    assert "#appendix { break-before: page; }" in style
    assert re.search(r"@bottom-right \{ content: counter\(page\)", style)
    assert "print-color-adjust: exact" in style
    assert re.search(r"nav, .*display: none", style)


def test_focus_is_seen():
    assert ":focus-visible { outline: 3px" in read("style.css")
