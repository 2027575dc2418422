"""Facts of a fit as plain, JSON-ready data: everything the report shows, and nothing about how it looks."""

from __future__ import annotations

import platform
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

import kfrc
from kfrc import KFRC
from kfrc.fuzzifiers import Fuzzifier
from kfrc.metrics import adjusted_mutual_info_score, adjusted_rand_score
from kfrc.spectrum import Spectrum, spectrum_of
from kfrc.typing import FloatArray, IntArray
from kfrc_app.report.choice import count_facts, selection_facts
from kfrc_app.report.geometry import fitted_gram, sample_rows, sphere_coordinates
from kfrc_app.report.palette import cluster_colors
from kfrc_app.report.path import fuzzifier_path
from kfrc_app.report.profiles import cluster_profiles
from kfrc_app.report.reliability import reliability_facts
from kfrc_app.report.search import search_facts
from kfrc_app.report.text import clean, describe_cluster, finite, headline

CLEAR, UNSURE = 0.9, 0.6
"""Largest memberships from which a row is called clear, and below which it is called unsure."""

MAX_COLUMNS = 100
N_AMBIGUOUS = 20
MAX_PICTURE_ROWS = 400
"""Rows drawn by the fuzzifier slider: more than a screen has room for."""

_MAX_LABELS = 30
_N_EIGENVALUES = 8


def summarize(
    model: KFRC,
    data: pd.DataFrame,
    *,
    ids: Sequence[str] | None = None,
    labels: Sequence[Any] | None = None,
    notes: Sequence[str] = (),
    command: str = "",
    source: str = "",
    max_points: int = 3000,
) -> dict[str, Any]:
    """Collect what a report shows.

    Parameters
    ----------
    model : KFRC
        Fitted on the columns of ``data``, in this order.
    data : DataFrame of shape (n_samples, n_features)
        Numeric, or the Gram matrix if the model's kernel is ``"precomputed"``.
    ids : sequence of str, optional
        Names of the rows; the index of ``data`` by default.
    labels : sequence, optional
        Known classes, compared with the clusters and marked as not used.
    notes : sequence of str
        Remarks on the data, such as rows that were dropped.
    command : str
        What to type to get the same result.
    source : str
        Where the data came from.
    max_points : int, default=3000
        Rows in the pictures; with more a sample is taken, and said so.

    Returns
    -------
    dict
        Numbers, strings, lists and dicts only; infinite values are None.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from kfrc import KFRC
    >>> from kfrc_app.report import summarize
    >>> iris = load_iris(as_frame=True).data
    >>> facts = summarize(KFRC(3, level=1.0, random_state=0).fit(iris.to_numpy()), iris)
    >>> facts["headline"]["sentence"]
    '3 clusters; 3 of 4 columns carry the structure; safe at any fuzzifier'
    """
    X = data.to_numpy(dtype=np.float64)
    names = [clean(name) for name in data.columns]
    row_ids = [clean(value) for value in (data.index if ids is None else ids)]
    _check_lengths(model, X, row_ids, labels)
    shown = sample_rows(model.labels_, max_points)
    gram = fitted_gram(model, X, shown)
    spectrum = spectrum_of(gram, min(len(shown), max(_N_EIGENVALUES, model.memberships_.shape[1] + 3)))
    profiles = _profiles(model, X, names)
    facts: dict[str, Any] = {
        "source": clean(source, 300) if source else "",
        "shape": {
            "n_rows": len(X),
            "n_columns": model.n_features_in_,
            "n_clusters": model.memberships_.shape[1],
            "n_shown": len(shown),
        },
        "model": _model_facts(model),
        "sureness": _sureness(model),
        "importance": _importance(model, names),
        "spectrum": _spectrum_facts(model, spectrum),
        "clusters": _clusters(model, profiles),
        "points": _points(model, spectrum, shown, row_ids, labels),
        "ambiguous": _ambiguous(model, row_ids),
        "profiles": profiles,
        "path": _path_facts(model, X, shown),
        "selection": selection_facts(model),
        "cluster_count": count_facts(model),
        "reliability": reliability_facts(model, labels),
        "search": search_facts(model),
        "comparison": _comparison(model, labels),
        "notes": [clean(note, 1000) for note in (*notes, *_own_notes(model))],
        "reproduce": {
            "command": clean(command, 4000) if command else "",
            "model": clean(" ".join(repr(model).split()), 2000),
            "versions": _versions(),
        },
    }
    facts["headline"] = headline(facts)
    return facts


