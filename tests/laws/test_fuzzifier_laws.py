"""What holds for every registered fuzzifier, at every m of its range."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from bisection import bisected_inverse_derivative, bisected_memberships
from kfrc.fuzzifiers import ComplementaryRoot, Fuzzifier, Interval, Power, Quadratic, resolve_fuzzifier
from strategies import FUZZIFIERS, Blend, PlainPower, build_fuzzifier, distance_rows, fuzzifiers

ALGEBRA = 1e-10


interior = st.floats(1e-3, 1 - 1e-3)


@given(fuzzifiers())
def test_endpoints_are_fixed(t):
    assert t.value(np.float64(0.0)) == 0.0
    assert t.value(np.float64(1.0)) == pytest.approx(1.0, abs=1e-14)


@given(fuzzifiers(), interior)
def test_value_increases_and_stays_inside_the_unit_interval(t, u):
    step = 1e-3 * min(u, 1 - u)
    assert 0 <= t.value(u - step) <= t.value(u) <= t.value(u + step) <= 1
    assert t.derivative(u) > 0


@given(fuzzifiers(), interior)
def test_fuzzifier_is_strictly_convex(t, u):
    # Relative: near the hard end of m the curvature is tiny, but it is never absent.
    assert t.second_derivative(u) > 0
    assert t.derivative(u) < t.derivative(u + 0.5 * (1 - u))


@given(fuzzifiers(), interior)
def test_value_lies_below_the_diagonal(t, u):
    assert t.value(u) <= u * (1 + 1e-14)


@given(fuzzifiers(), st.floats(0.02, 0.98))
def test_derivatives_are_the_slopes_of_the_functions_they_differentiate(t, u):
    h = 1e-5 * min(u, 1 - u)
    first = (t.value(u + h) - t.value(u - h)) / (2 * h)
    second = (t.derivative(u + h) - t.derivative(u - h)) / (2 * h)
    assert t.derivative(u) == pytest.approx(first, rel=1e-5, abs=1e-7)
    assert t.second_derivative(u) == pytest.approx(second, rel=1e-5, abs=1e-7)


@given(fuzzifiers(), st.integers(2, 12), st.floats(1.001, 1.5))
def test_inverse_kappa_rises_with_m_towards_the_threshold(t, n_clusters, factor):
    threshold = t.threshold(n_clusters)
    assert 0 < t.inverse_kappa(n_clusters) <= threshold * (1 + 1e-12)
    fuzzier = t.m * factor
    assume(fuzzier in t.m_range)
    assert t.with_m(fuzzier).inverse_kappa(n_clusters) >= t.inverse_kappa(n_clusters) * (1 - 1e-12)


@given(fuzzifiers(), st.integers(2, 12))
def test_closed_form_of_kappa_equals_its_definition(t, n_clusters):
    u = np.float64(1 / n_clusters)
    by_definition = 2 * t.derivative(u) ** 2 / (t.value(u) * t.second_derivative(u))
    assert t.kappa(n_clusters) == pytest.approx(by_definition, rel=1e-9)
    assert t.inverse_kappa(n_clusters) == pytest.approx(Fuzzifier.inverse_kappa(t, n_clusters), rel=1e-9)


@pytest.mark.parametrize("name", FUZZIFIERS)
@pytest.mark.parametrize("n_clusters", [2, 3, 7, 20])
def test_closed_form_of_the_threshold_equals_the_numerical_limit(name, n_clusters):
    t = Fuzzifier.from_name(name)
    assert t.threshold(n_clusters) == pytest.approx(Fuzzifier.threshold(t, n_clusters), rel=1e-4)


@pytest.mark.parametrize(
    ("name", "expected"),
    [("power", 0.5), ("exponential", 0.5), ("quadratic", 0.25), ("complementary_root", 0.5 * math.log(4 / 3))],
)
def test_thresholds_are_those_of_the_paper(name, expected):
    assert Fuzzifier.from_name(name).threshold(4) == pytest.approx(expected, rel=1e-12)


@given(st.sampled_from(FUZZIFIERS), st.integers(2, 12), st.floats(0.02, 0.98))
def test_kappa_times_the_eigenvalue_is_one_at_the_critical_m(name, n_clusters, share):
    t = Fuzzifier.from_name(name)
    eigenvalue = share * t.threshold(n_clusters)
    critical = t.critical_m(n_clusters, eigenvalue)
    assert critical in t.m_range
    assert t.with_m(critical).inverse_kappa(n_clusters) == pytest.approx(eigenvalue, rel=1e-8)
    assert critical == pytest.approx(Fuzzifier.critical_m(t, n_clusters, eigenvalue), rel=1e-8)


@pytest.mark.parametrize("name", FUZZIFIERS)
def test_no_m_is_critical_above_the_threshold(name):
    t = Fuzzifier.from_name(name)
    assert t.critical_m(3, t.threshold(3)) == math.inf
    assert t.critical_m(3, 1.0) == math.inf


@given(fuzzifiers(), interior)
def test_inverse_derivative_undoes_the_derivative(t, u):
    # Conditioning: an error ε in the slope t′ is an error ε t′/t″ in u.
    slack = 1e-14 * t.derivative(u) / t.second_derivative(u)
    assert float(t.inverse_derivative(t.derivative(u))) == pytest.approx(u, abs=1e-12 + 10 * slack)


@given(fuzzifiers(), st.floats(1e-6, 1e6))
def test_closed_form_of_the_inverse_derivative_equals_bisection(t, slope):
    u = float(bisected_inverse_derivative(t, slope))
    inside = min(max(u, 1e-9), 1 - 1e-9)
    slack = 1e-14 * t.derivative(inside) / t.second_derivative(inside)
    assert float(t.inverse_derivative(slope)) == pytest.approx(u, abs=1e-10 + 10 * slack)


@given(fuzzifiers(), distance_rows())
def test_memberships_lie_on_the_simplex(t, distances):
    U = t.memberships(distances)
    assert U.shape == distances.shape
    assert (U >= 0).all()
    assert_allclose(U.sum(axis=1), 1.0, rtol=0, atol=1e-12)


@given(fuzzifiers(), distance_rows(decades=2.0))
def test_closed_form_memberships_equal_bisection(t, distances):
    assert_allclose(t.memberships(distances), bisected_memberships(t, distances), rtol=0, atol=ALGEBRA)


@given(fuzzifiers(), distance_rows(decades=2.0), st.integers(0, 2**32 - 1))
def test_no_feasible_perturbation_of_the_memberships_is_better(t, distances, seed):
    U = t.memberships(distances)
    cost = (t.value(U) * distances).sum(axis=1)
    rng = np.random.default_rng(seed)
    for size in (1.0, 1e-1, 1e-2, 1e-3):
        other = rng.dirichlet(np.ones(U.shape[1]), size=len(U))
        trial = (1 - size) * U + size * other
        assert ((t.value(trial) * distances).sum(axis=1) >= cost - 1e-12 * np.abs(cost)).all()
    vertices = np.eye(U.shape[1])
    for vertex in vertices:
        assert ((t.value(vertex) * distances).sum(axis=1) >= cost * (1 - 1e-12)).all()


@pytest.mark.parametrize(
    ("name", "m", "written_out"),
    [
        ("power", 3.0, lambda u: u**3),
        ("exponential", 1.5, lambda u: (math.exp(1.5 * u) - 1) / (math.exp(1.5) - 1)),
        ("quadratic", 0.3, lambda u: 0.3 * u**2 + 0.7 * u),
        ("complementary_root", 4.0, lambda u: 1 - (1 - u) ** 0.25),
    ],
)
def test_fuzzifiers_are_the_functions_of_the_paper(name, m, written_out):
    t = Fuzzifier.from_name(name, m=m)
    for u in (0.0, 0.1, 0.5, 0.9, 1.0):
        assert t.value(np.float64(u)) == pytest.approx(written_out(u), abs=1e-14)


@given(fuzzifiers(), distance_rows(decades=2.0))
def test_memberships_are_zero_exactly_where_the_slope_at_the_origin_says_so(t, distances):
    # Kuhn-Tucker: u_i = 0 where λ ≤ t′(0) d_i, with the multiplier λ = t′(u) d of any cluster that has a share.
    U = t.memberships(distances)
    at_origin = float(t.derivative(np.float64(0.0)))
    rows, nearest = np.arange(len(U)), distances.argmin(axis=1)
    if U[rows, nearest].max() > 1 - 1e-6:
        return  # where t′(1) is infinite the multiplier cannot be read off
    multiplier = (t.derivative(U[rows, nearest]) * distances[rows, nearest])[:, None]
    clear = np.abs(multiplier - at_origin * distances) > 1e-6 * multiplier
    assert_array_equal((U == 0)[clear], (multiplier <= at_origin * distances)[clear])


@pytest.mark.parametrize("m", [1.1, 2.0, 10.0, 100.0])
def test_complementary_root_shuts_out_far_clusters_at_every_m(m):
    t = ComplementaryRoot(m)
    assert t.derivative(np.float64(0.0)) == pytest.approx(1 / m)
    distances = np.array([[1.0, 1.0, 1.0, 10.0]])
    assert t.memberships(distances)[0, 3] == 0.0
    assert Power(m).memberships(distances)[0, 3] > 0.0


@given(fuzzifiers(), distance_rows())
def test_nearer_centers_get_no_smaller_memberships(t, distances):
    U = t.memberships(distances)
    order = np.argsort(distances, axis=1)
    assert (np.diff(np.take_along_axis(U, order, axis=1), axis=1) <= 1e-12).all()


@given(fuzzifiers(), distance_rows(), st.integers(-100, 100))
def test_memberships_do_not_depend_on_the_scale_of_the_distances(t, distances, exponent):
    assert_allclose(t.memberships(2.0**exponent * distances), t.memberships(distances), rtol=0, atol=1e-13)


@given(fuzzifiers(), distance_rows(), st.randoms(use_true_random=False))
def test_memberships_follow_a_permutation_of_the_clusters(t, distances, random):
    order = list(range(distances.shape[1]))
    random.shuffle(order)
    assert_allclose(t.memberships(distances[:, order]), t.memberships(distances)[:, order], rtol=0, atol=1e-11)


@pytest.mark.parametrize("name", FUZZIFIERS)
@pytest.mark.parametrize("position", [0.0, 0.5, 1.0])
def test_zero_distances_share_the_row_equally(name, position):
    t = build_fuzzifier(name, position)
    U = t.memberships(np.array([[0.0, 1.0, 0.0], [3.0, 0.0, 1.0], [0.0, 0.0, np.inf], [0.0, 0.0, 0.0]]))
    third = 1 / 3
    assert_allclose(U, [[0.5, 0, 0.5], [0, 1, 0], [0.5, 0.5, 0], [third, third, third]], rtol=0, atol=1e-15)


@pytest.mark.parametrize(
    "t", [*(build_fuzzifier(n, p) for n in FUZZIFIERS for p in (0.0, 0.5, 1.0)), Blend()], ids=repr
)
def test_infinitely_far_clusters_get_nothing(t):
    near = np.array([[1.0, 2.0], [1.0, 1.0], [5.0, 1.0]])
    far = np.insert(near, 1, np.inf, axis=1)
    U = t.memberships(far)
    assert (U[:, 1] == 0).all()
    assert_allclose(U[:, [0, 2]], t.memberships(near), rtol=0, atol=1e-12)
    assert_allclose(t.memberships(np.array([[np.inf, 4.0, np.inf]])), [[0, 1, 0]], atol=1e-15)


@pytest.mark.parametrize("name", FUZZIFIERS)
@pytest.mark.parametrize("row", [[1e-200, 1e200, 1.0], [1e-310, 1.0, 2.0], [1e300, 1e308, 1e305]])
def test_distances_at_the_ends_of_the_float_range_give_memberships_without_a_warning(name, row):
    U = Fuzzifier.from_name(name).memberships(np.array([row]))
    assert np.isfinite(U).all()
    assert U.sum() == pytest.approx(1.0)
    assert U.argmax() == np.argmin(row)


@given(st.floats(1.05, 20), distance_rows(decades=2.0))
def test_base_class_alone_makes_a_working_fuzzifier(m, distances):
    assert_allclose(PlainPower(m).memberships(distances), Power(m).memberships(distances), rtol=0, atol=1e-9)


@given(st.floats(1.5, 6), distance_rows(decades=2.0), st.integers(0, 2**32 - 1))
def test_memberships_of_a_custom_fuzzifier_are_optimal(m, distances, seed):
    t = Blend(m)
    U = t.memberships(distances)
    assert_allclose(U.sum(axis=1), 1, atol=1e-12)
    cost = (t.value(U) * distances).sum(axis=1)
    rng = np.random.default_rng(seed)
    for size in (1.0, 1e-1, 1e-2):
        trial = (1 - size) * U + size * rng.dirichlet(np.ones(U.shape[1]), size=len(U))
        assert ((t.value(trial) * distances).sum(axis=1) >= cost - 1e-9 * cost).all()


@pytest.mark.parametrize("name", FUZZIFIERS)
def test_memberships_approach_the_hard_partition_at_the_hard_end(name):
    cls = Fuzzifier.registry[name]
    U = cls(m=cls.m_range.low + 1e-9).memberships(np.array([[1.0, 1.1, 5.0], [2.0, 1.0, 1.5]]))
    assert_allclose(U, [[1, 0, 0], [0, 1, 0]], rtol=0, atol=1e-6)


@pytest.mark.parametrize("name", ["power", "exponential"])
def test_memberships_approach_the_uniform_partition_at_the_fuzzy_end(name):
    U = Fuzzifier.from_name(name, m=1e8).memberships(np.array([[1.0, 1.1, 5.0]]))
    assert_allclose(U, 1 / 3, rtol=0, atol=1e-6)


@given(fuzzifiers(), distance_rows())
def test_blocks_of_samples_get_the_memberships_of_rows(t, distances):
    block = np.ascontiguousarray(distances.T)
    assert_allclose(t.sample_memberships(block), t.memberships(distances).T, rtol=0, atol=1e-13)


@given(fuzzifiers(), distance_rows(decades=1.0))
def test_single_precision_gives_single_precision_to_its_digits(t, distances):
    assume(t.m - t.m_range.low > 0.1)
    single = t.sample_memberships(np.ascontiguousarray(distances.T, dtype=np.float32))
    assert single.dtype == np.float32
    assert_allclose(single, t.memberships(distances).T, rtol=0, atol=2e-4)
    U = t.memberships(distances)
    assert_allclose(t.value(U.astype(np.float32)), t.value(U), rtol=0, atol=1e-5)


@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize("name", FUZZIFIERS)
def test_a_membership_that_rounding_puts_above_one_counts_as_one(name, kind):
    above = np.nextafter(np.ones(1, kind), kind(2))
    assert_allclose(Fuzzifier.from_name(name).value(above), 1.0, rtol=1e-6)


def test_slopes_of_the_complementary_root_are_infinite_at_one_without_a_warning():
    t, one = ComplementaryRoot(2.0), np.ones(2)
    assert_array_equal(t.value(one), 1.0)
    assert_array_equal(t.derivative(one), np.inf)
    assert_array_equal(t.second_derivative(one), np.inf)


@pytest.mark.parametrize("name", FUZZIFIERS)
def test_slopes_outside_those_of_the_function_belong_to_its_ends(name):
    t = Fuzzifier.from_name(name)
    slopes = np.array([0.0, 0.999 * t.derivative(np.zeros(1))[0], 1e12])
    assert_allclose(t.inverse_derivative(slopes), [0.0, 0.0, 1.0], rtol=0, atol=1e-9)


@pytest.mark.parametrize("name", FUZZIFIERS)
def test_without_an_eigenvalue_equal_memberships_are_stable_from_the_hard_end_on(name):
    t = Fuzzifier.from_name(name)
    assert t.critical_m(3, 0.0) == pytest.approx(t.m_range.low, abs=1e-12)
    assert Fuzzifier.critical_m(t, 3, 0.0) == t.m_range.low


def test_ordinary_fuzzifiers_add_nothing_to_the_distances_and_know_no_clusters():
    t, U, distances = Power(2.0), np.full((3, 2), 0.5), np.ones((3, 2))
    assert t.costs(distances) is t.sample_costs(distances) is distances
    assert t.penalty(U) == t.penalty_of(U.sum(axis=0), 1.0) == 0.0
    assert t.adapted(U, distances) is t.adapted_to(U.sum(axis=0), distances.sum(axis=0)) is t.reordered([1, 0]) is t
    assert_array_equal(t.collapsed_row(U), [0.5, 0.5])


def test_the_usual_m_is_two():
    class Own(Power):
        pass

    assert Fuzzifier.__dataclass_fields__["m"].default == Own().m == 2.0


@pytest.mark.parametrize("wrong", [True, "2", None, [2.0]])
def test_an_m_that_is_no_number_is_refused(wrong):
    with pytest.raises(TypeError, match="must be a number"):
        Power(wrong)


def test_an_m_at_which_equal_memberships_weigh_nothing_is_refused():
    # (1/2)^m falls below 1e-140, whose square is the smallest number with all digits but a few, from m = 465.07 on.
    Power(465.0).check_weights(2)
    with pytest.raises(ValueError, match="weigh nothing"):
        Power(465.2).check_weights(2)


def test_a_fuzzifier_with_a_field_that_cannot_be_hashed_has_a_threshold():
    @dataclass(frozen=True)
    class Noted(PlainPower):
        notes: list = field(default_factory=list)

    assert Noted().threshold(3) == PlainPower().threshold(3)


def test_an_instance_keeps_its_m_unless_another_is_given():
    assert resolve_fuzzifier(Power(3.0), None).m == 3.0
    assert resolve_fuzzifier(Power(3.0), 4.0) == Power(4.0)
    assert resolve_fuzzifier("power", None) == Power()
    assert resolve_fuzzifier("power", 4.0) == Power(4.0)


def test_slopes_above_one_are_those_at_one():
    t, above = ComplementaryRoot(2.0), np.nextafter(np.ones(1), 2)
    assert_array_equal(t.derivative(above), np.inf)
    assert_array_equal(t.second_derivative(above), np.inf)


def test_a_range_that_ends_before_the_largest_m_has_the_threshold_of_its_limit():
    class Open(Quadratic):
        m_range = Interval(0, 1)

    t = Open(0.5)
    assert t.threshold(3) == pytest.approx(Quadratic().threshold(3), rel=0.05)
    assert t.critical_m(3, 0.1) == pytest.approx(Quadratic().critical_m(3, 0.1))


@pytest.mark.parametrize("m", [1e-3, 1e-8, 1e-15, 1e-300])
def test_quadratic_memberships_sum_to_one_near_a_hard_partition(m):
    rows = np.array([[1.0, 1.0, 5.0], [0.127, 5.31, 4.85], [1.0, 1.0 + m, 2.0], [1.0, np.inf, np.inf]])
    for U in (Quadratic(m).memberships(rows), Quadratic(m).sample_memberships(rows.T.astype(np.float32)).T):
        assert_allclose(U.sum(axis=1), 1.0, rtol=1e-6)
        assert_allclose(U[[0, 1, 3]], [[0.5, 0.5, 0.0], [1.0, 0.0, 0.0], [1.0, 0.0, 0.0]], atol=1e-6)


@pytest.mark.parametrize("name", ["power", "exponential", "complementary_root"])
def test_second_derivatives_of_any_m_are_silent(name):
    u = np.array([0.0, 0.1, 0.5, 1.0])
    for m in (1.2, 1e300):
        values = Fuzzifier.from_name(name, m=m).second_derivative(u)
        assert not np.isnan(values).any()
        assert (values >= 0).all()
        assert np.isfinite(values[1:3]).all()


@pytest.mark.parametrize(
    "distances", [1.0, [1.0, 2.0], np.ones((2, 0)), np.ones((1, 2, 2)), [[1.0, np.nan]], [[-1.0, 1.0]]]
)
def test_memberships_refuse_what_are_no_squared_distances(distances):
    for name in FUZZIFIERS:
        with pytest.raises(ValueError, match="squared distances"):
            Fuzzifier.from_name(name).memberships(distances)


@pytest.mark.parametrize("distances", [[["a", "b"]], [[1j, 2.0]], [[None, 1.0]]])
def test_memberships_refuse_distances_that_are_no_numbers(distances):
    with pytest.raises(TypeError, match="must be numbers"):
        Power().memberships(distances)
