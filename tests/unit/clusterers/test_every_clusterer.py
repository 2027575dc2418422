"""What holds for every clusterer alike: starts, tables, progress, degenerate data, refusals."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import cdist
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import get_tags

from kfrc import FANNY, FCM, FRC, KFRC, MSFCM, NERFCM, RFCM, ConstantFeatureWarning, TrivialPartitionWarning
from kfrc.fuzzifiers import Fuzzifier
from kfrc.relational import Given, Start
from strategies import CLUSTERERS, each

# A method is tried with its defaults, except where those are slow or collapse on these data.
OWN_SETTINGS = {KFRC: KFRC.paper(3, optimizer="lbfgs", n_starts=2), FANNY: FANNY(3, m=1.5)}


def quick(cls):
    model = OWN_SETTINGS.get(cls, cls(3))
    few = {"random_state": 0, "n_init": 2}
    return model.set_params(**{name: value for name, value in few.items() if name in model.get_params()})


ALL = [quick(cls) for cls in CLUSTERERS]
WITH_STARTS = [model for model in ALL if {"init", "n_init"} <= set(model.get_params())]

every_clusterer = pytest.mark.parametrize("model", ALL, ids=lambda model: type(model).__name__)
every_accepting_a_start = pytest.mark.parametrize(
    "model", [model for model in ALL if "init" in model.get_params()], ids=lambda model: type(model).__name__
)
every_started = pytest.mark.parametrize("model", WITH_STARTS, ids=lambda model: type(model).__name__)


@pytest.fixture(scope="module")
def X(blobs):
    return blobs[0]


@every_clusterer
def test_clusters_are_found_and_numbered_by_their_first_sample(model, blobs):
    X, labels = blobs
    found = clone(model).fit_predict(X)
    assert len(set(zip(labels.tolist(), found.tolist(), strict=True))) == 3
    _, first = np.unique(found, return_index=True)
    assert (np.diff(first) > 0).all()


@every_started
@each("start", Start)
def test_every_start_works_and_can_be_repeated(model, start, X):
    fits = [clone(model).set_params(init=start, random_state=3).fit(X) for _ in range(2)]
    assert fits[0].status_ == "converged"
    assert_array_equal(fits[0].memberships_, fits[1].memberships_)


class LastRowsFirst(Start):
    """A user's start without a name: blocks of rows, counted from the end."""

    deterministic = True

    def memberships(self, dissimilarity, n_clusters, rng):
        return np.eye(n_clusters)[np.arange(dissimilarity.n_samples)[::-1] * n_clusters // dissimilarity.n_samples]


class Fixed(Start):
    """A user's start that hands out whatever it was given."""

    def __init__(self, U):
        object.__setattr__(self, "U", U)

    def memberships(self, dissimilarity, n_clusters, rng):
        return self.U


@every_accepting_a_start
@pytest.mark.parametrize(
    ("U", "words"),
    [
        (np.full((60, 4), 0.25), "start Fixed must have 3 columns"),
        (np.full((59, 3), 1 / 3), "start Fixed must have 60 rows"),
        (np.full((60, 3), 0.3), "rows of start Fixed must sum to 1"),
        (np.tile([1.5, -0.5, 0.0], (60, 1)), "start Fixed has negative memberships"),
        (np.full((60, 3), np.nan), "start Fixed contains NaN"),
    ],
    ids=["columns", "rows", "sums", "signs", "finite"],
)
def test_what_a_start_of_the_user_draws_is_checked(model, X, U, words):
    with pytest.raises(ValueError, match=words):
        clone(model).set_params(init=Fixed(U)).fit(X)


def test_partitions_proposed_to_a_judge_come_from_a_checked_start(X):
    with pytest.raises(ValueError, match="start Fixed must have 3 columns"):
        KFRC(3, n_starts=1, init=Fixed(np.full((60, 4), 0.25))).fit(X)


@every_accepting_a_start
def test_a_start_is_a_name_an_object_or_an_array(model, X, blobs):
    by_name, by_object = (
        clone(model).set_params(init=init, random_state=3).fit(X) for init in ("kmeans++", Start.from_name("kmeans++"))
    )
    assert_array_equal(by_name.memberships_, by_object.memberships_)
    own = clone(model).set_params(init=LastRowsFirst()).fit(X)
    assert_array_equal(own.labels_, blobs[1])
    crisp = np.eye(3)[[2, 0, 1]][blobs[1]]
    by_array, by_given = (clone(model).set_params(init=init).fit(X) for init in (crisp, Given(crisp)))
    assert_array_equal(by_array.memberships_, by_given.memberships_)


@every_accepting_a_start
def test_given_memberships_keep_the_numbers_of_their_clusters(model, X, blobs):
    crisp = np.eye(3)[[2, 0, 1]][blobs[1]]
    # The further runs of n_init find no better partition, so the first one wins.
    assert_array_equal(clone(model).set_params(init=crisp).fit(X).labels_, crisp.argmax(axis=1))


@every_started
def test_clusters_of_a_run_that_beats_given_memberships_are_numbered_by_their_first_sample(model, X):
    uniform = np.full((60, 3), 1 / 3)  # where a run stays, so that one from k-means++ wins
    for seed in range(4):
        found = clone(model).set_params(init=uniform, random_state=seed).fit(X).labels_
        numbers, first = np.unique(found, return_index=True)
        assert_array_equal(numbers, [0, 1, 2])
        assert (np.diff(first) > 0).all()


@every_started
def test_random_start_that_keeps_its_numbers_keeps_them_in_every_run(model, X, blobs):
    drawn = []

    class SecondTimeRight(Start):
        """Uniform at first, then the clusters with numbers of its own."""

        keeps_numbering = True

        def memberships(self, dissimilarity, n_clusters, rng):
            drawn.append(np.full((60, 3), 1 / 3) if not drawn else np.eye(3)[[2, 0, 1]][blobs[1]])
            return drawn[-1]

    fit = clone(model).set_params(init=SecondTimeRight()).fit(X)
    assert len(drawn) == 2
    assert_array_equal(fit.labels_, np.array([2, 0, 1])[blobs[1]])


@every_accepting_a_start
@pytest.mark.parametrize(
    ("init", "error", "words"),
    [
        (3, TypeError, r"expected a Start or one of the names spectral, .*memberships of shape \(60, 3\), got 3"),
        (None, TypeError, "expected a Start or one of the names"),
        ("middle", ValueError, "unknown start 'middle': choose one of spectral"),
        (np.full((59, 3), 1 / 3), ValueError, "init must have 60 rows"),
        (Given(np.full((60, 2), 0.5)), ValueError, "init must have 3 columns"),
        (np.full(60, 0.5), ValueError, "1 dimension"),
    ],
)
def test_what_cannot_be_a_start_is_refused_by_name(model, X, init, error, words):
    with pytest.raises(error, match=words):
        clone(model).set_params(init=init).fit(X)


@every_clusterer
@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_tables_keep_their_column_names(model, library, X):
    frames = pytest.importorskip(library)
    table = frames.DataFrame({"height": X[:, 0], "weight": X[:, 1]})
    fit = clone(model).fit(table)
    assert list(fit.feature_names_in_) == ["height", "weight"]
    assert_array_equal(fit.predict(table), fit.labels_)


@every_clusterer
def test_works_in_a_pipeline_and_a_grid_search(model, X):
    pipeline = make_pipeline(StandardScaler(), clone(model))
    search = GridSearchCV(pipeline, {f"{type(model).__name__.lower()}__n_clusters": [2, 3]}, cv=2).fit(X)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()


@every_started
def test_verbose_prints_a_line_per_run_and_silence_is_the_default(model, X, capsys):
    clone(model).fit(X)
    assert capsys.readouterr().out == ""
    clone(model).set_params(verbose=1).fit(X)
    name = type(model).__name__
    lines = [line for line in capsys.readouterr().out.splitlines() if ":  " not in line]  # those are steps of a run
    assert lines[-2:] == [f"{name}: clustering 1/2", f"{name}: clustering 2/2"]


@every_clusterer
@pytest.mark.usefixtures("callbacks")
def test_callbacks_see_a_beginning_and_an_end_of_every_task(model, X):
    class Recorder:
        begun = ended = 0

        def setup(self, estimator, context): ...
        def teardown(self, estimator, context): ...
        def on_fit_task_begin(self, estimator, context, **kwargs):
            self.begun += 1

        def on_fit_task_end(self, estimator, context, **kwargs):
            self.ended += 1

    recorder = Recorder()
    clone(model).set_callbacks(recorder).fit(X)
    assert recorder.begun == recorder.ended >= 2


@every_clusterer
def test_one_cluster_is_trivial_and_says_so(model, X):
    with pytest.warns(TrivialPartitionWarning, match="trivial"):
        fit = clone(model).set_params(n_clusters=1).fit(X)
    assert (fit.memberships_ == 1).all()
    assert fit.status_ == "converged"


@every_started
def test_empty_cluster_of_the_start_is_refilled(model, X):
    start = np.zeros((60, 3))
    start[:, 0] = 1.0
    fit = clone(model).set_params(init=start, n_init=1).fit(X)
    assert np.isfinite(fit.memberships_).all()
    assert len(np.unique(fit.labels_)) == 3


def few_different(n_different, n_clusters, seed):
    """Rows of which few differ, more or less often, and new rows."""
    rng = np.random.default_rng(seed)
    places = rng.standard_normal((n_different, 3)) * 10.0 ** rng.uniform(-2, 2)
    X = places[np.concatenate([np.arange(n_different), rng.integers(n_different, size=4 * n_clusters)])]
    return X, X[:3] + 0.3 * rng.standard_normal((3, 3)) * X.std()


def check_that_nothing_is_infinite(fit, X, new):
    """All results of a fit, for its rows and for new ones, are finite, and equal rows have equal results."""
    for name in ("memberships_", "objective_", "objective_path_", "uniformity_", "cluster_centers_"):
        assert np.isfinite(getattr(fit, name, 0.0)).all(), name
    for rows in (X, new):
        assert np.isfinite(fit.transform(rows)).all()
        assert np.isfinite(fit.score(rows))
        assert_allclose(fit.predict_proba(rows).sum(axis=1), 1.0)


@every_clusterer
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(("n_different", "n_clusters"), [(2, 3), (3, 5), (4, 8), (7, 8)])
def test_fewer_different_rows_than_clusters_are_told_and_give_numbers(model, n_different, n_clusters, seed):
    X, new = few_different(n_different, n_clusters, seed)
    with pytest.warns(ConvergenceWarning, match=f"{n_different} different row.*fewer than n_clusters = {n_clusters}"):
        fit = clone(model).set_params(n_clusters=n_clusters).fit(X)
    check_that_nothing_is_infinite(fit, X, new)


@pytest.mark.parametrize("fuzzifier", list(Fuzzifier.registry))
@pytest.mark.parametrize("method", [FCM, FRC, KFRC], ids=lambda method: method.__name__)
@pytest.mark.parametrize(("n_different", "n_clusters"), [(2, 3), (3, 6)])
def test_no_fuzzifier_leaves_infinity_in_an_empty_cluster(method, fuzzifier, n_different, n_clusters):
    X, new = few_different(n_different, n_clusters, 7)
    with pytest.warns(ConvergenceWarning, match="different row"):
        fit = method(n_clusters, fuzzifier=fuzzifier, random_state=0).fit(X)
    check_that_nothing_is_infinite(fit, X, new)


@pytest.mark.parametrize("kind", [np.float64, np.float32])
@pytest.mark.parametrize(("n_different", "n_clusters"), [(2, 3), (3, 6)])
def test_few_different_objects_of_a_matrix_are_told_too(n_different, n_clusters, kind):
    X, new = few_different(n_different, n_clusters, 3)
    X, new = X / np.abs(X).max(), new / np.abs(X).max()
    for model in (FRC, RFCM, NERFCM, FANNY):
        with pytest.warns(ConvergenceWarning, match="different row"):
            fit = model(n_clusters, metric="precomputed", random_state=0).fit(cdist(X, X, "sqeuclidean").astype(kind))
        check_that_nothing_is_infinite(fit, *(cdist(rows, X, "sqeuclidean") for rows in (X, new)))
    with pytest.warns(ConvergenceWarning, match="different row"):
        fit = KFRC(n_clusters, kernel="precomputed", random_state=0).fit(
            np.exp(-cdist(X, X, "sqeuclidean")).astype(kind)
        )
    check_that_nothing_is_infinite(fit, *(np.exp(-cdist(rows, X, "sqeuclidean")) for rows in (X, new)))


def test_as_many_different_rows_as_clusters_are_enough():
    X = few_different(5, 5, 0)[0]
    for method in (FCM, FRC, MSFCM):
        assert len(np.unique(method(5, random_state=0).fit(X).labels_)) == 5


@pytest.mark.parametrize("method", [FCM, FRC], ids=lambda method: method.__name__)
def test_few_different_rows_with_blanks_give_numbers(method):
    X = np.repeat([[0.0, 1.0, 2.0], [4.0, np.nan, 1.0], [1.0, 3.0, 0.0]], 6, axis=0)
    with pytest.warns(ConvergenceWarning, match="different row"):
        fit = method(4, random_state=0).fit(X)
    check_that_nothing_is_infinite(fit, X, X[:3] + 0.1)


@every_clusterer
def test_infinite_values_are_refused(model, X):
    data = X.copy()
    data[3, 1] = np.inf
    with pytest.raises(ValueError, match="infinity"):
        clone(model).fit(data)


@every_clusterer
def test_missing_values_are_refused_unless_the_tags_say_otherwise(model, X):
    data = X.copy()
    data[3, 1] = np.nan
    if get_tags(model).input_tags.allow_nan:
        assert clone(model).fit(data).memberships_.shape == (60, 3)
    else:
        with pytest.raises(ValueError, match="NaN"):
            clone(model).fit(data)


@every_clusterer
def test_constant_columns_are_reported_and_constant_data_refused(model, X):
    with pytest.warns(ConstantFeatureWarning, match="column 2"):
        clone(model).fit(np.column_stack([X, np.ones(60)]))
    with pytest.raises(ValueError, match="constant"):
        clone(model).fit(np.ones((60, 2)))


@every_clusterer
def test_prediction_needs_a_fit_and_the_same_columns(model, X):
    with pytest.raises(NotFittedError):
        clone(model).predict(X)
    with pytest.raises(ValueError, match="features"):
        clone(model).fit(X).predict(X[:, :1])
