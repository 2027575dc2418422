"""Fits with weights of rows, where there are any."""

from __future__ import annotations

from typing import Any

from kfrc.typing import FloatArray


def fit_weighted(model: Any, data: Any, weights: FloatArray | None) -> None:
    """Fit a model on a table; weights say how many rows each row stands for.

    Parameters
    ----------
    model : estimator
    data : DataFrame or array-like of shape (n_samples, n_features)
    weights : ndarray of shape (n_samples,) or None
    """
    if weights is None:
        model.fit(data)  # estimators of a user need not know weights
    else:
        model.fit(data, sample_weight=weights)
