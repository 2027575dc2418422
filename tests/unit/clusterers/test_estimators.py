"""FRC and KFRC as estimators: attributes, prediction, inputs of every kind, warnings, randomness, callbacks."""

from __future__ import annotations

import re

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import cdist
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from kfrc import FRC, KFRC, UniformCollapseWarning
from kfrc.bandwidth import BandwidthResult
from kfrc.bandwidth.optimizers.momentum import MomentumAscent
from kfrc.criteria import EigenvalueSum
from kfrc.fuzzifiers import Fuzzifier, Power, Quadratic
from kfrc.kernels.gaussian import GaussianSum
from kfrc.relational import solve_relational
from kfrc.stability import critical_fuzzifier
from strategies import FUZZIFIERS, Blend, PlainPower

FAST = {"n_starts": 1, "n_init": 2, "random_state": 0}
FIXED = {**FAST, "optimizer": "lbfgs"}  # with KFRC.paper: nothing is chosen
ESTIMATORS = [FRC(3, n_init=2, random_state=0), KFRC(3, **FAST)]
both = pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda e: type(e).__name__)


@pytest.fixture(scope="module")
def X(blobs):
    return blobs[0]


@pytest.fixture(scope="module")
def fitted_kfrc(wine):
    return KFRC.paper(3, n_starts=2, optimizer="lbfgs", random_state=0).fit(wine)


# --- fitted attributes ---


@both
def test_common_attributes_describe_the_fit(estimator, X):
    fit = clone(estimator).fit(X)
    U = fit.memberships_
    assert U.shape == (len(X), 3)
    assert_allclose(U.sum(axis=1), 1.0, atol=1e-12)
    assert_array_equal(fit.labels_, U.argmax(axis=1))
    assert fit.objective_ == fit.objective_path_[-1]
    assert len(fit.objective_path_) == fit.n_iter_ + 1
    assert fit.status_ == "converged"
    assert type(fit.status_) is str
    assert fit.uniformity_ == pytest.approx((1 - (U**2).sum() / len(X)) / (1 - 1 / 3))
    assert fit.n_features_in_ == 2
    assert not hasattr(fit, "feature_names_in_")


def test_kfrc_attributes_describe_the_bandwidths(fitted_kfrc, wine):
    fit = fitted_kfrc
    assert fit.bandwidths_.shape == fit.log_bandwidths_.shape == fit.importance_weights_.shape == (13,)
    assert fit.eigenvalues_.shape == (3,)
    assert (np.diff(fit.eigenvalues_) <= 0).all()
    assert fit.criterion_value_ == pytest.approx(fit.eigenvalues_[:2].sum())
    assert fit.threshold_ == pytest.approx(0.5 * np.log(1.5))
    assert fit.stable_
    assert fit.critical_m_ == np.inf
    assert_allclose(fit.importance_weights_, (1 / fit.bandwidths_) / (1 / fit.bandwidths_).sum(), rtol=1e-6)
    assert fit.effective_n_features_ == pytest.approx(1 / (fit.importance_weights_**2).sum())
    assert isinstance(fit.search_, BandwidthResult)
    assert isinstance(fit.linear_limit_, bool)
    assert np.ptp(fit.log_bandwidths_) <= np.log(5.0) + 1e-9
    assert_allclose(fit.bandwidths_, np.exp(fit.log_bandwidths_) * wine.std(axis=0, ddof=1), rtol=1e-10)


@pytest.mark.parametrize("criterion", ["sum", "log_sum", "gap"])
@pytest.mark.parametrize("name", ["quadratic", "complementary_root"])
@pytest.mark.parametrize("max_anisotropy", [1.0, 25.0])
def test_successful_search_for_the_threshold_ends_stable(iris, criterion, name, max_anisotropy):
    fit = KFRC.paper(3, fuzzifier=name, criterion=criterion, max_anisotropy=max_anisotropy, **FIXED).fit(iris)
    assert fit.stable_
    assert fit.critical_m_ == np.inf


