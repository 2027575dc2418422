"""One set of facts of a fit: the terminal, summary.json, the report, comparisons and displays all read it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from kfrc import KFRC
from kfrc.clusterers import FuzzyClusterer
from kfrc.confidence import Confidence
from kfrc.spectrum import Spectrum, spectrum_of
from kfrc.typing import ArrayLike, FloatArray, IntArray
from kfrc_app.facts.agreement import Agreement, Labels, agreement
from kfrc_app.facts.choice import Choice, CountChoice, choice_facts, count_facts
from kfrc_app.facts.clusters import (
    AmbiguousRow,
    Cluster,
    LargestMemberships,
    ambiguous_rows,
    cluster_facts,
    largest_memberships,
)
from kfrc_app.facts.confidence import Trust, trust_facts
from kfrc_app.facts.fit import Fit, fit_facts, remarks
from kfrc_app.facts.geometry import fitted_gram, sample_rows, sphere_coordinates
from kfrc_app.facts.importance import Importance, importance
from kfrc_app.facts.path import FuzzifierPath, fuzzifier_path
from kfrc_app.facts.profiles import Profiles, cluster_profiles
from kfrc_app.facts.reliability import Reliability, reliability_facts
from kfrc_app.facts.search import Search, search_facts
from kfrc_app.facts.stability import FuzzifierOutlook, Stability, fuzzifier_outlooks, model_stability
from kfrc_app.facts.text import clean

MAX_POINTS = 3000
"""Rows in pictures; with more a sample is taken."""

PROFILED_COLUMNS = 100
"""Columns whose profiles are computed, the most important ones."""

_N_EIGENVALUES = 8
_MAX_TITLE_NAME = 60


@dataclass(frozen=True, eq=False)
class Facts:
    """Everything the application says of a fit; every section is computed when it is first read, and only once.

    Made by :func:`summarize`. A section that has no meaning for a method is None: bandwidths of fuzzy c-means, say.

    Attributes
    ----------
    model : FuzzyClusterer
        Fitted on ``data``.
    data : DataFrame of shape (n_samples, n_features)
        The table, or the matrix of dissimilarities or of kernel values.
    ids : tuple of str
        Names of the rows.
    labels : tuple or None
        Known classes; unknown ones are None, NaN or blank.
    confidence : Confidence or None
        What refits found again; None if nothing was refitted.
    n_left_out : int
        Rows of the file that are not among the data, because values are missing.
    notes : tuple of str
    command, source : str
    seed : int or None
    max_points, n_eigenvalues : int
    """

    model: FuzzyClusterer
    data: pd.DataFrame
    ids: tuple[str, ...]
    labels: tuple[Any, ...] | None
    confidence: Confidence | None
    n_left_out: int
    notes: tuple[str, ...]
    command: str
    source: str
    seed: int | None
    max_points: int
    n_eigenvalues: int

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.model.memberships_)

    @property
    def n_columns(self) -> int:
        """Number of columns of the table."""
        return int(self.model.n_features_in_)

    @property
    def n_clusters(self) -> int:
        """Number of clusters."""
        return int(self.model.memberships_.shape[1])

    @property
    def pairwise(self) -> bool:
        """Whether the data are a matrix of dissimilarities or kernel values, without columns of their own."""
        return bool(get_tags(self.model).input_tags.pairwise)

    @property
    def source_name(self) -> str:
        """Where the data came from, without folders: for a title."""
        return clean(re.split(r"[/\\]", self.source.rstrip("/\\"))[-1], _MAX_TITLE_NAME) if self.source else ""

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Names of the columns."""
        return tuple(str(name) for name in self.data.columns)

    @cached_property
    def fit(self) -> Fit:
        """Settings of the fit and how it ended."""
        return fit_facts(self.model)

    @cached_property
    def remarks(self) -> tuple[str, ...]:
        """What a reader should know of the fit itself, besides the notes."""
        return remarks(self.model, self.importance)

    @cached_property
    def trust(self) -> Trust:
        """Whether the clusters can be trusted."""
        return trust_facts(self.model, self.confidence, collapsed=self.fit.collapsed and self.n_clusters > 1)

    @cached_property
    def stability(self) -> Stability | None:
        """Whether memberships can all become equal; None for methods that the theory does not cover."""
        return model_stability(self.model, self.X)

    @cached_property
    def fuzzifiers(self) -> tuple[FuzzifierOutlook, ...]:
        """What every fuzzifier would do with the same distances."""
        if self.stability is None or self.n_clusters == 1:
            return ()
        return fuzzifier_outlooks(self.n_clusters, self.stability.leading_eigenvalue)

    @cached_property
    def clusters(self) -> tuple[Cluster, ...]:
        """The clusters."""
        return cluster_facts(self.model)

    @cached_property
    def largest_memberships(self) -> LargestMemberships:
        """How many rows have a high, a middle and a low largest membership."""
        return largest_memberships(self.model.memberships_)

    @cached_property
    def ambiguous(self) -> tuple[AmbiguousRow, ...]:
        """The rows whose largest membership is smallest."""
        return ambiguous_rows(self.model)

    @cached_property
    def importance(self) -> Importance | None:
        """Which columns count."""
        return importance(self.model, self.names, self.X)

    @cached_property
    def choice(self) -> Choice | None:
        """How the settings were chosen."""
        return choice_facts(self.model)

    @cached_property
    def cluster_count(self) -> CountChoice | None:
        """How the number of clusters was chosen."""
        return count_facts(self.model)

    @cached_property
    def search(self) -> Search | None:
        """How the bandwidths were found."""
        return search_facts(self.model)

    @cached_property
    def agreement(self) -> Agreement | None:
        """Agreement with the known labels; None without any, and for a collapsed fit, whose clusters are arbitrary."""
        return None if self.fit.collapsed else agreement(self.labels, self.model.labels_, self.n_clusters)

    @cached_property
    def reliability(self) -> Reliability | None:
        """Memberships against the judge's probabilities and the labels."""
        return reliability_facts(self.model, None if self.fit.collapsed else self.labels)

    @cached_property
    def shown(self) -> IntArray:
        """Rows in pictures: all of them, or a sample in proportion to the clusters."""
        return sample_rows(self.model.labels_, self.max_points)

    @cached_property
    def eigenvalues(self) -> FloatArray | None:
        """Those of F, descending: the fit's own, then further ones from the rows in pictures."""
        if not isinstance(self.model, KFRC) or self._spectrum is None:
            return None
        leading = self.model.eigenvalues_
        return np.concatenate([leading, np.minimum(self._spectrum.eigenvalues[len(leading) :], leading[-1])])

    @cached_property
    def sphere(self) -> FloatArray | None:
        """The rows in pictures on the unit sphere, of shape (n_shown, 3)."""
        return None if self._spectrum is None else sphere_coordinates(self._spectrum)

    @property
    def explained(self) -> float | None:
        """Share of the variation along the three axes of the sphere."""
        return None if self._spectrum is None else float(self._spectrum.eigenvalues[:3].sum())

    @cached_property
    def profiles(self) -> Profiles | None:
        """Typical values of the clusters in the most important columns."""
        if self.importance is None:
            return None
        columns = self.importance.columns[:PROFILED_COLUMNS]
        X = self.X[:, [column.position for column in columns]]
        return cluster_profiles(X, self.model.memberships_, [column.name for column in columns])

    @cached_property
    def path(self) -> FuzzifierPath | None:
        """The solution over all m, on rows of the pictures."""
        if not isinstance(self.model, KFRC) or self.n_clusters == 1:
            return None
        return fuzzifier_path(self.model, self.X, rows=self.shown)

    @cached_property
    def X(self) -> FloatArray:
        """The data as an array."""
        return self.data.to_numpy(dtype=np.float64)

    @cached_property
    def _spectrum(self) -> Spectrum | None:
        """Leading eigenpairs of F on the rows in pictures."""
        if not isinstance(self.model, KFRC):
            return None
        n_wanted = min(len(self.shown), max(self.n_eigenvalues, self.n_clusters + 3))
        return spectrum_of(fitted_gram(self.model, self.X, self.shown), n_wanted)


