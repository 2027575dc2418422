"""Memberships, centers and paths of FCM-MK, MSFCM and vFCM against the reference implementation in R.

``baselines_oracle.npz`` and ``.json`` hold the iris and wine cases of the oracle: functions fcm_mk, msfcm and vfcm of
KFRC_Sims at commit 65782bfa, R 4.2.2, standardized columns, two given starts (A: normalized uniforms, B: normalized
exponentials; seeds 101 and 102). ``python tests/golden/test_golden_baselines.py [folder]`` copies them from a folder of
oracles; seeds is read from there directly and skipped without it.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

from kfrc.clusterers.fcm_mk import FCMMK
from kfrc.clusterers.msfcm import MSFCM
from kfrc.clusterers.vfcm import VFCM

HERE = Path(__file__).parent
DATASETS = ("iris", "wine")
ESTIMATORS = {
    "fcm_mk": FCMMK(3, m=2, n_kernels=4, n_init=1, max_iter=100, tol=1e-5),
    "msfcm": MSFCM(3, m=2, n_init=1, max_iter=200, tol=1e-6),
    "vfcm": VFCM(3, m0=2, a=0.95, b=0.05, every=2, min_m=1.01, n_init=1, max_iter=200, tol=1e-6),
}
PATHS = {"fcm_mk": ("W", "sigmas", "J"), "msfcm": ("filter_rate",), "vfcm": ("m_history",)}
CASES = [f"{method}__{start}" for method in ESTIMATORS for start in "AB"]


def copy_oracles(folder: Path) -> None:
    arrays, scalars = {}, {}
    for dataset in DATASETS:
        scalars[dataset] = json.loads((folder / "baselines" / f"{dataset}.json").read_text())["cases"]
        with np.load(folder / "baselines" / f"{dataset}.npz") as source:
            arrays |= {f"{dataset}__{key}": source[key] for key in source}
    np.savez_compressed(HERE / "baselines_oracle.npz", **arrays)
    (HERE / "baselines_oracle.json").write_text(json.dumps(scalars, indent=1) + "\n")


def assert_fit_agrees(X, case, arrays, record):
    method, start = case.split("__")
    fit = ESTIMATORS[method].set_params(init=arrays[f"U_init_{start}"]).fit(X)
    assert record["converged"]  # all cases of the oracle did; others would be compared at 1e-3
    assert fit.status_ == "converged"
    assert fit.n_iter_ == record["iter"]
    assert_allclose(fit.memberships_, arrays[f"{case}__U"], rtol=0, atol=1e-10)
    assert_allclose(fit.cluster_centers_, arrays[f"{case}__V"], rtol=0, atol=1e-10)
    assert fit.objective_ == pytest.approx(record["J_final" if method == "fcm_mk" else "J_fuzzy"], rel=1e-12)
    ours = {
        "fcm_mk": lambda: (fit.kernel_weights_, fit.sigmas_, fit.objective_path_[1:]),
        "msfcm": lambda: (fit.filter_rates_,),
        "vfcm": lambda: (fit.m_path_,),
    }[method]()
    for quantity, values in zip(PATHS[method], ours, strict=True):
        assert_allclose(values, arrays[f"{case}__{quantity}"], rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("dataset", DATASETS)
@pytest.mark.parametrize("case", CASES)
def test_fit_equals_the_reference(golden_arrays, golden_scalars, scaled, dataset, case):
    arrays = {
        key.removeprefix(f"{dataset}__"): values
        for key, values in golden_arrays("baselines_oracle").items()
        if key.startswith(dataset)
    }
    assert_fit_agrees(scaled[dataset], case, arrays, golden_scalars("baselines_oracle")[dataset][case])


@pytest.mark.parametrize("case", CASES)
def test_fit_on_seeds_equals_the_reference(shared, case):
    with np.load(shared / "oracles" / "kernel_spectrum" / "seeds.npz") as source:
        X = source["X_scaled"]
    with np.load(shared / "oracles" / "baselines" / "seeds.npz") as source:
        arrays = dict(source)
    record = json.loads((shared / "oracles" / "baselines" / "seeds.json").read_text())["cases"][case]
    assert_fit_agrees(X, case, arrays, record)


if __name__ == "__main__":
    copy_oracles(Path(sys.argv[1]) if len(sys.argv) > 1 else HERE.parents[2] / "shared" / "oracles")
