"""Tables within reports, surveys and listings: names in two lines, totals between rows, lines around the table."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from entries import Entry, dates, text
from sheets import ods, written, xlsx

_SHOPS = {"shop": ["A", "B", "C", "D"], "area": [10, 25.5, 31, 40], "staff": [1, 2, 3, 5]}
_ROWS = [["shop", "area", "staff"], ["A", 10, 1], ["B", 25.5, 2], ["C", 31, 3], ["D", 40, 5]]
_CSV = "shop,area,staff\nA,10,1\nB,25.5,2\nC,31,3\nD,40,5\n"
_SPACED = "shop   area  staff\nA        10      1\nB      25.5      2\nC        31      3\nD        40      5\n"


def _merge_down(book: Any) -> None:
    book["Sheet1"].merge_cells("A1:A2")
    book["Sheet1"].merge_cells("B1:C1")


def _fill_spans(book: Any, sheet: Any) -> None:
    span = book.add_format({"num_format": "[h]:mm"})
    sheet.write_row(0, 0, ["trip", "took"])
    for k, hours in enumerate([6, 30, 48, 12], start=1):
        sheet.write(k, 0, f"trip {k}")
        sheet.write_number(k, 1, hours / 24, span)


ENTRIES = [
    text(
        "total_first.csv",
        "An office: the total stands above what it sums up",
        "shop,area,staff\nTotal,106.5,11\nA,10,1\nB,25.5,2\nC,31,3\nD,40,5\n",
        _SHOPS,
        notes=("'Total'",),
    ),
    text(
        "total_without_name.csv",
        "Sums below the columns without a word",
        _CSV + ",106.5,11\n",
        _SHOPS,
        notes=("has no name, sums up the others",),
    ),
    text(
        "row_without_name.csv",
        "A last row without a name that sums up nothing is a row",
        _CSV + ",50,11\n",
        {"shop": ["A", "B", "C", "D", None], "area": [10, 25.5, 31, 40, 50], "staff": [1, 2, 3, 5, 11]},
    ),
    text(
        "subtotals.csv",
        "Excel, subtotals: sums below every group, one of a single row, and the sum of all",
        "region,shop,sales\nNorth,A,10\nNorth,B,20.5\nNorth,C,5\nNorth Total,,35.5\nSouth,D,7\nSouth Total,,7\n"
        "East,E,1\nEast,F,2\nEast Total,,3\nGrand Total,,45.5\n",
        {
            "region": ["North", "North", "North", "South", "East", "East"],
            "shop": ["A", "B", "C", "D", "E", "F"],
            "sales": [10, 20.5, 5, 7, 1, 2],
        },
        notes=("'North Total', 'South Total', 'East Total', 'Grand Total'",),
    ),
    text(
        "means_are_levels.csv",
        "Words for totals that are answers: no row sums up others",
        "way,size,cost\nmean,2,10\nsum,2,20\nmean,2,5\nsum,2,7\nmean,2,9\nother,2,4\nother,2,6\nother,2,8\n",
        {
            "way": ["mean", "sum", "mean", "sum", "mean", "other", "other", "other"],
            "size": [2] * 8,
            "cost": [10, 20, 5, 7, 9, 4, 6, 8],
        },
    ),
    text(
        "two_lines.csv",
        "LibreOffice, CSV of merged names: years above quarters",
        "shop,2023,,2024,\n,Q1,Q2,Q1,Q2\nA,1,2,3,4.5\nB,2,4,6,8\nC,5,6,8,9\n",
        {
            "shop": ["A", "B", "C"],
            "2023 Q1": [1, 2, 5],
            "2023 Q2": [2, 4, 6],
            "2024 Q1": [3, 6, 8],
            "2024 Q2": [4.5, 8, 9],
        },
        notes=("stand in two lines",),
    ),
    text(
        "years_below.csv",
        "Years as the second line of names",
        "shop,sales,,costs,\n,2023,2024,2023,2024\nA,1,2,3,4.5\nB,2,4,6,8\nC,5,6,8,9\n",
        {
            "shop": ["A", "B", "C"],
            "sales 2023": [1, 2, 5],
            "sales 2024": [2, 4, 6],
            "costs 2023": [3, 6, 8],
            "costs 2024": [4.5, 8, 9],
        },
        notes=("stand in two lines",),
    ),
    text(
        "surveymonkey_choices.csv",
        "SurveyMonkey: one column per choice, named in the second line",
        "Respondent ID,How old are you?,Which do you own?,,Overall rating\n,Open-Ended Response,Car,Bike,Response\n"
        "1001,34,Car,,5\n1002,28,,Bike,3\n1003,45,Car,Bike,4\n1004,61,,,1\n",
        {
            "Respondent ID": [1001, 1002, 1003, 1004],
            "How old are you? Open-Ended Response": [34, 28, 45, 61],
            "Which do you own? Car": ["Car", None, "Car", None],
            "Which do you own? Bike": [None, "Bike", "Bike", None],
            "Overall rating Response": [5, 3, 4, 1],
        },
    ),
    text(
        "absent_and_no_name.csv",
        "A word among numbers in the first row, and a column without a name: the row is a row",
        "pupil,points,\nAnn,absent,ill\nBob,5,late\nCy,7,late\nDee,9,ill\n",
        {"pupil": ["Ann", "Bob", "Cy", "Dee"], "column_3": ["ill", "late", "late", "ill"]},
        left_out={"points": ["absent", "5", "7", "9"]},
    ),
    text(
        "qualtrics_choices.csv",
        "Qualtrics with the texts of choices: dates are the only values",
        "StartDate,ResponseId,Q1\nStart Date,Response ID,Are you content?\n"
        '"{""ImportId"":""startDate""}","{""ImportId"":""_recordId""}","{""ImportId"":""QID1""}"\n'
        "2024-01-31 10:20:30,R_1a,Yes\n2024-01-31 11:00:00,R_2b,No\n2024-02-01 09:15:00,R_3c,Yes\n"
        "2024-02-02 08:00:00,R_4d,No\n",
        {
            "StartDate": dates("2024-01-31T10:20:30", "2024-01-31T11:00", "2024-02-01T09:15", "2024-02-02T08:00"),
            "ResponseId": ["R_1a", "R_2b", "R_3c", "R_4d"],
            "Q1": ["Yes", "No", "Yes", "No"],
        },
        notes=("below the names",),
    ),
    text(
        "spaced_title.txt",
        "A table lined up with spaces below a title, and its source",
        f"Table 3: shops of the third campaign\n\n{_SPACED}\nSource: own count\n",
        _SHOPS,
        notes=("Table 3", "Source: own count"),
    ),
    text(
        "sas_listing.lst",
        "SAS, proc print: a title with the date, and numbers of the rows",
        "      The SAS System      10:15 Monday, March 4, 2024   1\n\n   Obs    shop    area\n\n"
        "     1    A       10.0\n     2    B       25.5\n     3    C       31.0\n",
        {"Obs": [1, 2, 3], "shop": ["A", "B", "C"], "area": [10, 25.5, 31]},
        notes=("The SAS System",),
    ),
    text(
        "r_console.txt",
        "R, copied from the console with the command",
        "> print(d)\n  area staff\n1 10.0     1\n2 25.5     2\n3 31.0     3\n",
        {"": ["1", "2", "3"], "area": [10, 25.5, 31], "staff": [1, 2, 3]},
        notes=("> print(d)",),
    ),
    text(
        "names_of_two_words.txt",
        "Lined up with spaces, names of two words: columns cannot be told apart",
        "town        area  staff\nNew Ash       10      1\nOld Ash     25.5      2\nBig Elm       31      3\n",
        asks=("'New Ash' in row 1 one name?",),
    ),
    text(
        "source_directly.csv",
        "Two columns and the source directly below, without a separator",
        "Land;Anteil\nA;1,5\nB;2,5\nC;3,25\nQuelle: Statistisches Amt\n",
        {"Land": ["A", "B", "C"], "Anteil": [1.5, 2.5, 3.25]},
        notes=("Quelle: Statistisches Amt",),
    ),
    text(
        "as_of.csv",
        "A line with a colon directly below the table, and the owner",
        _CSV + "Data as of: May 2024,,\n© Office 2024,,\n",
        _SHOPS,
        notes=("Data as of: May 2024",),
    ),
    text(
        "note_is_a_name.csv",
        "Rows with values are rows, although they are called as remarks and totals are",
        "song;plays;length\nMean;12;2,5\nSun;24;3,5\nRain;7;4,25\nSource of all the rivers in it;9;3\nNote 7;31;2,75\n",
        {
            "song": ["Mean", "Sun", "Rain", "Source of all the rivers in it", "Note 7"],
            "plays": [12, 24, 7, 9, 31],
            "length": [2.5, 3.5, 4.25, 3, 2.75],
        },
    ),
    text(
        "genesis.csv",
        "GENESIS of German offices: two columns of names without a name, units, a drawn line above remarks",
        "GENESIS-Tabelle: 12411-0015\nBevölkerung: Kreise;;;\n;;Bevölkerung;Fläche\n;;Anzahl;qkm\n"
        "01001;Nord;1200;10,5\n01002;Süd;800;25,25\n01003;Ost;950;31\n__________\nFläche zum Jahresende;;;\n"
        "(C)opyright Amt, 2024\nStand: 31.05.2024 / 10:11:12\n",
        {
            "": ["01001", "01002", "01003"],
            "column_2": ["Nord", "Süd", "Ost"],
            "Bevölkerung": [1200, 800, 950],
            "Fläche": [10.5, 25.25, 31],
        },
        encoding="cp1252",
        notes=("opyright Amt",),
    ),
    text(
        "geo_series.txt",
        "GEO, series matrix: lines that begin with an exclamation mark",
        '!Series_title\t"Study"\n!Sample_title\t"s1"\t"s2"\n!series_matrix_table_begin\n"ID_REF"\t"GSM1"\t"GSM2"\n'
        '"1000_at"\t1.5\t2.5\n"1001_at"\t3.25\t4\n"1002_at"\t5\t7.5\n!series_matrix_table_end\n',
        {"ID_REF": ["1000_at", "1001_at", "1002_at"], "GSM1": [1.5, 3.25, 5], "GSM2": [2.5, 4, 7.5]},
    ),
    text(
        "instrument_sections.csv",
        "An instrument: settings in two columns, a section of data with units below the names",
        "[Header]\nInstrument,ACME-9\nOperator,Jane\nDate,2024-01-31\n\n[Data]\nSample,Conc,Abs\n,mg/L,AU\n"
        "S1,1.5,0.2\nS2,2.5,0.4\nS3,4,0.7\n",
        {"Sample": ["S1", "S2", "S3"], "Conc": [1.5, 2.5, 4], "Abs": [0.2, 0.4, 0.7]},
        notes=("above the table", "'mg/L'"),
    ),
    text(
        "separators_alone.csv",
        "Excel, CSV of a table that stands in the middle of a sheet: lines and columns of separators",
        ",,,,\n,shop,,area,staff\n,,,,\n,A,,10,1\n,B,,25.5,2\n,,,,\n,C,,31,3\n,D,,40,5\n,,,,\n",
        _SHOPS,
        notes=("blank line",),
    ),
    text(
        "backslash_quotes.csv",
        "R, write.table, and MySQL: quotation marks within a field have a backslash before them",
        '"id","said","size"\n"1","so \\"big, fat\\" one",1.5\n"2","none",2.5\n"3","an \\"x\\"",4\n',
        {"id": [1, 2, 3], "said": ['so "big, fat" one', "none", 'an "x"'], "size": [1.5, 2.5, 4]},
    ),
    text(
        "windows_folders.csv",
        "A backslash before the closing quotation mark is a folder",
        'folder,size,files\n"C:\\a, b\\",1.5,2\n"C:\\c\\",2.5,3\n"D:\\d\\",4,5\n',
        {"folder": ["C:\\a, b\\", "C:\\c\\", "D:\\d\\"], "size": [1.5, 2.5, 4], "files": [2, 3, 5]},
    ),
    text(
        "wide_letters.txt",
        "UTF-16 without a mark at its beginning",
        "shop\tarea\tstaff\nA\t10\t1\nB\t25.5\t2\nC\t31\t3\nD\t40\t5\n",
        _SHOPS,
        encoding="utf-16-le",
    ),
    text(
        "indian_shown.csv",
        "Amounts grouped by two digits, with a decimal dot: nothing else can be meant",
        'shop,sales,staff\nA,"1,23,456.50",1\nB,"98,765.25",2\nC,"12,34,567.00",3\nD,500.00,5\n',
        {"shop": ["A", "B", "C", "D"], "sales": [123456.5, 98765.25, 1234567, 500], "staff": [1, 2, 3, 5]},
        notes=("between thousands",),
    ),
    text(
        "lists_of_numbers.csv",
        "Lists between commas are no numbers grouped by two digits",
        'shop,codes,staff\nA,"1,23,456",1\nB,"12,34,567",2\nC,"3,45,678",3\nD,"7,89,123",5\n',
        {"shop": ["A", "B", "C", "D"], "staff": [1, 2, 3, 5]},
        left_out={"codes": ["1,23,456", "12,34,567", "3,45,678", "7,89,123"]},
    ),
    text(
        "dates_first_french.csv",
        "French: the first day of a month is 1er",
        "nom;jour;prix\na;1er mars 2024;1,5\nb;2 avril 2024;2,5\nc;31 août 2024;3\n",
        {"nom": ["a", "b", "c"], "jour": dates("2024-03-01", "2024-04-02", "2024-08-31"), "prix": [1.5, 2.5, 3]},
    ),
    text(
        "missing_german.csv",
        "German: no answer, and dashes of a word processor",
        "wer;a;b;c\nx;1,5;–;3\ny;k.A.;2;—\nz;2,5;4;---\nw;3;5;6\n",
        {"wer": ["x", "y", "z", "w"], "a": [1.5, None, 2.5, 3], "b": [None, 2, 4, 5], "c": [3, None, None, 6]},
    ),
    text(
        "id_and_price.csv",
        "A file that begins as old spreadsheets do",
        "ID;Preis;Menge\n1;1,5;10\n2;2,5;20\n3;4;35\n",
        {"ID": [1, 2, 3], "Preis": [1.5, 2.5, 4], "Menge": [10, 20, 35]},
    ),
    text("lotus.dif", "LibreOffice: an old format", 'TABLE\n0,1\n""\nVECTORS\n0,2\n""\n', asks=("old format",)),
    text(
        "multiplan.slk", "LibreOffice: an old format", 'ID;PCALCOOO32\nC;X1;Y1;K"a"\nC;X1;Y2;K1\n', asks=("old format",)
    ),
    text(
        "flat.fods",
        "LibreOffice: flat XML",
        '<?xml version="1.0"?>\n<office:document office:mimetype='
        '"application/vnd.oasis.opendocument.spreadsheet"><table:table/></office:document>\n',
        asks=("flat XML",),
    ),
    text(
        "spss.por",
        "SPSS, portable",
        "0" * 40 + "ASCII SPSS PORT FILE\n" + "0" * 200 + "SPSSPORTA8/20260101\n",
        asks=("SPSS",),
    ),
    Entry(
        "merged_down.ods",
        "LibreOffice: names of groups merged down a column",
        ods(
            (
                "Sheet1",
                [
                    ["region", "shop", "area"],
                    [("north", 2), "A", 10],
                    [None, "B", 25.5],
                    [("south", 2), "C", 31],
                    [None, "D", 40],
                ],
            )
        ),
        {"region": ["north", "north", "south", "south"], "shop": ["A", "B", "C", "D"], "area": [10, 25.5, 31, 40]},
    ),
    Entry(
        "spans.ods",
        "LibreOffice: spans of time, some longer than a day",
        ods(("Sheet1", [["trip", "took"], *[[f"t{k}", timedelta(hours=k)] for k in (6, 30, 48, 12)]])),
        {"trip": ["t6", "t30", "t48", "t12"], "took": [0.25, 1.25, 2, 0.5]},
        notes=("days",),
    ),
    Entry(
        "spans.xlsx",
        "Excel: spans of time, some longer than a day",
        written(_fill_spans),
        {"trip": ["trip 1", "trip 2", "trip 3", "trip 4"], "took": [0.25, 1.25, 2, 0.5]},
        notes=("days",),
    ),
    Entry(
        "merged_names.xlsx",
        "Excel: a year above quarters, the first name merged down",
        xlsx([["shop", "2023", None], [None, "Q1", "Q2"], ["A", 1, 2], ["B", 2, 4], ["C", 5, 6.5]], _merge_down),
        {"shop": ["A", "B", "C"], "2023 Q1": [1, 2, 5], "2023 Q2": [2, 4, 6.5]},
    ),
    Entry(
        "pandas_groups.xlsx",
        "pandas, to_excel with groups of columns: the name of the rows in a line of its own",
        xlsx(
            [
                [None, "2023", None, "2024"],
                [None, "q1", "q2", "q1"],
                ["shop"],
                ["A", 1, 2, 3],
                ["B", 2, 4, 6],
                ["C", 5, 6, 8],
            ]
        ),
        {"shop": ["A", "B", "C"], "2023 q1": [1, 2, 5], "2023 q2": [2, 4, 6], "2024 q1": [3, 6, 8]},
    ),
    Entry(
        "titled_tables.xlsx",
        "Excel: two tables below each other, of which the second is wider and has a title",
        xlsx(
            [*_ROWS, [], ["Table 2"], ["town", "people", "size", "age"], ["X", 5, 6, 7], ["Y", 6, 7, 9], ["Z", 7, 9, 8]]
        ),
        asks=("two tables",),
    ),
    Entry(
        "calculations_beside.xlsx",
        "Excel: calculations beside the table",
        xlsx([_ROWS[0], [*_ROWS[1], None, "mean", 26.6], [*_ROWS[2], None, "sd", 12.4], *_ROWS[3:]]),
        _SHOPS,
        notes=("beside the table, behind a blank column: 'mean', '26.6'",),
    ),
    Entry(
        "beside_as_long.xlsx",
        "Excel: what may be two tables of the same length beside each other is told",
        xlsx(
            [
                [*row, None, *other]
                for row, other in zip(_ROWS, [["town", "x"], *[[k, 2.5 * k] for k in (3, 1, 4, 2)]], strict=True)
            ]
        ),
        {**_SHOPS, "town": [3, 1, 4, 2], "x": [7.5, 2.5, 10, 5]},
        notes=("blank column stands before 'town'",),
    ),
    Entry(
        "total_below.xlsx",
        "Excel: sums below the columns without a word",
        xlsx([*_ROWS, [None, 106.5, 11]]),
        _SHOPS,
        notes=("has no name, sums up the others",),
    ),
    Entry(
        "remark_directly.xlsx",
        "Excel: remarks directly below the table",
        xlsx([*_ROWS, ["Stand: Mai 2024"], ["Numbers of the last month are missing"]]),
        _SHOPS,
        notes=("Stand: Mai 2024",),
    ),
]
