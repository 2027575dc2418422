"""Comparing two sets of results: pairs of data sets, common configurations, paired standard errors."""

import math

import numpy as np
import pandas as pd
import pytest
from fake_study import install
from typer.testing import CliRunner

from kfrc_app.cli import study as verbs
from kfrc_app.study.differences import compare_choices, compare_results, load_results
from kfrc_app.study.store import StudyStore

pytestmark = pytest.mark.slow


def results(scores, **changes):
    """One data set per score, of one cell, each with two configurations of which the second is worse."""
    common = {
        "method": "KFRC (power)",
        "fuzzifier": "power",
        "snr": math.inf,
        "n_clusters": 4,
        "n_signal": 10,
        "average_overlap": 0.01,
        "spherical": True,
        "balanced": False,
        "kernel": "sum",
        "max_anisotropy": 5.0,
    }
    rows = [
        common
        | {"seed": seed, "criterion": criterion, "fari_fuzzy": score - penalty}
        | {"ari": 0.1 + penalty, "ami": 0.0, "fari_crisp": 0.0, "uniformity": 0.0}
        | changes
        for seed, score in enumerate(scores)
        for criterion, penalty in (("sum", 0.0), ("gap", 0.1))
    ]
    return pd.DataFrame(rows)


def test_differences_are_those_of_the_best_configurations_paired_by_data_set():
    ours, theirs = np.array([0.5, 0.7, 0.9]), np.array([0.4, 0.65, 0.7])
    (row,) = compare_results(results(ours), results(theirs)).to_dict("records")
    assert row["count"] == 3
    assert row["mean"] == pytest.approx(0.7)
    assert row["difference"] == pytest.approx((ours - theirs).mean())
    assert row["standard_error"] == pytest.approx((ours - theirs).std(ddof=1) / math.sqrt(3))
    assert row["seed_deviation"] == pytest.approx(theirs.std(ddof=1))
    assert row["verdict"] == "higher"
    (other_way,) = compare_results(results(theirs), results(ours)).to_dict("records")
    assert other_way["verdict"] == "lower"


def test_another_measure_is_that_of_the_configuration_with_the_best_score():
    ours, theirs = results([0.5, 0.7]), results([0.4, 0.6])
    (row,) = compare_results(ours, theirs, measure="ari").to_dict("records")
    assert row["mean"] == row["reference"] == pytest.approx(0.1)


def test_a_data_set_on_which_settings_tie_counts_a_share_for_each_of_them():
    ours = pd.concat([results([0.5, 0.6], criterion=name) for name in ("sum", "log_sum")])
    theirs = pd.concat([results([0.5, 0.6], criterion="sum"), results([0.4, 0.7], criterion="log_sum")])
    table = compare_choices(ours, theirs).set_index(["setting", "value"])
    for name in ("sum", "log_sum"):
        assert table.loc[("criterion", name), ["share", "alone", "reference"]].tolist() == [0.5, 0.0, 0.5]
    assert table.loc["criterion", "reference_alone"].sum() == 1.0
    assert table.loc[("max_anisotropy", "5.0"), ["share", "alone"]].tolist() == [1.0, 1.0]


def test_choices_count_only_designs_and_configurations_of_both():
    ours = pd.concat([results([0.5]), results([0.9], criterion="gap"), results([0.9], snr=1.0)])
    table = compare_choices(ours, results([0.5, 0.5], criterion="sum")).set_index("setting")
    assert table.loc["criterion", "value"] == "sum"
    assert table["snr"].unique().tolist() == [math.inf]


def test_only_common_data_sets_and_configurations_count():
    ours = results([0.5, 0.5])
    theirs = pd.concat([results([0.5, 0.5, 0.5]), results([0.9, 0.9], kernel="product"), results([0.9], snr=1.0)])
    for one, other in ((ours, theirs), (theirs, ours)):
        (row,) = compare_results(one, other).to_dict("records")
        assert (row["count"], row["difference"], row["verdict"]) == (2, 0.0, "")


def test_designs_are_paired_by_their_means_over_the_seeds_of_either_side():
    one, other = results([0.5, 0.7]), results([0.3, 0.3, 0.6])
    ours = pd.concat([one, results([0.9], snr=1.0)])
    theirs = pd.concat([other.assign(seed=other["seed"] + 10), results([0.2], snr=1.0)])
    table = compare_results(ours, theirs, ["fuzzifier"], over_seeds=True)
    (row,) = table.to_dict("records")
    assert row["count"] == 2
    assert row["mean"] == pytest.approx((0.6 + 0.9) / 2)
    assert row["reference"] == pytest.approx((0.4 + 0.2) / 2)
    assert row["standard_error"] == pytest.approx(np.std([0.2, 0.7], ddof=1) / math.sqrt(2))


