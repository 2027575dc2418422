from __future__ import annotations

import io

import numpy as np
import pandas as pd
import pytest
from scipy.spatial.distance import cdist

LIGHT = ("--no-report", "--starts", "1")
GIVEN = (*LIGHT, "-m", "1.5", "--level", "1", "--max-anisotropy", "5")  # nothing is chosen, which takes longest


@pytest.fixture
def fitted(run, iris_csv, tmp_path):
    """A fitted model of iris, and its memberships."""
    run("fit", iris_csv, "-c", 3, "-o", tmp_path / "fit", *GIVEN)
    return tmp_path / "fit" / "model.skops", pd.read_csv(tmp_path / "fit" / "memberships.csv")


def test_the_rows_of_the_fit_get_their_memberships_back(run, fitted, iris_csv):
    model, expected = fitted
    found = pd.read_csv(io.StringIO(run("predict", model, iris_csv).out))
    pd.testing.assert_frame_equal(found, expected, atol=1e-6)


def test_columns_are_matched_by_name(run, fitted, iris_frame, tmp_path):
    model, expected = fitted
    iris_frame.iloc[:, ::-1].assign(extra=1).to_csv(tmp_path / "new.csv", index=False)
    ended = run("predict", model, tmp_path / "new.csv", "-o", tmp_path / "found.csv")
    assert "ignored 2 columns that the model does not know: 'species', 'extra'" in ended.err
    pd.testing.assert_frame_equal(pd.read_csv(tmp_path / "found.csv"), expected, atol=1e-6)


def test_missing_columns_are_named(run, fitted, iris_frame, tmp_path):
    iris_frame.drop(columns=["petal_width"]).to_csv(tmp_path / "new.csv", index=False)
    ended = run("predict", fitted[0], tmp_path / "new.csv", "-o", tmp_path / "found.csv", code=1)
    assert "lacks 1 of the 4 columns" in ended.err
    assert "'petal_width'" in ended.err
    assert not (tmp_path / "found.csv").exists()


def test_text_where_numbers_are_needed_is_refused(run, fitted, iris_frame, tmp_path):
    frame = iris_frame.astype({"petal_width": object})
    frame.loc[3, "petal_width"] = "wide"
    frame.to_csv(tmp_path / "new.csv", index=False)
    assert "'petal_width'" in run("predict", fitted[0], tmp_path / "new.csv", code=1).err


def test_a_single_new_row_is_enough(run, fitted, iris_frame, tmp_path):
    iris_frame.head(1).to_csv(tmp_path / "new.csv", index=False)
    document = run("predict", fitted[0], tmp_path / "new.csv", "--json").document
    assert document["labels"] == [0]
    assert sum(document["memberships"][0]) == pytest.approx(1)


def test_what_is_known_of_incomplete_rows_is_used(run, fitted, iris_frame, tmp_path):
    frame = iris_frame.head(5).copy()
    frame.iloc[1, 0] = np.nan
    frame.iloc[2, :4] = np.nan
    frame.to_csv(tmp_path / "new.csv", index=False)
    document = run("predict", fitted[0], tmp_path / "new.csv", "--json").document
    assert document["ids"] == ["1", "2", "3", "4", "5"]
    assert document["labels"][:2] == [0, 0]
    assert max(document["memberships"][2]) < 0.9
    assert any("nothing is known of row '3'" in note for note in document["notes"])


@pytest.mark.slow
def test_incomplete_rows_are_left_out_if_they_were_in_the_fit(run, iris_csv, iris_frame, tmp_path):
    run("fit", iris_csv, "-c", 3, "-o", tmp_path / "fit", "--missing", "drop", *GIVEN)
    frame = iris_frame.head(5).copy()
    frame.iloc[1, 0] = np.nan
    frame.to_csv(tmp_path / "new.csv", index=False)
    ended = run("predict", tmp_path / "fit" / "model.skops", tmp_path / "new.csv", "--json")
    assert ended.document["ids"] == ["1", "2", "3", "4", "5"]
    assert [label is None for label in ended.document["labels"]] == [False, True, False, False, False]


def test_an_existing_file_is_kept_without_force(run, fitted, iris_csv, tmp_path):
    (tmp_path / "found.csv").write_text("mine")
    assert "--force" in run("predict", fitted[0], iris_csv, "-o", tmp_path / "found.csv", code=1).err
    assert (tmp_path / "found.csv").read_text() == "mine"
    run("predict", fitted[0], iris_csv, "-o", tmp_path / "found.csv", "--force")
    assert len(pd.read_csv(tmp_path / "found.csv")) == 150


@pytest.mark.parametrize("header", [True, False])
def test_new_rows_of_dissimilarities(run, iris_frame, tmp_path, header):
    X = iris_frame.iloc[::3, :4].to_numpy()
    names = [f"plant {j}" for j in range(len(X))]
    R = pd.DataFrame(cdist(X, X, "sqeuclidean"), columns=names)
    R.to_csv(tmp_path / "R.csv", index=False, header=header)
    run("fit", tmp_path / "R.csv", "-c", 3, "-o", tmp_path / "out", "--dissimilarity")
    R.head(4).to_csv(tmp_path / "new.csv", index=False, header=header)
    found = pd.read_csv(io.StringIO(run("predict", tmp_path / "out" / "model.skops", tmp_path / "new.csv").out))
    expected = pd.read_csv(tmp_path / "out" / "memberships.csv").head(4)
    np.testing.assert_allclose(found.filter(like="cluster_"), expected.filter(like="cluster_"), atol=1e-5)


def test_names_of_a_matrix_that_have_line_breaks_are_found_again(run, tmp_path):
    names = ["two\nlines", "odd  blanks", "plain", "next\u2028line"]
    R = pd.DataFrame([[0.0 if i == k else 1.0 + (i // 2 != k // 2) for i in range(4)] for k in range(4)], columns=names)
    R.to_csv(tmp_path / "R.csv", index=False)
    run("fit", tmp_path / "R.csv", "-c", 2, "-o", tmp_path / "out", "--dissimilarity", "--refits", 0, "--no-report")
    found = pd.read_csv(io.StringIO(run("predict", tmp_path / "out" / "model.skops", tmp_path / "R.csv").out))
    assert found["label"].tolist() == pd.read_csv(tmp_path / "out" / "memberships.csv")["label"].tolist()


def test_as_a_program(run_program, run, fitted, iris_csv, tmp_path):
    ended = run_program("predict", fitted[0], "-", stdin=iris_csv.read_text())
    assert len(pd.read_csv(io.StringIO(ended.out))) == 150
    assert "is not a model file" in run("predict", iris_csv, iris_csv, code=1).err
    assert run("predict", fitted[0], code=2).out == ""
