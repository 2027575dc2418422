"""The facts of a fit, each computed in one place, and the words that go with them."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kfrc_app.facts.collection import Facts
    from kfrc_app.facts.document import summary_document
    from kfrc_app.facts.summary import summarize

__all__ = ["Facts", "summarize", "summary_document"]

_HOMES = {"Facts": "collection", "summarize": "summary", "summary_document": "document"}
"""Imported when they are first used: words alone need no numerical library."""


def __getattr__(name: str) -> Any:
    """A public name when it is first used."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    return globals()[name]
