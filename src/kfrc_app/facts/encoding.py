"""A table as complete numbers in standard units, for methods that take nothing else: indicators and means."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from kfrc._numerics import binary_exponent, standardize
from kfrc.typing import BoolArray, FloatArray
from kfrc_app.facts.table import as_numbers
from kfrc_app.tables import Kind, kind_of


def is_complete_numbers(data: pd.DataFrame) -> bool:
    """Whether a table is what every method takes: numbers only, none of them missing."""
    return all(dtype == np.float64 for dtype in data.dtypes) and not data.isna().to_numpy().any()


def standardized(data: pd.DataFrame, weights: FloatArray | None = None) -> pd.DataFrame:
    """Columns with mean 0 and total variance 1; those that do not vary are left out.

    Complete numbers are divided by their standard deviations. Otherwise dates are days, ordered levels are their
    positions, and a column of other levels becomes one indicator per level, divided by the root of their total variance
    (the Gini coefficient), so that it counts as much as a number. What is missing is the mean.

    Parameters
    ----------
    data : DataFrame of shape (n_samples, n_features)
    weights : ndarray of shape (n_samples,), optional
        How many rows each row stands for.

    Returns
    -------
    DataFrame

    Raises
    ------
    ValueError
        If no column varies.

    Examples
    --------
    >>> import pandas as pd
    >>> from kfrc_app.facts.encoding import standardized
    >>> Z = standardized(pd.DataFrame({"x": [1.0, 2.0, None], "c": pd.Categorical(["a", "b", "a"])}))
    >>> list(Z.columns), Z["x"].round(3).tolist()
    (['x', 'c=a', 'c=b'], [-0.707, 0.707, 0.0])
    """
    varying = data.loc[:, data.nunique() > 1]
    if varying.shape[1] == 0:
        raise ValueError(f"all {data.shape[1]} column(s) are constant: there is nothing to cluster")
    if weights is None and is_complete_numbers(varying):
        Z = standardize(varying.to_numpy(dtype=np.float64))
        return pd.DataFrame(Z, index=varying.index, columns=varying.columns)
    s = np.ones(len(data)) if weights is None else weights
    parts: dict[str, FloatArray] = {}
    for name in varying.columns:
        labels, values = _columns(str(name), varying[name], s > 0)
        parts |= dict(zip(labels, _in_units(values, s).T, strict=True))
    return pd.DataFrame(parts, index=data.index)


def _columns(name: str, series: pd.Series[Any], counts: BoolArray) -> tuple[list[str], FloatArray]:
    """Names and values of the numbers that stand for a column, NaN where it is missing; levels of rows that count."""
    values = as_numbers(series)
    if kind_of(series) is not Kind.NOMINAL:
        return [name], values[:, None]
    used = [k for k in range(len(series.cat.categories)) if (values[counts] == k).any()]
    indicators = np.where(np.isnan(values)[:, None], np.nan, np.equal.outer(values, used))
    return [f"{name}={series.cat.categories[k]}" for k in used], indicators


def _in_units(values: FloatArray, weights: FloatArray) -> FloatArray:
    """Numbers of one column with mean 0 and a common scale that makes their total variance 1; what is missing is 0."""
    known = ~np.isnan(values[:, 0]) & (weights > 0)
    if not known.any():
        return np.zeros_like(values)
    values = np.ldexp(values, -binary_exponent(values[known]))
    s = weights[known]
    mean = s @ values[known] / s.sum()
    variance = float((s @ (values[known] - mean) ** 2).sum()) / max(float(s.sum()) - 1.0, 1e-300)
    return np.nan_to_num((values - mean) / (np.sqrt(variance) if variance > 0 else 1.0))
