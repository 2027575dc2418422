"""Tables whose names and values are made to break what shows them: markup, formulas, control characters, odd scales."""

from __future__ import annotations

import csv
import datetime
import io
import json
import math
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import openpyxl
import pyarrow as pa
import pyarrow.parquet as pq
from openpyxl.cell.cell import ILLEGAL_CHARACTERS_RE

from hostile.pages import NO_NUMBER, TEMPLATE

NAMES = (
    *("<script>alert(1)</script>", "</script><script>x()", "<img src=x onerror=alert(1)>", '"><iframe src="//x.y">'),
    *("</td></tr></table></div>", "<!--", "-->", "]]>", "&amp;&lt;b&gt;", "&nbsp", "'onmouseover='x()", "</title>"),
    *(
        "{{ 7*7 }}",
        "{% raw %}",
        "{0}",
        "%s%n%d",
        "${x}",
        "$\\frac{1}{$",
        "$a$",
        "$",
        "a_b^c",
        "\\",
        "\\u0041",
        "[b]x[/b]",
    ),
    *("[/red]", "[link=//x.y]z", ":smile:", "=1+1", "@SUM(A1)", "+a", "-b", "=cmd|' /C calc'!A0", "'=x", "x;=1+1"),
    *(
        'say "hi"',
        "it's",
        "a, b",
        "a;b",
        "a|b",
        "two\nlines",
        "tab\there",
        "cr\rhere",
        "\u2028sep",
        "x" * 400,
        "w " * 90,
    ),
    *(
        "",
        " ",
        "\u200b",
        "\u202eright",
        "שם ארוך",
        "اسم",
        "温度",
        "😀 mood",
        "👨‍👩‍👧",
        "Größe",
        "e\u0301",
        "\ufeffbom",
        "\u0000",
    ),
    *("\x1b[31mred", "\x07bell", "\x85", "\ufffe", "_x0041_", "cluster", "group", "left_out", "cluster_0", "certainty"),
    *("Cluster", "cluster (found)", "id", "label", "data", "main", "__proto__", "constructor", "toString", "index"),
    *("None", "nan", "null", "undefined", "inf", "NA", "1", "0", "2020", "1.5", "-1", "true", "#", "#ref", "?q=1"),
    *("http://x.y/z.js", "javascript:alert(1)", "a=b", "a:b", "height (cm)", "Body mass", "total", "Total", "mean"),
)
"""Names of columns, and words in cells."""

_PLAIN = ("height", "mass", "colour", "age", "income", "speed", "taste", "length", "depth")
_DAY = datetime.datetime(2024, 3, 1)


@dataclass(frozen=True)
class Strange:
    """A table: names, columns of values (``None`` where nothing is known), and what some columns are for.

    Attributes
    ----------
    roles : dict of str to str
        Option of the program by the name of a column.
    """

    names: list[str]
    columns: list[list[Any]]
    roles: dict[str, str]

    @property
    def n_rows(self) -> int:
        return len(self.columns[0])

    def rows(self) -> list[tuple[Any, ...]]:
        return list(zip(*self.columns, strict=True))

    def says_such(self) -> bool:
        """Whether a text of the table looks like a number that is none, or like a template."""
        texts = [*self.names, *(value for column in self.columns for value in column if isinstance(value, str))]
        return any(NO_NUMBER.search(text) or TEMPLATE.search(text) for text in texts)


