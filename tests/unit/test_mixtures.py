"""Mixtures: what each step of expectation-maximization promises, and the numbers of an independent implementation."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import multivariate_normal, multivariate_t

from kfrc._numerics import standardize
from kfrc.columns import Nominal, Numeric, Table
from kfrc.mixtures import (
    RIDGE,
    Covariance,
    Diagonal,
    Full,
    MixedMixture,
    Mixture,
    MixtureKind,
    Parts,
    Rotated,
    RotatedScaled,
    Tied,
    TiedDiagonal,
    fit_mixture,
    resolution,
)
from strategies import data_matrices, random_memberships

own_matrices = pytest.mark.parametrize("covariance", [Rotated(), RotatedScaled(), Full()], ids=lambda c: c.name)
KINDS = [MixtureKind(cls(), nu) for cls in Covariance.registry.values() for nu in (math.inf, 4.0)]
every_kind = pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
NO_RIDGE = np.full(4, 1e-12)  # variances of the groups are about 0.1


@pytest.fixture(scope="module")
def groups():
    rng = np.random.default_rng(0)
    labels = np.repeat([0, 1, 2], [60, 40, 30])
    X = rng.standard_normal((130, 4))
    X[:, 0] += np.array([-3.0, 0.0, 3.0])[labels]
    X[:, 1] += np.array([2.0, -2.0, 2.0])[labels]
    return standardize(X), labels


def covariance_matrices(mixture):
    """What the spread of a mixture stands for, as matrices of shape (n_clusters, n_features, n_features)."""
    n_clusters, n_features = mixture.means.shape
    scaling = mixture.spread.scaling
    if scaling.ndim == 3:
        return np.array([np.linalg.inv(matrix @ matrix.T) for matrix in scaling])
    if scaling.shape == (n_features, n_features) and isinstance(mixture.kind.covariance, Tied):
        return np.broadcast_to(np.linalg.inv(scaling @ scaling.T), (n_clusters, n_features, n_features))
    return [np.diag(row**-2.0) for row in np.broadcast_to(scaling, mixture.means.shape)]


@every_kind
def test_one_hot_memberships_give_the_means_and_shares_of_the_groups(groups, kind):
    X, labels = groups
    mixture = Mixture.from_memberships(X, np.eye(3)[labels], kind)
    assert_allclose(mixture.means, [X[labels == k].mean(axis=0) for k in range(3)], atol=1e-10)
    assert_allclose(mixture.weights, np.array([60, 40, 30]) / 130, atol=1e-10)


def test_one_hot_memberships_give_the_covariances_of_the_groups(groups):
    X, labels = groups
    inside = X - np.array([X[labels == k].mean(axis=0) for k in range(3)])[labels]
    pooled = inside.T @ inside / len(X)

    def matrices(covariance):
        kind = MixtureKind(covariance)
        return covariance_matrices(Mixture.from_memberships(X, np.eye(3)[labels], kind, ridge=NO_RIDGE))

    assert_allclose(matrices(Tied())[0], pooled, atol=1e-9)
    assert_allclose(matrices(TiedDiagonal())[0], np.diag(np.diag(pooled)), atol=1e-9)
    for k, n in enumerate([60, 40, 30]):
        own = ((inside[labels == k] ** 2).sum(axis=0) + 1) / (n + 1)
        assert_allclose(matrices(Diagonal())[k], np.diag(own), atol=1e-9)


@every_kind
def test_densities_are_those_of_scipy(groups, kind):
    X, labels = groups
    mixture = Mixture.from_memberships(X, np.eye(3)[labels], kind)
    nu = kind.degrees_of_freedom
    components = [
        multivariate_normal(mean, shape) if math.isinf(nu) else multivariate_t(mean, shape, df=nu)
        for mean, shape in zip(mixture.means, covariance_matrices(mixture), strict=True)
    ]
    joint = np.array([w * f.pdf(X) for w, f in zip(mixture.weights, components, strict=True)]).T
    step = mixture.expectation(X)
    assert_allclose(step.log_densities, np.log(joint.sum(axis=1)), rtol=1e-9)
    assert_allclose(step.posterior, joint / joint.sum(axis=1, keepdims=True), atol=1e-9)
    assert step.log_likelihood == pytest.approx(np.log(joint.sum(axis=1)).sum())


@every_kind
@given(data=st.data())
def test_posteriors_of_any_rows_lie_on_the_simplex(kind, data):
    X = data.draw(data_matrices(min_features=2, max_features=4))
    rng = np.random.default_rng(data.draw(st.integers(0, 1000)))
    mixture = Mixture.from_memberships(X, random_memberships(rng, len(X), 3), kind)
    P = mixture.posterior(30.0 * rng.standard_normal((7, X.shape[1])))
    assert (P >= 0).all()
    assert_allclose(P.sum(axis=1), 1.0, atol=1e-12)


@every_kind
@pytest.mark.parametrize("seed", range(3))
def test_no_step_lowers_the_likelihood_where_the_ridge_is_negligible(groups, kind, seed):
    X, _ = groups
    U = random_memberships(np.random.default_rng(seed), len(X), 3)
    fit = fit_mixture(X, U, kind, ridge=NO_RIDGE, max_iter=60, tol=-math.inf)
    path = fit.log_likelihood_path
    # The rows that Diagonal and Full add to each component are a prior: what never falls is the likelihood with it.
    slack = {"diagonal": 0.05, "full": 0.5}.get(kind.covariance.name, 1e-8)
    assert len(path) == 61
    assert path[-1] > path[0] + 1.0
    assert np.diff(path).min() >= -slack


@every_kind
def test_the_ridge_hardly_lowers_the_likelihood_of_a_step(groups, kind):
    X, _ = groups
    U = random_memberships(np.random.default_rng(3), len(X), 3)
    path = fit_mixture(X, U, kind, max_iter=60, tol=-math.inf).log_likelihood_path
    assert np.diff(path).min() >= -1e-3 * len(X)


@every_kind
def test_many_steps_end_at_a_fixed_point(groups, kind):
    X, labels = groups
    fit = fit_mixture(X, np.eye(3)[labels], kind, max_iter=400, tol=-math.inf)
    again = Mixture.from_memberships(X, fit.expectation.posterior, kind, row_weights=fit.expectation.row_weights)
    assert_allclose(again.means, fit.mixture.means, atol=1e-7)
    assert_allclose(again.weights, fit.mixture.weights, atol=1e-7)


def test_a_fit_says_whether_it_converged(groups):
    X, labels = groups
    wrong = np.eye(3)[np.random.default_rng(0).permutation(labels)]
    short = fit_mixture(X, wrong, MixtureKind(TiedDiagonal()), max_iter=2, tol=1e-12)
    assert (short.converged, len(short.log_likelihood_path)) == (False, 3)
    assert fit_mixture(X, wrong, MixtureKind(TiedDiagonal()), max_iter=1000).converged


def test_far_rows_count_less_for_heavy_tails_only(groups):
    X, labels = groups
    far = np.vstack([X, np.full((1, 4), 30.0)])
    U = np.vstack([np.eye(3)[labels], [[1.0, 0.0, 0.0]]])
    heavy = Mixture.from_memberships(far, U, MixtureKind(TiedDiagonal(), 4.0)).expectation(far).row_weights
    assert heavy[-1].max() < 0.1 * heavy[:-1, 0].mean()
    assert Mixture.from_memberships(far, U, MixtureKind(TiedDiagonal())).expectation(far).row_weights is None


@every_kind
def test_an_empty_component_stays_harmless(groups, kind):
    X, labels = groups
    U = np.column_stack([np.eye(3)[labels], np.zeros(len(X))])
    assert np.isfinite(fit_mixture(X, U, kind).log_likelihood_path).all()
    # In the end a component may grow out of nothing if rows are better off in it; it takes its time.
    assert fit_mixture(X, U, kind, max_iter=10).mixture.weights[3] < 1e-6


@pytest.mark.parametrize("covariance", [Tied(), TiedDiagonal(), Diagonal(), Full()], ids=lambda c: c.name)
def test_free_parameters_are_those_that_the_covariances_can_vary(groups, covariance):
    X, labels = groups
    mixture = Mixture.from_memberships(X, np.eye(3)[labels], MixtureKind(covariance))
    entries = np.abs(np.array(covariance_matrices(mixture)))[:, *np.triu_indices(4)]
    distinct = len(np.unique(entries[entries > 1e-12].round(9)))
    assert covariance.n_parameters(3, 4) == distinct


def test_parameters_are_counted():
    assert MixtureKind(Tied()).n_parameters(3, 4) == 2 + 12 + 10
    assert MixtureKind(TiedDiagonal()).n_parameters(3, 4) == 2 + 12 + 4
    assert MixtureKind(Diagonal()).n_parameters(3, 4) == 2 + 12 + 12
    # Celeux and Govaert's counts; four columns have six angles.
    assert MixtureKind(Rotated()).n_parameters(3, 4) == 2 + 12 + 4 + 3 * 6
    assert MixtureKind(RotatedScaled()).n_parameters(3, 4) == 2 + 12 + 3 + 3 + 3 * 6
    assert MixtureKind(Full()).n_parameters(3, 4) == 2 + 12 + 3 * 10


@own_matrices
def test_one_component_has_the_common_covariance_whatever_the_kind(groups, covariance):
    X, _ = groups
    assert covariance.n_parameters(1, 4) == Tied().n_parameters(1, 4)
    one = [Mixture.from_memberships(X, np.ones((len(X), 1)), MixtureKind(c)) for c in (covariance, Tied())]
    assert_allclose(covariance_matrices(one[0])[0], covariance_matrices(one[1])[0], atol=1e-9)


def test_own_matrices_share_what_their_kind_says(groups):
    X, labels = groups

    def eigenvalues(covariance):
        mixture = Mixture.from_memberships(X, np.eye(3)[labels], MixtureKind(covariance), ridge=NO_RIDGE)
        return np.linalg.eigvalsh(covariance_matrices(mixture))

    assert_allclose(eigenvalues(Rotated()), eigenvalues(Rotated())[[0, 0, 0]], rtol=1e-8)
    ratios = eigenvalues(RotatedScaled())
    assert np.ptp(ratios[:, 0]) > 1e-3
    assert_allclose(ratios / ratios[:, :1], (ratios / ratios[:, :1])[[0, 0, 0]], rtol=1e-8)
    inside = X - np.array([X[labels == k].mean(axis=0) for k in range(3)])[labels]
    pooled = inside.T @ inside / len(X)
    full = covariance_matrices(Mixture.from_memberships(X, np.eye(3)[labels], MixtureKind(Full()), ridge=NO_RIDGE))
    for k, n in enumerate([60, 40, 30]):
        members = inside[labels == k]
        assert_allclose(full[k], (members.T @ members + 6 * pooled) / (n + 6), atol=1e-9)


@own_matrices
def test_maximization_step_beats_nearby_matrices_of_its_kind(groups, covariance):
    X, labels = groups
    rng = np.random.default_rng(0)
    fitted = Mixture.from_memberships(X, np.eye(3)[labels], MixtureKind(covariance), ridge=NO_RIDGE)

    def complete_likelihood(matrices):
        parts = zip(matrices, fitted.means, range(3), strict=True)
        return sum(multivariate_normal(mean, matrix).logpdf(X[labels == k]).sum() for matrix, mean, k in parts)

    best = complete_likelihood(covariance_matrices(fitted))
    if isinstance(covariance, Full):
        return  # its prior is not in this likelihood; the exact matrices are tested above
    for _ in range(20):
        turns = [np.linalg.qr(np.eye(4) + 0.02 * (M - M.T))[0] for M in rng.standard_normal((3, 4, 4))]
        turned = [Q @ S @ Q.T for Q, S in zip(turns, covariance_matrices(fitted), strict=True)]
        assert complete_likelihood(turned) <= best
        assert complete_likelihood(np.exp(0.02 * rng.standard_normal()) * covariance_matrices(fitted)) <= best


def rotated_groups():
    """Two long clusters across each other, which no common covariance describes."""
    rng = np.random.default_rng(0)
    labels = np.repeat([0, 1], 100)
    X = rng.standard_normal((200, 2)) * [3.0, 0.3]
    X[labels == 1] = X[labels == 1, ::-1]
    return standardize(X), labels


@own_matrices
def test_crossing_clusters_are_told_apart_by_own_matrices_only(covariance):
    X, labels = rotated_groups()
    U = 0.6 * np.eye(2)[labels] + 0.2

    def share_right(kind):
        found = fit_mixture(X, U, kind).expectation.posterior.argmax(axis=1)
        return max((found == labels).mean(), (found != labels).mean())

    assert share_right(MixtureKind(covariance)) > 0.85
    assert share_right(MixtureKind(covariance, degrees_of_freedom=4.0)) > 0.85
    assert share_right(MixtureKind(Tied())) < 0.75


@own_matrices
def test_component_of_equal_rows_keeps_a_finite_density(covariance):
    X = np.vstack([np.random.default_rng(0).standard_normal((50, 3)), np.full((20, 3), 2.0)])
    fit = fit_mixture(X, np.repeat(np.eye(2), [50, 20], axis=0), MixtureKind(covariance))
    assert np.isfinite(fit.log_likelihood_path).all()
    assert (fit.expectation.posterior[50:, 1] > 0.99).all()


@own_matrices
def test_own_matrices_need_two_rows_per_entry_and_few_columns(covariance):
    assert [covariance.is_estimable(n, 5, 4) for n in (119, 120)] == [False, True]
    assert not covariance.is_estimable(10**6, 11, 2)
    assert not covariance.is_estimable(10**6, 1, 2)


def test_kinds_are_named_after_covariance_and_tails():
    names = [kind.name for kind in KINDS]
    assert names == [
        *("tied", "tied_t", "tied_diagonal", "tied_diagonal_t", "diagonal", "diagonal_t"),
        *("rotated", "rotated_t", "rotated_scaled", "rotated_scaled_t", "full", "full_t"),
    ]


def test_kinds_of_a_covariance_without_a_name_are_called_by_its_class():
    class OwnCovariance(Diagonal):
        """A user's covariance."""

    kinds = MixtureKind(OwnCovariance()), MixtureKind(OwnCovariance(), degrees_of_freedom=4.0)
    assert [kind.name for kind in kinds] == ["OwnCovariance", "OwnCovariance_t"]


