"""Corners of the library: what few tables have, and what is said of it."""

from __future__ import annotations

import datetime
import pickle
import types
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import cdist
from sklearn.mixture import GaussianMixture

import kfrc
from kfrc import FCM, FRC, KFRC
from kfrc._eigenpairs import exceed, smallest_eigenvalue
from kfrc._validation import check_labels
from kfrc.activity import Follower
from kfrc.blocks import BLOCK_ROWS, LocalEngine, Partition, Reader, engine, parse_memory
from kfrc.blocks.connection import WorkerError
from kfrc.blocks.plans import plan_columns
from kfrc.blocks.reader import Coding
from kfrc.blocks.survey import survey_rows
from kfrc.columns import Schema, table_of
from kfrc.columns.base import is_blank
from kfrc.confidence import principal_coordinates
from kfrc.exceptions import TrivialPartitionWarning
from kfrc.existence import test_existence as existence_of
from kfrc.fitting import SourceTable, fit_source, resolve_settings
from kfrc.index_table import Indices
from kfrc.outliers import describe_lone_values
from kfrc.relational import Status
from kfrc.selection.relations import count_relation
from kfrc.sources import ArraySource, ArrowSource, SourceError, table_of_rows
from kfrc.sources.compact import Compact
from kfrc.sources.footers import Footer
from kfrc.sources.text import _parsed

N_ROWS = 120


