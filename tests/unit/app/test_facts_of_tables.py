"""Facts of tables with levels, dates, gaps and weights, each against a plain count."""

from __future__ import annotations

import datetime
import io

import numpy as np
import pandas as pd
import pytest
from rich.console import Console

from kfrc_app.cli.render import show_table
from kfrc_app.facts.agreement import agreement
from kfrc_app.facts.encoding import is_complete_numbers, standardized
from kfrc_app.facts.levels import description, level_shares
from kfrc_app.facts.profiles import UNREMARKABLE, cluster_profiles, weighted_medians
from kfrc_app.facts.table import as_numbers, table_facts, typed_frame
from kfrc_app.facts.text import DASH, percent
from kfrc_app.facts.typical import typical_columns
from kfrc_app.tables import Kind

N = 60


@pytest.fixture
def mixed():
    """A table of every type with gaps."""
    rng = np.random.default_rng(0)
    color = rng.choice(["red", "green", "blue"], N).astype(object)
    color[::7] = None
    day = pd.to_datetime("2020-01-01") + pd.to_timedelta(rng.integers(0, 90, N), unit="D")
    x = rng.normal(size=N)
    x[::11] = np.nan
    return pd.DataFrame(
        {
            "x": x,
            "color": pd.Categorical(color),
            "size": pd.Categorical(rng.choice(["s", "m", "l"], N), categories=["s", "m", "l"], ordered=True),
            "day": pd.Series(day).where(np.arange(N) % 5 > 0),
        }
    )


@pytest.fixture
def U():
    return np.random.default_rng(1).dirichlet([1.0, 1.0, 1.0], N)


@pytest.fixture
def weights():
    return np.random.default_rng(2).integers(0, 4, N).astype(float)


def copies(data, weights):
    """Every row as often as its weight says."""
    return np.repeat(np.arange(len(data)), weights.astype(int))


def test_types_and_gaps_are_counted(mixed):
    found = table_facts(mixed)
    assert [column.kind for column in found.columns] == [Kind.NUMERIC, Kind.NOMINAL, Kind.ORDINAL, Kind.DATE]
    assert [column.n_missing for column in found.columns] == mixed.isna().sum().tolist()
    assert found.n_incomplete == mixed.isna().any(axis=1).sum()
    assert found.missing == pytest.approx(mixed.isna().to_numpy().mean())
    assert [column.name for column in found.incomplete] == ["day", "color", "x"]
    assert not found.is_plain


def test_a_weight_is_a_number_of_rows(mixed, U, weights):
    rows = copies(mixed, weights)
    many, heavy = mixed.iloc[rows].reset_index(drop=True), table_facts(mixed, weights)
    assert heavy.total_weight == len(rows)
    for column in heavy.columns:  # gaps are counted in rows of the file, both ways
        assert column.missing == column.n_missing / len(mixed)
    numbers = np.column_stack([as_numbers(mixed[name]) for name in ("x", "size", "day")])
    profiles = cluster_profiles(numbers, U, list("abc"), weights=weights)
    np.testing.assert_allclose(profiles.medians, weighted_medians(numbers[rows], U[rows]))
    columns = table_facts(mixed).columns
    for one, other in zip(
        level_shares(mixed, U, columns, [1, 2], weights), level_shares(many, U[rows], columns, [1, 2]), strict=True
    ):
        np.testing.assert_allclose(one.shares, other.shares)
        np.testing.assert_allclose(one.overall, other.overall)
    clusters = U.argmax(axis=1)
    labels = np.random.default_rng(3).choice(["a", "b"], N)
    one, other = agreement(labels, clusters, 3, weights), agreement(labels[rows], clusters[rows], 3)
    assert one.adjusted_rand == pytest.approx(other.adjusted_rand)
    assert one.adjusted_mutual_info == pytest.approx(other.adjusted_mutual_info)
    Z, many_Z = standardized(mixed, weights), standardized(many)
    np.testing.assert_allclose(Z.to_numpy()[rows], many_Z.to_numpy(), atol=1e-12)


def test_weights_with_fractions_have_no_mutual_information():
    found = agreement(list("aabb"), np.array([0, 0, 1, 1]), 2, np.array([0.5, 1, 1, 1]))
    assert (found.adjusted_rand, found.adjusted_mutual_info) == (1.0, None)


def test_shares_and_lift_are_those_of_a_count():
    data = pd.DataFrame({"c": pd.Categorical(["a", "a", "b", "b", None, "a"])})
    (found,) = level_shares(data, np.eye(2)[[0, 0, 0, 1, 1, 1]], table_facts(data).columns, [0])
    np.testing.assert_allclose(found.overall, [0.6, 0.4])
    np.testing.assert_allclose(found.shares, [[2 / 3, 1 / 3], [0.5, 0.5]])
    np.testing.assert_allclose(found.lift, found.shares / [0.6, 0.4])
    assert found.mode(0) == 0


def test_a_cluster_that_is_empty_has_no_typical_level():
    data = pd.DataFrame({"c": pd.Categorical(["a", "a", "b"]), "x": [1.0, 2.0, 3.0]})
    U = np.eye(2)[[0, 0, 0]]
    columns = table_facts(data).columns
    levels = level_shares(data, U, columns, [0, 1])
    profiles = cluster_profiles(data[["x"]].to_numpy(), U, ["x"], columns=columns[1:])
    found = typical_columns(profiles, levels, ["c", "x"])
    assert [column.name for column in found] == ["c", "x"]
    assert found[0].clusters[0].text == "a 67\N{NO-BREAK SPACE}%"
    assert [column.clusters[1].text for column in found] == [DASH, DASH]