def test_a_full_covariance_needs_twice_as_many_rows_as_columns():
    assert [Tied().is_estimable(n, 5) for n in (10, 11)] == [False, True]
    assert TiedDiagonal().is_estimable(2, 50)
    assert Diagonal().is_estimable(2, 50)


def test_columns_with_an_atom_are_modeled_coarsely():
    X = np.random.default_rng(0).standard_normal((100, 3))
    X[:9, 0], X[:10, 1] = 0.0, 0.0
    assert_array_equal(resolution(X), [RIDGE, 0.1, RIDGE])


@pytest.fixture(scope="module")
def mixed():
    """Numbers of two groups and a column of words, complete and with blanks, and the groups."""
    rng = np.random.default_rng(0)
    labels = np.repeat([0, 1], 60)
    X = rng.standard_normal((120, 3)) @ rng.standard_normal((3, 3)) + np.array([[0, 0, 0], [3, 1, -2]])[labels]
    numbers = standardize(X)
    values = np.column_stack([numbers, rng.integers(0, 2, 120)])
    columns = (Numeric(),) * 3 + (Nominal("word", ("u", "v")).scaled(values[:, 3], None),)
    blanked = values.copy()
    blanked[rng.random(values.shape) < 0.3] = np.nan
    blanked[0] = np.nan
    return Table(values, columns), Table(blanked, columns), labels


