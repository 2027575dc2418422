"""scikit-learn's callbacks stand behind one module, and everything but them works with a scikit-learn that has none."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn.exceptions import FitFailedWarning
from sklearn.model_selection import GridSearchCV

import kfrc
from kfrc import FCM, KFRC, _callbacks
from kfrc._callbacks import NobodyListens, NoCallbackSupport, set_callbacks, without_callbacks
from kfrc.clusterers._fit_tasks import FitTasks

SOURCES = Path(kfrc.__file__).parents[1]

# A scikit-learn without callbacks: its own modules have theirs already, what is imported from now on finds none.
OLDER = """
import sys, warnings
import numpy as np
import sklearn, sklearn.cluster, sklearn.mixture, sklearn.datasets
vars(sklearn).pop("callback", None)
sys.modules["sklearn.callback"] = None
from kfrc import FCM, KFRC
from kfrc.confidence import assess
from kfrc_app.runs import FitProgress

X = np.array({data})
"""
X = np.random.default_rng(0).normal(size=(40, 2)) + np.repeat([[0.0], [9.0]], 20, axis=0)


PARTS = {
    "fit": "print(KFRC(2, random_state=0).fit(X).memberships_.tolist())",
    "verbose": "FCM(2, n_init=2, random_state=0, verbose=1).fit(X)",
    "assessed": """
model = FitProgress(None, "clustering").attach(FCM(2, random_state=0)).fit(X)
print(len(assess(model, X, n_refits=2, existence=False, random_state=0).agreements))
""",
    "warned": """
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    FCM(2, max_iter=1, random_state=0).fit(X)
print([warning.filename for warning in caught])
""",
}
NEXT = "=== next ===\n"


@pytest.fixture(scope="module")
def printed():
    """What each part prints without callbacks; one process for all."""
    code = OLDER.format(data=X.tolist()) + f"\nprint({NEXT!r}, end='')\n".join(PARTS.values())
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return dict(zip(PARTS, done.stdout.split(NEXT), strict=True))


def test_one_module_imports_the_callbacks_of_scikit_learn():
    importing = re.compile(r"^\s*(from|import) sklearn(\.| import )callback", re.MULTILINE)
    found = [path.name for path in SOURCES.rglob("*.py") if importing.search(path.read_text(encoding="utf-8"))]
    assert found == ["_callbacks.py"]


@pytest.mark.slow
def test_without_callbacks_a_fit_is_the_same(printed):
    expected = KFRC(2, random_state=0).fit(X).memberships_.tolist()
    assert printed["fit"] == f"{expected}\n"


@pytest.mark.slow
def test_without_callbacks_verbose_tells_of_the_same_parts(printed):
    assert printed["verbose"] == "FCM: clustering 1/2\nFCM: clustering 2/2\n"


@pytest.mark.slow
def test_without_callbacks_models_are_assessed_and_bars_stay_away(printed):
    assert printed["assessed"] == "2\n"


@pytest.mark.slow
def test_without_callbacks_a_warning_points_at_the_line_that_fits(printed):
    assert printed["warned"] == "['<string>']\n"


class Older(NoCallbackSupport):
    @without_callbacks
    def fit(self, X):
        """Fit."""
        return X


def test_an_estimator_without_callbacks_says_which_scikit_learn_has_them():
    assert not hasattr(Older(), "set_callbacks")
    with pytest.raises(AttributeError, match=r"'Older' object has no attribute 'set_callbacks'.* 1\.9 .*verbose=1"):
        Older().set_callbacks()


def test_the_wrapped_method_keeps_its_name_and_result():
    assert Older().fit(3) == 3
    assert (Older.fit.__name__, Older.fit.__doc__) == ("fit", "Fit.")


def test_a_task_of_which_nobody_is_told_takes_what_a_fit_tells():
    tasks = FitTasks.begin(Older(), 2, verbose=0)
    assert isinstance(tasks.context, NobodyListens)
    assert tasks.follower is None
    tasks.finish("a part")
    tasks.end()


def test_setting_callbacks_of_an_older_scikit_learn_leaves_the_model_alone(monkeypatch):
    monkeypatch.setattr(_callbacks, "SUPPORTED", False)
    model = FCM(2)
    assert set_callbacks(model, object()) is model
    assert "_skl_callbacks" not in vars(model)


@pytest.mark.parametrize("error_score", [-1.0, "raise"])
def test_a_fit_that_fails_inside_a_search_fails_with_its_own_words(error_score):
    X = np.random.default_rng(0).standard_normal((30, 2))
    search = GridSearchCV(FCM(random_state=0), {"n_clusters": [2, 99]}, error_score=error_score, cv=2)
    if error_score == "raise":
        with pytest.raises(ValueError, match="should be >= n_clusters=99"):
            search.fit(X)
    else:
        with pytest.warns(FitFailedWarning, match="should be >= n_clusters=99"):
            search.set_params(refit=False).fit(X)
        assert search.cv_results_["mean_test_score"][1] == error_score