@pytest.mark.parametrize(("criterion", "kernel"), [("log_sum", "sum"), ("log_sum", "product"), ("gap", "product")])
def test_search_that_ends_on_the_threshold_is_stable(wine, criterion, kernel):
    fit = KFRC.paper(3, fuzzifier="power", m=1.5, criterion=criterion, kernel=kernel, **FIXED).fit(wine)
    assert fit.eigenvalues_[0] == pytest.approx(fit.threshold_, abs=1e-5), "the constraint is meant to be active here"
    assert fit.stable_
    assert fit.critical_m_ == np.inf


# --- prediction ---


@pytest.mark.parametrize(
    "estimator",
    [
        *(FRC(3, fuzzifier=name, random_state=0, tol=1e-9) for name in FUZZIFIERS),
        FRC(3, metric="euclidean", random_state=0, tol=1e-9),
        FRC(3, metric="minkowski", metric_params={"p": 1.5}, random_state=0, tol=1e-9),
        *(KFRC(3, fuzzifier=name, kernel="sum", level=1.0, tol=1e-9, **FAST) for name in FUZZIFIERS),
        *(KFRC(3, kernel=name, level=1.0, tol=1e-9, **FAST) for name in ("product", "linear")),
    ],
    ids=repr,
)
def test_prediction_of_the_training_rows_returns_the_fit(estimator, X):
    fit = estimator.fit(X)
    assert_allclose(fit.predict_proba(X), fit.memberships_, rtol=0, atol=1e-6)
    assert_array_equal(fit.predict(X), fit.labels_)
    assert_array_equal(clone(estimator).fit_predict(X), fit.labels_)
    assert fit.score(X) == pytest.approx(-fit.objective_, rel=1e-5)
    assert fit.transform(X).shape == (len(X), 3)
    assert_array_equal(fit.transform(X).argmin(axis=1), fit.labels_)


@pytest.mark.parametrize("kernel", ["sum", "product"])
def test_prediction_does_not_depend_on_the_other_rows(kernel, X):
    fit = KFRC(3, kernel=kernel, **FAST).fit(X)
    one_by_one = np.vstack([fit.predict_proba(X[j : j + 1]) for j in range(5)])
    assert_allclose(one_by_one, fit.predict_proba(X[:5]), atol=1e-12)


def test_transform_of_frc_is_the_distance_to_its_centers(X):
    fit = FRC(3, random_state=0).fit(X)
    assert fit.cluster_centers_.shape == (3, 2)
    assert_allclose(fit.transform(X), cdist(X, fit.cluster_centers_), atol=1e-8)


def test_precomputed_prediction_takes_dissimilarities_to_the_training_rows(X):
    whole = FRC(3, metric="sqeuclidean", random_state=0, tol=1e-10).fit(X)
    R = cdist(X, X, "sqeuclidean")
    relational = FRC(3, metric="precomputed", init=whole.memberships_, n_init=1, tol=1e-10).fit(R)
    new = X[:4] + 0.3
    assert_allclose(relational.predict_proba(cdist(new, X, "sqeuclidean")), whole.predict_proba(new), rtol=0, atol=1e-6)


# --- equivalent ways of saying the same ---


@pytest.mark.parametrize("name", FUZZIFIERS)
def test_squared_distances_given_or_computed_give_the_same_memberships(name, iris):
    start = np.random.default_rng(0).dirichlet(np.ones(3), size=len(iris))
    options = {"fuzzifier": name, "init": start, "n_init": 1, "tol": 1e-12, "max_iter": 5000}
    by_features = FRC(3, metric="sqeuclidean", **options).fit(iris)
    by_matrix = FRC(3, metric="precomputed", **options).fit(cdist(iris, iris, "sqeuclidean"))
    assert_allclose(by_matrix.memberships_, by_features.memberships_, rtol=0, atol=1e-8)


@pytest.mark.parametrize("kernel", ["sum", "product"])
def test_precomputed_kernel_equals_the_kernel_computed_inside(kernel, iris):
    bandwidths = np.array([0.8, 1.5, 2.0, 0.7])
    exponents = np.square(iris[:, None, :] - iris[None, :, :]) / (2 * bandwidths**2)
    K = np.exp(-exponents).sum(axis=2) if kernel == "sum" else np.exp(-exponents.sum(axis=2))
    start = np.random.default_rng(0).dirichlet(np.ones(3), size=len(iris))
    options = {"init": start, "n_init": 1, "tol": 1e-11, "max_iter": 5000}
    inside = KFRC(3, kernel=kernel, bandwidths=bandwidths, **options).fit(iris)
    given = KFRC(3, kernel="precomputed", **options).fit(K)
    assert_allclose(given.memberships_, inside.memberships_, rtol=0, atol=1e-8)
    assert_allclose(given.eigenvalues_, inside.eigenvalues_, rtol=0, atol=1e-10)
    assert given.objective_ == pytest.approx(inside.objective_, rel=1e-9)
    assert given.bandwidths_ is None
    assert given.search_ is None
    assert_allclose(given.predict_proba(K[:7]), inside.memberships_[:7], rtol=0, atol=1e-6)