def summarize(
    model: FuzzyClusterer,
    data: ArrayLike | pd.DataFrame,
    *,
    ids: Sequence[Any] | NDArray[Any] | None = None,
    labels: Labels | None = None,
    confidence: Confidence | None = None,
    n_left_out: int = 0,
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
    data : DataFrame or array-like of shape (n_samples, n_features)
        Numeric; dissimilarities or a Gram matrix if the model was fitted on these.
    ids : sequence, optional
        Names of the rows; the index of ``data`` by default.
    labels : sequence, optional
        Known classes, compared with the clusters; None, NaN and blank text are unknown.
    confidence : Confidence, optional
        From :func:`kfrc.confidence.assess`; without it all that is said of trust is that nothing was refitted.
    n_left_out : int, default=0
        Rows of the file that are not among ``data``.
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
    frame = _as_frame(model, data)
    row_ids = tuple(str(name) for name in (frame.index if ids is None else ids))
    known = None if labels is None else tuple(labels)
    _check_shapes(model, frame, row_ids, known)
    return Facts(
        model=model,
        data=frame,
        ids=row_ids,
        labels=known,
        confidence=confidence,
        n_left_out=n_left_out,
        notes=tuple(notes),
        command=command,
        source=source,
        seed=seed,
        max_points=max_points,
        n_eigenvalues=n_eigenvalues,
    )


def _as_frame(model: FuzzyClusterer, data: Any) -> pd.DataFrame:
    """The data with names: their own, else those of the model, else numbers."""
    if isinstance(data, pd.DataFrame):
        return data
    X = np.asarray(data)
    names = getattr(data, "columns", getattr(model, "feature_names_in_", None))
    if names is None or len(names) != X.shape[1]:
        names = [f"x{j}" for j in range(X.shape[1])]
    return pd.DataFrame(X, columns=[str(name) for name in names])


def _check_shapes(model: FuzzyClusterer, data: pd.DataFrame, ids: Sequence[str], labels: Labels | None) -> None:
    n_rows, n_columns = len(model.memberships_), int(model.n_features_in_)
    fitted = f"but the model was fitted on data of shape {(n_rows, n_columns)}"
    for what, length in (("data", len(data)), ("ids", len(ids)), ("labels", n_rows if labels is None else len(labels))):
        if length != n_rows:
            raise ValueError(f"{what} has {length} rows, {fitted}")
    if data.shape[1] != n_columns:
        raise ValueError(f"data has {data.shape[1]} columns, {fitted}")
