"""No text of a table leaves as a formula, in no export; and every text can be had back as it was."""

from __future__ import annotations

import csv
import io
import json

import numpy as np
import openpyxl
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from kfrc_app.neutral import neutral, neutral_cells, neutral_csv, restored, restored_cells, restored_frame
from kfrc_app.study.summary import QUANTILE_NAMES, Summary
from kfrc_app.study.tables import to_latex, to_markdown
from kfrc_app.tables.own_files import is_own

QUICK = ("-c", 2, "--refits", 0, "--no-report", "--starts", 1, "-m", 1.5, "--level", 1)
EVIL = "=cmd|' /C calc'!A0"
DANGEROUS = tuple("=+-@\t\r＝＋－＠")

texts = st.text(st.one_of(st.sampled_from([*DANGEROUS, *"';,|\n 15.eE", "\u200b", "\0"]), st.characters(codec="utf-8")))


@pytest.mark.slow
@given(texts)
@example("-5\n")
@example("'\t=1")
@example("''-5")
@example("x;'=1")
def test_every_text_is_restored_and_none_begins_like_a_formula(text):
    marked = neutral(text)
    assert restored(marked) == text
    if marked.startswith(DANGEROUS):
        assert marked == text
        assert text == text.strip()
        float(text)


@given(st.lists(texts, min_size=1))
@example(["-5\n", "a"])
def test_cells_of_a_column_are_marked_and_restored_as_each_of_them_is(found):
    cells = pa.array([None, *found], type=pa.large_string())
    marked = neutral_cells(cells)
    assert marked.to_pylist() == [None, *map(neutral, found)]
    assert restored_cells(marked).to_pylist() == [None, *found]


@given(st.lists(texts, min_size=1, max_size=4), texts)
def test_a_table_of_text_is_restored_with_its_headings(cells, heading):
    frame = pd.DataFrame({f"n{heading}": [1.5] * len(cells), f"{heading}x": cells})
    written = neutral_csv(frame)
    header, *rows = csv.reader(io.StringIO(written, newline=""))
    read = restored_frame(pd.DataFrame(rows, columns=header))
    assert read.columns.tolist() == [f"n{heading}", f"{heading}x"]
    assert read.iloc[:, 1].tolist() == cells


@pytest.mark.parametrize("text", ["-1.5", "-7", "3", "2021-03-01", "1e-5", "12:30"])
def test_numbers_and_dates_stay_as_they_are(text):
    assert neutral(text) == text


