"""Files in every dialect and format, whole and damaged: a number is read right, asked about or refused, never wrong."""

from __future__ import annotations

import datetime
import math
import warnings
from collections.abc import Callable
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from hostile.attack import FINE, REFUSED, Attack, Broken
from hostile.damage import damaged, packed
from hostile.harmful import HARMFUL
from hostile.program import CHEAP, ending, run
from hostile.stored import write_json, write_open_document, write_parquet, write_workbook
from hostile.texts import Written, write_text
from hostile.truths import DATE, GAP, NUMBER, TRUTH, Known, Truth, draw_truth, tidy

WRITERS: tuple[Callable[[Truth, np.random.Generator], Written], ...] = (
    *(write_text,) * 6,
    *(write_workbook, write_open_document, write_json, write_parquet, write_parquet),
)
MAX_GROWTH = 1 << 30
"""Bytes by which the largest memory of the process may grow in a try on a small file."""

_TOLERANCE = datetime.timedelta(milliseconds=1)
"""Spreadsheets hold points in time as fractions of days."""


class Files(Attack, name="files"):
    """A table is written to a file, which is damaged or not, and read in one of the ways that users have."""

    tries = 5000
    quick = 60

    def attempt(self, rng: np.random.Generator, folder: Path) -> str:
        with within_memory(), warnings.catch_warnings():
            warnings.simplefilter("error")  # a user would see it between the notes
            if rng.random() < 0.12:
                content = HARMFUL[rng.integers(len(HARMFUL))](rng)
                return read_any(_placed(content, str(rng.choice(_ENDINGS)), folder), rng)
            truth = draw_truth(rng)
            written = WRITERS[rng.integers(len(WRITERS))](truth, rng)
            if rng.random() < 0.5:
                return read_right(_placed(written.content, written.ending, folder), truth, written, rng)
            content = damaged(written.content, rng)
            if rng.random() < 0.1:
                content = packed(content, f"table.{written.ending}", rng)
            ending = written.ending if rng.random() < 0.8 else str(rng.choice(_ENDINGS))
            return read_any(_placed(content, ending, folder), rng)


_ENDINGS = ("csv", "xlsx", "ods", "xls", "json", "jsonl", "parquet", "gz", "zip", "tsv", "exe", "")


def _placed(content: bytes, ending: str, folder: Path) -> Path:
    path = folder / f"table.{ending}".rstrip(".")
    path.write_bytes(content)
    return path


@contextmanager
def within_memory():
    """Fail if the largest memory of the process grows far, where the system tells."""
    try:
        import resource
    except ImportError:
        yield
        return
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    yield
    if 1024 * (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) > MAX_GROWTH:
        raise Broken("reading a small file takes more than a gigabyte")


def read_right(path: Path, truth: Truth, written: Written, rng: np.random.Generator) -> str:
    """Read a whole file and hold every value against the truth."""
    from kfrc_app.tables import DataError, Missing, read_table

    id_column = truth.columns[0].name if truth.columns[0].name == "id" and rng.random() < 0.5 else None
    try:
        table = read_table(str(path), missing=Missing.PARTIAL, id_column=id_column)
    except DataError as error:
        if written.clear and truth.n_rows > 3 and len(truth.columns) > 1 and not _may_be_refused(str(error)):
            raise Broken(f"a clear file is refused\n{error}") from None
        return REFUSED
    check_table(table, truth)
    names = list(truth.columns[0].values)
    if id_column is not None and table.rows.ids.tolist()[: len(names)] != names[: len(table.rows.ids)]:
        raise Broken("names of rows are not as they were written")
    way = rng.random()
    if way < 0.1:
        return _fitted(path, truth, rng)
    if way < 0.2:
        _check_source(path, truth)
    return FINE


def _may_be_refused(message: str) -> bool:
    """Whether a table that is written well is still none to cluster."""
    return any(words in message for words in ("would be left out", "nothing to cluster", "is '", "does the"))


