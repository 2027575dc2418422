"""What holds for every Gaussian mixture."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from kfrc.simulation import GaussianMixtureSpec, make_gaussian_mixture, overlap

ALGEBRA = 1e-9  # two routes to one overlap; each is exact to about 1e-11


@st.composite
def mixtures(draw, homogeneous=None):
    """Mixtures with any weights, close or distant means, round or thin covariances, some of them equal."""
    n_clusters = draw(st.integers(2, 4))
    n_features = draw(st.integers(1, 4))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    spread = 10 ** draw(st.floats(-2, 1))
    n_shapes = 1 if homogeneous else draw(st.integers(1, n_clusters))
    factors = rng.standard_normal((n_shapes, n_features, n_features + 2))
    shapes = factors @ factors.transpose(0, 2, 1) * 10 ** rng.uniform(-1, 1, (n_shapes, 1, 1))
    return GaussianMixtureSpec(
        rng.dirichlet(np.full(n_clusters, 3.0)) * 0.9 + 0.1 / n_clusters,
        spread * rng.standard_normal((n_clusters, n_features)),
        shapes[np.arange(n_clusters) % n_shapes],
    )


@given(mixtures())
@settings(deadline=None)
def test_overlap_map_holds_probabilities_with_unit_diagonal(mixture):
    omega_map, average, maximum = mixture.overlap()
    assert_allclose(np.diagonal(omega_map), 1)
    assert ((omega_map >= 0) & (omega_map <= 1)).all()
    assert 0 <= average <= maximum + ALGEBRA
    # π_i ω_{j|i} + π_j ω_{i|j} is the error of the Bayes rule between two components: at most the smaller weight.
    weighted = mixture.weights[:, None] * omega_map
    errors = (weighted + weighted.T)[np.triu_indices(mixture.n_clusters, 1)]
    smaller = np.minimum.outer(mixture.weights, mixture.weights)[np.triu_indices(mixture.n_clusters, 1)]
    assert (errors <= smaller + ALGEBRA).all()


@given(mixtures(), st.randoms(use_true_random=False))
@settings(deadline=None)
def test_permuting_components_permutes_the_overlap_map(mixture, random):
    order = list(range(mixture.n_clusters))
    random.shuffle(order)
    original = mixture.overlap()
    permuted = overlap(mixture.weights[order], mixture.means[order], mixture.covariances[order])
    assert_allclose(permuted.omega_map, original.omega_map[np.ix_(order, order)], atol=ALGEBRA)
    assert_allclose(permuted[1:], original[1:], atol=ALGEBRA)


@given(mixtures(), st.integers(0, 2**32 - 1))
@settings(deadline=None)
def test_overlap_is_invariant_under_affine_maps(mixture, seed):
    rng = np.random.default_rng(seed)
    n_features = mixture.n_features
    rotation = np.linalg.qr(rng.standard_normal((n_features, n_features)))[0]
    linear = rotation * rng.uniform(0.5, 2, n_features)
    mapped = GaussianMixtureSpec(
        mixture.weights,
        mixture.means @ linear.T + rng.standard_normal(n_features),
        linear @ mixture.covariances @ linear.T,
    )
    assert_allclose(mapped.overlap().omega_map, mixture.overlap().omega_map, atol=1e-7)


@given(mixtures(homogeneous=True), st.floats(1.01, 10))
@settings(deadline=None)
def test_larger_equal_covariances_overlap_more(mixture, scale):
    wider = GaussianMixtureSpec(mixture.weights, mixture.means, scale * mixture.covariances)
    assert wider.overlap().average >= mixture.overlap().average - ALGEBRA
    assert wider.overlap().maximum >= mixture.overlap().maximum - ALGEBRA


@given(mixtures(homogeneous=True), st.floats(1e-9, 1e-5))
@settings(deadline=None)
def test_the_general_formula_continues_the_closed_one(mixture, step):
    factors = 1 + step * np.linspace(-1, 1, mixture.n_clusters)
    perturbed = GaussianMixtureSpec(mixture.weights, mixture.means, mixture.covariances * factors[:, None, None])
    # The map is differentiable in the covariances unless two means all but coincide.
    distances = [
        difference @ np.linalg.solve(mixture.covariances[0], difference)
        for i, mean in enumerate(mixture.means)
        for difference in mixture.means[i + 1 :] - mean
    ]
    bound = 100 * step * mixture.n_features * (1 + max(distances)) / min(1.0, np.sqrt(min(distances)))
    assert_allclose(perturbed.overlap().omega_map, mixture.overlap().omega_map, rtol=0, atol=bound + ALGEBRA)


@given(mixtures(), st.integers(0, 2**32 - 1))
@settings(deadline=None)
def test_posteriors_lie_on_the_simplex_and_follow_a_relabeling(mixture, seed):
    X, labels = mixture.sample(20, random_state=seed)
    posteriors = mixture.posteriors(X)
    assert posteriors.shape == (20, mixture.n_clusters)
    assert (posteriors >= 0).all()
    assert_allclose(posteriors.sum(axis=1), 1, atol=1e-12)
    assert set(labels) <= set(range(mixture.n_clusters))
    reversed_mixture = GaussianMixtureSpec(mixture.weights[::-1], mixture.means[::-1], mixture.covariances[::-1])
    assert_allclose(reversed_mixture.posteriors(X), posteriors[:, ::-1], atol=1e-12)


@given(
    st.integers(2, 5),
    st.integers(1, 6),
    st.floats(1e-4, 0.5),
    st.sampled_from(["average", "maximum"]),
    st.booleans(),
    st.integers(0, 2**32 - 1),
)
@settings(deadline=None)
def test_the_generator_meets_its_target(n_clusters, n_features, target, kind, spherical, seed):
    option = {"average": "average_overlap", "maximum": "max_overlap"}[kind]
    mixture = make_gaussian_mixture(
        n_clusters,
        n_features,
        spherical=spherical,
        homogeneous=True,
        min_proportion=0.5 / n_clusters,
        random_state=seed,
        **{option: target},
    )
    assert abs(getattr(mixture.overlap(), kind) - target) <= 1e-9
    assert mixture.weights.min() >= 0.5 / n_clusters


@given(st.integers(2, 3), st.integers(1, 4), st.floats(1e-3, 0.1), st.integers(0, 2**32 - 1))
@settings(deadline=None, max_examples=25)
def test_the_generator_meets_its_target_with_unequal_covariances(n_clusters, n_features, target, seed):
    mixture = make_gaussian_mixture(n_clusters, n_features, average_overlap=target, random_state=seed)
    assert abs(mixture.overlap().average - target) <= 1e-8
