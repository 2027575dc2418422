"""No parameter of KFRC is silently inert: whatever is set changes something, or the fit says that it did not."""

from __future__ import annotations

import contextlib
import inspect
import io
import re
import warnings
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pandas as pd
import pytest

from kfrc import KFRC, IgnoredParameterWarning
from kfrc.bandwidth import MomentumAscent, QuasiNewton
from kfrc.bandwidth.problem import Problem
from kfrc.judges import Judge, Opinion
from kfrc.relational import Start
from kfrc.screening import DependenceScreen

CONTEXTS = {
    "chosen": {},
    "counted": {"n_clusters": "auto", "max_clusters": 3},
    "fixed": {"m": 1.5, "level": 1.0, "max_anisotropy": 5.0},
    "momentum": {"m": 1.5, "level": None, "max_anisotropy": 5.0, "optimizer": MomentumAscent(max_iter=3)},
    "given bandwidths": {"bandwidths": 2.0, "m": 1.5},
    "given Gram matrix": {"kernel": "precomputed", "m": 1.5},
    "posterior": {"memberships": "posterior"},
    "counted with given bandwidths": {"n_clusters": "auto", "max_clusters": 3, "bandwidths": 2.0, "m": 1.5},
    "landmarks": {"m": 1.5, "level": 1.0, "max_anisotropy": 5.0, "approximation": "nystrom"},
}


@dataclass(frozen=True)
class First(Judge):
    """Believes the first proposal."""

    def examine(self, X, partitions):
        return [Opinion("first", 0.0, np.asarray(partitions[0]), np.zeros(len(X)))]


@dataclass(frozen=True)
class Reported(Start):
    """Says when it is asked."""

    deterministic: ClassVar[bool] = True

    def memberships(self, dissimilarity, n_clusters, rng):
        print("the start was asked")
        return np.eye(n_clusters)[np.arange(dissimilarity.n_samples) % n_clusters]


@dataclass(frozen=True)
class Heard(DependenceScreen):
    """Says when it is asked."""

    def examine(self, X):
        print("the screen was asked")
        return super().examine(X)


OTHER = {
    "n_clusters": 2,
    "kernel": "product",
    "fuzzifier": "quadratic",
    "m": 0.4,
    "criterion": "gap",
    "max_anisotropy": 2.0,
    "level": 0.3,
    "judge": First(),
    "screen": Heard(),
    "max_clusters": 4,
    "memberships": "posterior",
    "column_types": {2: "nominal"},
    "missing": "error",
    "selection_samples": 25,
    "bandwidths": 1.5,
    "threshold": 0.01,
    "standardize": False,
    "outliers": "keep",
    "n_starts": 3,
    "optimizer": QuasiNewton(max_iter=1, restart=False),
    "approximation": "low_rank",
    "rank": 5,
    "search_samples": 30,
    "init": Reported(),
    "n_init": 3,
    "max_iter": 1,
    "tol": 1e-1,
    "random_state": 1,
    "n_jobs": 2,
    "verbose": 0,
}
"""Another value for every parameter."""

WITH = {"m": {"fuzzifier": "quadratic"}, "random_state": {"init": "random", "n_init": 1, "max_iter": 1}}
"""What must be set along with it: m = 0.4 needs a bounded range, and only a random start depends on the seed."""

PARAMETERS = tuple(inspect.signature(KFRC).parameters)
BEFORE = {}
DONE_ANYWAY = {("given bandwidths", "standardize"), ("given Gram matrix", "standardize")}
"""Given bandwidths are in the units of the columns: standardize=False says what is done, and True changes nothing."""

ONLY = {
    "counted": ("judge", "screen", "max_clusters", "selection_samples", "n_starts", "memberships", "level"),
    "posterior": ("bandwidths", "init", "judge", "max_iter", "n_init", "tol"),
    "counted with given bandwidths": ("judge", "level", "max_anisotropy", "n_starts", "search_samples", "threshold"),
    "landmarks": ("init", "rank"),
}
"""What such a context can change, next to another one in which all parameters are walked."""

WHERE_BLANK = {"missing"}
"""Acts on blanks, of which there are none here; see test_missing_acts_where_something_is_missing."""

CASES = [
    (context, name)
    for context, given in CONTEXTS.items()
    for name in ONLY.get(context, PARAMETERS)
    if name not in given and (context, name) not in DONE_ANYWAY and name not in WHERE_BLANK
]


@pytest.fixture(scope="module")
def X():
    rng = np.random.default_rng(0)
    return np.repeat([[0.0, 0.0, 0.0], [4.0, 0.0, 0.0], [0.0, 4.0, 1.0]], 15, axis=0) + rng.normal(size=(45, 3))


