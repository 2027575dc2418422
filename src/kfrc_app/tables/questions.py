"""What a file leaves open: a question in plain words, with answers that a program can send back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from kfrc_app.tables.columns import DataError
from kfrc_app.tables.kinds import Wish


@dataclass(frozen=True)
class Choice:
    """An answer: what it means, and the settings of reading that say so.

    Attributes
    ----------
    label : str
        For a reader.
    decimal, thousands : str or None
        Marks within numbers.
    types : mapping of str to Wish
        Types of columns, as `read_table` takes them: names are never part of a text that is read again.
    sheet : str or None
        The sheet of a spreadsheet, or the file in an archive.
    """

    label: str
    decimal: str | None = None
    thousands: str | None = None
    types: Mapping[str, Wish] = field(default_factory=dict)
    sheet: str | None = None


@dataclass(frozen=True)
class Question:
    """Something that can be read in two ways.

    Attributes
    ----------
    text : str
        In plain words, without what to type.
    choices : tuple of Choice
    column : str or None
        Which column it is about; None for the whole file.
    """

    text: str
    choices: tuple[Choice, ...]
    column: str | None = None


class OpenQuestionError(DataError):
    """The data can be read in two ways; the message says what to type, ``question`` has the answers to choose from."""

    def __init__(self, message: str, question: Question) -> None:
        super().__init__(message)
        self.question = question
