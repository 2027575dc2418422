"""The dialect of delimited text: encoding, comment lines, and the separator, found from the first lines."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from kfrc_app.tables import columns
from kfrc_app.tables.columns import DataError, shortened
from kfrc_app.tables.margins import trim
from kfrc_app.tables.numbers import MISSING, Marks, looks_like_number
from kfrc_app.tables.questions import Choice, OpenQuestionError, Question

_SEPARATORS = ("\t", ";", "|", ",", " ")  # the comma late: between the others it is a mark within numbers
SEPARATOR_WORDS = {"\t": "tab", ";": "semicolon", "|": "bar", ",": "comma", " ": "space"}
NO_SEPARATOR = "\x1f"
"""A control character that no table holds: the file is one column."""

_SAMPLE_LINES = 200
_SAMPLE_SIZE = 200_000  # characters
_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1f]")
_WIDE_SAMPLE = 16  # bytes, of names of columns as a rule
_MAX_CONTROL_SHARE = 0.01
_ESCAPE = 0xDC00
"""What Python adds to a byte that is not UTF-8, so that it is a character that no text holds."""

_NO_UTF_8 = re.compile("[\udc80-\udcff]")
_LINE_END = re.compile(r"\r\n|\n|\r")
_SHOWN = 5  # bytes in a note
_WINDOWS = {byte: bytes([byte]).decode("cp1252", "ignore") or chr(byte) for byte in range(128, 256)}
"""Latin-1 as Windows writes it, with more letters and marks; where a byte has none there, it stays as it is."""

_ESCAPED = {_ESCAPE + byte: letter for byte, letter in _WINDOWS.items()}
_BLANKS = re.compile(r'("[^"]*")|[ \t]+')
_QUOTED = re.compile('"[^"]*"')
_WIDE_LINE = 1 << 23  # characters of a line in which fields are counted
_NO_COLUMNS = (False, False, 0.0, False)
_ALL_NUMBERS = (True, True, 1.0, True)
_ESCAPED_QUOTE = re.compile(r'\\"(?=[^\s";|,])')
"""A quotation mark with a backslash before it, within a field: R and MySQL write it where others write two marks."""

_SHOUTED = re.compile(r"(?:!.*\n|\n){2,}")
_EXCEL_HINT = re.compile(r"sep=(.)\n", re.IGNORECASE)


@dataclass(frozen=True)
class Dialect:
    """Text with plain line ends, and what separates its columns.

    Attributes
    ----------
    text : str
    separator : str
        One character.
    notes : tuple of str
    groups : tuple of str
        Fields of the last line that was left out above the table: they may be what several columns have in common.
    """

    text: str
    separator: str
    notes: tuple[str, ...]
    groups: tuple[str, ...] = ()


def find_dialect(content: bytes, marks: Marks) -> Dialect:
    r"""Decode a file and find its separator.

    Parameters
    ----------
    content : bytes
    marks : Marks
        A comma that is said to stand within numbers does not separate them, unless a header shows that it does.

    Returns
    -------
    Dialect

    Raises
    ------
    DataError
        If the content is empty or binary, or its lines can be read as one column or as two.

    Examples
    --------
    >>> from kfrc_app.tables.dialect import find_dialect
    >>> from kfrc_app.tables.numbers import Marks
    >>> find_dialect(b"a;b\n1,5;2\n2,5;3\n", Marks()).separator
    ';'
    """
    text, notes = decode(content)
    text = text.replace("\r\n", "\n").replace("\r", "\n").strip("\n").rstrip(" \n") + "\n"
    if _ESCAPED_QUOTE.search(text):
        text = text.replace('\\"', '""')
    hint = _EXCEL_HINT.match(text)
    if hint and hint[1] in _SEPARATORS:
        if not text[hint.end() :].strip():
            raise DataError("the file is empty")
        return Dialect(text[hint.end() :], hint[1], tuple(notes))
    refuse_wide_lines(text, _SEPARATORS)
    first = text[:1]
    text, n_comments = _without_comments(text)
    if not text.strip():
        raise DataError("the file holds nothing but comments: lines that begin with #")
    if n_comments:
        notes.append(f"left out {n_comments} line(s) of comment at the top, which begin with {first}")
    text, margins, groups = trim(text)
    notes.extend(margins)
    separator = _find_separator(_sample(text), marks)
    if separator == " ":
        text = "\n".join(_single_blanks(line) for line in text.split("\n"))
    if separator == NO_SEPARATOR:
        header, line_end, rows = text.partition("\n")
        text = (header.rstrip("".join(_SEPARATORS)) or header) + line_end + rows
    return Dialect(text, separator, tuple(notes), groups)


def refuse_wide_lines(text: str, separators: Sequence[str]) -> None:
    """Stop at a line of more fields than columns can be used, whichever of the separators that it has is meant."""
    for line in re.finditer(f"(?m)^.{{{columns.MAX_COLUMNS},}}", text):
        cells = text[line.start() : min(line.end(), line.start() + _WIDE_LINE)]
        if '"' in cells:
            cells = _QUOTED.sub('""', cells)
        while "  " in cells:
            cells = cells.replace("  ", " ")
        counts = [cells.count(separator) for separator in separators]
        columns.refuse_wide(min((count for count in counts if count), default=0) + 1)


def decode(content: bytes) -> tuple[str, list[str]]:
    r"""The text of a file, and notes of what is not UTF-8 in it.

    Bytes that are not UTF-8 are letters of Windows-1252 (Latin-1): all of them if there are more than bytes of letters
    in UTF-8, and otherwise only these.

    Raises
    ------
    DataError
        If the content is empty or binary.

    Examples
    --------
    >>> from kfrc_app.tables.dialect import decode
    >>> text, notes = decode("Zürich;1’000\n".encode() + b"Z\xfcrich;2")
    >>> text.split(), notes
    (['Zürich;1’000', 'Zürich;2'], ["1 byte is not UTF-8 and was read as Latin-1, check it: 'ü' (FC) in line 2"])
    """
    if not content.strip():
        raise DataError("the file is empty")
    wide = _wide(content)
    if b"\x00" in content and not wide:
        raise DataError(_binary_message(content))
    notes = []
    try:
        text = content.decode(wide or "utf-8-sig", "strict" if wide else "surrogateescape")
    except UnicodeDecodeError:
        raise DataError(_binary_message(content)) from None
    wrong = [] if wide else [found.start() for found in _NO_UTF_8.finditer(text)]
    if wrong and 2 * len(wrong) > len(content.translate(None, bytes(range(128)))):
        text = content.decode("latin-1").translate(_WINDOWS)
        notes.append("the file is not UTF-8, so it was read as Latin-1: check accented letters in names")
    elif wrong:
        notes.append(_told_bytes(text, wrong))
        text = text.translate(_ESCAPED)
    if len(_CONTROL.findall(text[:_SAMPLE_SIZE])) > _MAX_CONTROL_SHARE * min(len(text), _SAMPLE_SIZE):
        raise DataError(_binary_message(content))
    if not text.strip():
        raise DataError("the file is empty")
    return text, notes


def _wide(content: bytes) -> str:
    """How text of two bytes per letter is stored; blank if it is not. Without a mark at its begin every other is 0."""
    if content[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return "utf-16"
    first = content[:_WIDE_SAMPLE]
    for start, encoding in ((1, "utf-16-le"), (0, "utf-16-be")):
        if len(first) > 2 and not any(first[start::2]) and all(first[1 - start :: 2]):
            return encoding
    return ""


def _told_bytes(text: str, wrong: Sequence[int]) -> str:
    """A note of the bytes that are not UTF-8, given where they stand in the text."""
    shown = []
    for k in wrong[:_SHOWN]:
        line = len(_LINE_END.findall(text, 0, k)) + 1
        shown.append(f"'{text[k].translate(_ESCAPED)}' ({ord(text[k]) - _ESCAPE:02X}) in line {line}")
    more = f" and {len(wrong) - _SHOWN:,} more" if len(wrong) > _SHOWN else ""
    one = len(wrong) == 1
    said = "1 byte is not UTF-8 and was" if one else f"{len(wrong):,} bytes are not UTF-8 and were"
    return f"{said} read as Latin-1, check {'it' if one else 'them'}: {', '.join(shown)}{more}"


def _binary_message(content: bytes) -> str:
    kind = "a spreadsheet or archive" if content[:2] == b"PK" else "a binary file"
    return f"this is {kind}, not a table of text: save it as CSV, TSV or Parquet"


def _without_comments(text: str) -> tuple[str, int]:
    """Leave out lines at the top that begin with #, but not a header that does, of which only "# " is left out.

    Several lines that begin with ! are comments as well: gene expression data have them.
    """
    shouted = _SHOUTED.match(text)
    if shouted:
        return text[shouted.end() :], shouted[0].count("\n")
    n_comments, start = 0, 0
    while text.startswith("#", start):
        end = text.index("\n", start) + 1
        following = text[end : text.find("\n", end)]
        if not following.startswith("#") and any(map(looks_like_number, re.split(r"[\t;|, ]", following))):
            return text[start:].removeprefix("# "), n_comments
        n_comments, start = n_comments + 1, end
    return text[start:], n_comments


def _sample(text: str) -> list[str]:
    lines = [line for line in text[:_SAMPLE_SIZE].split("\n", 2 * _SAMPLE_LINES) if line.strip()][:_SAMPLE_LINES]
    # The last line may be cut off.
    return lines[:-1] if len(lines) > 1 and len(text) > _SAMPLE_SIZE else lines


def _single_blanks(line: str) -> str:
    """Columns that are lined up with spaces get single ones; other kinds of spaces stand within numbers."""
    return _BLANKS.sub(lambda found: found[1] or " ", line.strip(" \t"))


def _find_separator(lines: list[str], marks: Marks) -> str:
    ranks = {separator: _rank(lines, separator) for separator in _SEPARATORS}
    numeric = [separator for separator, rank in ranks.items() if rank == _ALL_NUMBERS]
    for separator in numeric:
        if all(separator not in line.strip().rstrip(separator) for line in lines):
            return separator  # at the end of the lines only
    if all(map(_is_cell, lines)) and (not numeric or _is_within_numbers(numeric[0], marks, lines[0])):
        return NO_SEPARATOR
    if numeric == [",", " "] and not all(line.count(",") == line.count(", ") for line in lines):
        return " " if _is_within_numbers(",", marks, lines[0]) else ","
    best = max(ranks, key=lambda separator: ranks[separator])
    if ranks[best] == _NO_COLUMNS:
        return NO_SEPARATOR
    fits_header = ranks[best][0]
    if fits_header:
        within = _may_be_one_column(lines, best) and _is_within_numbers(best, marks, lines[1], header=lines[0])
        return NO_SEPARATOR if within else best
    n_names = 1 if best == " " else count_names(_records(lines, best)[0])
    is_one_column = n_names == 1 and 2 * sum(map(looks_like_number, lines[1:])) >= len(lines) - 1 > 0
    return NO_SEPARATOR if is_one_column else best


def _is_cell(line: str) -> bool:
    """Whether a line is a number as a whole, with or without quotation marks, or a mark for a missing one."""
    return looks_like_number(line.strip().strip('"')) or line.strip() in MISSING


def _may_be_one_column(lines: list[str], separator: str) -> bool:
    """Whether a name of several words, as in Price, EUR, may stand above numbers with a mark, as in 1,5 or 1 234."""
    header, *rows = lines
    blank_differs = separator == " " or (", " in header and not any(", " in row for row in rows))
    return bool(rows) and separator in ", " and blank_differs and all(map(looks_like_number, rows))


def _is_within_numbers(mark: str, marks: Marks, line: str, *, header: str | None = None) -> bool:
    """Whether a mark that could separate numbers stands within them, where no header tells: as given, or a question.

    1,5 is one number or two, and 1,2 345,6 is three numbers between commas or two between spaces.
    """
    if marks != Marks():
        return mark in (marks.decimal, marks.thousands)
    place = (
        f"the first line is '{shortened(line)}'"
        if header is None
        else f"below '{shortened(header)}' stands '{shortened(line)}'"
    )
    names = " or a first line with names" if header is None else ""
    within = '--decimal "," or --thousands ","' if mark == "," else '--thousands " "'
    word = SEPARATOR_WORDS[mark]
    asked = f"{place}: does the {word} separate two columns, or does it stand within a number?"
    inside = Choice(f"the {word} stands between thousands", thousands=mark)
    choices = [Choice(f"the {word} separates columns", decimal="."), inside]
    if mark == ",":
        choices.insert(1, Choice(f"the {word} is the decimal mark", decimal=mark))
    raise OpenQuestionError(
        f'{asked} Add --decimal "."{names} for the first, {within} for the second', Question(asked, tuple(choices))
    )


def _records(lines: list[str], separator: str) -> list[list[str]]:
    if separator == " ":
        lines = [_single_blanks(line) for line in lines]
    try:
        reader = csv.reader(io.StringIO("\n".join(lines)), delimiter=separator, skipinitialspace=separator != " ")
        return [record for record in reader if record]
    except csv.Error:
        return []


def _rank(lines: list[str], separator: str) -> tuple[bool, bool, float, bool]:
    """How well a separator explains the lines.

    Whether the header fits the rows, whether quotation marks enclose fields, the share of rows with the same number of
    fields, and whether there is no header and all are numbers: 1,5 2,5 is two numbers, rather than 1 and 5 2 and 5.
    """
    records = _records(lines, separator) if any(separator in line for line in lines) else []
    if not records:
        return _NO_COLUMNS
    header, rows = records[0], records[1:] or records
    width, count = Counter(len(row) for row in rows).most_common(1)[0]
    if width == 1:
        return _NO_COLUMNS
    n_blank = width - max(count_names(row) for row in rows if len(row) == width)
    enclosing = not any('"' in field for record in records for field in record)
    numeric = all(looks_like_number(field) for record in records for field in record[: count_names(record)])
    return fitting_width(header, width, n_blank) is not None, enclosing, count / len(rows), numeric


def fitting_width(header: list[str], width: int, n_blank: int) -> int | None:
    """Number of columns, given that the last ``n_blank`` of ``width`` fields are blank in every row.

    Separators at the end of the lines make blank fields that belong to no column; they are recognized first. Then rows
    may have one field more than the header, the name of the row, or columns at the end have no name: neither is so if
    the header is a single name.

    Parameters
    ----------
    header : list of str
    width, n_blank : int

    Returns
    -------
    int or None
        None if the header does not fit.

    Examples
    --------
    >>> from kfrc_app.tables.dialect import fitting_width
    >>> fitting_width(["a", "b"], 3, 1), fitting_width(["a", "b"], 3, 0), fitting_width(["x"], 2, 0)
    (2, 3, None)
    """
    n_names = count_names(header)
    remaining = max(n_names, width - n_blank)
    if remaining > width:
        return None
    is_single = n_names == 1 and not looks_like_number(header[0])
    fits = width == len(header) or (remaining == n_names + 1 and n_names > 1)
    return remaining if remaining == n_names or (fits and not is_single) else None


def count_names(header: list[str]) -> int:
    """Fields of a header without the blank ones at its end."""
    return max((j + 1 for j, name in enumerate(header) if name.strip()), default=1)