@pytest.fixture(scope="module")
def pairs():
    """Two groups in the plane."""
    rng = np.random.default_rng(0)
    return np.repeat([[0.0, 0.0], [8.0, 8.0]], N_ROWS // 2, axis=0) + rng.standard_normal((N_ROWS, 2))


@pytest.fixture(scope="module")
def words():
    return np.repeat(["low", "high"], N_ROWS // 2)


def of_columns(**columns):
    return ArrowSource(ds.dataset(pa.table(columns)))


def fitted(source, column_types=None, missing="partial", **parameters):
    return fitted_table(SourceTable(source, column_types, missing), **parameters)


def fitted_table(table, **parameters):
    """A fit block by block, also of few rows."""
    given = {"bandwidths": 1.5, "m": 1.5, "n_init": 1, **parameters}
    settings = resolve_settings(KFRC(2, **given).get_params(deep=False), 2)
    return fit_source(table, settings, LocalEngine(1), np.random.default_rng(0), str)


def splits_in_halves(found):
    labels = np.asarray(found.memberships).argmax(axis=1)
    return len(set(labels[: N_ROWS // 2])) == len(set(labels[N_ROWS // 2 :])) == 1 and labels[0] != labels[-1]


def test_blanks_of_a_source_are_refused_by_name(pairs):
    source = of_columns(x=pairs[:, 0], y=[None, *pairs[1:, 1]])
    with pytest.raises(ValueError, match=r"values are missing: 'y' \(1\)"):
        fitted(source, missing="error")


def test_blanks_of_a_source_are_a_level(pairs, words):
    source = of_columns(x=pairs[:, 0], word=[None, None, *words[2:]])
    found = fitted(source, missing="level")
    assert found.schema.columns[1].blank
    assert splits_in_halves(found)


def test_a_column_of_a_source_without_values_is_left_out(pairs):
    source = of_columns(x=pairs[:, 0], y=pairs[:, 1], nothing=pa.nulls(N_ROWS, pa.float64()))
    with pytest.warns(UserWarning, match="nothing.*no value at all"):
        found = fitted(source)
    assert splits_in_halves(found)


def test_a_source_of_nothing_is_refused():
    source = of_columns(x=pa.nulls(N_ROWS, pa.float64()))
    with pytest.warns(UserWarning, match="no value"), pytest.raises(ValueError, match="no column of X is left"):
        fitted(source)


def halves(first, second):
    """A column whose halves differ."""
    return [first] * (N_ROWS // 2) + [second] * (N_ROWS // 2)


NOON, MIDNIGHT = (datetime.datetime(2020, 1, 1, hour) for hour in (12, 0))
TYPED = {
    "numbers that are names": (halves(10, 30), "nominal"),
    "broken numbers that are names": (halves(10.5, 30.0), "nominal"),
    "decimals that are names": (halves(Decimal("1.5"), Decimal("2.5")), "nominal"),
    "numbers in an order": ([3, 5] * (N_ROWS // 4) + [5, 9] * (N_ROWS // 4), ("ordinal", [3, 5, 9])),
    "truths": (halves(True, False), "nominal"),
    "words": (halves("low", "high"), None),
    "hours": (halves(NOON, MIDNIGHT), ("date", "hour")),
    "months": (halves(datetime.date(2020, 1, 1), datetime.date(2020, 7, 1)), ("date", "month")),
}


@pytest.mark.parametrize("blanks", ["none", "partial", "level"])
@pytest.mark.parametrize("name", TYPED)
def test_levels_of_a_source_are_those_of_the_table_in_memory(pairs, name, blanks):
    """Whatever levels are made of: the rows of a source, of codes or of a file, are those of the table."""
    values, kind = TYPED[name]
    if blanks != "none":
        values = [None if i % 7 == 0 else value for i, value in enumerate(values)]
    arrow = pa.table({"c": values, "x": pairs[:, 0]})
    frame = pd.DataFrame({"c": pd.Series(values, dtype=object), "x": pairs[:, 0]})
    types, missing = {"c": kind} if kind else None, "partial" if blanks == "none" else blanks
    settings = {"bandwidths": 1.5, "m": 1.5, "n_init": 1, "random_state": 0}
    model = KFRC(2, column_types=types, missing=missing, **settings).fit(frame)
    schema = Schema.learn(frame, types, missing)
    coded = SourceTable(ArraySource(schema.encode(frame), ("c", "x")), None, missing, schema=schema)
    for source in (SourceTable(ArrowSource(ds.dataset(arrow)), types, missing), coded):
        found = fitted_table(source)
        assert_allclose(np.asarray(found.memberships), model.memberships_, atol=1e-6)


def test_hours_of_a_source_come_round():
    """Shortly before and shortly after midnight is one time, noon another."""
    midnight = [datetime.datetime(2020, 1, 1 + i % 9, (23, 0, 1)[i % 3]) for i in range(60)]
    noon = [datetime.datetime(2020, 1, 1 + i % 9, (11, 12, 13)[i % 3]) for i in range(60)]
    found = fitted(of_columns(time=midnight + noon), {"time": ("date", "hour")}, bandwidths=1.0)
    assert [column.name for column in found.schema.columns] == ["cyclic"]
    assert splits_in_halves(found)


def test_too_many_levels_of_a_source_are_refused_if_asked_for():
    names = [f"name {k}" for k in range(3000)]
    source = of_columns(x=np.arange(3000.0), name=names)
    with pytest.raises(ValueError, match="'name' has 3000 levels"):
        fitted(source, {"name": "nominal"})


@pytest.mark.parametrize("estimator", [FCM(2, random_state=0), FRC(2, random_state=0)])
def test_a_small_source_is_fitted_as_the_table_that_it_is(pairs, estimator):
    of_table = kfrc.FCM(2, random_state=0) if isinstance(estimator, FCM) else FRC(2, random_state=0)
    of_table.fit(pairs)
    estimator.fit(of_columns(x=pairs[:, 0], y=pairs[:, 1]))
    assert_allclose(np.asarray(estimator.memberships_), of_table.memberships_, atol=1e-8)
    assert list(estimator.feature_names_in_) == ["x", "y"]


def test_names_of_an_earlier_fit_are_forgotten(pairs):
    model = FCM(2, random_state=0).fit(pd.DataFrame(pairs, columns=["x", "y"]))
    model.fit(ArraySource(pairs))
    assert not hasattr(model, "feature_names_in_")


def test_what_missing_may_be_is_said(pairs):
    with pytest.raises(ValueError, match=r"missing must be .*'never'"):
        KFRC(2, missing="never").fit(pairs)


def test_types_of_columns_are_given_by_name(pairs):
    with pytest.raises(TypeError, match="column_types must map names"):
        KFRC(2, column_types=["numeric", "nominal"]).fit(pairs)


def test_a_table_of_one_row_is_refused():
    with pytest.raises(ValueError, match=r"X has 1 row\(s\), at least 2"):
        KFRC(2).fit(pd.DataFrame({"x": [1.0], "word": ["a"]}))


def test_tables_of_polars_may_hold_durations():
    days = table_of(pl.DataFrame({"d": [datetime.timedelta(days=k) for k in (1, 2, 6)]}))
    numbers = table_of(np.array([[1.0], [2.0], [6.0]]))
    assert_allclose(days.values, numbers.values)


@pytest.mark.parametrize("values", [[datetime.timedelta(days=k) for k in (1, 2, 6)], [Decimal(k) for k in (1, 2, 6)]])
def test_objects_that_are_amounts_are_numbers(values):
    table = table_of(pd.DataFrame({"d": pd.Series(values, dtype=object)}))
    assert table.columns[0].name == "numeric"
    assert_allclose(table.values, table_of(np.array([[1.0], [2.0], [6.0]])).values)


def test_hours_of_a_time_are_levels():
    times = pd.DataFrame({"t": pd.to_datetime(["2020-01-01 00:00", "2020-01-02 23:59", "2020-01-03 12:00"])})
    assert_array_equal(table_of(times, {"t": ("date", "hour")}).values[:, 0], [0, 23, 12])


def test_times_with_zones_are_taken_in_universal_time():
    zone = datetime.timezone(datetime.timedelta(hours=2))
    here = [datetime.datetime(2020, 1, 1, hour, tzinfo=zone) for hour in (2, 7, 14)]
    frame = pd.DataFrame({"t": pd.Series(here, dtype=object)})
    assert_array_equal(table_of(frame, {"t": ("date", "hour")}).values[:, 0], [0, 5, 12])


def test_numbers_are_no_dates():
    with pytest.raises(ValueError, match="'t' is to hold dates, but holds"):
        table_of(pd.DataFrame({"t": [1.0, 2.0, 3.0]}), {"t": "date"})


def test_a_table_in_which_nothing_varies_is_refused():
    with pytest.raises(ValueError, match="no column of X varies"):
        table_of(pd.DataFrame({"x": [1.0, 1.0], "word": ["a", "a"]}))


def test_a_table_is_cut_in_one_direction_at_a_time():
    table = table_of(np.array([[1.0, 2.0], [3.0, 5.0]]))
    with pytest.raises(IndexError, match="not by both"):
        table[:1, :1]


def test_numbers_and_texts_of_fixed_length_are_never_blank():
    assert not is_blank(np.array([0, 1])).any()
    assert not is_blank(np.array(["", "a"])).any()


def test_few_rows_of_a_table_show_no_groups():
    found = existence_of(table_of(pd.DataFrame({"word": ["a", "b", "a"]})), random_state=0)
    assert (found.p_value, found.n_draws) == (1.0, 0)


def test_indices_of_a_matrix_that_is_not_square_are_refused(pairs):
    with pytest.raises(ValueError, match="square"):
        kfrc.indices(pairs[:20], [2, 3], estimator=FRC(metric="precomputed"), metric="precomputed", n_refits=0)


def test_distances_of_a_table_of_words_need_another_metric(words):
    frame = pd.DataFrame({"x": np.arange(N_ROWS, dtype=float), "word": words})
    with pytest.raises(ValueError, match='metric="euclidean" needs complete numbers'):
        kfrc.indices(frame, [2], metric="euclidean", n_refits=0)


@pytest.mark.slow
def test_units_of_indices_can_be_asked_for(pairs):
    """The separation of a model without units is that of standard units of a table with them."""
    scaled = pairs * [1.0, 1000.0]
    asked = [
        kfrc.indices(scaled, [2], estimator=GaussianMixture(random_state=0), standardize=given, n_refits=0)
        for given in (True, False)
    ]
    unscaled = kfrc.indices(pairs, [2], estimator=GaussianMixture(random_state=0), standardize=True, n_refits=0)
    assert_allclose(asked[0]["XB"], unscaled["XB"], rtol=1e-6)
    assert asked[1]["XB"][0] != pytest.approx(asked[0]["XB"][0], rel=1e-3)


def test_evidence_that_cannot_be_had_is_told():
    X = np.random.default_rng(0).standard_normal((5, 2))
    R = cdist(X, X, "sqeuclidean")
    found = kfrc.indices(R, [2, 3], estimator=FRC(metric="precomputed"), metric="precomputed", n_refits=0)
    assert found.automatic is None
    assert found.remark == ""
    assert np.isnan(found["evidence"]).all()
    assert "no evidence: " in found.failures[2]
    assert np.isfinite(found["PC"]).all()


def test_indices_have_no_other_attributes(pairs):
    found = kfrc.indices(pairs[::4], [2], estimator=FCM(), n_refits=0, random_state=0)
    with pytest.raises(AttributeError, match="Indices has no attribute 'verdict'"):
        _ = found.verdict
    assert bool(found)
    assert_array_equal(found.index, [2])
    assert Indices.higher_is_better("fuzzy silhouette")
    assert not Indices.higher_is_better("PE")


def test_a_matrix_of_few_samples_has_no_number_of_clusters():
    with pytest.raises(ValueError, match="needs at least 6 samples"):
        count_relation(np.eye(5), 4, np.random.default_rng(0))


def test_samples_that_are_all_alike_have_one_place():
    assert_array_equal(principal_coordinates(np.zeros((4, 4))), np.zeros((4, 1)))


@pytest.mark.parametrize("smallest", [-2.0, 0.0, 0.5])
def test_eigenvalues_of_a_large_matrix_are_compared_with_a_bound(smallest):
    rng = np.random.default_rng(0)
    axes = np.linalg.qr(rng.standard_normal((1100, 3)))[0]
    M = 2.0 * np.eye(1100) + axes @ np.diag([3.0, 1.0, smallest - 2.0]) @ axes.T
    assert smallest_eigenvalue(M) == pytest.approx(smallest, abs=1e-10)
    assert exceed(M, smallest - 1e-9)
    assert not exceed(M, smallest + 1e-9)


def test_labels_are_one_for_each_sample():
    assert_array_equal(check_labels(["b", "a", "b"], 3), [1, 0, 1])
    with pytest.raises(ValueError, match="one-dimensional"):
        check_labels([[1, 2]])
    with pytest.raises(ValueError, match="got 2 labels for 3 samples"):
        check_labels([1, 2], 3)


@pytest.mark.parametrize("memory", ["1.2.3GB", ".", "9" * 400 + "GB"])
def test_memory_that_is_no_number_is_refused(memory):
    with pytest.raises(ValueError, match="memory must be at least 10 MB"):
        parse_memory(memory)


def test_what_another_process_tells_is_heard_by_all():
    outer, inner = [], []
    Follower(inner.append, every=3600.0, outer=Follower(outer.append, every=0.0)).tell("fitting")
    assert ["fitting" in text for text in outer] == [True]
    assert inner == []  # something was shown a moment ago


def test_many_columns_of_one_value_are_counted():
    X = np.zeros((9, 7))
    X[3] = 4.0
    said = describe_lone_values(X, dict.fromkeys(range(7), 3), np.arange(7), None)
    assert said.startswith("7 column(s)")
    assert "; 2 more column(s)." in said


def test_a_structure_within_structures_without_end_is_refused():
    with pytest.raises(ValueError, match="without end"):
        Compact(b"\x1c" * 1000).read({})


def test_rows_in_one_stretch_are_taken_from_it(pairs):
    source = of_columns(x=np.arange(70_000.0))
    assert table_of_rows(source, np.array([69_990]), ["x"])["x"].to_pylist() == [69_990.0]


def test_a_stream_in_memory_cannot_be_sent_to_a_cluster():
    with pytest.raises(SourceError, match="write it to files"):
        of_columns(x=[1.0, 2.0]).place(types.SimpleNamespace())


def test_a_library_that_is_not_there_has_no_attribute():
    with pytest.raises(AttributeError, match="no attribute 'clusterings'"):
        _ = kfrc.clusterings


def test_methods_of_points_name_the_column_of_a_source_that_is_no_number(pairs, words):
    source = of_columns(x=np.tile(pairs[:, 0], 200), word=np.tile(words, 200))
    with pytest.raises(ValueError, match="FCM needs numbers, but column 'word' of the source holds something else"):
        FCM(2).fit(source)


@pytest.mark.parametrize(
    ("blanks", "missing", "words"),
    [
        (1, "error", "values are missing: fill them in, or use missing='partial'"),
        (None, "partial", "nothing is known in column 'y' of the source: leave it out"),
    ],
)
def test_blanks_that_methods_of_points_cannot_take_from_a_source_are_told(pairs, blanks, missing, words):
    X = np.tile(pairs, (200, 1))
    X[:blanks, 1] = np.nan
    with pytest.raises(ValueError, match=words):
        FCM(2, missing=missing).fit(of_columns(x=X[:, 0], y=X[:, 1]))


def test_weights_of_a_source_that_count_no_rows_are_refused(pairs):
    source = ArraySource(pairs, weights=np.full(N_ROWS, 1e-4))
    with pytest.raises(SourceError, match=r"sum to 0\.012, but they say how many rows a row stands for"):
        fitted(source)


def test_a_sample_of_few_rows_that_count_is_drawn_again_from_these_alone():
    n_rows = 300_000
    weights = np.zeros(n_rows)
    weights[::100] = 1.0
    source = ArraySource(np.arange(float(n_rows))[:, None], weights=weights)
    survey = survey_rows(LocalEngine(1), source, plan_columns(source, None))
    assert_array_equal(np.sort(survey.sample.rows), np.arange(0, n_rows, 100))


def test_steps_that_run_out_end_a_fit_of_a_source_with_the_best_that_was_found(pairs):
    rng = np.random.default_rng(0)
    source = ArraySource(rng.standard_normal((500, 2)))
    short, long = (fitted(source, max_iter=n, m=1.2, tol=1e-12) for n in (3, 300))
    short, long = short.result.solution, long.result.solution
    assert (short.status, long.status) == (Status.MAX_ITER, Status.CONVERGED)
    assert short.n_iter < long.n_iter
    assert short.objective >= long.objective


@pytest.mark.parametrize(
    ("seconds", "words"), [(3.4, "3 s"), (99.0, "99 s"), (150.0, "2 min"), (5990.0, "100 min"), (9000.0, "2.5 h")]
)
def test_durations_are_told_in_units_that_fit_them(seconds, words):
    assert engine._duration(seconds) == words


def test_a_worker_of_another_version_is_refused_before_it_computes():
    with pytest.raises(WorkerError, match=rf"a worker has kfrc {kfrc.__version__}, but the fit is of 0\.0\.0"):
        engine._run_remotely(lambda reader, blocks: 1 / 0, None, range(1), "0.0.0")


def test_results_of_more_tasks_than_are_begun_at_once_come_in_order():
    source = ArraySource(np.arange(9.0 * BLOCK_ROWS)[:, None])
    reader = Reader(source, Coding(), Partition(source.n_rows, 1))
    found = list(LocalEngine(2).each(lambda block: block.first, reader, ""))
    assert found == [[k * BLOCK_ROWS] for k in range(9)]


def footer_of(n_rows, *groups):
    groups = [types.SimpleNamespace(num_rows=n) for n in groups]
    return types.SimpleNamespace(num_rows=n_rows, num_row_groups=len(groups), row_group=groups.__getitem__)


@pytest.mark.parametrize(("n_rows", "groups"), [(5, (3, 3)), (5, (6, -1)), (1, ())])
def test_a_parquet_file_whose_parts_have_other_rows_than_it_is_damaged(n_rows, groups):
    with pytest.raises(SourceError, match="f is damaged: its parts have other rows than it"):
        Footer("f", 100, footer_of(n_rows, *groups), pa.schema([("x", pa.float64())]))


def test_what_the_system_says_of_a_text_file_is_said_as_it_is():
    with pytest.raises(PermissionError, match="Permission denied"), _parsed("f.csv"):
        raise PermissionError(13, "Permission denied")
    with pytest.raises(SourceError, match=r"f\.csv cannot be read as a table of text: odd"), _parsed("f.csv"):
        raise OSError("odd\nlines")


def test_a_part_of_a_file_in_memory_without_rows_has_the_shape_and_no_rows(tmp_path):
    X = np.memmap(tmp_path / "X", np.float64, "w+", shape=(6, 2))
    part = pickle.loads(pickle.dumps(ArraySource(X[6:])))
    assert (part.n_rows, part.X.shape, part.X.dtype) == (0, (0, 2), np.float64)


def test_one_cluster_has_no_choice_that_supplies_probabilities(pairs):
    words = r'"posterior" needs an automatic choice.*one cluster leaves nothing to choose'
    with pytest.warns(TrivialPartitionWarning), pytest.raises(ValueError, match=words):
        KFRC(1, memberships="posterior").fit(pairs)
