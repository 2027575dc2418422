"""Files that are packed, as gz or zip: one table is taken out of them, in memory and within limits."""

from __future__ import annotations

import io
import re
import zipfile
import zlib

from kfrc_app._unpacking import allowed_size, inflated, whole_member
from kfrc_app.tables.columns import DataError, in_quotes, quoted
from kfrc_app.tables.questions import Choice, OpenQuestionError, Question
from kfrc_app.tables.zipped import UNREADABLE, ZIP

MAX_DEPTH = 2
"""Packed files within packed files, such as a gz file in a zip file."""

GZIP = b"\x1f\x8b"
_UNKNOWN = "the zip file is packed in a way that is not known here: unpack it, and give the table in it"
_ZEROS = re.compile(rb"\0*")
_OFFICE = ("[Content_Types].xml", "mimetype", "META-INF/manifest.xml", "xl/workbook.xml", "Index/Document.iwa")
"""Members by which a zip file is a document rather than an archive."""

_TABLE = re.compile(r"\.(?:csv|tsv|tab|txt|dat|asc|xlsx|xlsm|xls|ods|json|jsonl|ndjson|parquet|pq|gz)$", re.IGNORECASE)
_ASIDE = re.compile(
    r"(?:^|/)(?:__MACOSX/|\.(?!\.)|thumbs\.db$|(?:readme|licen[cs]e|about|metadata)[^/]*$)", re.IGNORECASE
)
"""What other programs put beside a table."""


def unpack(content: bytes, part: str | None = None) -> tuple[bytes, str | None]:
    """The content of a packed file; that of any other file as it is.

    Parameters
    ----------
    content : bytes
    part : str, optional
        The file within an archive that is meant; what follows a slash behind its name is for that file.

    Returns
    -------
    bytes
        Of the table.
    str or None
        What is left of ``part``.

    Raises
    ------
    DataError
        If the file is damaged or protected, grows too much, or holds no table, or several and none was named.
    """
    limit = allowed_size(len(content))
    depth = 0
    while content.startswith(GZIP) or is_archive(content):
        if depth == MAX_DEPTH or (depth and is_archive(content)):
            raise DataError("there are packed files within the packed file: unpack it, and give the table in it")
        content, part = (gunzip(content, limit), part) if content.startswith(GZIP) else _unzip(content, limit, part)
        depth += 1
    return content, part


def is_archive(content: bytes) -> bool:
    """Whether a file is a zip file and no document that is stored as one."""
    if not content.startswith((ZIP, b"PK\x05\x06")):
        return False
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            return not {*archive.namelist()} & {*_OFFICE}
    except NotImplementedError:  # it asks for a newer version of the format
        raise DataError(_UNKNOWN) from None
    except UNREADABLE:
        raise DataError("the file begins like a zip file or a spreadsheet, but it is damaged or cut off") from None


def gunzip(content: bytes, limit: int) -> bytes:
    """Unpack a gz file.

    Parameters
    ----------
    content : bytes
    limit : int
        Bytes that may come out of it.

    Raises
    ------
    DataError
        If it is damaged or more comes out.
    """
    parts, size, place = [], 0, 0
    while content.startswith(GZIP, place):  # there may be several, one behind the other
        stream = zlib.decompressobj(wbits=16 + zlib.MAX_WBITS)
        try:
            for part, end in inflated(stream, content, place):
                size += len(part)
                refuse_growth(size, limit)
                parts.append(part)
                place = end
        except zlib.error:
            raise DataError("the packed file is damaged: copy it again") from None
        if not stream.eof:
            raise DataError("the gz file is cut off: copy it again")
        zeros = _ZEROS.match(content, place)
        place = zeros.end() if zeros else place
    return b"".join(parts)


def refuse_growth(size: int, limit: int) -> None:
    """Stop if a packed file turns out to be far larger than it looks."""
    if size > limit:
        raise DataError(
            f"the packed file grows to more than {limit / 2**20:,.0f} MB, which no table of its size does: "
            "if it is one, unpack it first"
        )


def _unzip(content: bytes, limit: int, part: str | None) -> tuple[bytes, str | None]:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        tables = _tables(archive)
        names = [found.filename for found in tables]
        if not names:
            raise DataError("the zip file holds no table")
        name, rest = _chosen(names, part)
        member = tables[names.index(name)]
        if member.flag_bits & 1:
            raise DataError("the zip file is protected with a password: unpack it, and give the table in it")
        refuse_growth(member.file_size, limit)
        try:
            found = whole_member(archive, member, content, limit)
        except RuntimeError:  # also what is not implemented, which is one
            raise DataError(_UNKNOWN) from None
        except UNREADABLE:
            raise DataError(f"{in_quotes(name)} in the zip file is damaged: pack it again") from None
    refuse_growth(len(found), limit)
    return found, rest


def _chosen(names: list[str], part: str | None) -> tuple[str, str | None]:
    """The file that is meant, and what was said of parts of it."""
    if part is not None:
        for name in sorted(names, key=len, reverse=True):
            for called in (name, name.rpartition("/")[2]):
                if part == called:
                    return name, None
                if part.startswith(f"{called}/"):
                    return name, part[len(called) + 1 :]
    if len(names) == 1:
        return names[0], part
    said = f"no file {in_quotes(part)}" if part is not None else f"{len(names)} files"
    message = f"the zip file has {said}: it holds {quoted(names, 10)}. Say which is meant, for example "
    message += f"--sheet {in_quotes(names[0])}"
    if part is not None:
        raise DataError(message)
    asked = f"the zip file has {said}, {quoted(names, 10)}: which is meant?"
    raise OpenQuestionError(message, Question(asked, tuple(Choice(f"{in_quotes(name)}", sheet=name) for name in names)))


def parts(content: bytes) -> tuple[str, ...]:
    """The files of an archive of which one can be chosen; none if it holds a single one."""
    if not is_archive(content):
        return ()
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        names = tuple(found.filename for found in _tables(archive))
    return names if len(names) > 1 else ()


def _tables(archive: zipfile.ZipFile) -> list[zipfile.ZipInfo]:
    """The files of an archive that may be tables."""
    named = [found for found in archive.infolist() if found.filename and not found.is_dir()]
    files = [found for found in named if not _ASIDE.search(found.filename)]
    return [found for found in files if _TABLE.search(found.filename)] or files
