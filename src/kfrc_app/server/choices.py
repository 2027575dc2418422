"""What a user chose on the page, checked, in the terms of the program."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Self, TypeVar

from kfrc_app.runs import N_REFITS
from kfrc_app.server.problems import PageError
from kfrc_app.tables import Kind, Marks, Missing, Wish, parse_wishes

_Member = TypeVar("_Member", bound=StrEnum)

AUTO = "auto"
MIN_GROUPS, MAX_GROUPS = 2, 50
"""Groups that can be asked for: more than fifty is not something to read about."""

_UNDERSTOOD = "The page sent something that cannot be understood: load it again."


class Aside(StrEnum):
    """What a column can be apart from a type: it is not used to find groups."""

    NAMES = "names"
    WEIGHT = "weight"
    GROUPS = "groups"


_FLAGS = {Aside.NAMES: "--id-column", Aside.GROUPS: "--label-column", Aside.WEIGHT: "--weight-column"}
_WORDS = {Aside.NAMES: "the names of the rows", Aside.GROUPS: "the known groups", Aside.WEIGHT: "the weights"}


@dataclass(frozen=True)
class Choices:
    """How to read a table and how many groups to look for.

    Attributes
    ----------
    types : mapping of str to Wish
        Of columns whose type was changed; ``Kind.DROP`` for those that are left out.
    aside : mapping of Aside to str
        Columns that are not used to find groups.
    marks : Marks
    missing : Missing
    sheet : str or None
    clusters : int or "auto"
    refits : int
    """

    types: Mapping[str, Wish] = field(default_factory=dict)
    aside: Mapping[Aside, str] = field(default_factory=dict)
    marks: Marks = field(default_factory=Marks)
    missing: Missing = Missing.PARTIAL
    sheet: str | None = None
    clusters: int | str = AUTO
    refits: int = N_REFITS

    @classmethod
    def parse(cls, document: Any) -> Self:
        """Check what a page sent.

        Raises
        ------
        PageError
            If a user made a mistake, or the page did.
        """
        if not isinstance(document, dict):
            raise PageError(_UNDERSTOOD, status=400)
        types: dict[str, Wish] = {}
        aside: dict[Aside, str] = {}
        for name, choice in _mapping(document.get("columns")).items():
            use = _mapping(choice).get("use")
            if use in tuple(Aside):
                if Aside(use) in aside:
                    raise PageError(
                        f"Two columns are chosen for {_WORDS[Aside(use)]}: choose one.", where="columns", column=name
                    )
                aside[Aside(use)] = name
            elif use is not None:
                types[name] = _wish(use, choice)
        return cls(
            types,
            aside,
            _marks(document),
            _member(Missing, document.get("missing") or Missing.PARTIAL),
            _text(document.get("sheet")),
            _clusters(document.get("clusters", AUTO)),
            _refits(document.get("refits", N_REFITS)),
        )

    @property
    def reading(self) -> dict[str, Any]:
        """How `read_table` is called."""
        return {
            "types": self.types,
            "id_column": self.aside.get(Aside.NAMES),
            "label_column": self.aside.get(Aside.GROUPS),
            "weight_column": self.aside.get(Aside.WEIGHT),
            "missing": self.missing,
            "marks": self.marks,
            "sheet": self.sheet,
        }

    def command(self, name: str) -> str:
        """What to type for the same result; blank if the names or levels of columns cannot be typed."""
        typed = [f"{column}={wish.kind}{_detail(wish)}" for column, wish in self.types.items()]
        if not _says(typed, self.types):
            return ""
        file = f"./{name}" if name.startswith("-") else name  # which is no option, nor standard input
        words = ["kfrc", "fit", file, "-c", str(self.clusters), "-o", "results"]
        marks = (("--decimal", self.marks.decimal), ("--thousands", self.marks.thousands), ("--sheet", self.sheet))
        for flag, value in marks:
            words += [] if value is None else [flag, value]
        for role, column in self.aside.items():
            words += [_FLAGS[role], column]
        for entry in typed:
            words += ["--types", entry]
        words += [] if self.missing is Missing.PARTIAL else ["--missing", str(self.missing)]
        words += [] if self.refits == N_REFITS else ["--refits", str(self.refits)]
        return shlex.join(words)


def from_wish(wish: Wish) -> dict[str, Any]:
    """A type in the form in which the page sends it."""
    found: dict[str, Any] = {"use": str(wish.kind)}
    if wish.levels:
        found["levels"] = list(wish.levels)
    if wish.day_first is not None:
        found["day_first"] = wish.day_first
    return found


def _says(typed: Sequence[str], wishes: Mapping[str, Wish]) -> bool:
    """Whether the program would understand what is typed as what was chosen."""
    try:
        return parse_wishes(typed) == wishes
    except ValueError:
        return False


def _detail(wish: Wish) -> str:
    if wish.levels:
        return ":" + "<".join(wish.levels)
    return "" if wish.day_first is None else f":{'dmy' if wish.day_first else 'mdy'}"


def _wish(use: Any, choice: Mapping[str, Any]) -> Wish:
    levels = choice.get("levels") or ()
    day_first = choice.get("day_first")
    if not (isinstance(levels, (list, tuple)) and all(isinstance(level, str) for level in levels)):
        raise PageError(_UNDERSTOOD, status=400)
    if not (day_first is None or isinstance(day_first, bool)):
        raise PageError(_UNDERSTOOD, status=400)
    kind = _member(Kind, use)
    return Wish(kind, tuple(levels) if kind is Kind.ORDINAL else (), day_first=day_first if kind is Kind.DATE else None)


def _marks(document: Mapping[str, Any]) -> Marks:
    try:
        return Marks(_text(document.get("decimal")), _text(document.get("thousands")))
    except ValueError:
        raise PageError(_UNDERSTOOD, status=400) from None


def _clusters(value: Any) -> int | str:
    if value == AUTO:
        return AUTO
    try:
        n_clusters = int(str(value))
    except ValueError:
        n_clusters = 0
    if not MIN_GROUPS <= n_clusters <= MAX_GROUPS:
        raise PageError(
            f"The number of groups must be a whole number from {MIN_GROUPS} to {MAX_GROUPS}.", where="groups"
        )
    return n_clusters


def _refits(value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= N_REFITS:
        raise PageError(_UNDERSTOOD, status=400)
    return value


def _mapping(value: Any) -> Mapping[str, Any]:
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise PageError(_UNDERSTOOD, status=400)
    return value


def _text(value: Any) -> str | None:
    if value is not None and not isinstance(value, str):
        raise PageError(_UNDERSTOOD, status=400)
    return value or None


def _member(family: type[_Member], value: Any) -> _Member:
    try:
        return family(value)
    except ValueError:
        raise PageError(_UNDERSTOOD, status=400) from None
