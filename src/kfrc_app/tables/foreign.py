"""Files of other programs that are not read: each is named, with what to do instead."""

from __future__ import annotations

import io
import re
import zipfile

from kfrc_app._unpacking import raw_chunks
from kfrc_app.tables.columns import DataError
from kfrc_app.tables.zipped import UNREADABLE, ZIP

_CSV = "save the table as CSV or Excel"
_RESAVE = "open it in Excel or LibreOffice and save it as .xlsx"
_BEGINNINGS = (
    (
        (b"$FL2", b"$FL3"),
        "a data file of SPSS",
        "in SPSS choose File > Save As > CSV or Excel, or in R haven::read_sav",
    ),
    ((b"<stata_dta>",), "a data file of Stata", "in Stata type: export delimited using table.csv"),
    (
        (b"\0\0\0\0\0\0\0\0\0\0\0\0\xc2\xea\x81\x60",),
        "a data file of SAS",
        "in SAS use proc export with dbms=csv, or in R haven::read_sas",
    ),
    ((b"HEADER RECORD*******LIB",), "a transport file of SAS", "in SAS use proc export with dbms=csv"),
    ((b"X\n\0\0\0", b"A\n2\n", b"A\n3\n"), "an R object", "in R type: write.csv(readRDS('file.rds'), 'table.csv')"),
    ((b"RDX2\n", b"RDX3\n"), "an R workspace", "in R load it, then type: write.csv(NAME, 'table.csv')"),
    ((b"TABLE\n0,1\n", b"TABLE\r\n0,1\r\n"), "a spreadsheet in an old format", _RESAVE),
    ((b"%PDF",), "a PDF document", f"{_CSV} in the program that made it"),
    ((b"{\\rtf",), "a text document", f"{_CSV} in the program that made it"),
    ((b"SQLite format 3\0",), "a database", "export the table that is meant as CSV"),
    ((b"\x89HDF", b"MATLAB 5.0"), "a file of arrays", "write the table that is meant as CSV or Parquet"),
    ((b"\x93NUMPY",), "an array of numpy", "write it with numpy.savetxt('table.csv', array, delimiter=',')"),
    ((b"ARROW1", b"FEA1"), "a Feather or Arrow file", "write the table as Parquet"),
    ((b"BZh", b"\xfd7zXZ\0", b"\x28\xb5\x2f\xfd", b"7z\xbc\xaf\x27\x1c", b"Rar!"), "a packed file", "unpack it first"),
    ((b"\x89PNG", b"\xff\xd8\xff", b"GIF8", b"II*\0", b"MM\0*"), "a picture", f"{_CSV} in the program that made it"),
)
_OLD_STATA = re.compile(rb"[\x69\x6c-\x73][\x01\x02]\x01\x00")
_SYLK = re.compile(rb"ID;P[^\n;]*\n(?:P;P|B;[XY]|C;[XY]|F;|O;|NN;N)")
_PORTABLE = b"SPSSPORT"  # behind tables of letters
_COMPOUND = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_HTML = re.compile(rb"<(?:!doctype html|html|head|body|table|meta|div)\b", re.IGNORECASE)
_EXCEL_XML = re.compile(rb"progid=.Excel\.Sheet|urn:schemas-microsoft-com:office:spreadsheet")
_LOOKED_AT = 4096  # bytes at the beginning


def refuse_foreign(content: bytes) -> None:
    """Stop at a file of a kind that is not read.

    Parameters
    ----------
    content : bytes

    Raises
    ------
    DataError
        One sentence that names the kind and what to do.

    Examples
    --------
    >>> from kfrc_app.tables.foreign import refuse_foreign
    >>> refuse_foreign(b"%PDF-1.7 ...")
    Traceback (most recent call last):
    ...
    kfrc_app.tables.columns.DataError: this is a PDF document, not a table: save the table as CSV or Excel in ...
    """
    for beginnings, kind, advice in _BEGINNINGS:
        if content.startswith(beginnings):
            raise _refusal(kind, advice)
    if _SYLK.match(content):
        raise _refusal("a spreadsheet in an old format", _RESAVE)
    if _PORTABLE in content[:_LOOKED_AT]:
        raise _refusal("a portable file of SPSS", "in SPSS choose File > Save As > CSV or Excel")
    if _OLD_STATA.match(content):
        raise _refusal("a data file of Stata", "in Stata type: export delimited using table.csv")
    head = content[:_LOOKED_AT].removeprefix(b"\xef\xbb\xbf").lstrip()
    if content[:2] in (b"\xff\xfe", b"\xfe\xff"):
        head = head.replace(b"\0", b"")[2:].lstrip()
    if head.startswith(b"<"):
        _refuse_markup(head)
    if content.startswith(_COMPOUND):
        _refuse_compound(content)
    if content.startswith(ZIP):
        _refuse_document(content)


def _refusal(kind: str, advice: str) -> DataError:
    return DataError(f"this is {kind}, not a table: {advice}")


def _refuse_markup(head: bytes) -> None:
    if _EXCEL_XML.search(head):
        raise DataError(f"this is a spreadsheet in an old XML format: {_RESAVE}")
    if b"opendocument" in head:
        raise DataError(f"this is a flat XML document of LibreOffice: {_RESAVE}")
    if _HTML.search(head):
        raise DataError(f"this is a web page (HTML), whatever its name says: {_RESAVE}")
    if head.startswith(b"<?xml"):
        raise _refusal("an XML file", _CSV + " in the program that made it")


def _refuse_compound(content: bytes) -> None:
    """Files of older Office programs, and newer ones that are protected."""
    for word, kind in (("WordDocument", "a text document"), ("PowerPoint Document", "a presentation")):
        if word.encode("utf-16-le") in content:
            raise _refusal(kind, f"{_CSV} in the program that made it")
    if "EncryptedPackage".encode("utf-16-le") in content:
        raise DataError(PROTECTED)


PROTECTED = "the spreadsheet is protected with a password: open it, save it without one, and try again"


def _refuse_document(content: bytes) -> None:
    """Documents that are stored as zip files."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            names = archive.namelist()
    except (*UNREADABLE, NotImplementedError):
        return  # said where it is unpacked
    for beginning, kind, advice in (
        ("word/", "a text document of Word", f"copy the table into Excel, and {_CSV}"),
        ("ppt/", "a presentation", f"copy the table into Excel, and {_CSV}"),
        ("Index/", "a spreadsheet of Numbers", "in Numbers choose File > Export To > Excel or CSV"),
        ("xl/workbook.bin", "a binary workbook of Excel", "open it in Excel and save it as .xlsx"),
    ):
        if any(name.startswith(beginning) for name in names):
            raise _refusal(kind, advice)
    if "mimetype" in names and "xl/workbook.xml" not in names:
        _refuse_open_document(content)


def _refuse_open_document(content: bytes) -> None:
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            kind = next(raw_chunks(archive.getinfo("mimetype"), content), b"")[:_LOOKED_AT].strip()
    except (*UNREADABLE, RuntimeError):
        raise DataError("the document is damaged or packed in a way that is not known here: save it again") from None
    if b"opendocument" in kind and b"spreadsheet" not in kind:
        raise _refusal("a text document of LibreOffice", f"copy the table into a spreadsheet, and {_CSV}")
    if b"opendocument" not in kind:
        raise _refusal("a document of another program", f"{_CSV} in the program that made it")
