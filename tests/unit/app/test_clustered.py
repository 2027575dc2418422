"""The table with what was found beside it: every value is the one of the file, and nothing is a formula."""

import csv
import io
import itertools
import re
import zipfile
from datetime import datetime

import numpy as np
import openpyxl
import pandas as pd
import pyarrow as pa
import pytest
import python_calamine

from formulas import as_written
from kfrc import FCM, KFRC
from kfrc.confidence import Confidence
from kfrc.exceptions import NoStructureWarning, UniformCollapseWarning
from kfrc_app.facts import summarize
from kfrc_app.neutral import neutral, neutral_cells
from kfrc_app.runs import workbook
from kfrc_app.runs.clustered import (
    LARGEST,
    STAYS_SHARE,
    Clustered,
    clustered_csv,
    clustered_table,
    clustered_workbook,
    fits_workbook,
)
from kfrc_app.runs.results import membership_table, result_files, to_csv
from kfrc_app.runs.workbook import CUT, MAX_CHARACTERS, Sheet, write_workbook
from kfrc_app.tables import InputRows, read_table

HOSTILE = [
    "=cmd|' /C calc'!A0",
    "@SUM(1)",
    "+1",
    "-1+2",
    "\t=1",
    "\r",
    "'=already marked",
    "＝1",
    "🦆 emoji 👩‍🔬",
    "x" * 40_000,
    "12345678901234567890",
    "<r>bold</r>",
    "_x0041_",
    "a\x01\x0bb",
    "https://example.org/a",
    "mailto:a@example.org",
    "{=1}",
    'quote " and, comma',
    "line\nbreak",
    " blank around ",
    "-5",
    "1.5",
    "TRUE",
    "#N/A",
]


def both(content, name="table"):
    """The cells of a sheet as two programs read them; what is blank is None."""
    book = openpyxl.load_workbook(io.BytesIO(content))
    first = [[cell.value for cell in row] for row in book[name].rows]
    sheet = python_calamine.CalamineWorkbook.from_filelike(io.BytesIO(content)).get_sheet_by_name(name)
    second = [[None if cell == "" else cell for cell in row] for row in sheet.to_python(skip_empty_area=False)]
    return first, second


def readings(text):
    """A text as it was read, and without the escapes of Excel, which not every program undoes; line ends aside."""
    undone = re.sub("_x([0-9a-fA-F]{4})_", lambda found: chr(int(found[1], 16)), text)
    return [found.replace("\r\n", "\n").replace("\r", "\n") for found in (text, undone)]


@pytest.fixture(scope="module")
def facts():
    X = np.random.default_rng(0).normal(size=(12, 2))
    X[:6] += 6
    data = pd.DataFrame(X, columns=["x", "y"])
    model = FCM(2, random_state=0).fit(data)
    stays = np.linspace(0.4, 1.0, 12)
    confidence = Confidence(
        partition=0.9, clusters=np.array([0.9, 0.7]), rows=stays, existence=0.01, n_refits=20, n_rows=8,
        agreements=np.full(20, 0.9), n_clusters_found=np.full(20, 2),
    )  # fmt: skip
    return summarize(model, data, confidence=confidence, source="=evil.csv", notes=["=1+1"], command="kfrc fit", seed=0)


def test_every_kind_of_cell_reads_back_as_it_was():
    frame = pd.DataFrame(
        {
            "number": [1.0, 2.5, -1e-300, 1e300, 0.1 + 0.2, np.nan, 123456789012345.0],
            "when": np.array(
                ["2020-01-31", "1900-03-01", "9999-12-31", "NaT", "2024-02-29", "1970-01-01", "2000-01-01"],
                dtype="datetime64[us]",
            ),
            "text": pd.array(["a", None, "ä", "", "x y", "1", "=1"], dtype="string[pyarrow]"),
        }
    )
    for rows in both(write_workbook([Sheet("table", frame)])):
        assert rows[0] == ["number", "when", "text"]
        got = pd.DataFrame(rows[1:], columns=rows[0])
        np.testing.assert_array_equal(got["number"].astype(float), frame["number"])
        assert [None if pd.isna(day) else day.strftime("%Y-%m-%d") for day in got["when"]] == [
            *("2020-01-31", "1900-03-01", "9999-12-31", None, "2024-02-29", "1970-01-01", "2000-01-01"),
        ]
        assert ["" if pd.isna(text) else text for text in got["text"]] == ["a", "", "ä", "", "x y", "1", "=1"]


