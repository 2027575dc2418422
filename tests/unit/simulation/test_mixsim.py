import itertools

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import multivariate_normal

from kfrc.exceptions import KFRCError
from kfrc.simulation import GaussianMixtureSpec, make_gaussian_mixture, mixsim


@pytest.mark.parametrize(("spherical", "homogeneous"), list(itertools.product([True, False], repeat=2)))
@pytest.mark.parametrize("n_features", [1, 2, 5, 10])
@pytest.mark.parametrize("n_clusters", [2, 4])
def test_average_and_maximum_overlap_hit_their_targets(n_clusters, n_features, spherical, homogeneous):
    for target in (0.001, 0.05):
        options = {"spherical": spherical, "homogeneous": homogeneous, "random_state": 3}
        average = make_gaussian_mixture(n_clusters, n_features, average_overlap=target, **options)
        assert average.overlap().average == pytest.approx(target, rel=0, abs=1e-8)
        maximum = make_gaussian_mixture(n_clusters, n_features, max_overlap=target, **options)
        assert maximum.overlap().maximum == pytest.approx(target, rel=0, abs=1e-8)


@pytest.mark.parametrize("target", [1e-6, 0.3, 0.9, 0.999])
def test_equal_covariances_reach_any_target(target):
    mixture = make_gaussian_mixture(3, 2, average_overlap=target, homogeneous=True, random_state=0)
    assert mixture.overlap().average == pytest.approx(target, rel=0, abs=1e-10)


def test_spherical_and_homogeneous_mean_what_they_say():
    spherical = make_gaussian_mixture(3, 4, average_overlap=0.01, spherical=True, random_state=0).covariances
    assert_allclose(spherical, spherical[:, :1, :1] * np.eye(4))
    assert len(np.unique(spherical[:, 0, 0])) == 3
    equal = make_gaussian_mixture(3, 4, average_overlap=0.01, homogeneous=True, random_state=0).covariances
    assert_array_equal(equal, np.broadcast_to(equal[0], equal.shape))
    assert np.abs(equal[0] - np.diag(np.diagonal(equal[0]))).max() > 0


@pytest.mark.parametrize("max_eccentricity", [0.0, 0.5, 0.9])
def test_eccentricity_is_bounded(max_eccentricity):
    for seed in range(5):
        mixture = make_gaussian_mixture(
            2, 6, average_overlap=0.05, max_eccentricity=max_eccentricity, random_state=seed
        )
        values = np.linalg.eigvalsh(mixture.covariances)
        assert (np.sqrt(1 - values[:, 0] / values[:, -1] + 1e-12) <= max_eccentricity + 2e-6).all()


@pytest.mark.parametrize("min_proportion", [0.01, 0.05, 0.2])
def test_proportions_respect_their_lower_bound(min_proportion):
    for seed in range(10):
        mixture = make_gaussian_mixture(
            4, 2, average_overlap=0.05, homogeneous=True, min_proportion=min_proportion, random_state=seed
        )
        assert mixture.weights.min() >= min_proportion
        assert mixture.weights.sum() == pytest.approx(1)
        assert np.ptp(mixture.weights) > 0


@pytest.mark.parametrize("min_proportion", [None, 0.25, 1, 1.0])
def test_equal_proportions(min_proportion):
    mixture = make_gaussian_mixture(
        4, 2, average_overlap=0.05, homogeneous=True, min_proportion=min_proportion, random_state=0
    )
    assert_allclose(mixture.weights, 0.25)


def test_the_seed_fixes_the_mixture():
    first, again, other = (make_gaussian_mixture(3, 2, average_overlap=0.05, random_state=seed) for seed in (0, 0, 1))
    assert_array_equal(first.covariances, again.covariances)
    assert np.abs(first.means - other.means).max() > 0


def test_unreachable_target_says_how_far_it_got():
    # Spheres of clearly different radius stay distinguishable in many dimensions.
    with pytest.raises(KFRCError, match=r"no draw out of 3 reaches average overlap 0\.99 \(the best can reach"):
        make_gaussian_mixture(4, 20, average_overlap=0.99, spherical=True, max_draws=3, random_state=0)


def test_target_beyond_the_range_of_scales_is_an_error(monkeypatch):
    monkeypatch.setattr(mixsim, "_MAX_LOG_SCALE", 0.0)
    with pytest.raises(KFRCError, match="no scale within"):
        make_gaussian_mixture(2, 2, average_overlap=0.999999, homogeneous=True, random_state=0)