@pytest.fixture
def observe(X, monkeypatch):
    """Everything that a fit does or says: its attributes, what it prints, how much work it is, how many workers."""
    log = []
    evaluate = Problem.evaluate
    X = X.copy()
    X[20, 2] = 1e3  # something for outliers="keep" to keep

    def counted(self, *args):
        log.append(self.family.n_samples)
        return evaluate(self, *args)

    monkeypatch.setattr(Problem, "evaluate", counted)
    import kfrc.bandwidth.exploration
    import kfrc.bandwidth.search
    import kfrc.selection.tuned_kernels

    for module in (kfrc.bandwidth.exploration, kfrc.bandwidth.search, kfrc.selection.tuned_kernels):
        monkeypatch.setattr(module, "Parallel", reporting(module.Parallel))

    def run(**parameters):
        log.clear()
        searches = "bandwidths" not in parameters and parameters.get("kernel") != "precomputed"
        quick = {"n_starts": 1} if searches else {}
        model = KFRC(**({"random_state": 0, "verbose": 1} | quick | parameters))
        data = gram(X) if model.kernel == "precomputed" else X
        printed = io.StringIO()
        with warnings.catch_warnings(record=True) as caught, contextlib.redirect_stdout(printed):
            warnings.simplefilter("always")
            try:
                model.fit(data)
            except ValueError as error:
                return None, str(error)
        messages = " ".join(str(w.message) for w in caught if w.category is IgnoredParameterWarning)
        fitted = {name: value for name, value in vars(model).items() if name.endswith("_")}
        # Steps of a part (":  ") are shown by the clock, parts are not.
        parts = [line for line in printed.getvalue().splitlines() if ":  " not in line]
        return (plain(fitted), parts, tuple(log)), messages

    return run


def gram(X):
    Z = (X - X.mean(axis=0)) / X.std(axis=0, ddof=1)
    return np.exp(-np.square(Z[:, None] - Z).sum(axis=2) / 8.0)


def reporting(parallel):
    def make(*args, n_jobs=None, **kwargs):
        print(f"{n_jobs} workers")
        return parallel(*args, n_jobs=1, **kwargs)

    return make


def names(parameter, message):
    """Whether a message names the parameter, and not only a longer one or one in its reason."""
    blamed = " ".join(phrase.partition(": ")[0] for phrase in message.split("; "))
    return re.search(rf"\b{parameter}\b", blamed) is not None


def plain(value):
    """Fitted attributes as nested tuples that can be compared."""
    if isinstance(value, np.ndarray):
        return value.shape, value.tobytes() if value.dtype != object else str(value)
    if isinstance(value, dict):
        return tuple((name, plain(item)) for name, item in sorted(value.items()))
    return repr(value)


def test_every_parameter_is_walked():
    assert set(OTHER) == set(PARAMETERS)


@pytest.mark.slow
@pytest.mark.parametrize(("context", "name"), CASES, ids=[f"{name}, {context}" for context, name in CASES])
def test_a_parameter_changes_something_or_is_reported(context, name, observe):
    common = CONTEXTS[context] | WITH.get(name, {})
    if repr(common) not in BEFORE:
        BEFORE[repr(common)] = observe(**common)
    before, quiet = BEFORE[repr(common)]
    assert before is not None
    after, said = observe(**(common | {name: OTHER[name]}))
    if after is None:
        assert name in said, "what is refused is refused by name"
    else:
        assert after != before or (names(name, said) and not names(name, quiet))


@pytest.mark.slow
@pytest.mark.parametrize("context", CONTEXTS)
def test_the_same_settings_do_and_say_the_same(context, observe):
    assert observe(**CONTEXTS[context]) == observe(**CONTEXTS[context])


def test_settings_that_act_are_not_reported(observe):
    assert observe()[1] == ""
    assert observe(n_clusters=4, n_init=2, init="random", optimizer=QuasiNewton(tol=1e-3), m=1.2)[1] == ""


def test_what_has_no_effect_is_named_once_with_the_reason(X):
    with pytest.warns(IgnoredParameterWarning, match="max_clusters has no effect: the number of clusters is") as caught:
        KFRC(3, max_clusters=4, search_samples=20, n_starts=1, random_state=0).fit(X)
    assert len(caught) == 1
    assert "search_samples has no effect: an automatic choice sees" in str(caught[0].message)
    assert caught[0].filename == __file__


