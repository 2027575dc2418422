"""A table before anything is computed: what every column was understood as, why, and what the file leaves open."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any

import numpy as np

from kfrc_app.tables.columns import Columns, DataError, in_quotes, shortened
from kfrc_app.tables.dates import NotDates, read_dates
from kfrc_app.tables.formats import parse_columns, sheet_names
from kfrc_app.tables.identifiers import words_of
from kfrc_app.tables.kinds import DAY_FIRST, Kind, Wish
from kfrc_app.tables.levels import MAX_LEVELS
from kfrc_app.tables.numbers import Marks
from kfrc_app.tables.questions import Choice, OpenQuestionError, Question
from kfrc_app.tables.rows import Missing
from kfrc_app.tables.scales import known_order
from kfrc_app.tables.survey import Survey, looks_like_label, survey
from kfrc_app.tables.table import read_bytes, table_of
from kfrc_app.tables.understanding import kind_of
from kfrc_app.tables.weights import read_weights

N_EXAMPLES = 5
"""Different values that are shown of a column."""

MAX_LISTED_LEVELS = 50
"""Levels that are listed, so that they can be put in order: nobody orders more by hand."""

MAX_QUESTIONS = 5
"""Questions about marks and sheets that one file can raise: each answer leaves fewer."""

KNOWN_GROUPS = "it looks like groups that are known already"
"""Why a column of text that is called a label or a class is left out."""

_WEIGHT_WORDS = frozenset({"weights", "wt", "wgt", "pweight", "fweight", "freq", "frequency", "gewicht"})


class Role(StrEnum):
    """What a column is for."""

    DATA = "data"
    NAMES = "names"
    LABEL = "label"
    WEIGHT = "weight"
    LEFT_OUT = "left out"


@dataclass(frozen=True)
class ColumnPreview:
    """A column as it would be used.

    Attributes
    ----------
    name : str
        In the file; blank for a first column without a heading.
    role : Role
    kind : Kind or None
        What its values are, if it is clustered by.
    reason : str
        Why it is not clustered by, in plain words; blank if it is or if the user says so.
    problem : str
        What contradicts the type that the user gives it.
    suspicion : {"", "label", "weight"}
        What else it may be, by its name.
    n_missing, n_distinct : int
        Cells without a value, and different values among the others.
    examples : tuple of str
        The first different values, as they are written.
    extent : str
        Range of numbers and dates, levels of the others.
    levels : tuple of str
        All of them if they are few, in their order if they have one.
    possible : tuple of Kind
        Types that the cells allow; an order of text has to be given.
    """

    name: str
    role: Role
    kind: Kind | None
    reason: str
    problem: str
    suspicion: str
    n_missing: int
    n_distinct: int
    examples: tuple[str, ...]
    extent: str
    levels: tuple[str, ...]
    possible: tuple[Kind, ...]


@dataclass(frozen=True)
class Preview:
    """A table as it would be read.

    Attributes
    ----------
    columns : tuple of ColumnPreview
        All of the file, in its order.
    n_rows : int
    notes : tuple of str
        What a reader of a result would be told.
    questions : tuple of Question
        What can be read in two ways. The columns are shown as if the first answer were given, which nobody said: a
        run needs an answer, except about the dates of a column, which is left out without one.
    sheets : tuple of str
        Parts of the file that can be chosen.
    sheet : str or None
        The one that is shown, if it was chosen or has to be.
    problem : str
        What would stop a run with these settings, apart from questions; blank if nothing.
    """

    columns: tuple[ColumnPreview, ...]
    n_rows: int
    notes: tuple[str, ...]
    questions: tuple[Question, ...]
    sheets: tuple[str, ...]
    sheet: str | None
    problem: str

    def document(self) -> dict[str, Any]:
        """The same as dicts, lists, strings and numbers."""
        return asdict(self)


def preview_table(
    source: str,
    *,
    columns: Sequence[str] = (),
    drop: Sequence[str] = (),
    label_column: str | None = None,
    id_column: str | None = None,
    weight_column: str | None = None,
    types: Mapping[str, Wish] | None = None,
    missing: Missing = Missing.PARTIAL,
    marks: Marks | None = None,
    sheet: str | None = None,
) -> Preview:
    r"""Show how a file would be read.

    Parameters
    ----------
    source, columns, drop, label_column, id_column, weight_column, types, missing, marks, sheet
        As in :func:`kfrc_app.tables.read_table`, which with the same settings does what the preview says.

    Returns
    -------
    Preview

    Raises
    ------
    DataError
        If the file cannot be read at all, or a column is named that does not exist. What can be read in two ways is a
        question of the preview instead.

    Examples
    --------
    >>> import tempfile
    >>> from kfrc_app.tables.preview import preview_table
    >>> with tempfile.NamedTemporaryFile("w", suffix=".csv") as file:
    ...     _ = file.write("id;x\n7;1,234\n9;5,678\n8;1\n")
    ...     file.flush()
    ...     found = preview_table(file.name)
    >>> [(column.name, str(column.role)) for column in found.columns], found.questions[0].choices[1].thousands
    ([('id', 'names'), ('x', 'data')], ',')
    """
    content = read_bytes(source)
    types, marks = dict(types or {}), marks or Marks()
    questions: list[Question] = []
    while True:
        try:
            roles = survey(
                parse_columns(content, marks, sheet),
                columns=columns,
                drop=drop,
                label_column=label_column,
                id_column=id_column,
                weight_column=weight_column,
                types=types,
                blank_is_level=missing is Missing.LEVEL,
                strict=False,
            )
            break
        except OpenQuestionError as error:
            if len(questions) == MAX_QUESTIONS:
                raise
            questions.append(error.question)
            answer = error.question.choices[0]
            sheet = sheet or answer.sheet
            marks = Marks(marks.decimal or answer.decimal, marks.thousands or answer.thousands)
            types |= answer.types
    questions.extend(_date_questions(roles))
    shown = _Shown(roles, {name: wish for name, wish in types.items() if name in roles.file.names})
    return Preview(
        columns=tuple(shown.column(name) for name in roles.file.names),
        n_rows=roles.file.n_rows,
        notes=roles.notes,
        questions=tuple(questions),
        sheets=sheet_names(content),
        sheet=sheet,
        problem=_problem(roles, missing),
    )


def _date_questions(roles: Survey) -> list[Question]:
    """What to ask of dates such as 03/04/2020."""
    words = {"dmy": "the day comes first", "mdy": "the month comes first"}
    return [
        Question(
            f"column {in_quotes(name)}: does the day or the month come first in '{shortened(cell)}'?",
            (
                *(
                    Choice(words[order], types={name: Wish(Kind.DATE, day_first=day_first)})
                    for order, day_first in DAY_FIRST.items()
                ),
                Choice("leave the column out", types={name: Wish(Kind.DROP)}),
            ),
            name,
        )
        for name, cell in roles.found.doubtful.items()
    ]


def _problem(roles: Survey, missing: Missing) -> str:
    """What would stop a run."""
    if roles.found.refused:
        return next(iter(roles.found.refused.values()))
    try:
        table_of(roles, missing)
    except DataError as error:
        return str(error)
    return ""


@dataclass(frozen=True, eq=False)
class _Shown:
    """What is shown of the columns of a survey."""

    roles: Survey
    wishes: Mapping[str, Wish]

    @property
    def file(self) -> Columns:
        return self.roles.file

    def column(self, name: str) -> ColumnPreview:
        roles, found = self.roles, self.roles.found
        cells = self.file.encoded(name)
        role, reason = self._role(name)
        series = found.series.get(name)
        levels: tuple[str, ...] = ()
        if len(cells.levels) <= MAX_LISTED_LEVELS:
            levels = known_order(cells.levels) or tuple(sorted(cells.levels))
        extent = ""
        if series is not None and hasattr(series, "cat"):
            named = tuple(str(level) for level in series.cat.categories)
            levels = named if series.cat.ordered else known_order(named) or named
            extent = f"{len(named)} different values"
        elif series is not None:
            extent = _extent(series)
        return ColumnPreview(
            name=name,
            role=role,
            kind=None if series is None else kind_of(series),
            reason=reason,
            problem=found.refused.get(name, "") or self._weight_problem(name),
            suspicion="" if series is None else _suspicion(name, series),
            n_missing=roles.file.n_rows - cells.n_known,
            n_distinct=len(cells.levels),
            examples=tuple(map(shortened, cells.levels[:N_EXAMPLES])),
            extent=extent,
            levels=levels if len(levels) <= MAX_LISTED_LEVELS else (),
            possible=self._possible(name, cells.levels),
        )

    def _role(self, name: str) -> tuple[Role, str]:
        """What a column is for and, if it is not clustered by, why."""
        roles, found = self.roles, self.roles.found
        if name in found.series:
            return Role.DATA, ""
        if name == roles.label:
            return Role.LABEL, ""
        if name == roles.weight:
            return Role.WEIGHT, ""
        identifier = next((known for known in roles.identifiers if known.name == name), None)
        reason = "" if identifier is None else f"it names the rows: {identifier.reason}"
        if name in roles.names:
            return Role.NAMES, reason
        if reason or name in roles.dropped or (roles.requested and name not in roles.requested):
            return Role.LEFT_OUT, reason
        return Role.LEFT_OUT, self._why(name)

    def _why(self, name: str) -> str:
        found = self.roles.found
        if name in found.refused:
            return "the type that was chosen for it does not fit its cells"
        if name in found.empty:
            return "it has no value"
        if name in found.single:
            return "all its values are the same"
        if name in found.mixed:
            text = found.mixed[name]
            return f"{text.n_text} of its {text.n_known} values are text among numbers, such as {text.place}"
        if name in found.doubtful:
            return "its dates can be read in two ways"
        if name in found.spoiled:
            return found.spoiled[name]
        if name in found.text:
            known_groups = len(self.file.encoded(name).levels) <= MAX_LEVELS and name not in found.lost
            return KNOWN_GROUPS if known_groups else "it holds names, codes or remarks"
        return "it names the rows in the file"

    def _weight_problem(self, name: str) -> str:
        if name != self.roles.weight:
            return ""
        try:
            read_weights(self.file, name)
        except DataError as error:
            return str(error)
        return ""

    def _possible(self, name: str, texts: Sequence[str]) -> tuple[Kind, ...]:
        """Types that the cells of a column allow."""
        series = self.roles.found.series.get(name)
        stored = self.file.stored(name)
        numeric = series is not None and series.dtype == np.float64
        if not numeric and texts:
            settled = self.file.settled(self.roles.found.numbers.decimal)
            numeric = name in settled.numbers([name], aside={*settled.names} - {name}).values
        dated = any(known is not None and kind_of(known) is Kind.DATE for known in (series, stored))
        dated = dated or (bool(texts) and not isinstance(read_dates(texts, day_first=True, compact=True), NotDates))
        few = 2 <= len(texts) <= MAX_LEVELS
        ordered = stored is not None and kind_of(stored) is Kind.ORDINAL
        allowed = {
            Kind.NUMERIC: numeric,
            Kind.ORDINAL: few and (numeric or ordered or len(texts) <= MAX_LISTED_LEVELS),
            Kind.NOMINAL: few,
            Kind.DATE: dated,
            Kind.DROP: True,
        }
        return tuple(kind for kind, possible in allowed.items() if possible)


def _extent(series: Any) -> str:
    low, high = series.min(), series.max()
    if kind_of(series) is Kind.DATE:
        return f"{low:%Y-%m-%d} to {high:%Y-%m-%d}"
    return f"{low:.6g} to {high:.6g}"


def _suspicion(name: str, series: Any) -> str:
    """What a column may be instead of data, by its name."""
    if looks_like_label(name, series):
        return str(Role.LABEL)
    words = words_of(name)
    is_weight = words[-1:] and (
        words[-1] in _WEIGHT_WORDS or words[-2:] in {("sample", "weight"), ("survey", "weight")}
    )
    return str(Role.WEIGHT) if is_weight and series.dtype == np.float64 and bool((series >= 0).all()) else ""