def check_table(table: Any, truth: Truth) -> None:
    """Hold what was read against what was written; what is told in a note is not silent."""
    told = tidy(" ".join(table.notes))
    if len(table.rows.ids) != truth.n_rows:
        if not any(word in told for word in ("left out", "line", "row", "names of the columns")):
            raise Broken(f"{truth.n_rows} rows are read as another number of them, without a note\n{told}")
        return
    rows = np.flatnonzero(table.rows.used)
    for name in table.data.columns:
        column = truth.named(str(name))
        if column is not None:
            _check_column(column, table.data[name], rows, told)
        elif f"'{name}'" not in told and not str(name).startswith("strange"):
            raise Broken(f"a column that nobody has written\n{name}\n{told}")
    for column in truth.columns:
        missing = tidy(column.name) not in map(tidy, map(str, table.data.columns))
        if missing and column.kind != "name of a row" and tidy(column.name) not in told and " more" not in told:
            raise Broken(f"a column is left out without a note\n{column.name}\n{told}")
    for name in table.original.columns:
        column = truth.named(str(name))
        if column is not None and column.kind == NUMBER and table.original[name].dtype == np.float64:
            _check_column(column, table.original[name], np.arange(truth.n_rows), told)


def _check_column(column: Known, series: pd.Series, rows: np.ndarray, told: str) -> None:
    for k, found in zip(rows, series.tolist(), strict=True):
        expected = column.values[k]
        if not _same(expected, found, column.kind):
            raise Broken(
                f"a {column.kind} is read wrong\n{column.name!r}, row {k + 1}: {found!r}, not {expected!r}\n{told}"
            )


def _same(expected: Any, found: Any, kind: str) -> bool:
    is_gap = found is None or found is pd.NaT or (isinstance(found, float) and math.isnan(found)) or found is pd.NA
    if expected is GAP or is_gap:
        return expected is GAP and is_gap
    if kind == NUMBER:
        return float(found) == expected
    if kind == DATE:
        return abs(pd.Timestamp(found).to_pydatetime() - expected) < _TOLERANCE
    if kind == TRUTH:
        return str(found).lower() in (str(expected).lower(), str(float(expected)))
    return str(found) == tidy(expected) or str(found) == expected


def _fitted(path: Path, truth: Truth, rng: np.random.Generator) -> str:
    """Let the program cluster it; every row of the file is in the memberships."""
    out = path.parent / "out"
    status, _, messages = run(["fit", str(path), "-c", "2", "-o", str(out), *CHEAP])
    if status == 0:
        n_rows = len(pd.read_csv(out / "memberships.csv"))
        told = any(words in messages for words in ("left out", "line", "is used like any other"))
        if n_rows != truth.n_rows and not told:
            raise Broken("memberships do not have the rows of the file")
    elif out.exists():
        raise Broken("a fit that failed leaves a folder")
    return ending(status)


def _check_source(path: Path, truth: Truth) -> None:
    """Read it in pieces; what is a number there has the right value."""
    from kfrc.exceptions import KFRCError
    from kfrc.sources import CSVSource, ParquetSource

    kind = ParquetSource if path.suffix == ".parquet" else CSVSource
    try:
        source = kind(path)
        pieces = [chunk.columns for chunk in source.chunks(0, source.n_rows)]
    except KFRCError:
        return
    for j, name in enumerate(source.names):
        column = next((column for column in truth.columns if column.name == name), None)
        if column is None or column.kind != NUMBER or source.n_rows != truth.n_rows:
            continue
        found = [value for piece in pieces for value in piece[j].tolist()]
        if all(isinstance(value, (int, float, type(None))) for value in found):
            wrong = [k for k, value in enumerate(found) if not _same(column.values[k], value, NUMBER)]
            if wrong:
                raise Broken(f"a source reads a number wrong\n{name!r}, row {wrong[0] + 1}: {found[wrong[0]]!r}")


def read_any(path: Path, rng: np.random.Generator) -> str:
    """Read whatever is there: a table, or the error that is documented."""
    from kfrc.exceptions import KFRCError
    from kfrc.sources import CSVSource, ParquetSource
    from kfrc_app.tables import DataError, Missing, preview_table, read_dissimilarities, read_table

    way = rng.random()
    try:
        if way < 0.6:
            table = read_table(str(path), missing=Missing(str(rng.choice(list(Missing)))))
            assert len(table.original) == len(table.rows.ids)
        elif way < 0.75:
            preview_table(str(path))
        elif way < 0.8:
            read_dissimilarities(str(path))
        elif way < 0.9:
            source = (ParquetSource if path.suffix == ".parquet" or rng.random() < 0.3 else CSVSource)(path)
            for chunk in source.chunks(0, source.n_rows):
                assert len(chunk) >= 0
        else:
            out = path.parent / "out"
            status, _, _ = run(["fit", str(path), "-c", "2", "-o", str(out), *CHEAP])
            if status and out.exists():
                raise Broken("a fit that failed leaves a folder")
            return ending(status)
    except DataError:
        return REFUSED
    except KFRCError:
        if way < 0.8:
            raise
        return REFUSED
    return FINE
