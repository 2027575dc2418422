"""Linear algebra has one thread where matrices are small, and the number it had before once that is over."""

from __future__ import annotations

from importlib import import_module
from typing import ClassVar

import numpy as np
import pytest
from sklearn.cluster import KMeans
from threadpoolctl import threadpool_info, threadpool_limits

from kfrc import FRC, KFRC
from kfrc._threads import MANY_ROWS, threads_for
from kfrc.bandwidth import explore_bandwidths, select_bandwidths
from kfrc.confidence import assess
from kfrc.existence import test_existence
from kfrc.fuzzifiers import ComplementaryRoot


def counts() -> set[int]:
    return {library["num_threads"] for library in threadpool_info()}


@pytest.fixture(autouse=True)
def two_threads():
    with threadpool_limits(2):
        if counts() != {2}:
            pytest.skip("a library here cannot have two threads")
        yield


class Watching(ComplementaryRoot):
    """A fuzzifier that remembers how many threads there were."""

    seen: ClassVar[set[int]] = set()

    def memberships(self, distances):
        self.seen.update(counts())
        return super().memberships(distances)


def test_few_rows_have_one_thread_and_many_keep_theirs():
    with threads_for(MANY_ROWS - 1):
        assert counts() == {1}
    assert counts() == {2}
    with threads_for(MANY_ROWS):
        assert counts() == {2}
        with threads_for(10):
            assert counts() == {1}
        assert counts() == {2}


def test_number_of_threads_is_restored_after_an_error():
    with pytest.raises(RuntimeError), threads_for(10):
        raise RuntimeError
    assert counts() == {2}


@pytest.mark.parametrize(
    "make",
    [
        lambda t: FRC(2, fuzzifier=t, random_state=0),
        lambda t: KFRC(2, fuzzifier=t, m=None, level=1.0, max_anisotropy=1.0, random_state=0),
    ],
    ids=["FRC", "KFRC"],
)
def test_fits_and_predictions_of_few_rows_use_one_thread(make):
    X = np.random.default_rng(0).standard_normal((60, 2)) + np.repeat([[0.0], [8.0]], 30, axis=0)
    Watching.seen.clear()
    model = make(Watching(1.5)).fit(X)
    assert Watching.seen == {1}
    Watching.seen.clear()
    model.predict(X)
    assert Watching.seen == {1}
    assert counts() == {2}


@pytest.mark.parametrize(
    ("target", "call"),
    [
        ("kfrc.existence.sequential.grouping", lambda X: test_existence(X, n_draws=2, random_state=0)),
        ("kfrc.confidence._compare", lambda X: assess(KMeans(2), X, n_refits=2, existence=False, random_state=0)),
        ("kfrc.bandwidth.exploration.run_stage1", lambda X: explore_bandwidths(X, random_state=0)),
        ("kfrc.bandwidth.search.run_stage1", lambda X: select_bandwidths(X, 2, threshold=0.2, random_state=0)),
    ],
    ids=["existence", "confidence", "exploration", "bandwidths"],
)
def test_functions_of_few_rows_use_one_thread(monkeypatch, target, call):
    module, name = target.rsplit(".", 1)
    original = getattr(import_module(module), name)
    seen: set[int] = set()

    def watching(*args):
        seen.update(counts())
        return original(*args)

    monkeypatch.setattr(target, watching)
    call(np.random.default_rng(0).standard_normal((40, 2)))
    assert seen == {1}
    assert counts() == {2}
