"""Hundreds of generated files: every number and every id is the one that was written, or there is a question."""

from __future__ import annotations

import csv
import io
import itertools
from dataclasses import dataclass

import numpy as np
import pytest

from kfrc_app.tables import DataError, Marks, read_table

N_FILES = 280
SEPARATORS = (",", ";", "\t", "|", " ")
GROUPINGS = ("", ",", ".", " ", "'", "\u2019", "\u00a0", "\u202f")
ENCODINGS = ("utf-8", "utf-8-sig", "utf-16", "cp1252")
MISSING = ("", "NA", "?", "nan")
IDS = ("00001", "1.20", "1E5", "NA", "12345678901234567890", "12345678901234567891", "1,5", "x;y", "?", "ü", "a b")


@dataclass(frozen=True)
class Style:
    """How a program writes tables."""

    separator: str
    decimal: str
    grouping: str
    quoting: int

    @property
    def marks(self):
        return Marks(
            self.decimal, {"": None, "\u2019": "'", "\u00a0": " ", "\u202f": " "}.get(self.grouping, self.grouping)
        )

    def number(self, value, decimals, exponent):
        sign, digits = "-" if value < 0 else "", f"{abs(value):.{decimals}f}"
        whole, _, fraction = digits.partition(".")
        start = len(whole) % 3 or 3
        groups = [whole[:start], *(whole[k : k + 3] for k in range(start, len(whole), 3))]
        written = sign + self.grouping.join(groups) + (self.decimal + fraction if fraction else "") + exponent
        return written, float(f"{sign}{digits}{exponent}")

    def line(self, record):
        buffer = io.StringIO()
        csv.writer(buffer, delimiter=self.separator, quoting=self.quoting, lineterminator="").writerow(record)
        return buffer.getvalue()


@dataclass(frozen=True)
class File:
    """A file and the truth about it."""

    text: str
    numbers: dict[str, list[float | None]]
    ids: list[str]
    id_column: str | None
    asks: bool

    @property
    def complete(self):
        return [k for k, row in enumerate(zip(*self.numbers.values(), strict=True)) if None not in row]

    def assert_equal(self, table):
        expected = {name: [values[k] for k in self.complete] for name, values in self.numbers.items()}
        assert {name: table.data[name].tolist() for name in table.data.columns} == expected, self.text
        assert table.ids.tolist() == [self.ids[k] for k in self.complete], self.text


def tells(cell):
    """Whether a number shows the marks of its file; None for one to three digits, a mark and exactly three digits."""
    found = [sign for sign in cell.lstrip("-") if not sign.isdigit()]
    if len(found) != 1 or found[0] not in ",.":
        return bool(found)
    whole, fraction = cell.lstrip("-").split(found[0])
    return None if len(fraction) == 3 and len(whole) <= 3 and whole[0] != "0" else True


def make_columns(rng, style, n_rows, n_columns, *, gaps):
    """Cells by column, and what they stand for."""
    columns = []
    for _ in range(n_columns):
        decimals, scale = int(rng.choice([0, 1, 2, 3, 3, 4])), 10.0 ** rng.integers(0, 7)
        values = rng.normal(size=n_rows) * scale + rng.choice([0, 2 * scale])
        may_have_exponent = decimals > 0 and not style.grouping
        exponents = [f"e{rng.integers(-3, 4)}" if may_have_exponent and rng.random() < 0.1 else "" for _ in values]
        column = [style.number(value, decimals, exponent) for value, exponent in zip(values, exponents, strict=True)]
        if gaps and rng.random() < 0.4:
            gap = MISSING[rng.integers(len(MISSING))]
            column[int(rng.integers(1, n_rows))] = ("NA" if style.separator == " " and not gap else gap, None)
        columns.append(column)
    return columns


def make_file(rng, style):
    """A table in a given style, with or without header, names of rows, gaps, and separators at the end of its lines."""
    n_rows, n_columns = int(rng.integers(7, 11)), int(rng.integers(1, 4))
    has_header = rng.random() < 0.75
    columns = make_columns(rng, style, n_rows, n_columns, gaps=has_header and n_columns > 1)
    known = [cell for column in columns for cell, value in column if value is not None]
    names = [f"v{j}" for j in range(n_columns)] if has_header else [f"column_{j + 1}" for j in range(n_columns)]
    numbers = {name: [value for _, value in column] for name, column in zip(names, columns, strict=True)}
    rows = [[cell for cell, _ in row] for row in zip(*columns, strict=True)]
    ids, header, id_column = [str(k + 1) for k in range(n_rows)], names, None
    naming = rng.choice(["none", "column", "blank", "short"]) if has_header else "none"
    if naming != "none":
        ids = ["r1", *rng.choice(IDS, size=n_rows - 1).tolist()]  # numbers alone need not be names
        rows = [[name, *row] for name, row in zip(ids, rows, strict=True)]
        if naming == "column" or style.separator == " ":  # nothing can be blank between blanks
            header, id_column = ["key", *names], "key"
        elif naming == "blank" or n_columns == 1:
            header = ["", *names]
    trailing = "" if style.separator == " " else style.separator * int(rng.choice([0, 0, 1, 2]))
    where = rng.choice(["rows", "both", "header"] if len(header) == len(rows[0]) and has_header else ["rows", "both"])
    lines = [style.line(row) + trailing * (where != "header") for row in rows]
    if has_header:
        lines.insert(0, style.line(header) + trailing * (where != "rows"))
    text = str(rng.choice(["\n", "\r\n", "\r"])).join([*lines, ""])
    in_quotes = style.quoting == csv.QUOTE_ALL or any(style.separator in cell for cell in known)
    separated = len(rows[0]) > 1 or (trailing and where != "header")
    told = {tells(cell) for cell in known}
    asks = None in told and True not in told and not (style.separator == "," and separated and not in_quotes)
    if not (has_header or separated or in_quotes):  # is 1,5 one number or two?
        counts = [{cell.count(mark) for cell in known} for mark in ", "]
        asks = asks or any(len(found) == 1 and found != {0} for found in counts)
    return File(text, numbers, ids, id_column, asks)


def generated_files():
    rng = np.random.default_rng(20)
    styles = itertools.product(SEPARATORS, ",.", GROUPINGS, [csv.QUOTE_MINIMAL, csv.QUOTE_ALL])
    possible = [Style(*style) for style in styles if style[1] != style[2]]
    for k in range(N_FILES):
        style, encoding = possible[k % len(possible)], ENCODINGS[(k + k // len(possible)) % len(ENCODINGS)]
        if style.separator == "," and style.grouping == "." and style.quoting != csv.QUOTE_ALL:
            continue  # where commas separate, a dot is a decimal mark
        if encoding == "cp1252" and style.grouping == "\u202f":
            encoding = "utf-8"
        yield style, encoding, make_file(rng, style)


@pytest.mark.slow
def test_every_number_and_id_of_many_files_is_read_or_asked_for(tmp_path):
    path = tmp_path / "table.csv"
    n_read = n_asked = 0
    for style, encoding, file in generated_files():
        path.write_bytes(file.text.encode(encoding))
        if file.asks:
            with pytest.raises(DataError, match=r"--(decimal|thousands)"):
                file.assert_equal(read_table(str(path), id_column=file.id_column))
            n_asked += 1
        else:
            try:
                table = read_table(str(path), id_column=file.id_column)
            except DataError as error:
                raise AssertionError(f"{error}\n{file.text}") from error
            file.assert_equal(table)
            n_read += 1
        file.assert_equal(read_table(str(path), id_column=file.id_column, marks=style.marks))
    assert n_read >= 200
    assert n_asked >= 4
