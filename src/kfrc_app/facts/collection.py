"""One set of facts of a fit: the terminal, summary.json, the report, comparisons and displays all read it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.utils import get_tags

from kfrc import KFRC
from kfrc.clusterers import FuzzyClusterer
from kfrc.confidence import Confidence
from kfrc.spectrum import Spectrum, spectrum_of
from kfrc.typing import FloatArray, IntArray
from kfrc_app.facts import portraits
from kfrc_app.facts.agreement import Agreement, agreement
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
from kfrc_app.facts.crossings import Crossing, Crossings, cross_labels, crossings
from kfrc_app.facts.distributions import Distribution, distribution
from kfrc_app.facts.fit import Fit, fit_facts, remarks
from kfrc_app.facts.fitted import blank_is_level
from kfrc_app.facts.geometry import fitted_gram, fitted_space, sample_rows, sphere_coordinates
from kfrc_app.facts.groups import Group
from kfrc_app.facts.importance import Importance, importance
from kfrc_app.facts.levels import LevelShares, description, level_shares
from kfrc_app.facts.opening import Opening, opening
from kfrc_app.facts.path import FuzzifierPath, fuzzifier_path, varies_with_m
from kfrc_app.facts.plane import Plane
from kfrc_app.facts.profiles import Profiles, cluster_profiles
from kfrc_app.facts.reliability import Reliability, reliability_facts
from kfrc_app.facts.rows import BorderlineRow
from kfrc_app.facts.search import Search, search_facts
from kfrc_app.facts.stability import FuzzifierOutlook, Stability, fuzzifier_outlooks, model_stability
from kfrc_app.facts.table import TableFacts, as_numbers, table_facts
from kfrc_app.facts.text import clean
from kfrc_app.facts.typical import TypicalColumn, typical_columns
from kfrc_app.tables import Kind

PROFILED_COLUMNS = 100
"""Columns whose profiles are computed, the most important ones."""

MAIN_COLUMNS = 12
"""Columns that are drawn group by group and shown beside rows, the most important ones."""

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
    weights : ndarray of shape (n_samples,) or None
        How many rows each row stands for.
    aside : DataFrame of shape (n_samples, n_columns_aside) or None
        Columns that were not clustered by.
    notes : tuple of str
    command, source : str
    seed : int or None
    max_points, n_eigenvalues : int
    given : DataFrame, ndarray or None
        The data as the model knows them, before levels were named by text; None if ``data`` are that.
    """

    model: FuzzyClusterer
    data: pd.DataFrame
    ids: tuple[str, ...]
    labels: tuple[Any, ...] | None
    confidence: Confidence | None
    n_left_out: int
    weights: FloatArray | None
    aside: pd.DataFrame | None
    notes: tuple[str, ...]
    command: str
    source: str
    seed: int | None
    max_points: int
    n_eigenvalues: int
    given: pd.DataFrame | NDArray[Any] | None = None

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
    def positions(self) -> dict[str, int]:
        """Where the columns are, by name."""
        return {name: j for j, name in enumerate(self.names)}

    @cached_property
    def table(self) -> TableFacts | None:
        """Types of the columns, gaps and weights; None for a matrix of dissimilarities or kernel values."""
        return None if self.pairwise else table_facts(self.data, self.weights)

    @cached_property
    def fit(self) -> Fit:
        """Settings of the fit and how it ended."""
        return fit_facts(self.model, self.weights)

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
        return model_stability(self.model, self.seen, self.weights)

    @property
    def held(self) -> str:
        """What stability is a matter of, in words: the bandwidths of the fit, or its distances."""
        return "bandwidths" if self.importance is not None and self.importance.has_bandwidths else "distances"

    @cached_property
    def fuzzifiers(self) -> tuple[FuzzifierOutlook, ...]:
        """What every fuzzifier would do with the same distances."""
        if self.stability is None or self.n_clusters == 1:
            return ()
        return fuzzifier_outlooks(self.n_clusters, self.stability.leading_eigenvalue)

    @cached_property
    def clusters(self) -> tuple[Cluster, ...]:
        """The clusters."""
        return cluster_facts(self.model, self.weights)

    @cached_property
    def belonging(self) -> FloatArray:
        """How much every row counts in what is told of every cluster: one in its own, so that a spreadsheet agrees.

        The clusters of a collapsed fit have no rows of their own: there all rows count in all clusters.
        """
        if self.fit.collapsed:
            return self.model.memberships_
        return np.equal.outer(self.model.labels_, np.arange(self.n_clusters)).astype(np.float64)

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
        if isinstance(self.model, KFRC):
            return importance(self.model, self.names, None if self.pairwise else self.data)
        if self.pairwise:
            return None
        space = fitted_space(self.model, self.seen, weights=self.weights)
        shares = space.cluster_contributions(self.model.memberships_, self.model.fuzzifier_)
        return importance(self.model, self.names, self.data, shares)

    @cached_property
    def main_columns(self) -> tuple[str, ...]:
        """Names of the most important columns."""
        return () if self.importance is None else tuple(column.name for column in self.importance.used[:MAIN_COLUMNS])

    @cached_property
    def opening(self) -> Opening:
        """The first sentences."""
        return opening(
            self.trust, self.source_name, self.n_rows, self.largest_memberships, self.importance, self.choice
        )

    @cached_property
    def groups(self) -> tuple[Group, ...]:
        """The clusters as people speak of them, with names and typical rows."""
        return portraits.groups(self)

    @cached_property
    def borderline(self) -> tuple[BorderlineRow, ...]:
        """The rows between groups, with their values."""
        return portraits.borderline(self)

    @cached_property
    def plane(self) -> Plane | None:
        """A map of the rows in pictures."""
        return portraits.plane(self)

    @cached_property
    def distributions(self) -> tuple[Distribution | LevelShares, ...]:
        """How the main columns are spread in the clusters; shares of levels for those that have levels."""
        if self.table is None:
            return ()
        with_levels = {shares.column.name: shares for shares in self.levels}
        found: list[Distribution | LevelShares] = []
        for name in self.main_columns:
            j = self.positions[name]
            spread = with_levels.get(name) or distribution(
                self.table.columns[j], self.X[:, j], self.belonging, self.weights
            )
            found += [] if spread is None else [spread]
        return tuple(found)

    @cached_property
    def crossings(self) -> Crossings | None:
        """Columns that were not clustered by, beside the clusters; None without any, and for a collapsed fit."""
        if self.aside is None or self.aside.shape[1] == 0 or self.fit.collapsed:
            return None
        return crossings(self.aside, self.model.labels_, self.n_clusters, self.weights)

    @cached_property
    def label_crossing(self) -> Crossing | None:
        """The known labels beside the clusters; None without any, and for a collapsed fit."""
        if self.labels is None or self.fit.collapsed:
            return None
        return cross_labels(self.labels, self.model.labels_, self.n_clusters, self.weights)

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
        if self.fit.collapsed:
            return None
        return agreement(self.labels, self.model.labels_, self.n_clusters, self.weights)

    @cached_property
    def reliability(self) -> Reliability | None:
        """Memberships against the judge's probabilities and the labels."""
        return reliability_facts(self.model, None if self.fit.collapsed else self.labels)

    @cached_property
    def shown(self) -> IntArray:
        """Rows in pictures: all of them, or a sample in proportion to the clusters."""
        return sample_rows(self.model.labels_, self.max_points)

    @cached_property
    def eigenvalues(self) -> FloatArray:
        """Those of F, descending: the fit's own, then further ones from the rows in pictures."""
        if not isinstance(self.model, KFRC):
            return self._spectrum.eigenvalues
        leading = self.model.eigenvalues_
        return np.concatenate([leading, np.minimum(self._spectrum.eigenvalues[len(leading) :], leading[-1])])

    @cached_property
    def sphere(self) -> FloatArray:
        """The rows in pictures on the unit sphere, of shape (n_shown, 3)."""
        return sphere_coordinates(self._spectrum)

    @property
    def explained(self) -> float:
        """Share of the variation along the three axes of the sphere."""
        return float(self._spectrum.eigenvalues[:3].sum())

    @cached_property
    def profiles(self) -> Profiles | None:
        """Typical values of the clusters in the most important columns that have an order; None if there are none."""
        if self.table is None:
            return None
        columns = [(j, self.table.columns[j]) for j in self.profiled]
        measured = [(j, column) for j, column in columns if column.kind is not Kind.NOMINAL]
        if not measured:
            return None
        return cluster_profiles(
            self.X[:, [j for j, _ in measured]],
            self.belonging,
            [column.name for _, column in measured],
            weights=self.weights,
            columns=[column for _, column in measured],
        )

    @cached_property
    def levels(self) -> tuple[LevelShares, ...]:
        """Shares of levels in the clusters, for the most important columns that have levels."""
        if self.table is None:
            return ()
        return level_shares(
            self.data,
            self.belonging,
            self.table.columns,
            self.profiled,
            self.weights,
            blank_is_level=blank_is_level(self.model),
        )

    @cached_property
    def typical(self) -> tuple[TypicalColumn, ...]:
        """What is typical of the clusters in the most important columns."""
        return typical_columns(self.profiles, self.levels, [self.names[j] for j in self.profiled])

    def description(self, cluster: int) -> str:
        """In what a cluster stands out, in words."""
        return description(self.profiles, self.levels, cluster)

    @cached_property
    def profiled(self) -> list[int]:
        """Positions of the columns that profiles tell of, the most important first."""
        columns = () if self.importance is None else self.importance.columns[:PROFILED_COLUMNS]
        return [column.position for column in columns]

    @cached_property
    def path(self) -> FuzzifierPath | None:
        """The solution over all m, on rows of the pictures; None for methods that would have to be fitted again."""
        if self.n_clusters == 1 or not varies_with_m(self.model) or not self.model._minimizes_relation:
            return None
        return fuzzifier_path(self.model, self.seen, rows=self.shown, weights=self.weights)

    @cached_property
    def X(self) -> FloatArray:
        """The data as an array: dates in days, levels by their position, NaN where something is missing."""
        if all(dtype == np.float64 for dtype in self.data.dtypes):
            return self.data.to_numpy(dtype=np.float64)
        return np.column_stack([as_numbers(self.data.iloc[:, j]) for j in range(self.data.shape[1])])

    @property
    def seen(self) -> pd.DataFrame | NDArray[Any]:
        """What the model was fitted on: an array if all entries are numbers, else the table."""
        if self.pairwise or self._is_plain:
            return self.X
        return self.data if self.given is None else self.given

    @cached_property
    def _is_plain(self) -> bool:
        """Whether there are numbers only, none of them missing, and no weights."""
        return self.weights is None and self.table is not None and self.table.is_plain and not self.table.n_incomplete

    @cached_property
    def _spectrum(self) -> Spectrum:
        """Leading eigenpairs of F on the rows in pictures."""
        n_wanted = min(len(self.shown), max(self.n_eigenvalues, self.n_clusters + 3))
        return spectrum_of(fitted_gram(self.model, self.seen, self.shown, self.weights), n_wanted)
