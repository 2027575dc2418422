"""Lines of a text file above and below its table: titles, dates of a report, sources. They are left out and told."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from dataclasses import dataclass

from kfrc_app.tables.layout import (
    REMARK,
    SEARCHED,
    count_remarks,
    find_header,
    holds_values,
    is_name,
    is_value,
    n_filled,
    refuse_first_table,
    told_above,
    told_below,
)
from kfrc_app.tables.spaced import trim_spaced

_SEPARATORS = ("\t", ";", "|", ",")  # the comma last: between the others it is a mark within numbers
_SAMPLE_SIZE = 200_000  # characters
_EVEN_SHARE = 0.9
"""Share of the lines of a table that have the same number of fields; remarks below it have others."""

_RULE = re.compile(r"^(?=[ |+:=-]*?(?:---|===))[ |+:=-]{5,}\n", re.MULTILINE)
"""A line that is drawn below names or around a table. Looked at twice at most: a cell may hold a million dashes."""

_RULED_LINES = 5  # at the beginning
_YEAR = re.compile("(?:1[89]|20)[0-9]{2}")
_LAST_BLOCK = 6  # lines after the last blank one that may be remarks
_WORDS = 3  # of a remark at least, where it has as many fields as a row
_LEAST_ROWS = 3  # that tell what a column holds
_TAIL_LINES = 30  # lines at the end among which remarks are looked for


@dataclass(frozen=True)
class _Sample:
    """The first lines of a text, cut at one separator.

    Attributes
    ----------
    separator : str
    records : list of list of str
        Blank lines among them.
    ends : list of int
        Where each ends in the text.
    width : int
        How many fields most of them have.
    start : int
        The first line of the table.
    share : float
        Of the lines below it, that have this width.
    """

    separator: str
    records: list[list[str]]
    ends: list[int]
    width: int
    start: int
    share: float


def trim(text: str) -> tuple[str, list[str], tuple[str, ...]]:
    r"""A text without the lines around its table, notes of them, and the cells of the last one above it.

    Parameters
    ----------
    text : str
        With plain line ends.

    Returns
    -------
    str
    list of str
    tuple of str

    Examples
    --------
    >>> from kfrc_app.tables.margins import trim
    >>> trim("Report of May\n\nname;a;b\nx;1;2\ny;3;4\nz;5;6\n\nSource: us\n")[0]
    'name;a;b\nx;1;2\ny;3;4\nz;5;6\n'
    """
    text = _without_rules(text)
    samples = (sample for separator in _SEPARATORS if separator in text for sample in _cut(text, separator))
    best = next((sample for sample in samples if sample.share >= _EVEN_SHARE), None)
    if best is None:
        return *trim_spaced(text), ()
    if best.separator == "," and _is_lined_up(text):
        return text, [], ()
    notes, groups = [], []
    titles = [record for record in best.records[: best.start] if n_filled(record)]
    if best.start and _is_start(best):
        if titles:
            refuse_first_table(titles, best.records[best.start])
            notes.append(told_above(titles))
            groups = [" ".join(cell.split()) for cell in titles[-1]]
        text = text[best.ends[best.start - 1] :]
    kept, remarks, n_blank = _without_remarks(text, best)
    if n_blank:
        notes.append(f"left out {n_blank} blank line(s) at the end")
    if remarks:
        notes.append(told_below(remarks))
    return kept, notes, tuple(groups)


def _without_rules(text: str) -> str:
    """A text without lines that are drawn at its beginning or end."""
    head = re.match(f"(?:.*\n){{0,{_RULED_LINES}}}", text)
    end = head.end() if head else 0
    tail = len(text) - sum(len(line) + 1 for line in text[-_SAMPLE_SIZE:].rstrip("\n").split("\n")[-2:])
    tail = max(end, tail)
    return _RULE.sub("", text[:end]) + text[end:tail] + _RULE.sub("", text[tail:])


def _cut(text: str, separator: str) -> list[_Sample]:
    lines = io.StringIO(text[:_SAMPLE_SIZE])
    records, ends = [], []
    try:
        for record in csv.reader(iter(lines.readline, ""), delimiter=separator, skipinitialspace=True):
            records.append(record)
            ends.append(lines.tell())
            if len(records) == 2 * SEARCHED:
                break
    except csv.Error:
        return []
    if len(text) > _SAMPLE_SIZE and len(records) < 2 * SEARCHED:
        records, ends = records[:-1], ends[:-1]  # the last one may be cut off
    filled = [record for record in records if n_filled(record)]
    others = _SEPARATORS[: _SEPARATORS.index(separator)] if separator in _SEPARATORS else ()
    if any(2 * sum(any(other in field for field in record) for record in filled) > len(filled) for other in others):
        return []  # what stands in most lines separates before a comma does
    if len(filled) < 3 or _has_stray_quotes(text[:_SAMPLE_SIZE], records):
        return []
    start = find_header(records)
    below = [record for record in records[start + 1 :] if n_filled(record)]
    if not below:
        return []
    width, count = Counter(map(len, below)).most_common(1)[0]
    start -= _lacks_corner(records, start)
    odd = [record for record in below[-_TAIL_LINES:] if len(record) != width]
    n_remarks = sum(len(record) == 1 or not any(map(is_value, record)) for record in odd) if len(below) > 3 else 0
    if width < 2:
        return []
    return [_Sample(separator, records, ends, width, start, count / max(len(below) - n_remarks, 1))]


def _has_stray_quotes(text: str, records: list[list[str]]) -> bool:
    """Whether a quotation mark is part of a field that is not quoted, as where a text is cut at the wrong separator."""
    end = 0
    for field in (field for record in records for field in record if '"' in field):
        doubled = field.replace('"', '""')
        start = text.find(f'"{doubled}"', end)
        if start < 0:
            return True
        end = start + len(doubled) + 2
    return False


def _lacks_corner(records: list[list[str]], start: int) -> bool:
    """Whether the line before the first one is the header of rows that have a name more than it."""
    if not start:
        return False
    above, first = records[start - 1], records[start]
    named = [field for field in above if field.strip()]
    shorter = len(above) == len(first) - 1 or n_filled(above) == n_filled(first) - 1
    return shorter and len(named) > 1 and all(map(is_name, named)) and any(map(is_value, first))


def _is_start(sample: _Sample) -> bool:
    """Whether a table begins below other lines, rather than a column of which some cells hold the separator."""
    first, rows = sample.records[sample.start], sample.records[sample.start + 1 :]
    are_names = all(is_name(cell) or not cell.strip() or _YEAR.fullmatch(cell.strip()) for cell in first)
    if sample.width == 2:
        return are_names and any(is_value(cell) for row in rows for cell in row)
    return are_names or sample.separator != ","


def _is_lined_up(text: str) -> bool:
    """Whether spaces separate columns, in all lines from the first on."""
    found = _cut(re.sub(" +", " ", text[:_SAMPLE_SIZE]), " ")
    if not found or found[0].start:
        return False
    rows = [record for record in found[0].records[1:] if n_filled(record)]
    return sum(len(record) == found[0].width for record in rows) >= _EVEN_SHARE * len(rows)


def _without_remarks(text: str, sample: _Sample) -> tuple[str, list[list[str]], int]:
    """The text without remarks below the table, these, and how many lines hold nothing but separators."""
    lines = text.rstrip("\n").split("\n")[-_TAIL_LINES:] if len(text) < _SAMPLE_SIZE else _last_lines(text)
    if '"' in "".join(lines[-3:]) and "".join(lines).count('"') % 2:
        return text, [], 0
    last_blank = max((k for k, line in enumerate(lines) if not line.strip(" _")), default=-1)
    is_end = last_blank >= 0 and len(lines) - last_blank <= _LAST_BLOCK
    apart = last_blank if is_end and not _has_gaps(sample) else len(lines)
    records = [_fields(line.strip("_"), sample, apart=k > apart) for k, line in enumerate(lines)]
    n_lines = count_remarks(records, sample.width)
    n_rows = len(records) - n_lines
    n_prose = _count_misfits(records[:n_rows], lines[:n_rows], sample)
    for k in range(n_rows - n_prose, n_rows):
        records[k] = [lines[k]]
    n_lines += n_prose
    if not n_lines or n_lines >= len(records) - 1:
        return text, [], 0
    cut = records[len(records) - n_lines :]
    left_out = lines[len(lines) - n_lines :]
    size = sum(len(line) + 1 for line in left_out)
    kept = text.rstrip("\n")[: 1 - size or None].rstrip("\n") + "\n"
    n_blank = sum(bool(line.strip()) and not n_filled(record) for line, record in zip(left_out, cut, strict=True))
    return kept, [record for record in cut if n_filled(record)], n_blank


def _count_misfits(records: list[list[str]], lines: list[str], sample: _Sample) -> int:
    """How many lines at the end of two columns are prose that a comma cuts in two: they do not fit what stands above.

    Either their first cell has several words where the column holds values and nothing else, or it has more, and a
    blank follows the separator as it does in prose and in no row. A single word, or a remark beside the name of a row,
    is a row of which something is not known.
    """
    if sample.width != 2:  # in wider tables prose has another number of fields
        return 0
    for count in range(min(_LAST_BLOCK, len(records) - _LEAST_ROWS), 0, -1):
        above = [record for record in records[:-count] if record != sample.records[sample.start]]
        if len(above) < _LEAST_ROWS or not all(map(_is_prose, records[-count:])):
            continue
        spaced = f"{sample.separator} "
        if holds_values(above, 0) or (
            not any(spaced in line for line in lines[:-count])
            and all(len(line.partition(spaced)[0].split()) > _WORDS and spaced in line for line in lines[-count:])
        ):
            return count
    return 0


def _is_prose(record: list[str]) -> bool:
    return bool(record) and is_name(record[0]) and len(record[0].split()) >= _WORDS


def _last_lines(text: str) -> list[str]:
    return text.rstrip("\n")[-_SAMPLE_SIZE:].split("\n")[1:][-_TAIL_LINES:]


def _has_gaps(sample: _Sample) -> bool:
    """Whether blank lines stand between the first rows of a table."""
    rows = sample.records[sample.start : sample.start + _LAST_BLOCK]
    return any(not n_filled(row) for row in rows[1:-1])


def _fields(line: str, sample: _Sample, *, apart: bool) -> list[str]:
    """Fields of a line; one of prose is a single field, also if it holds the separator.

    Prose is what begins as a remark does, what has another number of fields than the table and no value, and several
    words apart from the table, or that are longer than all names of rows.
    """
    try:
        fields = next(csv.reader([line], delimiter=sample.separator, skipinitialspace=True), [])
    except csv.Error:
        return [line]
    if not fields or not is_name(fields[0]):
        return fields
    differs = len(fields) != sample.width and " " in line.strip() and not any(map(is_value, fields))
    rows = [record for record in sample.records[sample.start :] if len(record) > 1 and record != fields]
    longest = max((len(record[0]) for record in rows), default=0)
    n_words = len(fields[0].split())
    is_titled = ":" in fields[0] and REMARK.search(line)
    if not apart and len(fields) == sample.width and any(map(is_value, fields[1:])) and not is_titled:
        return fields  # a row, whatever its name
    speaks = n_words >= _WORDS if apart else n_words > _WORDS and len(fields[0]) > 2 * longest
    return [line.rstrip(sample.separator)] if differs or speaks or REMARK.search(line) else fields