def _check_lengths(model: KFRC, X: FloatArray, ids: Sequence[str], labels: Sequence[Any] | None) -> None:
    n_rows = len(model.memberships_)
    for what, length in (("data", len(X)), ("ids", len(ids)), ("labels", n_rows if labels is None else len(labels))):
        if length != n_rows:
            raise ValueError(f"{what} has {length} rows, but the model was fitted on {n_rows}")
    if X.shape[1] != model.n_features_in_:
        raise ValueError(f"data has {X.shape[1]} columns, but the model was fitted on {model.n_features_in_}")


def _model_facts(model: KFRC) -> dict[str, Any]:
    fuzzifier = model.fuzzifier_
    return {
        "kernel": "precomputed" if model.kernel_ is None else model.kernel_.name or type(model.kernel_).__name__,
        "fuzzifier": fuzzifier.name or type(fuzzifier).__name__,
        "m": float(fuzzifier.m),
        "criterion": model.criterion_.name or type(model.criterion_).__name__,
        "max_anisotropy": None if model.max_anisotropy_ is None else finite(model.max_anisotropy_),
        "approximation": model.approximation_,
        "approximation_error": float(model.approximation_error_),
        "linear_limit": bool(model.linear_limit_),
    }


def _sureness(model: KFRC) -> dict[str, Any]:
    surest = model.memberships_.max(axis=1)
    return {
        "n_clear": int((surest >= CLEAR).sum()),
        "n_likely": int(((surest >= UNSURE) & (surest < CLEAR)).sum()),
        "n_unsure": int((surest < UNSURE).sum()),
        "uniformity": float(model.uniformity_),
        "status": model.status_,
        "n_iter": int(model.n_iter_),
    }


def _by_importance(weights: FloatArray) -> IntArray:
    """Columns from the most important on; those equal to three digits stay in the order of the table."""
    return np.argsort(-weights.round(3), kind="stable")


def _importance(model: KFRC, names: Sequence[str]) -> dict[str, Any] | None:
    weights, bandwidths, logs = model.importance_weights_, model.bandwidths_, model.log_bandwidths_
    if weights is None or bandwidths is None or logs is None or model.effective_n_features_ is None:
        return None
    return {
        "columns": [
            {
                "name": names[j],
                "weight": float(weights[j]),
                "bandwidth": finite(bandwidths[j]),
                "relative_bandwidth": finite(np.exp(logs[j])),
            }
            for j in _by_importance(weights)[:MAX_COLUMNS].tolist()
        ],
        "n_columns": len(names),
        "equal_share": 1.0 / len(names),
        "effective": float(model.effective_n_features_),
    }


def _profiles(model: KFRC, X: FloatArray, names: Sequence[str]) -> dict[str, Any] | None:
    if model.importance_weights_ is None:
        return None
    columns = _by_importance(model.importance_weights_)[:MAX_COLUMNS]
    profiles = cluster_profiles(X[:, columns], model.memberships_)
    return {
        "n_columns": len(names),
        "columns": [
            {
                "name": names[int(j)],
                "overall": float(profiles.overall[k]),
                "unit": float(profiles.unit[k]),
                "medians": [finite(value) for value in profiles.medians[:, k]],
                "differences": [finite(value) for value in profiles.differences[:, k]],
            }
            for k, j in enumerate(columns)
        ],
    }


def _spectrum_facts(model: KFRC, spectrum: Spectrum) -> dict[str, Any]:
    n_clusters = model.memberships_.shape[1]
    leading = model.eigenvalues_.tolist()
    further = spectrum.eigenvalues[len(leading) :].tolist()
    fuzzifiers = []
    if n_clusters > 1:
        for name in sorted(Fuzzifier.registry):
            t = Fuzzifier.from_name(name)
            threshold, critical = t.threshold(n_clusters), finite(t.critical_m(n_clusters, leading[0]))
            fuzzifiers.append({"name": name, "threshold": float(threshold), "critical_m": critical})
    return {
        "eigenvalues": leading,
        "further": [float(min(value, leading[-1])) for value in further],
        # τ itself: the search may have been asked for another threshold.
        "threshold": float(model.fuzzifier_.threshold(n_clusters)) if n_clusters > 1 else 0.0,
        "stable": bool(model.stable_),
        "critical_m": finite(model.critical_m_),
        "fuzzifiers": fuzzifiers,
    }


def _clusters(model: KFRC, profiles: dict[str, Any] | None) -> list[dict[str, Any]]:
    U = model.memberships_
    surest = U.max(axis=1)
    names = [] if profiles is None else [column["name"] for column in profiles["columns"]]
    clusters = []
    for i, color in enumerate(cluster_colors(U.shape[1])):
        rows = model.labels_ == i
        differences = [] if profiles is None else [column["differences"][i] or 0.0 for column in profiles["columns"]]
        clusters.append(
            {
                "name": f"cluster {i}",
                "color": color,
                "n_rows": int(rows.sum()),
                "mass": float(U[:, i].sum()),
                "mean_membership": float(surest[rows].mean()) if rows.any() else None,
                "description": describe_cluster(names, differences) if names and U.shape[1] > 1 else "",
            }
        )
    return clusters


