"""From a table to a path kernel: which columns, exponent, neighbors and m, by the density judge."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from kfrc.columns import on_columns, values_of
from kfrc.densities import joint_columns, working_rows
from kfrc.dissimilarity import Dissimilarity
from kfrc.existence import test_existence
from kfrc.fitting.table import TableView
from kfrc.fitting.tuning import Fixed, Tuned, Tuning
from kfrc.fuzzifiers import Fuzzifier
from kfrc.gram import gram_family
from kfrc.judges import DensityJudge, PosteriorModel, density_numbers
from kfrc.kernels import Kernel
from kfrc.metrics.frobenius import agreement
from kfrc.relational import Start, descend
from kfrc.screening import Screen
from kfrc.selection import ClusterCount, Grid, SearchOptions
from kfrc.selection.tuned_kernels import MAX_ITER, TOL
from kfrc.selection.wide import set_columns_aside
from kfrc.spectrum import spectrum_of
from kfrc.typing import ArrayLike, BoolArray, FloatArray, Progress

_NUMBERS = range(2, 9)
"""Of clusters, for which the foremost columns of a wide table are looked for."""


@dataclass(frozen=True)
class Paths(Tuning):
    """A path kernel: its partition and its settings by the density judge, the fuzziness by agreement with that judge.

    Attributes
    ----------
    grid : Grid
        Fuzzifiers to compare; the criterion that is reported.
    options : SearchOptions
        How the Gram matrix is held.
    judge : DensityJudge
        With the kernels to compare.
    screen : Screen
        What leaves columns out first.
    bandwidths : float, array-like of shape (n_columns,) or None
        Scales of the columns in the units of the table. None means one standard deviation (or one unit, if columns are
        not standardized) for columns that belong together, and infinity for the others.
    """

    grid: Grid
    options: SearchOptions
    judge: DensityJudge
    screen: Screen
    bandwidths: ArrayLike | None = None

    @property
    def n_tasks(self) -> int:  # noqa: D102
        return 2  # judging, comparing

    def without_search(self) -> Fixed:  # noqa: D102
        return Fixed(self.grid, self.options, searches=False)

    def tune(  # noqa: D102
        self, view: TableView, n_clusters: int, start: Start, rng: np.random.Generator, progress: Progress
    ) -> Tuned:
        log_bandwidths = self._log_bandwidths(view)
        units = _Units.of(view, log_bandwidths)
        X = units.rows(values_of(view.standardized))
        best = self.judge.look(X, n_clusters)[0]
        assert best.kernel is not None  # every partition that it looked for comes from a kernel
        assert best.model is not None
        progress("judging")
        fuzzifier = self._fuzzifier(X, best.kernel, best.posterior)
        progress("comparing")
        return Tuned(
            best.kernel,
            self.grid.criteria[0],
            None,
            fuzzifier,
            log_bandwidths,
            memberships=best.posterior,
            opinion=replace(best, model=UsedColumns(units, best.model)),
        )

    def count(self, view: TableView, numbers: Sequence[int], rng: np.random.Generator) -> ClusterCount:
        """How much the places of the rows tell about the best partition into each number of clusters."""
        X = _Units.of(view, self._log_bandwidths(view)).rows(values_of(view.standardized))
        shares = density_numbers(X, [1, *numbers], self.judge.kernels, self.judge.fuzzifier)
        existence = test_existence(values_of(view.standardized), random_state=rng, n_jobs=self.options.n_jobs).p_value
        return ClusterCount(
            n_clusters=np.array([1, *numbers]),
            evidence=shares,
            valleys=np.zeros(len(shares)),
            largest=numbers[-1],
            by_density=numbers[int(shares[1:].argmax())],
            existence=existence,
        )

    def _log_bandwidths(self, view: TableView) -> FloatArray:
        """Logarithms of the scales in standard deviations; infinite for columns that do not belong to the others."""
        if self.bandwidths is not None:
            return view.given_in_deviations(self.bandwidths)
        foremost = set_columns_aside(view.standardized, _NUMBERS, self.screen)
        seen = np.arange(len(view.scale)) if foremost is None else foremost.columns
        relevant = seen[self.screen.examine(on_columns(view.standardized, seen)).relevant]
        kept = relevant[joint_columns(np.ascontiguousarray(values_of(view.standardized)[:, relevant]))]
        log_bandwidths = np.full(len(view.scale), np.inf)
        log_bandwidths[kept] = np.log(view.unit / view.scale)[kept]
        return log_bandwidths

    def _fuzzifier(self, X: FloatArray, kernel: Kernel, posterior: FloatArray) -> Fuzzifier:
        """The one whose memberships agree best with the judge, among those that cannot collapse."""
        fuzzifiers, n_clusters = self.grid.fuzzifiers, posterior.shape[1]
        if len(fuzzifiers) == 1:
            return fuzzifiers[0]
        rows = working_rows(X)
        gram = gram_family(X[rows], kernel).at(np.ones(X.shape[1]))
        leading = spectrum_of(gram, 1).eigenvalues[0]
        safe = [t for t in fuzzifiers if leading > t.inverse_kappa(n_clusters)] or fuzzifiers[:1]
        dissimilarity = Dissimilarity(gram)

        def recovered(t: Fuzzifier) -> float:
            return agreement(posterior[rows], descend(dissimilarity, t, posterior[rows], MAX_ITER, TOL).memberships)

        return max(safe, key=recovered)


@dataclass(frozen=True)
class _Units:
    """The columns that paths lead through, in units in which their mean variance is one.

    Attributes
    ----------
    used : ndarray of bool
    scales : ndarray of shape (n_used,)
        In standard deviations.
    """

    used: BoolArray
    scales: FloatArray

    @classmethod
    def of(cls, view: TableView, log_bandwidths: FloatArray) -> _Units:
        used = np.isfinite(log_bandwidths)
        scales = np.exp(log_bandwidths[used])
        spread = np.sqrt(np.mean(values_of(view.standardized)[:, used].var(axis=0) / scales**2))
        return cls(used, scales * spread)

    def rows(self, standardized: FloatArray) -> FloatArray:
        """Rows as the judge sees them."""
        return standardized[:, self.used] / self.scales


@dataclass(frozen=True)
class UsedColumns:
    """A model of some columns, asked about rows with all of them in standard units."""

    units: _Units
    model: PosteriorModel

    def posterior(self, X: FloatArray) -> FloatArray:
        """Probabilities of shape (n_samples, n_clusters)."""
        return self.model.posterior(self.units.rows(X))