def test_a_data_set_without_a_feasible_configuration_has_no_pair():
    (row,) = compare_results(results([0.5, np.nan, 0.5]), results([0.4, 0.4, 0.4])).to_dict("records")
    assert row["count"] == 2


def test_the_authors_results_are_read_with_their_names(tmp_path):
    authors = pd.DataFrame(
        {
            "fuzzifier": ["crt", "quad"],
            "criterion": ["logsum", "gap"],
            "kernel": ["sum", "product"],
            "seed": [1.0, 1.0],
            "K": [4.0, 4.0],
            "p_signal": [10.0, 8.0],
            "BarOmega": [0.01, 0.01],
            "sph": [True, False],
            "PiLow": [1.0, 0.05],
            "sn_ratio": [math.inf, 4.0],
            "alpha": [5.0, math.inf],
            "FARI_fuzzy": [0.5, math.nan],
            "FARI_crisp": [0.4, math.nan],
            "ARI": [0.3, math.nan],
            "AMI": [0.2, math.nan],
            "PC": [0.625, math.nan],
        }
    )
    authors.to_parquet(tmp_path / "authors.parquet")
    first, second = load_results(tmp_path / "authors.parquet").to_dict("records")
    assert (first["fuzzifier"], first["criterion"], first["balanced"]) == ("complementary_root", "log_sum", True)
    assert (first["ari"], first["ami"], first["fari_crisp"], first["uniformity"]) == (0.3, 0.2, 0.4, 0.5)
    assert (second["fuzzifier"], second["n_clusters"], second["balanced"]) == ("quadratic", 4, False)


def test_the_command_prints_the_cells_and_counts_them(tmp_path, monkeypatch):
    install(monkeypatch.setattr)
    runner = CliRunner()
    for name, scores in (("ours", [0.5, 0.7, 0.9]), ("theirs", [0.4, 0.65, 0.7])):
        monkeypatch.setattr("kfrc_app.study.cell.run_task", lambda task, scores=scores: _records(task, scores))
        assert runner.invoke(verbs.app, ["run", "synthetic", "--out", str(tmp_path / name)]).exit_code == 0
    folders = [str(tmp_path / "ours"), str(tmp_path / "theirs")]
    done = runner.invoke(verbs.app, ["compare", *folders])
    assert done.exit_code == 0, done.stderr
    assert "1 cells: 0 lower and 1 higher" in done.stdout
    assert "0.117" in done.stdout
    choices = runner.invoke(verbs.app, ["choices", *folders])
    assert "| inf | 100% (100%) |" in choices.stdout
    assert "several values tie for 0% of the data sets, and for 0% of the reference" in choices.stdout
    measure = runner.invoke(verbs.app, ["compare", *folders, "--measure", "size"])
    assert measure.exit_code == 2
    assert "unknown measure 'size': choose one of ari" in measure.stderr
    by_seed = runner.invoke(verbs.app, ["compare", *folders, "--by", "seed,spherical"])
    assert "3 cells" in by_seed.stdout
    over_seeds = runner.invoke(verbs.app, ["compare", *folders, "--over-seeds", "--by", "fuzzifier"])
    assert "1 cells: 0 lower and 0 higher" in over_seeds.stdout
    both = runner.invoke(verbs.app, ["compare", *folders, "--over-seeds", "--by", "seed"])
    assert both.exit_code == 2
    assert "--by seed has no meaning with --over-seeds" in both.stderr
    unknown = runner.invoke(verbs.app, ["compare", *folders, "--by", "color"])
    assert unknown.exit_code == 2
    assert "unknown factor 'color': choose from fuzzifier" in unknown.stderr
    monkeypatch.setattr(StudyStore, "load", lambda store: results([0.5], seed=99 if "ours" in str(store.folder) else 1))
    nothing = runner.invoke(verbs.app, ["compare", *folders])
    assert nothing.exit_code == 1
    assert "no data set" in nothing.stderr


def _records(task, scores):
    """The fake study has 24 tasks; the first three are data sets of this one."""
    if task.index >= len(scores):
        return [{"method": "KMeans", "seed": task.index, "feasible": True}]
    return results([scores[task.index]]).assign(seed=task.index, task=task.key, feasible=True).to_dict("records")