def _thousandths(U: FloatArray) -> list[Any]:
    return np.rint(1000.0 * U).astype(int).tolist()


def _points(
    model: KFRC, spectrum: Spectrum, shown: IntArray, ids: Sequence[str], labels: Sequence[Any] | None
) -> dict[str, Any]:
    U = model.memberships_[shown]
    return {
        "ids": [ids[j] for j in shown.tolist()],
        "labels": None if labels is None else [clean(labels[j]) for j in shown.tolist()],
        "xyz": sphere_coordinates(spectrum).round(3).tolist(),
        "memberships": _thousandths(U),
        "order": np.lexsort((-U.max(axis=1), model.labels_[shown])).tolist(),
        "counts": np.bincount(model.labels_[shown], minlength=U.shape[1]).tolist(),
        "explained": float(spectrum.eigenvalues[:3].sum()),
    }


def _ambiguous(model: KFRC, ids: Sequence[str]) -> list[dict[str, Any]]:
    U = model.memberships_
    if U.shape[1] == 1 or model.status_ == "collapsed":
        return []
    surest = U.max(axis=1)
    rows = np.argsort(surest, kind="stable")[:N_AMBIGUOUS]
    return [
        {"id": ids[j], "surest": float(surest[j]), "memberships": [float(u) for u in U[j]]}
        for j in rows.tolist()
        if surest[j] < CLEAR
    ]


def _path_facts(model: KFRC, X: FloatArray, shown: IntArray) -> dict[str, Any] | None:
    if model.memberships_.shape[1] == 1:
        return None
    path = fuzzifier_path(model, X, rows=shown)
    labels = model.labels_[path.rows]
    drawn = sample_rows(labels, MAX_PICTURE_ROWS)
    surest = model.memberships_[path.rows[drawn]].max(axis=1)
    drawn = drawn[np.lexsort((-surest, labels[drawn]))]
    # The rows of the path are rows of the pictures, which are ascending.
    points = np.searchsorted(shown, path.rows[drawn])
    merge = path.merge
    return {
        "n_rows": len(path.rows),
        "fitted": path.fitted,
        "low": float(model.fuzzifier_.m_range.low),
        "high": finite(model.fuzzifier_.m_range.high),
        "n_apart": int(path.n_distinct.max()),
        "critical_m": finite(path.critical_m),
        "merge_m": None if merge is None else finite(merge.m),
        "merge_pair": None if merge is None or merge.pair is None else list(merge.pair),
        "points": points.tolist(),
        "steps": [
            {
                "m": float(path.m[k]),
                "uniformity": float(path.uniformity[k]),
                "n_distinct": int(path.n_distinct[k]),
                "clear_share": float((path.memberships[k].max(axis=1) >= CLEAR).mean()),
                "memberships": _thousandths(path.memberships[k][drawn]),
            }
            for k in range(len(path.m))
        ],
    }


def _comparison(model: KFRC, labels: Sequence[Any] | None) -> dict[str, Any] | None:
    if labels is None:
        return None
    texts = np.array([clean(label) for label in labels])
    classes, codes = np.unique(texts, return_inverse=True)
    table = np.zeros((len(classes), model.memberships_.shape[1]), dtype=int)
    np.add.at(table, (codes, model.labels_), 1)
    return {
        "adjusted_rand": finite(adjusted_rand_score(codes, model.labels_)),
        "adjusted_mutual_info": finite(adjusted_mutual_info_score(codes, model.labels_)),
        "n_classes": len(classes),
        "classes": classes[:_MAX_LABELS].tolist(),
        "table": table[:_MAX_LABELS].tolist(),
    }


def _own_notes(model: KFRC) -> list[str]:
    notes = []
    if model.log_bandwidths_ is not None:
        n_constant = int(np.isinf(model.log_bandwidths_).sum())
        if n_constant:
            notes.append(f"{n_constant} column(s) do not vary and were left out.")
    if model.linear_limit_:
        notes.append(
            "The chosen bandwidths are so large that the kernel acts like weighted squared Euclidean distance: "
            "only the ratios of the bandwidths matter."
        )
    if model.approximation_ == "nystrom":
        notes.append(
            f"The kernel was approximated from landmark rows; {100 * model.approximation_error_:.2g} % of the "
            "variance is left out."
        )
    if model.status_ == "max_iter":
        notes.append("The memberships still moved when the iterations ran out: raise the number of iterations.")
    return notes


def _versions() -> dict[str, str]:
    import scipy
    import sklearn

    return {
        "kfrc": kfrc.__version__,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "scikit-learn": sklearn.__version__,
        "pandas": pd.__version__,
    }
