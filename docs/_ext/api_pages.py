"""The reference: one page for each public module and each clusterer, written from what the modules themselves list.

No second list of names exists. A module of ``kfrc`` whose name does not start with an underscore gets a page; so do the
packages of the application that are meant for notebooks. The names on it are ``__all__`` or, without one, the classes
and functions that the module defines. A name that several modules export is described once, at the first of them.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import types
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import kfrc
from kfrc._registry import Registered
from kfrc.clusterers import FuzzyClusterer

FOLDER = "reference/api"
OVERVIEW = "overview.txt"
GROUPS = {
    "Clustering": ["kfrc", "kfrc.confidence", "kfrc.stability", "kfrc.existence"],
    "Data": ["kfrc.columns", "kfrc.dissimilarity", "kfrc.gower", "kfrc.simulation", "kfrc.datasets", "kfrc.sources"],
    "Measures and pictures": ["kfrc.metrics", "kfrc.contributions", "kfrc_app.displays"],
    "Choices along the way": [
        "kfrc.fuzzifiers",
        "kfrc.kernels",
        "kfrc.criteria",
        "kfrc.spectrum",
        "kfrc.relational",
        "kfrc.bandwidth",
        "kfrc.judges",
        "kfrc.mixtures",
    ],
    "Errors, warnings, progress, types": ["kfrc.exceptions", "kfrc.activity", "kfrc.typing"],
}
REST = "Inside the machine"
REMARK = "How the parts work. These modules are not public: they may change in any release.\n"
LAST = ["kfrc.clusterers"]  # exports again what kfrc itself does


@dataclass
class Page:
    """One module: the names it offers, those described here, and members of its families that it does not list."""

    module: types.ModuleType
    names: list[str]
    homes: dict[str, str] = field(default_factory=dict)
    members: dict[str, list[type[Any]]] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """Dotted name of the module."""
        return self.module.__name__

    @property
    def here(self) -> list[str]:
        """Names that this page describes, not another."""
        return [name for name in self.names if self.homes[name] == f"{self.name}.{name}"]

    def value(self, name: str) -> Any:
        """What the module calls so."""
        return getattr(self.module, name)


def public_modules() -> list[str]:
    """Names of all modules with a page, in the order of the groups."""
    found = {"kfrc", "kfrc_app.displays"}
    found |= {f"kfrc.{info.name}" for info in pkgutil.iter_modules(kfrc.__path__) if not info.name.startswith("_")}
    listed = [name for names in GROUPS.values() for name in names]
    rest = sorted(found - set(listed) - set(LAST))
    return [*(name for name in listed if name in found), *rest, *LAST]


def public_names(module: types.ModuleType) -> list[str]:
    """``__all__``, or the classes and functions that the module defines."""
    listed = getattr(module, "__all__", None)
    if listed is not None:
        return [name for name in listed if not name.startswith("_")]
    return [
        name
        for name, value in vars(module).items()
        if not name.startswith("_")
        and (inspect.isclass(value) or inspect.isfunction(value))
        and value.__module__ == module.__name__
    ]


def collect() -> list[Page]:
    """All pages; every object is described on one of them."""
    described: dict[int, str] = {}
    pages = []
    modules = [module_called(name) for name in public_modules()]
    for module in modules:
        # Nobody looks for warnings first.
        page = Page(module, sorted(public_names(module), key=lambda name: is_exception(getattr(module, name))))
        for name in page.names:
            value = getattr(module, name)
            here = f"{module.__name__}.{name}"
            is_object = inspect.isclass(value) or inspect.isfunction(value)
            page.homes[name] = described.setdefault(id(value), here) if is_object else here
        pages.append(page)
    for page in pages:
        for name in page.here:
            value = page.value(name)
            if inspect.isclass(value) and Registered in value.__bases__:
                page.members[name] = list(value.registry.values())
    return pages


def module_called(name: str) -> types.ModuleType:
    """The module itself, even where its package exports a function of the same name."""
    return importlib.import_module(name)


def is_exception(value: Any) -> bool:
    """Whether this is an error or a warning."""
    return inspect.isclass(value) and issubclass(value, BaseException)


def is_clusterer(value: Any) -> bool:
    """Whether this has a page of its own."""
    return inspect.isclass(value) and issubclass(value, FuzzyClusterer) and not inspect.isabstract(value)


def entry(module: str, name: str, value: Any) -> str:
    """The directive that describes one name."""
    path = f"{module}.{name}"
    if inspect.isclass(value):
        if issubclass(value, FuzzyClusterer):  # what scikit-learn adds is described there
            methods = "".join(f"\n   .. automethod:: {path}.{method}\n" for method in own_methods(value))
            return f".. autoclass:: {path}\n   :no-members:\n{methods}"
        refused = f"   :exclude-members: {', '.join(overridden(value))}\n" if overridden(value) else ""
        return f".. autoclass:: {path}\n   :members:\n{refused}"
    if inspect.isfunction(value):
        return f".. autofunction:: {path}\n"
    shown = repr(value)
    value_line = f"   :value: {shown}\n" if len(shown) < 60 and " at 0x" not in shown else ""
    return f".. py:data:: {path}\n{value_line}"


def overridden(value: type[Any]) -> list[str]:
    """Methods of a built-in type, such as those of a dict, that a class replaces: Python describes them."""
    inherited = {name for base in value.__mro__[1:-1] if base.__module__ == "builtins" for name in vars(base)}
    return [name for name in vars(value) if name in inherited and not name.startswith("_")]


def own_methods(value: type[Any]) -> list[str]:
    """Public methods that this library defines, its base classes included."""
    names: dict[str, None] = {}
    for cls in value.__mro__:
        if cls.__module__.startswith("kfrc"):
            names |= {
                name: None
                for name, item in vars(cls).items()
                if not name.startswith("_") and (inspect.isfunction(item) or isinstance(item, classmethod))
            }
    return list(names)


def heading(text: str, mark: str = "=") -> str:
    """A title in reStructuredText."""
    return f"{text}\n{mark * len(text)}\n"


def summary_line(value: Any) -> str:
    """The first sentence of a docstring, as a cell of a table."""
    text = inspect.getdoc(value) if inspect.isclass(value) or inspect.isfunction(value) else ""
    return " ".join((text or "").split("\n\n")[0].split())


def role(value: Any) -> str:
    """How to link to it."""
    return "class" if inspect.isclass(value) else "func" if inspect.isfunction(value) else "data"


def table(rows: list[tuple[str, str]]) -> str:
    """Two columns: names and sentences."""
    lines = [".. list-table::", "   :widths: 35 65", "   :class: names", ""]
    for left, right in rows:
        lines += [f"   * - {left}", f"     - {right}"]
    return "\n".join(lines) + "\n"


def module_page(page: Page) -> str:
    """The page of one module."""
    parts = [heading(page.name), f".. automodule:: {page.name}\n   :no-members:\n\n.. currentmodule:: {page.name}\n"]
    rows = []
    for name in page.names:
        value = page.value(name)
        home = page.homes[name]
        shown = name if home == f"{page.name}.{name}" else f"{page.name}.{name}"
        rows.append((f":{role(value)}:`{shown} <{home}>`", summary_line(value)))
    if rows:
        parts.append(table(rows))
    own_pages = [name for name in page.here if is_clusterer(page.value(name))]
    if own_pages:
        parts.append(".. toctree::\n   :hidden:\n\n" + "".join(f"   {page.name}.{name}\n" for name in own_pages))
    for name in page.here:
        value = page.value(name)
        if name in own_pages:
            continue
        parts += [entry(page.name, name, value), *family(page, name)]
    return "\n".join(parts)


def family(page: Page, name: str) -> Iterator[str]:
    """The registered members of a family: their names, and a description where no page lists them."""
    members = page.members.get(name, [])
    if not members:
        return
    listed = {page.value(other): other for other in page.here}
    paths = {
        cls: f"{page.name}.{listed[cls]}" if cls in listed else f"{cls.__module__}.{cls.__name__}" for cls in members
    }
    yield "By name:\n"
    yield table(
        [(f'``"{cls.name}"``', f":class:`~{paths[cls]}`: {summary_line(cls)}") for cls in members],
    )
    for cls in members:
        if cls not in listed:
            yield f".. autoclass:: {paths[cls]}\n   :members:\n"


def clusterer_page(module: str, name: str, value: Any) -> str:
    """The page of one clusterer, with the gallery entries that use it."""
    used = f".. minigallery:: {module}.{name}\n   :add-heading: Examples with {name}\n"
    return "\n".join([heading(name), f".. currentmodule:: {module}\n", entry(module, name, value), used])


def overview(pages: list[Page]) -> str:
    """All modules by group, each with its first sentence; ``reference/index.rst`` includes it."""
    by_name = {page.name: page for page in pages}
    groups = {title: [name for name in names if name in by_name] for title, names in GROUPS.items()}
    grouped = {name for names in groups.values() for name in names}
    groups[REST] = [name for name in by_name if name not in grouped]
    parts = []
    for title, names in groups.items():
        rows = [(f":doc:`{name} <api/{name}>`", summary_of_module(by_name[name].module)) for name in names]
        links = "".join(f"   api/{name}\n" for name in names)
        remark = REMARK if title == REST else ""
        parts += [
            heading(title, "-"),
            remark,
            table(rows),
            f".. toctree::\n   :hidden:\n   :caption: {title}\n\n{links}",
        ]
    return "\n".join(parts)


def summary_of_module(module: types.ModuleType) -> str:
    """The first sentence of a module."""
    return " ".join((module.__doc__ or "").split("\n\n")[0].split())


def write_pages(app: Any) -> None:
    """Write what changed, so that a second build reads only that."""
    folder = Path(app.srcdir) / FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    pages = collect()
    texts = {OVERVIEW: overview(pages)}
    for page in pages:
        texts[f"{page.name}.rst"] = module_page(page)
        for name in page.here:
            value = page.value(name)
            if is_clusterer(value):
                texts[f"{page.name}.{name}.rst"] = clusterer_page(page.name, name, value)
    for path in folder.iterdir():
        if path.name not in texts:
            path.unlink()
    for name, text in texts.items():
        path = folder / name
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")


def setup(app: Any) -> dict[str, bool]:
    """Called by Sphinx."""
    app.connect("builder-inited", write_pages)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
