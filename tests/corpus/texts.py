"""Text files as spreadsheets, statistics programs and databases write them."""

from __future__ import annotations

from entries import dates, text

ENTRIES = [
    text(
        "excel_german.csv",
        "Excel, German, CSV: semicolons, decimal commas, Windows letters",
        "Größe;Gewicht;Straße\n1,75;70,5;Müllerweg\n1,82;81;Gasse\n1,60;55,25;Gasse\n1,91;90;Müllerweg\n",
        {
            "Größe": [1.75, 1.82, 1.6, 1.91],
            "Gewicht": [70.5, 81, 55.25, 90],
            "Straße": ["Müllerweg", "Gasse"] * 1 + ["Gasse", "Müllerweg"],
        },
        encoding="cp1252",
        line_end="\r\n",
        notes=("not UTF-8",),
    ),
    text(
        "excel_us.csv",
        "Excel, US, CSV UTF-8: a byte order mark, thousands in quotation marks",
        'City,Population,Area\nA,"1,234,567",12.5\nB,"987,654",3.25\nC,"45,000",7\nD,"1,000",0.5\n',
        {"City": ["A", "B", "C", "D"], "Population": [1234567, 987654, 45000, 1000], "Area": [12.5, 3.25, 7, 0.5]},
        encoding="utf-8-sig",
        line_end="\r\n",
        notes=("between thousands",),
    ),
    text(
        "excel_french.csv",
        "Excel, French: narrow spaces between thousands",
        "Ville;Revenu;Part\nParis;12\u202f345,60;0,5\nLyon;1\u202f234,00;0,25\nNice;950,10;0,125\nLille;2\u00a0000,00;0,75\n",
        {
            "Ville": ["Paris", "Lyon", "Nice", "Lille"],
            "Revenu": [12345.6, 1234, 950.1, 2000],
            "Part": [0.5, 0.25, 0.125, 0.75],
        },
        line_end="\r\n",
        notes=("decimal commas", "between thousands"),
    ),
    text(
        "excel_swiss.csv",
        "Excel, Swiss: apostrophes between thousands, francs",
        "Artikel;Preis;Menge\nA;CHF 1'234.50;10\nB;CHF 99.95;1'200\nC;CHF 12.00;7\nD;CHF 2’000.05;3\n",
        {"Artikel": ["A", "B", "C", "D"], "Preis": [1234.5, 99.95, 12, 2000.05], "Menge": [10, 1200, 7, 3]},
        notes=("'CHF'",),
    ),
    text(
        "excel_unicode.txt",
        "Excel, Unicode text: UTF-16 and tabs",
        "name\theight\tnote\nÅsa\t1.70\tok\nJosé\t1.65\tok\nΝίκος\t1.80\tlate\n王\t1.75\tlate\n",
        {
            "name": ["Åsa", "José", "Νίκος", "王"],
            "height": [1.7, 1.65, 1.8, 1.75],
            "note": ["ok", "ok", "late", "late"],
        },
        encoding="utf-16",
        line_end="\r\n",
    ),
    text(
        "excel_mac.csv",
        "Excel for Mac, old: carriage returns end the lines",
        "a,b\n1,2.5\n3,4.5\n5,6.5\n",
        {"a": [1, 3, 5], "b": [2.5, 4.5, 6.5]},
        line_end="\r",
    ),
    text(
        "excel_sep_hint.csv",
        "A first line that tells Excel the separator",
        "sep=;\nx;y\n1,5;2\n2,5;3\n3,5;5\n",
        {"x": [1.5, 2.5, 3.5], "y": [2, 3, 5]},
    ),
    text(
        "excel_trailing.csv",
        "Excel: columns and rows that were used once and cleared",
        "shop;sales;;\nA;10,5;;\nB;20,5;;\nC;30,5;;\n;;;\n;;;\n",
        {"shop": ["A", "B", "C"], "sales": [10.5, 20.5, 30.5]},
        notes=("blank line",),
    ),
    text(
        "excel_title.csv",
        "Excel: a title and a date above the table, filled up with separators",
        "Sales report 2023;;;\nCreated on 2024-01-01;;;\n;;;\nregion;units;income;share\nNorth;10;1.000,50;12,5 %\n"
        "South;20;2.500,00;25 %\nEast;30;900,25;37,5 %\nWest;40;12.000,00;25 %\n",
        {
            "region": ["North", "South", "East", "West"],
            "units": [10, 20, 30, 40],
            "income": [1000.5, 2500, 900.25, 12000],
            "share": [12.5, 25, 37.5, 25],
        },
        notes=("Sales report 2023", "percent"),
    ),
    text(
        "excel_errors.csv",
        "Excel: errors of formulas in a CSV file",
        "item,ratio,found\na,0.5,1\nb,#DIV/0!,2\nc,0.75,#N/A\nd,1.5,4\n",
        {"item": ["a", "b", "c", "d"], "ratio": [0.5, None, 0.75, 1.5], "found": [1, 2, None, 4]},
    ),
    text(
        "r_write_csv.csv",
        "R, write.csv: quotation marks, names of rows, NA",
        '"","Sepal.Length","Species"\n"1",5.1,"setosa"\n"2",4.9,"setosa"\n"3",NA,"virginica"\n"4",6.3,"virginica"\n',
        {
            "": ["1", "2", "3", "4"],
            "Sepal.Length": [5.1, 4.9, None, 6.3],
            "Species": ["setosa", "setosa", "virginica", "virginica"],
        },
    ),
    text(
        "r_write_csv2.csv",
        "R, write.csv2: semicolons and decimal commas",
        '"";"mpg";"cyl"\n"Mazda";21,4;6\n"Datsun";22,8;4\n"Hornet";18,7;8\n"Fiat";32,4;4\n',
        {"": ["Mazda", "Datsun", "Hornet", "Fiat"], "mpg": [21.4, 22.8, 18.7, 32.4], "cyl": [6, 4, 8, 4]},
    ),
    text(
        "r_write_table.txt",
        "R, write.table: spaces, and a header that is one name shorter",
        '"x" "group"\n"r1" 1.5 "a"\n"r2" -2.25 "b"\n"r3" 3e-05 "a"\n"r4" NA "b"\n',
        {"": ["r1", "r2", "r3", "r4"], "x": [1.5, -2.25, 0.00003, None], "group": ["a", "b", "a", "b"]},
    ),
    text(
        "r_types.csv",
        "R, readr: dates, truth values, factors",
        "day,ok,size,n\n2024-01-31,TRUE,small,1\n2024-02-29,FALSE,large,2\nNA,TRUE,small,3\n2024-12-01,NA,large,4\n",
        {
            "day": dates("2024-01-31", "2024-02-29", None, "2024-12-01"),
            "ok": [True, False, True, None],
            "size": ["small", "large", "small", "large"],
            "n": [1, 2, 3, 4],
        },
    ),
    text(
        "spss_labels.csv",
        "SPSS, save as CSV with labels, German: blanks for missing values",
        "lfdn;sex;alter;eink;datum\n1;männlich;34;2500,00;12.03.2024\n2;weiblich;; ;13.03.2024\n3;weiblich;51;3100,50;14.03.2024\n"
        "4;männlich;28;1999,99;02.04.2024\n",
        {
            "lfdn": [1, 2, 3, 4],
            "sex": ["männlich", "weiblich", "weiblich", "männlich"],
            "alter": [34, None, 51, 28],
            "eink": [2500, None, 3100.5, 1999.99],
            "datum": dates("2024-03-12", "2024-03-13", "2024-03-14", "2024-04-02"),
        },
        encoding="utf-8-sig",
        line_end="\r\n",
    ),
    text(
        "spss_codes.csv",
        "SPSS, save as CSV with values: codes for refused answers",
        "id,q1,income\n1,3,1800\n2,-99,2400\n3,4,99999\n4,5,2100\n5,-99,1950\n6,2,99999\n",
        {"id": [1, 2, 3, 4, 5, 6], "q1": [3, -99, 4, 5, -99, 2], "income": [1800, 2400, 99999, 2100, 1950, 99999]},
        notes=("'q1' holds -99 in 2 row(s)", "'income' holds 99999 in 2 row(s)"),
    ),
    text(
        "stata_export.csv",
        "Stata, export delimited: a dot for missing values, days as 12mar2024",
        "make,price,rep78,sold\nAMC,4099,3,12mar2024\nBuick,5788,.,01apr2024\nFord,4187,3,30dec2023\nOpel,.,4,15aug2024\n",
        {
            "make": ["AMC", "Buick", "Ford", "Opel"],
            "price": [4099, 5788, 4187, None],
            "rep78": [3, None, 3, 4],
            "sold": dates("2024-03-12", "2024-04-01", "2023-12-30", "2024-08-15"),
        },
    ),
    text(
        "sas_export.csv",
        "SAS, proc export: formats date9. and dollar10.2",
        'subject,visit,cost,bp\nA01,12MAR2024,"$1,234.50",120\nA02,05APR2024,$99.00,.\nA03,30JUN2024,"$10,000.00",135\n'
        "A04,01JUL2024,.,118\n",
        {
            "subject": ["A01", "A02", "A03", "A04"],
            "visit": dates("2024-03-12", "2024-04-05", "2024-06-30", "2024-07-01"),
            "cost": [1234.5, 99, 10000, None],
            "bp": [120, None, 135, 118],
        },
        notes=("'$'",),
    ),
    text(
        "libreoffice_export.csv",
        "LibreOffice, all text in quotation marks",
        '"Name","Wert","Datum"\n"a",1.5,"2024-01-31"\n"b",2.5,"2024-02-01"\n"c",3.5,"2024-02-02"\n',
        {"Name": ["a", "b", "c"], "Wert": [1.5, 2.5, 3.5], "Datum": dates("2024-01-31", "2024-02-01", "2024-02-02")},
    ),
    text(
        "google_sheets.csv",
        "Google Sheets, US: dates with the month first, percentages, truth values",
        "task,due,done,progress\nwrite,1/31/2024,TRUE,100%\ntest,2/15/2024,FALSE,12.50%\nship,3/4/2024,FALSE,0%\n"
        "rest,12/24/2024,TRUE,55.5%\n",
        {
            "task": ["write", "test", "ship", "rest"],
            "due": dates("2024-01-31", "2024-02-15", "2024-03-04", "2024-12-24"),
            "done": [True, False, False, True],
            "progress": [100, 12.5, 0, 55.5],
        },
        notes=("percent",),
    ),
    text(
        "google_forms.csv",
        "Google Forms: a time with a zone, questions as names, several answers in a cell",
        '"Timestamp","How old are you?","Which colors, if any?","Rate it (1-5)"\n'
        '"2024/01/31 2:22:05 PM GMT+1","34","red;blue","4"\n"2024/01/31 11:02:00 AM GMT+1","28","red","5"\n'
        '"2024/02/01 12:15:30 AM GMT+1","51","","3"\n"2024/02/01 12:30:00 PM GMT+1","40","green;red;blue","4"\n',
        {
            "Timestamp": dates(
                "2024-01-31T13:22:05", "2024-01-31T10:02:00", "2024-01-31T23:15:30", "2024-02-01T11:30:00"
            ),
            "How old are you?": [34, 28, 51, 40],
            "Which colors, if any?": ["red;blue", "red", None, "green;red;blue"],
            "Rate it (1-5)": [4, 5, 3, 4],
        },
    ),
    text(
        "qualtrics.csv",
        "Qualtrics: three lines of names, with line breaks and codes of the program",
        "StartDate,Duration,Q1,Q2\n"
        'Start Date,Duration (in seconds),"How satisfied are you\nwith us?",Which one?\n'
        '"{""ImportId"":""startDate""}","{""ImportId"":""duration""}","{""ImportId"":""QID1""}","{""ImportId"":""QID2""}"\n'
        "2024-01-31 10:20:30,125,4,cat\n2024-01-31 11:00:00,98,5,dog\n2024-02-01 09:15:00,310,2,cat\n2024-02-02 08:00:00,77,3,dog\n",
        {
            "StartDate": dates(
                "2024-01-31T10:20:30", "2024-01-31T11:00:00", "2024-02-01T09:15:00", "2024-02-02T08:00:00"
            ),
            "Duration": [125, 98, 310, 77],
            "Q1": [4, 5, 2, 3],
            "Q2": ["cat", "dog", "cat", "dog"],
        },
        encoding="utf-8-sig",
        notes=("2 lines below the names",),
    ),
    text(
        "limesurvey.csv",
        "LimeSurvey: everything in quotation marks, N/A for questions that were not shown",
        '"id","submitdate","age","income","group"\n"1","2024-01-31 10:00:00","23","1500","A"\n'
        '"2","2024-01-31 10:05:00","N/A","2500","B"\n"3","","45","N/A","A"\n"4","2024-02-01 12:00:00","31","1800","B"\n',
        {
            "id": [1, 2, 3, 4],
            "submitdate": dates("2024-01-31T10:00:00", "2024-01-31T10:05:00", None, "2024-02-01T12:00:00"),
            "age": [23, None, 45, 31],
            "income": [1500, 2500, None, 1800],
            "group": ["A", "B", "A", "B"],
        },
    ),
    text(
        "surveymonkey.csv",
        "SurveyMonkey: a second line of names below the first",
        "Respondent,Rooms,Staff,Would you come again?\n,Rating,Rating,Response\n101,5,4,Yes\n102,3,4,No\n103,4,2,Yes\n104,1,1,No\n",
        {
            "Respondent": [101, 102, 103, 104],
            "Rooms": [5, 3, 4, 1],
            "Staff": [4, 4, 2, 1],
            "Would you come again?": ["Yes", "No", "Yes", "No"],
        },
        notes=("below the names",),
    ),
    text(
        "postgres_copy.csv",
        "PostgreSQL, COPY: truth values as t and f, times with a zone",
        "id,created_at,active,amount\n7,2024-01-31 10:20:30.123+01,t,19.90\n8,2024-01-31 23:59:59+01,f,5.00\n"
        "9,2024-02-01 00:00:00+01,t,\n10,2024-02-02 12:00:00+01,f,7.5\n",
        {
            "id": [7, 8, 9, 10],
            "created_at": dates(
                "2024-01-31T09:20:30.123", "2024-01-31T22:59:59", "2024-01-31T23:00:00", "2024-02-02T11:00:00"
            ),
            "active": ["t", "f", "t", "f"],
            "amount": [19.9, 5, None, 7.5],
        },
    ),
    text(
        "mysql_outfile.tsv",
        "MySQL, select into outfile: tabs, \\N for missing values",
        "sku\tprice\tstock\nA1\t9.99\t100\nB2\t\\N\t50\nC3\t19.5\t\\N\nD4\t5\t7\n",
        {"sku": ["A1", "B2", "C3", "D4"], "price": [9.99, None, 19.5, 5], "stock": [100, 50, None, 7]},
    ),
    text(
        "sqlserver_null.csv",
        "SQL Server: NULL, and times with seven digits",
        "k,v,t\n1,NULL,2024-01-31 00:00:00.0000000\n2,3.14,2024-02-01 06:30:00.0000000\n3,2.72,NULL\n4,1.41,2024-02-03 00:00:00.0000000\n",
        {
            "k": [1, 2, 3, 4],
            "v": [None, 3.14, 2.72, 1.41],
            "t": dates("2024-01-31T00:00:00", "2024-02-01T06:30:00", None, "2024-02-03T00:00:00"),
        },
    ),
    text(
        "pandas_to_csv.csv",
        "pandas, to_csv: an index without a name, blanks for missing values, powers of ten",
        ",x,y,flag\n0,1e-05,True,a\n1,2.5,False,b\n2,,True,a\n3,1234567.0,False,b\n",
        {
            "": ["0", "1", "2", "3"],
            "x": [0.00001, 2.5, None, 1234567],
            "y": [True, False, True, False],
            "flag": ["a", "b", "a", "b"],
        },
    ),
    text(
        "polars_write_csv.csv",
        "polars, write_csv: times with a T, true and false",
        "when,ok,v\n2024-01-31T10:20:30.000000,true,1.5\n2024-02-01T00:00:00.000000,false,\n2024-02-02T12:00:00.500000,true,3.5\n",
        {
            "when": dates("2024-01-31T10:20:30", "2024-02-01T00:00:00", "2024-02-02T12:00:00.500"),
            "ok": [True, False, True],
            "v": [1.5, None, 3.5],
        },
    ),
]
