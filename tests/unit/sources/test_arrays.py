"""Arrays as sources: in memory and mapped from files, in any order and of any type of number."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from kfrc.blocks import LocalEngine, Reader
from kfrc.blocks.histogram import Histogram
from kfrc.blocks.plans import plan_columns
from kfrc.blocks.reader import Coding
from kfrc.blocks.survey import SurveyPass
from kfrc.sources import ArraySource, SourceError, as_source


def rows(source, start=0, stop=None):
    chunks = list(source.chunks(start, len(source) if stop is None else stop))
    return np.concatenate([np.column_stack(chunk.columns) for chunk in chunks])


def histograms(source):
    """Of all columns, from one pass over the rows."""
    survey_pass = SurveyPass(tuple(plan_columns(source, None)), 2**64 - 1)
    engine = LocalEngine(1)
    found = engine.run_on_chunks(survey_pass, Reader(source, Coding(), engine.partition(source)), "")
    assert all(isinstance(column, Histogram) for column in found.columns)
    return found


@pytest.fixture
def values():
    return np.random.default_rng(0).normal(100.0, 30.0, (500, 3))


@pytest.fixture
def mapped(values, tmp_path):
    """The values in a file."""
    X = np.memmap(tmp_path / "rows.bin", dtype=np.float64, mode="w+", shape=values.shape)
    X[:] = values
    X.flush()
    return X


def sent(source):
    return pickle.loads(pickle.dumps(source))


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", ["f8", "f4", "f2", "i8", "i2", "u1", ">f8", "?"])
def test_rows_are_those_of_the_array(values, dtype, order):
    X = np.asarray(values, order=order).astype(dtype, order=order)
    source = ArraySource(X)
    assert (source.shape, source.names, source.in_memory) == ((500, 3), (0, 1, 2), True)
    assert_array_equal(rows(source), X)
    for start, stop in [(0, 1), (17, 230), (499, 500)]:
        assert_array_equal(rows(source, start, stop), X[start:stop])


@pytest.mark.parametrize("dtype", ["f4", "f2", "i8", "u1", ">f8"])
def test_moments_are_computed_in_double_precision_from_any_type(values, dtype):
    """The same numbers give the same bits in a file of one type and in an array of another."""
    X = values.astype(dtype)
    found, expected = histograms(ArraySource(X)), histograms(ArraySource(X.astype(np.float64)))
    for column, other, x in zip(found.columns, expected.columns, X.astype(np.float64).T, strict=True):
        assert column.moments() == other.moments()
        assert column.moments() == pytest.approx((x.mean(), x.std(ddof=1)), rel=1e-12)
    assert all(column.dtype == np.float64 for column in found.sample.columns)


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", ["f8", "f4", "i4"])
def test_a_memmap_is_mapped_again_by_who_receives_it(values, dtype, order, tmp_path):
    X = np.memmap(tmp_path / "rows.bin", dtype=dtype, mode="w+", shape=values.shape, order=order, offset=48)
    X[:] = values
    X.flush()
    source = ArraySource(X, names="abc", weights=np.arange(500))
    content = pickle.dumps(ArraySource(X))
    assert len(content) < 2000  # the name of a file, and no rows
    for other in (sent(source), sent(sent(source))):
        assert isinstance(other.X, np.memmap)
        assert (other.in_memory, other.names, other.shape) == (False, ("a", "b", "c"), (500, 3))
        assert_array_equal(rows(other, 3, 90), X[3:90])
        assert_array_equal(next(other.chunks(3, 90)).weights, np.arange(3, 90))


PARTS = {
    "rows": lambda X: X[100:],
    "columns": lambda X: X[:, 1:],
    "one column": lambda X: X[:, 2:],
    "every third row": lambda X: X[7::3],
    "backwards": lambda X: X[::-1, ::-1],
    "part of a part": lambda X: X[100:][50:, :2],
    "turned": lambda X: X[:9].T,
    "reshaped": lambda X: X.reshape(250, 6)[3:],
    "one row": lambda X: X[4:5],
    "nothing": lambda X: X[:0],
}


@pytest.mark.parametrize("part", PARTS)
def test_a_part_of_a_memmap_is_the_same_part_for_who_receives_it(mapped, part):
    X = PARTS[part](mapped)
    for other in (sent(ArraySource(X)), sent(sent(ArraySource(X)))):
        assert other.shape == X.shape
        assert_array_equal(other.X, X)


def test_a_saved_array_may_be_mapped(values, tmp_path):
    np.save(tmp_path / "rows.npy", np.asfortranarray(values))
    X = np.load(tmp_path / "rows.npy", mmap_mode="r")
    assert_array_equal(sent(ArraySource(X)).X, values)
    assert_array_equal(sent(ArraySource(X[10:, 1:])).X, values[10:, 1:])


@pytest.mark.parametrize("made", [lambda X: X.copy(), lambda X: X.astype(np.float32)], ids=["copy", "type"])
def test_what_was_computed_from_a_memmap_is_in_memory(mapped, made):
    source = ArraySource(made(mapped))
    assert source.in_memory
    assert_array_equal(sent(source).X, made(mapped))


def test_pieces_of_an_array_in_memory_are_read_under_their_row_numbers(values):
    source = ArraySource(values, weights=np.arange(500))
    pieces = source.pieces(100, 200)
    lent = sent(source.without_rows())
    assert len(pickle.dumps(lent)) < 2000
    part = lent.reading(100, 200, pieces)
    assert_array_equal(rows(part, 120, 140), values[120:140])
    assert_array_equal(next(part.chunks(120, 140)).weights, np.arange(120, 140))


def test_a_memmap_has_no_pieces_as_every_process_can_read_it(mapped):
    source = ArraySource(mapped)
    assert source.pieces(0, 10) is None
    assert source.without_rows() is source


def test_masked_values_are_as_missing_as_nan(values):
    masked = np.ma.array(values, mask=values > 120)
    whole = np.ma.array(values.astype(int), mask=values > 120)
    assert_array_equal(np.isnan(rows(ArraySource(masked))), values > 120)
    assert_array_equal(rows(ArraySource(whole)), np.where(values > 120, np.nan, values.astype(int)))


def test_arrays_are_tables_in_memory_unless_they_are_wrapped(values, mapped):
    assert as_source(values) is None
    assert as_source(mapped) is None
    source = ArraySource(mapped)
    assert as_source(source) is source


@pytest.mark.parametrize(
    ("X", "said"),
    [
        (np.zeros(3), "1 dimension"),
        (np.zeros((2, 2, 2)), "3 dimension"),
        ([[1.0, 2.0]], "table"),
        (np.array([["a", "b"]]), "numbers"),
        (np.array([[None, 1.0]]), "numbers"),
        (np.zeros((3, 2), dtype=complex), "numbers"),
    ],
    ids=["line", "cube", "list", "text", "objects", "complex"],
)
def test_what_is_no_table_of_numbers_is_refused(X, said):
    with pytest.raises(ValueError, match=said):
        ArraySource(X)


def test_names_and_weights_must_fit_the_array(values):
    with pytest.raises(ValueError, match=r"3 column.* 2 names"):
        ArraySource(values, names=["a", "b"])
    with pytest.raises(ValueError, match="500 row"):
        ArraySource(values, weights=np.ones(499))
    with pytest.raises(ValueError, match="500 row"):
        ArraySource(values, weights=np.ones((500, 1)))


@pytest.mark.parametrize("weight", [-1.0, np.nan, np.inf, None, "many"])
def test_weights_that_count_no_rows_are_refused(weight):
    with pytest.raises(SourceError, match="weights must"):
        ArraySource(np.zeros((2, 1)), weights=[1.0, weight])
