"""A choice on the foremost columns of a wide table, told in the columns of the whole table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from kfrc.columns import Rows
from kfrc.foremost import Foremost, foremost_columns
from kfrc.screening import Screen
from kfrc.selection.choice import Selection
from kfrc.selection.columns import OnColumns
from kfrc.typing import IntArray

_N_DEPENDENT = 25
"""Columns that the screen brings, where it can see them all: what depends on another in other ways than a line."""


def set_columns_aside(X: Rows, numbers: Sequence[int], screen: Screen) -> Foremost | None:
    """The columns of a table that a choice sees; None if it sees all.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features) or Table
        Columns with mean zero and standard deviation one, or of any type in their units.
    numbers : sequence of int
        How many clusters there may be.
    screen : Screen
        It says from which width on columns are set aside.
    """
    if X.shape[1] <= screen.width:
        return None
    return foremost_columns(X, numbers, _dependent(X, screen).tolist())


def in_whole_table(selection: Selection, columns: IntArray) -> Selection:
    """A choice made on some columns, told in positions of the whole table."""
    candidates = tuple(
        replace(found, tuned=replace(found.tuned, columns=columns[found.tuned.columns]))
        for found in selection.candidates
    )
    opinion, model = selection.opinion, selection.opinion.model
    if isinstance(model, OnColumns):
        opinion = replace(opinion, model=OnColumns(model.model, columns[model.columns]))
    elif model is not None:
        opinion = replace(opinion, model=OnColumns(model, columns))
    return replace(selection, candidates=candidates, opinion=opinion)


def _dependent(X: Rows, screen: Screen) -> IntArray:
    """Columns that depend most surely on another one, in whatever way."""
    if not screen.sees(X.shape[1]):
        return np.empty(0, dtype=np.intp)
    screening = screen.examine(X)
    surest = np.argsort(-screening.relevance, kind="stable")[:_N_DEPENDENT]
    return surest[screening.relevance[surest] > screening.threshold]
