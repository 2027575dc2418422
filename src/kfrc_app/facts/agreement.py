"""Agreement of clusters with known labels. A missing label is unknown: left out, counted, and never a class."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from kfrc.metrics import adjusted_mutual_info_score, adjusted_rand_score
from kfrc.typing import FloatArray, IntArray

Labels: TypeAlias = Sequence[Any] | NDArray[Any]
"""Known classes of the rows, of any type; None, NaN and blank text are unknown."""


@dataclass(frozen=True)
class Agreement:
    """How well clusters agree with the labels that are known.

    Attributes
    ----------
    adjusted_rand : float
        On the rows with a label, weights counted.
    adjusted_mutual_info : float or None
        The same; None where weights have fractions, because chance deals out whole rows.
    n_known, n_rows : int
        Rows with a label, and all rows.
    classes : tuple of str
        Labels in alphabetical order.
    table : tuple of tuple of int
        Rows of each class (first index) in each cluster (second).
    """

    adjusted_rand: float
    adjusted_mutual_info: float | None
    n_known: int
    n_rows: int
    classes: tuple[str, ...]
    table: tuple[tuple[int, ...], ...]

    @property
    def coverage(self) -> str:
        """For how many rows a label is known, in words; empty if for all."""
        return coverage(self.n_known, self.n_rows)


def agreement(
    labels: Labels | None, clusters: IntArray, n_clusters: int, weights: FloatArray | None = None
) -> Agreement | None:
    """Compare clusters with known labels.

    Parameters
    ----------
    labels : sequence of length n_samples, or None
        Of any type; None, NaN and blank text are unknown.
    clusters : ndarray of shape (n_samples,)
    n_clusters : int
    weights : ndarray of shape (n_samples,), optional
        How many rows each row stands for; the table counts rows.

    Returns
    -------
    Agreement or None
        None if no label is known.

    Examples
    --------
    >>> import numpy as np
    >>> from kfrc_app.facts.agreement import agreement
    >>> found = agreement(["a", "a", "b", None, " "], np.array([0, 0, 1, 1, 1]), 2)
    >>> found.adjusted_rand, found.coverage, found.table
    (1.0, 'labels known for 3 of 5 rows', ((2, 0), (0, 1)))
    """
    if labels is None:
        return None
    known = is_known(labels)
    if not known.any():
        return None
    counts = None if weights is None else weights[known]
    if counts is not None and not counts.any():
        return None
    classes, codes = _encode(labels, known)
    table = np.zeros((len(classes), n_clusters), dtype=np.intp)
    np.add.at(table, (codes, clusters[known]), 1)
    return Agreement(
        adjusted_rand=float(adjusted_rand_score(codes, clusters[known], sample_weight=counts)),
        adjusted_mutual_info=None
        if counts is not None and (counts % 1 != 0).any()
        else float(adjusted_mutual_info_score(codes, clusters[known], sample_weight=counts)),
        n_known=int(known.sum()),
        n_rows=len(known),
        classes=tuple(classes.tolist()),
        table=tuple(map(tuple, table.tolist())),
    )


def coverage(n_known: int, n_rows: int) -> str:
    """For how many rows a label is known, in words; empty if for all.

    Examples
    --------
    >>> from kfrc_app.facts.agreement import coverage
    >>> coverage(100, 150), coverage(150, 150)
    ('labels known for 100 of 150 rows', '')
    """
    return "" if n_known == n_rows else f"labels known for {n_known:,} of {n_rows:,} rows"


def label_notes(labels: Labels | None, name: str | None) -> tuple[str, ...]:
    """What to say of a column of labels before anything is compared with it: that it is blank, if it is.

    Examples
    --------
    >>> from kfrc_app.facts.agreement import label_notes
    >>> label_notes(["", None], "k"), label_notes(["a", ""], "k"), label_notes(None, None)
    (("no label in 'k' is known: nothing is compared",), (), ())
    """
    if labels is None or is_known(labels).any():
        return ()
    return (f"no label in '{name}' is known: nothing is compared",)


def is_known(labels: Labels) -> NDArray[np.bool_]:
    """Which labels say something: all but None, NaN and blank text.

    Examples
    --------
    >>> from kfrc_app.facts.agreement import is_known
    >>> is_known(["a", "", "  ", None, float("nan"), 0])
    array([ True, False, False, False, False,  True])
    """
    missing = pd.isna(pd.Series(list(labels), dtype=object)).to_numpy()
    blank = np.array([isinstance(label, str) and not label.strip() for label in labels], dtype=bool)
    return ~(missing | blank)


def has_majority_label(clusters: IntArray, labels: Labels) -> FloatArray:
    """One for rows whose label is the most frequent in their cluster, zero for the others, NaN where it is unknown.

    Examples
    --------
    >>> import numpy as np
    >>> from kfrc_app.facts.agreement import has_majority_label
    >>> has_majority_label(np.array([0, 0, 0, 1, 1]), ["a", "a", "b", "b", ""])
    array([ 1.,  1.,  0.,  1., nan])
    """
    known = is_known(labels)
    right = np.full(len(known), np.nan)
    if known.any():
        classes, codes = _encode(labels, known)
        table = np.zeros((clusters.max() + 1, len(classes)), dtype=np.intp)
        np.add.at(table, (clusters[known], codes), 1)
        right[known] = codes == table.argmax(axis=1)[clusters[known]]
    return right


def _encode(labels: Labels, known: NDArray[np.bool_]) -> tuple[NDArray[Any], IntArray]:
    """The classes, and the position of every known label among them."""
    texts = [str(label) for label, use in zip(labels, known, strict=True) if use]
    classes, codes = np.unique(np.array(texts, dtype=object), return_inverse=True)
    return classes, codes
