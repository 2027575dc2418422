"""Known tables as text files in the dialects that programs and people write; only what the documentation promises."""

from __future__ import annotations

import csv
import gzip
import io
from dataclasses import dataclass
from decimal import Decimal

import numpy as np

from hostile.damage import zipped
from hostile.truths import DATE, GAP, LEVEL, NAME, NUMBER, TRUTH, Known, Truth

_SPACES = (" ", "\u00a0", "\u2009", "\u202f")
_GAPS = ("", "", "", "NA", "n/a", "?", "NaN", "NULL", "#N/A", "..", "\\N")
_DRESSES = ("{} %", "{}%", "€ {}", "${}", "{} EUR", "CHF {}", "£{}", "{} kr")
_DATES = ("%Y-%m-%d", "%Y/%m/%d", "%d.%m.%Y", "%d %b %Y", "%B %d, %Y", "%d%b%Y", "%d/%m/%Y", "%m/%d/%Y", "%d-%m-%y")
_ENCODINGS = ("utf-8", "utf-8", "utf-8", "utf-8-sig", "utf-16", "utf-16-le", "cp1252", "latin-1")


@dataclass(frozen=True)
class Dialect:
    """How a text file is written.

    Attributes
    ----------
    clear : bool
        Whether nothing about it can be read in two ways, so that a refusal would be wrong.
    """

    separator: str = ","
    decimal: str = "."
    thousands: str = ""
    quoting: int = csv.QUOTE_MINIMAL
    line_end: str = "\n"
    gap: str = ""
    minus: str = "-"
    clear: bool = False


@dataclass(frozen=True)
class Written:
    """A file: what is in it, how it should be called, and whether it can be refused."""

    content: bytes
    ending: str
    clear: bool = False


def draw_dialect(rng: np.random.Generator) -> Dialect:
    """Any of them; a third are such as most programs write."""
    if rng.random() < 0.33:
        return Dialect(str(rng.choice([",", ";", "\t"])), clear=True)
    separator = str(rng.choice([",", ";", "\t", "|", " "], p=[0.3, 0.3, 0.2, 0.1, 0.1]))
    decimal = str(rng.choice([".", ","]))
    marks = [mark for mark in (",", ".", "'", "\u2019", *_SPACES) if mark != decimal]
    thousands = str(rng.choice(marks)) if rng.random() < 0.4 else ""
    quoting = int(rng.choice([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]))
    if separator == "," and thousands == ".":
        quoting = csv.QUOTE_ALL  # between separating commas, a dot without quotation marks is a decimal mark
    return Dialect(
        separator,
        decimal,
        thousands,
        quoting,
        str(rng.choice(["\n", "\r\n", "\r"])),
        str(rng.choice(_GAPS)),
        "\u2212" if rng.random() < 0.1 else "-",
    )


def write_text(truth: Truth, rng: np.random.Generator) -> Written:
    """A table as a text file, perhaps packed."""
    dialect = draw_dialect(rng)
    lines = _table(truth, dialect, rng)
    if not dialect.clear:
        lines = _around(truth, lines, dialect, rng)
    text = dialect.line_end.join(lines) + (dialect.line_end if rng.random() < 0.9 else "")
    content = _encoded(text, "utf-8" if dialect.clear else str(rng.choice(_ENCODINGS)))
    ending = str(
        rng.choice(["csv", "tsv", "txt", "xlsx", "parquet", "json", ""], p=[0.6, 0.1, 0.1, 0.05, 0.05, 0.05, 0.05])
    )
    packing = rng.random()
    if packing < 0.08:
        return Written(gzip.compress(content, mtime=0), "csv.gz", dialect.clear)
    if packing < 0.16:
        name = str(rng.choice(["table.csv", "a/b/table.csv", "../../table.csv", "C:\\table.csv", "t\u00e4ble.csv"]))
        return Written(zipped({name: content}, compressed=bool(rng.integers(2))), "zip", dialect.clear)
    return Written(content, ending, dialect.clear)


