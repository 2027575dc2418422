"""FANNY against fanny of the R package cluster 2.1.8.2 (maxit = 500, tol = 1e-15, default start) on scaled columns.

``fanny_oracle.json`` and ``.npz`` hold its memberships, clusters and objectives for iris and wine; seeds are read from
``../shared`` beside the repository. Iteration counts are not compared: at a tolerance of 1e-15 they are rounding.
"""

from __future__ import annotations

import json
import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import ConvergenceWarning

from kfrc import UniformCollapseWarning
from kfrc.clusterers.fanny import FANNY

CASES = [f"{metric}__r{m}" for metric in ("euclidean", "manhattan", "SqEuclidean") for m in ("1.3", "1.5", "2.0")]


def assert_agrees(X, record, memberships, clustering, solver):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UniformCollapseWarning)
        warnings.simplefilter("ignore", ConvergenceWarning)
        fit = FANNY(3, m=record["memb_exp"], metric=record["metric"].lower(), solver=solver).fit(X)
    assert_allclose(fit.memberships_, memberships, rtol=0, atol=1e-6)
    # Where R ran out of iterations, its objective carries the rounding of 500 sweeps.
    assert fit.objective_ == pytest.approx(record["objective"], rel=1e-10 if record["converged"] else 1e-9)
    assert fit.dunn_coefficient_ == pytest.approx(record["dunn_coeff"], abs=1e-7)
    assert fit.normalized_dunn_coefficient_ == pytest.approx(record["dunn_normalized"], abs=1e-7)
    collapsed = any("very close to 1/k" in text for text in record["warnings"])
    assert (fit.status_ == "collapsed") == collapsed
    if not collapsed:
        assert_array_equal(fit.labels_ + 1, clustering)


@pytest.mark.parametrize("solver", ["sweep", "batch"])
@pytest.mark.parametrize("dataset", ["iris", "wine"])
@pytest.mark.parametrize("case", CASES)
def test_memberships_objective_and_coefficients_equal_those_of_r(
    golden_arrays, golden_scalars, scaled, dataset, case, solver
):
    arrays = golden_arrays("fanny_oracle")
    record = golden_scalars("fanny_oracle")[dataset][case]
    memberships, clustering = (arrays[f"{dataset}__{case}__{name}"] for name in ("membership", "clustering"))
    assert_agrees(scaled[dataset], record, memberships, clustering, solver)


@pytest.mark.parametrize("solver", ["sweep", "batch"])
@pytest.mark.parametrize("case", CASES)
def test_results_on_seeds_equal_those_of_r(shared, case, solver):
    with np.load(shared / "oracles" / "kernel_spectrum" / "seeds.npz") as source:
        X = source["X_scaled"]
    record = json.loads((shared / "oracles" / "fanny" / "seeds.json").read_text())["cases"][case]
    with np.load(shared / "oracles" / "fanny" / "seeds.npz") as source:
        assert_agrees(X, record, source[f"{case}__membership"], source[f"{case}__clustering"], solver)