def test_points_in_time_keep_their_time():
    when = np.array(["2020-01-31T12:34:56", "1900-03-01T00:00:00"], dtype="datetime64[us]")
    for rows in both(write_workbook([Sheet("table", pd.DataFrame({"when": when}))])):
        assert rows[1][0] == datetime(2020, 1, 31, 12, 34, 56)


def test_dates_that_excel_does_not_know_are_text():
    when = np.array(
        ["1899-12-31", "1582-10-15", "1900-01-01", "10000-01-01", "12345-06-07T08:00"], dtype="datetime64[us]"
    )
    for rows in both(write_workbook([Sheet("table", pd.DataFrame({"when": when}))])):
        assert [row[0] for row in rows[1:]] == [
            *("1899-12-31", "1582-10-15", "1900-01-01", "10000-01-01", "12345-06-07 08:00:00"),
        ]


def test_infinite_numbers_are_text_and_missing_ones_are_blank():
    for rows in both(write_workbook([Sheet("table", pd.DataFrame({"x": [np.inf, -np.inf, np.nan, 1.0]}))])):
        assert [row[0] for row in rows[1:]] == ["inf", "-inf", None, 1]


def test_hostile_text_stays_text_in_a_workbook():
    frame = pd.DataFrame({"=1+1": pd.array(HOSTILE, dtype="string[pyarrow]")})
    content = write_workbook([Sheet("table", frame)])
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        everything = b"".join(archive.read(name) for name in archive.namelist())
    assert b"<f>" not in everything
    assert b"<f " not in everything
    assert b"<hyperlink " not in everything
    assert {cell.data_type for row in openpyxl.load_workbook(io.BytesIO(content))["table"].rows for cell in row} == {
        "s"
    }
    for rows in both(content):
        assert rows[0] == ["=1+1"]
        for text, (got,) in zip(HOSTILE, rows[1:], strict=True):
            if len(text) > MAX_CHARACTERS:
                assert got == "x" * (MAX_CHARACTERS - len(CUT)) + CUT
            else:
                assert text.replace("\r", "\n") in readings(got)


def test_a_cell_is_cut_by_the_count_of_excel_and_never_within_a_letter():
    frame = pd.DataFrame({"t": ["🦆" * 20_000]})
    for rows in both(write_workbook([Sheet("table", frame)])):
        text = rows[1][0]
        assert len(text.encode("utf-16-le")) // 2 <= MAX_CHARACTERS
        assert set(text.removesuffix(CUT)) == {"🦆"}


def test_broken_letters_do_not_break_the_file():
    frame = pd.DataFrame({"t": pd.Series(["a\ud800b", "\uffff"], dtype=object)})
    for rows in both(write_workbook([Sheet("table", frame)])):
        assert [row[0] for row in rows[1:]] == ["a\ufffdb", "\ufffd"]


def test_blocks_of_rows_join_without_a_seam(monkeypatch):
    monkeypatch.setattr(workbook, "_BLOCK", 7)
    frame = pd.DataFrame({"x": np.arange(50.0), "t": [f"r{k}" for k in range(50)]})
    for rows in both(write_workbook([Sheet("table", frame)])):
        assert [row[0] for row in rows[1:]] == list(range(50))
        assert [row[1] for row in rows[1:]] == [f"r{k}" for k in range(50)]


