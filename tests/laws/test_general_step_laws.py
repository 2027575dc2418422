"""What holds for the membership step of the base class, which knows only t, t′ and t″."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from bisection import bisected_inverse_derivative, bisected_memberships
from kfrc import _general_step
from kfrc.fuzzifiers import ComplementaryRoot, Exponential, Fuzzifier, Power, Quadratic
from strategies import (
    USER_FUZZIFIERS,
    Blend,
    General,
    Hyperbola,
    NaiveRoot,
    PlainPower,
    TwoPowers,
    distance_rows,
    general_fuzzifiers,
)

EXACT = 1e-12
WIDE_RANGE = [
    *(Power(m) for m in (1.02, 1.5, 2, 3, 6, 30, 300, 1e4, 1e8)),
    *(Exponential(m) for m in (0.02, 0.5, 2, 8, 30)),
    *(Quadratic(m) for m in (0.02, 0.5, 1)),
    *(ComplementaryRoot(m) for m in (1.02, 1.1, 2, 30, 300)),
]


@given(general_fuzzifiers(), distance_rows(max_clusters=20, min_clusters=1))
@example(Blend(30.0), np.array([[1.0, 1.5, 1.5], [1.0, 1.3277, 4.0], [3.0, 1.0, 1.0]]))
@example(Blend(3.0), np.array([[1.0, 4.0, 4.0 - 1e-9], [1.0, 4.0, 9.0]]))
@example(NaiveRoot(2.0), np.array([[1.0, 1e4], [1.0, 1e7], [1.0, 1e9]]))
def test_general_step_equals_bisection(t, distances):
    assert_allclose(t.memberships(distances), bisected_memberships(t, distances), rtol=0, atol=EXACT)


@pytest.mark.parametrize("t", WIDE_RANGE, ids=repr)
@pytest.mark.parametrize("n_clusters", [1, 2, 3, 7, 20])
@pytest.mark.parametrize("decades", [0.5, 2.0, 4.0, 100.0])
def test_general_step_equals_the_closed_form(t, n_clusters, decades):
    rng = np.random.default_rng(n_clusters)
    distances = 10.0 ** rng.uniform(-decades, decades, size=(200, n_clusters))
    distances[:20, -1] = distances[:20, 0]
    distances[20:40, -1] = np.inf
    distances[20:40, 0] = 1.0
    assert_allclose(General(of=t).memberships(distances), t.memberships(distances), rtol=0, atol=EXACT)


@pytest.mark.parametrize("t", WIDE_RANGE, ids=repr)
def test_brackets_alone_lead_to_the_same_memberships(t, monkeypatch):
    monkeypatch.setattr(_general_step, "_FREE_STEPS", 0)
    distances = 10.0 ** np.random.default_rng(3).uniform(-1, 1, size=(40, 5))
    assert_allclose(General(of=t).memberships(distances), t.memberships(distances), rtol=0, atol=EXACT)


@given(general_fuzzifiers(), distance_rows(max_clusters=20))
def test_memberships_satisfy_the_optimality_conditions(t, distances):
    U = t.memberships(distances)
    assert (U >= 0).all()
    assert_allclose(U.sum(axis=1), 1.0, rtol=0, atol=1e-14)
    with np.errstate(all="ignore"):
        inside = np.clip(U, 1e-17, 1 - 2.0**-53)
        # du per relative change of the slope: residuals are compared in units of memberships.
        width = t.derivative(inside) / t.second_derivative(inside)
        log_multipliers = np.log(t.derivative(inside)) + np.log(distances)
        at_zero = np.log(t.derivative(np.float64(0.0))) + np.log(distances)
    surest = np.where(U > EXACT, width, 0.0).argmax(axis=1)[:, None]
    log_mu = np.take_along_axis(log_multipliers, surest, axis=1)
    positive = U > EXACT
    assert (np.abs(log_multipliers - log_mu) * np.minimum(width, 1.0))[positive].max() <= EXACT
    assert (at_zero >= log_mu - EXACT)[U == 0].all()


@given(general_fuzzifiers(), distance_rows(), st.integers(-100, 100))
def test_general_step_does_not_depend_on_the_scale_of_the_distances(t, distances, exponent):
    assert_allclose(t.memberships(2.0**exponent * distances), t.memberships(distances), rtol=0, atol=1e-13)


@given(general_fuzzifiers(), distance_rows(max_clusters=20), st.randoms(use_true_random=False))
def test_general_step_follows_a_permutation_of_the_clusters(t, distances, random):
    order = list(range(distances.shape[1]))
    random.shuffle(order)
    assert_allclose(t.memberships(distances[:, order]), t.memberships(distances)[:, order], rtol=0, atol=EXACT)


@pytest.mark.parametrize("cls", USER_FUZZIFIERS)
@pytest.mark.parametrize("m", [1.0 + 1e-9, 1.02, 2.0, 30.0, 1000.0])
def test_awkward_rows_give_finite_memberships_without_a_warning(cls, m):
    t = cls(m)
    rows = [
        [1.0, 1.0, 1.0],
        [0.0, 1.0, 0.0],
        [np.inf, 2.0, np.inf],
        [1.0, 1.0, np.inf],
        [1e-310, 1.0, 2.0],
        [1e-200, 1e200, 1.0],
        [1e300, 1e308, 1e305],
        [1.0, 1.0 + 1e-15, 1.0 - 1e-15],
    ]
    U = t.memberships(np.array(rows))
    assert np.isfinite(U).all()
    assert_allclose(U.sum(axis=1), 1.0, rtol=0, atol=1e-14)
    assert_allclose(U[:4], [[1 / 3, 1 / 3, 1 / 3], [0.5, 0, 0.5], [0, 1, 0], [0.5, 0.5, 0]], rtol=0, atol=EXACT)
    assert t.memberships(np.ones((2, 1))).tolist() == [[1.0], [1.0]]
    assert t.memberships(np.empty((0, 3))).shape == (0, 3)


@pytest.mark.parametrize("m", [50.0, 300.0, 1000.0, 1e5])
def test_slopes_that_underflow_do_not_matter(m):
    distances = np.array([[1.0, 3.0, 1e8], [1.0, 1e150, 1e300]])
    assert_allclose(PlainPower(m).memberships(distances), Power(m).memberships(distances), rtol=0, atol=EXACT)


@given(general_fuzzifiers(), st.lists(st.floats(-8, 8), min_size=1, max_size=30))
def test_general_inverse_derivative_equals_bisection(t, logs):
    slopes = np.concatenate([10.0 ** np.array(logs), [0.0, np.inf]])
    u = t.inverse_derivative(slopes)
    inside = np.clip(u, 1e-9, 1 - 1e-9)
    slack = 1e-14 * t.derivative(inside) / t.second_derivative(inside)
    assert (np.abs(u - bisected_inverse_derivative(t, slopes)) <= EXACT + slack).all()
    assert u[-2:].tolist() == [0.0, 1.0]


@pytest.mark.parametrize("t", [Blend(), PlainPower(), TwoPowers(), NaiveRoot(), Hyperbola()], ids=repr)
def test_inverse_derivative_keeps_the_shape_of_its_argument(t):
    assert t.inverse_derivative(0.7).shape == ()
    assert t.inverse_derivative([[0.7, 0.8]]).shape == (1, 2)


def test_few_evaluations_of_the_slope_are_enough():
    calls = []

    class Counted(Blend):
        def derivative(self, u):
            calls.append(np.size(u))
            return super().derivative(u)

    distances = np.random.default_rng(0).chisquare(3, size=(2000, 5))
    Counted().memberships(distances)
    assert sum(calls) <= 12 * distances.size
    assert len(calls) <= 12


def test_a_second_derivative_may_be_a_number():
    class Bowl(Fuzzifier):
        def value(self, u):
            return (u + u * u) / 2

        def derivative(self, u):
            return (1 + 2 * u) / 2

        def second_derivative(self, u):
            return 1.0

    distances = np.array([[1.0, 2.0, 5.0]])
    assert_allclose(Bowl().memberships(distances), Quadratic(0.5).memberships(distances), rtol=0, atol=EXACT)