@every_kind
def test_rows_with_blanks_have_the_marginal_density_of_a_mixture_of_complete_rows(mixed, kind):
    table, blanked, labels = mixed
    mixture = MixedMixture.from_memberships(Parts(table), np.eye(2)[labels], kind)
    [shares] = mixture.shares
    nu = kind.degrees_of_freedom
    joint = np.empty((len(blanked), 2))
    for i, (mean, shape) in enumerate(zip(mixture.numbers.means, covariance_matrices(mixture.numbers), strict=True)):
        for j, row in enumerate(blanked.values):
            o = np.flatnonzero(~np.isnan(row[:3]))
            density = 1.0
            if len(o) and math.isinf(nu):
                density = multivariate_normal(mean[o], shape[np.ix_(o, o)]).pdf(row[o])
            elif len(o):
                density = multivariate_t(mean[o], shape[np.ix_(o, o)], df=nu).pdf(row[o])
            share = 1.0 if np.isnan(row[3]) else shares[i, int(row[3])]
            joint[j, i] = mixture.weights[i] * density * share
    step = mixture.expectation(Parts(blanked))
    assert_allclose(step.log_densities, np.log(joint.sum(axis=1)), rtol=1e-7, atol=1e-9)
    assert_allclose(mixture.posterior(blanked), joint / joint.sum(axis=1, keepdims=True), atol=1e-8)
