"""Methods of other packages beside those of the library: of scikit-learn, and of others where they are installed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np
import pandas as pd
from sklearn.cluster import KMeans
from sklearn.mixture import GaussianMixture

from kfrc.typing import FloatArray
from kfrc_app.facts.encoding import standardized
from kfrc_app.facts.table import as_numbers
from kfrc_app.tables import Kind, kind_of

N_INIT = 5
"""Starts of each: their results depend on them."""

MAX_COPIES = 1_000_000
"""Rows that a method gets which knows no weights: more of them take minutes, or memory that is not there."""

_BLANK = "(blank)"

Memberships = Callable[[pd.DataFrame, int, int | None, FloatArray | None], FloatArray]


@dataclass(frozen=True)
class Peer:
    """A method of another package.

    Attributes
    ----------
    name : str
        What it is called.
    package : str
    treatment : str
        What it makes of the table.
    memberships : callable
        From a typed table, the number of clusters, a seed and weights; of shape (n_samples, n_clusters).
    for_numbers : bool
        Whether it stands beside the others for tables of complete numbers, too.
    """

    name: str
    package: str
    treatment: str
    memberships: Memberships
    for_numbers: bool = False


def k_prototypes(data: pd.DataFrame, n_clusters: int, seed: int | None, weights: FloatArray | None) -> FloatArray:
    """k-prototypes of kmodes, or k-modes if there are no numbers; blanks are means of numbers, and levels of levels."""
    kmodes = import_module("kmodes.kmodes")
    kprototypes = import_module("kmodes.kprototypes")
    nominal = [name for name in data.columns if kind_of(data[name]) is Kind.NOMINAL]
    measured = [name for name in data.columns if name not in nominal]
    levels = data[nominal].astype(object).where(data[nominal].notna(), _BLANK).to_numpy(dtype=object)
    settings: dict[str, Any] = {"n_clusters": n_clusters, "n_init": N_INIT, "random_state": seed}
    if not measured:
        labels = kmodes.KModes(**settings).fit(levels, sample_weight=weights).labels_
    else:
        numbers = standardized(data[measured], weights).to_numpy(dtype=object)
        table = np.hstack([numbers, levels])
        categorical = list(range(numbers.shape[1], table.shape[1]))
        labels = kprototypes.KPrototypes(**settings).fit(table, categorical=categorical, sample_weight=weights).labels_
    return np.eye(n_clusters)[np.asarray(labels, dtype=np.intp)]


def latent_classes(data: pd.DataFrame, n_clusters: int, seed: int | None, weights: FloatArray | None) -> FloatArray:
    """Latent classes of StepMix: Gaussians times multinomials, missing entries left out of the likelihood."""
    stepmix, utils = import_module("stepmix.stepmix"), import_module("stepmix.utils")
    parts: dict[str, list[str]] = {}
    numbers: dict[str, FloatArray] = {}
    for name in data.columns:
        values = as_numbers(data[name])
        discrete = kind_of(data[name]) in (Kind.NOMINAL, Kind.ORDINAL)
        numbers[name] = values if discrete else standardized(data[[name]].dropna())[name].reindex(data.index).to_numpy()
        model = ("categorical" if discrete else "continuous") + ("_nan" if np.isnan(values).any() else "")
        parts.setdefault(model, []).append(name)
    table, measurement = utils.get_mixed_descriptor(pd.DataFrame(numbers), **parts)
    settings: dict[str, Any] = {"n_init": N_INIT, "random_state": seed, "verbose": 0, "progress_bar": 0}
    mixture = stepmix.StepMix(n_clusters, measurement=measurement, **settings)
    return np.asarray(mixture.fit(table, sample_weight=weights).predict_proba(table), dtype=np.float64)


def k_means(data: pd.DataFrame, n_clusters: int, seed: int | None, weights: FloatArray | None) -> FloatArray:
    """K-means of scikit-learn, on standardized columns, one per level."""
    Z = standardized(data, weights).to_numpy()
    labels = KMeans(n_clusters, n_init=N_INIT, random_state=seed).fit(Z, sample_weight=weights).labels_
    return np.eye(n_clusters)[np.asarray(labels, dtype=np.intp)]


def gaussian_mixture(data: pd.DataFrame, n_clusters: int, seed: int | None, weights: FloatArray | None) -> FloatArray:
    """Gaussian mixture of scikit-learn, on standardized columns, one per level; weights must be whole numbers."""
    Z = standardized(data, weights).to_numpy()
    copies = Z
    if weights is not None:
        if (weights % 1 != 0).any():
            raise ValueError("it takes no weights with fractions")
        if weights.sum() > MAX_COPIES:
            raise ValueError(f"it takes copies of rows for weights, of which there would be more than {MAX_COPIES:,}")
        copies = np.repeat(Z, weights.astype(np.intp), axis=0)
    mixture = GaussianMixture(n_clusters, n_init=N_INIT, random_state=seed).fit(copies)
    return np.asarray(mixture.predict_proba(Z), dtype=np.float64)


ENCODED = "standardized, one column per level, means for blanks"
"""What a method that needs numbers sees of a table."""

PEERS = (
    Peer("KMeans (scikit-learn)", "sklearn", ENCODED, k_means, for_numbers=True),
    Peer("GaussianMixture (scikit-learn)", "sklearn", ENCODED, gaussian_mixture, for_numbers=True),
    Peer("latent classes (StepMix)", "stepmix", "as it is", latent_classes),
    Peer("k-prototypes (kmodes)", "kmodes", "a blank level is a level, other blanks are means", k_prototypes),
)


def installed_peers() -> tuple[Peer, ...]:
    """The methods whose packages are there; scikit-learn always is."""
    return tuple(peer for peer in PEERS if find_spec(peer.package) is not None)
