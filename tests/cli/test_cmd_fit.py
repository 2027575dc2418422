from __future__ import annotations

import html
import io
import json

import numpy as np
import pandas as pd
import pytest
from scipy.spatial.distance import cdist
from sklearn.metrics import adjusted_rand_score

from kfrc import KFRC
from kfrc.fuzzifiers import Fuzzifier
from kfrc_app.facts import comparison
from kfrc_app.runs.results import ALL_FILES, CLUSTERED, MEMBERSHIPS, MODEL, SUMMARY, WORKBOOK

LIGHT = ("--no-report", "--starts", "1")
GIVEN = (*LIGHT, "-m", "1.5", "--level", "1", "--max-anisotropy", "5")  # nothing is chosen, which takes longest


def test_all_results_are_written_and_agree_with_the_library(run, iris_csv, iris_frame, tmp_path):
    out = tmp_path / "out"
    ended = run("fit", iris_csv, "-c", 3, "-o", out, "--label-column", "species")
    assert sorted(path.name for path in out.iterdir()) == sorted(ALL_FILES)
    assert "Can it collapse to 1/3 everywhere?" in ended.out
    assert "adjusted Rand index" in ended.out
    X = iris_frame.drop(columns="species")
    expected = KFRC(3, random_state=0).fit(X)
    found = pd.read_csv(out / MEMBERSHIPS)
    assert list(found.columns) == ["id", "label", "cluster_0", "cluster_1", "cluster_2", "left_out"]
    np.testing.assert_allclose(found.filter(like="cluster_"), expected.memberships_, atol=1e-9)
    np.testing.assert_array_equal(found["label"], expected.labels_)
    assert found["id"].tolist() == list(range(1, 151))
    summary = json.loads((out / SUMMARY).read_text(encoding="utf-8"))
    assert summary["status"] == "converged"
    assert summary["stability"]["critical_m"] == pytest.approx(expected.critical_m_)
    assert summary["agreement"]["adjusted_rand"] > 0.8
    assert summary["command"] == f"kfrc fit {iris_csv} -c 3 -o {out} --label-column species --refits 0"


@pytest.mark.slow
def test_known_labels_do_not_change_the_result(run, iris_csv, tmp_path):
    run("fit", iris_csv, "-c", 3, "-o", tmp_path / "with", "--label-column", "species", *LIGHT)
    run("fit", iris_csv, "-c", 3, "-o", tmp_path / "without", *LIGHT)
    assert (tmp_path / "with" / MEMBERSHIPS).read_bytes() == (tmp_path / "without" / MEMBERSHIPS).read_bytes()


@pytest.mark.slow
def test_standard_output_holds_one_json_document_and_nothing_else(run, iris_csv, tmp_path):
    ended = run("fit", iris_csv, "-c", 3, "-o", tmp_path / "out", "--json", *LIGHT)
    assert ended.document["n_clusters"] == 3
    assert ended.document["files"] == sorted([MEMBERSHIPS, MODEL, SUMMARY, WORKBOOK, CLUSTERED])
    assert "note: left out 1 column of text: 'species'" in ended.err


@pytest.mark.slow
@pytest.mark.parametrize("form", ["tsv", "parquet", "semicolons", "stdin"])
def test_every_form_of_the_table_gives_the_same_memberships(run, iris_frame, iris_csv, tmp_path, form):
    run("fit", iris_csv, "-c", 3, "-o", tmp_path / "csv", *GIVEN)
    source, stdin = tmp_path / f"iris.{form}", None
    if form == "tsv":
        iris_frame.to_csv(source, sep="\t", index=False)
    elif form == "parquet":
        iris_frame.to_parquet(source)
    elif form == "semicolons":
        iris_frame.to_csv(source, sep=";", decimal=",", index=False)
    else:
        source, stdin = "-", iris_csv.read_text()
    run("fit", source, "-c", 3, "-o", tmp_path / "other", *GIVEN, stdin=stdin)
    assert (tmp_path / "other" / MEMBERSHIPS).read_bytes() == (tmp_path / "csv" / MEMBERSHIPS).read_bytes()


