"""The space in which a fitted method sees rows is the one that its memberships follow from."""

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.metrics import pairwise_distances

from kfrc import FANNY, FCM, FRC, KFRC, NERFCM, RFCM
from kfrc.dissimilarity import Dissimilarity

X = load_iris().data[::5]
GAPS = np.where(np.random.default_rng(0).random(X.shape) < 0.1, np.nan, X)
SQUARES = pairwise_distances(X, metric="sqeuclidean")
# Two groups, and a row in the first that is near to rows far from each other: no squared distances of any space.
OTHER = np.kron([[4.0, 10.0], [10.0, 4.0]], np.ones((6, 6)))
OTHER[0, :6] = OTHER[:6, 0] = 0.5
np.fill_diagonal(OTHER, 0.0)

CASES = {
    "FCM": (FCM(3, m=1.5, random_state=0), X),
    "FCM with gaps": (FCM(3, m=1.5, random_state=0), GAPS),
    "FRC": (FRC(3, m=1.5, random_state=0), X),
    "FRC of another metric": (FRC(3, m=1.5, metric="manhattan", random_state=0), X),
    "FRC of Gower's": (FRC(3, m=1.5, metric="gower", random_state=0), GAPS),
    "FRC of a matrix": (FRC(3, m=1.5, metric="precomputed", random_state=0), SQUARES),
    "RFCM": (RFCM(3, m=1.5, random_state=0), X),
    "NERFCM that raised": (NERFCM(2, m=1.5, metric="precomputed", random_state=0), OTHER),
    "FANNY": (FANNY(3, m=1.5), X),
    "KFRC": (KFRC.paper(3, optimizer="lbfgs", m=1.5, n_starts=1, random_state=0), X),
    "KFRC of a kernel": (KFRC(3, m=1.5, kernel="precomputed", random_state=0), X @ X.T),
}


@pytest.mark.parametrize("name", CASES)
def test_memberships_follow_from_the_space(name):
    model, data = CASES[name]
    model.fit(data)
    weights = model.fuzzifier_.value(model.memberships_)
    dissimilarity = Dissimilarity(model._row_space(data).gram())
    distances, _ = dissimilarity.center_distances(weights / weights.sum(axis=0))
    again = model.fuzzifier_.memberships(np.maximum(distances, 0.0))
    np.testing.assert_allclose(again, model.memberships_, atol=1e-4)
    assert getattr(model, "beta_", 1.0) > 0, "this case is about dissimilarities that are raised"


@pytest.mark.parametrize("name", CASES)
def test_shares_of_columns_sum_to_one_or_there_are_none(name):
    model, data = CASES[name]
    shares = model.fit(data)._row_space(data).cluster_contributions(model.memberships_, model.fuzzifier_)
    if model.__sklearn_tags__().input_tags.pairwise:
        assert shares is None
        return
    assert shares.shape == (3, 4)
    assert (shares >= 0).all()
    assert shares.sum() == pytest.approx(1.0)


def test_shares_under_gowers_dissimilarity_are_those_of_its_matrix():
    model = FRC(3, m=1.5, metric="gower", random_state=0).fit(X)
    space = model._row_space(X)
    weights = model.fuzzifier_.value(model.memberships_)
    apart = weights / weights.sum(axis=0) - (weights.sum(axis=1) / weights.sum())[:, None]
    found = space.cluster_contributions(model.memberships_, model.fuzzifier_).sum(axis=0)
    columns = [np.abs(np.subtract.outer(x, x)) / np.ptp(x) for x in X.T]
    parts = np.array([-(weights.sum(axis=0) * np.einsum("ji,jk,ki->i", apart, R, apart)).sum() for R in columns])
    np.testing.assert_allclose(found, parts / parts.sum(), atol=1e-10)


def test_weights_count_rows():
    counts = np.random.default_rng(0).integers(1, 4, len(X))
    repeated = np.repeat(X, counts, axis=0)
    model = FCM(3, m=1.5, random_state=0).fit(X, sample_weight=counts.astype(float))
    weighted = model._row_space(X, counts.astype(float)).cluster_contributions(model.memberships_, model.fuzzifier_)
    U = np.repeat(model.memberships_, counts, axis=0)
    plain = model._row_space(repeated).cluster_contributions(U, model.fuzzifier_)
    np.testing.assert_allclose(weighted, plain, atol=1e-10)
