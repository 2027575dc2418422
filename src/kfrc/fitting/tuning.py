"""From a table to a kernel with bandwidths and a fuzzifier: given, searched for, or chosen among candidates."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace

import numpy as np

from kfrc._threads import threads_for
from kfrc.bandwidth import BandwidthResult, select_bandwidths
from kfrc.columns import log_deviations, on_columns, values_of
from kfrc.criteria import Criterion
from kfrc.fitting.table import TableView
from kfrc.foremost import Foremost, differing_columns
from kfrc.fuzzifiers import Fuzzifier
from kfrc.judges import Judge, Opinion
from kfrc.kernels import Kernel
from kfrc.relational import Start
from kfrc.screening import Screen
from kfrc.selection import Grid, SearchOptions, Selection, choose
from kfrc.selection.columns import MAX_VIEWS
from kfrc.selection.wide import in_whole_table, set_columns_aside
from kfrc.typing import ArrayLike, FloatArray, IntArray, Progress


@dataclass(frozen=True)
class Tuned:
    """What the clustering at the end needs to know.

    Attributes
    ----------
    kernel : Kernel
    criterion : Criterion
    max_anisotropy : float or None
        The bound of the search; None if there was none.
    fuzzifier : Fuzzifier
    log_bandwidths : ndarray of shape (k,)
        Of the varying columns, in standard deviations.
    search : BandwidthResult or None
        How they were found; None if they were given.
    selection : Selection or None
        What was compared; None if nothing was.
    memberships : ndarray of shape (n_samples, n_clusters) or None
        Where the clustering continues; None if it begins anew.
    columns : ndarray of shape (k,) or None
        Which of the varying columns the kernel sees; None if all.
    opinion : Opinion or None
        What a judge believes, where there is no ``selection`` that holds it.
    foremost : Foremost or None
        Columns that the choice saw; None if all.
    """

    kernel: Kernel
    criterion: Criterion
    max_anisotropy: float | None
    fuzzifier: Fuzzifier
    log_bandwidths: FloatArray
    search: BandwidthResult | None = None
    selection: Selection | None = None
    memberships: FloatArray | None = None
    columns: IntArray | None = None
    opinion: Opinion | None = None
    foremost: Foremost | None = None

    @property
    def believed(self) -> Opinion | None:
        """What a judge believes, if one was asked."""
        return self.opinion if self.selection is None else self.selection.opinion


class Tuning(ABC):
    """A way to come by kernel, bandwidths and fuzzifier."""

    @property
    @abstractmethod
    def n_tasks(self) -> int:
        """Units of work that it reports, with those of the clustering that follows not counted."""

    @abstractmethod
    def without_search(self) -> Fixed:
        """What is left for one cluster, where there is nothing to separate."""

    @abstractmethod
    def tune(
        self, view: TableView, n_clusters: int, start: Start, rng: np.random.Generator, progress: Progress
    ) -> Tuned:
        """Kernel, bandwidths and fuzzifier for a table; ``start`` is where partitions to be compared begin."""


@dataclass(frozen=True)
class Fixed(Tuning):
    """No choice: given bandwidths, or one search with given settings.

    Attributes
    ----------
    grid : Grid
        The settings: the first of each, where there may be several that make no difference.
    options : SearchOptions
    searches : bool
        Whether bandwidths are searched; if not they are given, or it does not matter which.
    bandwidths : float, array-like of shape (n_columns,) or None
        In the units of the table.
    """

    grid: Grid
    options: SearchOptions
    searches: bool = True
    bandwidths: ArrayLike | None = None

    @property
    def n_tasks(self) -> int:  # noqa: D102
        return self.options.n_starts if self.searches else 0

    def without_search(self) -> Fixed:  # noqa: D102
        return replace(self, searches=False)

    def tune(  # noqa: D102
        self, view: TableView, n_clusters: int, start: Start, rng: np.random.Generator, progress: Progress
    ) -> Tuned:
        grid = self.grid
        search = None
        if self.bandwidths is not None:
            log_bandwidths = view.given_in_deviations(self.bandwidths)
        elif self.searches:
            search = self._search(view, n_clusters, rng, progress)
            log_bandwidths = view.in_deviations(search.log_bandwidths)
        else:
            log_bandwidths = np.zeros_like(view.scale)  # one cluster: there is nothing to separate
        bound = None if search is None else grid.anisotropies[0]
        return Tuned(grid.kernels[0], grid.criteria[0], bound, grid.fuzzifiers[0], log_bandwidths, search)

    def _search(
        self, view: TableView, n_clusters: int, rng: np.random.Generator, progress: Progress
    ) -> BandwidthResult:
        grid, options = self.grid, self.options
        return select_bandwidths(
            view.searched,
            n_clusters,
            kernel=grid.kernels[0],
            criterion=grid.criteria[0],
            threshold=options.threshold_for(grid.fuzzifiers, n_clusters),
            max_anisotropy=grid.anisotropies[0],
            n_starts=options.n_starts,
            optimizer=options.optimizer,
            level=grid.levels[0],
            approximation=options.approximation,
            rank=options.rank,
            search_samples=options.search_samples,
            random_state=rng,
            n_jobs=options.n_jobs,
            progress=progress,
        )


@dataclass(frozen=True)
class Chosen(Tuning):
    """An automatic choice among candidates, by a judge that needs no labels.

    Attributes
    ----------
    grid : Grid
    judge : Judge
    screen : Screen
    options : SearchOptions
    max_rows : int
        With more rows than this the choice is made on a random subset of that many.
    """

    grid: Grid
    judge: Judge
    screen: Screen
    options: SearchOptions
    max_rows: int

    @property
    def n_tasks(self) -> int:  # noqa: D102
        # Every view, the best columns and those of the opinion; judging, comparing.
        return (MAX_VIEWS + 2) * len(self.grid.searches()) + 3

    def without_search(self) -> Fixed:  # noqa: D102
        return Fixed(self.grid, self.options, searches=False)

    def tune(  # noqa: D102
        self, view: TableView, n_clusters: int, start: Start, rng: np.random.Generator, progress: Progress
    ) -> Tuned:
        rows = view.subset(self.max_rows, rng)
        whole = rows.rounded().standardized
        foremost = set_columns_aside(whole, [n_clusters], self.screen)
        part = rows if foremost is None else rows.restricted(foremost.columns)
        if foremost is not None:
            progress("foremost columns")
        seen = part.rounded()
        with threads_for(len(seen.standardized)):
            selection = choose(
                seen.searched,
                seen.standardized,
                n_clusters,
                self.grid,
                self.judge,
                screen=self.screen,
                start=start,
                options=replace(self.options, one_scale=view.one_scale),
                rng=rng,
                progress=progress,
            )
        # What the levels of the search are relative to.
        drift = log_deviations(part.searched) - log_deviations(seen.searched)
        drift = drift[selection.chosen.tuned.columns]
        if foremost is not None:
            selection = in_whole_table(selection, foremost.columns)
            n_differing = len(differing_columns(whole, selection.opinion.posterior))
            foremost = replace(foremost, columns=view.columns[foremost.columns], n_differing=n_differing)
        chosen = selection.chosen
        tuned = chosen.tuned
        memberships = chosen.solution.memberships
        if rows is not view:
            # The other rows join the clusters found on the subset.
            centers = tuned.dissimilarity.gram.centers(chosen.solution.prototypes)
            others = values_of(on_columns(view.searched, tuned.columns))
            memberships = chosen.fuzzifier.memberships(centers.squared_distances(others))
        return Tuned(
            tuned.kernel,
            tuned.criterion,
            tuned.max_anisotropy,
            chosen.fuzzifier,
            view.restricted(tuned.columns).in_deviations(tuned.log_bandwidths + drift),
            tuned.search,
            selection,
            memberships,
            tuned.columns,
            foremost=foremost,
        )