def test_the_header_is_frozen_and_filtered():
    content = write_workbook([Sheet("table", pd.DataFrame({"x": [1.0], "y": [2.0]}))])
    page = openpyxl.load_workbook(io.BytesIO(content))["table"]
    assert page.freeze_panes == "A2"
    assert page.auto_filter.ref == "A1:B2"
    assert page["A1"].font.bold


def test_the_same_table_gives_the_same_bytes():
    sheet = Sheet("table", pd.DataFrame({"x": [1.0]}))
    assert write_workbook([sheet]) == write_workbook([sheet])


def test_limits_of_a_sheet_are_those_of_excel():
    assert fits_workbook(1_048_575, 16_384)
    assert not fits_workbook(1_048_576, 5)
    assert not fits_workbook(5, 16_385)


@pytest.mark.parametrize("text", HOSTILE)
def test_what_is_marked_as_text_can_be_restored(text):
    assert as_written(neutral(text)) == text


@pytest.mark.parametrize(
    "text",
    [
        "=1",
        "@SUM(1)",
        "+1",
        "-1+2",
        "\tx",
        "\rx",
        "'=1",
        " =1",
        "\u200b=1",
        "\ufeff @x",
        "\u00a0' +1",
        "\0=1",
        "-",
        "＝1",
        "-1-1",
        "--1",
        "+-1",
    ],
)
def test_text_that_could_be_a_formula_is_marked(text):
    assert neutral(text) == f"'{text}"


@pytest.mark.parametrize(
    ("text", "marked"),
    [
        ("x;=1+1", "x;'=1+1"),
        ("x; =1", "x;' =1"),
        ("a|@b,+c", "a|'@b,'+c"),
        ("-5; -3", "'-5;' -3"),
        ("\t=1", "'\t'=1"),
        ("a\n\u200d=1", "a\n'\u200d=1"),
        ("x;'=1", "x;''=1"),
        ("=1;=2", "'=1;'=2"),
    ],
)
def test_no_part_of_a_text_is_a_formula_for_a_program_that_cuts_elsewhere(text, marked):
    assert neutral(text) == marked
    assert as_written(marked) == text
    assert not any(re.match(r"[\s\u200d]*[=+@-]", part) for part in re.split(r"[;,|\t\n]", marked))


PIECES = ["=", "-", "'", " ", ";", "\t", "\u200b", "1", "a"]


def test_every_short_text_is_marked_alike_by_both_ways_and_restored():
    texts = ["".join(found) for n in range(5) for found in itertools.product(PIECES, repeat=n)]
    marked = neutral_cells(pa.array([None, *texts], type=pa.large_string())).to_pylist()
    assert marked == [None, *map(neutral, texts)]
    assert [as_written(text) for text in marked[1:]] == texts


@pytest.mark.parametrize("text", ["a - b", "x; y", "-5", "-0.25", "a=1", "it's", "'tis", "", "1-2", "5"])
def test_numbers_and_harmless_text_stay_as_they_are(text):
    assert neutral(text) == text


def test_ids_in_memberships_are_neutral_and_can_be_restored():
    rows = InputRows.all_used(HOSTILE)
    U = np.full((len(HOSTILE), 2), 0.5)
    read = list(csv.DictReader(io.StringIO(to_csv(membership_table(rows, U)), newline="")))
    assert [as_written(row["id"]) for row in read] == HOSTILE
    assert not any(re.match(r"[=+@\t\r]|-(?!5$)", row["id"]) for row in read)