def test_columns_and_ids_are_chosen_by_name(run, iris_frame, tmp_path):
    frame = iris_frame.assign(plant=[f"plant {j}" for j in range(150)])
    frame.to_csv(tmp_path / "plants.csv", index=False)
    chosen = ("--columns", "petal_width,petal_length", "--id-column", "plant")
    ended = run("fit", tmp_path / "plants.csv", "-c", 3, "-o", tmp_path / "out", "--json", *chosen, *GIVEN)
    assert {column["name"] for column in ended.document["columns"]} == {"petal_length", "petal_width"}
    assert pd.read_csv(tmp_path / "out" / MEMBERSHIPS)["id"].iloc[3] == "plant 3"


def test_dropped_columns_are_not_used(run, iris_csv, tmp_path):
    ended = run("fit", iris_csv, "-c", 3, "-o", tmp_path / "out", "--json", "--drop", "sepal_width,species", *GIVEN)
    assert ended.document["n_columns"] == 3
    assert ended.err == ""


@pytest.mark.slow
def test_rows_with_missing_values_are_left_out_or_refused(run, iris_frame, tmp_path):
    frame = iris_frame.drop(columns="species")
    frame.iloc[[4, 70], 1] = np.nan
    frame.to_csv(tmp_path / "gaps.csv", index=False)
    ended = run("fit", tmp_path / "gaps.csv", "-c", 3, "-o", tmp_path / "out", "--missing", "drop", *GIVEN)
    assert "2 of 150 rows have missing values (in 'sepal_width') and were left out" in ended.err
    found = pd.read_csv(tmp_path / "out" / MEMBERSHIPS)
    assert found["id"].tolist() == list(range(1, 151))
    assert found["id"][found["label"].isna()].tolist() == [5, 71]
    refused = run("fit", tmp_path / "gaps.csv", "-c", 3, "-o", tmp_path / "no", "--missing", "error", code=1)
    assert "--missing drop" in refused.err
    assert not (tmp_path / "no").exists()


@pytest.mark.parametrize("names", ["none", "header", "both"])
def test_a_dissimilarity_matrix_may_have_names(run, iris_frame, tmp_path, names):
    X = iris_frame.iloc[::3, :4].to_numpy()
    labels = [f"plant {j}" for j in range(len(X))]
    R = pd.DataFrame(cdist(X, X, "sqeuclidean"), index=labels, columns=labels)
    R.to_csv(tmp_path / "R.csv", header=names != "none", index=names == "both")
    ended = run("fit", tmp_path / "R.csv", "-c", 3, "-o", tmp_path / "out", "--dissimilarity", "--json")
    assert ended.document["method"] == "FRC"
    assert ended.document["status"] == "converged"
    assert ended.document["files"] == sorted(ALL_FILES)
    ids = pd.read_csv(tmp_path / "out" / MEMBERSHIPS)["id"].astype(str)
    assert ids.tolist() == ([str(j + 1) for j in range(len(X))] if names == "none" else labels)


def test_what_was_chosen_is_said_and_recorded(run, iris_csv, iris_frame, tmp_path):
    ended = run("fit", iris_csv, "-c", 3, "-o", tmp_path / "out", "--json", *LIGHT)
    expected = KFRC(3, n_starts=1, random_state=0).fit(iris_frame.drop(columns="species"))
    choice = ended.document["choice"]
    assert choice["n_candidates"] == len(expected.selection_["score"])
    assert choice["candidates"][0]["m"] == ended.document["m"] == expected.fuzzifier_.m
    shown = run("fit", iris_csv, "-c", 3, "-o", tmp_path / "out", "--force", *LIGHT)
    assert "Chosen among" in shown.out


