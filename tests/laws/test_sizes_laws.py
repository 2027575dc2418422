"""Sizes and scales in the objective: every step is exact, so the objective never rises, at any temperature."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.optimize import minimize, minimize_scalar
from scipy.special import softmax, xlogy

from kfrc import KFRC
from kfrc.dissimilarity import Dissimilarity
from kfrc.fitting.result import TableCenters
from kfrc.fuzzifiers import Fuzzifier
from kfrc.gram import DenseGram, gram_family
from kfrc.kernels import Kernel
from kfrc.relational import Status, descend, evaluate_partition, in_order, sized_rule, solve_relational
from kfrc.relational.sizes import SCALE_ROWS, SizedEntropy, effective_dimension
from kfrc.spectrum import spectrum_of
from kfrc_app.facts import summarize
from kfrc_app.facts.geometry import fitted_gram
from kfrc_app.facts.path import fuzzifier_path
from kfrc_app.facts.stability import model_stability
from kfrc_app.models import dump_model, load_model
from kfrc_app.report.html import render_html
from strategies import data_matrices, members, random_memberships

temperatures = st.floats(-3, 3).map(lambda log: float(np.exp(log)))
both_scales = pytest.mark.parametrize("own_scales", [False, True], ids=["common", "own"])
KNOWN_SIZES = SizedEntropy(1.0, tuple(np.log([0.7, 0.2, 0.1]).tolist()), (1.0, 2.0, 0.5), 3.0, own_scales=True)


def objective_by_definition(rule, U, distances):
    """J, term by term, up to the prior of the sizes, which is a millionth of a row."""
    s, log_sizes, q, T = np.array(rule.scales), np.array(rule.log_sizes), rule.dimension, rule.m
    terms = (distances / (2 * s) + q / 2 * np.log(s)) / T - log_sizes
    prior = SCALE_ROWS * (q * rule.common_scale / (2 * s) + q / 2 * np.log(s)).sum() / T if rule.own_scales else 0.0
    return (U * terms).sum() + xlogy(U, U).sum() + prior


def run(X, n_clusters, T, own_scales, seed=0, *, kernel="linear", level=0.0, **options):
    gram = gram_family(X, Kernel.resolve(kernel)).at(np.full(X.shape[1], np.exp(level)))
    dissimilarity = Dissimilarity(gram)
    U = random_memberships(np.random.default_rng(seed), len(X), n_clusters, concentration=0.3)
    rule = sized_rule(dissimilarity, U, T, own_scales)
    return dissimilarity, rule, descend(dissimilarity, rule, U, **({"max_iter": 80, "tol": 1e-9} | options))


@given(
    data_matrices(max_samples=20),
    members(Kernel),
    st.floats(-1, 5),
    st.integers(1, 5),
    temperatures,
    st.booleans(),
    st.integers(0, 1000),
)
@settings(max_examples=80)
def test_objective_never_rises_at_any_temperature(X, kernel, level, n_clusters, T, own_scales, seed):
    dissimilarity, _, solution = run(X, n_clusters, T, own_scales, seed, kernel=kernel, level=level)
    path, U = solution.objective_path, solution.memberships
    scale = np.abs(path).max() + len(X) * (1 + solution.fuzzifier.dimension / T)
    assert np.diff(path).max(initial=0.0) <= 1e-11 * scale
    assert (U >= 0).all()
    assert_allclose(U.sum(axis=1), 1.0, rtol=0, atol=1e-12)
    here = evaluate_partition(dissimilarity, solution.fuzzifier, U)
    distances, _ = dissimilarity.center_distances(here.prototypes)
    assert solution.objective == pytest.approx(
        objective_by_definition(here.fuzzifier, U, distances), abs=1e-6 * scale + 1e-4
    )


@given(st.integers(0, 1000), temperatures)
@settings(max_examples=25)
def test_memberships_minimize_the_problem_of_each_row(seed, T):
    rule = KNOWN_SIZES.with_m(T)
    distances = np.random.default_rng(seed).gamma(2.0, size=(1, 3))

    def row_problem(logits):
        return objective_by_definition(rule, softmax(logits)[None], distances)

    found = minimize(row_problem, np.zeros(3), tol=1e-12)
    assert row_problem(np.log(np.maximum(rule.memberships(distances)[0], 1e-300))) <= found.fun + 1e-9
    assert_allclose(rule.memberships(distances)[0], softmax(found.x), atol=2e-3)


@both_scales
def test_sizes_and_scales_minimize_the_objective(own_scales):
    rng = np.random.default_rng(0)
    U, distances = random_memberships(rng, 20, 3), rng.gamma(2.0, size=(20, 3))
    rule = SizedEntropy(0.7, dimension=2.5, common_scale=0.8, own_scales=own_scales).adapted(U, distances)
    best = objective_by_definition(rule, U, distances)
    shares = np.exp(rule.log_sizes)
    assert_allclose(shares, U.mean(axis=0), atol=1e-6)

    def with_scale(log_scale, i):
        scales = [s if own_scales and k != i else np.exp(log_scale) for k, s in enumerate(rule.scales)]
        return objective_by_definition(
            SizedEntropy(0.7, rule.log_sizes, tuple(scales), 2.5, 0.8, 0.0, own_scales), U, distances
        )

    for i in range(3):
        found = minimize_scalar(with_scale, args=(i,), bounds=(-5, 5), method="bounded", options={"xatol": 1e-10})
        assert np.exp(found.x) == pytest.approx(rule.scales[i], rel=1e-5)
        assert found.fun >= best - 1e-9


@given(data_matrices(min_samples=12, min_features=2), st.booleans(), st.integers(0, 1000))
@settings(max_examples=20)
def test_predicted_memberships_are_the_fitted_ones(X, own_scales, seed):
    dissimilarity, _, solution = run(X, 2, 0.7, own_scales, seed, max_iter=3000, tol=1e-7)
    distances, _ = dissimilarity.center_distances(solution.prototypes)
    if np.isfinite(solution.squared_norms).all():
        assert_allclose(solution.fuzzifier.memberships(distances), solution.memberships, atol=1e-9)


@both_scales
@pytest.mark.parametrize("n_clusters", [2, 3])
def test_equal_memberships_are_left_exactly_below_the_critical_temperature(own_scales, n_clusters):
    rng = np.random.default_rng(3)
    X = np.vstack([rng.normal(0, 1, (30, 3)), rng.normal(2, 1.5, (20, 3))])
    gram = gram_family(X, Kernel.from_name("sum")).at(np.full(3, 1.5))
    dissimilarity = Dissimilarity(gram)
    U = np.full((50, n_clusters), 1 / n_clusters)
    noise = 1e-7 * rng.standard_normal(U.shape)
    noise -= noise.mean(axis=1, keepdims=True)
    noise -= noise.mean(axis=0)
    leading = spectrum_of(gram, 1).eigenvalues[0]
    critical = sized_rule(dissimilarity, U, 1.0, own_scales).critical_m(n_clusters, leading)
    for share, grows in [(0.93, True), (1.07, False)]:
        rule = sized_rule(dissimilarity, U, share * critical, own_scales)
        assert rule.kappa(n_clusters) * leading == pytest.approx(1 / share)
        U0 = U + noise
        rows = descend(dissimilarity, rule, U0, 150, 0.0).memberships
        assert (np.abs(rows - rows.mean(axis=0)).max() > 10 * np.abs(noise).max()) == grows


def test_a_high_temperature_makes_rows_alike_and_is_called_a_collapse():
    X = np.random.default_rng(0).standard_normal((40, 2))
    _, _, solution = run(X, 3, 50.0, False, max_iter=500, tol=1e-6)
    assert solution.status is Status.COLLAPSED
    assert np.ptp(solution.memberships, axis=0).max() < 1e-3


@both_scales
def test_equal_rows_empty_clusters_and_single_clusters_stay_finite(own_scales):
    X = np.repeat([[0.0, 0.0], [1.0, 0.0]], 10, axis=0)
    dissimilarity = Dissimilarity.from_features(X)
    for U in (
        np.repeat(np.eye(2), 10, axis=0),
        np.column_stack([np.repeat(np.eye(2), 10, axis=0), np.zeros(20)]),
        np.ones((20, 1)),
    ):
        solution = descend(dissimilarity, sized_rule(dissimilarity, U, 0.5, own_scales), U, 50, 1e-6)
        assert np.isfinite(solution.objective_path).all()
        assert_allclose(solution.memberships.sum(axis=1), 1.0)
        if U.shape[1] > 1:
            assert_allclose(solution.memberships[:, :2], U[:, :2], atol=1e-3)
    same = Dissimilarity.from_features(np.zeros((6, 2)))
    U = random_memberships(np.random.default_rng(0), 6, 2)
    assert np.isfinite(descend(same, sized_rule(same, U, 1.0, own_scales), U, 5, 1e-6).memberships).all()


def test_clusters_at_infinity_get_nothing_and_rows_far_from_all_are_shared():
    assert_allclose(
        KNOWN_SIZES.memberships(np.array([[1.0, np.inf, np.inf], [np.inf, np.inf, np.inf]])),
        [[1.0, 0.0, 0.0], [1 / 3, 1 / 3, 1 / 3]],
    )


@pytest.mark.parametrize("T", [0.0, -1.0, np.inf, np.nan])
def test_temperatures_outside_the_range_are_refused(T):
    with pytest.raises(ValueError, match="the range of the entropy with sizes fuzzifier"):
        SizedEntropy(T)


def test_the_rule_has_no_name_and_follows_the_order_of_clusters():
    assert "entropy with sizes" not in Fuzzifier.registry
    assert SizedEntropy.name == ""
    X = np.random.default_rng(1).standard_normal((30, 2))
    _, _, solution = run(X, 3, 0.4, True)
    turned = in_order(solution, [2, 0, 1])
    distances = np.random.default_rng(2).gamma(2.0, size=(5, 3))
    assert_allclose(
        turned.fuzzifier.memberships(distances[:, [2, 0, 1]]), solution.fuzzifier.memberships(distances)[:, [2, 0, 1]]
    )


def test_effective_dimension_is_that_of_the_scatter_within_clusters():
    rng = np.random.default_rng(0)
    X, U = rng.standard_normal((40, 3)) * [3.0, 1.0, 0.2], random_memberships(rng, 40, 2)
    means = U.T @ X / U.sum(axis=0)[:, None]
    scatter = sum((X - m).T @ ((X - m) * u[:, None]) for m, u in zip(means, U.T, strict=True))
    expected = np.trace(scatter) ** 2 / np.trace(scatter @ scatter)
    assert effective_dimension(Dissimilarity.from_features(X).gram, U) == pytest.approx(expected)
    assert effective_dimension(DenseGram((X + 5.0) @ (X + 5.0).T), U) == pytest.approx(expected)
    assert effective_dimension(Dissimilarity.from_features(1e-5 * X).gram, U) == pytest.approx(expected)


def test_rows_that_are_not_scattered_have_one_dimension():
    U = np.eye(3)[np.repeat([0, 1, 2], 4)]
    assert effective_dimension(Dissimilarity.from_features(np.zeros((12, 2))).gram, U) == 1.0
    assert effective_dimension(DenseGram(np.zeros((12, 12))), U) == 1.0
    squares_vanish = np.random.default_rng(0).normal(scale=1e-100, size=(12, 2))
    assert effective_dimension(Dissimilarity.from_features(squares_vanish).gram, U) == 1.0


def test_ordinary_fuzzifiers_stay_as_they_were():
    X = np.random.default_rng(1).standard_normal((30, 2))
    t = Fuzzifier.from_name("power")
    solution = solve_relational(Dissimilarity.from_features(X), 2, t, random_state=0)
    assert solution.fuzzifier is t
    assert t.penalty(solution.memberships) == 0.0
    assert t.costs(X) is X


@both_scales
def test_fitted_model_with_the_rule_can_be_used_like_any_other(own_scales, tmp_path):
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(0, 1, (60, 2)), rng.normal(4, 0.7, (12, 2))])
    model = KFRC(2, fuzzifier="power", m=2, level=1.0, max_anisotropy=1.0, random_state=0).fit(X)
    gram = fitted_gram(model, X, np.arange(len(X)))
    dissimilarity = Dissimilarity(gram)
    rule = sized_rule(dissimilarity, model.memberships_, 1.0, own_scales)
    solution = descend(dissimilarity, rule, model.memberships_, 2000, 1e-7)
    model._store(solution, solution.fuzzifier)
    model._centers = TableCenters(model.space_, gram.centers(solution.prototypes))
    assert_allclose(model.predict_proba(X), model.memberships_, atol=1e-6)
    assert model.score(X) == pytest.approx(-model.objective_, rel=1e-5)
    stability = model_stability(model)
    assert not stability.stable
    assert stability.critical_m == pytest.approx(solution.fuzzifier.critical_m(2, model.eigenvalues_[0]))
    path = fuzzifier_path(model, X, n_steps=5)
    assert path.uniformity[0] < path.uniformity[-1]
    assert summarize(model, X).fit.fuzzifier == "entropy with sizes"
    assert "The fit has a temperature m" in render_html(summarize(model, X))
    file = tmp_path / "model.skops"
    file.write_bytes(dump_model(model))
    again = load_model(file)
    assert again.fuzzifier_ == model.fuzzifier_
    assert_allclose(again.predict_proba(X), model.predict_proba(X), atol=1e-12)


@both_scales
def test_sums_over_samples_say_the_same_as_memberships(own_scales):
    rng = np.random.default_rng(6)
    U, distances, s = random_memberships(rng, 15, 3), rng.gamma(2.0, size=(15, 3)), rng.uniform(0.5, 2.0, 15)
    rule = SizedEntropy(0.7, (-1.0, -2.0, -0.5), (0.4, 1.3, 0.8), 2.5, 0.8, 0.1, own_scales)
    assert_allclose(rule.sample_memberships(distances.T), rule.memberships(distances).T, rtol=1e-13)
    assert_allclose(rule.sample_costs(distances.T), rule.costs(distances).T, rtol=1e-13)
    assert_allclose(rule.costs(distances), distances / (2 * 0.7 * np.array(rule.scales)), rtol=1e-13)
    masses, entropy = s @ U, -(s @ xlogy(U, U)).sum()
    assert rule.penalty_of(masses, entropy) == pytest.approx(rule.penalty(U, s), rel=1e-12)
    assert rule.adapted_to(masses, s @ (U * distances)) == rule.adapted(U, distances, s)
    single = rule.sample_costs(distances.T.astype(np.float32))
    assert single.dtype == np.float32
    assert_allclose(single, rule.costs(distances).T, rtol=1e-6)


@both_scales
def test_rows_that_coincide_have_a_rule_of_one_dimension_and_any_scale(own_scales):
    rule = sized_rule(Dissimilarity.from_features(np.full((6, 2), 3.0)), np.full((6, 2), 0.5), 1.0, own_scales)
    assert rule.dimension == 1.0
    assert rule.gain == 1.0
    assert_allclose(rule.scales, 1e-8 if not own_scales else rule.scales)
    assert rule.smallest_scale == rule.common_scale == 1e-8


def test_no_scale_is_smaller_than_the_smallest():
    U, distances = np.repeat(np.eye(2), 3, axis=0), np.zeros((6, 2))
    assert SizedEntropy(1.0, smallest_scale=0.25).adapted(U, distances).scales == (0.25, 0.25)
    pulled = SizedEntropy(1.0, smallest_scale=0.25, own_scales=True).adapted(U, distances)
    assert_allclose(pulled.scales, SCALE_ROWS / (3 + SCALE_ROWS))  # three rows at no distance, five at the common one


def test_an_empty_cluster_has_a_size_with_a_logarithm():
    U = np.column_stack([np.ones(4), np.zeros(4)])
    rule = SizedEntropy(1.0).adapted(U, np.column_stack([np.ones(4), np.full(4, np.inf)]))
    assert_allclose(np.exp(rule.log_sizes), [1.0, 1e-6 / 4], rtol=1e-5)
    assert rule.scales == (1.0, 1.0)


def test_memberships_themselves_are_the_weights():
    U = np.array([[0.2, 0.8]])
    assert KNOWN_SIZES.value(U) is U
    assert_allclose(KNOWN_SIZES.derivative(U), 1.0)
    assert_allclose(KNOWN_SIZES.second_derivative(U), 0.0)


@both_scales
@pytest.mark.parametrize("weighted", [False, True])
def test_the_critical_temperature_does_not_depend_on_how_its_eigenvalue_is_found(own_scales, weighted, monkeypatch):
    rng = np.random.default_rng(7)
    X, s = rng.standard_normal((40, 3)) * [2.0, 1.0, 0.5], rng.uniform(0.5, 2.0, 40) if weighted else None
    rows, U = Dissimilarity.from_features(X, s), random_memberships(rng, 40, 2)
    whole = sized_rule(rows, U, 1.0, own_scales).gain
    monkeypatch.setattr("kfrc.relational.sizes._FULL_MAX_SAMPLES", 10)
    assert sized_rule(rows, U, 1.0, own_scales).gain == pytest.approx(whole, rel=1e-7)


def test_the_critical_temperature_of_a_common_scale_is_the_variance_of_the_first_component_per_scale():
    X = np.random.default_rng(8).standard_normal((40, 3)) * [2.0, 1.0, 0.5]
    U = np.full((40, 2), 0.5)
    rows = Dissimilarity.from_features(X)
    rule = sized_rule(rows, U)
    leading = spectrum_of(rows.gram, 1).eigenvalues[0]
    variances = np.linalg.eigvalsh(np.cov(X.T, bias=True))
    assert rule.critical_m(2, leading) == pytest.approx(variances[-1] / (variances.sum() / rule.dimension))
    assert rule.dimension == pytest.approx(variances.sum() ** 2 / np.square(variances).sum())
