"""Tables in JSON: one object per line, an array of objects, or columns by name."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from kfrc_app.tables.cells import CellColumns, collect_cells
from kfrc_app.tables.columns import DataError, distinct_names, quoted, refuse_wide
from kfrc_app.tables.dialect import decode
from kfrc_app.tables.numbers import Marks

TRUTHS = ("false", "true")
"""What JSON calls truth values."""

MAX_NESTING = 4
"""Objects within objects that become columns such as address.city."""

_MAX_DIGITS = 300
"""Digits of a whole number that is within the range of floats; Python itself refuses those of more than 4300."""

_BEGINNING = re.compile(rb'\s*(?:\[\s*[\[{\]]|\{\s*["}])')
_LINE_END = re.compile(r"\r\n|[\r\n]")  # other characters that end lines elsewhere may stand within a text
_SHAPES = 'an array of objects such as [{"a": 1}, {"a": 2}], one object per line, or columns such as {"a": [1, 2]}'


def is_json(content: bytes) -> bool:
    """Whether a file begins as tables in JSON do.

    Examples
    --------
    >>> from kfrc_app.tables.json_rows import is_json
    >>> is_json(b'[{"a": 1}]'), is_json(b'{"a": 1}'), is_json(b"[cm],[kg]")
    (True, True, False)
    """
    return _BEGINNING.match(content.removeprefix(b"\xef\xbb\xbf")) is not None


def parse_json(content: bytes, marks: Marks | None = None) -> CellColumns:
    r"""Read a table from JSON.

    Parameters
    ----------
    content : bytes
    marks : Marks, optional
        What is known of the marks within numbers that are text.

    Returns
    -------
    CellColumns

    Raises
    ------
    DataError
        If it is damaged, or holds something else than rows and columns.

    Examples
    --------
    >>> from kfrc_app.tables.json_rows import parse_json
    >>> columns = parse_json(b'{"a": 1, "b": {"c": "x"}}\n{"a": 2.5, "b": null}\n')
    >>> columns.names, columns.numbers(["a"]).values["a"].tolist(), columns.text("b.c").tolist()
    (('a', 'b.c'), [1.0, 2.5], ['x', ''])
    """
    text, notes = decode(content)
    try:
        found = _columns(_read(text, notes), notes)
    except RecursionError:
        raise DataError(f"the JSON file has objects within objects without end: a table is {_SHAPES}") from None
    if not found or not next(iter(found.values())):
        raise DataError("the JSON file holds no rows")
    try:
        "".join(found).encode()
        return collect_cells(found, marks=marks or Marks(), truths=TRUTHS, noticed=notes)
    except UnicodeEncodeError as error:
        half = error.object[error.start].encode("ascii", "backslashreplace").decode()
        raise DataError(f"the JSON file holds half a character, {half}: write it again with whole ones") from None


def _read(text: str, notes: list[str]) -> Any:
    """One document, or one per line; stops at the first row that has far too many names."""
    rows_only = text.lstrip().startswith("[")
    try:
        return _loads(text, notes, rows_only=rows_only)
    except json.JSONDecodeError as whole:
        lines = [(k, line) for k, line in enumerate(_LINE_END.split(text), start=1) if line.strip()]
        if len(lines) < 2 or not _is_document(lines[0][1]):
            raise DataError(
                f"the JSON file is damaged or cut off: line {whole.lineno}, character {whole.colno}"
            ) from None
    rows = []
    for number, line in lines:
        try:
            rows.append(_loads(line, notes, rows_only=True))
        except json.JSONDecodeError as error:
            raise DataError(f"the JSON file is damaged or cut off: line {number}, character {error.colno}") from None
    return rows


def _is_document(line: str) -> bool:
    try:
        _loads(line, [])
    except json.JSONDecodeError:
        return False
    return True


def _loads(text: str, notes: list[str], *, rows_only: bool = False) -> Any:
    hook = partial(_object, notes=notes, is_row=rows_only)
    return json.loads(text, object_pairs_hook=hook, parse_int=_whole)


def _whole(text: str) -> int | float:
    """A whole number; one of very many digits as the nearest float, or infinity."""
    return int(text) if len(text) <= _MAX_DIGITS else float(text)


def _object(pairs: Sequence[tuple[str, Any]], notes: list[str], *, is_row: bool) -> dict[str, Any]:
    if is_row:
        refuse_wide(len(pairs))
    found = dict(pairs)
    if len(found) == len(pairs):
        return found
    names, repeated = distinct_names([name for name, _ in pairs])
    notes.extend(note for note in repeated if note not in notes)
    return dict(zip(names, (value for _, value in pairs), strict=True))


def _columns(document: Any, notes: list[str]) -> dict[str, list[Any]]:
    if isinstance(document, list) and document and all(isinstance(row, Mapping) for row in document):
        return _of_rows(document)
    if isinstance(document, Mapping):
        if _is_split(document):
            refuse_wide(len(document["columns"]))
            names, repeated = distinct_names([str(name) for name in document["columns"]])
            notes.extend(repeated)
            return _of_rows([dict(zip(names, row, strict=True)) for row in document["data"]])
        values = list(document.values())
        if values and all(_is_plain_list(value) for value in values) and len({len(value) for value in values}) == 1:
            refuse_wide(len(values))
            return {str(name): [_cell(value) for value in column] for name, column in document.items()}
        if values and all(_is_plain_object(value) for value in values):
            return _of_objects(document)
        tables = [name for name, value in document.items() if _holds_rows(value)]
        if len(tables) == 1:
            return _of_rows(document[tables[0]])
        if tables:
            raise DataError(
                f"the JSON file holds several tables, {quoted(tables)}: write the one that is meant by itself"
            )
    if isinstance(document, list) and not document:
        raise DataError("the JSON file holds no rows")
    raise DataError(f"the JSON file holds no table, which would be {_SHAPES}")


def _of_objects(document: Mapping[str, Mapping[str, Any]]) -> dict[str, list[Any]]:
    """Objects by name, as pandas writes them: the names that are numbers are those of the rows."""
    inner = {tuple(column) for column in document.values()}
    if len(inner) == 1 and all(map(str.isdigit, next(iter(inner)))):
        refuse_wide(len(document))
        return {str(name): [_cell(value) for value in column.values()] for name, column in document.items()}
    if all(map(str.isdigit, document)):
        return _of_rows(list(document.values()))
    raise DataError(f"the JSON file does not tell its rows from its columns: a table is {_SHAPES}")


def _is_split(document: Mapping[str, Any]) -> bool:
    """Whether names and rows are apart, as one of the ways of pandas has it."""
    return (
        {"columns", "data"} <= {*document}
        and isinstance(document["columns"], list)
        and isinstance(document["data"], list)
        and all(isinstance(row, list) and len(row) == len(document["columns"]) for row in document["data"])
    )


def _holds_rows(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(row, Mapping) for row in value)


def _is_plain_list(value: Any) -> bool:
    return isinstance(value, list) and not any(isinstance(cell, (list, dict)) for cell in value)


def _is_plain_object(value: Any) -> bool:
    return (
        isinstance(value, Mapping) and len(value) > 0 and not any(isinstance(c, (list, dict)) for c in value.values())
    )


def _of_rows(rows: Sequence[Mapping[str, Any]]) -> dict[str, list[Any]]:
    """Columns in the order of their first appearance; what a row does not have is missing."""
    flat, found = [], dict[str, None]()
    for row in rows:
        flat.append(_flat(row) if any(type(value) in (dict, list) for value in row.values()) else row)
        found.update(dict.fromkeys(flat[-1]))
        refuse_wide(len(found))
    names = list(found)
    nested = {name.rpartition(".")[0] for name in names if "." in name}
    # An object that is null in some rows leaves a name without any value.
    names = [name for name in names if not (name in nested and all(row.get(name) is None for row in flat))]
    return {name: [row.get(name) for row in flat] for name in names}


def _flat(row: Mapping[str, Any], prefix: str = "", depth: int = 0) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in row.items():
        if isinstance(value, Mapping) and value and depth < MAX_NESTING:
            found |= _flat(value, f"{prefix}{name}.", depth + 1)
        else:
            found[f"{prefix}{name}"] = _cell(value)
    return found


def _cell(value: Any) -> Any:
    """A value, or the text of what is none."""
    return json.dumps(value, ensure_ascii=False) if isinstance(value, (list, dict)) else value