def draw_strange(rng: np.random.Generator) -> Strange:
    """A table of at most 50 rows, of two or three groups in most of its columns."""
    n = int(
        rng.choice([1, 2, 3, 4, 6, 10, 16, 24, 36, 50], p=[0.01, 0.01, 0.03, 0.05, 0.1, 0.15, 0.22, 0.23, 0.1, 0.1])
    )
    groups = rng.integers(int(rng.choice([1, 2, 3])), size=n)
    if rng.random() < 0.15:
        groups[rng.integers(n)] = 50  # a group of one
    kinds = [str(kind) for kind in rng.choice(list(_KINDS), rng.integers(1, 6), p=_CHANCES)]
    columns = [_KINDS[kind](groups, rng) for kind in ["numbers", *kinds]]
    order = rng.permutation(len(columns))
    columns = [columns[k] for k in order]
    hostile = rng.choice([0.0, 0.4, 1.0], p=[0.1, 0.4, 0.5])
    names = [_name(k, hostile, rng) for k in range(len(columns))]
    roles: dict[str, str] = {}
    for option, chance in (("--label-column", 0.25), ("--id-column", 0.25), ("--weight-column", 0.2)):
        if rng.random() < chance:
            name = option[2:-7] + " of row" if rng.random() < 0.6 else f"{option[2]}{NAMES[rng.integers(len(NAMES))]}"
            roles[option] = name
            place = int(rng.integers(len(columns) + 1))
            names.insert(place, name)
            columns.insert(place, _ROLES[option](groups, rng))
    if rng.random() < 0.15:
        columns = [[column[k // 3] for k in range(n)] for column in columns]  # rows that are the same
    if rng.random() < 0.2:
        share = rng.choice([0.05, 0.3, 0.7])
        columns = [[None if rng.random() < share else value for value in column] for column in columns]
    return Strange(names, columns, roles)


def _name(k: int, hostile: float, rng: np.random.Generator) -> str:
    if rng.random() >= hostile:
        return _PLAIN[k]
    return NAMES[rng.integers(len(NAMES))] + ("" if rng.random() < 0.6 else f" {k}")


def _word(rng: np.random.Generator) -> str:
    return str(NAMES[rng.integers(len(NAMES))])


def _numbers(groups, rng):
    return (rng.standard_normal(len(groups)) + 8.0 * groups).tolist()


def _short_numbers(groups, rng):
    return [round(value, 2) for value in _numbers(groups, rng)]


def _counts(groups, rng):
    return (rng.integers(0, 4, len(groups)) + 5 * groups).tolist()


def _noise(groups, rng):
    return rng.standard_normal(len(groups)).tolist()


def _extreme(groups, rng):
    scale = rng.choice([5e-324, 1e-308, 1e-300, 1e-30, 1e15, 1e150, 1e300, 1e306])
    return (scale * (rng.standard_normal(len(groups)) + 3.0 * groups)).tolist()


def _far_from_zero(groups, rng):
    return (rng.choice([1e9, 1e12, -1e15]) + rng.standard_normal(len(groups)) + 3.0 * groups).tolist()


def _constant(groups, rng):
    return [[0, 7.5, -1e300, "a", _word(rng)][rng.integers(5)]] * len(groups)


def _almost_constant(groups, rng):
    return [1.0] * (len(groups) - 1) + [float(rng.choice([2.0, 1 + 1e-15, 1e300]))]


def _blank(groups, rng):
    return [None] * len(groups)


def _words(groups, rng):
    used = [_word(rng) for _ in range(rng.integers(2, 6))]
    by_group = rng.random() < 0.6
    return [used[(int(g) if by_group else int(rng.integers(9))) % len(used)] for g in groups]


def _many_words(groups, rng):
    return [_word(rng) for _ in groups]


def _remarks(groups, rng):
    return [f"{_word(rng)} {k} {_word(rng)}" for k in range(len(groups))]


def _truths(groups, rng):
    return [bool(g % 2) for g in groups]


def _dates(groups, rng):
    return [_DAY + datetime.timedelta(days=int(d)) for d in rng.integers(0, 30, len(groups)) + 400 * groups]


def _mixed(groups, rng):
    return [_word(rng) if rng.random() < 0.2 else round(value, 3) for value in _numbers(groups, rng)]


def _same(groups, rng):
    return [float(g) for g in groups]


_KINDS = {
    "numbers": _numbers,
    "short numbers": _short_numbers,
    "counts": _counts,
    "noise": _noise,
    "extreme": _extreme,
    "far from zero": _far_from_zero,
    "constant": _constant,
    "almost constant": _almost_constant,
    "blank": _blank,
    "words": _words,
    "many words": _many_words,
    "remarks": _remarks,
    "truths": _truths,
    "dates": _dates,
    "mixed": _mixed,
    "the group": _same,
}
_WEIGHTS = np.array([3, 2, 2, 1, 2, 1, 1, 1, 0.7, 5, 1, 1, 1, 1.5, 0.7, 1])
_CHANCES = _WEIGHTS / _WEIGHTS.sum()


def _labels(groups, rng):
    n, kind = len(groups), rng.integers(6)
    if kind == 0:
        return [None] * n
    if kind == 1:
        return [_word(rng)] * n
    if kind == 2:
        return [f"{_word(rng)}{k}" for k in range(n)]
    if kind == 3:
        return [int(g) for g in groups]
    return [f"{NAMES[int(g) + 7 * int(kind)]}" if rng.random() < 0.9 else None for g in groups]


def _ids(groups, rng):
    kind = rng.integers(4)
    return [[k, f"{_word(rng)}{k}", _word(rng), f"{k:04d}"][kind] for k in range(len(groups))]


def _row_weights(groups, rng):
    kind = rng.integers(6)
    counts = rng.integers(0 if kind == 0 else 1, 4, len(groups)).astype(float)
    return (counts * [1.0, 1.0, 1.0, 1e-300, 1e300, 1e12][kind]).tolist()


_ROLES = {"--label-column": _labels, "--id-column": _ids, "--weight-column": _row_weights}


def write_strange(table: Strange, folder: Path, rng: np.random.Generator) -> tuple[Path, Strange]:
    """A table as a file of some format, and the table as that format can hold it."""
    ending = str(rng.choice(["csv", "tsv", "xlsx", "parquet", "jsonl"], p=[0.45, 0.1, 0.2, 0.15, 0.1]))
    path = folder / f"table.{ending}"
    return path, _WRITERS[ending](table, path, rng)


def _csv(table, path, rng):
    table = _changed(table, lambda text: text.replace("\0", "\1"))  # with zeros it is refused as no text
    separator = "\t" if path.suffix == ".tsv" else str(rng.choice([",", ";"]))
    target = io.StringIO()
    quoting = csv.QUOTE_ALL if rng.random() < 0.3 else csv.QUOTE_MINIMAL
    writer = csv.writer(target, delimiter=separator, quoting=quoting, lineterminator="\n")
    writer.writerow(table.names)
    writer.writerows([["" if value is None else _text(value) for value in row] for row in table.rows()])
    path.write_bytes(target.getvalue().encode())
    return table


def _text(value):
    return repr(value) if isinstance(value, float) else str(value)


def _changed(table, change):
    """The table with every text changed, also where a column is named."""

    def cell(value):
        return change(value) if isinstance(value, str) else value

    columns = [[*map(cell, column)] for column in table.columns]
    return Strange([*map(change, table.names)], columns, {option: change(name) for option, name in table.roles.items()})


def _xlsx(table, path, rng):
    def held(text):
        return ILLEGAL_CHARACTERS_RE.sub("", text).replace("\ufffe", "")

    changed = _changed(table, held)
    columns = [[float(f"{v:.16g}") if isinstance(v, float) else v for v in column] for column in changed.columns]
    changed = replace(changed, columns=columns)  # as the library writes numbers
    book = openpyxl.Workbook()
    for i, row in enumerate([changed.names, *changed.rows()]):
        for j, value in enumerate(row):
            cell = book.active.cell(i + 1, j + 1)
            cell.value = value
            if isinstance(value, str):
                cell.value = value.replace("_x", "_x005F_x")  # the library does not mark what looks like an escape
                cell.data_type = "s"
    book.save(path)
    return changed


def _parquet(table, path, rng):
    columns = [
        column if len({type(v) for v in column} - {type(None)}) < 2 else _as_texts(column) for column in table.columns
    ]
    pq.write_table(pa.Table.from_arrays([pa.array(column) for column in columns], names=table.names), path)
    return Strange(table.names, columns, table.roles)


def _as_texts(column):
    return [None if value is None else _text(value) for value in column]


def _jsonl(table, path, rng):
    names = list(dict.fromkeys(table.names))
    kept = [table.names.index(name) for name in names]
    changed = Strange(names, [table.columns[k] for k in kept], table.roles)
    rows = [dict(zip(names, row, strict=True)) for row in changed.rows()]
    ascii_only = bool(rng.integers(2))
    path.write_text(
        "\n".join(json.dumps(row, default=str, ensure_ascii=ascii_only) for row in rows) + "\n", encoding="utf-8"
    )
    return changed


_WRITERS = {"csv": _csv, "tsv": _csv, "xlsx": _xlsx, "parquet": _parquet, "jsonl": _jsonl}


def write_matrix(rng: np.random.Generator, folder: Path) -> tuple[Path, Strange]:
    """A square matrix of dissimilarities with hostile names of its rows; rarely a wrong one."""
    n = int(rng.choice([2, 3, 5, 8, 14, 24]))
    X = rng.standard_normal((n, 2)) + 8.0 * rng.integers(2, size=(n, 1))
    R = ((X[:, None] - X[None]) ** 2).sum(axis=-1) * rng.choice([1.0, 1.0, 1.0, 1e-300, 1e300, 0.0])
    if rng.random() < 0.1:
        R[0, -1] += 1.0
    names = [f"{_word(rng)}{k if rng.random() < 0.9 else ''}" for k in range(n)]
    path, target = folder / "matrix.csv", io.StringIO()
    writer = csv.writer(target, lineterminator="\n")
    named = rng.random() < 0.7
    rows = [
        [name, *map(repr, row)] if named else [*map(repr, row)] for name, row in zip(names, R.tolist(), strict=True)
    ]
    writer.writerows([["", *names], *rows] if named else rows)
    path.write_bytes(target.getvalue().encode())
    return path, Strange(names, R.T.tolist(), {})


def is_gap(value: Any) -> bool:
    """Whether nothing is known in a cell."""
    return value is None or (isinstance(value, float) and math.isnan(value))
