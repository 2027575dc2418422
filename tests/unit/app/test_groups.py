"""What groups are called, which rows stand for them, how columns are spread in them and go along with them."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from kfrc_app._letters import letters
from kfrc_app.facts.confidence import in_a_hundred
from kfrc_app.facts.crossings import cross_labels, crossings
from kfrc_app.facts.distributions import N_BINS, distribution
from kfrc_app.facts.groups import group_names
from kfrc_app.facts.palette import FURTHER, OKABE_ITO, cluster_colors, ink_on, relative_luminance
from kfrc_app.facts.plane import in_unit_square, relational_coordinates, table_coordinates
from kfrc_app.facts.profiles import Trait, cluster_profiles
from kfrc_app.facts.rows import central_rows, distances_to_typical
from kfrc_app.facts.separation import level_separation, rank_separation
from kfrc_app.facts.table import TableColumn
from kfrc_app.tables import Kind


def trait(strength, short):
    return Trait(strength, short, short, short)


def test_names_are_the_strongest_traits_and_never_alike():
    same = [trait(0.9, "high hue"), trait(0.8, "low ash")]
    third = [*same, trait(0.5, "low age")]
    assert group_names([same, third]) == ["High hue, low ash", "High hue, low ash, low age"]
    assert group_names([same, same]) == ["High hue, low ash (A)", "High hue, low ash (B)"]
    assert group_names([[], same], "part") == ["Part A", "High hue, low ash"]


def test_a_long_second_trait_is_left_out_of_the_name():
    assert group_names([[trait(0.9, "high " + "x" * 40), trait(0.8, "low " + "y" * 40)]]) == ["High " + "x" * 40]


def test_letters_go_on_after_the_alphabet():
    found = [letters(k) for k in range(60)]
    assert (found[0], found[26], found[51], found[52]) == ("A", "AA", "AZ", "BA")
    assert len(set(found)) == 60


def test_separation_counts_pairs_of_rows():
    rng = np.random.default_rng(0)
    x, group = rng.normal(size=40).round(1), rng.integers(0, 2, 40)
    inside, outside = x[group == 1], x[group == 0]
    expected = np.mean(np.sign(inside[:, None] - outside))
    found = rank_separation(x, np.eye(2)[group])
    assert found == pytest.approx([-expected, expected])


def test_weights_separate_as_repeated_rows_do():
    x, U, w = np.array([1.0, 2.0, 2.0, 5.0]), np.eye(2)[[0, 1, 0, 1]], np.array([1.0, 3.0, 2.0, 1.0])
    again = np.repeat(np.arange(4), w.astype(int))
    assert rank_separation(x, U, w) == pytest.approx(rank_separation(x[again], U[again]))
    codes = np.array([0.0, 1.0, 1.0, 0.0])
    assert level_separation(codes, 2, U, w) == pytest.approx(level_separation(codes[again], 2, U[again]))


def test_what_is_missing_or_everything_separates_nothing():
    assert rank_separation(np.full(3, np.nan), np.ones((3, 2))).tolist() == [0.0, 0.0]
    assert rank_separation(np.arange(3.0), np.ones((3, 1))).tolist() == [0.0]


def test_central_rows_are_near_what_is_typical_and_complete():
    values = np.array([[0.0, 0.0], [0.1, 0.0], [5.0, 1.0], [0.0, np.nan]])
    distances = distances_to_typical(values, np.array([[0.0, 0.0]]), np.ones(2), [False, True], np.array([0.5, 0.5]))
    (rows,) = central_rows(distances, np.zeros(4, dtype=int))
    assert rows.tolist() == [0, 1, 3]
    (counted,) = central_rows(distances, np.zeros(4, dtype=int), np.array([0.0, 1.0, 1.0, 1.0]))
    assert counted.tolist() == [1, 3, 2]


def test_distributions_hold_every_row_once():
    rng = np.random.default_rng(0)
    x = rng.normal(size=200)
    x[0], x[1] = 1e6, np.nan
    U = rng.dirichlet(np.ones(3), size=200)
    found = distribution(TableColumn("x", Kind.NUMERIC, (), 0, 0.0), x, U)
    assert found.shares.shape == (3, N_BINS)
    np.testing.assert_allclose(found.shares.sum(axis=1), 1.0)
    assert found.cut == (True, True)
    assert found.high < 5.0
    np.testing.assert_allclose(found.overall.sum(), 1.0)
    known = ~np.isnan(x)
    expected = np.quantile(x[known], 0.5, weights=U[known, 0], method="inverted_cdf")
    assert found.medians[0] == expected


def test_a_constant_and_an_empty_column_have_a_distribution_or_none():
    column = TableColumn("x", Kind.NUMERIC, (), 0, 0.0)
    flat = distribution(column, np.full(4, 2.0), np.eye(2)[[0, 0, 1, 1]])
    assert (flat.low, flat.high) == (1.5, 2.5)
    assert distribution(column, np.full(4, np.nan), np.eye(2)[[0, 0, 1, 1]]) is None


def test_the_map_of_distances_is_that_of_the_rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20, 2)) * [3.0, 1.0]
    R = np.square(X[:, None] - X).sum(axis=2)
    rows = np.arange(20)
    centered = X - X.mean(axis=0)
    for matrix, similarities in ((R, False), (centered @ centered.T, True)):
        found, explained = relational_coordinates(matrix, rows, similarities=similarities)
        np.testing.assert_allclose(np.square(found[:, None] - found).sum(axis=2), R, atol=1e-8)
        assert explained == pytest.approx(1.0)
    data = pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "c": 1.0})
    places, explained = table_coordinates(data, np.array([1.0, 0.0, 0.0]), rows)
    assert explained == pytest.approx(1.0)
    assert abs(np.corrcoef(places[:, 0], X[:, 0])[0, 1]) == pytest.approx(1.0)
    square = in_unit_square(places)
    assert (square.min(), square.max()) == (0.0, 1.0)


def test_crossings_count_rows_and_give_shares_of_groups():
    labels = np.array([0, 0, 0, 1, 1, 1])
    aside = pd.DataFrame(
        {
            "city": ["x", "x", "y", "y", "y", None],
            "age": [1.0, 2.0, 3.0, 7.0, 8.0, 9.0],
            "day": pd.to_datetime(["2020-01-01"] * 3 + ["2020-02-01"] * 3),
            "same": "always",
        }
    )
    found = {crossing.name: crossing for crossing in crossings(aside, labels, 2).columns}
    city = {level.name: level for level in found["city"].levels}
    assert (city["x"].counts, city["y"].counts) == ((2, 0), (1, 2))
    assert city["x"].shares == pytest.approx((2 / 3, 0.0))
    assert city["y"].overall == pytest.approx(3 / 5)
    assert found["city"].n_known == 5
    assert found["age"].medians == ("2", "8")
    assert found["age"].quartiles[0] == "1 to 3"
    assert found["day"].medians == ("2020-01-01", "2020-02-01")
    assert found["same"].strength == 0.0
    assert next(iter(found)) == "day"


def test_columns_that_name_rows_are_passed_over():
    aside = pd.DataFrame({"name": [f"row {k}" for k in range(40)], "few": ["a", "b"] * 20})
    found = crossings(aside, np.arange(40) % 2, 2)
    assert found.passed_over == ("name",)
    assert [crossing.name for crossing in found.columns] == ["few"]
    assert found.columns[0].strength == pytest.approx(1.0)


def test_many_levels_are_cut_and_counted():
    aside = pd.DataFrame({"code": [f"c{k % 15:02d}" for k in range(300)]})
    (column,) = crossings(aside, np.arange(300) % 2, 2).columns
    assert (len(column.levels), column.n_more) == (12, 3)


def test_unknown_labels_are_no_label():
    found = cross_labels(["a", "", None, "b", float("nan"), "b"], np.array([0, 0, 1, 1, 1, 1]), 2)
    assert found.n_known == 3
    assert [(level.name, level.counts) for level in found.levels] == [("a", (1, 0)), ("b", (0, 2))]
    assert cross_labels([None, ""], np.array([0, 1]), 2) is None


@pytest.mark.parametrize(
    ("share", "words"), [(0.0001, "fewer than 1 in 100"), (0.01, "about 1 in 100"), (0.995, "nearly all")]
)
def test_shares_of_tables_are_told_in_a_hundred(share, words):
    assert in_a_hundred(share) == words


def oklab(color):
    """Coordinates in which equal distances look alike (Ottosson 2020)."""
    channels = np.array([int(color[k : k + 2], 16) / 255 for k in (1, 3, 5)])
    linear = np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
    to_cones = [[0.4122, 0.5363, 0.0514], [0.2119, 0.6807, 0.1074], [0.0883, 0.2817, 0.6300]]
    to_lab = [[0.2105, 0.7936, -0.0041], [1.9780, -2.4286, 0.4506], [0.0259, 0.7828, -0.8087]]
    return np.array(to_lab) @ np.cbrt(np.array(to_cones) @ linear)


@pytest.mark.parametrize(("n_clusters", "least"), [(10, 0.15), (len(OKABE_ITO + FURTHER), 0.1)])
def test_colors_of_groups_look_different(n_clusters, least):
    places = np.array([oklab(color) for color in cluster_colors(n_clusters)])
    distances = np.linalg.norm(places[:, None] - places, axis=2)
    assert distances[np.triu_indices(n_clusters, 1)].min() > least


def test_letters_are_read_on_every_color():
    for color in cluster_colors(30):
        light, dark = sorted((relative_luminance(color), relative_luminance(ink_on(color))), reverse=True)
        assert (light + 0.05) / (dark + 0.05) >= 4.5


def test_days_are_early_or_late_not_low_or_high():
    column = TableColumn("joined", Kind.DATE, (), 0, 0.0)
    days = np.array([[0.0], [1.0], [2.0], [500.0], [501.0], [502.0]])
    profiles = cluster_profiles(days, np.repeat(np.eye(2), 3, axis=0), ["joined"], columns=[column])
    assert [profiles.traits(i)[0].short for i in (0, 1)] == ["early joined", "late joined"]


def test_levels_with_an_order_keep_it_and_a_column_without_values_is_no_crossing():
    grade = pd.Categorical(["hi", "lo", "lo", "hi"], ["lo", "hi"], ordered=True)
    found = crossings(pd.DataFrame({"grade": grade, "none": [np.nan] * 4}), np.array([1, 1, 1, 0]), 2)
    [column] = found.columns
    assert [(level.name, level.counts) for level in column.levels] == [("lo", (0, 2)), ("hi", (1, 1))]


def test_what_only_rows_of_weight_zero_have_explains_nothing():
    aside = pd.DataFrame({"x": [1.0, 2.0, np.nan, np.nan], "c": ["a", "b", None, None], "y": [1.0, 2.0, 3.0, 4.0]})
    found = {
        column.name: column for column in crossings(aside, np.array([0, 0, 1, 1]), 2, np.array([0.0, 0, 1, 1])).columns
    }
    assert {column.strength for column in found.values()} == {0.0}
    assert (found["x"].overall, found["x"].medians) == ("–", ("–", "–"))
    assert (found["y"].overall, found["y"].medians) == ("3.5", ("–", "3.5"))


def test_the_map_of_few_rows_of_many_columns_is_that_of_the_same_rows_three_times():
    data = pd.DataFrame(np.random.default_rng(0).standard_normal((5, 9)))
    shares = np.full(9, 1 / 9)
    few, explained = table_coordinates(data, shares, np.arange(5))
    many, again = table_coordinates(pd.concat([data] * 3, ignore_index=True), shares, np.arange(15))
    np.testing.assert_allclose(np.tile(few, (3, 1)), many, atol=1e-9)
    assert explained == pytest.approx(again)


def test_rows_that_are_all_alike_have_one_place_on_the_map():
    places, explained = table_coordinates(pd.DataFrame({"a": [1.0, 1.0, 1.0]}), np.ones(1), np.arange(3))
    assert (places.tolist(), explained) == ([[0.0, 0.0]] * 3, 1.0)
