"""What a fit returns agrees with itself, also on tables that strain floating-point numbers.

`predict_proba` of the rows that were fitted gives `memberships_` wherever a fit says that it converged; the objective
never rises; and a fit that did not converge says so.
"""

from __future__ import annotations

import warnings
from functools import cache

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from kfrc import FANNY, FCM, FCMMK, FRC, KFRC, MSFCM, NERFCM, RFCM, VFCM
from kfrc._numerics import COLLAPSE_TOL
from kfrc.clusterers.base import FuzzyClusterer
from kfrc.fuzzifiers import Fuzzifier

_AGREEMENT = 1e-6

_AGREEMENT_AT_CENTERS = 1e-5
"""At m = 30 and more centers sit on samples, 10⁻¹² of the table away: so near, coordinates have three digits left, and
which three depends on the processor."""


def outlier(size):
    def table(rng):
        X = groups(rng)
        X[5, 1] = size
        return X

    return table


def groups(rng):
    centers = 5.0 * rng.standard_normal((4, 3))
    return centers[np.arange(60) % 4] + rng.standard_normal((60, 3))


def repeated(rng):
    """Five distinct rows, for four, five or six clusters."""
    return rng.standard_normal((5, 3))[np.arange(40) % 5]


TABLES = {
    "ordinary": groups,
    "outlier 1e4": outlier(1e4),
    "outlier 1e8": outlier(1e8),
    "outlier 1e10": outlier(1e10),
    "far from zero": lambda rng: groups(rng) + 1e9,
    "repeated": repeated,
    "few rows": lambda rng: groups(rng)[:7],
    "one column": lambda rng: np.round(groups(rng)[:, :1]),
    "cauchy": lambda rng: rng.standard_cauchy((50, 2)),
}

LARGE = {"power": 30.0, "exponential": 50.0, "quadratic": 1.0, "complementary_root": 30.0}


def estimators(n_clusters):
    common = {"n_clusters": n_clusters, "random_state": 0, "n_init": 1}
    for name, large in LARGE.items():
        for m in (None, large):
            yield FCM(fuzzifier=name, m=m, **common)
            yield FRC(fuzzifier=name, m=m, **common)
            yield FRC(fuzzifier=name, m=m, metric="euclidean", **common)
            yield KFRC(fuzzifier=name, m=m, bandwidths=2.0, **common)
            yield KFRC(fuzzifier=name, m=m, bandwidths=2.0, kernel="linear", **common)
            yield KFRC(fuzzifier=name, m=m, bandwidths=4.0, kernel="product", **common)
    for m in (1.2, 2.0, 5.0, 30.0, 100.0):
        yield FANNY(n_clusters, m=m)
        yield FANNY(n_clusters, m=m, metric="sqeuclidean", solver="batch")
        yield RFCM(m=m, **common)
        yield NERFCM(m=m, metric="manhattan", **common)
        yield FCMMK(m=m, **common)
        yield MSFCM(m=m, **common)
    yield FCM(m=100.0, **common)
    yield VFCM(**common)