def number_text(digits: str, dialect: Dialect) -> str:
    """Digits with a dot, such as -1234.5, in the marks of a dialect."""
    sign, body = ("-", digits[1:]) if digits.startswith("-") else ("", digits)
    whole, dot, fraction = body.partition(".")
    if dialect.thousands and whole.isdigit() and "e" not in body and len(whole) > 3:
        head = len(whole) % 3
        groups = [whole[:head]] * bool(head) + [whole[k : k + 3] for k in range(head, len(whole), 3)]
        whole = dialect.thousands.join(groups)
    minus = dialect.minus if sign else ""
    return f"{minus}{whole}{dialect.decimal if dot else ''}{fraction}"


def _table(truth: Truth, dialect: Dialect, rng: np.random.Generator) -> list[str]:
    target = io.StringIO()
    writer = csv.writer(target, delimiter=dialect.separator, quoting=dialect.quoting, lineterminator="\0")
    cells = truth.rows([_cells(column, dialect, rng) for column in truth.columns])
    writer.writerows([truth.names, *cells])
    if dialect.separator == " ":  # a blank cell would be no cell
        return [line or '""' for line in target.getvalue().split("\0")[:-1]]
    return target.getvalue().split("\0")[:-1]


def _cells(column: Known, dialect: Dialect, rng: np.random.Generator) -> list[str]:
    gap = dialect.gap or ("NA" if dialect.separator == " " else "")
    plain = dialect.clear
    if column.kind == NUMBER:
        dress = "{}" if plain or rng.random() < 0.8 else str(rng.choice(_DRESSES))
        texts = [dress.format(number_text(digits, dialect)) if digits else gap for digits in column.written]
    elif column.kind == DATE:
        years = {day.year for day in column.values if day is not GAP}
        short = years <= {*range(1930, 2030)}  # what years of two digits mean
        form = _DATES[0] if plain else str(rng.choice(_DATES if short else _DATES[:-1]))
        has_times = any(day is not GAP and (day.hour or day.minute or day.second) for day in column.values)
        form += " %H:%M:%S" if has_times else ""
        texts = [gap if day is GAP else day.strftime(form) for day in column.values]
    elif column.kind == TRUTH:
        texts = [gap if value is GAP else str(value).lower() for value in column.values]
    else:
        texts = [text or gap for text in column.written]
    return texts


def _around(truth: Truth, lines: list[str], dialect: Dialect, rng: np.random.Generator) -> list[str]:
    """The table with what people write around it."""
    width, between = len(truth.columns), dialect.separator
    if rng.random() < 0.08:
        lines = [line + between for line in lines]
    if rng.random() < 0.08:
        lines = [*lines, *[""] * int(rng.integers(1, 4))]
    chance = rng.random()
    if chance < 0.06:
        return [f"# made by a program, {k}" for k in range(int(rng.integers(1, 4)))] + lines
    if chance < 0.12 and width > 3 and between != " ":
        return ["Report of the year", "", *lines]
    if chance < 0.16 and between in ",;\t|":
        return [f"sep={between}", *lines]
    has_units = width > 2 and all(column.kind == NUMBER for column in truth.columns)
    if chance < 0.22 and has_units:
        return [lines[0], between.join(["cm", "kg", "mg/dl", "s", "m"][:width]), *lines[1:]]
    if chance < 0.28 and truth.columns[0].kind in (NAME, LEVEL) and not dialect.thousands:
        return [*lines, _total(truth, dialect)]
    return lines


def _total(truth: Truth, dialect: Dialect) -> str:
    target = io.StringIO()
    cells = ["Total"]
    for column in truth.columns[1:]:
        is_sum = column.kind == NUMBER and all("e" not in digits for digits in column.written)
        found = f"{sum((Decimal(digits) for digits in column.written if digits), Decimal(0)):f}" if is_sum else ""
        cells.append(number_text(found, dialect) if is_sum else (dialect.gap or ""))
    csv.writer(target, delimiter=dialect.separator, quoting=dialect.quoting, lineterminator="").writerow(cells)
    return target.getvalue()


def _encoded(text: str, encoding: str) -> bytes:
    try:
        return text.encode(encoding)
    except UnicodeEncodeError:
        return text.encode("utf-8")
