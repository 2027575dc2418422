"""What every type of column must do: codes for values, one unit for all types, squared distances of some space."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from kfrc.columns import Column
from kfrc.columns.base import is_blank

TYPES = list(Column.registry)


def learned(name, weights=None):
    cls = Column.registry[name]
    raw = cls.example_values()
    column = cls.learn("example", raw)
    codes = column.encode(raw)
    return column.scaled(codes, weights), raw, codes


@pytest.mark.parametrize("name", TYPES)
def test_blanks_and_only_blanks_have_no_code(name):
    _, raw, codes = learned(name)
    assert is_blank(raw).any()
    assert_array_equal(np.isnan(codes), is_blank(raw))


@pytest.mark.parametrize("name", TYPES)
def test_codes_of_values_do_not_depend_on_the_other_rows(name):
    column, raw, codes = learned(name)
    assert_array_equal(column.encode(raw[::-1]), codes[::-1])
    assert_array_equal(column.encode(raw[:3]), codes[:3])


@pytest.mark.parametrize("name", TYPES)
@pytest.mark.parametrize("weighted", [False, True])
def test_every_column_has_total_variance_one(name, weighted):
    n_rows = len(Column.registry[name].example_values())
    weights = np.arange(1.0, n_rows + 1) if weighted else None
    column, _, codes = learned(name, weights)
    known = ~np.isnan(codes)
    z = column.standardize(codes)[known]
    s = np.ones(len(z)) if weights is None else weights[known]
    assert_allclose(s @ column.squares(z, z) @ s / (2 * s.sum() * (s.sum() - 1)), 1.0, rtol=1e-12)


@pytest.mark.parametrize("name", TYPES)
def test_a_weight_is_a_number_of_copies(name):
    cls = Column.registry[name]
    raw = cls.example_values()
    weights = np.arange(len(raw)) % 4
    column = cls.learn("example", raw)
    weighted = column.scaled(column.encode(raw), weights.astype(float))
    repeated = column.scaled(column.encode(np.repeat(raw, weights)), None)
    assert_allclose(weighted.scale, repeated.scale, rtol=1e-12)
    codes = column.encode(raw)
    assert_allclose(weighted.standardize(codes), repeated.standardize(codes), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("name", TYPES)
@pytest.mark.parametrize("bandwidth", [0.3, 1.0, 7.0])
def test_squares_are_squared_distances_between_points(name, bandwidth):
    column, _, codes = learned(name)
    z = column.standardize(codes[~np.isnan(codes)])
    squares = column.squares(z, z, bandwidth)
    assert_allclose(squares, squares.T, rtol=1e-14)
    assert_array_equal(np.diagonal(squares), 0.0)
    assert_allclose(squares * bandwidth**2, column.squares(z, z), rtol=1e-12)
    H = np.eye(len(z)) - 1.0 / len(z)
    assert np.linalg.eigvalsh(-0.5 * H @ squares @ H).min() > -1e-10 * squares.max()
    assert np.linalg.eigvalsh(np.exp(-0.5 * squares)).min() > -1e-12


@pytest.mark.parametrize("name", TYPES)
def test_a_blank_level_keeps_the_codes_of_the_others_and_is_apart_from_all(name):
    cls = Column.registry[name]
    raw = cls.example_values()
    plain, blank = cls.learn("example", raw), cls.learn("example", raw).with_blank()
    known = ~is_blank(raw)
    assert_array_equal(blank.encode(raw)[known], plain.encode(raw)[known])
    if not cls.discrete:
        assert_array_equal(np.isnan(blank.encode(raw)), ~known)
        return
    codes = blank.encode(raw)
    assert not np.isnan(codes).any()
    column = blank.scaled(codes, None)
    assert (column.squares(codes[~known][:1], codes[known]) > 0).all()
    H = np.eye(len(codes)) - 1.0 / len(codes)
    assert np.linalg.eigvalsh(-0.5 * H @ column.squares(codes, codes) @ H).min() > -1e-10


@pytest.mark.parametrize("name", TYPES)
def test_a_column_without_two_values_does_not_vary(name):
    cls = Column.registry[name]
    raw = cls.example_values()
    first = raw[~is_blank(raw)][:1]
    column = cls.learn("example", raw)
    assert column.varies(column.encode(raw))
    assert not column.varies(column.encode(np.repeat(first, 3)))
    assert not column.varies(np.full(3, np.nan))
