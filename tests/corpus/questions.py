"""Files that leave something open, or cannot be read: each must lead to a question or a reason, never to a guess."""

from __future__ import annotations

import gzip
import io
import zipfile

from entries import Entry, text


def _zipped(**files: bytes) -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(zipfile.ZipInfo(name.replace("_csv", ".csv"), (2024, 1, 31, 0, 0, 0)), content)
    return target.getvalue()


_TABLE = b"a,b\n1,2.5\n2,3.5\n3,5\n"

ENTRIES = [
    text(
        "ask_marks.csv",
        "A comma before three digits everywhere",
        "x;y\n1,234;5\n2,345;6\n3,456;7\n",
        asks=("'1,234'", '--decimal ","', '--thousands ","'),
    ),
    text(
        "ask_marks_money.csv",
        "The same with euros",
        "x;y\n1.234 €;5\n2.345 €;6\n3.456 €;7\n",
        asks=("'1.234'", '--thousands "."'),
    ),
    text(
        "ask_both_marks.csv",
        "Two ways to write decimals in one file",
        "x;y\n1,5;2.5\n2,5;3.5\n3,5;4.5\n",
        asks=("different decimal marks", "--decimal"),
    ),
    text(
        "ask_dates.csv",
        "Days or months first: nothing tells",
        "when,y\n03/04/2024,5\n05/06/2024,6\n07/08/2024,7\n",
        {"y": [5, 6, 7]},
        left_out={"when": ["03/04/2024", "05/06/2024", "07/08/2024"]},
        notes=("day or the month", "when=date:dmy", "when=date:mdy"),
    ),
    text(
        "ask_short_dates.csv",
        "Years of two digits may stand first",
        "when,y\n24/03/12,5\n24/05/17,6\n24/07/20,7\n",
        {"y": [5, 6, 7]},
        left_out={"when": ["24/03/12", "24/05/17", "24/07/20"]},
        notes=("four digits",),
    ),
    text(
        "ask_one_or_two.csv",
        "One column of decimal commas, or two columns",
        "1,5\n2,5\n3,7\n",
        asks=("separate two columns", "--decimal"),
    ),
    text(
        "mixed_currencies.csv",
        "Two currencies in one column",
        "item,price,n\na,$5.00,1\nb,€6.00,2\nc,$7.50,3\nd,€1.25,4\n",
        {"item": ["a", "b", "c", "d"], "n": [1, 2, 3, 4]},
        left_out={"price": ["$5.00", "€6.00", "$7.50", "€1.25"]},
    ),
    text(
        "mixed_percent.csv",
        "Some shares in percent, some not",
        "item;share;n\na;12 %;1\nb;0,5;2\nc;0,25;3\nd;0,75;5\n",
        {"item": ["a", "b", "c", "d"], "n": [1, 2, 3, 5]},
        left_out={"share": ["12 %", "0,5", "0,25", "0,75"]},
    ),
    text(
        "duplicate_names.csv",
        "Two columns of the same name",
        "a,b,a\n1,2,3\n4,5,6\n7,8,9\n",
        {"a": [1, 4, 7], "b": [2, 5, 8], "a (2)": [3, 6, 9]},
        notes=("the name of a column repeats, so that the later one is numbered: 'a (2)'",),
    ),
    text("uneven.csv", "A comma too many in one line", "a,b,c\n1,2,3\n4,5,6,7\n8,9,10\n", asks=("row 2 has 4 fields",)),
    text("open_quote.csv", "A quotation mark that is never closed", 'a,b\n1,"x\n2,y\n3,z\n', asks=("never closed",)),
    text("only_header.csv", "Names without rows", "a,b,c\n", asks=("no rows",)),
    text("empty.csv", "Nothing", "\n\n", asks=("empty",)),
    text(
        "web_page.xls",
        "A web page under the name of Excel, as many portals export",
        "<html><head><meta charset='utf-8'></head><body><table><tr><th>a</th></tr><tr><td>1</td></tr></table></body></html>",
        asks=("web page", "save it as .xlsx"),
    ),
    text(
        "excel_2003.xls",
        "A spreadsheet in XML under the name of Excel",
        '<?xml version="1.0"?>\n<?mso-application progid="Excel.Sheet"?>\n<Workbook></Workbook>\n',
        asks=("save it as .xlsx",),
    ),
    Entry("spss.sav", "A data file of SPSS", b"$FL2@(#) SPSS DATA FILE MS Windows" + b"\0" * 60, asks=("SPSS", "CSV")),
    Entry(
        "stata.dta",
        "A data file of Stata",
        b"<stata_dta><header><release>118</release>",
        asks=("Stata", "export delimited"),
    ),
    Entry(
        "r_object.rds",
        "An R object",
        gzip.compress(b"X\n\0\0\0\x03\0\x04\x02\x01" + b"\0" * 40, mtime=0),
        asks=("R object", "write.csv"),
    ),
    Entry("report.pdf", "A PDF document", b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n", asks=("PDF",)),
    Entry(
        "two_files.zip",
        "Two tables in a zip file",
        _zipped(north_csv=_TABLE, south_csv=_TABLE),
        asks=("'north.csv', 'south.csv'", "--sheet 'north.csv'"),
    ),
    Entry(
        "two_files_answered.zip",
        "Two tables in a zip file, and which is meant",
        _zipped(north_csv=_TABLE, south_csv=_TABLE.replace(b"5", b"6")),
        {"a": [1, 2, 3], "b": [2.6, 3.6, 6]},
        options={"sheet": "south.csv"},
    ),
    Entry("one_file.zip", "One table in a zip file", _zipped(table_csv=_TABLE), {"a": [1, 2, 3], "b": [2.5, 3.5, 5]}),
    Entry("table.csv.gz", "A packed table", gzip.compress(_TABLE, mtime=0), {"a": [1, 2, 3], "b": [2.5, 3.5, 5]}),
    Entry(
        "cut_off.csv.gz",
        "A packed table that was not copied to its end",
        gzip.compress(_TABLE, mtime=0)[:-9],
        asks=("cut off",),
    ),
    text(
        "text_as.xlsx",
        "A CSV file under the name of Excel",
        "a;b\n1,5;2\n2,5;3\n3,5;5\n",
        {"a": [1.5, 2.5, 3.5], "b": [2, 3, 5]},
    ),
    text(
        "rows.json",
        "An array of objects",
        '[{"a": 1, "b": "x"}, {"a": 2.5, "b": null}, {"a": null, "b": "y"}, {"a": 4, "b": "y"}]\n',
        {"a": [1, 2.5, None, 4], "b": ["x", None, "y", "y"]},
    ),
    text(
        "rows.jsonl",
        "One object per line, with objects within",
        '{"id": "p1", "size": {"w": 1.5, "h": 2}, "ok": true}\n{"id": "p2", "size": {"w": 2.5, "h": 3}, "ok": false}\n'
        '{"id": "p3", "size": {"w": 3.5}, "ok": true}\n',
        {"id": ["p1", "p2", "p3"], "size.w": [1.5, 2.5, 3.5], "size.h": [2, 3, None], "ok": [True, False, True]},
    ),
    text(
        "pandas.json",
        "pandas, to_json: columns of numbered rows",
        '{"x":{"0":1.5,"1":2.5,"2":null},"y":{"0":"a","1":"b","2":"a"}}',
        {"x": [1.5, 2.5, None], "y": ["a", "b", "a"]},
    ),
    text(
        "settings.json",
        "A JSON file that is no table",
        '{"name": "demo", "size": 3, "tags": ["a", "b"]}\n',
        asks=("no table",),
    ),
]
