"""Which columns an opinion is about, and what the others are worth: evidence to compare sets of columns by."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from kfrc.columns import Rows, Table, on_columns
from kfrc.judges import Judge, Opinion, PosteriorModel
from kfrc.mixtures import commonest_shares
from kfrc.screening import Screening
from kfrc.selection.backgrounds import Descriptions, PlainDescriptions, TableDescriptions
from kfrc.typing import BoolArray, FloatArray, IntArray

_ROUNDS = 4
"""Times that the columns of an opinion are revised at most."""

_MAX_GROUPS = 3
"""Groups of columns that are heard by themselves, the largest ones."""

_ALMOST_CONSTANT = 0.98
"""Share of rows with the very same value from which on a column of numbers is not seen: it tells at most a fiftieth of
the rows from the others, and a mixture would spend its clusters on these."""

MAX_VIEWS = 2 + 3 * _MAX_GROUPS
"""Sets of columns to begin with, at most."""


@dataclass(frozen=True)
class OnColumns:
    """A model of some columns, for rows with all of them."""

    model: PosteriorModel
    columns: IntArray

    def posterior(self, X: Rows) -> FloatArray:
        """Probability of every cluster, of shape (n_samples, n_clusters)."""
        return self.model.posterior(X[:, self.columns])


@dataclass(frozen=True)
class ColumnOpinion:
    """An opinion on some of the columns, with evidence on all of them.

    Attributes
    ----------
    columns : ndarray of shape (k,)
        What the opinion is about.
    opinion : Opinion
        Its evidence counts all columns: those left out are described by one Gaussian. Its model takes rows with all.
    """

    columns: IntArray
    opinion: Opinion

    @property
    def evidence(self) -> float:
        """Of all columns."""
        return self.opinion.evidence


class ColumnEvidence:
    """Evidence of opinions on sets of columns of one table.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features) or Table
        Columns with mean zero and standard deviation one, or of any type in their units.
    screening : Screening
        Which columns depend on each other.
    judge : Judge
        One whose evidence is no density sees all columns only.
    """

    def __init__(self, X: Rows, screening: Screening, judge: Judge) -> None:
        self.X = X
        self.judge = judge
        self.screening = screening
        self._descriptions: Descriptions = (
            TableDescriptions(X) if isinstance(X, Table) else PlainDescriptions(X, screening.dependent)
        )
        self._backgrounds: dict[bytes, tuple[FloatArray, int]] = {}
        varying = np.ones(X.shape[1], dtype=bool) if isinstance(X, Table) else commonest_shares(X) < _ALMOST_CONSTANT
        self._varying: BoolArray = varying if varying.any() and judge.has_density else np.ones_like(varying)

    def views(self) -> list[IntArray]:
        """Sets of columns to begin with: the relevant ones, all, each group that hangs together, and both without it.

        Two groups of columns that do not depend on each other tell of two different things: noise that columns share,
        for instance, and clusters. And clusters may be too faint for the screen where such noise is not.
        """
        relevant = self.screening.relevant
        everything = np.flatnonzero(self._varying)
        if not self.judge.has_density:
            return [everything]
        groups = sorted(self.screening.components(), key=len, reverse=True)[:_MAX_GROUPS]
        views = [np.flatnonzero(relevant), everything]
        views += groups if len(groups) > 1 else []
        views += [np.setdiff1d(view, group) for view in views[:2] for group in groups]
        views = [np.intersect1d(view, everything) for view in views]
        distinct = {tuple(view.tolist()): view for view in views if len(view)}
        return list(distinct.values())

    def opinions(self, columns: IntArray, partitions: list[FloatArray]) -> list[ColumnOpinion]:
        """What the judge makes of partitions when it sees these columns, the best first."""
        seen = on_columns(self.X, columns)
        return [self.on_all_columns(columns, opinion) for opinion in self.judge.examine(seen, partitions)]

    def on_all_columns(self, columns: IntArray, opinion: Opinion) -> ColumnOpinion:
        """An opinion on some columns with the evidence of the others added, and a model that takes rows with all."""
        background, n_parameters = self.background(columns)
        complete = replace(
            opinion,
            evidence=opinion.evidence + float(background.sum()),
            row_evidence=opinion.row_evidence + background,
            model=None if opinion.model is None else OnColumns(opinion.model, columns),
            n_parameters=opinion.n_parameters + n_parameters,
        )
        return ColumnOpinion(columns, complete)

    def of_one_cluster(self) -> ColumnOpinion:
        """The best description without clusters: a single component, or the columns as if none were seen."""
        n_samples = len(self.X)
        everything, one = np.flatnonzero(self._varying), np.ones((n_samples, 1))
        single = self.opinions(everything, [one])[0]
        background, n_parameters = self.background(everything[:0])
        if not self.judge.has_density or background.sum() <= single.evidence:
            return single
        return ColumnOpinion(
            everything, Opinion("gaussian", float(background.sum()), one, background, n_parameters=n_parameters)
        )

    def priced(self, opinions: Sequence[ColumnOpinion]) -> list[ColumnOpinion]:
        """Opinions with evidence to choose by.

        If even the most evidence is less than that of one cluster, the rows cannot pay for the clusters that are asked
        for, and the cheapest way to cut any column in two would win. Then parameters are priced by Akaike's criterion.
        """
        most = max(opinion.evidence for opinion in opinions)
        if not self.judge.has_density or most >= self._evidence_of_one:
            return list(opinions)
        total = self.X.total if isinstance(self.X, Table) else len(self.X)
        return [_at_akaikes_price(opinion, total) for opinion in opinions]

    @cached_property
    def _evidence_of_one(self) -> float:
        return self.of_one_cluster().evidence

    def refined(self, best: ColumnOpinion) -> ColumnOpinion:
        """The opinion with other columns, as long as that raises the evidence.

        Columns in which the clusters differ by more than chance pays for are the next to be seen, alone or with those
        that are seen already. A group of columns that hang together may be left out as a whole.
        """
        groups = self.screening.components()
        groups = groups if len(groups) > 1 else []
        for _ in range(_ROUNDS if self.judge.has_density else 0):
            differing = self.differing(best.opinion)
            sets = [differing, np.union1d(differing, best.columns)]
            sets += [np.setdiff1d(best.columns, group) for group in groups if np.isin(group, best.columns).any()]
            trials = {tuple(columns.tolist()) for columns in sets if len(columns)} - {tuple(best.columns.tolist())}
            better = [self.opinions(np.array(columns), [best.opinion.posterior])[0] for columns in sorted(trials)]
            better = [trial for trial in better if trial.evidence > best.evidence]
            if not better:
                break
            best = max(better, key=lambda trial: trial.evidence)
        return best

    def differing(self, opinion: Opinion) -> IntArray:
        """Columns in which the clusters differ by more than chance pays for."""
        return np.flatnonzero((self._descriptions.gains(opinion.posterior) > 0) & self._varying)

    def background(self, seen: IntArray) -> tuple[FloatArray, int]:
        """Evidence, row by row, of the columns that are not seen, and how many parameters it has paid for.

        Columns that hang together are described by a Gaussian with full covariance, alone or given those that are
        seen, or by independent ones, whichever the Bayesian information criterion prefers.
        """
        if seen.tobytes() not in self._backgrounds:
            self._backgrounds[seen.tobytes()] = self._descriptions.without_clusters(seen)
        return self._backgrounds[seen.tobytes()]


def _at_akaikes_price(found: ColumnOpinion, total: float) -> ColumnOpinion:
    """The opinion with evidence that pays one for a parameter instead of half the logarithm of the number of rows."""
    rows, opinion = found.opinion.row_evidence, found.opinion
    rows = rows + max(0.5 * math.log(total) - 1.0, 0.0) * opinion.n_parameters / len(rows)
    return replace(found, opinion=replace(opinion, evidence=float(rows.sum()), row_evidence=rows))
