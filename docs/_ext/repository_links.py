"""Links that work on a code host work on the site: documents at the root of the repository have pages in ``project/``.

``project/changelog.md`` and its neighbors include a document of the root. A link is written as it must be on a code
host, relative to the file it stands in; here it is made relative to the page that its text ends up on, and a link to a
document of the root leads to the page that includes it, one to a script in ``examples`` to the page of its pictures.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

DOCS = Path(__file__).resolve().parents[1]
ROOT = DOCS.parent
PAGES = {
    ROOT / "ARCHITECTURE.md": DOCS / "project" / "architecture.md",
    ROOT / "CHANGELOG.md": DOCS / "project" / "changelog.md",
    ROOT / "CONTRIBUTING.md": DOCS / "project" / "contributing.md",
    ROOT / "README.md": DOCS / "index.md",
}
SCRIPTS = {ROOT / "examples" / "tutorials": DOCS / "tutorials" / "run", ROOT / "examples" / "gallery": DOCS / "gallery"}
LINK = re.compile(r"(?<=\]\()(?![a-z]+:|#|/)([^)#\s]+)")


def page_of(target: Path) -> Path:
    """Where the site shows a file: an included document and a script that was run have pages of another name."""
    for folder, shown in SCRIPTS.items():
        if target.is_relative_to(folder):
            return shown / target.relative_to(folder).with_suffix(".rst")
    return PAGES.get(target, target)


def move_links(text: str, written_in: Path, shown_on: Path) -> str:
    """Text of one file with its relative links as they must be on the page that shows it."""

    def moved(match: re.Match[str]) -> str:
        target = (written_in.parent / match.group(1)).resolve()
        if not target.exists():
            return match.group()
        return Path(os.path.relpath(page_of(target), shown_on.parent)).as_posix()

    return LINK.sub(moved, text)


def on_source(app: Any, docname: str, source: list[str]) -> None:
    """A page is about to be read."""
    page = Path(app.env.doc2path(docname))
    if page.suffix == ".md":
        source[0] = move_links(source[0], page, page)


def on_include(app: Any, included: Path, docname: str, source: list[str]) -> None:
    """A page includes another file, given relative to the folder of the documents."""
    written_in = (Path(app.srcdir) / included).resolve()
    if written_in in PAGES:
        source[0] = move_links(source[0], written_in, PAGES[written_in])


def setup(app: Any) -> dict[str, bool]:
    """Called by Sphinx."""
    app.connect("source-read", on_source)
    app.connect("include-read", on_include)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
