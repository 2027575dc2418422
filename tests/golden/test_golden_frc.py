"""Memberships, iterations and objectives of relational clustering against the reference implementation in R."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.spatial.distance import cdist

from kfrc.kernels import Kernel
from kfrc.relational import solve_relational

N_CLUSTERS = 3
NAMES = {"power": "power", "crt": "complementary_root", "exp": "exponential", "quad": "quadratic"}
DISSIMILARITIES = ["sqeuclid"] + [f"{k}_{b}" for k in ("sum", "product") for b in ("iso1", "lognormal", "aniso")]
EXACT = [f"{d}__{f}" for d in DISSIMILARITIES for f in ("power", "crt")]
CLIPPED = [f"{d}__{f}" for d in DISSIMILARITIES for f in ("exp", "quad")]
SHARED = Path(__file__).parents[3] / "shared" / "oracles"


def dissimilarities(X, name, bandwidths):
    if name == "sqeuclid":
        return cdist(X, X, "sqeuclidean")
    return -2.0 * Kernel.from_name(name.split("_")[0]).shifted_gram(X, bandwidths)


@pytest.fixture(scope="module")
def oracle(golden_arrays, golden_scalars, scaled):
    arrays, scalars = golden_arrays("frc_oracle"), golden_scalars("frc_oracle")
    spectra = golden_arrays("spectrum_oracle")

    def case(dataset, group, name):
        record = scalars[dataset][group][name]
        kind = record["dissimilarity"]
        R = dissimilarities(scaled[dataset], kind, spectra.get(f"{dataset}__{kind}__bw"))
        return R, arrays[f"{dataset}__U_init"], arrays.get(f"{dataset}__{name}__U_tight"), record

    return case


@cache
def _read_seeds():
    with np.load(SHARED / "frc" / "seeds.npz") as source:
        arrays = dict(source)
    with np.load(SHARED / "kernel_spectrum" / "seeds.npz") as source:
        spectra = dict(source)
    exact = json.loads((SHARED / "frc" / "seeds.json").read_text())["cases"]
    clipped = json.loads((SHARED / "frc" / "seeds_clip_renorm.json").read_text())["cases"]
    return arrays, spectra, {"exact": exact, "clip_renorm": clipped}


@pytest.fixture
def seeds_oracle(shared):
    arrays, spectra, scalars = _read_seeds()

    def case(group, name):
        record = scalars[group][name]
        kind = record["dissimilarity"]
        R = dissimilarities(spectra["X_scaled"], kind, spectra.get(f"{kind}__bw"))
        return R, arrays["U_init"], arrays.get(f"{name}__U_tight"), record

    return case


def assert_path_never_rises(solution):
    path = solution.objective_path
    assert len(path) == solution.n_iter + 1
    assert np.all(np.diff(path) <= 1e-12 * np.abs(path[:-1]))


def assert_solution_agrees(R, U_init, U_tight, record):
    fuzzifier = NAMES[record["fuzzifier"]]
    usual = solve_relational(R, N_CLUSTERS, fuzzifier, init=U_init, max_iter=1000, tol=1e-6)
    if usual.status == "collapsed":
        # Near uniformity a slow step says nothing, so the solver goes on where the reference stops.
        assert usual.n_iter >= record["iter"]
    else:
        assert usual.n_iter == record["iter"]
        assert (usual.status == "max_iter") == (not record["converged"])
    assert usual.objective == pytest.approx(record["objective"], rel=1e-10)
    tight = solve_relational(R, N_CLUSTERS, fuzzifier, init=U_init, max_iter=20_000, tol=1e-11)
    if tight.status != "collapsed":
        assert abs(tight.n_iter - record["tight"]["iter"]) <= 1  # the last step is compared with rounding
    assert_allclose(tight.memberships, U_tight, rtol=0, atol=1e-7)
    assert int((usual.memberships == 0).sum()) == record["n_exact_zeros"]
    assert_path_never_rises(tight)


def assert_objective_is_not_above(R, U_init, record):
    fuzzifier = NAMES[record["fuzzifier"]]
    solution = solve_relational(R, N_CLUSTERS, fuzzifier, init=U_init, max_iter=20_000, tol=1e-11)
    reference = record["tight"]["objective"]
    assert solution.objective <= reference + 1e-10 * abs(reference)
    assert_path_never_rises(solution)


@pytest.mark.parametrize("dataset", ["iris", "wine"])
@pytest.mark.parametrize("case", EXACT)
def test_memberships_iterations_and_objective_equal_the_reference(oracle, dataset, case):
    assert_solution_agrees(*oracle(dataset, "exact", case))


@pytest.mark.parametrize("dataset", ["iris", "wine"])
@pytest.mark.parametrize("case", CLIPPED)
def test_exact_step_ends_no_higher_than_clipping_and_renormalizing(oracle, dataset, case):
    R, U_init, _, record = oracle(dataset, "clip_renorm", case)
    assert_objective_is_not_above(R, U_init, record)


def test_exact_step_ends_strictly_lower_where_the_clip_was_active(oracle):
    R, U_init, _, record = oracle("iris", "clip_renorm", "sqeuclid__exp")
    solution = solve_relational(R, N_CLUSTERS, "exponential", init=U_init, tol=1e-11, max_iter=20_000)
    assert solution.objective < record["tight"]["objective"] - 1.0


@pytest.mark.parametrize("case", EXACT)
def test_memberships_on_seeds_equal_the_reference(seeds_oracle, case):
    assert_solution_agrees(*seeds_oracle("exact", case))


@pytest.mark.parametrize("case", CLIPPED)
def test_exact_step_on_seeds_ends_no_higher_than_clipping(seeds_oracle, case):
    R, U_init, _, record = seeds_oracle("clip_renorm", case)
    assert_objective_is_not_above(R, U_init, record)
