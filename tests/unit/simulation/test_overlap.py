import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import ncx2, norm

from kfrc.exceptions import KFRCError
from kfrc.simulation import Overlap, _quadratic_forms, overlap
from kfrc.simulation._quadratic_forms import quadratic_form_cdf

EYE = np.eye(2)


def test_equal_covariances_give_the_closed_form():
    weights, distance = np.array([0.3, 0.7]), 1.7
    result = overlap(weights, [[0, 0], [distance, 0]], [EYE, EYE])
    log_odds = np.log(weights[1] / weights[0])
    expected = [norm.cdf(-distance / 2 + log_odds / distance), norm.cdf(-distance / 2 - log_odds / distance)]
    assert_allclose([result.omega_map[0, 1], result.omega_map[1, 0]], expected, atol=1e-14)
    assert result.average == result.maximum == pytest.approx(sum(expected))


def test_result_unpacks_as_map_average_maximum():
    result = overlap([0.5, 0.5], [[0.0], [2.0]], [[[1.0]], [[1.0]]])
    omega_map, average, maximum = result
    assert isinstance(result, Overlap)
    assert omega_map.shape == (2, 2)
    assert_allclose(np.diagonal(omega_map), 1)
    assert average == maximum


def test_one_dimensional_unequal_variances_match_the_roots_of_the_quadratic():
    # N(0, 1) against N(1, 4) with equal weights: the decision boundary solves 3x² + 2x − 1 − 8 log 2 = 0.
    low, high = np.sort(np.roots([3, 2, -1 - 8 * np.log(2)]))
    result = overlap([0.5, 0.5], [[0.0], [1.0]], [[[1.0]], [[4.0]]])
    assert result.omega_map[0, 1] == pytest.approx(norm.cdf(low) + norm.sf(high), abs=1e-10)
    assert result.omega_map[1, 0] == pytest.approx(norm.cdf(high, 1, 2) - norm.cdf(low, 1, 2), abs=1e-10)


def test_identical_components_are_a_tie_and_the_heavier_one_wins_otherwise():
    tied = overlap([0.4, 0.4, 0.2], np.zeros((3, 2)), [EYE] * 3).omega_map
    assert tied[0, 1] == tied[1, 0] == 0.5
    assert tied[2, 0] == 1
    assert tied[0, 2] == 0


def test_overlap_is_continuous_where_covariances_become_equal():
    exact = overlap([0.3, 0.7], [[0, 0], [1, 1]], [EYE, EYE]).omega_map
    for step in 10.0 ** np.arange(-13, -5):
        near = overlap([0.3, 0.7], [[0, 0], [1, 1]], [EYE, EYE * (1 + step)]).omega_map
        assert_allclose(near, exact, rtol=0, atol=2 * step + 1e-10)


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e3])
@pytest.mark.parametrize("n_terms", [1, 2, 5])
def test_equal_coefficients_give_a_noncentral_chi_square(n_terms, scale, sign):
    rng = np.random.default_rng(n_terms)
    for size in (0.0, 0.3, 3.0, 15.0):
        shift = size * rng.standard_normal(n_terms)
        noncentrality = shift @ shift
        for deviations in (-2.0, 0.0, 4.0):
            x = n_terms + noncentrality + deviations * np.sqrt(2 * (n_terms + 2 * noncentrality))
            got = quadratic_form_cdf(
                np.full((1, n_terms), sign * scale),
                -2 * sign * scale * shift[None],
                np.array([sign * scale * (x - noncentrality)]),
            )[0]
            # ncx2 at exactly zero noncentrality is the central one.
            expected = (ncx2.cdf if sign > 0 else ncx2.sf)(x, n_terms, noncentrality) if x > 0 else float(sign < 0)
            assert got == pytest.approx(expected, rel=0, abs=1e-10)


def test_coefficients_of_any_size_agree_with_simulation():
    rng = np.random.default_rng(1)
    n_draws = 20_000
    for _ in range(150):
        n_terms = rng.integers(1, 6)
        a = rng.choice([-1, 1], n_terms) * 10 ** rng.uniform(-12, 2, n_terms)
        b = rng.standard_normal(n_terms) * 10 ** rng.uniform(-6, 2, n_terms) * (rng.random(n_terms) > 0.3)
        threshold = a.sum() + np.sqrt((2 * a**2 + b**2).sum()) * rng.standard_normal()
        got = quadratic_form_cdf(a[None], b[None], np.array([threshold]))[0]
        y = rng.standard_normal((n_draws, n_terms))
        frequency = ((a * y**2 + b * y).sum(axis=1) < threshold).mean()
        assert abs(got - frequency) <= 5 * np.sqrt(max(got * (1 - got), 1e-4) / n_draws)


def test_unsettled_inversion_is_an_error_not_a_number(monkeypatch):
    monkeypatch.setattr(_quadratic_forms, "_PANELS", (1,))
    with pytest.raises(KFRCError, match="did not settle"):
        overlap([0.5, 0.5], [[0.0], [1.0]], [[[1.0]], [[4.0]]])


@pytest.mark.parametrize(
    ("weights", "means", "covariances", "message"),
    [
        ([1.0], [[0, 0]], [EYE], "at least 2 proportions"),
        ([0.5, 0.6], [[0, 0], [1, 1]], [EYE, EYE], "sum to 1"),
        ([1.0, 0.0], [[0, 0], [1, 1]], [EYE, EYE], "component 1 has 0"),
        ([0.5, 0.5], [[0, 0]], [EYE, EYE], r"means must have shape \(2, n_features\)"),
        ([0.5, 0.5], [[0, 0], [1, 1]], [EYE], r"covariances must have shape \(2, 2, 2\)"),
        ([0.5, 0.5], [[0, 0], [1, 1]], [EYE, [[1, 0.5], [0, 1]]], "covariance 1 is not symmetric"),
        ([0.5, 0.5], [[0, 0], [1, 1]], [EYE, [[1, 2], [2, 1]]], "covariance 1 is not positive definite"),
        ([0.5, 0.5], [[0, 0], [1, np.nan]], [EYE, EYE], "means contains NaN"),
        ([0.5, 0.5], [[0, 0], [1]], [EYE, EYE], "means must be a numeric array"),
        (["a", "b"], [[0, 0], [1, 1]], [EYE, EYE], "weights must be a numeric array"),
    ],
)
def test_bad_mixtures_are_named(weights, means, covariances, message):
    with pytest.raises(ValueError, match=message):
        overlap(weights, means, covariances)
