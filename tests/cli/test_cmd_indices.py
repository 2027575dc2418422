from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.spatial.distance import cdist
from sklearn.datasets import load_iris


@pytest.fixture(scope="module")
def blobs():
    rng = np.random.default_rng(3)
    X = np.repeat([[0.0, 0.0], [9.0, 0.0], [0.0, 9.0]], 12, axis=0) + rng.normal(size=(36, 2))
    return pd.DataFrame(X, columns=["length", "width"])


@pytest.fixture
def blobs_csv(blobs, tmp_path):
    path = tmp_path / "blobs.csv"
    blobs.to_csv(path, index=False)
    return path


def test_every_number_has_a_row_and_a_sentence_says_which_to_take(run, blobs_csv):
    ended = run("indices", blobs_csv, "-c", "2-4", "--refits", "1")
    assert "Take 3 clusters: the evidence speaks for them" in ended.out
    rows = [line.split() for line in ended.out.splitlines() if line.split()[:1] in (["2"], ["3"], ["4"])]
    assert [row[0] for row in rows] == ["2", "3", "4"]
    assert rows[1][1].startswith("*")
    assert rows[1][-1].startswith("*")


@pytest.mark.slow
def test_without_refits_there_is_no_stability(run, blobs_csv):
    ended = run("indices", blobs_csv, "-c", "2,3", "--refits", "0")
    assert "stability (high" not in ended.out
    document = run("indices", blobs_csv, "-c", "2,3", "--refits", "0", "--json").document
    assert [row["n_clusters"] for row in document["numbers"]] == [2, 3]
    assert all(row["stability"] is None for row in document["numbers"])
    assert document["best"]["XB"] == document["automatic"] == 3


@pytest.mark.slow
def test_dissimilarities_are_tabulated(run, tmp_path):
    X = load_iris().data[::2]
    path = tmp_path / "matrix.csv"
    pd.DataFrame(cdist(X, X, "sqeuclidean")).to_csv(path, index=False, header=False)
    document = run("indices", path, "-c", "2-3", "--refits", "0", "--dissimilarity", "--json").document
    assert document["automatic"] == 2
    assert document["n_rows"] == 75
    assert "no meaning with --dissimilarity" in run("indices", path, "--dissimilarity", "--drop", "a", code=2).err


@pytest.mark.slow
def test_noise_is_not_to_be_cut(run, tmp_path):
    path = tmp_path / "noise.csv"
    pd.DataFrame(np.random.default_rng(1).normal(size=(60, 3)), columns=list("abc")).to_csv(path, index=False)
    ended = run("indices", path, "-c", "2", "--refits", "0")
    assert "Do not cut this table" in ended.out
    assert "Take" not in ended.out


@pytest.mark.parametrize("typed", ["1-3", "x", "2-", "2-1000", ""])
def test_what_is_no_range_is_wrong_usage(run, blobs_csv, typed):
    run("indices", blobs_csv, "-c", typed, code=2)


def test_more_clusters_than_rows_are_a_problem_of_the_data(run, blobs_csv):
    assert "too few" in run("indices", blobs_csv, "-c", "2-36", code=1).err
