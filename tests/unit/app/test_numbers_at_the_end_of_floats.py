"""Numbers of which two together are too large for a float, and half a character: no warning, no traceback."""

from __future__ import annotations

import numpy as np
import pytest

from kfrc_app.facts.profiles import cluster_profiles, weighted_medians
from kfrc_app.facts.rows import distances_to_typical
from kfrc_app.tables import DataError, Missing, read_table
from kfrc_app.tables.totals import find_totals

LARGEST = np.finfo(np.float64).max


@pytest.mark.parametrize("cell", ["1e999", "1.7e308", "-1.7e308"])
def test_rows_whose_sum_is_too_large_have_no_total(cell):
    rows = [["a", cell], ["b", "-1e999"], ["c", cell], ["d", cell], ["Total", "7"]]
    assert find_totals(rows, 2)[0] == []


def test_a_total_is_found_beside_a_column_whose_sum_is_too_large():
    rows = [["a", "1", "1e308"], ["b", "2", "1e308"], ["c", "4", "1e308"], ["Total", "7", "9e307"]]
    assert find_totals(rows, 3)[0] == [3]


@pytest.mark.parametrize("cell", [r'"\ud83d"', r'{"c": "\ud83d"}', r'["\ud83d"]', r'1, "\ud83d": 2'])
def test_half_a_character_in_json_is_refused(tmp_path, cell):
    (tmp_path / "t.json").write_text("[" + ", ".join([f'{{"a": 1, "b": {cell}}}'] * 4) + "]")
    with pytest.raises(DataError, match=r"half a character, \\ud83d"):
        read_table(str(tmp_path / "t.json"), missing=Missing.PARTIAL)


def test_medians_of_the_largest_numbers_are_their_means():
    X = np.array([[LARGEST], [LARGEST], [-LARGEST], [5e-324]])
    np.testing.assert_array_equal(weighted_medians(X[:2], np.ones((2, 1))), [[LARGEST]])
    np.testing.assert_array_equal(weighted_medians(X[[0, 2]], np.ones((2, 1))), [[0.0]])
    np.testing.assert_array_equal(weighted_medians(X[[3, 3]], np.ones((2, 1))), [[5e-324]])


def test_a_cluster_far_beyond_the_unit_of_a_column_differs_by_a_finite_number():
    X = np.array([[1e-300], [2e-300], [3e-300], [4e-300], [5e-300], [1e300], [1e300]])
    belonging = np.zeros((7, 2))
    belonging[:5, 0] = belonging[5:, 1] = 1.0
    found = cluster_profiles(X, belonging, ["x"])
    assert np.isfinite(found.differences).all()
    assert found.differences[1, 0] == 1e9


def test_a_row_far_beyond_the_unit_of_a_column_is_far_from_what_is_typical():
    X = np.array([[0.0], [1e300]])
    found = distances_to_typical(X, np.zeros((1, 1)), np.array([1e-300]), [False], np.ones(1))
    assert np.isfinite(found).all()
    assert found.argmax() == 1