@pytest.mark.slow
def test_refits_are_told_first_and_recorded(run, iris_csv, tmp_path):
    given = ("-m", "default", "--level", "1", "--max-anisotropy", "5")
    out = tmp_path / "out"
    ended = run("fit", iris_csv, "-c", 3, "-o", out, "--refits", 3, *given, *LIGHT)
    found = json.loads((out / SUMMARY).read_text(encoding="utf-8"))["confidence"]
    assert found["n_refits"] == len(found["n_clusters_of_refits"]) == 3
    assert len(found["clusters"]) == 3
    assert found["partition"] > 0.75
    assert found["existence"] <= 0.05
    assert found["n_rows_of_refits"] == 100
    assert all(row["stays"] < 0.75 for row in found["least_stable_rows"])
    assert ended.out.startswith("3 groups in iris.csv\n")
    assert ended.out.split("\n\n")[2].startswith("Can it be trusted?\n")
    assert f"much the same groups came out {found['n_found_again']} times" in " ".join(ended.out.split())


@pytest.mark.slow
def test_dissimilarities_are_refitted_too(run, iris_frame, tmp_path):
    X = iris_frame.iloc[::3, :4].to_numpy()
    pd.DataFrame(cdist(X, X, "sqeuclidean")).to_csv(tmp_path / "R.csv", header=False, index=False)
    matrix = ("fit", tmp_path / "R.csv", "-c", 2, "-o", tmp_path / "out", "--dissimilarity", "--json")
    found = run(*matrix, "--refits", 2).document["confidence"]
    assert (found["n_refits"], found["n_found_again"]) == (2, 2)
    assert found["existence"] <= 0.05
    assert run(*matrix, "--force").document["confidence"] is None


def test_nothing_is_chosen_where_everything_is_given(run, iris_csv, tmp_path):
    given = ("-m", "default", "--level", "1", "--max-anisotropy", "5")
    ended = run("fit", iris_csv, "-c", 3, "-o", tmp_path / "out", "--json", *given, *LIGHT)
    assert ended.document["choice"] is None
    assert (ended.document["m"], ended.document["max_anisotropy"]) == (2.0, 5.0)


def test_the_number_of_clusters_can_be_chosen(run, iris_csv, tmp_path):
    ended = run("fit", iris_csv, "-c", "auto", "--max-clusters", "4", "-o", tmp_path / "out", "--json", *LIGHT)
    tried = ended.document["choice"]["n_clusters"]
    assert [found["n_clusters"] for found in tried] == [1, 2, 3, 4]
    assert ended.document["n_clusters"] in (2, 3, 4)


@pytest.mark.slow
def test_evidence_for_numbers_of_clusters_is_told_once_also_where_nothing_else_is_chosen(run, iris_csv, tmp_path):
    given = ("-m", "default", "--level", "1", "--max-anisotropy", "5", "--max-clusters", "3")
    document = run("fit", iris_csv, "-c", "auto", "-o", tmp_path / "out", "--json", *given, *LIGHT).document
    assert [found["n_clusters"] for found in document["choice"]["n_clusters"]] == [1, 2, 3]
    assert document["choice"]["candidates"] is None
    assert "cluster_count" not in document


@pytest.mark.slow
def test_posterior_memberships_are_the_probabilities(run, iris_csv, iris_frame, tmp_path):
    run("fit", iris_csv, "-c", 3, "-o", tmp_path / "out", "--memberships", "posterior", *LIGHT)
    found = pd.read_csv(tmp_path / "out" / MEMBERSHIPS)
    expected = KFRC(3, n_starts=1, random_state=0).fit(iris_frame.drop(columns="species"))
    np.testing.assert_allclose(found.filter(like="cluster_"), expected.posterior_memberships_, atol=1e-9)


@pytest.mark.slow
def test_a_given_level_is_kept(run, iris_csv, tmp_path):
    ended = run("fit", iris_csv, "-c", 3, "-o", tmp_path / "out", "--json", "--level", "0.5", *LIGHT)
    assert ended.document["level"] == pytest.approx(0.5)
    searched = run("fit", iris_csv, "-c", 3, "-o", tmp_path / "searched", "--json", "--level", "search", *LIGHT)
    assert searched.document["level"] != pytest.approx(1.0)


