"""New rows of a matrix are held to what the matrix of the fit was held to."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.spatial.distance import cdist

from kfrc import FANNY, FRC, KFRC, NERFCM, RFCM, KFRCError

RELATIONAL = {
    "FRC": FRC(3, m=1.5, random_state=0),
    "FRC, quadratic": FRC(3, fuzzifier="quadratic", random_state=0),
    "RFCM": RFCM(3, m=1.5, random_state=0),
    "NERFCM": NERFCM(3, m=1.5, random_state=0),
    "FANNY": FANNY(3, m=1.5, random_state=0),
}
ASKED = ["predict", "predict_proba", "transform", "score"]

each_method = pytest.mark.parametrize("model", [pytest.param(m, id=name) for name, m in RELATIONAL.items()])


@pytest.fixture(params=range(3))
def distances(request):
    """Squared distances among rows in three groups, and of a few new rows to them."""
    rng = np.random.default_rng(request.param)
    X = rng.standard_normal((36, 4)) + 5.0 * np.eye(4)[np.arange(36) % 3]
    return cdist(X, X, "sqeuclidean"), cdist(X[:5] + 0.1, X, "sqeuclidean")


@each_method
@pytest.mark.parametrize("ask", ASKED)
def test_negative_dissimilarities_are_refused_as_in_the_fit(model, ask, distances):
    R, new = distances
    model = model.set_params(metric="precomputed").fit(R)
    expected = "negative entries .smallest -.*dissimilarities are >= 0"
    one = new.copy()
    one[2, 7] = -1e-3 * R.max()
    for wrong in (-R, -new, one):
        with pytest.raises(ValueError, match=expected):
            getattr(model, ask)(wrong)


@each_method
def test_rounding_below_zero_is_zero(model, distances):
    R, new = distances
    model = model.set_params(metric="precomputed").fit(R)
    own = R[:3].copy()
    rounded = own.copy()
    rounded[np.arange(3), np.arange(3)] = -1e-10 * R.max()
    assert_allclose(model.predict_proba(rounded), model.predict_proba(own), atol=1e-6)
    single = new.astype(np.float32)
    single[0, 0] = -1e-6 * np.float32(R.max())
    assert np.isfinite(model.predict_proba(single)).all()


@each_method
def test_a_metric_of_the_user_may_not_be_negative_for_new_rows_either(model):
    rng = np.random.default_rng(0)
    X = np.abs(rng.standard_normal((30, 2))) + 3.0 * np.eye(2)[np.arange(30) % 2]

    def odd(x, y):  # negative as soon as a row has a negative value
        return float(np.abs(x - y).sum() * np.sign(min(x.min(), y.min())))

    model = model.set_params(metric=odd).fit(X)
    with pytest.raises(ValueError, match="negative entries"):
        model.predict_proba(-X[:2])


@pytest.mark.parametrize("ask", ASKED)
def test_similarities_beyond_those_of_a_row_to_itself_are_refused(ask, distances):
    R, new = distances
    model = KFRC(3, kernel="precomputed", fuzzifier="quadratic", random_state=0).fit(np.exp(-R / 10))
    getattr(model, ask)(np.exp(-new / 10))
    for wrong in (5 * np.exp(-new / 10), new + 2.0, -2 * np.exp(-R / 10)):
        with pytest.raises(KFRCError, match=r"similarit.*reach .*of a row to itself"):
            getattr(model, ask)(wrong)
