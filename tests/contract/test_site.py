"""The documentation site: every public name and document is on it, its links lead somewhere, and it asks nobody."""

from __future__ import annotations

import html
import importlib
import pkgutil
import re
import zlib
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

import kfrc

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
SITE = DOCS / "_build" / "html"
SOURCES = [path for path in DOCS.rglob("*.md") if "_build" not in path.parts]
# What makes a browser ask for something at once; a link that a reader may click does not.
LOADED = re.compile(r"""(?:\bsrc|<link\b[^>]*\bhref)\s*=\s*["']?\s*((?:https?:)?//[^"'\s>]+)""")
LOADED_BY_STYLE = re.compile(r"""(?:@import\s+|url\()\s*["']?\s*((?:https?:)?//[^"')\s]+)""")


@pytest.fixture(scope="module")
def site():
    """The folder that ``make docs`` fills; ``make check`` runs it before the tests."""
    if not (SITE / "index.html").exists():
        pytest.skip("needs the built site: make docs")
    return SITE


@pytest.fixture(scope="module")
def pages(site):
    """What every page links to and which places it has, by path."""
    found = {}
    for path in site.rglob("*.html"):
        if "_static" in path.parts:  # templates of the theme
            continue
        reader = Reader()
        reader.feed(path.read_text(encoding="utf-8"))
        found[path] = reader
    return found


class Reader(HTMLParser):
    """Links and anchors of a page."""

    def __init__(self):
        super().__init__()
        self.targets = set()
        self.anchors = set()

    def handle_starttag(self, tag, attrs):
        attributes = dict(attrs)
        self.targets |= {attributes[name] for name in ("href", "src") if attributes.get(name)}
        self.anchors |= {attributes[name] for name in ("id", "name") if attributes.get(name)}


def names_in_inventory(site):
    """Everything that the site describes, from the file by which other sites would link to it."""
    content = (site / "objects.inv").read_bytes()
    compressed = content.split(b"\n", 4)[4]
    return {line.split(" ")[0] for line in zlib.decompress(compressed).decode("utf-8").splitlines()}


def public_names():
    """Pairs of a module and a name that it lists; modules that start with an underscore are private."""
    modules = ["kfrc", "kfrc_app.displays"]
    modules += [f"kfrc.{info.name}" for info in pkgutil.iter_modules(kfrc.__path__) if not info.name.startswith("_")]
    for module in modules:
        for name in getattr(importlib.import_module(module), "__all__", []):
            if not name.startswith("_"):
                yield module, name


def test_every_public_name_is_in_the_reference(site):
    described = names_in_inventory(site)
    assert "kfrc.KFRC" in described
    missing = []
    for module, name in public_names():
        page = site / "reference" / "api" / f"{module}.html"
        if f"{module}.{name}" not in described and f"{module}.{name}" not in page.read_text(encoding="utf-8"):
            missing.append(f"{module}.{name}")
    assert not missing


def test_every_module_without_a_list_has_its_functions_in_the_reference(site):
    assert {"kfrc.stability.critical_fuzzifier", "kfrc.confidence.assess"} <= names_in_inventory(site)


@pytest.mark.parametrize("document", SOURCES, ids=lambda path: path.relative_to(DOCS).as_posix())
def test_every_document_is_a_page(document, site):
    assert (site / document.relative_to(DOCS)).with_suffix(".html").exists()


def test_links_within_the_site_lead_somewhere(pages, site):
    broken = []
    for path, reader in pages.items():
        for target in reader.targets:
            parts = urlsplit(target)
            if parts.scheme or parts.netloc:
                continue
            goal = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            anchors = pages[goal].anchors if goal in pages else {unquote(parts.fragment)}
            if not goal.exists() or (parts.fragment and unquote(parts.fragment) not in anchors):
                broken.append(f"{path.relative_to(site)}: {target}")
    assert not broken


def test_no_page_loads_anything_from_elsewhere(site):
    asked = [
        (path.relative_to(site).as_posix(), address)
        for pattern, suffixes in [(LOADED, {".html"}), (LOADED_BY_STYLE, {".html", ".css"})]
        for path in site.rglob("*")
        if path.suffix in suffixes
        for address in pattern.findall(path.read_text(encoding="utf-8"))
    ]
    assert not asked


def test_a_page_that_loads_something_from_elsewhere_would_be_noticed():
    assert LOADED.findall('<script async src="https://cdn.example/mathjax.js"></script>')
    assert LOADED.findall('<link rel="stylesheet" href="//fonts.example/a.css">')
    assert not LOADED.findall('<a class="x" href="https://semver.org/">a link to click</a>')
    assert LOADED_BY_STYLE.findall("@import url(https://fonts.example/a.css);")


def test_formulas_are_drawn_by_the_browser_itself(site):
    text = (site / "reference" / "api" / "kfrc.metrics.html").read_text(encoding="utf-8")
    assert text.count("<math") > 5
    assert not [path for path in site.rglob("*.html") if re.search("mathjax|katex", path.read_text("utf-8"), re.I)]


@pytest.fixture
def extensions(monkeypatch):
    """Importer of the modules in ``docs/_ext``."""
    monkeypatch.syspath_prepend(DOCS / "_ext")
    return importlib.import_module


def test_links_of_a_document_at_the_root_are_moved_to_its_page(extensions):
    text = "[a](docs/performance.md#threads) [b](CONTRIBUTING.md) [c](https://semver.org/) [d](#here)"
    moved = extensions("repository_links").move_links(text, ROOT / "CHANGELOG.md", DOCS / "project" / "changelog.md")
    assert moved == "[a](../performance.md#threads) [b](contributing.md) [c](https://semver.org/) [d](#here)"


def test_a_link_to_a_script_leads_to_the_page_of_its_pictures(extensions):
    page = DOCS / "how-to" / "read-a-table.md"
    moved = extensions("repository_links").move_links("[s](../../examples/tutorials/survey.py)", page, page)
    assert moved == "[s](../tutorials/run/survey.rst)"


def test_the_reference_calls_public_what_the_promise_calls_public(extensions):
    promise = (DOCS / "public-api.md").read_text(encoding="utf-8").split("## Not public")[0]
    promised = set(re.findall(r"`(kfrc\.[a-z][a-z_]*)`", promise)) | {"kfrc", "kfrc_app.displays"}
    pages = extensions("api_pages")
    grouped = {name for names in pages.GROUPS.values() for name in names} & set(pages.public_modules())
    assert grouped == promised


def test_the_glossary_has_every_word_that_the_report_explains(site):
    from kfrc_app.facts.glossary import GLOSSARY

    text = html.unescape((site / "glossary.html").read_text(encoding="utf-8"))
    assert not [term.word for term in GLOSSARY if term.word not in text or term.meaning not in text]