@pytest.mark.parametrize("name", Fuzzifier.registry)
def test_every_registered_fuzzifier_can_be_chosen(run, iris_csv, tmp_path, name):
    ended = run("fit", iris_csv, "-c", 3, "-o", tmp_path / "out", "--json", "--fuzzifier", name, *LIGHT)
    # The usual one gives way to sizes in the objective where no m comes close to what the judge believes.
    assert ended.document["fuzzifier"] in (name, "entropy with sizes" if name == "complementary_root" else name)


def test_existing_output_is_kept_without_force(run, iris_csv, tmp_path):
    out = tmp_path / "out"
    out.mkdir()
    (out / "mine.txt").write_text("keep")
    ended = run("fit", iris_csv, "-c", 3, "-o", out, *GIVEN, code=1)
    assert "--force" in ended.err
    assert [path.name for path in out.iterdir()] == ["mine.txt"]


@pytest.mark.slow
def test_force_replaces_results_and_leaves_other_files_alone(run, iris_csv, tmp_path):
    out = tmp_path / "out"
    out.mkdir()
    (out / "mine.txt").write_text("keep")
    (out / "report.html").write_text("of an earlier run")
    run("fit", iris_csv, "-c", 3, "-o", out, "--force", *GIVEN)
    assert (out / "mine.txt").read_text() == "keep"
    assert not (out / "report.html").exists()  # it would not belong to the new memberships
    assert (out / MODEL).exists()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("-c", "3", "-m", "much"), "neither a number"),
        (("-c", "auto", "--dissimilarity"), "only"),
        (("-c", "3", "-m", "1.5", "--fuzzifier", "auto"), "--fuzzifier"),
        (("-c", "many"), "whole number"),
        (("-c", "1"), "too few"),
        (("-c", "3", "--kernel", "cubic"), "sum, product"),
        (("-c", "3", "--fuzzifier", "none"), "complementary_root"),
        (("-c", "3", "--criterion", "best"), "log_sum"),
        (("-c", "3", "--optimizer", "best"), "momentum"),
        (("-c", "3", "-m", "0.5"), "outside"),
        (("-c", "3", "--level", "high"), "neither a number"),
        (("-c", "3", "--max-anisotropy", "0.5"), "max-anisotropy"),
        (("-c", "3", "--missing", "guess"), "missing"),
        (("-c", "3", "--dissimilarity", "--label-column", "species"), "no meaning with --dissimilarity"),
        (("-c", "3", "--refits", "-1"), "refits"),
        (("-c", "3", "--unknown"), "unknown"),
        ((), "clusters"),
    ],
)
def test_wrong_usage_ends_with_two(run, iris_csv, tmp_path, arguments, words):
    ended = run("fit", iris_csv, "-o", tmp_path / "out", *arguments, code=2)
    assert words in ended.err
    assert ended.out == ""
    assert not (tmp_path / "out").exists()


@pytest.mark.slow
def test_names_in_the_data_cannot_steer_the_terminal(run, iris_frame, tmp_path):
    frame = iris_frame.rename(columns={"sepal_width": "\x1b[31m[bold]red\x07"})
    frame.to_csv(tmp_path / "hostile.csv", index=False)
    ended = run("fit", tmp_path / "hostile.csv", "-c", 3, "-o", tmp_path / "out", *LIGHT)
    assert "\x1b" not in ended.out + ended.err
    assert "[bold]red" in ended.out


def test_as_a_program(run_program, run, iris_csv, tmp_path):
    ended = run_program("fit", "-", "-c", 3, "-o", tmp_path / "out", "--json", *LIGHT, stdin=iris_csv.read_text())
    assert ended.document["source"] == "standard input"
    assert pd.read_csv(io.BytesIO((tmp_path / "out" / MEMBERSHIPS).read_bytes())).shape == (150, 6)
    assert run("fit", iris_csv, code=2).out == ""


