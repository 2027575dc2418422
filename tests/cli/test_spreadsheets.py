"""From a spreadsheet with several sheets to memberships and back: every verb takes the sheet that is meant."""

from __future__ import annotations

import gzip

import numpy as np
import openpyxl
import pandas as pd
import pytest


@pytest.fixture(scope="module")
def book(tmp_path_factory):
    """Two groups of shops on one sheet below a title, other rows on a second sheet."""
    rng = np.random.default_rng(3)
    values = np.vstack([rng.normal(0, 1, (15, 2)), rng.normal(9, 1, (15, 2))]).round(3)
    found = openpyxl.Workbook()
    found.active.title = "north"
    for row in [["Shops 2024"], [], ["shop", "area", "income"]]:
        found.active.append(row)
    for k, (area, income) in enumerate(values):
        found.active.append([f"s{k}", area, f"€ {income:.3f}".replace(".", ",")])
    south = found.create_sheet("south")
    for row in [["area", "income"], *values[::-1].tolist()]:
        south.append(row)
    path = tmp_path_factory.mktemp("book") / "shops.xlsx"
    found.save(path)
    return path


def test_the_sheet_is_asked_for_then_fitted_and_predicted(run, book, tmp_path):
    asked = run("fit", book, "-c", "2", "-o", tmp_path / "out", "--sheet", "west", code=1)
    assert "it has 'north', 'south'" in asked.err
    asked = run("fit", book, "-c", "2", "-o", tmp_path / "out", code=1)
    assert "--sheet 'north'" in asked.err
    run("fit", book, "-c", "2", "-o", tmp_path / "out", "--sheet", "north", "--decimal", ",", "--starts", "1")
    fitted = pd.read_csv(tmp_path / "out" / "memberships.csv")
    assert len(fitted) == 30
    assert fitted["label"].nunique() == 2
    assert len({*fitted["label"][:15]}) == len({*fitted["label"][15:]}) == 1
    model = tmp_path / "out" / "model.skops"
    again = run("predict", model, book, "--sheet", "south", "--json").document
    np.testing.assert_array_equal(again["labels"], fitted["label"][::-1])


@pytest.mark.parametrize("verb", ["fit", "predict", "diagnose", "compare", "indices"])
def test_every_verb_that_reads_a_table_takes_a_sheet_and_says_which_files_it_reads(run, verb):
    shown = " ".join(run(verb, "--help").out.split())
    assert "--sheet NAME" in shown
    if verb != "predict":
        assert "Excel" in shown


@pytest.mark.slow
def test_a_packed_table_on_standard_input_is_diagnosed(run, iris_csv):
    packed = gzip.compress(iris_csv.read_bytes())
    assert "λ₁" in run("diagnose", "-", "-c", "3", stdin=packed).out
