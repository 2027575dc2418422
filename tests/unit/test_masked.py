"""A masked value is a missing one: nothing computes with what lies under a mask."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy.spatial.distance import cdist
from sklearn.base import clone
from sklearn.utils import get_tags

from kfrc import FANNY, FCM, FCMMK, FRC, KFRC, MSFCM, NERFCM, RFCM, VFCM
from kfrc.bandwidth import select_bandwidths
from kfrc.metrics import (
    frobenius_adjusted_rand_score,
    fuzzy_adjusted_rand_score,
    importance_weights,
    partition_coefficient,
    xie_beni_index,
)
from kfrc.relational import solve_relational
from kfrc.spectrum import leading_spectrum
from kfrc.stability import uniform_hessian

ESTIMATORS = [
    KFRC.paper(3, n_starts=1, optimizer="lbfgs", random_state=0),
    FRC(3, random_state=0),
    FANNY(3, m=1.5),
    FCM(3, random_state=0),
    RFCM(3, random_state=0),
    NERFCM(3, random_state=0),
    FCMMK(3, random_state=0),
    MSFCM(3, random_state=0),
    VFCM(3, random_state=0),
]
every_estimator = pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda e: type(e).__name__)


@pytest.fixture
def X(blobs):
    return blobs[0].copy()


@pytest.fixture
def masked(X):
    """The same rows with a typing error that somebody has masked."""
    mask = np.zeros(X.shape, dtype=bool)
    mask[3, 1] = mask[7, 0] = True
    data = X.copy()
    data[mask] = -9999.0
    return np.ma.array(data, mask=mask)


def accepts_missing(estimator):
    return get_tags(estimator).input_tags.allow_nan


every_complete = pytest.mark.parametrize(
    "estimator", [e for e in ESTIMATORS if not accepts_missing(e)], ids=lambda e: type(e).__name__
)
every_incomplete = pytest.mark.parametrize(
    "estimator", [e for e in ESTIMATORS if accepts_missing(e)], ids=lambda e: type(e).__name__
)


def test_three_methods_accept_missing_values():
    assert {type(e) for e in ESTIMATORS if accepts_missing(e)} == {KFRC, FRC, FCM}


@every_complete
def test_a_fit_says_that_masked_values_are_missing_and_where(estimator, masked):
    with pytest.raises(ValueError, match=r"2 masked value\(s\), the first at row 3, column 1.*NaN"):
        estimator.fit(masked)


@every_complete
def test_integers_may_be_masked_too(estimator, X):
    counts = np.ma.array(np.round(X).astype(int), mask=False)
    counts[5, 0] = np.ma.masked
    with pytest.raises(ValueError, match="1 masked value"):
        estimator.fit(counts)


@every_complete
def test_new_rows_may_not_be_masked_either(estimator, X, masked):
    fit = estimator.fit(X)
    for method in (fit.predict_proba, fit.predict, fit.transform, fit.score):
        with pytest.raises(ValueError, match="masked"):
            method(masked)


@every_incomplete
def test_masked_values_are_as_missing_as_nan(estimator, X, masked):
    holes = np.ma.filled(masked, np.nan)
    fit = clone(estimator).fit(masked)
    assert_array_equal(fit.memberships_, clone(estimator).fit(holes).memberships_)
    for method in (fit.predict_proba, fit.predict, fit.transform, fit.score):
        assert_array_equal(method(masked), method(holes))


@every_incomplete
def test_masked_integers_are_missing_too(estimator, X):
    counts = np.ma.array(np.round(10 * X).astype(int), mask=False)
    counts[5, 0] = np.ma.masked
    holes = np.ma.filled(counts.astype(float), np.nan)
    assert_array_equal(clone(estimator).fit(counts).memberships_, clone(estimator).fit(holes).memberships_)


@every_incomplete
def test_masked_values_are_refused_on_demand(estimator, masked):
    with pytest.raises(ValueError, match=r"masked|missing"):
        clone(estimator).set_params(missing="error").fit(masked)


@every_estimator
def test_a_mask_that_hides_nothing_changes_nothing(estimator, X):
    plain = estimator.fit(X).memberships_
    for mask in (False, np.zeros(X.shape, dtype=bool)):
        assert_array_equal(estimator.fit(np.ma.array(X, mask=mask)).memberships_, plain)


def test_given_memberships_matrices_and_bandwidths_may_not_be_masked(X, blobs):
    def hidden(values, where):
        array = np.ma.array(values, mask=False)
        array[where] = np.ma.masked
        return array

    U = np.eye(3)[blobs[1]]
    R = cdist(X, X, "sqeuclidean")
    masked_U, masked_R, masked_X = hidden(U, (0, 0)), hidden(R, (0, 1)), hidden(X, (0, 0))
    calls = [
        lambda: FCM(3, init=masked_U).fit(X),
        lambda: solve_relational(masked_R, 3),
        lambda: FRC(3, metric="precomputed").fit(masked_R),
        lambda: KFRC(3, bandwidths=hidden([1.0, 2.0], 1)).fit(X),
        lambda: FCMMK(3, sigmas=hidden([1.0, 2.0], 1)).fit(X),
        lambda: leading_spectrum(masked_X, [1.0, 1.0]),
        lambda: select_bandwidths(masked_X, 3, kernel="sum", criterion="sum", threshold=0.0, max_anisotropy=1.0),
        lambda: uniform_hessian(masked_R, "power", 3),
        lambda: partition_coefficient(masked_U),
        lambda: frobenius_adjusted_rand_score(U, masked_U),
        lambda: fuzzy_adjusted_rand_score(hidden(blobs[1], 4), U),
        lambda: fuzzy_adjusted_rand_score(blobs[1], masked_U),
        lambda: xie_beni_index(masked_X, U, np.zeros((3, 2))),
        lambda: xie_beni_index(X, U, hidden(np.arange(6.0).reshape(3, 2), (0, 0))),
        lambda: importance_weights(hidden([1.0, 2.0], 0)),
    ]
    for call in calls:
        with pytest.raises(ValueError, match="masked"):
            call()
