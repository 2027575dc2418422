from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.spatial.distance import cdist

from kfrc import FCM
from kfrc_app.facts import comparison
from kfrc_app.facts.comparison import methods


@pytest.fixture(scope="module")
def of_iris(run, iris_frame, tmp_path_factory):
    """What is printed of a comparison, and the document of another one of the same table."""
    path = tmp_path_factory.mktemp("iris") / "iris.csv"
    iris_frame.to_csv(path, index=False)
    return run("compare", path, "-c", 3).out, run("compare", path, "-c", 3, "--json").document


def test_every_method_appears_once(of_iris):
    printed, _ = of_iris
    rows = [line.replace(",", "").split() for line in table_of(printed)]
    for method in [*[method.__name__ for method in methods()], "KMeans", "GaussianMixture"]:
        assert sum(method in row for row in rows) == 1, method
    assert "ARI" not in printed


def table_of(text):
    """The lines between the header and the legend."""
    lines = text.splitlines()
    first = next(k for k, line in enumerate(lines) if line.split()[:1] == ["method"])
    return lines[first + 1 : next(k for k, line in enumerate(lines) if "in one row" in line or "U: 0" in line)]


def test_methods_that_coincide_stand_in_one_row(of_iris):
    printed, document = of_iris
    (row,) = [line for line in table_of(printed) if "FCM, FRC" in line]
    assert row.split()[:4] == ["FCM,", "FRC,", "NERFCM,", "RFCM"]
    assert ["FCM", "FRC", "NERFCM", "RFCM"] in document["coinciding"]
    assert len(document["methods"]) == len(methods()) + 2
    assert 1 <= len(document["sentences"]) <= 3


@pytest.mark.slow
def test_noise_is_not_praised(run, tmp_path):
    path = tmp_path / "noise.csv"
    pd.DataFrame(np.random.default_rng(0).normal(size=(60, 4)), columns=list("abcd")).to_csv(path, index=False)
    document = run("compare", path, "-c", 3, "--json").document
    assert document["existence"] > 0.05
    assert "no sign of more than one group" in document["sentences"][0]
    assert not any("Look at" in sentence for sentence in document["sentences"])


@pytest.mark.slow
def test_dissimilarities_are_compared_by_the_methods_that_take_them(run, iris_frame, tmp_path):
    X = iris_frame.drop(columns="species").to_numpy()[::3]
    path = tmp_path / "matrix.csv"
    pd.DataFrame(cdist(X, X, "sqeuclidean")).to_csv(path, index=False, header=False)
    ended = run("compare", path, "-c", 2, "--dissimilarity")
    assert "FRC" in table_of(ended.out)[0]
    assert "not possible here: KFRC, FCM," in ended.out
    document = run("compare", path, "-c", 2, "--dissimilarity", "--json").document
    found = {result["method"]: result["status"] for result in document["methods"]}
    assert found["FRC"] == found["NERFCM"] == "converged"
    assert found["KFRC"] == found["KMeans (scikit-learn)"] == "not possible"
    assert (
        "no meaning with --dissimilarity" in run("compare", path, "-c", 2, "--dissimilarity", "--drop", "a", code=2).err
    )


@pytest.mark.slow
def test_labels_are_used_to_judge(run, iris_csv):
    document = run("compare", iris_csv, "-c", 3, "--label-column", "species", "--json").document
    found = {result["method"]: result for result in document["methods"]}
    assert found["KFRC"]["adjusted_rand"] > 0.8
    assert all(result["status"] in ("converged", "done") for result in found.values())


def test_without_labels_there_is_no_agreement(of_iris):
    _, document = of_iris
    assert all(result["adjusted_rand"] is None for result in document["methods"])


@pytest.mark.slow
@pytest.mark.parametrize("blank", ["", "  "])
def test_labels_that_are_all_blank_are_said_to_be_unknown(run, iris_frame, tmp_path, blank, monkeypatch):
    monkeypatch.setattr(comparison, "methods", lambda: (FCM,))
    iris_frame[::5].drop(columns="species").assign(k=blank).to_csv(tmp_path / "iris.csv", index=False)
    note = "no label in 'k' is known: nothing is compared"
    ended = run("compare", tmp_path / "iris.csv", "-c", 3, "--label-column", "k")
    assert note in ended.err
    assert "ARI" not in ended.out
    document = run("compare", tmp_path / "iris.csv", "-c", 3, "--label-column", "k", "--json").document
    assert document["notes"] == [note]
    assert document["n_known_labels"] == 0


@pytest.mark.slow
def test_a_collapsed_method_is_shown_as_such(run, collapsing_csv):
    ended = run("compare", collapsing_csv, "-c", 4)
    line = next(line for line in table_of(ended.out) if "FRC" in line.replace("KFRC", ""))
    assert "collapsed" in line
    assert "–" in line
    assert "RFCM found nothing" in " ".join(ended.out.split())
    assert "FRC: the fit collapsed" in ended.err


def test_as_a_program(run_program, run, iris_csv):
    assert run_program("compare", iris_csv, "-c", 3, "--json").document["n_rows"] == 150
    assert run("compare", iris_csv, "-c", "x", code=2).out == ""
    assert run("compare", "nothing.csv", "-c", 3, code=1).out == ""


def test_as_many_clusters_as_rows_are_too_many(run, tmp_path):
    path = tmp_path / "few.csv"
    path.write_text("x,y\n1,2\n4,3\n9,7\n2.5,8\n")
    assert "4 rows are too few for 4 clusters" in run("compare", path, "-c", 4, code=1).err
