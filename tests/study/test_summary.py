"""The summary of a study: small, and enough for the same tables and figure."""

from __future__ import annotations

import itertools
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from pandas.testing import assert_frame_equal
from typer.testing import CliRunner

from kfrc_app.cli import study as verbs
from kfrc_app.figures.oracle_choices import draw, draw_summary
from kfrc_app.study.design import StudyGrid, StudyTask
from kfrc_app.study.picks import SYNTHETIC_METRICS
from kfrc_app.study.store import StudyStore
from kfrc_app.study.summary import CHOSEN_WITH_LABELS, FIXED_SETTING, Summary, is_summary
from kfrc_app.study.tables import build_tables, cell_by_cell, compact, over_cells, tables_of_summary, to_markdown

pytestmark = pytest.mark.slow

SEEDS = (1, 2, 3)
DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture(scope="module")
def records():
    """Two data sets per seed, two configurations of KFRC, one other method."""
    rng = np.random.default_rng(0)
    fuzzifiers = {"KFRC (complementary root)": "complementary_root", "KFRC (power)": "power", "KMeans": None}

    def row(seed, dataset, method, anisotropy):
        is_kfrc = fuzzifiers[method] is not None
        scores = dict(zip(("ari", "ami", "fari_crisp", "fari_fuzzy", "uniformity"), rng.random(5), strict=True))
        return {
            "task": f"synthetic-{dataset:03d}-seed{seed:02d}",
            "seed": seed,
            "n_clusters": 2,
            "n_signal": 5,
            "snr": 1.0,
            "method": method,
            "feasible": True,
            "fuzzifier": fuzzifiers[method],
            "kernel": "sum" if is_kfrc else None,
            "criterion": "sum" if is_kfrc else None,
            "max_anisotropy": anisotropy if is_kfrc else np.nan,
            "w_eff": rng.uniform(1, 10) if is_kfrc else np.nan,
            **scores,
        }

    combinations = itertools.product(SEEDS, (0, 1), fuzzifiers, (5.0, np.inf))
    return pd.DataFrame([row(*which) for which in combinations if which[2] != "KMeans" or which[3] == 5.0])


def test_a_cell_has_the_mean_over_seeds_and_its_standard_error(records):
    table = build_tables(records, "synthetic")["paper"]
    row = table[(table["method"] == "KMeans") & (table["metric"] == "ari")].iloc[0]
    of_seeds = records[records["method"] == "KMeans"].groupby("seed")["ari"].mean()
    assert row["mean"] == pytest.approx(of_seeds.mean(), abs=1e-5)
    assert row["standard_error"] == pytest.approx(of_seeds.std() / np.sqrt(3), abs=1e-5)
    assert (row["seeds"], row["count"]) == (3, 6)
    kfrc = table[(table["method"] == "KFRC (power)") & (table["metric"] == "fari_fuzzy")].iloc[0]
    best = records[records["method"] == "KFRC (power)"].groupby(["seed", "task"])["fari_fuzzy"].max()
    assert kfrc["mean"] == pytest.approx(best.groupby("seed").mean().mean(), abs=1e-5)


def test_a_short_table_has_one_row_per_method_and_ratio_and_shows_the_published_value(records):
    table = build_tables(records, "synthetic")["paper"]
    short = compact(table, "ari")
    assert list(short.columns) == ["method", "snr", "c = 2"]
    assert len(short) == table["method"].nunique()
    long = table[table["metric"] == "ari"].set_index("method")
    for row in short.itertuples(index=False):
        mean, error, published = long.loc[row.method, ["mean", "standard_error", "published"]]
        shown = f"{mean:.3f} ± {error:.3f}" + ("" if np.isnan(published) else f" ({published:.3f})")
        assert row[2] == (f"**{shown}**" if abs(mean - published) > 0.02 else shown)


