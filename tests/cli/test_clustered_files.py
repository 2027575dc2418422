"""What `kfrc fit` leaves of the original table, and what `kfrc predict` writes of hostile names."""

from __future__ import annotations

import csv
import io

import numpy as np
import openpyxl
import pandas as pd
import pytest

from formulas import as_written

QUICK = ("-c", 2, "--refits", 0, "--no-report", "--starts", 1, "-m", 1.5, "--level", 1)
N = 24
NAMES = ["=cmd|' /C calc'!A0", "@SUM(1)", "+1", "-1+2", "-7", *[f"p{k}" for k in range(N - 5)]]


def table(path, **columns):
    rng = np.random.default_rng(3)
    x = rng.normal(size=(N, 2)).round(3)
    x[: N // 2] += 5
    frame = pd.DataFrame({"height": x[:, 0], "mass": x[:, 1], **columns})
    frame.to_csv(path, index=False)
    return frame


def cells(path, sheet="table"):
    return [[cell.value for cell in row] for row in openpyxl.load_workbook(path)[sheet].rows]


def test_a_fit_leaves_the_whole_table_with_clusters_beside_it(run, tmp_path):
    days = pd.date_range("2021-03-01", periods=N).strftime("%Y-%m-%d")
    frame = table(tmp_path / "t.csv", who=NAMES, when=days, remark=[f"note {k}" for k in range(N)])
    frame.loc[4, "mass"] = np.nan
    frame.insert(0, "participant", NAMES)
    frame.drop(columns="who").to_csv(tmp_path / "t.csv", index=False)
    out = tmp_path / "out"
    run("fit", tmp_path / "t.csv", "-o", out, "--missing", "drop", *QUICK)
    header, *rows = cells(out / "clustered.xlsx")
    assert header[:5] == ["participant", "height", "mass", "when", "remark"]
    assert [row[0] for row in rows] == NAMES
    assert [row[1] for row in rows] == frame["height"].tolist()
    assert [row[3].strftime("%Y-%m-%d") for row in rows] == days.tolist()
    place = {name: header.index(name) for name in header}
    memberships = list(csv.DictReader(io.StringIO((out / "memberships.csv").read_text(encoding="utf-8"))))
    assert [as_written(row["id"]) for row in memberships] == NAMES
    for row, found in zip(rows, memberships, strict=True):
        for name in ("cluster_0", "cluster_1"):
            assert row[place[name]] is None if found[name] == "" else abs(row[place[name]] - float(found[name])) < 1e-9
        assert (row[place["cluster"]] is None) == (found["label"] == "")
    assert rows[4][place["left_out"]] == "missing value in 'mass'"
    same = csv.DictReader(io.StringIO((out / "clustered.csv").read_text(encoding="utf-8")))
    assert [as_written(row["participant"]) for row in same] == NAMES
    told = run("predict", out / "model.skops", tmp_path / "t.csv").out
    assert [as_written(row["id"]) for row in csv.DictReader(io.StringIO(told))] == NAMES
    assert "\n'=cmd" in told
    assert "\n-7," in told


@pytest.mark.parametrize("name", ["id", "Respondent"])
def test_a_table_with_a_column_of_names_is_clustered_as_the_table_without(run, tmp_path, name):
    table(tmp_path / "plain.csv")
    table(tmp_path / "named.csv", **{name: [5 * k * k + 3 for k in range(N)]})
    for kind in ("plain", "named"):
        run("fit", tmp_path / f"{kind}.csv", "-o", tmp_path / kind, "--no-excel", *QUICK)
    plain, named = (pd.read_csv(tmp_path / kind / "memberships.csv") for kind in ("plain", "named"))
    pd.testing.assert_frame_equal(plain.drop(columns="id"), named.drop(columns="id"))
    assert named["id"].tolist() == [5 * k * k + 3 for k in range(N)]
    assert not (tmp_path / "plain" / "clustered.xlsx").exists()


@pytest.mark.slow
def test_a_wide_table_is_fitted_and_told_on_one_screen(run, tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(16, 510)).round(3)
    X[:8, :40] += 3
    pd.DataFrame(X).add_prefix("gene_").to_csv(tmp_path / "wide.csv", index=False)
    ended = run("fit", tmp_path / "wide.csv", "-o", tmp_path / "out", *QUICK)
    assert len(ended.out.splitlines()) < 100
    assert len(cells(tmp_path / "out" / "clustered.xlsx")[0]) == 510 + 5 + 2
