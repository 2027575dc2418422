"""The fitted kernel space seen by people: a sample of rows, their Gram matrix, their places on the unit sphere."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from sklearn.utils import get_tags

from kfrc.clusterers import FuzzyClusterer
from kfrc.clusterers._row_spaces import RowSpace
from kfrc.gram import Gram
from kfrc.spectrum import Spectrum
from kfrc.typing import FloatArray, IntArray

_SAMPLE_SEED = 0
_MIN_ROWS_PER_CLUSTER = 25
"""A small cluster keeps at least this many rows in a sample, or all it has."""


def sample_rows(labels: IntArray, max_rows: int) -> IntArray:
    """Indices of at most about ``max_rows`` rows, ascending: in proportion to the clusters, small ones protected.

    Parameters
    ----------
    labels : ndarray of shape (n_samples,)
    max_rows : int

    Examples
    --------
    >>> import numpy as np
    >>> from kfrc_app.facts.geometry import sample_rows
    >>> rows = sample_rows(np.repeat([0, 1], [10_000, 10]), 100)
    >>> len(rows), int((rows >= 10_000).sum())
    (110, 10)
    """
    if len(labels) <= max_rows:
        return np.arange(len(labels))
    rng = np.random.default_rng(_SAMPLE_SEED)
    chosen = []
    for cluster in np.unique(labels):
        members = np.flatnonzero(labels == cluster)
        share = round(max_rows * len(members) / len(labels))
        size = min(len(members), max(share, min(_MIN_ROWS_PER_CLUSTER, max_rows)))
        chosen.append(rng.choice(members, size, replace=False))
    return np.sort(np.concatenate(chosen))


def of_rows(model: FuzzyClusterer, X: FloatArray | pd.DataFrame, rows: IntArray | None = None) -> Any:
    """Some rows of what a model was fitted on, or all pairs of them, with the names of columns that it knows."""
    if get_tags(model).input_tags.pairwise:
        matrix = np.asarray(X, dtype=np.float64)
        return matrix if rows is None else matrix[np.ix_(rows, rows)]
    chosen = X if rows is None else X.iloc[rows] if isinstance(X, pd.DataFrame) else X[rows]
    names = getattr(model, "feature_names_in_", None)
    if names is not None and not isinstance(chosen, pd.DataFrame):
        return pd.DataFrame(chosen, columns=names)
    if names is None and isinstance(chosen, pd.DataFrame) and all(dtype == np.float64 for dtype in chosen.dtypes):
        return chosen.to_numpy()
    return chosen


def fitted_space(
    model: FuzzyClusterer,
    X: FloatArray | pd.DataFrame,
    rows: IntArray | None = None,
    weights: FloatArray | None = None,
) -> RowSpace:
    """The space in which a fitted model of any method sees its rows, or some of them.

    Parameters
    ----------
    model : FuzzyClusterer
        Fitted on ``X``.
    X : ndarray or DataFrame of shape (n_samples, n_features)
        The data, or the matrix of all pairs of rows.
    rows : ndarray of shape (k,), optional
    weights : ndarray of shape (n_samples,), optional
        Of all rows, if the model was fitted with weights.
    """
    counted = weights if weights is None or rows is None else weights[rows]
    return model._row_space(of_rows(model, X, rows), counted)


def fitted_gram(
    model: FuzzyClusterer, X: FloatArray | pd.DataFrame, rows: IntArray, weights: FloatArray | None = None
) -> Gram:
    """The Gram matrix of some rows as a fitted model sees them: at its bandwidths, or −R/2 of its dissimilarities.

    Parameters
    ----------
    model : FuzzyClusterer
        Fitted on ``X``.
    X : ndarray or DataFrame of shape (n_samples, n_features)
        The data, or the matrix of all pairs of rows.
    rows : ndarray of shape (k,)
    weights : ndarray of shape (n_samples,), optional
        Of all rows, if the model was fitted with weights.
    """
    return fitted_space(model, X, rows, weights).gram()


def sphere_coordinates(spectrum: Spectrum) -> FloatArray:
    """Leading three kernel principal coordinates, scaled to the unit sphere (Figure 3 of the paper).

    Row j of V (nΛ)^{1/2} is the direction of the centered feature vector φ_j, cut to the leading axes and scaled to
    length one. Signs are fixed so that the longest entry of every axis is positive.

    Parameters
    ----------
    spectrum : Spectrum
        With three or more eigenpairs; what is missing counts as zero.

    Returns
    -------
    ndarray of shape (n_samples, 3)
    """
    n_samples, n_axes = spectrum.eigenvectors.shape
    n_axes = min(n_axes, 3)
    coordinates = np.zeros((n_samples, 3))
    scale = np.sqrt(n_samples * np.maximum(spectrum.eigenvalues[:n_axes], 0.0))
    coordinates[:, :n_axes] = spectrum.eigenvectors[:, :n_axes] * scale
    if spectrum.row_weights is not None:
        # Entries grow with the weight of a row, directions do not; a row that stands for none is at the center.
        weights = spectrum.row_weights
        coordinates *= np.where(weights > 0, 1.0 / np.sqrt(np.where(weights > 0, weights, 1.0)), 0.0)[:, None]
    longest = np.abs(coordinates).argmax(axis=0)
    coordinates *= np.where(coordinates[longest, np.arange(3)] < 0, -1.0, 1.0)
    lengths = np.linalg.norm(coordinates, axis=1, keepdims=True)
    return coordinates / np.where(lengths > 0, lengths, 1.0)
