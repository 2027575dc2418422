"""Packed files, JSON, files of other programs, and files that are made to do harm."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import zipfile
import zlib

import openpyxl
import pytest

from kfrc_app import _unpacking
from kfrc_app.tables import DataError, Missing, archives, read_dissimilarities, read_table, workbook

TEXT = b"name,x,y\na,1,2.5\nb,2,3.5\nc,4,7\nd,5,9\n"
X, Y = [1, 2, 4, 5], [2.5, 3.5, 7, 9]


def read(tmp_path, content, **options):
    path = tmp_path / "file.any"
    path.write_bytes(content)
    return read_table(str(path), missing=Missing.PARTIAL, **options)


def zipped(files, **options):
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content, **options)
    return target.getvalue()


def book(rows, **sheets):
    found = openpyxl.Workbook()
    for row in rows:
        found.active.append(row)
    for name, more in sheets.items():
        sheet = found.create_sheet(name)
        for row in more:
            sheet.append(row)
    target = io.BytesIO()
    found.save(target)
    return target.getvalue()


ROWS = [["name", "x", "y"], ["a", 1, 2.5], ["b", 2, 3.5], ["c", 4, 7], ["d", 5, 9]]
SHEET = "xl/worksheets/sheet1.xml"


def changed(content, part, old, new):
    """The same spreadsheet with something else in one of its parts."""
    target = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as source, zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as copy:
        for member in source.infolist():
            data = source.read(member)
            if member.filename == part:
                assert old in data
                data = data.replace(old, new)
            copy.writestr(member.filename, data)
    return target.getvalue()


@pytest.mark.parametrize(
    "content",
    [
        gzip.compress(TEXT),
        gzip.compress(TEXT[:20]) + gzip.compress(TEXT[20:]),
        gzip.compress(book(ROWS)),
        zipped({"folder/table.csv": TEXT, "__MACOSX/._table.csv": b"x", "folder/README.txt": b"about"}),
        zipped({"table.csv.gz": gzip.compress(TEXT)}),
        zipped({"../../table.csv": TEXT}),
        zipped({"table.xlsx": book(ROWS)}),
        json.dumps([dict(zip(ROWS[0], row, strict=True)) for row in ROWS[1:]]).encode(),
        "\n".join(json.dumps(dict(zip(ROWS[0], row, strict=True))) for row in ROWS[1:]).encode(),
        json.dumps({"x": X, "y": Y}).encode(),
        json.dumps({"x": dict(enumerate(X)), "y": dict(enumerate(Y))}).encode(),
        json.dumps({"columns": ["x", "y"], "index": [0, 1, 2, 3], "data": list(zip(X, Y, strict=True))}).encode(),
        json.dumps({"meta": 1, "rows": [{"x": x, "y": y} for x, y in zip(X, Y, strict=True)]}).encode(),
        b"\xef\xbb\xbf" + json.dumps([{"x": x, "y": y} for x, y in zip(X, Y, strict=True)]).encode(),
    ],
)
def test_the_table_within_is_read(tmp_path, content):
    table = read(tmp_path, content)
    assert table.data["x"].tolist() == X
    assert table.data["y"].tolist() == Y


def test_several_files_in_an_archive_are_a_question_and_sheets_of_one_can_be_named(tmp_path):
    content = zipped({"a.csv": TEXT, "b/c.xlsx": book(ROWS, more=[["p", "q"], [1, 2], [3, 4], [5, 6.5]])})
    with pytest.raises(DataError, match=r"holds 'a\.csv', 'b/c\.xlsx'\. .*--sheet 'a\.csv'"):
        read(tmp_path, content)
    assert read(tmp_path, content, sheet="a.csv").data["x"].tolist() == X
    assert read(tmp_path, content, sheet="c.xlsx/more").data["q"].tolist() == [2, 4, 6.5]
    with pytest.raises(DataError, match="no file 'z'"):
        read(tmp_path, content, sheet="z")


def test_nested_objects_become_columns_and_what_a_row_lacks_is_missing(tmp_path):
    rows = [{"a": {"b": k, "c": 2.0 * k}, "ok": k % 2 == 0} for k in range(4)]
    rows[1]["a"] = None
    table = read(tmp_path, json.dumps(rows).encode())
    assert table.data["a.b"].fillna(-1).tolist() == [0, -1, 2, 3]
    assert table.data["ok"].tolist() == ["true", "false"] * 2


@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
def test_texts_in_lines_of_json_hold_any_character(tmp_path, line_end):
    words = ["a\u2028b", "a\x85b", "a\u2029b"] * 3
    rows = [json.dumps({"x": k, "word": word}, ensure_ascii=False) for k, word in enumerate(words)]
    table = read(tmp_path, line_end.join(rows).encode())
    assert table.original["word"].tolist() == words


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b'{"a": 1, "b": "x"}', "holds no table"),
        (b"[[1, 2], [3, 4]]", "holds no table"),
        (b'{"ann": {"x": 1}, "bob": {"x": 2}}', "rows from its columns"),
        (b'[{"a": 1}, {"a": 2}', "line 1, character 20"),
        (b'{"a": 1}\n{"a": 2}\n{"a": ', "line 3"),
        (b"[]", "no rows"),
        (b'{"p": [{"a": 1}], "q": [{"a": 1}]}', "'p', 'q'"),
        (b'{"a":' * 100_000, "damaged|without end"),
        (b'[{"a":' * 100_000, "damaged|without end"),
        (b"$FL2@(#) SPSS DATA FILE", "SPSS"),
        (b"<stata_dta><header>", "export delimited"),
        (b"\x72\x02\x01\x00abc", "Stata"),
        (b"\0" * 12 + b"\xc2\xea\x81\x60" + b"\0" * 50, "SAS"),
        (gzip.compress(b"X\n\0\0\0\3abc"), "write.csv"),
        (gzip.compress(b"RDX3\nX\n"), "R workspace"),
        (b"%PDF-1.4\n", "PDF"),
        (b"{\\rtf1 text}", "text document"),
        (zipped({"[Content_Types].xml": b"x", "word/document.xml": b"<x/>"}), "Word"),
        (zipped({"Index/Document.iwa": b"x", "Metadata/a": b""}), "Export To"),
        (zipped({"[Content_Types].xml": b"x", "xl/workbook.bin": b"x"}), "save it as .xlsx"),
        (zipped({"mimetype": b"application/vnd.oasis.opendocument.text", "content.xml": b"x"}), "LibreOffice"),
        (b"<html><table><tr><td>1</td></tr></table></html>", "web page"),
        (b"\xef\xbb\xbf\n<!DOCTYPE html><html>", "web page"),
        (b'<?xml version="1.0"?><?mso-application progid="Excel.Sheet"?><Workbook>', "old XML"),
        (b"<?xml version='1.0'?><data/>", "XML file"),
        (bz2.compress(TEXT), "unpack it first"),
        (b"SQLite format 3\0", "database"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 500 + "EncryptedPackage".encode("utf-16-le"), "password"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 5000, "damaged"),
        (gzip.compress(TEXT)[:-12], "cut off"),
        (gzip.compress(TEXT)[:10] + b"\xff" * 20, "damaged"),
        (zipped({"a.csv": TEXT})[:60], "damaged"),
        (zipped({"a.csv": zipped({"b.csv": TEXT})}), "within the packed file"),
        (gzip.compress(gzip.compress(gzip.compress(TEXT))), "within the packed file"),
        (zipped({}), "no table"),
        (book(ROWS)[:3000], "damaged"),
        (changed(book(ROWS), SHEET, b"</sheetData>", b""), "damaged"),
    ],
    ids=range(37),
)
def test_what_is_no_table_is_one_line_that_says_what_it_is(tmp_path, content, said):
    with pytest.raises(DataError, match=said) as problem:
        read(tmp_path, content)
    assert "\n" not in str(problem.value)


def packed_as(method, files=None):
    """A zip file that is packed in one of the ways that there are."""
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", method) as archive:
        for name, content in (files or {"a.csv": TEXT * 20}).items():
            archive.writestr(name, content)
    return target.getvalue()


METHODS = [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA]
PACKED = 35  # where the packed bytes of a file 'a.csv' begin


def at(content, places):
    """The same file with other bytes at some places."""
    found = bytearray(content)
    for place, new in places.items():
        found[place : place + len(new)] = new
    return bytes(found)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("place", [PACKED, PACKED + 4, PACKED + 20])
def test_a_damaged_zip_file_is_one_line_however_it_is_packed(tmp_path, method, place):
    with pytest.raises(DataError, match=r"^'a\.csv' in the zip file is damaged: pack it again$"):
        read(tmp_path, at(packed_as(method), {place: b"\xff" * 9}))


def test_a_zip_file_of_a_newer_version_or_another_way_of_packing_is_one_line(tmp_path):
    content = packed_as(zipfile.ZIP_DEFLATED)
    central = content.index(b"PK\x01\x02")
    for places in ({central + 6: b"\xff"}, {8: b"\x5d\0", central + 10: b"\x5d\0"}):
        with pytest.raises(DataError, match=r"^the zip file is packed in a way that is not known here: unpack it"):
            read(tmp_path, at(content, places))


def test_a_file_without_a_name_in_a_zip_file_is_left_alone(tmp_path):
    content = packed_as(zipfile.ZIP_STORED)
    names = [content.index(b"a.csv"), content.rindex(b"a.csv")]
    with pytest.raises(DataError, match="holds no table"):
        read(tmp_path, at(content, dict.fromkeys(names, b"\0")))


def test_a_damaged_kind_of_a_document_is_one_line(tmp_path):
    content = packed_as(zipfile.ZIP_LZMA, {"mimetype": b"application/x" * 30, "content.xml": TEXT})
    with pytest.raises(DataError, match="damaged"):
        read(tmp_path, at(content, {42: b"\xff" * 12}))


@pytest.mark.parametrize("gap", [b"", b"\0" * 700])
def test_a_gz_file_of_many_parts_is_read_whole_and_in_order(tmp_path, monkeypatch, gap):
    monkeypatch.setattr(_unpacking, "_PIECE", 64)  # smaller and larger than a part
    parts = [f"r{k},{k},{k % 7}.5\n".encode() * (1 + 30 * (k % 3 == 0)) for k in range(300)]
    content = gap.join(gzip.compress(part) for part in [b"name,x,y\n", *parts])
    assert archives.gunzip(content, 1 << 20) == b"name,x,y\n" + b"".join(parts)
    with pytest.raises(DataError, match="cut off"):
        archives.gunzip(content[:-5], 1 << 20)
    with pytest.raises(DataError, match="grows to more"):
        archives.gunzip(content, 1000)


@pytest.mark.parametrize("digits", ["1" * 4301, "-" + "1" * 9000])
def test_a_whole_number_of_thousands_of_digits_is_one_line_about_the_table(tmp_path, digits):
    with pytest.raises(DataError, match=r"column 'a' holds infinite values \(the first in row 2\)") as problem:
        read(tmp_path, f'[{{"a": 1, "b": 2}}, {{"a": {digits}, "b": 3}}, {{"a": 5, "b": 4}}]'.encode())
    assert "\n" not in str(problem.value)


def test_text_under_the_name_of_a_spreadsheet_is_read(tmp_path):
    (tmp_path / "t.xlsx").write_bytes(TEXT)
    assert read_table(str(tmp_path / "t.xlsx")).data["x"].tolist() == X


@pytest.mark.parametrize("pack", [gzip.compress, lambda content: zipped({"a.csv": content})])
def test_a_file_that_grows_without_measure_is_refused(tmp_path, pack):
    bomb = b"a,b\n" + b"0" * (_unpacking.ALWAYS_ALLOWED + 1)
    with pytest.raises(DataError, match="grows to more than"):
        read(tmp_path, pack(bomb))


def test_a_spreadsheet_that_states_less_than_it_holds_is_refused(tmp_path):
    content = changed(book(ROWS), SHEET, b"<sheetData>", b"<sheetData>" + b" " * (_unpacking.ALWAYS_ALLOWED + 1))
    with pytest.raises(DataError, match="grows to more than"):
        read(tmp_path, content)
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        size, start = archive.getinfo(SHEET).file_size, archive.start_dir
    lying = content[:start] + content[start:].replace(size.to_bytes(4, "little"), (900).to_bytes(4, "little"))
    with zipfile.ZipFile(io.BytesIO(lying)) as archive:
        assert archive.getinfo(SHEET).file_size == 900
    with pytest.raises(DataError, match="grows to more than"):
        read(tmp_path, lying)


@pytest.mark.parametrize(
    "place",
    [b'r="XFD1048576"', b"\n\tr = 'XFD1048576'", b'r="ZZZZZZ5"', b'r="C99999999999"', b'r="AMJ99999"'],
)
def test_a_cell_far_away_does_not_fill_the_memory(tmp_path, place):
    with pytest.raises(DataError, match=r"far away|damaged"):
        read(tmp_path, changed(book(ROWS), SHEET, b'r="C5"', place))


def test_cells_without_a_place_in_a_row_far_away_do_not_fill_the_memory(tmp_path):
    cells = b"<c><v>1</v></c>" * 40
    content = changed(book(ROWS), SHEET, b"</sheetData>", b'<row r="1048576">' + cells + b"</row></sheetData>")
    with pytest.raises(DataError, match="far away"):
        read(tmp_path, content)


def test_definitions_within_a_spreadsheet_are_refused(tmp_path):
    entity = b'<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;&a;">]><worksheet'
    with pytest.raises(DataError, match="harmful"):
        read(tmp_path, changed(book(ROWS), SHEET, b"<worksheet", entity))


def test_errors_formulas_without_results_and_hidden_columns_are_told(tmp_path):
    content = changed(book(ROWS), SHEET, b'<c r="B3" t="n"><v>2</v></c>', b'<c r="B3" t="e"><v>#N/A</v></c>')
    content = changed(content, SHEET, b'<c r="C4" t="n"><v>7</v></c>', b'<c r="C4"><f>1+1</f><v></v></c>')
    content = changed(
        content, SHEET, b"<sheetData>", b'<cols><col min="3" max="3" width="9" hidden="1"/></cols><sheetData>'
    )
    table = read(tmp_path, content)
    assert table.data["x"].fillna(-1).tolist() == [1, -1, 4, 5]
    assert table.data["y"].fillna(-1).tolist() == [2.5, 3.5, -1, 9]
    said = " | ".join(table.notes)
    for part in ("1 cell(s) of the sheet hold an error", "1 cell(s) hold a formula", "'C'; --drop"):
        assert part in said


def test_the_limits_of_a_sheet_are_stated():
    with pytest.raises(DataError, match=f"{workbook.MAX_CELLS:,} cells"):
        workbook.refuse_many_cells(workbook.MAX_CELLS, 2, workbook.MAX_CELLS)


def test_a_matrix_is_read_from_a_packed_file_and_refused_like_a_table(tmp_path):
    path = tmp_path / "m"
    path.write_bytes(gzip.compress(b"0,1,2\n1,0,3\n2,3,0\n"))
    assert read_dissimilarities(str(path)).matrix.to_numpy().tolist() == [[0, 1, 2], [1, 0, 3], [2, 3, 0]]
    path.write_bytes(b"%PDF-1.4")
    with pytest.raises(DataError, match="PDF"):
        read_dissimilarities(str(path))
    path.write_bytes(zlib.compress(b"0,1\n1,0\n"))
    with pytest.raises(DataError):
        read_dissimilarities(str(path))


def test_objects_by_numbers_are_rows_if_their_names_are_those_of_columns(tmp_path):
    rows = {"7": {"a": 1, "b": 5}, "8": {"a": 2.5, "b": 7}, "9": {"a": 3.5, "b": 1}}
    assert read(tmp_path, json.dumps(rows).encode()).data.to_dict("list") == {"a": [1, 2.5, 3.5], "b": [5, 7, 1]}


@pytest.mark.parametrize("content", [b'{"a": [], "b": []}', b"[{}, {}]"])
def test_columns_without_cells_are_no_rows(tmp_path, content):
    with pytest.raises(DataError, match="the JSON file holds no rows"):
        read(tmp_path, content)


def test_json_in_another_encoding_is_read_as_a_text_file_is(tmp_path):
    rows = ", ".join(f'{{"a": {k}.5, "b": "{"é" if k % 2 else "è"}"}}' for k in range(6))
    table = read(tmp_path, f"[{rows}]".encode("latin-1"))
    assert table.original["b"].tolist() == ["è", "é"] * 3
    assert "the file is not UTF-8, so it was read as Latin-1: check accented letters in names" in table.notes


def protected(content):
    """The same zip file, whose parts say that they need a password."""
    found = bytearray(content)
    for mark, flags in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        place = found.find(mark)
        while place >= 0:
            found[place + flags] |= 1
            place = found.find(mark, place + 1)
    return bytes(found)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (zipped({"a.csv": TEXT}), "the zip file is protected with a password: unpack it"),
        (book(ROWS), "the spreadsheet is protected with a password: save it without one"),
    ],
    ids=["zip", "book"],
)
def test_files_with_a_password_say_so(tmp_path, content, said):
    with pytest.raises(DataError, match=said):
        read(tmp_path, protected(content))


@pytest.mark.parametrize(
    ("word", "said"), [("WordDocument", "this is a text document"), ("PowerPoint Document", "this is a presentation")]
)
def test_files_of_older_office_programs_are_called_what_they_are(tmp_path, word, said):
    content = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 500 + word.encode("utf-16-le")
    with pytest.raises(DataError, match=said):
        read(tmp_path, content)


def shown_often(n_cells):
    """A spreadsheet with one text of a thousand letters, which many cells show."""
    cells = "".join(f'<row r="{k}"><c r="A{k}" t="s"><v>0</v></c></row>' for k in range(1, n_cells + 1))
    return zipped(
        {
            "xl/workbook.xml": '<workbook><sheets><sheet name="S" sheetId="1" r:id="rId1"/></sheets></workbook>',
            "xl/_rels/workbook.xml.rels": '<Relationship Id="rId1" Target="worksheets/sheet1.xml"/><Relationship/>',
            "xl/sharedStrings.xml": f"<sst><si><t>{'w' * 1000}</t></si></sst>",
            SHEET: f"<worksheet><sheetData>{cells}</sheetData></worksheet>",
        }
    )


def test_a_text_that_is_stored_once_counts_in_every_cell_that_shows_it(monkeypatch):
    monkeypatch.setattr(workbook, "allowed_size", lambda packed: 20_000)
    assert list(workbook.inspect_workbook(shown_often(18))) == ["S"]
    with pytest.raises(
        DataError, match=r"the cells of the sheet hold more than .* of text, .*: leave out columns with"
    ):
        workbook.inspect_workbook(shown_often(20))


def ods(cell):
    """A sheet of LibreOffice with one cell."""
    row = b"<table:table-row><table:table-cell><text:p>" + cell + b"</text:p></table:table-cell></table:table-row>"
    kind = b"application/vnd.oasis.opendocument.spreadsheet"
    table = b'<table:table table:name="S">' + row + b"</table:table>"
    return zipped({"mimetype": kind, "content.xml": b"<office:spreadsheet>" + table + b"</office:spreadsheet>"})


def test_millions_of_spaces_that_are_written_as_a_number_are_refused():
    assert list(workbook.inspect_workbook(ods(b'a<text:s text:c="1000"/>b'))) == ["S"]
    with pytest.raises(DataError, match="cells with millions of spaces"):
        workbook.inspect_workbook(ods(b'a<text:s text:c="600000"/>b<text:s text:c="600000"/>'))


@pytest.mark.parametrize("names", [("a.csv",), ("[Content_Types].xml", "other.txt")])
def test_a_zip_file_that_is_no_workbook_has_no_facts_of_sheets(names):
    assert workbook.inspect_workbook(zipped(dict.fromkeys(names, b"x"))) == {}


def packed_by_bzip2(part):
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_BZIP2) as archive:
        archive.writestr("a.csv", part)
    return target.getvalue()


@pytest.mark.parametrize("n_rows", [4, 200_000])
def test_a_table_that_is_packed_by_bzip2_is_read_whole(n_rows):
    part = b"x,y\n" + b"".join(b"%d,%d\n" % (k, k * k) for k in range(n_rows))
    content = packed_by_bzip2(part)
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        [member] = archive.infolist()
        assert _unpacking.whole_member(archive, member, content, len(part)) == part
        cut = _unpacking.whole_member(archive, member, content, 100)
        assert len(cut) > min(100, len(part) - 1)
        assert part.startswith(cut)
        member.CRC ^= 1
        with pytest.raises(zipfile.BadZipFile):
            _unpacking.whole_member(archive, member, content, len(part))
