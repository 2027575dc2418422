"""Notes on far values speak the language of the command line: names of rows as in the file, options that exist."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

LIGHT = ("--no-report", "--starts", 1, "--level", 1, "-m", "default", "--max-anisotropy", 5)


@pytest.fixture
def frame():
    rng = np.random.default_rng(1)
    found = pd.DataFrame(rng.normal(size=(120, 3)), columns=["a", "b", "c"])
    found.loc[:59, "a"] += 8
    found.loc[3, "b"] = 1e6
    return found


@pytest.mark.slow
def test_rows_are_counted_from_one(run, frame, tmp_path):
    frame.to_csv(tmp_path / "table.csv", index=False)
    for verb in (("fit", "-o", tmp_path / "out", *LIGHT), ("diagnose",)):
        ended = run(verb[0], tmp_path / "table.csv", "-c", 2, *verb[1:])
        assert "1e+06 in row 4" in ended.err
        assert "use --outliers keep" in ended.err
        assert 'outliers="keep"' not in ended.err


def test_a_row_before_that_was_left_out_counts(run, frame, tmp_path):
    frame.loc[0, "c"] = np.nan
    frame.to_csv(tmp_path / "table.csv", index=False)
    assert "1e+06 in row 4" in run("fit", tmp_path / "table.csv", "-c", 2, "-o", tmp_path / "out", *LIGHT).err


def test_rows_with_names_are_called_by_them(run, frame, tmp_path):
    frame.assign(who=[f"person {j}" for j in range(120)]).to_csv(tmp_path / "table.csv", index=False)
    ended = run("fit", tmp_path / "table.csv", "-c", 2, "-o", tmp_path / "out", "--id-column", "who", *LIGHT)
    assert "1e+06 in row person 3" in ended.err


def test_a_column_with_a_lone_value_is_told_in_the_same_way(run, frame, tmp_path):
    frame.assign(b=0.0, d=np.where(np.arange(120) == 7, 5.0, 1.0)).to_csv(tmp_path / "table.csv", index=False)
    ended = run("fit", tmp_path / "table.csv", "-c", 2, "-o", tmp_path / "out", *LIGHT)
    assert "'d' (5 in row 8, else 1)" in ended.err
    assert "use --outliers keep" in ended.err
    assert "left out by the fit: “d”" in ended.out


def test_far_values_can_be_kept(run, frame, tmp_path):
    frame.to_csv(tmp_path / "table.csv", index=False)
    ended = run("fit", tmp_path / "table.csv", "-c", 2, "-o", tmp_path / "out", "--outliers", "keep", "--json", *LIGHT)
    assert "note" not in ended.err
    kept = {column["name"]: column["bandwidth"] for column in ended.document["columns"]}
    cut = run("fit", tmp_path / "table.csv", "-c", 2, "-o", tmp_path / "cut", "--json", *LIGHT).document["columns"]
    assert kept["b"] > 1e3 * {column["name"]: column["bandwidth"] for column in cut}["b"]
    assert "--outliers keep" in ended.document["command"]
    refused = run("fit", tmp_path / "table.csv", "-c", 2, "-o", tmp_path / "no", "--outliers", "drop", code=2)
    assert "clip" in refused.err
