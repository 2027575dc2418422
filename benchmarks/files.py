"""Files in and out against the packages that they stand on: what it costs to understand a table, and to write one."""

from __future__ import annotations

import io
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
from harness import Row, cpu_seconds
from python_calamine import CalamineWorkbook

from kfrc_app.runs.workbook import Sheet, write_workbook
from kfrc_app.tables import Missing, read_table
from kfrc_app.tables.preview import preview_table

N_ROWS, N_NUMBERS, REPEATS = 20_000, 18, 3


def made() -> pd.DataFrame:
    """Numbers with gaps, a category and a date."""
    rng = np.random.default_rng(0)
    numbers = rng.normal(size=(N_ROWS, N_NUMBERS)).round(3)
    numbers[rng.random(numbers.shape) < 0.02] = np.nan
    table = pd.DataFrame(numbers, columns=[f"x{j}" for j in range(N_NUMBERS)])
    table["region"] = rng.choice(["north", "south", "east"], N_ROWS)
    table["day"] = pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 2000, N_ROWS), unit="D")
    return table


def by_pandas(table: pd.DataFrame) -> bytes:
    buffer = io.BytesIO()
    table.to_excel(buffer, index=False, engine="xlsxwriter")
    return buffer.getvalue()


def rows() -> Iterator[Row]:
    table = made()
    cells = table.size / 1e6
    ours, theirs = cpu_seconds(
        lambda: write_workbook([Sheet("table", table)]), lambda: by_pandas(table), repeats=REPEATS
    )
    detail = f"{ours / cells:.1f} s / {theirs / cells:.1f} s per million cells"
    yield Row(f"workbook, {N_ROWS} x {table.shape[1]}: kfrc / XlsxWriter through pandas", ours / theirs, "<= 1", detail)
    with tempfile.TemporaryDirectory() as folder:
        text, sheet = Path(folder) / "table.csv", Path(folder) / "table.xlsx"
        table.to_csv(text, index=False)
        sheet.write_bytes(by_pandas(table))
        read, previewed, plain = cpu_seconds(
            lambda: read_table(str(text), missing=Missing.PARTIAL),
            lambda: preview_table(str(text)),
            lambda: pd.read_csv(text),
            repeats=REPEATS,
        )
        detail = f"{read / cells:.1f} s / {plain / cells:.1f} s per million cells"
        yield Row("CSV: read and understood / pandas.read_csv", read / plain, detail=detail)
        yield Row("CSV: list of columns for the page / read and understood", previewed / read, "<= 3")
        read, plain = cpu_seconds(
            lambda: read_table(str(sheet), missing=Missing.PARTIAL),
            lambda: CalamineWorkbook.from_path(sheet).get_sheet_by_index(0).to_python(),
            repeats=REPEATS,
        )
        detail = f"{read / cells:.1f} s / {plain / cells:.1f} s per million cells"
        yield Row("Excel: read and understood / python-calamine alone", read / plain, detail=detail)
