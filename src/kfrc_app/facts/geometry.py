"""The fitted kernel space seen by people: a sample of rows, their Gram matrix, their places on the unit sphere."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd

from kfrc import KFRC
from kfrc.columns import Table
from kfrc.gram import DenseGram, Gram, gram_family
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


def fitted_gram(model: KFRC, X: FloatArray | pd.DataFrame, rows: IntArray, weights: FloatArray | None = None) -> Gram:
    """The Gram matrix of some rows at the bandwidths of a fitted model.

    Parameters
    ----------
    model : KFRC
        Fitted on ``X``.
    X : ndarray or DataFrame of shape (n_samples, n_features)
        The data, or the Gram matrix if the model's kernel is ``"precomputed"``.
    rows : ndarray of shape (k,)
    weights : ndarray of shape (n_samples,), optional
        Of all rows, if the model was fitted with weights.
    """
    if model.space_ is None or model.kernel_ is None:
        return DenseGram(np.asarray(X)[np.ix_(rows, rows)])
    values = model._rows(X.iloc[rows]) if isinstance(X, pd.DataFrame) else X[rows]
    seen = model.space_.standardize(values)
    if weights is not None and isinstance(seen, Table):
        seen = replace(seen, weights=weights[rows])
    return gram_family(seen, model.kernel_).at(model.space_.bandwidths)


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