def test_momentum_says_that_it_does_not_choose(X):
    optimizer = MomentumAscent(max_iter=3)
    with pytest.warns(IgnoredParameterWarning, match=r"m, max_anisotropy and level = \"auto\" cannot be chosen"):
        loud = KFRC(3, optimizer=optimizer, n_starts=1, random_state=0).fit(X)
    quiet = KFRC.paper(3, optimizer=optimizer, n_starts=1, random_state=0).fit(X)
    np.testing.assert_array_equal(loud.memberships_, quiet.memberships_)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"bandwidths": 2.0, "fuzzifier": "auto"}, 'fuzzifier = "auto" cannot be chosen where no bandwidths are'),
        ({"m": 1.5, "level": 1.0, "max_anisotropy": 1.0, "criterion": "auto"}, "where every candidate is the same"),
        ({"kernel": "linear", "approximation": "nystrom", "rank": 3}, "approximation and rank have no effect: this"),
        ({"memberships": "posterior", "tol": 0.1}, "tol has no effect: the probabilities are returned as"),
        ({"bandwidths": 2.0, "n_starts": 2}, "n_starts has no effect: bandwidths are given"),
    ],
)
def test_settings_that_contradict_each_other_are_named(parameters, message, X):
    with pytest.warns(IgnoredParameterWarning, match=message):
        KFRC(3, **({"n_starts": 1, "random_state": 0} | parameters)).fit(X)


def test_missing_acts_where_something_is_missing(X):
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    frame["c"] = pd.Categorical(np.where(frame.c > 0, "up", "down")).remove_unused_categories()
    frame.loc[[3, 20], "c"] = None
    fits = {how: KFRC(3, bandwidths=1.0, m=1.5, missing=how, random_state=0) for how in ("partial", "level")}
    objectives = {how: model.fit(frame).objective_ for how, model in fits.items()}
    assert objectives["partial"] != objectives["level"]
    with pytest.raises(ValueError, match=r"2 value\(s\) are missing, the first in row 3: 'c' \(2\)"):
        KFRC(3, missing="error").fit(frame)


def test_a_failed_fit_leaves_nothing_behind(X):
    model = KFRC(3, level=1.0, n_starts=1, random_state=0).fit(X)
    model.set_params(threshold=0.99)
    with pytest.raises(ValueError, match="lambda_1"):
        model.fit(X[:, :2])
    assert {name for name in vars(model) if not name.startswith("_skl")} == set(model.get_params())
    with pytest.raises(Exception, match="not fitted"):
        model.predict(X)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"memberships": "posterior", "bandwidths": 2.0}, "needs an automatic choice"),
        ({"memberships": "posterior", "judge": First()}, "judge with a model for probabilities, which First has not"),
        ({"memberships": "calibrated"}, 'must be "fuzzy" or "posterior"'),
        ({"memberships": "posterior", "optimizer": "momentum"}, "the momentum optimizer chooses nothing"),
        ({"approximation": "sparse"}, "unknown approximation 'sparse'"),
        ({"rank": -1}, "rank must be at least 1"),
        ({"search_samples": "all"}, "search_samples must be an integer"),
        ({"selection_samples": 2}, "too few to choose 3 clusters by"),
        ({"n_clusters": "auto", "selection_samples": 2}, "at least 3 different rows, got 10 and 2$"),
        ({"n_clusters": "auto", "bandwidths": [1.0, 2.0]}, "one entry per feature"),
        ({"n_clusters": "auto", "init": np.eye(3)}, "init must have 45 rows"),
        ({"n_clusters": "auto", "init": "nowhere"}, "unknown start 'nowhere'"),
        ({"level": "high"}, "level must be a number"),
        ({"tol": -1.0}, "tol must be >= 0"),
    ],
)
def test_what_cannot_work_is_refused_before_any_work(parameters, message, X, monkeypatch):
    monkeypatch.setattr(Problem, "evaluate", lambda *args: pytest.fail("worked"))
    with pytest.raises((ValueError, TypeError), match=message):
        KFRC(**parameters).fit(gram(X) if parameters.get("kernel") == "precomputed" else X)


def test_everything_describes_the_memberships_that_are_returned(X):
    fuzzy = KFRC(3, n_starts=1, random_state=0).fit(X)
    model = KFRC(3, memberships="posterior", n_starts=1, random_state=0).fit(X)
    np.testing.assert_allclose(model.memberships_, fuzzy.posterior_memberships_, rtol=0, atol=1e-12)
    weights = model.fuzzifier_.value(model.memberships_)
    distances = np.square(model.transform(X))
    assert model.objective_ == pytest.approx((weights * distances).sum(), rel=1e-9)
    assert model.objective_ > fuzzy.objective_, "only the fuzzy memberships minimize it"
    assert model.score(X) == pytest.approx(-model.objective_, rel=1e-9)
    assert model.objective_path_.tolist() == [model.objective_]
    assert model.n_iter_ == 0
    centers = weights / weights.sum(axis=0)
    K = model.kernel_.shifted(*2 * [(X - X.mean(0)) / X.std(0, ddof=1)], np.exp(model.log_bandwidths_))
    expected = np.diagonal(K)[:, None] - 2 * K @ centers + np.einsum("ji,jk,ki->i", centers, K, centers)
    np.testing.assert_allclose(distances, expected, rtol=0, atol=1e-9)
