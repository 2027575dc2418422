"""The facts of a fitted model: what was fitted on which data, checked once, and handed to whoever tells of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from kfrc.clusterers import FuzzyClusterer
from kfrc.confidence import Confidence
from kfrc.typing import ArrayLike, FloatArray
from kfrc_app.facts.agreement import Labels
from kfrc_app.facts.collection import Facts
from kfrc_app.facts.fitted import check_shapes
from kfrc_app.facts.table import raw_table, typed_frame

MAX_POINTS = 3000
"""Rows in pictures; with more a sample is taken."""

_N_EIGENVALUES = 8


def summarize(
    model: FuzzyClusterer,
    data: ArrayLike | pd.DataFrame,
    *,
    ids: Sequence[Any] | NDArray[Any] | None = None,
    labels: Labels | None = None,
    confidence: Confidence | None = None,
    n_left_out: int = 0,
    weights: FloatArray | None = None,
    aside: pd.DataFrame | None = None,
    notes: Sequence[str] = (),
    command: str = "",
    source: str = "",
    seed: int | None = None,
    max_points: int = MAX_POINTS,
    n_eigenvalues: int = _N_EIGENVALUES,
) -> Facts:
    """The facts of a fitted model.

    Parameters
    ----------
    model : FuzzyClusterer
        Fitted on the columns of ``data``, in this order.
    data : DataFrame, polars or Arrow table, or array-like of shape (n_samples, n_features)
        What it was fitted on: a table, or dissimilarities or a Gram matrix.
    ids : sequence, optional
        Names of the rows; the index of ``data`` by default.
    labels : sequence, optional
        Known classes, compared with the clusters; None, NaN and blank text are unknown.
    confidence : Confidence, optional
        From :func:`kfrc.confidence.assess`; without it all that is said of trust is that nothing was refitted.
    n_left_out : int, default=0
        Rows of the file that are not among ``data``.
    weights : ndarray of shape (n_samples,), optional
        How many rows each row stands for, if the model was fitted with weights.
    aside : DataFrame of shape (n_samples, n_columns_aside), optional
        Columns of the same rows that were not clustered by, to be compared with the clusters.
    notes : sequence of str
        Remarks on the data, such as rows that were dropped.
    command : str
        What to type to get the same result.
    source : str
        Where the data came from.
    seed : int, optional
        Of the random numbers.
    max_points : int, default=3000
        Rows in pictures; with more a sample is taken.
    n_eigenvalues : int, default=8
        How many eigenvalues are shown, at least.

    Returns
    -------
    Facts

    Raises
    ------
    ValueError
        If the data are not of the shape that the model was fitted on.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from kfrc import KFRC
    >>> from kfrc_app.facts import summarize
    >>> iris = load_iris(as_frame=True)
    >>> model = KFRC(3, level=1.0, m=1.5, random_state=0).fit(iris.data)
    >>> facts = summarize(model, iris.data, labels=iris.target)
    >>> facts.importance.columns[0].name, facts.stability.stable, facts.agreement.n_known
    ('petal length (cm)', True, 150)
    """
    check_is_fitted(model)
    frame = typed_frame(data, getattr(model, "feature_names_in_", None))
    row_ids = tuple(str(name) for name in (frame.index if ids is None else ids))
    known = None if labels is None else tuple(labels)
    check_shapes(model, frame, row_ids, known, aside)
    return Facts(
        model=model,
        data=frame,
        ids=row_ids,
        labels=known,
        confidence=confidence,
        n_left_out=n_left_out,
        weights=None if weights is None else np.asarray(weights, dtype=np.float64),
        aside=aside,
        notes=tuple(notes),
        command=command,
        source=source,
        seed=seed,
        max_points=max_points,
        n_eigenvalues=n_eigenvalues,
        given=raw_table(data),
    )
