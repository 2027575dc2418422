"""Values at the ends of floating-point numbers: a result, or a word about what to do; never a slip inside."""

import re
import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.exceptions import ConvergenceWarning

import kfrc
from kfrc import FANNY, FCM, FCMMK, FRC, KFRC, MSFCM, NERFCM, RFCM, VFCM, exceptions
from kfrc.bandwidth import select_bandwidths
from kfrc.dissimilarity import gower_dissimilarities
from kfrc.metrics import fuzzy_silhouette_score, partition_coefficient, xie_beni_index

QUICK = {"m": 1.5, "level": 1.0, "max_anisotropy": 5.0, "n_starts": 1, "random_state": 0}
POINTS = [cls(2, random_state=0) for cls in (FRC, FCM, MSFCM, NERFCM, RFCM, VFCM, FANNY, FCMMK)]
EVERY = [*POINTS, KFRC(2, **QUICK)]
RELATIONS = [FRC, RFCM, NERFCM, FANNY]
DOCUMENTED = tuple(
    kind for kind in vars(exceptions).values() if isinstance(kind, type) and issubclass(kind, UserWarning)
)

by_name = {"ids": lambda value: type(value).__name__ if hasattr(value, "get_params") else None}


@pytest.fixture(autouse=True)
def only_documented_warnings():
    """Whatever else is warned of, as NumPy does of overflows, is an error."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for kind in (*DOCUMENTED, ConvergenceWarning):
            warnings.simplefilter("ignore", kind)
        yield


@pytest.fixture(scope="module")
def X():
    rng = np.random.default_rng(0)
    return np.repeat([[0.0, 0.0, 1.0], [6.0, 5.0, 1.0]], 8, axis=0) + rng.normal(size=(16, 3))


def distances(X):
    return np.square(X[:, None] - X).sum(axis=2)


def outcome(estimator, X):
    """The fit, or None and why there is none."""
    try:
        return estimator.fit(X), ""
    except ValueError as error:
        return None, str(error)


def assert_whole(fit, X):
    assert np.isfinite(fit.memberships_).all()
    assert_allclose(fit.memberships_.sum(axis=1), 1.0, rtol=0, atol=1e-9)
    assert np.isfinite(fit.objective_)
    assert_allclose(fit.predict_proba(X).sum(axis=1), 1.0, rtol=0, atol=1e-9)
    assert not np.isnan(fit.transform(X)).any()
    assert not np.isnan(fit.score(X))


@pytest.mark.parametrize("scale", [1e-320, 1e-300, 1e-160, 1e160, 1e300, 1e306])
@pytest.mark.parametrize("estimator", EVERY, **by_name)
def test_a_table_of_any_scale_is_clustered_or_refused_with_what_to_do(estimator, scale, X):
    fit, complaint = outcome(estimator, scale * X)
    if fit is None:
        assert "range of floating-point numbers" in complaint or "constant" in complaint
        assert "impute" not in complaint
    else:
        assert_whole(fit, scale * X)


@pytest.mark.parametrize("estimator", EVERY, **by_name)
def test_the_largest_numbers_of_both_signs_are_clustered_or_refused(estimator, X):
    table = np.where(np.median(X, axis=0) < X, 1.7e308, -1.7e308) * (1.0 - 1e-3 * np.arange(16)[:, None] / 16)
    fit, complaint = outcome(estimator, table)
    if fit is None:
        assert "floating-point numbers: divide X" in complaint
    else:
        assert_whole(fit, table)


@pytest.mark.parametrize("estimator", EVERY, **by_name)
def test_a_constant_column_of_the_largest_numbers_is_left_out_or_refused(estimator, X):
    table = np.column_stack([X, np.full(16, 1e300)])
    fit, complaint = outcome(estimator, table)
    if fit is None:
        assert "leave out the column if it is constant" in complaint
    else:
        assert_whole(fit, table)


@pytest.mark.parametrize("estimator", EVERY, **by_name)
def test_new_rows_of_any_size_have_memberships_and_distances(estimator, X):
    fit = estimator.fit(X)
    new = np.array([[1e160, 0.0, 0.0], [1e308, -1e308, 1.7e308], [5e-324, 0.0, -1e200], [-1.7e308, 1.7e308, 0.0]])
    U = fit.predict_proba(new)
    assert np.isfinite(U).all()
    assert_allclose(U.sum(axis=1), 1.0, rtol=0, atol=1e-9)
    assert not np.isnan(fit.transform(new)).any()
    assert not np.isnan(fit.score(new))
    assert np.array_equal(fit.predict(new), U.argmax(axis=1))


@pytest.mark.parametrize("estimator", RELATIONS, ids=lambda cls: cls.__name__)
@pytest.mark.parametrize("scale", [1e-320, 1e300, 1e306])
def test_dissimilarities_that_cannot_be_summed_are_refused(estimator, scale, X):
    R = distances(X)
    with pytest.raises(ValueError, match=r"entries of R reach .* range of floating-point numbers: divide R"):
        estimator(2, metric="precomputed").fit(scale * R / R.max())


@pytest.mark.parametrize("estimator", RELATIONS, ids=lambda cls: cls.__name__)
@pytest.mark.parametrize("exponent", [-800, 800])
def test_dissimilarities_in_other_units_give_the_same(estimator, exponent, X):
    R = distances(X)
    here, there = (estimator(2, metric="precomputed").fit(data) for data in (R, np.ldexp(R, exponent)))
    np.testing.assert_array_equal(there.labels_, here.labels_)
    assert_allclose(there.memberships_, here.memberships_, rtol=0, atol=1e-9)


def test_a_gram_matrix_that_cannot_be_summed_is_refused(X):
    K = X @ X.T
    with pytest.raises(ValueError, match=r"entries of K reach .* divide K"):
        KFRC(2, kernel="precomputed", m=1.5).fit(K / np.abs(K).max() * 1e306)


def test_dissimilarities_of_the_largest_numbers_of_both_signs_are_refused(X):
    R = np.where(distances(X) > 10, 1.7e308, -1.7e308)
    with pytest.raises(ValueError, match="entries of R reach"):
        FRC(2, metric="precomputed").fit(R)


@pytest.mark.parametrize("estimator", RELATIONS, ids=lambda cls: cls.__name__)
@pytest.mark.parametrize(("metric", "scale"), [("correlation", 1e308), ("chebyshev", 1e308), ("cosine", 0.0)])
def test_a_metric_without_a_finite_value_is_not_called_a_missing_value(estimator, metric, scale, X):
    table = np.sign(X - X.mean(axis=0)) * 1.7e308 if scale else X * (np.arange(16) > 3)[:, None]
    fit, complaint = outcome(estimator(2, metric=metric), table)
    if fit is None:
        assert "impute" not in complaint
        assert any(words in complaint for words in ("metric=", "range of floating-point", "Euclidean"))
    else:
        assert np.isfinite(fit.memberships_).all()


@pytest.mark.parametrize("weight", [1e21, 1e200, 1e308])
@pytest.mark.parametrize("estimator", EVERY, **by_name)
def test_weights_beyond_any_number_of_rows_are_refused(estimator, weight, X):
    with pytest.raises(ValueError, match=r"sample_weight reaches .* divide them by"):
        estimator.fit(X, sample_weight=np.full(16, weight))


def test_weights_next_to_nothing_are_refused_with_a_number(X):
    with pytest.raises(ValueError, match=r"sample_weight sums to .* divide them by"):
        FCM(2).fit(X, sample_weight=np.full(16, 1e-320))


@pytest.mark.parametrize("parameters", [{}, {"outliers": "keep"}, {"kernel": "product"}, {"kernel": "linear"}])
@pytest.mark.parametrize("scale", [1e-300, 1e300])
def test_a_search_knows_no_units(parameters, scale, X):
    here, there = (KFRC(2, **QUICK, **parameters).fit(data) for data in (X, scale * X))
    assert_allclose(there.memberships_, here.memberships_, rtol=0, atol=1e-6)


def test_bandwidths_beyond_the_largest_number_are_not_infinite(X):
    fit = KFRC(2, **{**QUICK, "level": 20.0}).fit(1e300 * X)
    assert np.isfinite(fit.bandwidths_).all()


def test_a_search_in_units_of_the_user_is_refused_where_squares_overflow(X):
    with pytest.raises(ValueError, match="range of floating-point numbers: divide X"):
        KFRC(2, standardize=False, **QUICK).fit(1e200 * X)
    with pytest.raises(ValueError, match="range of floating-point numbers: divide X"):
        select_bandwidths(1e200 * X, 2, threshold=0.1, n_starts=1)


def test_differences_of_the_largest_numbers_in_columns_of_many_types_are_refused_or_known():
    table = np.array([[1.7e308, 1.0], [-1.7e308, 2.0], [0.0, np.nan], [1e300, 4.0]])
    with pytest.raises(ValueError, match="range of floating-point numbers: divide column"):
        gower_dissimilarities(table)
    assert_whole(KFRC(2, m=1.5, level=1.0, max_anisotropy=1.0, n_starts=1, random_state=0).fit(table), table)


@pytest.mark.parametrize("estimator", EVERY, **by_name)
def test_neither_memory_order_nor_write_protection_changes_a_result(estimator, X):
    table = X + 1e8
    here = estimator.fit(table).memberships_
    kept = np.asfortranarray(table)
    kept.flags.writeable = False
    np.testing.assert_array_equal(estimator.fit(kept).memberships_, here)


@pytest.mark.parametrize("index", [fuzzy_silhouette_score, xie_beni_index])
def test_an_index_of_rows_whose_squares_overflow_is_refused(index, X):
    U = np.eye(2)[np.repeat([0, 1], 8)] * 0.8 + 0.1
    with pytest.raises(ValueError, match="range of floating-point numbers: divide X"):
        index(1e160 * X, U)


@pytest.mark.parametrize("index", [fuzzy_silhouette_score, xie_beni_index, partition_coefficient])
def test_an_index_with_weights_beyond_any_number_of_rows_is_refused(index, X):
    U = np.eye(2)[np.repeat([0, 1], 8)] * 0.8 + 0.1
    with pytest.raises(ValueError, match="sample_weight reaches"):
        index(*([X] if index is not partition_coefficient else []), U, sample_weight=np.full(16, 1e308))


def test_the_family_of_documented_warnings_is_the_public_one():
    assert kfrc.UniformCollapseWarning in DOCUMENTED


@pytest.mark.parametrize("blank", [False, True])
@pytest.mark.parametrize("settings", [{}, {"kernel": "path"}, {"standardize": False}])
@pytest.mark.parametrize(
    ("values", "words"),
    [
        ([5e-324, 0.0, 1e-323, 0.0], "of 4.94e-324: .* multiply it"),
        ([1.79e308, -1.79e308] * 2, "of inf: .* divide it"),
    ],
)
def test_columns_whose_deviation_is_no_ordinary_number_are_refused_by_name(values, words, settings, blank):
    X = np.column_stack([values, [1.0, 2.0, 3.0, np.nan if blank else 4.0]])
    found, why = outcome(KFRC(2, random_state=0, **settings), X)
    if blank and settings.get("kernel") == "path":
        assert found is None
        return
    assert found is None
    assert re.search(f"column '?x?0'? has a standard deviation {words}", why)


def test_values_whose_differences_are_beyond_all_numbers_lie_where_they_are():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 2))
    X[:20] += 6.0
    X[0, 0], X[39, 0] = 8.5, -8.5
    fit = KFRC(2, outliers="keep", **QUICK).fit(X * [2e307, 1.0])  # 3.4e308 apart
    expected = KFRC(2, outliers="keep", **QUICK).fit(X)
    assert_allclose(fit.memberships_, expected.memberships_, rtol=0, atol=1e-9)


def test_widths_of_kernels_that_round_to_zero_in_the_units_of_the_table_are_not_used_in_them():
    X = np.array([[2, 2], [1, 1], [2, 2], [2, 0], [2, 2]]) * 5e-324
    model = FCMMK(4, n_kernels=1, random_state=0).fit(X)
    assert_allclose(model.predict_proba(X), model.memberships_, atol=1e-6)


def test_what_rows_beyond_all_others_say_is_compared_without_overflow():
    rng = np.random.default_rng(1)
    X = np.sign(rng.standard_normal((40, 2))) * np.finfo(float).max * rng.random((40, 2))
    X[rng.random(X.shape) < 0.3] = np.nan
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        warnings.simplefilter("ignore", UserWarning)
        model = KFRC(3, level=1.0, m=3.0, init="kmeans++", random_state=1).fit(X)
    assert np.isfinite(model.memberships_).all()