@pytest.fixture(scope="module")
def exported(run, tmp_path_factory):
    """A table with hostile ids, headings and levels, and the folder of its fit."""
    folder = tmp_path_factory.mktemp("formulas")
    rng = np.random.default_rng(3)
    n = 24
    x = rng.normal(size=(n, 2)).round(3)
    x[: n // 2] += 5
    frame = pd.DataFrame({"who": [f"{EVIL}{k}" for k in range(n)], "+height": x[:, 0], "mass": x[:, 1]})
    frame["@color"] = np.where(np.arange(n) % 2, "=red", "-blue")
    frame["shift"] = -np.arange(n) - 0.5
    frame.to_csv(folder / "t.csv", index=False)
    run("fit", folder / "t.csv", "-o", folder / "out", "--id-column", "who", *QUICK)
    return folder, frame


def rows_of(text):
    return list(csv.reader(io.StringIO(text, newline="")))


def is_formula(cell):
    if not cell.startswith(DANGEROUS):
        return False
    try:
        return not np.isfinite(float(cell))
    except ValueError:
        return True


def test_no_file_of_a_fit_holds_a_formula(exported):
    folder, frame = exported
    for path in (folder / "out").glob("*.csv"):
        rows = rows_of(path.read_text(encoding="utf-8"))
        assert not [cell for row in rows for cell in row if is_formula(cell)], path.name
        assert [restored(row[0]) for row in rows[1:]] == frame["who"].tolist()
    header, *rows = rows_of((folder / "out" / "clustered.csv").read_text(encoding="utf-8"))
    assert [restored(name) for name in header[:5]] == frame.columns.tolist()
    assert [float(row[4]) for row in rows] == frame["shift"].tolist()
    for sheet in openpyxl.load_workbook(folder / "out" / "clustered.xlsx"):
        assert all(cell.data_type != "f" and cell.hyperlink is None for line in sheet.iter_rows() for cell in line)


def test_the_record_of_a_run_says_what_was_done_to_text(run, exported):
    folder, _ = exported
    told = json.loads((folder / "out" / "summary.json").read_text(encoding="utf-8"))["csv_files"]
    assert "apostrophe" in told["formula_cells"]
    assert told["restored_by"] == "kfrc_app.neutral.restored"
    model, table = folder / "out" / "model.skops", folder / "t.csv"
    assert run("predict", model, table, "--id-column", "who", "--json").document["csv_files"] == told


def test_a_table_that_was_exported_is_read_again_as_it_was(run, exported, tmp_path):
    folder, frame = exported
    model, again = folder / "out" / "model.skops", folder / "out" / "clustered.csv"
    first = run("predict", model, folder / "t.csv", "--id-column", "who", "--json").document
    second = run("predict", model, again, "--id-column", "who", "--json").document
    assert second["ids"] == first["ids"] == frame["who"].tolist()
    assert second["memberships"] == first["memberships"]
    assert any("written by kfrc" in note for note in second["notes"])
    run("predict", model, again, "--id-column", "who", "-o", tmp_path / "new.csv")
    assert rows_of((tmp_path / "new.csv").read_text(encoding="utf-8"))[1][0] == f"'{EVIL}0"


def test_apostrophes_of_other_tables_are_their_own(run, exported, tmp_path):
    folder, frame = exported
    mine = frame.assign(who=[f"'=mine {k}" for k in range(len(frame))])
    mine.to_csv(tmp_path / "mine.csv", index=False)
    ended = run("predict", folder / "out" / "model.skops", tmp_path / "mine.csv", "--id-column", "who", "--json")
    assert ended.document["ids"] == mine["who"].tolist()


@pytest.mark.parametrize(
    ("names", "own"),
    [
        (["id", "label", "cluster_0", "cluster_1", "left_out"], True),
        (["x", "cluster", "group", "certainty", "stays_in_refits", "cluster_0", "left_out"], True),
        (
            [
                "cluster",
                "cluster (found)",
                "group",
                "certainty",
                "largest_membership",
                "cluster_0",
                "left_out (found 2)",
            ],
            True,
        ),
        (["id", "label", "cluster_1", "cluster_0", "left_out"], False),
        (["id", "label", "left_out"], False),
        (["x", "label", "cluster_0", "left_out"], False),
        (["left_out"], False),
    ],
)
def test_files_of_the_program_are_known_by_the_columns_it_adds(names, own):
    assert is_own(names) == own


def test_tables_of_a_study_hold_no_formula_and_are_read_again(tmp_path):
    scores = {"seed": [1], "method": [EVIL], "n_clusters": [2], "snr": [-0.5], "count": [3]}
    scores |= {name: [0.5] for name in ("fari_fuzzy", "fari_crisp", "ari", "ami", "uniformity")}
    choices = {"n_clusters": [2], "snr": [0.5], "setting": ["criterion"], "value": ["@x"], "count": [1.0], "alone": [1]}
    features = {"n_clusters": [2], "snr": [0.5], "n_signal": [2], "criterion": ["+x"], "max_anisotropy": [5.0]}
    features |= {name: [1.5] for name in QUANTILE_NAMES}
    summary = Summary({"study": "synthetic"}, *map(pd.DataFrame, (scores, choices, features)))
    summary.write(tmp_path / "small")
    for path in (tmp_path / "small").glob("*.csv"):
        assert not [cell for row in rows_of(path.read_text()) for cell in row if is_formula(cell)], path.name
    read = Summary.read(tmp_path / "small")
    assert read.scores["method"].tolist() == [EVIL]
    assert read.choices["value"].tolist() == ["@x"]
    assert read.effective_features["criterion"].tolist() == ["+x"]


def test_names_in_tables_of_a_study_are_no_commands():
    name = "\\input{|'id'}$x$^~#&\x1b[31m|<b>\nend"
    table = pd.DataFrame({"method": [name], name: [0.5]})
    for line in (to_latex(table).splitlines()[2], to_latex(table).splitlines()[4]):
        assert r"\textbackslash{}input\{|'id'\}\$x\$\textasciicircum{}\textasciitilde{}\#\& [31m|<b> end" in line
    header, _, row = to_markdown(table).splitlines()
    for line in (header, row):
        assert r"[31m\|&lt;b> end" in line
    assert "\x1b" not in to_markdown(table) + to_latex(table)