def fit_and_heed(estimator, X):
    """The fit, and the categories of its warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        fit = clone(estimator).fit(X)
    unexpected = [w for w in caught if not issubclass(w.category, UserWarning)]
    assert not unexpected, unexpected[0].message
    return fit, {w.category for w in caught}


@cache
def fits_of(table, n_clusters):
    """A table, and every estimator with its fit and the categories of its warnings."""
    X = TABLES[table](np.random.default_rng(3))
    return X, [(estimator, *fit_and_heed(estimator, X)) for estimator in estimators(n_clusters)]


CASES = [(table, 4) for table in TABLES] + [(table, 6) for table in ("repeated", "few rows", "outlier 1e8")]


@pytest.mark.parametrize(("table", "n_clusters"), CASES)
def test_predictions_of_the_fitted_rows_are_their_memberships(table, n_clusters):
    X, fits = fits_of(table, n_clusters)
    for estimator, fit, warned in fits:
        difference = np.abs(fit.predict_proba(X) - fit.memberships_).max()
        if fit.status_ == "max_iter":
            assert ConvergenceWarning in warned, estimator
        else:
            agreement = _AGREEMENT_AT_CENTERS if (getattr(estimator, "m", None) or 0.0) >= 30.0 else _AGREEMENT
            bound = agreement if fit.status_ == "converged" else 2 * COLLAPSE_TOL
            assert difference <= bound, f"{estimator} ({fit.status_}): {difference:g}"


def test_on_ordinary_tables_they_agree_to_ten_digits():
    X = groups(np.random.default_rng(0))
    for estimator in estimators(4):
        if isinstance(estimator, FANNY) or (getattr(estimator, "m", None) or 0.0) > 5.0:
            continue  # sweeps stop at 5e-7, and a large m is not ordinary
        fit, _ = fit_and_heed(estimator, X)
        assert fit.status_ == "converged"
        assert_allclose(fit.predict_proba(X), fit.memberships_, rtol=0, atol=1e-10)


@pytest.mark.parametrize(("table", "n_clusters"), CASES)
def test_the_objective_never_rises(table, n_clusters):
    for estimator, fit, _ in fits_of(table, n_clusters)[1]:
        if isinstance(estimator, (VFCM, MSFCM)):
            continue  # another m in every iteration, and a scaling that is no descent: their documents say so
        path = fit.objective_path_
        assert np.isfinite(path).all(), estimator
        rise = (np.diff(path) / np.maximum(path[:-1], np.finfo(float).tiny)).max(initial=0.0)
        assert rise <= 1e-10, f"{estimator}: {rise:g}"


@pytest.mark.parametrize("name", LARGE)
def test_converged_holds_for_the_centers_as_well(name):
    X = groups(np.random.default_rng(0))
    for m in (None, LARGE[name]):
        t = Fuzzifier.from_name(name, m=m)
        fit, _ = fit_and_heed(FCM(4, fuzzifier=t, random_state=0), X)
        if fit.status_ != "converged":
            continue
        weights = t.value(fit.memberships_)
        centers = weights.T @ X / weights.sum(axis=0)[:, None]
        assert_allclose(centers, fit.cluster_centers_, rtol=0, atol=1e-4)


STOPPED = [
    FCM(3, max_iter=2, init="random", random_state=0),
    FRC(3, max_iter=2, init="random", random_state=0),
    FANNY(3, m=1.5, max_iter=1),
    RFCM(3, max_iter=2, init="random", random_state=0),
    NERFCM(3, max_iter=2, init="random", random_state=0),
    FCMMK(3, max_iter=1, init="random", random_state=0),
    MSFCM(3, max_iter=1, init="random", stop_when_filtered=False, random_state=0),
    VFCM(3, max_iter=1, init="random", random_state=0),
    KFRC(3, bandwidths=2.0, max_iter=2, init="random", random_state=0),
    KFRC(3, max_iter=1, tol=0.0, random_state=0),
]


@pytest.mark.parametrize("estimator", STOPPED, ids=lambda e: type(e).__name__)
def test_a_stop_before_convergence_is_told(estimator):
    with pytest.warns(ConvergenceWarning, match="iterations"):
        fit = estimator.fit(groups(np.random.default_rng(1)))
    assert fit.status_ == "max_iter"


def test_the_documents_say_what_holds():
    assert "memberships_" in FuzzyClusterer.predict_proba.__doc__
    assert "memberships_" in FANNY.predict_proba.__doc__


# --- scales at which squares leave the range of floating-point numbers ---


@pytest.mark.parametrize("exponent", [-560, 530])
@pytest.mark.parametrize("n_clusters", [1, 3])
@pytest.mark.filterwarnings("ignore::kfrc.TrivialPartitionWarning")
def test_several_kernels_give_the_same_in_any_unit(exponent, n_clusters):
    X = groups(np.random.default_rng(2))
    here = FCMMK(n_clusters, random_state=0).fit(X)
    there = FCMMK(n_clusters, random_state=0).fit(np.ldexp(X, exponent))
    assert np.isfinite(there.memberships_).all()
    assert_allclose(there.memberships_, here.memberships_, rtol=0, atol=1e-12)
    assert_allclose(np.ldexp(there.cluster_centers_, -exponent), here.cluster_centers_, rtol=1e-12)
    assert_allclose(np.ldexp(there.sigmas_, -exponent), here.sigmas_, rtol=1e-12)
    assert there.n_iter_ == here.n_iter_
    assert_allclose(there.predict_proba(np.ldexp(X, exponent)), here.predict_proba(X), rtol=0, atol=1e-12)


@pytest.mark.parametrize("scale", [1e160, 1e-170])
@pytest.mark.parametrize(
    "estimator",
    [
        FCM(3),
        FRC(3),
        RFCM(3),
        NERFCM(3),
        MSFCM(3),
        VFCM(3),
        FANNY(3, metric="sqeuclidean"),
        KFRC(3, kernel="linear", bandwidths=1.0),
    ],
    ids=lambda e: type(e).__name__,
)
def test_squares_out_of_range_are_refused_with_the_reason(estimator, scale):
    X = scale * groups(np.random.default_rng(2))
    with pytest.raises(ValueError, match=r"squared distances .* range of floating-point numbers.*divide"):
        estimator.fit(X)


@pytest.mark.slow
@pytest.mark.parametrize("scale", [1e160, 1e-170])
def test_a_choice_gives_the_same_in_any_unit(scale):
    X = groups(np.random.default_rng(2))
    here, there = (KFRC(4, random_state=0).fit(data) for data in (X, scale * X))
    assert_allclose(there.memberships_, here.memberships_, rtol=0, atol=1e-6)


@pytest.mark.parametrize("cls", [FRC, RFCM, NERFCM, FANNY])
def test_rows_of_zeros_are_predicted_as_they_were_fitted_by_angles(cls):
    X = np.random.default_rng(0).integers(0, 3, (40, 2)).astype(float)
    assert (X == 0).all(axis=1).any()
    model = cls(4, metric="cosine", m=1.5, random_state=0).fit(X)
    assert_allclose(model.predict_proba(X), model.memberships_, atol=1e-6)


@pytest.mark.parametrize("scale", [1e307, 1e-300])
def test_angles_know_no_lengths(scale):
    X = np.random.default_rng(0).standard_normal((12, 3))
    usual = FRC(2, metric="cosine", random_state=0).fit(X)
    assert_allclose(FRC(2, metric="cosine", random_state=0).fit(X * scale).memberships_, usual.memberships_, atol=1e-9)