@pytest.mark.slow
def test_blank_labels_give_the_same_agreement_everywhere(run, iris_frame, tmp_path, monkeypatch):
    frame = iris_frame.copy()
    frame.loc[::3, "species"] = ""
    frame.to_csv(tmp_path / "iris.csv", index=False)
    labeled = ("--label-column", "species")
    shown = run("fit", tmp_path / "iris.csv", "-c", 3, "-o", tmp_path / "out", *labeled)
    summary = json.loads((tmp_path / "out" / SUMMARY).read_text(encoding="utf-8"))["agreement"]
    found = pd.read_csv(tmp_path / "out" / MEMBERSHIPS)["label"].to_numpy()
    known = (frame["species"] != "").to_numpy()
    expected = adjusted_rand_score(frame["species"][known], found[known])
    assert summary["adjusted_rand"] == pytest.approx(expected, abs=1e-12)
    assert (summary["n_known"], summary["n_rows"]) == (100, 150)
    assert f"adjusted Rand index          {expected:.3f}" in shown.out
    report = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert f"adjusted Rand index\n<strong>{expected:.3g}</strong>" in report
    for text in (shown.out, report):
        assert "labels known for 100 of 150 rows" in text
    monkeypatch.setattr(comparison, "methods", lambda: (KFRC,))
    compared = run("compare", tmp_path / "iris.csv", "-c", 3, *labeled, "--json").document
    assert compared["methods"][0]["adjusted_rand"] == pytest.approx(expected, abs=1e-12)
    assert compared["n_known_labels"] == 100
    lines = run("compare", tmp_path / "iris.csv", "-c", 3, *labeled).out.split()
    assert "(labels known for 100 of 150 rows)" in " ".join(lines)


@pytest.mark.slow
@pytest.mark.parametrize("blank", ["", "  "])
def test_labels_that_are_all_blank_are_said_to_be_unknown(run, iris_frame, tmp_path, blank):
    iris_frame.drop(columns="species").assign(k=blank).to_csv(tmp_path / "iris.csv", index=False)
    note = "no label in 'k' is known: nothing is compared"
    ended = run("fit", tmp_path / "iris.csv", "-c", 3, "-o", tmp_path / "out", "--label-column", "k", "--starts", 1)
    assert note in ended.err
    assert json.loads((tmp_path / "out" / SUMMARY).read_text(encoding="utf-8"))["notes"] == [note]
    assert note in html.unescape((tmp_path / "out" / "report.html").read_text(encoding="utf-8"))


@pytest.mark.slow
def test_terminal_summary_and_report_say_that_the_largest_number_tried_was_taken(run, tmp_path):
    X = np.repeat(12.0 * np.eye(3), 40, axis=0) + np.random.default_rng(0).standard_normal((120, 3))
    source, out = tmp_path / "three.csv", tmp_path / "out"
    pd.DataFrame(X, columns=list("abc")).to_csv(source, index=False)
    ended = run("fit", source, "-c", "auto", "--max-clusters", "2", "-o", out, "--starts", "1")
    message = "2 clusters were found, the largest number tried"
    assert message in ended.err
    assert any(message in note for note in json.loads((out / SUMMARY).read_text(encoding="utf-8"))["notes"])
    assert message in (out / "report.html").read_text(encoding="utf-8")


def test_distances_have_no_automatic_fuzzifier(run, tmp_path):
    path = tmp_path / "R.csv"
    path.write_text("0,1,2\n1,0,3\n2,3,0\n")
    ended = run("fit", path, "--dissimilarity", "-c", 2, "--fuzzifier", "auto", "-o", tmp_path / "out", code=2)
    assert "--fuzzifier auto needs a table" in ended.err
    assert not (tmp_path / "out").exists()
