from __future__ import annotations

import pytest

from kfrc import FCM
from kfrc_app.facts import comparison
from kfrc_app.facts.comparison import methods


def test_every_method_appears_once(run, iris_csv):
    ended = run("compare", iris_csv, "-c", 3)
    rows = [line.split()[0] for line in ended.out.splitlines() if line.startswith("  ") and line.split()]
    for method in methods():
        assert rows.count(method.__name__) == 1
    assert "ARI" not in ended.out


def test_labels_are_used_to_judge(run, iris_csv):
    document = run("compare", iris_csv, "-c", 3, "--label-column", "species", "--json").document
    found = {result["method"]: result for result in document["methods"]}
    assert found["KFRC"]["adjusted_rand"] > 0.8
    assert all(result["status"] == "converged" for result in found.values())


def test_without_labels_there_is_no_agreement(run, iris_csv):
    document = run("compare", iris_csv, "-c", 3, "--json").document
    assert all(result["adjusted_rand"] is None for result in document["methods"])


@pytest.mark.parametrize("blank", ["", "  "])
def test_labels_that_are_all_blank_are_said_to_be_unknown(run, iris_frame, tmp_path, blank, monkeypatch):
    monkeypatch.setattr(comparison, "methods", lambda: (FCM,))
    iris_frame.drop(columns="species").assign(k=blank).to_csv(tmp_path / "iris.csv", index=False)
    note = "no label in 'k' is known: nothing is compared"
    ended = run("compare", tmp_path / "iris.csv", "-c", 3, "--label-column", "k")
    assert note in ended.err
    assert "ARI" not in ended.out
    document = run("compare", tmp_path / "iris.csv", "-c", 3, "--label-column", "k", "--json").document
    assert document["notes"] == [note]
    assert document["n_known_labels"] == 0


def test_a_collapsed_method_is_shown_as_such(run, collapsing_csv):
    ended = run("compare", collapsing_csv, "-c", 4)
    line = next(line for line in ended.out.splitlines() if line.split()[:1] == ["FRC"])
    assert "collapsed" in line
    assert "–" in line
    assert "FRC: the fit collapsed" in ended.err


def test_as_a_program(run_program, iris_csv):
    assert run_program("compare", iris_csv, "-c", 3, "--json").document["n_rows"] == 150
    assert run_program("compare", iris_csv, "-c", "x", code=2).out == ""
    assert run_program("compare", "nothing.csv", "-c", 3, code=1).out == ""
