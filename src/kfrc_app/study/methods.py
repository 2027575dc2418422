"""What KFRC with given settings is compared with: KFRC that chooses, the paper's methods, and what a user would try."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import KMeans, SpectralClustering
from sklearn.mixture import GaussianMixture

from kfrc import FANNY, FCMMK, FRC, KFRC, MSFCM, VFCM
from kfrc_app.study.design import PAPER_FUZZIFIERS

Method = Callable[[NDArray[np.float64], int, int], NDArray[np.float64]]
"""(standardized X, number of clusters, seed) → memberships."""


def _fuzzy(make: Callable[[int, int], Any]) -> Method:
    def run(X: NDArray[np.float64], n_clusters: int, seed: int) -> NDArray[np.float64]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # collapse and slow convergence are results here
            return make(n_clusters, seed).fit(X).memberships_

    return run


def _mixture(covariance_types: tuple[str, ...]) -> Method:
    def run(X: NDArray[np.float64], n_clusters: int, seed: int) -> NDArray[np.float64]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            fits = [
                GaussianMixture(n_clusters, covariance_type=kind, n_init=5, reg_covar=1e-4, random_state=seed).fit(X)
                for kind in covariance_types
            ]
        return min(fits, key=lambda fit: fit.bic(X)).predict_proba(X)

    return run


def _crisp(make: Callable[[int, int], Any]) -> Method:
    def run(X: NDArray[np.float64], n_clusters: int, seed: int) -> NDArray[np.float64]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return np.eye(n_clusters)[make(n_clusters, seed).fit_predict(X)]

    return run


STUDY_MAX_ITER = 200
"""Iterations of the compared methods, as the paper states."""


def _relational(fuzzifier: str) -> Method:
    return _fuzzy(
        lambda c, seed: FRC(c, fuzzifier=fuzzifier, init="random", n_init=1, max_iter=STUDY_MAX_ITER, random_state=seed)
    )


METHODS: dict[str, Method] = {
    "automatic KFRC": _fuzzy(lambda c, seed: KFRC(c, random_state=seed)),
    **{f"FRC ({name})": _relational(name) for name in PAPER_FUZZIFIERS},
    "FANNY (euclidean)": _fuzzy(lambda c, seed: FANNY(c, metric="euclidean", max_iter=STUDY_MAX_ITER)),
    "FANNY (manhattan)": _fuzzy(lambda c, seed: FANNY(c, metric="manhattan", max_iter=STUDY_MAX_ITER)),
    "FCM-MK": _fuzzy(lambda c, seed: FCMMK(c, init="random", n_init=1, max_iter=STUDY_MAX_ITER, random_state=seed)),
    "MSFCM": _fuzzy(lambda c, seed: MSFCM(c, init="random", n_init=1, max_iter=STUDY_MAX_ITER, random_state=seed)),
    "vFCM": _fuzzy(lambda c, seed: VFCM(c, init="random", n_init=1, max_iter=STUDY_MAX_ITER, random_state=seed)),
    "GaussianMixture (tied)": _mixture(("tied",)),
    "GaussianMixture (best BIC)": _mixture(("full", "tied", "diag", "spherical")),
    "KMeans": _crisp(lambda c, seed: KMeans(c, n_init=10, random_state=seed)),
    "SpectralClustering": _crisp(lambda c, seed: SpectralClustering(c, random_state=seed, assign_labels="cluster_qr")),
}