def test_cells_of_the_real_study_show_what_differs_and_what_rounding_decides():
    def record(method, ari, undecided):
        scores = {"ari": ari, "ami": 0.872, "fari_crisp": 0.676, "uniformity": 0.232, "undecided": undecided}
        return {"task": "real-wine-seed01", "dataset": "wine", "method": method, "feasible": True, **scores}

    records = pd.DataFrame([record("KFRC (quadratic)", 0.747, 0.25), record("vFCM", 0.897, 0.0)])
    records[["fuzzifier", "kernel", "criterion", "max_anisotropy"]] = None
    table = cell_by_cell(build_tables(records, "real")["paper"]).set_index("method")
    assert table.loc["KFRC", ["ari", "ami", "undecided"]].tolist() == [
        "0.747 (0.897) **−0.150**",
        "0.872 (0.872) +0.000",
        "25%",
    ]
    assert table.loc["vFCM", "ari"] == "0.897 (0.897) +0.000"


def test_means_over_cells_count_what_differs_from_the_published_values():
    def cell(method, n_clusters, mean, error, published):
        values = {"mean": mean, "standard_error": error, "published": published, "difference": mean - published}
        return {"method": method, "snr": 1.0, "n_clusters": n_clusters, "metric": "ari", **values}

    table = pd.DataFrame(
        [
            cell("A", 2, 0.5, 0.04, 0.4),
            cell("A", 4, 0.5, 0.06, 0.4),
            cell("A", 6, 0.5, 0.04, 0.6),
            cell("B", 2, 0.9, 0.1, np.nan),
            cell("B", 4, 0.4, 0.1, np.nan),
        ]
    )
    rows = over_cells(pd.concat([table, table.assign(metric="ami", mean=0.0)]), "ari").set_index("method")
    assert list(rows.index) == ["B", "A"]
    assert rows.loc["A", ["cells", "higher", "lower", "best"]].tolist() == [3, 1, 1, 2]
    assert rows.loc["A", "mean"] == pytest.approx(0.5)
    assert rows.loc["A", "published"] == pytest.approx(1.4 / 3)
    assert rows.loc["B", ["cells", "higher", "lower", "best"]].tolist() == [2, 0, 0, 1]
    assert np.isnan(rows.loc["B", "published"])


def test_a_summary_that_was_written_and_read_gives_the_same_tables_and_figure(records, tmp_path):
    summary = Summary.of(records, {"version": "x"})
    summary.write(tmp_path / "small")
    assert is_summary(tmp_path / "small")
    again = Summary.read(tmp_path / "small")
    assert again.about == {"version": "x"}
    for name, table in tables_of_summary(again).items():
        assert_frame_equal(table, build_tables(records, "synthetic")[name])
    heights = [
        [bar.get_height() for axes in figure.axes[:2] for bar in axes.patches]
        for figure in (draw(records), draw_summary(again))
    ]
    assert heights[0] == heights[1]
    assert max(heights[0]) > 0


def test_the_best_setting_does_not_depend_on_the_order_of_the_grid(records):
    """Where several values tie, each of them has its share of the data set."""
    kfrc = records[records["fuzzifier"].notna()]
    tied = pd.concat([kfrc.assign(criterion=name) for name in ("sum", "log_sum", "gap")])
    others = records[records["fuzzifier"].isna()]
    for order in (tied, tied.iloc[::-1]):
        choices = Summary.of(pd.concat([order, others]), {}).choices.set_index("setting").loc["criterion"]
        assert choices["count"].to_numpy() == pytest.approx([2.0, 2.0, 2.0], abs=1e-4)
        assert choices["alone"].tolist() == [0, 0, 0]
    best = kfrc.loc[kfrc.groupby("task")["fari_fuzzy"].idxmax(), "max_anisotropy"].value_counts()
    anisotropies = Summary.of(records, {}).choices.set_index(["setting", "value"])["count"]["max_anisotropy"]
    assert anisotropies.to_dict() == {str(value): count for value, count in best.items()}


def test_boxes_of_the_figure_are_quantiles_over_configurations(records):
    boxes = [box.get_path().vertices[:, 1] for box in draw(records).axes[2].patches]
    drawn = [heights for heights in boxes if np.isfinite(heights).all()]
    kfrc = records[records["fuzzifier"].notna()]
    for heights, (_, values) in zip(drawn, kfrc.groupby("max_anisotropy")["w_eff"], strict=True):
        assert (heights.min(), heights.max()) == pytest.approx(values.quantile([0.25, 0.75]).tolist(), abs=1e-4)


