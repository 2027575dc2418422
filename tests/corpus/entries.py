"""What a file of the corpus is: its content, what it means, or the question that it must lead to."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

FILES = Path(__file__).parent / "files"
TRUTH = ".truth.json"
"""Ending of the file that says what another one means."""


def dates(*values: str | None) -> dict[str, Any]:
    """A column of dates in the truth."""
    return {"dates": list(values)}


@dataclass(frozen=True)
class Entry:
    """A file and its meaning.

    Attributes
    ----------
    name : str
    made_as : str
        The program or the habit that such files come from.
    content : bytes
    columns : dict of str to list
        Every column in the order of the file: numbers, text (without blanks around it), or dates; None where nothing is
        known. Columns of numbers and dates must be read as such.
    asks : tuple of str
        Parts of the message, if the file must not be read.
    notes : tuple of str
        Parts of the notes that must be there.
    options : dict
        What is given beside the file: sheet, decimal, thousands, types.
    left_out : dict of str to list of str
        Columns that cannot be used, as they are written; the notes must name them.
    """

    name: str
    made_as: str
    content: bytes
    columns: dict[str, Any] = field(default_factory=dict)
    asks: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    options: dict[str, Any] = field(default_factory=dict)
    left_out: dict[str, list[str]] = field(default_factory=dict)

    def write(self) -> None:
        """Put the file and its truth into the corpus."""
        (FILES / self.name).write_bytes(self.content)
        said = {"made_as": self.made_as, "columns": self.columns, "asks": self.asks, "notes": self.notes}
        said |= {"options": self.options, "left_out": self.left_out}
        lines = [
            f"  {json.dumps(name)}: {json.dumps(value, ensure_ascii=False)}" for name, value in said.items() if value
        ]
        (FILES / f"{self.name}{TRUTH}").write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


def text(name: str, made_as: str, content: str, columns: dict[str, Any] | None = None, **said: Any) -> Entry:
    """A file of text; ``encoding`` and ``line_end`` are as the program writes them."""
    encoding, line_end = said.pop("encoding", "utf-8"), said.pop("line_end", "\n")
    return Entry(name, made_as, content.replace("\n", line_end).encode(encoding), columns or {}, **said)
