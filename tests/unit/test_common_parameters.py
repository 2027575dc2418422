"""What every estimator takes alike: names of columns, a seed, a number of processes, rows of which nothing is known."""

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import ConvergenceWarning

from kfrc import FCM, KFRC, MissingRowWarning, indices
from kfrc._validation import check_n_jobs
from kfrc.confidence import assess
from strategies import CLUSTERERS

FIXED = {"m": 1.5, "level": 1.0, "max_anisotropy": 5.0, "n_starts": 1}


@pytest.fixture(scope="module")
def X():
    return np.repeat([[0.0, 0.0], [6.0, 5.0]], 8, axis=0) + np.random.default_rng(0).normal(size=(16, 2))


@pytest.mark.parametrize("cls", CLUSTERERS)
def test_columns_of_the_same_name_are_refused_in_the_same_words(cls, X):
    with pytest.raises(ValueError, match="names of columns must differ, but 'x' appears more than once"):
        cls(2).fit(pd.DataFrame(X, columns=["x", "x"]))


@pytest.mark.parametrize("seed", ["x", 1.5, -1, b"a", {}, np.nan, object])
@pytest.mark.parametrize("model", [FCM(2), KFRC(2, **FIXED)], ids=["FCM", "KFRC"])
def test_what_is_no_seed_is_refused_by_name(model, seed, X):
    with pytest.raises(ValueError, match="random_state must be None, an integer"):
        type(model)(**{**model.get_params(), "random_state": seed}).fit(X)


@pytest.mark.parametrize("n_jobs", ["x", 0, 1.5, True, {}, np.nan])
def test_what_is_no_number_of_processes_is_refused_by_name(n_jobs, X):
    model = KFRC(2, **FIXED, random_state=0)
    with pytest.raises(ValueError, match="n_jobs must be None or an integer other than 0"):
        KFRC(2, **FIXED, n_jobs=n_jobs).fit(X)
    with pytest.raises(ValueError, match="n_jobs must be"):
        assess(model.fit(X), X, n_refits=1, n_jobs=n_jobs)
    with pytest.raises(ValueError, match="n_jobs must be"):
        indices(X, [2], n_jobs=n_jobs)


def test_no_more_processes_are_started_than_could_be_of_use():
    most = max(8, joblib.cpu_count())
    assert check_n_jobs(10**30) == check_n_jobs(most + 1) == most
    assert check_n_jobs(np.int64(2)) == 2
    assert check_n_jobs(-1) == -1
    assert check_n_jobs(None) is None
    assert joblib.effective_n_jobs(check_n_jobs(-(10**30))) == 1


def test_the_label_of_a_row_of_which_nothing_is_known_is_the_first_of_its_equal_memberships():
    values = np.repeat([[-1.0, -2.0], [9.0, 7.0], [np.nan, np.nan], [-1.0, 5.0]], [3, 3, 1, 2], axis=0)
    with pytest.warns(MissingRowWarning), pytest.warns(ConvergenceWarning, match="fewer than n_clusters"):
        model = KFRC(5, **FIXED, kernel="product", init="near_uniform", random_state=0).fit(values)
    assert np.array_equal(model.labels_, model.memberships_.argmax(axis=1))