@pytest.mark.parametrize(
    ("arguments", "options", "error", "message"),
    [
        ((2, 2), {}, ValueError, "exactly one of average_overlap and max_overlap, got neither"),
        ((2, 2), {"average_overlap": 0.1, "max_overlap": 0.1}, ValueError, "got both"),
        ((2, 2), {"average_overlap": 0.0}, ValueError, "average_overlap must be > 0"),
        ((2, 2), {"max_overlap": 1.0}, ValueError, "max_overlap must be below 1"),
        ((2, 2), {"average_overlap": float("nan")}, ValueError, "average_overlap must be > 0"),
        ((2, 2), {"average_overlap": "0.1"}, TypeError, "average_overlap must be a number"),
        ((1, 2), {"average_overlap": 0.1}, ValueError, "n_clusters must be at least 2"),
        ((2.0, 2), {"average_overlap": 0.1}, TypeError, "n_clusters must be an integer"),
        ((2, 0), {"average_overlap": 0.1}, ValueError, "n_features must be at least 1"),
        ((4, 2), {"average_overlap": 0.1, "min_proportion": 0.3}, ValueError, "at most 1/n_clusters = 0.25"),
        ((4, 2), {"average_overlap": 0.1, "min_proportion": 0}, ValueError, "min_proportion must be > 0"),
        ((4, 2), {"average_overlap": 0.1, "max_eccentricity": 1}, ValueError, "max_eccentricity must be below 1"),
        ((4, 2), {"average_overlap": 0.1, "max_draws": 0}, ValueError, "max_draws must be at least 1"),
    ],
)
def test_bad_requests_are_named(arguments, options, error, message):
    with pytest.raises(error, match=message):
        make_gaussian_mixture(*arguments, **options)


@pytest.fixture
def mixture():
    return make_gaussian_mixture(3, 2, average_overlap=0.1, min_proportion=0.1, random_state=5)


def test_samples_follow_the_mixture(mixture):
    X, labels = mixture.sample(60_000, random_state=0)
    assert X.dtype == np.float64
    assert labels.dtype == np.int64
    assert_allclose(np.bincount(labels) / len(labels), mixture.weights, atol=0.01)
    for component in range(3):
        members = X[labels == component]
        scale = np.sqrt(np.diagonal(mixture.covariances[component]))
        assert_allclose(members.mean(axis=0) / scale, mixture.means[component] / scale, atol=0.05)
        assert_allclose(np.cov(members.T), mixture.covariances[component], atol=0.05 * scale.max() ** 2)


def test_samples_depend_on_the_seed_only(mixture):
    X, labels = mixture.sample(50, random_state=1)
    X_again, labels_again = mixture.sample(50, random_state=np.random.default_rng(1))
    assert_array_equal(X, X_again)
    assert_array_equal(labels, labels_again)


def test_posteriors_are_normalized_densities(mixture):
    X, _ = mixture.sample(100, random_state=0)
    joint = np.column_stack(
        [
            weight * multivariate_normal(mean, covariance).pdf(X)
            for weight, mean, covariance in zip(mixture.weights, mixture.means, mixture.covariances, strict=True)
        ]
    )
    assert_allclose(mixture.posteriors(X), joint / joint.sum(axis=1, keepdims=True), atol=1e-12)


def test_posteriors_far_from_every_component_stay_on_the_simplex(mixture):
    posteriors = mixture.posteriors([[1e6, -1e6], [-1e150, 0.0]])
    assert_allclose(posteriors.sum(axis=1), 1)


def test_bad_uses_of_a_mixture_are_named(mixture):
    with pytest.raises(ValueError, match="X has 3 features, but the mixture has 2"):
        mixture.posteriors(np.zeros((4, 3)))
    with pytest.raises(ValueError, match="n_samples must be at least 1"):
        mixture.sample(0)
    with pytest.raises(ValueError, match="sum to 1"):
        GaussianMixtureSpec([0.5, 0.6], [[0.0], [1.0]], [[[1.0]], [[1.0]]])


def test_a_mixture_cannot_be_reassigned(mixture):
    with pytest.raises(AttributeError):
        mixture.weights = np.ones(3) / 3
