"""Arguments of public functions that are refused with a word about what is wrong, before anything is computed."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from kfrc import FCM, FRC, MSFCM, indices, metrics
from kfrc.bandwidth import select_bandwidths
from kfrc.confidence import assess
from kfrc.datasets import load_benchmark
from kfrc.exceptions import KFRCError
from kfrc.fuzzifiers import ComplementaryRoot, Power
from kfrc.simulation import (
    GaussianMixtureSpec,
    HeavyTails,
    Imbalanced,
    Moons,
    Rings,
    StudyDesign,
    add_noise_features,
    overlap,
)
from kfrc.sources import ArraySource
from kfrc.spectrum import leading_spectrum
from kfrc.stability import critical_fuzzifier, kappa, merge_bound, uniform_hessian

U = np.array([[0.9, 0.1], [0.8, 0.2], [0.3, 0.7], [0.1, 0.9]])
X = np.array([[0.0, 1.0], [1.0, 0.5], [9.0, 3.0], [8.0, 2.0]])
MIXTURE = ([0.5, 0.5], [[0.0], [4.0]], [[[1.0]], [[1.0]]])


def test_rows_of_different_length_are_told():
    with pytest.raises(ValueError, match="U must have a regular shape"):
        metrics.partition_coefficient([[0.5, 0.5], [1.0]])
    with pytest.raises(ValueError, match="labels must have a regular shape"):
        metrics.adjusted_rand_score([[0], [0, 1]], U)


def test_memberships_whose_sum_overflows_are_refused_silently():
    with pytest.raises(ValueError, match="must sum to 1, but one membership alone is 1e\\+308"):
        metrics.partition_coefficient(np.full((3, 2), 1e308))


@pytest.mark.parametrize("choice", [None, [], {}, "x", 1])
def test_norms_and_means_are_names(choice):
    with pytest.raises(ValueError, match="t_norm must be one of"):
        metrics.fuzzy_rand_score(U, U, choice)
    for score in (metrics.adjusted_mutual_info_score, metrics.normalized_mutual_info_score):
        for weights in (None, np.ones(4)):
            with pytest.raises(ValueError, match="average_method must be one of"):
                score([0, 0, 1, 1], U, average_method=choice, sample_weight=weights)


def test_distances_of_a_silhouette_that_cannot_be_had_are_told():
    with pytest.raises(TypeError, match="metric must be the name"):
        metrics.fuzzy_silhouette_score(X, U, metric={})
    with pytest.raises(ValueError, match="metric='x' cannot be had"):
        metrics.fuzzy_silhouette_score(X, U, metric="x")
    with pytest.raises(ValueError, match="metric='mahalanobis' cannot be had"):
        metrics.fuzzy_silhouette_score(np.repeat(X[:, :1], 2, axis=1), U, metric="mahalanobis")
    with pytest.raises(ValueError, match="metric='cosine' is not defined"):
        metrics.fuzzy_silhouette_score(np.vstack([np.zeros(2), X[1:]]), U, metric="cosine")


def test_centers_whose_squared_distances_overflow_are_refused():
    with pytest.raises(ValueError, match="X and centers"):
        metrics.xie_beni_index(X, U, [[1e200, 0.0], [0.0, 1e200]])
    with pytest.raises(ValueError, match="centers must be a numeric array"):
        metrics.xie_beni_index(X, U, [["a", "b"], ["c", "d"]])


def test_an_advice_about_units_names_a_number():
    with pytest.raises(ValueError, match="divide X by 1e\\+308 first"):
        metrics.xie_beni_index([[-1.7e308], [1.7e308], [0.0], [0.0]], U)


@pytest.mark.parametrize("labels", [[0, pd.NA, 1, 1], [0, None, 1, 1], [0.0, np.nan, 1.0, 1.0]])
def test_merges_need_all_labels(labels):
    with pytest.raises(ValueError, match="1 missing label"):
        merge_bound(X, np.array(labels, dtype=object))


def test_merges_need_labels_that_can_be_compared():
    with pytest.raises(ValueError, match="cannot be compared"):
        merge_bound(X, np.array([0, "a", 1, 1], dtype=object))


@pytest.mark.parametrize("metric", ["euclidean", "cityblock", "sqeuclidean"])
def test_merges_of_rows_too_far_apart_are_refused_silently(metric):
    with pytest.raises(ValueError, match="leave the range"):
        merge_bound(X * 1e300, [0, 0, 1, 1], metric=metric)


@pytest.mark.parametrize("value", [b"a", "1", [], True])
def test_an_eigenvalue_is_a_number(value):
    with pytest.raises(TypeError, match="lambda1 must be a number"):
        critical_fuzzifier("power", 2, lambda1=value)


def test_a_hessian_needs_memberships_that_weigh_something():
    with pytest.raises(ValueError, match="weigh nothing"):
        uniform_hessian(np.subtract.outer(X[:, 0], X[:, 0]) ** 2, Power(1e6), 2)


def test_a_spectrum_refuses_rows_whose_squared_distances_overflow():
    for kernel in ("sum", "path", "linear"):
        with pytest.raises(ValueError, match="leave the range"):
            leading_spectrum(np.vstack([X, [[0.0, -1e300]]]), 1.0, kernel=kernel)


@pytest.mark.parametrize("rank", [{}, 0, -3, 1.5, np.inf])
def test_a_number_of_landmarks_is_a_number(rank):
    with pytest.raises((TypeError, ValueError), match="rank must be"):
        leading_spectrum(X, 1.0, approximation="nystrom", rank=rank)


def test_gradients_of_a_product_are_finite_and_right_at_any_bandwidth():
    rows = np.outer(np.arange(8.0), np.ones(2))
    tiny = leading_spectrum(rows, [1e-224, 1.0], kernel="product", gradient=True, approximation="none")
    assert np.isfinite(tiny.gradients).all()
    rng = np.random.default_rng(0)
    rows, bandwidths = rng.standard_normal((20, 2)) + [0.0, 2e4] * (rng.random((20, 1)) < 0.5), np.array([1.0, 0.9])
    found = leading_spectrum(rows, bandwidths, kernel="product", gradient=True, approximation="none")
    step = np.array([1e-5, 0.0])
    above, below = (
        leading_spectrum(rows, bandwidths * np.exp(sign * step), kernel="product", approximation="none").eigenvalues
        for sign in (1, -1)
    )
    assert_allclose(found.gradients[:, 0], (above - below) / 2e-5, atol=1e-8)


@pytest.mark.parametrize("bounds", ["ab", 3, (0.0,), (0.0, 1.0, 2.0), (None, 1.0)])
def test_bounds_of_a_level_are_two_numbers(bounds):
    with pytest.raises(TypeError, match="level_bounds must be"):
        select_bandwidths(X, 2, threshold=0.0, level_bounds=bounds)


def test_a_search_sees_as_many_rows_as_clusters():
    with pytest.raises(ValueError, match="search_samples = 2 are too few rows for 3 clusters"):
        select_bandwidths(X, 3, threshold=0.0, criterion="gap", search_samples=2)


@pytest.mark.parametrize("model", [None, "x", FCM, 3])
def test_what_is_assessed_is_an_estimator(model):
    with pytest.raises(TypeError, match="must be an estimator"):
        assess(model, X)
    if model is not None:
        with pytest.raises(TypeError, match="must be an estimator"):
            indices(X, 2, estimator=model)


def test_mixtures_are_of_real_numbers():
    weights, means, covariances = MIXTURE
    with pytest.raises(ValueError, match="covariances is complex"):
        overlap(weights, means, np.array(covariances) + 1j)


def test_posteriors_of_rows_too_far_away_are_refused():
    with pytest.raises(ValueError, match="row 1 of X is so far from component 0"):
        GaussianMixtureSpec(*MIXTURE).posteriors([[0.0], [1e200]])


def test_samples_that_do_not_fit_into_memory_are_refused():
    with pytest.raises(MemoryError, match="a sample of 1000000000000000000000000000000 rows"):
        GaussianMixtureSpec(*MIXTURE).sample(10**30)
    with pytest.raises(MemoryError, match="noise in"):
        add_noise_features(X, 10**30)


@pytest.mark.parametrize("field", ["spherical", "balanced"])
def test_designs_are_spherical_or_not(field):
    with pytest.raises(TypeError, match=f"{field} must be True or False"):
        StudyDesign(2, 0.1, **{field: (1, 2)})


@pytest.mark.parametrize("shares", [3, "ab", None])
def test_shares_are_a_tuple(shares):
    with pytest.raises(TypeError, match="shares must be a tuple"):
        Imbalanced(shares)


@pytest.mark.parametrize("length", [1e150, np.inf])
def test_shapes_have_lengths_whose_squares_are_numbers(length):
    for make, name in ((Moons, "jitter"), (Rings, "jitter"), (HeavyTails, "separation"), (Imbalanced, "separation")):
        with pytest.raises(ValueError, match=f"{name} must be at most"):
            make(**{name: length})
    with pytest.raises(ValueError, match="degrees_of_freedom must be at least"):
        HeavyTails(degrees_of_freedom=1 / length or 1e-300)


def test_a_single_group_lies_at_the_origin():
    for shape in (HeavyTails(n_groups=1, degrees_of_freedom=50.0), Imbalanced((1.0,))):
        rows, _ = shape.sample(50, np.random.default_rng(0))
        assert np.abs(rows).max() < 10.0
        assert len(np.unique(rows)) == 100


def test_components_too_different_for_an_overlap_are_told():
    weights, means, _ = MIXTURE
    for others in ((means, [[[1.0]], [[1e200]]]), ([[0.0], [1e200]], [[[1.0]], [[2.0]]])):
        with pytest.raises(KFRCError, match="too different in scale, or too far apart"):
            overlap(weights, *others)
    assert_allclose(overlap(weights, means, np.full((2, 1, 1), 1e308)).average, 1.0)


def test_a_fuzzifier_of_a_small_float_computes_with_ordinary_ones():
    assert isinstance(kappa(ComplementaryRoot(np.float32(2.5)), 3), float)
    assert kappa(ComplementaryRoot(np.float32(2.5)), 3) == kappa(ComplementaryRoot(2.5), 3)
    assert isinstance(critical_fuzzifier(ComplementaryRoot(), 10**6, lambda1=-np.inf), float)


def test_gradients_of_a_sum_are_finite_at_bandwidths_of_any_size():
    found = leading_spectrum(X, [1e-300, 1.0], gradient=True, approximation="none")
    assert np.isfinite(found.gradients).all()


@pytest.mark.parametrize("bandwidth", [1.0, np.inf])
def test_landmarks_of_equal_rows_say_that_the_rows_are_equal(bandwidth):
    with pytest.raises(KFRCError, match="all samples coincide"):
        leading_spectrum(np.ones((5, 1)), bandwidth, approximation="nystrom")


def test_new_rows_with_a_title_twice_are_refused_by_all_methods():
    table = pd.DataFrame(X, columns=["a", "a"])
    for metric in ("gower", "sqeuclidean", "cityblock"):
        with pytest.raises(ValueError, match="names of columns must differ"):
            FRC(2, metric=metric, random_state=0).fit(X).predict(table)


@pytest.mark.parametrize("folder", [b"here", 1.5, [], True])
def test_a_folder_of_data_is_a_path(folder):
    with pytest.raises(TypeError, match="data_dir must be a path"):
        load_benchmark("seeds", folder)


@pytest.mark.parametrize("content", [b"a,label\n1,\xff", "a,label\n1,b".encode("utf-16")])
def test_a_benchmark_in_another_encoding_is_named(content, tmp_path):
    (tmp_path / "seeds.csv").write_bytes(content)
    with pytest.raises(KFRCError, match=r"seeds\.csv is no CSV file in UTF-8"):
        load_benchmark("seeds", tmp_path)


def test_an_array_source_is_of_an_array():
    from scipy.sparse import csr_array

    for table in (csr_array(X), pd.DataFrame(X)):
        with pytest.raises(TypeError, match="holds an array of numbers"):
            ArraySource(table)
    with pytest.raises(TypeError, match="names must be those of the columns"):
        ArraySource(X, names=3)


@pytest.mark.parametrize("name", ["power", "exponential", "quadratic", "complementary_root"])
def test_an_eigenvalue_below_zero_is_rounding(name):
    assert critical_fuzzifier(name, 3, lambda1=-0.1) == critical_fuzzifier(name, 3, lambda1=0.0) >= 0.0


@pytest.mark.parametrize("model", [FCM(2, random_state=0), MSFCM(2, random_state=0)])
def test_rows_of_no_weight_do_not_score(model):
    model.fit(X)
    rows = np.vstack([X, [[1e300, -1e300]]])
    assert_allclose(model.score(rows, sample_weight=[1.0, 1.0, 1.0, 1.0, 0.0]), model.score(X), rtol=1e-12)
    assert model.score(rows) == -np.inf
