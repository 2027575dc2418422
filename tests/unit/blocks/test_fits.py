"""Fits in blocks: the minimum of the solver that has all rows at once, found in fewer passes, and never a rise of J."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.dataset as ds
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import ConvergenceWarning

from kfrc import FCM, FRC, KFRC, RFCM
from kfrc.blocks import LocalEngine, Partition, Reader, engine_for
from kfrc.blocks.descent import begin
from kfrc.blocks.reader import Standardizing
from kfrc.blocks.row_maps import ColumnMap, numbers_only
from kfrc.blocks.solution import solve_blocks
from kfrc.clusterers._fcm_descent import solve_fcm
from kfrc.clusterers._rows import fitted_rows
from kfrc.columns import Schema
from kfrc.dissimilarity import Dissimilarity
from kfrc.exceptions import ApproximationWarning, MissingRowWarning
from kfrc.fitting import SourceTable, TableView, fit_source, fit_table, resolve_settings
from kfrc.fitting.remarks import remarks
from kfrc.fuzzifiers import Fuzzifier, Power
from kfrc.gram import gram_family
from kfrc.gram.column_blocks import MOST_VALUES
from kfrc.kernels import Kernel
from kfrc.kernels.gaussian import GaussianSum
from kfrc.metrics import adjusted_rand_score
from kfrc.relational import descend, sized_rule
from kfrc.sources import ArraySource, ArrowSource
from kfrc.typing import FloatArray

N_ROWS, N_CLUSTERS = 21_000, 3
TIGHT = 1e-10


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    means = 2.5 * rng.standard_normal((N_CLUSTERS, 4))
    labels = rng.integers(N_CLUSTERS, size=N_ROWS)
    return means[labels] + rng.standard_normal((N_ROWS, 4)), labels


@pytest.fixture(scope="module")
def incomplete(rows):
    X = rows[0].copy()
    X[np.random.default_rng(1).random(X.shape) < 0.15] = np.nan
    X[7] = np.nan
    return X


@pytest.fixture(scope="module")
def counts():
    return np.random.default_rng(2).integers(1, 4, size=N_ROWS).astype(np.float64)


def settings_of(**parameters):
    given = {"bandwidths": 1.5, "m": 1.5, "outliers": "keep", "n_init": 1, **parameters}
    return resolve_settings(KFRC(N_CLUSTERS, **given).get_params(deep=False), N_CLUSTERS)


def in_blocks(X, weights=None, **parameters):
    table = SourceTable(ArraySource(X, weights=weights))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MissingRowWarning)
        return fit_source(table, settings_of(**parameters), LocalEngine(1), np.random.default_rng(0), str)


def all_at_once(X, weights=None, **parameters):
    """The solver that keeps memberships of all rows, on the same rows."""
    settings = settings_of(**parameters)
    if weights is None and not np.isnan(X).any():
        view = TableView.of(X, None, standardize=True, clip=False, robust_scale=False)
    else:
        schema = Schema.learn(X, None, "partial")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", MissingRowWarning)
            view = TableView.of_types(schema.encode(X), schema, weights, clip=False)
    return fit_table(view, settings, np.random.default_rng(0), str)


CASES = {
    "sum": ({}, False, False),
    "power": ({"fuzzifier": "power", "m": 1.7}, False, False),
    "quadratic": ({"fuzzifier": "quadratic", "m": 0.5}, False, False),
    "exponential": ({"fuzzifier": "exponential", "m": 2.0}, False, False),
    "linear": ({"kernel": "linear"}, False, False),
    "blanks": ({}, True, False),
    "weights": ({}, False, True),
    "blanks and weights": ({}, True, True),
    "linear with blanks": ({"kernel": "linear"}, True, False),
}


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
def test_the_minimum_is_that_of_the_solver_with_all_rows_at_once(case, rows, incomplete, counts):
    parameters, blanks, weighted = CASES[case]
    X, weights = incomplete if blanks else rows[0], counts if weighted else None
    here = in_blocks(X, weights, tol=TIGHT, **parameters)
    there = all_at_once(X, weights, tol=TIGHT, **parameters)
    U = np.asarray(here.memberships)
    order = np.argmax(U.T @ there.solution.memberships, axis=0)
    assert_allclose(U[:, order], there.solution.memberships, rtol=0, atol=1e-8)  # steps of 1e-10, both not at the end
    assert here.result.solution.objective == pytest.approx(there.solution.objective, rel=1e-12)
    assert_allclose(here.result.eigenvalues, there.eigenvalues, rtol=0, atol=1e-11)
    assert_allclose(here.result.contributions[order], there.contributions, rtol=0, atol=1e-8)
    assert here.result.solution.status == there.solution.status == "converged"
    assert here.result.solution.n_iter < there.solution.n_iter  # extrapolated steps
    assert_allclose(here.result.centers.squared_distances(X[:50]), _distances(here, X[:50]), rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("blanks", [False, True], ids=["complete", "blanks"])
@pytest.mark.parametrize("log_bandwidth", [0.0, -2.0, -4.0])
def test_columns_of_few_values_are_exact_at_any_bandwidth(log_bandwidth, blanks, seed):
    """Of codes in memory and of a file, in blocks, as with all rows at once."""
    frame = _few_values(np.random.default_rng(seed), blanks=blanks)
    types = {"order": ("ordinal", [0, 1, 2, 5, 7]), "name": "nominal"}
    arrow = pa.Table.from_pandas(frame, preserve_index=False)
    schema = Schema.learn(arrow, types, "partial")
    codes = schema.encode(arrow)
    asked = {"m": 1.1, "bandwidths": float(np.exp(log_bandwidth)), "tol": TIGHT, "column_types": types}
    settings = settings_of(**asked)
    view = TableView.of_types(codes, schema, None, clip=False)
    there = fit_table(view, settings, np.random.default_rng(0), str)
    assert there.gram.approximation_error < 1e-12
    for table in (
        SourceTable(ArraySource(codes, tuple(frame)), schema=schema),
        SourceTable(ArrowSource(ds.dataset(arrow)), types),
    ):
        here = fit_source(table, settings, LocalEngine(1), np.random.default_rng(0), str)
        assert here.result.approximation_error < 1e-12
        U = np.asarray(here.memberships)
        order = np.argmax(U.T @ there.solution.memberships, axis=0)
        assert_allclose(U[:, order], there.solution.memberships, rtol=0, atol=1e-8)
        assert_allclose(here.result.eigenvalues, there.eigenvalues, rtol=0, atol=1e-10)
        assert here.result.solution.objective == pytest.approx(there.solution.objective, rel=1e-10)
        found, expected = (fit.centers.squared_distances(codes) for fit in (here.result, there))
        assert_allclose(found[:, order], expected, rtol=0, atol=1e-8 * expected.max())


def _few_values(rng, *, blanks, n_rows=300):
    """Two groups in a column of whole numbers, dates, an order, a name and a hundred different numbers."""
    second = np.arange(n_rows) % 2
    frame = pd.DataFrame(
        {
            "count": (rng.integers(1, 4, n_rows) + 20 * second).astype(np.float64),
            "day": pd.Timestamp("2024-03-01") + pd.to_timedelta(rng.integers(0, 9, n_rows) + 400 * second, unit="D"),
            "order": np.where(second, rng.choice([5, 7], n_rows), rng.choice([0, 1, 2], n_rows)),
            "name": np.where(second, "b", rng.choice(["a", "c"], n_rows)),
            "percent": rng.choice(rng.standard_normal(50), n_rows) + 5.0 * second,
        }
    )
    return frame.mask(rng.random(frame.shape) < 0.1) if blanks else frame


def test_columns_of_many_values_that_are_not_resolved_are_reported():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((1000, 2)) + 4.0 * rng.integers(0, 2, (1000, 1))
    asked = {"bandwidths": 0.01, "m": 1.1}
    coarse, fine = in_blocks(X, **asked), in_blocks(X, **{**asked, "bandwidths": 0.5})
    rows = coarse.memberships.rows
    values = np.ascontiguousarray(coarse.view.standardized.T)
    features = rows.features(rows.prepared(values, {}))
    exact = -2.0 * rows.kernel.shifted(values.T, values.T, coarse.result.space.bandwidths)
    squares = np.square(features[:, :, None] - features[:, None, :]).sum(axis=0)
    error = np.abs(squares - exact).max() / exact.mean()
    assert 0.1 * error <= coarse.result.approximation_error <= 1.01 * error
    assert fine.result.approximation_error < 1e-10
    ((message, category),) = remarks(coarse.result, ())
    assert category is ApproximationWarning
    assert f"{coarse.result.approximation_error:.2g}" in message
    assert "larger bandwidths" in message
    assert f"{MOST_VALUES} different values" in message
    assert not list(remarks(fine.result, ()))
    rounded = in_blocks(np.round(X, 1), **asked)
    assert rounded.result.approximation_error == 0.0


def _distances(fit, X):
    rows, reader = fit.memberships.rows, fit.memberships.fitted
    values = np.empty((X.shape[1], len(X)))
    reader.coding.write(next(ArraySource(X).chunks(0, len(X))), values)
    return rows.distances(rows.prepared(values, {}), rows.table(fit.memberships.centers)).T


@pytest.mark.slow
@pytest.mark.parametrize("fuzzifier", Fuzzifier.registry)
@pytest.mark.parametrize("kernel", ["sum", "linear"])
def test_the_objective_never_rises_and_rows_sum_to_one(fuzzifier, kernel, rows):
    fit = in_blocks(rows[0], fuzzifier=fuzzifier, m=None, kernel=kernel, tol=TIGHT)
    path = fit.result.solution.objective_path
    assert (np.diff(path) <= 1e-12 * path[:-1]).all()
    U = np.asarray(fit.memberships)
    assert_allclose(U.sum(axis=1), 1.0, rtol=0, atol=1e-12)
    assert U.min() >= 0


@pytest.mark.slow
def test_threads_memory_and_tasks_change_no_bit(rows):
    X = np.tile(rows[0], (9, 1))[:200_000]
    fits = [
        KFRC(3, bandwidths=1.5, m=1.5, n_init=1, random_state=0, n_jobs=n_jobs).fit(ArraySource(X), memory=memory)
        for n_jobs, memory in ((1, "1GB"), (2, "1GB"), (3, "10MB"))
    ]
    for other in fits[1:]:
        assert_array_equal(other.objective_path_, fits[0].objective_path_)
        assert_array_equal(other.eigenvalues_, fits[0].eigenvalues_)
        assert_array_equal(other.memberships_.head(200), fits[0].memberships_.head(200))


@pytest.mark.slow
def test_a_table_in_memory_and_a_source_of_the_same_rows_give_the_same_bits(rows):
    X, labels = rows
    in_memory, source = (KFRC(3, random_state=0, selection_samples=500).fit(data) for data in (X, ArraySource(X)))
    assert_array_equal(np.asarray(source.memberships_), in_memory.memberships_)
    assert_array_equal(np.asarray(source.labels_), in_memory.labels_)
    assert_array_equal(source.bandwidths_, in_memory.bandwidths_)
    assert source.objective_ == in_memory.objective_
    assert source.uniformity_ == pytest.approx(in_memory.uniformity_, abs=1e-12)
    assert_array_equal(source.cluster_sizes_, np.bincount(in_memory.labels_))
    assert adjusted_rand_score(labels, in_memory.labels_) > 0.85
    assert_allclose(in_memory.predict_proba(X), in_memory.memberships_, rtol=0, atol=1e-10)


@pytest.mark.slow
def test_a_small_source_is_fitted_as_the_table_that_it_is(iris):
    in_memory, source = KFRC(3, random_state=0).fit(iris), KFRC(3, random_state=0).fit(ArraySource(iris))
    assert_array_equal(np.asarray(source.memberships_), in_memory.memberships_)
    assert source.memberships_.shape == (150, 3)
    assert_array_equal(source.labels_, in_memory.labels_)


@pytest.mark.slow
def test_mixed_tables_have_the_same_bits_as_a_source_and_levels_are_found_in_all_rows(rows, tmp_path):
    pytest.importorskip("pyarrow")
    from kfrc.sources import ParquetSource

    X, labels = rows
    rng = np.random.default_rng(3)
    frame = pd.DataFrame(X, columns=list("abcd"))
    frame["color"] = np.array(["red", "green", "blue"])[(labels + (rng.random(N_ROWS) < 0.3)) % 3]
    frame.loc[N_ROWS - 1, "color"] = "grey"  # in one row, the last
    frame["when"] = pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 300, N_ROWS), unit="D")
    frame.loc[rng.random(N_ROWS) < 0.1, ["a", "color"]] = None
    frame["name"] = [f"row {k}" for k in range(N_ROWS)]
    frame.to_parquet(tmp_path / "mixed.parquet", row_group_size=5000)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        in_memory = KFRC(3, random_state=0, m=1.3, level=1.0, max_anisotropy=2.0, n_starts=1).fit(frame)
        source = KFRC(3, random_state=0, m=1.3, level=1.0, max_anisotropy=2.0, n_starts=1).fit(
            ParquetSource(tmp_path / "mixed.parquet")
        )
    assert source.column_types_ == in_memory.column_types_
    assert source.column_types_["name"] == "drop"
    color = next(column for column in source.schema_.columns if column.title == "color")
    assert color.levels == ("blue", "green", "grey", "red")
    assert_array_equal(np.asarray(source.memberships_), in_memory.memberships_)


@pytest.mark.parametrize(
    ("kind", "bandwidth"), [("duration('s')", 0.1), ("decimal128(24, 2)", 6000.0), ("time64('us')", 2.0)]
)
def test_columns_that_are_numbers_once_they_are_encoded_are_so_in_blocks_too(rows, kind, bandwidth):
    pa, dataset = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.dataset").dataset
    from kfrc.sources import ArrowSource

    seconds = np.clip(3000 * rows[0][:, 0] + 40_000, 0, 86_000).astype(np.int64)
    made = {"duration('s')": seconds, "time64('us')": 1_000_000 * seconds}.get(kind, seconds)
    table = pa.table({"a": pa.array(made).cast(eval(f"pa.{kind}")), "b": rows[0][:, 1]})
    settings = {"bandwidths": [bandwidth, 2.0], "m": 1.5, "n_init": 1, "random_state": 0}
    in_memory, source = (KFRC(3, **settings).fit(data) for data in (table, ArrowSource(dataset(table))))
    assert source.column_types_ == in_memory.column_types_ == {"a": "numeric", "b": "numeric"}
    assert_allclose(np.asarray(source.memberships_), in_memory.memberships_, rtol=0, atol=1e-9)
    assert_allclose(
        np.asarray(source.predict_proba(ArrowSource(dataset(table)))), source.memberships_, rtol=0, atol=1e-6
    )


@pytest.mark.slow
def test_one_cluster_and_many_are_fitted_in_blocks_too(rows):
    one = in_blocks_with(rows[0], 1)
    assert_array_equal(np.asarray(one.memberships_.head(3)), np.ones((3, 1)))
    many = in_blocks_with(rows[0], 5)
    assert many.cluster_sizes_.sum() == N_ROWS


def in_blocks_with(X, n_clusters):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return KFRC(n_clusters, bandwidths=1.5, m=1.3, n_init=1, max_iter=20, random_state=0).fit(ArraySource(X))


@pytest.mark.slow
def test_the_number_of_clusters_is_found_for_a_source(rows):
    model = KFRC("auto", max_clusters=4, random_state=0, selection_samples=500).fit(ArraySource(rows[0]))
    assert model.n_clusters_ == 3


@pytest.mark.slow
def test_a_collapse_of_a_source_is_told(rows):
    from kfrc.exceptions import UniformCollapseWarning

    with pytest.warns(UniformCollapseWarning, match="the fit collapsed"):
        model = KFRC(3, bandwidths=0.2, m=8.0, fuzzifier="power", random_state=0, n_init=1).fit(ArraySource(rows[0]))
    assert model.status_ == "collapsed"
    assert model.uniformity_ == pytest.approx(1.0, abs=1e-5)


def test_more_clusters_than_places_are_filled_by_the_rows_that_cost_most():
    X = np.repeat(np.array([[0.0, 0.0], [5.0, 0.0], [0.0, 5.0]]), 8000, axis=0)
    X += 1e-3 * np.random.default_rng(0).standard_normal(X.shape)
    model = KFRC(3, kernel="linear", bandwidths=1.0, m=1.1, init="blocks", n_init=1, random_state=0).fit(ArraySource(X))
    assert sorted(model.cluster_sizes_) == [8000, 8000, 8000]


@pytest.mark.parametrize("method", [FCM, FRC])
def test_fuzzy_c_means_in_blocks_has_the_minimum_of_fuzzy_c_means(method, rows, counts):
    X = rows[0]
    here = method(3, random_state=0, tol=TIGHT).fit(ArraySource(X, weights=counts))
    merged = fitted_rows(X, counts)
    there = solve_fcm(merged.values, 3, Power(2.0), row_weights=merged.weights, tol=TIGHT, random_state=0)
    assert here.objective_ == pytest.approx(there.objective, rel=1e-12)
    assert_allclose(np.sort(here.cluster_centers_, axis=0), np.sort(there.centers, axis=0), rtol=0, atol=1e-8)
    assert (np.diff(here.objective_path_) <= 1e-12 * here.objective_).all()


@pytest.mark.parametrize("method", [FCM, FRC])
def test_fuzzy_c_means_gives_the_same_bits_for_a_table_and_a_source(method, rows, incomplete):
    in_memory, source = method(3, random_state=0).fit(rows[0]), method(3, random_state=0).fit(ArraySource(rows[0]))
    assert_array_equal(np.asarray(source.memberships_), in_memory.memberships_)
    assert_array_equal(source.cluster_centers_, in_memory.cluster_centers_)
    assert_allclose(in_memory.predict_proba(rows[0]), in_memory.memberships_, rtol=0, atol=1e-10)
    partial = method(3, random_state=0).fit(ArraySource(incomplete))
    assert_allclose(partial.cluster_centers_, in_memory.cluster_centers_, rtol=0, atol=0.1)


def test_predictions_of_a_source_are_those_of_its_rows(rows):
    model = KFRC(3, bandwidths=1.5, m=1.5, n_init=1, random_state=0).fit(rows[0])
    assert_array_equal(np.asarray(model.predict_proba(ArraySource(rows[0]))), model.predict_proba(rows[0]))
    assert_array_equal(np.asarray(model.predict(ArraySource(rows[0]))), model.predict(rows[0]))


class Kept(dict):
    """What a fit has found, and a death after some passes."""

    def __init__(self, dies_after=None):
        super().__init__()
        self.dies_after = dies_after

    def load(self, stage):
        return self.get(stage)

    def save(self, stage, content):
        self[stage] = content
        if stage == "passes" and content.n_passes == self.dies_after:
            raise KeyboardInterrupt


@pytest.mark.slow
@pytest.mark.parametrize("n_passes", [1, 3])
def test_a_fit_that_was_stopped_goes_on_to_the_same_bits(n_passes, rows):
    source, settings = ArraySource(rows[0]), {"bandwidths": 1.5, "m": 1.5, "n_init": 1, "random_state": 0}
    whole = KFRC(3, **settings).fit(source)
    kept = Kept(dies_after=n_passes)
    with pytest.raises(KeyboardInterrupt):
        KFRC(3, **settings).fit(source, checkpoint=kept)
    assert kept["passes"].n_passes == n_passes
    kept.dies_after = None
    resumed = KFRC(3, **settings).fit(source, checkpoint=kept)
    assert_array_equal(resumed.objective_path_, whole.objective_path_)
    assert_array_equal(resumed.memberships_.head(100), whole.memberships_.head(100))


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"kernel": "product"}, "product kernel needs all rows at once"),
        ({"memberships": "posterior"}, "needs all rows at once"),
        ({"approximation": "nystrom"}, "approximation must be left"),
    ],
)
def test_what_needs_all_rows_at_once_is_refused_for_a_source(settings, words, rows):
    with pytest.raises(ValueError, match=words):
        KFRC(3, **settings).fit(ArraySource(rows[0]))


def test_weights_of_a_source_are_one_of_its_columns(rows, counts):
    with pytest.raises(ValueError, match="one of its columns"):
        KFRC(3).fit(ArraySource(rows[0]), sample_weight=counts)


def test_methods_without_blocks_say_who_takes_sources(rows):
    with pytest.raises(TypeError, match="KFRC, FCM, and FRC"):
        RFCM(3).fit(ArraySource(rows[0]))


def test_given_memberships_are_no_start_for_a_source(rows):
    with pytest.raises(ValueError, match="init must be a name"):
        FCM(3, init=np.full((N_ROWS, 3), 1 / 3)).fit(ArraySource(rows[0]))
    with pytest.raises(ValueError, match="init must be a name"):
        KFRC(3, init=np.full((N_ROWS, 3), 1 / 3)).fit(ArraySource(rows[0]))


@pytest.mark.parametrize(("memory", "words"), [("1", "at least 10 MB"), ("much", "at least 10 MB"), (-5, "10 MB")])
def test_memory_that_is_none_is_refused(memory, words, rows):
    with pytest.raises(ValueError, match=words):
        KFRC(3).fit(ArraySource(rows[0]), memory=memory)


def test_infinite_values_are_named(rows):
    X = rows[0].copy()
    X[20_500, 1] = np.inf
    with pytest.raises(ValueError, match=r"'1' contains infinity \(the first in row 20500\)"):
        KFRC(3).fit(ArraySource(X))
    with pytest.raises(ValueError, match="infinity"):
        FCM(3).fit(ArraySource(X))


def test_engine_counts_its_workers():
    assert engine_for(n_jobs=2).n_workers == 2
    assert isinstance(engine_for(), LocalEngine)


@pytest.mark.slow
def test_a_kernel_of_ones_own_that_is_a_sum_works_in_blocks(rows):
    from dataclasses import dataclass

    from kfrc.kernels import AdditiveKernel

    @dataclass(frozen=True)
    class Wide(AdditiveKernel):
        """exp(−Δ²/8θ²) for every column."""

        def profile(self, squared_differences: FloatArray) -> FloatArray:
            return np.expm1(-0.125 * squared_differences)

        def profile_derivative(self, squared_differences: FloatArray) -> FloatArray:
            return 0.25 * squared_differences * np.exp(-0.125 * squared_differences)

    here = in_blocks(rows[0], kernel=Wide(), bandwidths=1.0, tol=TIGHT)
    there = in_blocks(rows[0], kernel=Kernel.from_name("sum"), bandwidths=2.0, tol=TIGHT)
    assert_allclose(here.memberships.head(500), there.memberships.head(500), rtol=0, atol=1e-8)


@pytest.mark.slow
@pytest.mark.parametrize("own_scales", [False, True])
def test_a_rule_with_sizes_and_scales_has_the_minimum_of_the_solver_with_all_rows(own_scales, rows):
    X, labels = rows[0][:21_000], rows[1][:21_000]
    X = np.delete(X, np.flatnonzero(labels == 0)[:6000], axis=0)  # clusters of different sizes
    X, start = X / X.std(axis=0), np.eye(3)[np.delete(labels, np.flatnonzero(labels == 0)[:6000])]
    dissimilarity = Dissimilarity(gram_family(X, Kernel.from_name("sum")).at(np.full(4, 1.5)))
    rule = sized_rule(dissimilarity, start, temperature=1.2, own_scales=own_scales)
    there = descend(dissimilarity, rule, start, 1000, 1e-9)
    ends = np.column_stack([X.min(axis=0), X.max(axis=0)])
    kernel = GaussianSum()
    rows_map = ColumnMap.of(kernel, numbers_only(4), np.full(4, 1.5), ends, {}, incomplete=False)
    infinite, zeros, ones = np.full(4, np.inf), np.zeros(4), np.ones(4)
    coding = Standardizing((0, 1, 2, 3), None, -infinite, infinite, zeros, ones)
    reader = Reader(ArraySource(X), coding, Partition(len(X)))
    moments = rows_map.moments(rows_map.prepared(np.ascontiguousarray(X.T), {}), np.ascontiguousarray(start.T))
    centers = rows_map.centers(moments, start.sum(axis=0), None)
    here = solve_blocks(
        LocalEngine(1),
        reader,
        rows_map,
        begin(rows_map, centers, rule, 1000),
        part_totals=np.full(4, float(len(X))),
        mean_square=1.0,
        max_iter=1000,
        tol=1e-9,
    )
    U = np.asarray(here.memberships)
    order = np.argmax(U.T @ there.memberships, axis=0)
    assert_allclose(U[:, order], there.memberships, rtol=0, atol=1e-6)
    assert (np.diff(here.objective_path) <= 1e-11 * np.abs(here.objective_path).max()).all()
    assert here.objective == pytest.approx(there.objective, rel=1e-9)
    assert_allclose(np.array(here.rule.scales)[order], there.fuzzifier.scales, rtol=1e-6)


@pytest.mark.slow
def test_long_clusters_are_found_along_axes_of_their_own_in_blocks_too():
    rng = np.random.default_rng(0)
    along, across = rng.normal(0, 3, N_ROWS), np.repeat([-1.0, 1.0], N_ROWS // 2) + rng.normal(0, 0.25, N_ROWS)
    X = np.column_stack([along + across, along - across])[rng.permutation(N_ROWS)]
    model = KFRC(2, random_state=0, selection_samples=500).fit(X)
    assert model.kernel_.label == "oriented"
    assert adjusted_rand_score(X[:, 0] > X[:, 1], model.labels_) > 0.95
    assert_allclose(model.predict_proba(X), model.memberships_, rtol=0, atol=1e-10)
    assert_array_equal(
        np.asarray(KFRC(2, random_state=0, selection_samples=500).fit(ArraySource(X)).labels_), model.labels_
    )


def test_a_fit_of_a_table_forgets_what_was_known_of_a_source(rows, iris):
    model = KFRC(3, bandwidths=1.5, m=1.5, n_init=1, random_state=0).fit(ArraySource(rows[0]))
    assert model.cluster_sizes_.sum() == N_ROWS
    assert len(model.sample_rows_) == 20_000
    assert not hasattr(model.fit(iris), "cluster_sizes_")


@pytest.mark.parametrize("model", [FCM(4, n_init=1), FRC(4, n_init=1), KFRC(4, bandwidths=2.0, n_init=1)], ids=str)
@pytest.mark.parametrize("n_different", [2, 3])
def test_fewer_different_rows_of_a_source_than_clusters_are_told_and_give_numbers(model, n_different):
    rng = np.random.default_rng(n_different)
    X = 5.0 * rng.standard_normal((n_different, 3))[rng.integers(n_different, size=N_ROWS)]
    with pytest.warns(ConvergenceWarning, match=f"{n_different} of n_clusters = 4 clusters are preferred by any row"):
        fit = model.set_params(random_state=0).fit(ArraySource(X))
    for rows in (X[:9], X[:9] + 0.3):
        assert np.isfinite(fit.transform(rows)).all()
        assert np.isfinite(fit.score(rows))
    assert_allclose(np.asarray(fit.memberships_).sum(axis=1), 1.0)
    assert np.isfinite(getattr(fit, "cluster_centers_", 0.0)).all()
