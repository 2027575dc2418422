"""What goes in comes out: every row in order, ids as they were written, and marks that can be given."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from scipy.spatial.distance import cdist

LIGHT = ("--no-report", "--starts", "1")
GIVEN = (*LIGHT, "-m", "1.5", "--level", "1", "--max-anisotropy", "5")  # nothing is chosen, which takes longest
DROP = ("--missing", "drop")


def as_text(path):
    return pd.read_csv(path, dtype=str, keep_default_na=False)


@pytest.fixture
def gaps_csv(iris_frame, tmp_path):
    """A third of iris with ids that look like numbers, and two rows with missing values."""
    frame = iris_frame.iloc[::3, :4].reset_index(drop=True).assign(key=[f"{k:04d}" for k in range(50)])
    frame.loc[[4, 30], "sepal_width"] = np.nan
    frame.loc[30, "petal_width"] = np.nan
    frame.to_csv(tmp_path / "gaps.csv", index=False)
    return tmp_path / "gaps.csv"


def test_every_row_is_in_the_memberships_with_a_reason(run, gaps_csv, tmp_path):
    ended = run("fit", gaps_csv, "-c", 3, "-o", tmp_path / "out", "--id-column", "key", "--json", *DROP, *GIVEN)
    found = as_text(tmp_path / "out" / "memberships.csv")
    assert list(found.columns) == ["id", "label", "cluster_0", "cluster_1", "cluster_2", "left_out"]
    assert found["id"].tolist() == [f"{k:04d}" for k in range(50)]
    assert found["left_out"][4] == "missing value in 'sepal_width'"
    assert found["left_out"][30] == "missing values in 'sepal_width', 'petal_width'"
    lost = found.loc[[4, 30]]
    assert (lost.drop(columns=["id", "left_out"]) == "").to_numpy().all()
    used = found.drop(index=[4, 30])
    assert (used["left_out"] == "").all()
    assert set(used["label"]) == {"0", "1", "2"}
    np.testing.assert_allclose(used.filter(like="cluster_").astype(float).sum(axis=1), 1, atol=1e-9)
    assert (ended.document["n_rows"], ended.document["n_left_out"]) == (48, 2)
    summary = json.loads((tmp_path / "out" / "summary.json").read_text(encoding="utf-8"))
    assert summary["n_left_out"] == 2


def test_every_new_row_is_in_the_prediction_with_a_reason(run, gaps_csv, tmp_path):
    run("fit", gaps_csv, "-c", 3, "-o", tmp_path / "out", "--id-column", "key", *DROP, *GIVEN)
    model = tmp_path / "out" / "model.skops"
    ended = run("predict", model, gaps_csv, "--id-column", "key", "-o", tmp_path / "new.csv")
    assert "2 of 50 rows have missing values" in ended.err
    assert "2 of them left out" in " ".join(ended.out.split())
    expected, found = as_text(tmp_path / "out" / "memberships.csv"), as_text(tmp_path / "new.csv")
    assert list(found.columns) == list(expected.columns)
    for column in ("id", "label", "left_out"):
        assert found[column].tolist() == expected[column].tolist()
    document = run("predict", model, gaps_csv, "--id-column", "key", "--json").document
    assert document["ids"] == expected["id"].tolist()
    assert (document["n_rows"], document["n_left_out"]) == (50, 2)
    for name in ("labels", "memberships"):
        assert [k for k, value in enumerate(document[name]) if value is None] == [4, 30]
    assert [k for k, reason in enumerate(document["left_out"]) if reason is not None] == [4, 30]
    assert document["left_out"][4] == "missing value in 'sepal_width'"


def test_rows_are_predicted_however_many_others_are_incomplete(run, gaps_csv, iris_frame, tmp_path):
    run("fit", gaps_csv, "-c", 3, "-o", tmp_path / "out", "--id-column", "key", *DROP, *GIVEN)
    frame = iris_frame.head(6).copy()
    frame.iloc[:5, 0] = np.nan
    frame.to_csv(tmp_path / "new.csv", index=False)
    document = run("predict", tmp_path / "out" / "model.skops", tmp_path / "new.csv", "--json").document
    assert [label is None for label in document["labels"]] == [True] * 5 + [False]


def test_ids_and_labels_survive_to_every_output(run, iris_frame, tmp_path):
    frame = iris_frame.iloc[::3]
    ids = ["00001", "1.20", "1E5", "NA", "12345678901234567890", "12345678901234567891", *map(str, range(44))]
    classes = frame["species"].map({"setosa": "01", "versicolor": "1", "virginica": "1.0"})
    frame.drop(columns="species").assign(key=ids, k=classes).to_csv(tmp_path / "t.csv", index=False)
    aside = ("--id-column", "key", "--label-column", "k")
    ended = run("fit", tmp_path / "t.csv", "-c", 3, "-o", tmp_path / "out", "--starts", 1, *aside)
    assert as_text(tmp_path / "out" / "memberships.csv")["id"].tolist() == ids
    report = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    for name in ids[:6]:
        assert f'"{name}"' in report
    agreement = json.loads((tmp_path / "out" / "summary.json").read_text(encoding="utf-8"))["agreement"]
    assert agreement["adjusted_rand"] > 0.5  # as numbers the three classes would be one, and this zero
    assert "adjusted Rand index" in ended.out
    run("predict", tmp_path / "out" / "model.skops", tmp_path / "t.csv", *aside[:2], "-o", tmp_path / "new.csv")
    assert as_text(tmp_path / "new.csv")["id"].tolist() == ids


@pytest.fixture
def doubtful(iris_frame, tmp_path):
    """Iris in thousandths, where every mark stands before three digits."""
    frame = iris_frame.drop(columns="species").iloc[::4] + 1
    frame.to_csv(tmp_path / "doubtful.csv", sep=";", decimal=",", float_format="%.3f", index=False)
    return tmp_path / "doubtful.csv"


@pytest.mark.slow
@pytest.mark.parametrize("verb", ["fit", "diagnose", "compare"])
def test_every_verb_asks_and_takes_an_answer(run, doubtful, tmp_path, verb):
    arguments = [verb, doubtful, "-c", 3, *(["-o", tmp_path / "out", *GIVEN] if verb == "fit" else [])]
    assert '--decimal ","' in run(*arguments, code=1).err
    assert not (tmp_path / "out").exists()
    ended = run(*arguments, "--decimal", ",", "--json")
    assert ended.document["n_columns"] == 4
    if verb == "diagnose":
        assert "--decimal ," in json.dumps(ended.document) or not ended.document["advice"]


def test_predict_asks_and_takes_an_answer(run, doubtful, tmp_path):
    run("fit", doubtful, "-c", 3, "-o", tmp_path / "out", "--decimal", ",", *GIVEN)
    expected = as_text(tmp_path / "out" / "memberships.csv")
    model = tmp_path / "out" / "model.skops"
    assert '--decimal ","' in run("predict", model, doubtful, code=1).err
    run("predict", model, doubtful, "--decimal", ",", "-o", tmp_path / "right.csv")
    assert as_text(tmp_path / "right.csv")["label"].tolist() == expected["label"].tolist()


def test_a_matrix_takes_the_marks_too(run, iris_frame, tmp_path):
    X = iris_frame.iloc[::5, :4].to_numpy()
    R = pd.DataFrame(np.where(cdist(X, X) > 0, 1 + cdist(X, X), 0))
    R.to_csv(tmp_path / "R.csv", sep=";", decimal=",", float_format="%.3f", index=False, header=False)
    (tmp_path / "R.csv").write_text((tmp_path / "R.csv").read_text().replace("0,000", "0"))
    arguments = ("fit", tmp_path / "R.csv", "-c", 3, "-o", tmp_path / "out", "--dissimilarity")
    assert '--thousands ","' in run(*arguments, code=1).err
    assert run(*arguments, "--decimal", ",", "--json").document["n_rows"] == 30


@pytest.mark.parametrize(
    "marks", [("--decimal", ";"), ("--thousands", "x"), ("--decimal", ",", "--thousands", ","), ("--decimal", "")]
)
def test_marks_that_are_none_are_wrong_usage(run, iris_csv, marks):
    assert marks[0] in run("diagnose", iris_csv, "-c", 3, *marks, code=2).err