def test_given_bandwidths_skip_the_search(wine, monkeypatch):
    import kfrc.fitting.tuning as module

    monkeypatch.setattr(module, "select_bandwidths", lambda *args, **kwargs: pytest.fail("searched"))
    fit = KFRC(3, bandwidths=3.0, n_init=1, random_state=0).fit(wine)
    assert fit.search_ is None
    assert_allclose(fit.bandwidths_, 3.0)


def test_given_bandwidths_are_in_the_units_of_the_data(wine):
    units = np.geomspace(0.01, 100, 13)
    here = KFRC(3, bandwidths=3.0, n_init=1, random_state=0).fit(wine)
    there = KFRC(3, bandwidths=3.0 * units, n_init=1, random_state=0).fit(wine * units)
    assert_allclose(there.memberships_, here.memberships_, rtol=0, atol=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("criterion", ["sum", "gap"])
def test_units_of_the_columns_do_not_matter(criterion, iris):
    units = np.array([1e-3, 5.0, 100.0, 1.0])
    here = KFRC(3, criterion=criterion, **FAST).fit(iris)
    there = KFRC(3, criterion=criterion, **FAST).fit(iris * units + 3.0)
    assert_allclose(there.memberships_, here.memberships_, rtol=0, atol=1e-5)
    assert_allclose(there.bandwidths_, here.bandwidths_ * units, rtol=1e-4)
    assert_allclose(there.log_bandwidths_, here.log_bandwidths_, atol=1e-4)


def test_objects_and_names_mean_the_same(iris):
    by_name = KFRC(3, kernel="sum", fuzzifier="quadratic", m=0.3, criterion="sum", optimizer="lbfgs", **FAST).fit(iris)
    by_object = KFRC(3, kernel=GaussianSum(), fuzzifier=Quadratic(0.3), criterion=EigenvalueSum(), **FAST).fit(iris)
    assert_array_equal(by_object.memberships_, by_name.memberships_)


def test_m_overrides_that_of_a_fuzzifier_object(X):
    fit = FRC(3, fuzzifier=Power(2.0), m=1.5, random_state=0).fit(X)
    assert fit.fuzzifier_ == Power(1.5)
    assert FRC(3, fuzzifier=Power(2.5), random_state=0).fit(X).fuzzifier_ == Power(2.5)


def test_fixed_level_is_the_mean_log_bandwidth(iris):
    fit = KFRC(3, level=0.7, **FAST).fit(iris)
    assert fit.log_bandwidths_.mean() == pytest.approx(0.7, abs=1e-9)
    assert fit.search_.level == pytest.approx(0.7, abs=1e-9)


# --- custom fuzzifiers ---


def test_custom_fuzzifier_works_wherever_a_name_does(iris):
    start = np.random.default_rng(0).dirichlet(np.ones(3), size=len(iris))
    R = cdist(iris, iris, "sqeuclidean")
    own = solve_relational(R, 3, PlainPower(1.7), init=start, tol=1e-10)
    built_in = solve_relational(R, 3, Power(1.7), init=start, tol=1e-10)
    assert_allclose(own.memberships, built_in.memberships, rtol=0, atol=1e-7)
    frc = FRC(3, fuzzifier=PlainPower(1.7), init=start, n_init=1, tol=1e-10).fit(iris)
    assert_allclose(frc.memberships_, built_in.memberships, rtol=0, atol=1e-7)
    options = {"bandwidths": [0.8, 1.5, 2.0, 0.7], "init": start, "n_init": 1, "tol": 1e-10}
    kfrc_own = KFRC(3, fuzzifier=PlainPower(1.7), **options).fit(iris)
    kfrc_built_in = KFRC(3, fuzzifier=Power(1.7), **options).fit(iris)
    assert_allclose(kfrc_own.memberships_, kfrc_built_in.memberships_, rtol=0, atol=1e-7)
    assert clone(kfrc_own).get_params()["fuzzifier"] == PlainPower(1.7)


@pytest.mark.slow
def test_custom_fuzzifier_goes_through_the_search(iris):
    fit = KFRC(3, fuzzifier=PlainPower(1.7), **FAST).fit(iris)
    assert fit.stable_
    assert fit.uniformity_ < 0.9


def test_collapse_of_a_custom_fuzzifier_is_explained_truthfully():
    X = np.random.default_rng(0).standard_normal((60, 12))
    with pytest.warns(UniformCollapseWarning) as caught:
        FRC(3, fuzzifier=Blend(3.0), n_init=1, max_iter=5000, tol=1e-8, random_state=0).fit(X)
    product, sign = re.search(r"kappa \* lambda_1 = ([\d.]+) (<=|>) 1", str(caught[0].message)).groups()
    assert (float(product) > 1) == (sign == ">")


# --- inputs of every kind ---


@both
@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_tables_keep_their_column_names(estimator, library, X):
    frames = pytest.importorskip(library)
    table = frames.DataFrame({"height": X[:, 0], "weight": X[:, 1]})
    fit = clone(estimator).fit(table)
    assert list(fit.feature_names_in_) == ["height", "weight"]
    assert_allclose(fit.memberships_, clone(estimator).fit(X).memberships_, rtol=0, atol=1e-6)
    assert_array_equal(fit.predict(table), fit.labels_)


@both
def test_transform_can_return_a_pandas_table(estimator, X):
    pd = pytest.importorskip("pandas")
    fit = clone(estimator).set_output(transform="pandas").fit(X)
    table = fit.transform(X)
    assert isinstance(table, pd.DataFrame)
    name = type(estimator).__name__.lower()
    assert list(table.columns) == [f"{name}0", f"{name}1", f"{name}2"] == list(fit.get_feature_names_out())
    assert_array_equal(clone(estimator).fit(X).transform(X), table.to_numpy())


@both
@pytest.mark.parametrize("convert", [np.ndarray.tolist, np.asfortranarray])
def test_lists_and_other_memory_layouts_give_the_same_clusters_with_the_same_numbers(estimator, convert, X):
    fit = clone(estimator).fit(convert(X))
    assert_allclose(fit.memberships_, clone(estimator).fit(X).memberships_, rtol=0, atol=1e-6)


@both
def test_single_precision_input_is_computed_in_double_precision(estimator, X):
    fit = clone(estimator).fit(X.astype(np.float32))
    assert fit.memberships_.dtype == np.float64
    exact = clone(estimator).fit(X).memberships_
    assert_allclose(np.sort(fit.memberships_, axis=1), np.sort(exact, axis=1), atol=1e-3)


@both
def test_input_is_not_modified(estimator, X):
    data = X.copy()
    clone(estimator).fit(data).predict_proba(data)
    assert_array_equal(data, X)


@both
def test_clone_and_refit_give_the_same(estimator, X):
    fit = clone(estimator).fit(X)
    assert_array_equal(clone(fit).fit(X).memberships_, fit.memberships_)
    first = fit.memberships_.copy()
    assert_array_equal(fit.fit(X).memberships_, first)


@pytest.mark.slow
@both
def test_estimators_work_in_a_pipeline_and_a_grid_search(estimator, X):
    pipeline = make_pipeline(StandardScaler(), clone(estimator))
    labels = pipeline.fit_predict(X)
    assert len(np.unique(labels)) == 3
    step = type(estimator).__name__.lower()
    search = GridSearchCV(pipeline, {f"{step}__n_clusters": [2, 3]}, cv=2).fit(X)
    assert search.best_params_[f"{step}__n_clusters"] in (2, 3)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()


def test_grid_search_over_a_precomputed_metric_cuts_both_sides_of_the_matrix(X):
    R = cdist(X, X, "sqeuclidean")
    shuffled = np.random.default_rng(0).permutation(len(X))
    R = R[np.ix_(shuffled, shuffled)]
    search = GridSearchCV(FRC(metric="precomputed", random_state=0), {"n_clusters": [2, 3]}, cv=2).fit(R)
    assert search.best_estimator_.memberships_.shape[0] == len(X)


# --- callbacks ---


class Recorder:
    """A scikit-learn callback that writes down what it is told of the fit and of its parts, not of their steps."""

    def __init__(self):
        self.events = []

    def setup(self, estimator, context):
        self.events.append(("setup", context.task_name))

    def teardown(self, estimator, context):
        self.events.append(("teardown", context.task_name))

    def on_fit_task_begin(self, estimator, context, **kwargs):
        if depth(context) < 2:
            self.events.append(("begin", context.task_name))

    def on_fit_task_end(self, estimator, context, **kwargs):
        if depth(context) < 2:
            self.events.append(("end", context.task_name))


def depth(context):
    """How many tasks a task is part of."""
    return 0 if context.parent is None else 1 + depth(context.parent)


@pytest.mark.parametrize(
    ("estimator", "n_tasks"),
    [
        (FRC(3, n_init=2, random_state=0), 2),
        (KFRC.paper(3, n_starts=2, n_init=3, optimizer="lbfgs", random_state=0), 5),
        (KFRC(3, n_starts=2, random_state=0), 3 + 3),  # three anisotropies, then judging, comparing, clustering
        (KFRC("auto", max_clusters=4, n_starts=2, random_state=0), 3 + 1 + 3 + 3),  # three numbers, existence, as above
    ],
    ids=["FRC", "KFRC.paper", "KFRC", "number of clusters"],
)
@pytest.mark.usefixtures("callbacks")
def test_callbacks_see_the_fit_and_each_of_its_parts(estimator, n_tasks, X):
    recorder = Recorder()
    clone(estimator).set_callbacks(recorder).fit(X)
    kinds = [kind for kind, _ in recorder.events]
    assert kinds[0] == "setup"
    assert kinds[-1] == "teardown"
    assert kinds.count("begin") == kinds.count("end") == n_tasks + 1
    assert kinds[1] == "begin"
    assert kinds[-2] == "end"


@both
def test_progress_bar_works(estimator, X, capsys, callbacks):
    pytest.importorskip("rich")
    fit = clone(estimator).set_callbacks(callbacks.ProgressBar()).fit(X)
    assert fit.status_ == "converged"
    assert type(estimator).__name__ in capsys.readouterr().out


@both
def test_verbose_prints_one_line_per_part_and_silence_is_the_default(estimator, X, capsys):
    clone(estimator).fit(X)
    assert capsys.readouterr().out == ""
    fit = clone(estimator).set_params(verbose=1).fit(X)
    lines = [line for line in capsys.readouterr().out.splitlines() if ":  " not in line]  # those are steps of a part
    assert len(lines) == fit.n_init + (0 if isinstance(fit, FRC) else 5)
    assert all(line.startswith(f"{type(fit).__name__}: ") for line in lines)


# --- randomness ---


@both
@pytest.mark.parametrize("state", [0, np.random.RandomState, np.random.default_rng])
def test_same_random_state_gives_the_same_fit(estimator, state, X):
    def fit():
        random_state = state if isinstance(state, int) else state(5)
        return clone(estimator).set_params(random_state=random_state, init="random", n_init=3).fit(X)

    assert_array_equal(fit().memberships_, fit().memberships_)


@both
def test_global_random_numbers_are_neither_used_nor_changed(estimator, X):
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    clone(estimator).fit(X)
    assert_array_equal(np.random.get_state()[1], before)  # noqa: NPY002


@pytest.mark.slow
def test_number_of_workers_does_not_change_the_result(iris):
    options = {"n_starts": 3, "n_init": 1, "random_state": 4}
    one = KFRC(3, n_jobs=1, **options).fit(iris)
    two = KFRC(3, n_jobs=2, **options).fit(iris)
    assert_array_equal(two.bandwidths_, one.bandwidths_)
    assert_array_equal(two.memberships_, one.memberships_)
    assert [c.criterion_value for c in two.search_.candidates] == [c.criterion_value for c in one.search_.candidates]


def test_permuting_samples_permutes_the_fit(blobs):
    X, _ = blobs
    order = np.random.default_rng(0).permutation(len(X))
    here, there = KFRC.paper(3, **FIXED).fit(X), KFRC.paper(3, **FIXED).fit(X[order])
    assert_allclose(there.bandwidths_, here.bandwidths_, rtol=1e-3)
    overlap = here.memberships_[order].T @ there.memberships_
    match = overlap.argmax(axis=1)
    assert sorted(match) == [0, 1, 2]
    assert_allclose(there.memberships_[:, match], here.memberships_[order], atol=1e-3)


# --- honest endings ---


def test_collapse_is_explained_and_its_remedy_works():
    X = np.random.default_rng(0).standard_normal((80, 6))
    estimator = FRC(3, fuzzifier="power", m=3.0, random_state=0)
    with pytest.warns(UniformCollapseWarning, match=r"kappa = .*lambda_1 = .*m\* = .*Use m < ") as caught:
        fit = estimator.fit(X)
    assert fit.status_ == "collapsed"
    assert fit.uniformity_ == pytest.approx(1.0, abs=1e-4)
    critical = float(re.search(r"m\* = ([\d.]+)", str(caught[0].message)).group(1))
    expected = critical_fuzzifier("power", 3, R=cdist(X, X, "sqeuclidean"))
    assert critical == pytest.approx(expected, rel=1e-3)
    remedied = FRC(3, fuzzifier="power", m=0.9 * critical + 0.1, random_state=0, max_iter=10_000).fit(X)
    assert remedied.status_ == "converged"
    assert np.abs(remedied.memberships_ - 1 / 3).max() > 0.02


def test_kfrc_with_given_bandwidths_explains_its_collapse(iris):
    fit = KFRC(3, fuzzifier="power", m=4.5, bandwidths=[0.5, 1, 5, 0.5], n_init=1, random_state=0)
    with pytest.warns(UniformCollapseWarning, match=r"lambda_1 = 0\.3697 .*m\* = 3\.836"):
        fit.fit(iris)
    assert not fit.stable_
    assert fit.critical_m_ == pytest.approx(3.8362, abs=1e-3)
    with pytest.warns(UniformCollapseWarning, match="another fuzzifier, or KFRC"):
        fit.fit(iris)
    assert KFRC(3, fuzzifier="power", m=4.5, **FAST).fit(iris).status_ == "converged"


def test_uniform_start_that_is_not_stable_asks_for_another_start(X):
    estimator = FRC(3, m=2.0, init=np.full((len(X), 3), 1 / 3), n_init=1, max_iter=3)
    with pytest.warns(UniformCollapseWarning, match=r"> 1, .*not stable.*spectral"):
        estimator.fit(X)
    assert FRC(3, m=2.0, init="spectral", random_state=0).fit(X).status_ == "converged"


@both
def test_running_out_of_iterations_warns_and_returns_the_last_iterate(estimator, iris):
    estimator = clone(estimator).set_params(init="random", n_init=1, max_iter=2, tol=1e-12)
    with pytest.warns(ConvergenceWarning, match="max_iter = 2.*raise max_iter or tol"):
        fit = estimator.fit(iris)
    assert fit.status_ == "max_iter"
    assert fit.n_iter_ == 2
    assert_allclose(fit.memberships_.sum(axis=1), 1.0)


@pytest.mark.slow
@pytest.mark.parametrize("name", FUZZIFIERS)
def test_kfrc_does_not_collapse_at_any_m(name, iris):
    cls = Fuzzifier.registry[name]
    fuzzy = cls.m_range.high if np.isfinite(cls.m_range.high) else 20.0
    for m in (cls.m_range.low + 0.1, fuzzy):
        fit = KFRC(3, fuzzifier=name, m=m, tol=1e-5, max_iter=10_000, **FAST).fit(iris)
        assert fit.status_ == "converged"


def test_momentum_optimizer_runs_the_algorithm_of_the_paper(iris):
    fit = KFRC.paper(3, optimizer=MomentumAscent(max_iter=40), **FAST).fit(iris)
    (candidate,) = fit.search_.candidates
    assert candidate.stage1_iterations == 40
    assert len(candidate.stage1_path.values) == 41
    assert (np.ptp(candidate.stage1_path.log_bandwidths, axis=1) <= np.log(5) + 1e-9).all()