def test_what_is_chosen_with_labels_is_never_below_the_fixed_setting(records):
    scores = Summary.of(records, {}).scores.set_index(["seed", "method"])["fari_fuzzy"]
    for seed in SEEDS:
        assert scores[seed, CHOSEN_WITH_LABELS] >= scores[seed, FIXED_SETTING]


def test_the_verbs_take_a_summary(records, tmp_path):
    Summary.of(records, {"version": "x"}).write(tmp_path / "small")
    result = CliRunner().invoke(verbs.app, ["tables", str(tmp_path / "small")])
    assert result.exit_code == 0
    assert "| KMeans | 1.000 | 2 |" in result.stdout
    assert CliRunner().invoke(verbs.app, ["figures", str(tmp_path / "small")]).exit_code == 0
    assert (tmp_path / "small" / "figures" / "figure_2.png").exists()
    assert json.loads((tmp_path / "small" / "about.json").read_text())["version"] == "x"


@pytest.mark.parametrize("measure", SYNTHETIC_METRICS)
def test_the_pages_on_reproduction_print_what_the_stored_seeds_give(measure):
    made = tables_of_summary(Summary.read(DOCS / "data" / "synthetic_study"))
    cells = to_markdown(compact(made["paper"], measure))
    assert cells in (DOCS / "reproduction-cells.md").read_text(encoding="utf-8") + "\n"
    if measure == "fari_fuzzy":
        kfrc = made["without_labels"][made["without_labels"]["method"].str.startswith("KFRC")]
        over = to_markdown(over_cells(pd.concat([made["paper"], kfrc]), measure))
        assert over in (DOCS / "reproduction.md").read_text(encoding="utf-8")


def test_a_summary_without_choices_has_tables_and_no_figure(records, tmp_path):
    Summary({"version": "x"}, Summary.of(records, {}).scores, choices=None, effective_features=None).write(tmp_path)
    about = json.loads((tmp_path / "about.json").read_text())
    (tmp_path / "about.json").write_text(json.dumps({"version": about["version"]}))
    assert CliRunner().invoke(verbs.app, ["tables", str(tmp_path)]).exit_code == 0
    refused = CliRunner().invoke(verbs.app, ["figures", str(tmp_path)])
    assert refused.exit_code == 1
    assert "no counts of best settings" in refused.stderr


@pytest.mark.parametrize("text", ["x", "3-1", "-2", "1-2-3"])
def test_seeds_that_are_none_are_refused(text, tmp_path):
    result = CliRunner().invoke(verbs.app, ["run", "synthetic", "--out", str(tmp_path), "--seeds", text])
    assert result.exit_code == 2
    assert "--seeds must be" in result.stderr


def test_a_summary_has_complete_seeds_only(records, tmp_path):
    tasks = [
        StudyTask("synthetic", f"{dataset:03d}", seed, grid=StudyGrid(n_starts=1))
        for seed in SEEDS
        for dataset in (0, 1)
    ]
    store = StudyStore.create(tmp_path / "run", tasks, settings={"study": "synthetic", "data": None})
    for task in tasks[:-1]:
        of_task = records[records["task"] == task.key]
        rows = [{k: None if pd.isna(v) else v for k, v in row.items()} for row in of_task.to_dict("records")]
        store.write(task.key, rows, seconds=2.0)
    result = CliRunner().invoke(verbs.app, ["summarize", str(tmp_path / "run"), "--out", str(tmp_path / "small")])
    assert result.exit_code == 0, result.output
    assert "4 data sets of 2 seed(s)" in result.stdout
    summary = Summary.read(tmp_path / "small")
    assert sorted(summary.scores["seed"].unique()) == [1, 2]
    assert summary.about["n_data_sets"] == 4
    assert summary.about["hours_of_computing"] == pytest.approx(8 / 3600, abs=0.01)
