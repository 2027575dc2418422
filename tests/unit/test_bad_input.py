"""Every misuse gets its own error or warning, which says what came and what to do."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy.spatial.distance import cdist
from sklearn.base import clone

from kfrc import (
    FANNY,
    FCM,
    FCMMK,
    FRC,
    KFRC,
    MSFCM,
    NERFCM,
    RFCM,
    VFCM,
    ConstantFeatureWarning,
    InfeasibleBandwidthError,
    KFRCError,
    NonEuclideanWarning,
    TrivialPartitionWarning,
)
from kfrc.bandwidth import select_bandwidths
from kfrc.fuzzifiers import Fuzzifier
from kfrc.relational import solve_relational
from kfrc.spectrum import leading_spectrum
from kfrc.stability import kappa, leading_eigenvalue, merge_bound, uniform_hessian

FAST = {"n_starts": 1, "n_init": 1, "random_state": 0}
ESTIMATORS = [FRC(2, n_init=1, random_state=0), KFRC(2, **FAST)]
both = pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda e: type(e).__name__)


@pytest.fixture
def X(blobs):
    return blobs[0].copy()


@pytest.fixture
def R(X):
    return cdist(X, X, "sqeuclidean")


def with_value(X, value):
    X = X.astype(object) if isinstance(value, str) else X.copy()
    X[3, 1] = value
    return X


# --- data ---


@both
@pytest.mark.parametrize("value", [np.inf, -np.inf])
def test_estimators_refuse_infinite_values(estimator, X, value):
    with pytest.raises(ValueError, match="infinity"):
        estimator.fit(with_value(X, value))


@both
def test_estimators_refuse_missing_values_on_demand(estimator, X):
    with pytest.raises(ValueError, match=r"NaN|missing"):
        clone(estimator).set_params(missing="error").fit(with_value(X, np.nan))


@both
def test_estimators_refuse_text(estimator, X):
    with pytest.raises(ValueError, match="could not convert string to float"):
        estimator.fit(with_value(X, "red"))


TIMES = {
    "dates": np.datetime64("2024-01-01") + np.arange(20) ** 2,
    "durations": np.arange(20).astype("timedelta64[ms]"),
}
CONTAINERS_OF_TIMES = {
    "array": lambda values: np.column_stack([values, values]),
    "pandas": lambda values: pd.DataFrame({0: values.astype(f"{values.dtype.str[:3]}[ns]")}),
    "pandas objects": lambda values: pd.DataFrame({0: pd.Series(values.astype("O"), dtype=object), 1: 1.0}),
    "pandas of Arrow": lambda values: pa.table({"0": values}).to_pandas(types_mapper=pd.ArrowDtype),
    "polars": lambda values: pl.DataFrame({"0": values}),
    "Arrow": lambda values: pa.table({"0": values, "x": np.arange(20.0)}),
}


@pytest.mark.parametrize("container", CONTAINERS_OF_TIMES.values(), ids=CONTAINERS_OF_TIMES)
@pytest.mark.parametrize("values", TIMES.values(), ids=TIMES)
@pytest.mark.parametrize("estimator", [FCM(2), FRC(2), FANNY(2), VFCM(2)], ids=lambda e: type(e).__name__)
def test_methods_of_numbers_refuse_times_whose_unit_depends_on_who_keeps_them(estimator, values, container):
    with pytest.raises(ValueError, match=r"column '?0'? holds dates, times or durations: .* needs numbers here"):
        estimator.fit(container(values))


@pytest.mark.parametrize("values", [[1.0, pd.NA, 3.0], [1.0, {}, 3.0]])
def test_objects_that_are_no_numbers_are_refused_with_what_takes_them(values):
    with pytest.raises(ValueError, match=r"argument must be .*number, not .*: FCM needs numbers here\. KFRC takes"):
        FCM(2).fit(pd.DataFrame({"x": pd.Series(values, dtype=object)}))


@pytest.mark.parametrize(
    "function",
    [
        lambda X: leading_spectrum(X, 1.0),
        lambda X: select_bandwidths(X, 2, threshold=0.2),
        lambda X: merge_bound(X, np.arange(len(X)) % 2),
    ],
    ids=["leading_spectrum", "select_bandwidths", "merge_bound"],
)
class TestFunctionsOfData:
    def test_name_the_place_of_a_missing_value(self, function, X):
        with pytest.raises(ValueError, match=r"NaN or infinity in 1 place.*row 3, column 1.*impute"):
            function(with_value(X, np.nan))

    def test_refuse_text_and_say_to_encode_it(self, function, X):
        with pytest.raises(ValueError, match=r"numeric.*encode text"):
            function(with_value(X, "red"))

    def test_refuse_a_single_column_given_flat(self, function, X):
        with pytest.raises(ValueError, match="2 dimensions"):
            function(X[:, 0])

    def test_refuse_complex_numbers(self, function, X):
        with pytest.raises(ValueError, match=r"[Cc]omplex"):
            function(X + 1j)

    def test_refuse_a_single_row(self, function, X):
        with pytest.raises(ValueError, match="at least 2"):
            function(X[:1])

    def test_refuse_no_columns(self, function, X):
        with pytest.raises(ValueError, match="no columns"):
            function(X[:, :0])


@both
def test_constant_columns_are_left_out_and_named(estimator, X):
    with_constant = np.column_stack([X[:, 0], np.full(len(X), 7.0), X[:, 1]])
    with pytest.warns(ConstantFeatureWarning, match=r"1 constant column.*column 1$"):
        fit = estimator.fit(with_constant)
    assert fit.n_features_in_ == 3


def test_constant_columns_of_a_table_are_called_by_their_names(X):
    pd = pytest.importorskip("pandas")
    table = pd.DataFrame({"height": X[:, 0], "planet": 3.0, "weight": X[:, 1]})
    with pytest.warns(ConstantFeatureWarning, match="planet"):
        fit = KFRC(2, **FAST).fit(table)
    assert np.isinf(fit.bandwidths_[1])
    assert fit.importance_weights_[1] == 0
    assert np.isfinite(fit.bandwidths_[[0, 2]]).all()


def test_constant_column_does_not_change_the_partition(X):
    plain = KFRC(3, **FAST).fit(X)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConstantFeatureWarning)
        more = KFRC(3, **FAST).fit(np.column_stack([X, np.full(len(X), 0.1)]))
    np.testing.assert_allclose(more.memberships_, plain.memberships_, atol=1e-10)


@both
def test_data_without_any_varying_column_are_refused(estimator):
    with pytest.raises(ValueError, match=r"all 2 column.*constant.*nothing to cluster"):
        estimator.fit(np.ones((10, 2)))


def test_bandwidth_search_refuses_constant_columns(X):
    X[:, 1] = 2.0
    with pytest.raises(ValueError, match=r"\[1\].*constant"):
        select_bandwidths(X, 2, threshold=0.2)


@both
def test_duplicated_rows_are_fine(estimator, X):
    fit = estimator.fit(np.vstack([X, X]))
    np.testing.assert_allclose(fit.memberships_[: len(X)], fit.memberships_[len(X) :], atol=1e-9)


def test_kernel_matrix_of_coinciding_samples_is_refused():
    with pytest.raises(KFRCError, match="all samples coincide"):
        KFRC(2, kernel="precomputed", **FAST).fit(np.ones((5, 5)))


# --- weights of rows ---

EVERY = [FANNY(3, m=1.5), FCM(3), FCMMK(3), FRC(3), KFRC.paper(3, n_starts=1), MSFCM(3), NERFCM(3), RFCM(3), VFCM(3)]
every_estimator = pytest.mark.parametrize("estimator", EVERY, ids=lambda e: type(e).__name__)


def changed(weights, row, value):
    weights = np.array(weights, dtype=float)
    weights[row] = value
    return weights


@every_estimator
@pytest.mark.parametrize(
    ("weights", "words"),
    [
        (changed(np.ones(60), 4, -2.0), r"sample_weight has negative values, the first, -2, in row 4"),
        (changed(np.ones(60), 7, np.nan), r"sample_weight contains NaN or infinity, the first in row 7"),
        (changed(np.ones(60), 7, np.inf), r"sample_weight contains NaN or infinity, the first in row 7"),
        (np.zeros(60), r"all weights are zero"),
        (np.ones(59), r"sample_weight has 59 entries for 60 rows"),
        (np.ones((60, 1)), r"sample_weight must be one-dimensional, got shape \(60, 1\)"),
        (np.full(60, 1 / 60), r"sample_weight sums to 1, .*multiply them by 60, .*survey weights"),
        (["much"] * 60, r"sample_weight must be numeric"),
        (np.ma.array(np.ones(60), mask=np.arange(60) == 2), r"sample_weight has 1 masked"),
        (changed(np.zeros(60), [3, 4], 1.0), r"n_samples=2 should be >= n_clusters=3"),
    ],
    ids=["negative", "NaN", "infinite", "zero", "too few", "2-D", "shares", "text", "masked", "two rows"],
)
def test_weights_that_cannot_count_rows_are_refused(estimator, X, weights, words):
    with pytest.raises(ValueError, match=words):
        clone(estimator).fit(X, sample_weight=weights)


@every_estimator
def test_scores_refuse_such_weights_too(estimator, X):
    fit = clone(estimator).set_params(random_state=0).fit(X)
    for weights, words in ((-np.ones(60), "negative"), (np.ones(3), "3 entries for 60 rows")):
        with pytest.raises(ValueError, match=words):
            fit.score(X, sample_weight=weights)


@every_estimator
def test_a_failed_fit_with_weights_leaves_nothing_behind(estimator, X):
    fit = clone(estimator).set_params(random_state=0).fit(X)
    with pytest.raises(ValueError, match="negative"):
        fit.fit(X, sample_weight=-np.ones(60))
    assert not [name for name in vars(fit) if name.endswith("_") and not name.startswith("_")]


# --- number of clusters ---


@both
def test_more_clusters_than_samples_are_refused(estimator, X):
    with pytest.raises(ValueError, match=r"n_samples=4 should be >= n_clusters=5.*fewer clusters"):
        type(estimator)(5).fit(X[:4])


@both
@pytest.mark.parametrize("n_clusters", [2.0, "3", True, None])
def test_number_of_clusters_must_be_an_integer(estimator, X, n_clusters):
    with pytest.raises(TypeError, match="n_clusters must be an integer"):
        type(estimator)(n_clusters).fit(X)


@both
@pytest.mark.parametrize("n_clusters", [0, -1])
def test_number_of_clusters_must_be_positive(estimator, X, n_clusters):
    with pytest.raises(ValueError, match="n_clusters must be at least 1"):
        type(estimator)(n_clusters).fit(X)


@pytest.mark.parametrize("cls", [FRC, KFRC])
@pytest.mark.parametrize("name", list(Fuzzifier.registry))
def test_one_cluster_is_trivial_and_says_so(cls, name, X):
    with pytest.warns(TrivialPartitionWarning, match="trivial"):
        fit = cls(1, fuzzifier=name).fit(X)
    assert (fit.memberships_ == 1).all()
    assert (fit.labels_ == 0).all()
    assert fit.status_ == "converged"
    assert (fit.predict_proba(X[:3]) == 1).all()


@pytest.mark.parametrize("n_clusters", [1, 0])
def test_stability_needs_two_clusters(n_clusters):
    with pytest.raises(ValueError, match="at least 2"):
        kappa("power", n_clusters)


# --- dissimilarities and kernels ---


@pytest.mark.parametrize(
    "use",
    [
        lambda R: FRC(2, metric="precomputed").fit(R),
        lambda R: solve_relational(R, 2),
        leading_eigenvalue,
        lambda R: uniform_hessian(R, "power", 2),
        lambda R: merge_bound(R, np.arange(len(R)) % 2, metric="precomputed"),
    ],
    ids=["FRC", "solve_relational", "leading_eigenvalue", "uniform_hessian", "merge_bound"],
)
class TestDissimilarities:
    def test_must_be_symmetric(self, use, R):
        R[0, 1] += 1.0
        with pytest.raises(ValueError, match=r"symmetric.*up to 1.*R \+ R\.T"):
            use(R)

    def test_must_not_be_negative(self, use, R):
        with pytest.raises(ValueError, match=r"negative entries.*kernel='precomputed'"):
            use(-R)

    def test_must_have_a_zero_diagonal(self, use, R):
        with pytest.raises(ValueError, match=r"non-zero diagonal.*to itself is 0"):
            use(np.exp(-R))

    def test_must_be_square(self, use, R):
        with pytest.raises(ValueError, match="square"):
            use(R[:, :10])

    def test_must_be_finite(self, use, R):
        R[2, 5] = R[5, 2] = np.nan
        with pytest.raises(ValueError, match="NaN"):
            use(R)


def test_asymmetry_by_rounding_is_averaged_away(R):
    rough = R * (1 + 1e-12 * np.random.default_rng(0).standard_normal(R.shape))
    np.testing.assert_allclose(
        solve_relational(rough, 3, random_state=0).memberships,
        solve_relational(R, 3, random_state=0).memberships,
        atol=1e-6,
    )


def test_input_dissimilarities_are_not_modified(R):
    before = R.copy()
    FRC(3, metric="precomputed", n_init=1, random_state=0).fit(R)
    np.testing.assert_array_equal(R, before)


def test_dissimilarities_that_are_no_squared_distances_are_reported():
    rng = np.random.default_rng(0)
    R = rng.random((20, 20)) ** 6
    R = R + R.T
    np.fill_diagonal(R, 0.0)
    with pytest.warns(NonEuclideanWarning, match="not squared distances of any Euclidean space"):
        FRC(3, fuzzifier="quadratic", m=0.1, metric="precomputed", random_state=0).fit(R)


def test_kernel_with_a_negative_squared_distance_is_refused(R):
    with pytest.raises(KFRCError, match=r"not positive semi-definite.*FRC"):
        KFRC(2, kernel="precomputed").fit(R)


def test_kernel_with_a_negative_eigenvalue_is_refused_or_reported():
    # Two blocks with one strongly negative direction that no single sample shows in its own squared distance.
    n = 20
    direction = np.where(np.arange(n) % 2, 1.0, -1.0)
    K = 2.0 * np.eye(n) + np.kron(np.eye(2), np.ones((n // 2, n // 2))) - 0.5 * np.outer(direction, direction)
    assert np.linalg.eigvalsh(K)[0] < -1
    with pytest.raises((KFRCError, NonEuclideanWarning)):  # warnings are errors here
        KFRC(2, kernel="precomputed", **FAST).fit(K)


def test_asymmetric_kernel_is_refused(X):
    K = np.exp(-cdist(X, X))
    K[0, 1] += 0.5
    with pytest.raises(ValueError, match="K must be symmetric"):
        KFRC(2, kernel="precomputed").fit(K)


# --- fuzzifiers ---

WRONG_M = [
    ("power", 1.0, r"\(1, inf\)"),
    ("power", 0.5, r"\(1, inf\)"),
    ("exponential", 0.0, r"\(0, inf\)"),
    ("exponential", -1.0, r"\(0, inf\)"),
    ("quadratic", 0.0, r"\(0, 1\]"),
    ("quadratic", 1.1, r"\(0, 1\]"),
    ("quadratic", 2.0, r"\(0, 1\]"),
    ("complementary_root", 1.0, r"\(1, inf\)"),
    ("complementary_root", float("inf"), r"\(1, inf\)"),
    ("power", float("nan"), r"\(1, inf\)"),
]


@both
@pytest.mark.parametrize(("name", "m", "interval"), WRONG_M)
def test_m_outside_its_range_names_the_range_and_the_fuzzifier(estimator, X, name, m, interval):
    with pytest.raises(ValueError, match=f"outside {interval}, the range of the {name} fuzzifier"):
        type(estimator)(2, fuzzifier=name, m=m).fit(X)


@pytest.mark.parametrize("m", ["2", True, [2.0]])
def test_m_must_be_a_number(X, m):
    with pytest.raises(TypeError, match="m must be a number"):
        FRC(2, m=m).fit(X)


# --- names ---


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"kernel": "gauss"}, "unknown kernel 'gauss'.*sum, product"),
        ({"fuzzifier": "pow"}, "unknown fuzzifier 'pow'.*power, exponential, quadratic, complementary_root"),
        ({"criterion": "logsum"}, "unknown criterion 'logsum'.*sum, log_sum, gap"),
        ({"optimizer": "adam"}, "unknown optimizer 'adam'.*momentum"),
        ({"init": "kmeans"}, r"unknown start 'kmeans'.*spectral, near_uniform, random, kmeans\+\+"),
    ],
)
def test_unknown_names_list_the_known_ones(X, options, words):
    with pytest.raises(ValueError, match=words):
        KFRC(2, **FAST, **options).fit(X)


@pytest.mark.parametrize("parameter", ["kernel", "fuzzifier", "criterion", "optimizer"])
def test_objects_of_the_wrong_type_are_refused(X, parameter):
    with pytest.raises(TypeError, match=r"expected a .* or one of the names"):
        KFRC(2, **FAST, **{parameter: 3}).fit(X)


@pytest.mark.parametrize("cls", [FRC, KFRC])
def test_misspelt_parameters_are_refused(cls):
    with pytest.raises(TypeError, match="n_cluster"):
        cls(n_cluster=3)
    with pytest.raises(ValueError, match="Invalid parameter"):
        cls().set_params(n_cluster=3)


def test_misspelt_options_of_functions_are_refused(X, R):
    with pytest.raises(TypeError, match="learnig_rate"):
        select_bandwidths(X, 2, threshold=0.2, optimizer="momentum", learnig_rate=0.1)
    with pytest.raises(TypeError, match="maxiter"):
        solve_relational(R, 2, maxiter=3)


# --- bandwidths ---


@pytest.mark.parametrize("value", [0.99, 0.0, -1.0, float("nan")])
def test_anisotropy_bound_below_one_is_refused(X, value):
    with pytest.raises(ValueError, match="max_anisotropy must be >= 1"):
        KFRC(2, max_anisotropy=value, **FAST).fit(X)


@pytest.mark.parametrize(
    ("bandwidths", "words"),
    [
        ([1.0, 0.0], "positive"),
        ([1.0, -2.0], "positive"),
        ([1.0, np.nan], "positive"),
        ([1.0, 2.0, 3.0], "one entry per feature"),
        ("wide", "numeric"),
    ],
)
def test_given_bandwidths_must_be_positive_and_one_per_column(X, bandwidths, words):
    with pytest.raises(ValueError, match=words):
        KFRC(2, bandwidths=bandwidths).fit(X)
    with pytest.raises(ValueError, match=words):
        leading_spectrum(X, bandwidths)


def test_level_and_its_bounds_exclude_each_other(X):
    with pytest.raises(ValueError, match="level or level_bounds, not both"):
        select_bandwidths(X, 2, threshold=0.2, level=1.0, level_bounds=(0.0, 2.0))
    with pytest.raises(ValueError, match="low <= high"):
        select_bandwidths(X, 2, threshold=0.2, level_bounds=(3.0, 1.0))
    with pytest.raises(ValueError, match="level must be"):
        select_bandwidths(X, 2, threshold=0.2, level=float("nan"))


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"threshold": -0.1}, ValueError, "threshold must be >= 0"),
        ({"threshold": "high"}, TypeError, "threshold must be a number"),
        ({"n_starts": 0}, ValueError, "n_starts must be at least 1"),
        ({"n_starts": 1.5}, TypeError, "n_starts must be an integer"),
        ({"n_init": 0}, ValueError, "n_init must be at least 1"),
        ({"max_iter": 0}, ValueError, "max_iter must be at least 1"),
        ({"tol": -1e-3}, ValueError, "tol must be >= 0"),
        ({"tol": float("nan")}, ValueError, "tol must be >= 0"),
    ],
)
def test_settings_out_of_range_are_named(X, options, error, words):
    with pytest.raises(error, match=words):
        KFRC(2, **(FAST | options)).fit(X)


@pytest.mark.parametrize("optimizer", ["lbfgs", "momentum"])
def test_infeasible_threshold_says_what_was_reached_and_what_to_do(X, optimizer):
    with pytest.raises(InfeasibleBandwidthError, match=r"raise max_anisotropy.*n_starts.*threshold <=") as caught:
        KFRC(3, threshold=0.999, optimizer=optimizer, **FAST).fit(X)
    error = caught.value
    assert isinstance(error, ValueError)
    assert error.threshold == 0.999
    assert 0 < error.best_eigenvalue < 0.999
    assert f"{error.best_eigenvalue:.4f}" in str(error)
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is InfeasibleBandwidthError
    assert (again.best_eigenvalue, again.threshold, str(again)) == (
        error.best_eigenvalue,
        error.threshold,
        str(error),
    )


@pytest.mark.slow
def test_following_the_advice_of_the_infeasible_error_works(X):
    with pytest.raises(InfeasibleBandwidthError) as caught:
        KFRC(3, threshold=0.999, **FAST).fit(X)
    fit = KFRC(3, threshold=caught.value.best_eigenvalue - 1e-3, **FAST).fit(X)
    assert fit.eigenvalues_[0] >= caught.value.best_eigenvalue - 2e-3


# --- starting memberships ---


@both
@pytest.mark.parametrize(
    ("init", "words"),
    [
        (np.full((59, 2), 0.5), "60 rows"),
        (np.full((60, 3), 1 / 3), "2 columns"),
        (np.full((2, 60), 0.5), "60 rows"),
        (np.full((60, 2), 0.4), "sum to one|sum to 1"),
        (np.tile([1.5, -0.5], (60, 1)), "negative memberships"),
        (np.full((60, 2), np.nan), "NaN"),
        (np.full(60, 0.5), "1 dimension"),
    ],
)
def test_wrong_starting_memberships_say_what_is_wrong(estimator, X, init, words):
    options = {"n_starts": 1} if isinstance(estimator, KFRC) else {}
    with pytest.raises(ValueError, match=words):
        type(estimator)(2, init=init, **options).fit(X)


@both
def test_estimators_refuse_to_predict_other_columns(estimator, X):
    fit = estimator.fit(X)
    with pytest.raises(ValueError, match=r"3 features, but .* is expecting 2"):
        fit.predict(np.ones((2, 3)))


@both
def test_estimators_refuse_to_predict_before_fitting(estimator, X):
    from sklearn.exceptions import NotFittedError

    for method in ("predict", "predict_proba", "transform", "score"):
        with pytest.raises(NotFittedError):
            getattr(type(estimator)(), method)(X)


@pytest.mark.parametrize(
    "estimator",
    [
        FCM(3, m=1e4),
        FCM(3, fuzzifier="exponential", m=1e4),
        FRC(3, m=1e4),
        RFCM(3, m=1e4),
        NERFCM(3, m=1e4),
        FANNY(3, m=1e4),
        FCMMK(3, m=1e4),
        MSFCM(3, m=1e4),
        VFCM(3, m0=1e4),
        KFRC(3, fuzzifier="power", m=1e4, bandwidths=1.0),
    ],
    ids=lambda e: type(e).__name__,
)
def test_an_m_at_which_memberships_lose_all_weight_is_refused(estimator, X):
    with pytest.raises(ValueError, match=r"m = 10000 .* weigh nothing: use a smaller m"):
        estimator.fit(X)
