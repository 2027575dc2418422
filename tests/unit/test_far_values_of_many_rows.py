"""Values far outside the bulk of long tables: bounded degrees, and the clusters of the others, also in blocks."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from kfrc import KFRC
from kfrc.exceptions import OutlierWarning
from kfrc.metrics import adjusted_rand_score

MOST_POLYNOMIALS = 80
"""At level 0, whatever the data."""

IN_MEMORY, IN_BLOCKS = 6_000, 21_000


def clusters(n_rows):
    rng = np.random.default_rng(0)
    means = 2.5 * rng.standard_normal((3, 5))
    labels = rng.integers(3, size=n_rows)
    return means[labels] + rng.standard_normal((n_rows, 5)), labels, rng


def some_times(factor):
    def make(X, rng):
        far = rng.choice(len(X), len(X) // 1000, replace=False)
        X[far] *= factor
        return X, far

    return make


def huge(n_values):
    def make(X, rng):
        far = rng.choice(len(X), n_values, replace=False)
        X[far, 2] = 1e300 * rng.choice([-1.0, 1.0], n_values)
        return X, far

    return make


def cauchy(X, rng):
    return np.column_stack([X, rng.standard_cauchy((len(X), 2))]), np.empty(0, dtype=int)


CASES = {"x30": some_times(30), "x1000": some_times(1000), "1e300": huge(1), "20 x 1e300": huge(20), "cauchy": cauchy}


def fitted(X, **settings):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", OutlierWarning)
        return KFRC(3, random_state=0, **{"selection_samples": 500, **settings}).fit(X)


@pytest.fixture(scope="module", params=[IN_MEMORY, IN_BLOCKS], ids=["memory", "blocks"])
def clean(request):
    X, labels, rng = clusters(request.param)
    return X, labels, rng, fitted(X)


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
def test_the_clusters_of_the_other_rows_are_those_without_far_values(case, clean):
    X, labels, rng, without = clean
    Y, far = CASES[case](X.copy(), rng)
    others = np.setdiff1d(np.arange(len(X)), far)
    model = fitted(Y)
    here, there = (adjusted_rand_score(labels[others], m.labels_[others]) for m in (model, without))
    assert abs(here - there) <= 0.01
    assert model.outliers_ is not None
    assert np.isfinite(model.memberships_).all()


@pytest.mark.slow
@pytest.mark.parametrize("n_rows", [IN_MEMORY, IN_BLOCKS], ids=["memory", "blocks"])
@pytest.mark.parametrize("case", CASES)
def test_the_number_of_polynomials_is_bounded(case, n_rows):
    X, _, rng = clusters(n_rows)
    Y, _ = CASES[case](X, rng)
    given = {"level": 0.0, "max_anisotropy": 1.0, "m": 1.3, "n_init": 1, "n_starts": 1}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", OutlierWarning)
        model = KFRC(3, random_state=0, **given).fit(Y)
    assert max(len(nodes) for nodes in model._centers.centers.nodes) <= MOST_POLYNOMIALS
    assert model.approximation_error_ < 1e-10
