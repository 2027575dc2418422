"""Settings of estimators: sensible ones, extreme ones, and values that mean nothing."""

from __future__ import annotations

from typing import Any

import numpy as np

from kfrc import FANNY, FCM, FCMMK, FRC, KFRC, MSFCM, NERFCM, RFCM, VFCM

NONSENSE = [None, "x", "", -1, 0, 1.5, np.nan, np.inf, -np.inf, True, [], {}, (1, 2), b"a", object, 10**30, 1e308, "1"]

_FUZZIFIERS = ["power", "exponential", "quadratic", "complementary_root"]
_M = [1.05, 1.3, 2.0, 2.0, 3.0, 10.0, 100.0]
_EXTREME_M = [1 + 1e-15, 1.0001, 1e3, 1e6, 1e15, 1e308, 0.5, 0.999, 1e-300]
_STARTS = ["spectral", "spectral", "random", "near_uniform", "kmeans++"]
_COMMON = {"max_iter": [1, 2, 100, 1000], "tol": [1e-12, 1e-6, 1e-2, 0.0], "random_state": [0, 1]}
_STARTED = {"init": _STARTS, "n_init": [1, 2]}
_METRICS = ["sqeuclidean", "sqeuclidean", "euclidean", "cityblock", "chebyshev", "cosine", "correlation", "gower"]

SENSIBLE: dict[type, dict[str, list[Any]]] = {
    KFRC: {
        **_STARTED,
        "kernel": ["sum", "sum", "sum", "product", "path"],
        "fuzzifier": _FUZZIFIERS,
        "criterion": ["sum", "log_sum", "gap"],
        "max_anisotropy": [1.0, 3.0, 10.0, np.inf, "auto"],
        "level": [0.0, 1.0, 3.0, 3.0, "auto", None],
        "outliers": ["clip", "keep"],
        "standardize": [True, True, False],
        "missing": ["partial", "level", "error"],
        "memberships": ["fuzzy", "fuzzy", "posterior"],
        "n_starts": [1, 2],
        "approximation": ["auto", "none", "low_rank", "nystrom"],
        "optimizer": ["lbfgs", "lbfgs", "momentum"],
        "random_state": [0, 1],
        "max_iter": [2, 100],
    },
    FRC: {**_COMMON, **_STARTED, "fuzzifier": _FUZZIFIERS, "metric": _METRICS, "missing": ["partial", "error"]},
    FCM: {**_COMMON, **_STARTED, "fuzzifier": _FUZZIFIERS, "missing": ["partial", "error"]},
    FCMMK: {**_COMMON, **_STARTED, "n_kernels": [1, 2, 4], "sigmas": [None, None, [1.0, 2.0]]},
    FANNY: {**_COMMON, "metric": _METRICS, "solver": ["sweep", "sweep", "relational"]},
    MSFCM: {**_COMMON, **_STARTED, "stop_when_filtered": [True, False]},
    NERFCM: {**_COMMON, **_STARTED, "metric": _METRICS},
    RFCM: {**_COMMON, **_STARTED, "metric": _METRICS},
    VFCM: {**_COMMON, **_STARTED, "m0": [1.5, 2.0, 5.0], "a": [0.95, 0.9], "b": [0.05, 0.1], "every": [1, 2]},
}
"""Values for each parameter; a try takes some of them and leaves the others at their defaults."""

_PLAIN_M = {FANNY: [1.2, 1.5, 2.0], KFRC: [*_M, "auto", "auto"]}
_EXTREMES = {
    "m": _EXTREME_M,
    "m0": _EXTREME_M,
    "level": [-800.0, 800.0, 40.0, -40.0],
    "tol": [1e-300, 1e300],
    "max_anisotropy": [1 + 1e-12, 1e300],
    "sigmas": [[1e-300], [1e300, 1.0], [0.0]],
    "rank": [1, 2, 10**6],
    "threshold": [0.0, 0.5, 1e300],
    "selection_samples": [1, 2],
    "min_m": [1 + 1e-12, 1e300],
    "a": [0.0, 1.0, 1e300],
    "b": [0.0, 1e300, -1e300],
}
_CLUSTERS = (2, 2, 2, 3, 3, 3, 4, 4)
_COUNTS = ("n_init", "n_starts", "n_kernels")
_FREQUENCY = {KFRC: 0.22}


def draw_estimator(rng: np.random.Generator, n_samples: int) -> tuple[Any, bool]:
    """An estimator, and whether all its settings are sensible."""
    kinds = list(SENSIBLE)
    shares = np.array([_FREQUENCY.get(kind, 0.78 / (len(kinds) - 1)) for kind in kinds])
    kind = kinds[rng.choice(len(kinds), p=shares / shares.sum())]
    settings: dict[str, Any] = {"n_clusters": int(rng.choice([1, *_CLUSTERS, *_CLUSTERS, n_samples, n_samples + 2]))}
    if kind is KFRC and rng.random() < 0.06:
        settings |= {"n_clusters": "auto", "max_clusters": int(rng.integers(2, 6))}
    for name, values in SENSIBLE[kind].items():
        if rng.random() < 0.3 or name == "random_state":
            settings[name] = values[rng.integers(len(values))]
    if kind is not VFCM and rng.random() < 0.6:
        settings["m"] = _PLAIN_M.get(kind, _M)[rng.integers(len(_PLAIN_M.get(kind, _M)))]
    if settings.get("fuzzifier") == "quadratic" and "m" in settings:
        settings["m"] = float(rng.choice([0.1, 0.5, 0.9]))
    if kind is KFRC and settings["n_clusters"] != "auto" and rng.random() < 0.85:  # a choice takes a second
        settings = {"m": 2.0, "level": 1.0, "max_anisotropy": 3.0, **settings}
        settings = {
            name: 2.0 if name != "n_clusters" and value == "auto" else value for name, value in settings.items()
        }
        settings |= {"approximation": "auto"} if settings.get("approximation") == 2.0 else {}
        if settings.get("fuzzifier") == "quadratic":
            settings["m"] = 0.5
    if settings.get("optimizer") == "momentum":
        settings["n_starts"] = 1  # the paper's search makes 500 steps from each start, converged or not
    if kind is FCMMK:
        settings["n_init"] = 1  # up to 50 steps of the weights after each of up to 1000 of the memberships
    sensible = rng.random() < 0.7
    if not sensible:
        settings |= _odd_settings(kind, rng)
    return kind(**settings), sensible


def _odd_settings(kind: type, rng: np.random.Generator) -> dict[str, Any]:
    names = list(kind().get_params())
    odd = {}
    for name in rng.choice(names, int(rng.integers(1, 3)), replace=False):
        if name == "verbose":
            continue
        extremes = _EXTREMES.get(str(name), [])
        pool = extremes if extremes and rng.random() < 0.7 else NONSENSE
        value = pool[rng.integers(len(pool))]
        if (name in _COUNTS and value == 10**30) or (name == "metric" and callable(value)):
            continue  # whoever asks for so many runs gets them, and whose function fails has its error
        odd[str(name)] = value
    return odd
