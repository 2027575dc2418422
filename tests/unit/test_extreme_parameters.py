"""Parameters at their ends, and wrong ones that a fit would not even use: refused by name, never by accident."""

import warnings

import numpy as np
import pytest

from kfrc import FANNY, FCM, FCMMK, FRC, KFRC, MSFCM, NERFCM, RFCM, VFCM
from kfrc.fuzzifiers import Power

FIXED = {"m": 1.5, "level": 1.0, "max_anisotropy": 5.0, "n_starts": 1, "random_state": 0}


@pytest.fixture(scope="module")
def X():
    rng = np.random.default_rng(0)
    return np.repeat([[0.0, 0.0, 1.0], [6.0, 5.0, 1.0]], 8, axis=0) + rng.normal(size=(16, 3))


def gram(X):
    return np.exp(-np.square(X[:, None] - X).sum(axis=2) / 8.0)


@pytest.mark.parametrize("m", [1e6, 1e100, 1e308])
@pytest.mark.parametrize("n_clusters", [1, 2])
@pytest.mark.parametrize("name", ["FCM", "FRC", "RFCM", "NERFCM", "FANNY", "FCMMK", "MSFCM", "VFCM", "KFRC"])
@pytest.mark.filterwarnings("ignore::kfrc.TrivialPartitionWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_an_enormous_m_is_refused_by_its_number_or_does_not_matter(m, n_clusters, name, X):
    classes = (FCM, FRC, RFCM, NERFCM, FANNY, FCMMK, MSFCM, VFCM, KFRC)
    cls = next(cls for cls in classes if cls.__name__ == name)
    parameters = {"m0": m, "max_iter": 50} if cls is VFCM else {"m": m}
    if cls is KFRC:
        parameters |= {"fuzzifier": "power", "bandwidths": 2.0}
    if n_clusters == 2:
        with pytest.raises(ValueError, match="weigh nothing: use a smaller m"):
            cls(2, **parameters).fit(X)
    else:
        assert (cls(1, **parameters).fit(X).memberships_ == 1).all()


def test_the_largest_m_has_a_threshold_and_a_kappa():
    assert Power(m=1e308).inverse_kappa(3) == 0.5
    assert Power(m=1e308).kappa(3) == 2.0


@pytest.mark.parametrize("level", [-800.0, 800.0, np.inf, -np.inf])
@pytest.mark.parametrize("context", [{}, {"bandwidths": 2.0}, {"kernel": "linear"}])
def test_a_level_without_bandwidths_is_refused(level, context, X):
    with pytest.raises(ValueError, match=r"level must be between -100 and 100"):
        KFRC(2, **{**FIXED, "level": level, **context}).fit(X)


@pytest.mark.parametrize("level", [-100.0, 100.0])
def test_the_ends_of_the_levels_work(level, X):
    model = KFRC(2, **{**FIXED, "level": level, "threshold": 0.0})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        assert np.isfinite(model.fit(X).memberships_).all()


@pytest.mark.parametrize("bandwidths", [1e-300, 1e-150, 1e150, 1e300])
@pytest.mark.parametrize("kernel", ["sum", "product", "linear"])
@pytest.mark.parametrize("approximation", ["auto", "nystrom"])
def test_bandwidths_far_from_the_deviations_are_refused(bandwidths, kernel, approximation, X):
    with pytest.raises(ValueError, match=r"a bandwidth of .* range of floating-point numbers"):
        KFRC(2, bandwidths=bandwidths, kernel=kernel, approximation=approximation, m=1.5).fit(X)


@pytest.mark.parametrize("sigmas", [[1e-300, 1e300], [1e-320], [1e308]])
def test_widths_far_from_the_values_are_refused(sigmas, X):
    with pytest.raises(ValueError, match=r"sigmas between .* too far from the values of X"):
        FCMMK(2, sigmas=sigmas).fit(X)


def test_any_tol_is_a_number_of_something(X):
    for tol in (0.0, 1e300, np.inf):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            assert np.isfinite(FRC(2, tol=tol, max_iter=20).fit(X).memberships_).all()


NAMES = ("kernel", "fuzzifier", "criterion", "judge", "screen", "optimizer", "init", "approximation")
CONTEXTS = {
    "fixed": FIXED,
    "bandwidths": {"bandwidths": 2.0, "m": 1.5},
    "Gram matrix": {"kernel": "precomputed", "m": 1.5},
    "one cluster": {"n_clusters": 1},
}


@pytest.mark.parametrize("context", CONTEXTS)
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.filterwarnings("ignore::kfrc.TrivialPartitionWarning")
def test_a_wrong_name_is_refused_with_the_right_ones_also_where_it_is_not_used(name, context, X):
    given = CONTEXTS[context]
    if name in given:
        return
    data = gram(X) if given.get("kernel") == "precomputed" else X
    with pytest.raises(ValueError, match=r"unknown \w+ 'nobody': choose one of \w+"):
        KFRC(**({"n_clusters": 2} | given | {name: "nobody"})).fit(data)


@pytest.mark.parametrize("context", CONTEXTS)
@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("missing", "nobody", '"partial", "level" or "error"'),
        ("missing", ["partial"], '"partial", "level" or "error"'),
        ("memberships", "nobody", '"fuzzy" or "posterior"'),
        ("outliers", "nobody", '"clip" or "keep"'),
        ("column_types", "nominal", "must map names of columns"),
        ("standardize", "no", "True or False"),
        ("standardize", 2, "True or False"),
        ("bandwidths", "wide", "bandwidths must be numeric"),
        ("bandwidths", -1.0, "positive"),
    ],
)
@pytest.mark.filterwarnings("ignore::kfrc.TrivialPartitionWarning")
def test_a_wrong_value_is_refused_also_where_it_is_not_used(name, value, words, context, X):
    given = CONTEXTS[context]
    if name in given:
        return
    data = gram(X) if given.get("kernel") == "precomputed" else X
    with pytest.raises((ValueError, TypeError), match=words):
        KFRC(**({"n_clusters": 2} | given | {name: value})).fit(data)


def test_a_wrong_name_is_told_before_a_table_is_read(monkeypatch, X):
    monkeypatch.setattr(KFRC, "_read", lambda *args: pytest.fail("read"))
    with pytest.raises(ValueError, match="unknown judge 'nobody'"):
        KFRC(2, judge="nobody", **FIXED).fit(X)


@pytest.mark.parametrize("estimator", [FRC, RFCM, NERFCM, FANNY], ids=lambda cls: cls.__name__)
@pytest.mark.parametrize("metric", ["sqeuclidean", "precomputed", "gower", "manhattan"])
def test_arguments_of_a_metric_that_are_no_mapping_are_refused(estimator, metric, X):
    with pytest.raises(TypeError, match="metric_params must map names"):
        estimator(2, metric=metric, metric_params="w").fit(np.square(X[:, None] - X).sum(axis=2))


@pytest.mark.parametrize("estimator", [FRC, RFCM, NERFCM], ids=lambda cls: cls.__name__)
def test_arguments_of_squared_distances_are_used(estimator, X):
    weighted = estimator(2, metric_params={"w": [1.0, 1.0, 0.0]}, random_state=0).fit(X)
    without = estimator(2, random_state=0).fit(X[:, :2])
    np.testing.assert_allclose(weighted.memberships_, without.memberships_, rtol=0, atol=1e-6)


def test_a_flag_of_membership_scaling_is_true_or_false(X):
    with pytest.raises(TypeError, match="stop_when_filtered must be True or False"):
        MSFCM(2, stop_when_filtered="no").fit(X)
