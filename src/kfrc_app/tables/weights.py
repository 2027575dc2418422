"""Weights of rows in a column: how many rows each row stands for."""

from __future__ import annotations

import numpy as np

from kfrc._validation import SMALLEST_TOTAL
from kfrc.typing import FloatArray
from kfrc_app.tables.columns import Columns, DataError, in_quotes


def read_weights(columns: Columns, name: str) -> FloatArray:
    """A column of weights: 2 is the row twice, 0 leaves it out.

    Parameters
    ----------
    columns : Columns
    name : str

    Returns
    -------
    ndarray of shape (n_rows,)

    Raises
    ------
    DataError
        If a weight is text, missing, infinite or negative, or all are zero.
    """
    numbers = columns.numbers([name])
    if name in numbers.text:
        raise DataError(f"weights must be numbers, but {in_quotes(name)} has {numbers.text[name].place}")
    weights = numbers.values[name]
    for wrong, problem in (
        (np.isnan(weights), "is missing: every row needs one, and 0 leaves a row out"),
        (np.isinf(weights), "is infinite"),
        (weights < 0, "is negative: a weight says how many rows a row stands for"),
    ):
        if wrong.any():
            raise DataError(f"the weight in row {int(wrong.argmax()) + 1} of {in_quotes(name)} {problem}")
    return weights


def refuse_no_weight(weights: FloatArray, name: str) -> None:
    """Stop if no row counts, or if all together count for fewer rows than can be compared."""
    total = float(weights.sum())
    if total == 0:
        raise DataError(f"all weights in {in_quotes(name)} are zero: there is nothing to cluster")
    if total < SMALLEST_TOTAL:
        raise DataError(
            f"the weights in {in_quotes(name)} sum to {total:.3g}, but they say how many rows a row stands for: "
            "multiply them "
            f"by {len(weights) / total:.4g}, so that their mean is one, as is usual for survey weights"
        )