def test_rows_of_the_file_keep_their_order_and_those_not_used_say_why(facts):
    left_out = np.array([""] * 14, dtype=object)
    left_out[[3, 9]] = "missing value in 'x'"
    rows = InputRows(np.array([str(k) for k in range(14)], dtype=object), left_out)
    original = pd.DataFrame({"id": np.arange(14.0), "cluster": ["own"] * 14})
    found = clustered_table(original, rows, facts)
    assert found.frame["id"].tolist() == list(range(14))
    assert found.added["cluster"] == "cluster (found)"
    used = rows.used
    clusters = found.frame["cluster (found)"]
    assert clusters[~used].isna().all()
    np.testing.assert_array_equal(clusters[used], facts.model.labels_)
    np.testing.assert_allclose(found.frame.loc[used, ["cluster_0", "cluster_1"]], facts.model.memberships_, atol=1e-10)
    np.testing.assert_allclose(found.frame.loc[used, STAYS_SHARE], facts.confidence.rows, atol=1e-4)
    assert found.frame["group"][used].tolist() == ["AB"[label] for label in facts.model.labels_]
    assert found.frame["group"][~used].isna().all()
    assert found.frame["certainty"][used].tolist()[0] == "unstable"
    assert found.frame["certainty"][used].tolist()[-1] == "stable"
    assert found.frame["left_out"][~used].tolist() == ["missing value in 'x'"] * 2
    assert found.frame["left_out"][used].isna().all()


def test_the_workbook_holds_table_clusters_and_how_it_was_made(facts):
    rows = InputRows.all_used([str(k) for k in range(12)])
    found = clustered_table(pd.DataFrame({"name": HOSTILE[:12]}), rows, facts)
    content = clustered_workbook(found, facts)
    assert openpyxl.load_workbook(io.BytesIO(content)).sheetnames == ["table", "clusters", "about"]
    for table, clusters, about in zip(both(content), both(content, "clusters"), both(content, "about"), strict=True):
        assert len(table) == 13
        np.testing.assert_allclose([row[-2] for row in table[1:]], facts.model.memberships_[:, 1], atol=1e-10)
        assert [row[0] for row in clusters[1:]] == [0, 1]
        assert [row[1] for row in clusters[1:]] == ["A", "B"]
        assert sum(row[2] for row in clusters[1:]) == 12
        assert {"high x" in row[-1] for row in clusters[1:]} == {True, False}
        told = dict(filter(lambda row: row[0], about))
        assert told["table"] == "=evil.csv"
        assert "=1+1" in [row[1] for row in about]
        assert told["seed"] == "0"
        assert any("refits" in str(row[1]) for row in about)


def test_without_refits_the_largest_membership_stands_in_and_nothing_is_called_certain(facts):
    untested = summarize(facts.model, facts.data)
    found = clustered_table(pd.DataFrame(index=range(12)), InputRows.all_used([str(k) for k in range(12)]), untested)
    assert set(found.frame["certainty"]) == {"not tested"}
    np.testing.assert_allclose(found.frame[LARGEST], facts.model.memberships_.max(axis=1), atol=1e-10)


def test_csv_and_workbook_hold_the_same(facts, tmp_path):
    path = tmp_path / "t.csv"
    text = "sample;when;x;note\n" + "".join(
        f"s{k};{k + 1:02d}.01.1850;{k},5;{'=1+1' if k % 2 else '-5'}\n" for k in range(12)
    )
    path.write_text(text)
    read = read_table(str(path))
    found = clustered_table(read.original, read.rows, facts)
    from_csv = list(csv.reader(io.StringIO(clustered_csv(found).decode(), newline="")))
    for rows in both(clustered_workbook(found, facts)):
        assert from_csv[0] == rows[0]
        for in_csv, in_excel in zip(from_csv[1:], rows[1:], strict=True):
            for cell, value in zip(in_csv, in_excel, strict=True):
                if isinstance(value, (int, float)):
                    assert float(cell) == value
                else:
                    assert as_written(cell) == (value or "")
    assert from_csv[1][:4] == ["s0", "1850-01-01", "0.5", "-5"]
    assert from_csv[2][3] == "'=1+1"


