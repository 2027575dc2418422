from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import kfrc
from kfrc import FRC, KFRC
from kfrc_app.facts import comparison
from kfrc_app.facts.comparison import compare_methods, methods
from kfrc_app.facts.peers import PEERS, Peer, gaussian_mixture


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
        assert result.status in ("converged", "max_iter", "done"), result
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
    monkeypatch.setattr(comparison, "installed_peers", tuple)
    ours, failed = compare_methods(table[0], 3)
    assert ours.status == "converged"
    assert (failed.status, failed.notes) == ("failed", ("cannot be done",))
    assert failed.uniformity is None


def test_silhouettes_of_many_rows_are_sampled(table, monkeypatch):
    monkeypatch.setattr(comparison, "MAX_SILHOUETTE_ROWS", 30)
    monkeypatch.setattr(comparison, "methods", lambda: (FRC,))
    monkeypatch.setattr(comparison, "installed_peers", tuple)
    (result,) = compare_methods(table[0], 3)
    assert result.fuzzy_silhouette > 0.5


def test_methods_are_announced_and_prepared(table, monkeypatch):
    monkeypatch.setattr(comparison, "methods", lambda: (FRC,))
    seen = []
    compare_methods(table[0], 3, observe=seen.append, prepare=lambda model: model.set_params(n_init=1))
    assert seen == ["FRC", "KMeans (scikit-learn)", "GaussianMixture (scikit-learn)"]


@pytest.fixture(scope="module")
def mixed():
    """Two groups that differ in a number and a color, with gaps."""
    rng = np.random.default_rng(0)
    group = np.repeat([0, 1], 20)
    color = np.array(["red", "blue"], dtype=object)[group]
    color[::7] = None
    x = 5.0 * group + rng.normal(size=40)
    x[3] = np.nan
    return pd.DataFrame({"x": x, "color": pd.Categorical(color), "y": rng.normal(size=40)}), group


@pytest.mark.slow
def test_mixed_tables_are_given_to_each_method_as_it_takes_them(mixed):
    data, labels = mixed
    for result in compare_methods(data, 2, labels=labels):
        assert result.status in ("converged", "max_iter", "done"), result
        assert result.adjusted_rand > 0.8, result
        assert result.fuzzy_silhouette > 0.3
    treatments = {result.method: result.treatment for result in compare_methods(data, 2)}
    assert treatments["KFRC"] == comparison.AS_IT_IS
    assert treatments["FRC"] == treatments["FANNY"] == comparison.GOWER
    assert treatments["MSFCM"] == comparison.ENCODED


def test_a_weight_is_a_number_of_rows(mixed, monkeypatch):
    monkeypatch.setattr(comparison, "methods", lambda: (kfrc.MSFCM, FRC))
    data, labels = mixed
    weights = np.random.default_rng(0).integers(1, 4, len(data)).astype(float)
    rows = np.repeat(np.arange(len(data)), weights.astype(int))
    heavy = compare_methods(data, 2, labels=labels, weights=weights)
    many = compare_methods(data.iloc[rows].reset_index(drop=True), 2, labels=labels[rows])
    for one, other in zip(heavy, many, strict=True):
        assert one.adjusted_rand == pytest.approx(other.adjusted_rand)
        assert one.partition_coefficient == pytest.approx(other.partition_coefficient, abs=1e-4)
        assert one.fuzzy_silhouette == pytest.approx(other.fuzzy_silhouette, abs=1e-3)


def test_a_method_that_knows_no_weights_gets_no_copies_without_end(table):
    data, _ = table
    with pytest.raises(ValueError, match="more than 1,000,000"):
        gaussian_mixture(data, 3, 0, np.full(len(data), 2e5))


def peer(memberships):
    return Peer("another (package)", "package", "as it is", memberships)


def test_methods_of_other_packages_come_last_if_they_are_installed(mixed, monkeypatch):
    data, labels = mixed
    monkeypatch.setattr(comparison, "methods", lambda: (kfrc.MSFCM,))
    found = peer(lambda data, n_clusters, seed, weights: np.eye(n_clusters)[labels])
    monkeypatch.setattr(comparison, "installed_peers", lambda: (found,))
    _, theirs = compare_methods(data, 2, labels=labels)
    assert (theirs.method, theirs.status, theirs.adjusted_rand) == ("another (package)", "done", 1.0)
    assert comparison.n_compared(data) == 2
    assert len(compare_methods(data[["x", "y"]].fillna(0.0), 2)) == 1  # it is not made for complete numbers


@pytest.mark.parametrize("kind", ["raises", "returns NaN"])
def test_a_package_that_fails_does_not_stop_the_others(mixed, monkeypatch, kind):
    def fail(data, n_clusters, seed, weights):
        if kind == "raises":
            raise RuntimeError("cannot be done")
        return np.full((len(data), n_clusters), np.nan)

    monkeypatch.setattr(comparison, "methods", lambda: (kfrc.MSFCM,))
    monkeypatch.setattr(comparison, "installed_peers", lambda: (peer(fail),))
    ours, theirs = compare_methods(mixed[0], 2)
    assert ours.status == "converged"
    assert theirs.status == "failed"
    assert theirs.notes == ("cannot be done" if kind == "raises" else "it returned memberships that are no numbers",)


@pytest.mark.parametrize("found", PEERS, ids=lambda found: found.package)
def test_the_packages_that_are_installed_find_clear_groups(mixed, found):
    pytest.importorskip(found.package)
    data, labels = mixed
    U = found.memberships(data, 2, 0, None)
    np.testing.assert_allclose(U.sum(axis=1), 1)
    assert max((U.argmax(axis=1) == labels).mean(), (U.argmax(axis=1) != labels).mean()) > 0.9