def test_levels_and_dates_are_shown_by_their_names(mixed, U):
    found = table_facts(mixed).columns
    assert found[2].show(2.0) == "l"
    assert found[3].show(as_numbers(pd.Series([pd.Timestamp("2020-02-29 12:00")]))[0]) == "2020-02-29"
    assert found[0].show(float("nan")) == DASH
    hours = table_facts(pd.DataFrame({"t": pd.to_datetime(["2020-01-01 03:00", "2020-01-01 07:00"])})).columns[0]
    assert hours.show(as_numbers(pd.Series([pd.Timestamp("2020-01-01 05:10")]))[0]) == "2020-01-01 05"


def test_a_cluster_is_described_by_the_levels_it_has_in_excess():
    data = pd.DataFrame({"c": pd.Categorical(["a"] * 10 + ["b"] * 10), "same": pd.Categorical(["u", "v"] * 10)})
    U = np.eye(2)[np.repeat([0, 1], 10)]
    levels = level_shares(data, U, table_facts(data).columns, [0, 1])
    assert description(None, levels, 0) == "c a (100\N{NO-BREAK SPACE}%)"
    assert description(None, levels[1:], 0) == UNREMARKABLE


def test_numbers_for_other_methods_have_one_unit_per_column(mixed):
    Z = standardized(mixed)
    assert list(Z.columns) == ["x", "color=blue", "color=green", "color=red", "size", "day"]
    assert np.isfinite(Z.to_numpy()).all()
    known = mixed["color"].notna()
    assert Z.loc[known, Z.columns[1:4]].var().sum() == pytest.approx(1.0)
    assert (Z.loc[~known, Z.columns[1:4]] == 0).to_numpy().all()
    complete = pd.DataFrame(np.random.default_rng(0).normal(size=(9, 2)))
    assert is_complete_numbers(complete)
    assert not is_complete_numbers(mixed)
    np.testing.assert_allclose(standardized(complete, np.ones(9)), standardized(complete), atol=1e-12)


@pytest.mark.parametrize("power", [-1000, -600, 600, 1000])
def test_numbers_for_other_methods_do_not_depend_on_the_unit_of_a_column(mixed, power):
    scaled = mixed.assign(x=np.ldexp(mixed["x"], power))
    np.testing.assert_array_equal(standardized(scaled), standardized(mixed))
    numbers = pd.DataFrame(np.random.default_rng(0).normal(size=(9, 2)))
    np.testing.assert_array_equal(standardized(np.ldexp(numbers, [power, 0])), standardized(numbers))


def test_a_column_that_is_known_only_in_rows_without_weight_says_nothing_to_other_methods():
    data = pd.DataFrame({"a": [1.0, 2.0, None, None], "b": [1.0, 2.0, 3.0, 5.0]})
    assert standardized(data, np.array([0.0, 0.0, 1.0, 2.0]))["a"].tolist() == [0, 0, 0, 0]


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_tables_of_every_library_get_the_same_types(library):
    frame = pd.DataFrame(
        {
            "i": [1, 2, 3],
            "b": [True, False, True],
            "s": ["u", None, "v"],
            "t": pd.to_datetime(["2020-01-01", None, "2021-01-01"]),
        }
    )
    table = frame
    if library == "polars":
        table = pytest.importorskip("polars").from_pandas(frame)
    elif library == "pyarrow":
        table = pytest.importorskip("pyarrow").Table.from_pandas(frame)
    found = table_facts(typed_frame(table))
    assert [str(column.kind) for column in found.columns] == ["numeric", "nominal", "nominal", "date"]
    assert found.columns[1].levels == ("False", "True")
    assert [column.n_missing for column in found.columns] == [0, 0, 1, 1]


def test_many_columns_with_gaps_are_shown_in_part_and_counted():
    values = np.arange(60.0).reshape(5, 12)
    values[0] = np.nan
    screen = io.StringIO()
    data = pd.DataFrame(values, columns=[f"c{k}" for k in range(12)])
    show_table(Console(file=screen, width=100), table_facts(data, np.array([0.0, 1.0, 2.0, 2.5, 1.0])))
    lines = [line.strip() for line in screen.getvalue().splitlines()]
    assert [line.split()[0] for line in lines if line[1:2].isdigit()] == [f"c{k}" for k in range(10)]
    assert "and 2 more columns with gaps" in lines
    assert "5 rows stand for 6.5, 1 row for none" in lines


def test_labels_of_rows_without_weight_have_no_agreement():
    assert agreement(["a", "b", None], np.array([0, 1, 1]), 2, np.array([0.0, 0.0, 1.0])) is None


def test_dates_of_python_are_dates_and_shares_that_are_none_a_dash():
    found = typed_frame(pd.DataFrame({"day": [datetime.date(2020, 1, 1), None, datetime.date(2020, 3, 1)]}))
    assert found["day"].dtype.kind == "M"
    assert found["day"].dt.month.fillna(0).tolist() == [1, 0, 3]
    assert percent(float("nan")) == DASH