def test_parts_of_seconds_stay_in_csv_and_workbook(facts):
    rows = InputRows.all_used([str(k) for k in range(12)])
    whole = np.datetime64("2024-05-01T10:00:00", "us") + np.arange(12) * np.timedelta64(1, "s")
    old = np.datetime64("1850-05-01T10:00:00", "us") + np.arange(12) * np.timedelta64(1_500_000, "us")
    frame = pd.DataFrame(
        {"whole": whole, "half": whole + np.timedelta64(500, "ms"), "fine": whole + np.timedelta64(1, "us"), "old": old}
    )
    frame.loc[3, "half"] = pd.NaT
    found = clustered_table(frame, rows, facts)
    read = list(csv.reader(io.StringIO(clustered_csv(found).decode())))
    assert read[1][:3] == ["2024-05-01 10:00:00", "2024-05-01 10:00:00.500", "2024-05-01 10:00:00.000001"]
    assert read[4][1] == ""
    page = openpyxl.load_workbook(io.BytesIO(clustered_workbook(found, facts)))["table"]
    assert page["B2"].value.microsecond == 500_000
    assert [page["D2"].value, page["D3"].value] == ["1850-05-01 10:00:00", "1850-05-01 10:00:01.500"]


def test_headings_that_could_be_formulas_are_marked_in_csv(facts):
    rows = InputRows.all_used([str(k) for k in range(12)])
    found = clustered_table(pd.DataFrame({"=1+1": np.arange(12.0), 'a,"b': np.arange(12.0)}), rows, facts)
    header = next(csv.reader(io.StringIO(clustered_csv(found).decode(), newline="")))
    assert header[:2] == ["'=1+1", 'a,"b']


def test_a_matrix_of_dissimilarities_gives_names_and_memberships(facts):
    files = result_files(facts, InputRows.all_used([f"=r{k}" for k in range(12)]), None)
    assert set(files) == {"memberships.csv", "model.skops", "summary.json", "clustered.xlsx", "clustered.csv"}
    assert both(files["clustered.xlsx"])[0][1][0] == "=r0"
    assert files["clustered.csv"].decode().splitlines()[1].startswith('"\'=r0",')


def test_a_fit_without_groups_claims_none_in_the_workbook():
    data = pd.DataFrame(np.random.default_rng(0).normal(size=(30, 3)), columns=list("xyz"))
    with pytest.warns(UniformCollapseWarning):
        model = KFRC(3, fuzzifier="power", m=6.0, bandwidths=np.full(3, 0.2), random_state=0).fit(data)
    files = result_files(summarize(model, data), InputRows.all_used([str(k) for k in range(30)]), None)
    for table, clusters in zip(both(files["clustered.xlsx"]), both(files["clustered.xlsx"], "clusters"), strict=True):
        assert {row[table[0].index("certainty")] for row in table[1:]} == {"none: all memberships are the same"}
        assert "name" not in clusters[0]


def test_a_single_cluster_is_written():
    data = pd.DataFrame(np.random.default_rng(0).normal(size=(40, 2)), columns=["x", "y"])
    with pytest.warns(NoStructureWarning):
        model = KFRC("auto", random_state=0).fit(data)
    assert model.n_clusters_ == 1
    files = result_files(summarize(model, data), InputRows.all_used([str(k) for k in range(40)]), None)
    assert {row[1] for row in both(files["clustered.xlsx"])[0][1:]} == {0}


def test_a_workbook_can_be_left_out(facts):
    assert "clustered.xlsx" not in result_files(facts, InputRows.all_used(list("abcdefghijkl")), None, excel=False)


def test_headings_with_carriage_returns_are_one_cell_of_the_text_file():
    frame = pd.DataFrame([[1.5, "a\rb", 0.0]], columns=["one\rname", 'and "a", b', "cluster"])
    header, row = csv.reader(io.StringIO(clustered_csv(Clustered(frame, {})).decode(), newline=""))
    assert header == list(frame.columns)
    assert row == ["1.5", "a\rb", "0"]
