from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import kfrc
from kfrc import FRC, KFRC
from kfrc_app.facts import comparison
from kfrc_app.facts.comparison import compare_methods, methods


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    labels = np.repeat([0, 1, 2], 20)
    return pd.DataFrame(rng.normal(size=(60, 2)) + 6 * np.eye(3)[labels][:, :2], columns=["a", "b"]), labels


def test_methods_are_those_that_the_library_exports():
    names = [method.__name__ for method in methods()]
    assert names[0] == "KFRC"
    assert len(set(names)) == len(names)
    assert set(names) <= set(kfrc.__all__)


def test_every_method_finds_clear_clusters(table):
    data, labels = table
    for result in compare_methods(data, 3, labels=labels):
        assert result.status in ("converged", "max_iter"), result
        assert result.adjusted_rand > 0.9, result
        assert 0 <= result.uniformity <= 1
        assert result.fuzzy_silhouette > 0.5


def test_units_do_not_matter(table):
    data, _ = table
    first = compare_methods(data, 3)
    second = compare_methods(data * [1e3, 1e-3], 3)
    for one, other in zip(first, second, strict=True):
        assert one.uniformity == pytest.approx(other.uniformity, abs=1e-5), one.method


def test_a_method_that_fails_does_not_stop_the_others(table, monkeypatch):
    def fail(self, X, y=None):
        raise ValueError("cannot be done")

    monkeypatch.setattr(FRC, "fit", fail)
    monkeypatch.setattr(comparison, "methods", lambda: (KFRC, FRC))
    ours, failed = compare_methods(table[0], 3)
    assert ours.status == "converged"
    assert (failed.status, failed.notes) == ("failed", ("cannot be done",))
    assert failed.uniformity is None


def test_silhouettes_of_many_rows_are_sampled(table, monkeypatch):
    monkeypatch.setattr(comparison, "MAX_SILHOUETTE_ROWS", 30)
    monkeypatch.setattr(comparison, "methods", lambda: (FRC,))
    (result,) = compare_methods(table[0], 3)
    assert result.fuzzy_silhouette > 0.5


def test_methods_are_announced_and_prepared(table, monkeypatch):
    monkeypatch.setattr(comparison, "methods", lambda: (FRC,))
    seen = []
    compare_methods(table[0], 3, observe=seen.append, prepare=lambda model: model.set_params(n_init=1))
    assert seen == ["FRC"]
