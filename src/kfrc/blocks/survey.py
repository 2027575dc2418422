"""The first pass: how the columns are distributed, which rows are blank, and a sample of the rows.

Everything that later passes must know of all rows comes from here: counts, levels, fences, units and ranges. The sample
is chosen by a hash of the row's index, so that it depends neither on the partition nor on who reads.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kfrc._validation import SMALLEST_TOTAL, short_name
from kfrc.blocks.engine import Engine
from kfrc.blocks.histogram import Histogram
from kfrc.blocks.levels import LevelCounts
from kfrc.blocks.plans import ColumnPlan
from kfrc.blocks.reader import Coding, Reader
from kfrc.columns import raw_values
from kfrc.sources import Chunk, Source, SourceError, row_hashes
from kfrc.typing import FloatArray, IntArray

SAMPLE_ROWS = 20_000
"""Rows that are chosen: kernel, bandwidths and the beginning of the clustering are found with them. Tables with no more
rows are fitted whole, wherever they come from."""

_SPARE = 1.3
"""So many times as many rows are kept on the way, so that enough are left of any number of rows."""

_LARGEST_HASH = 2**64 - 1
_FIRST_BLANKS = 10


def survey_rows(engine: Engine, source: Source, plans: Sequence[ColumnPlan]) -> Survey:
    """Make the first pass; a second one if so many rows have no weight that the sample is too small.

    Raises
    ------
    SourceError
        If weights do not count rows.
    """
    reader = Reader(source, Coding(), engine.partition(source))
    threshold = sample_threshold(source.n_rows)
    found = engine.run_on_chunks(SurveyPass(tuple(plans), threshold), reader, "first pass over the rows")
    if found.total < SMALLEST_TOTAL:
        raise SourceError(
            f"the weights in column '{short_name(source.weight_name)}' sum to {found.total:.3g}, but they say how many "
            f"rows a row stands for and must sum to at least {SMALLEST_TOTAL:g}: multiply them by "
            f"{source.n_rows / max(found.total, np.finfo(np.float64).tiny):.4g}"
        )
    if len(found.sample.rows) < min(SAMPLE_ROWS, found.n_counted):
        threshold = sample_threshold(source.n_rows, found.n_counted)
        found = engine.run_on_chunks(SurveyPass(tuple(plans), threshold), reader, "first pass over the rows, again")
    return found


@dataclass(frozen=True, eq=False)
class Sample:
    """Rows with the smallest hashes of their indices, values as the source holds them.

    Attributes
    ----------
    rows : ndarray of shape (n,)
        Their indices, rising.
    hashes : ndarray of shape (n,)
    columns : tuple of ndarray
        Numbers, or objects of columns whose levels are counted.
    weights : ndarray of shape (n,) or None
    """

    rows: IntArray
    hashes: NDArray[np.uint64]
    columns: tuple[NDArray[Any], ...]
    weights: FloatArray | None

    def joined(self, following: Sample) -> Sample:
        """Of the rows of both."""
        return Sample(
            np.concatenate([self.rows, following.rows]),
            np.concatenate([self.hashes, following.hashes]),
            tuple(np.concatenate(pair) for pair in zip(self.columns, following.columns, strict=True)),
            None
            if self.weights is None or following.weights is None
            else np.concatenate([self.weights, following.weights]),
        )

    def smallest(self, n_rows: int) -> Sample:
        """The rows with the ``n_rows`` smallest hashes, in the order of their indices."""
        if n_rows >= len(self.rows):
            return self
        kept = np.sort(np.argsort(self.hashes, kind="stable")[:n_rows])
        return Sample(
            self.rows[kept],
            self.hashes[kept],
            tuple(column[kept] for column in self.columns),
            None if self.weights is None else self.weights[kept],
        )


@dataclass(frozen=True, eq=False)
class Survey:
    """What the first pass found.

    Attributes
    ----------
    columns : tuple of Histogram or LevelCounts
        One for each plan.
    sample : Sample
    n_rows : int
    total : float
        How many rows there are, weights counted.
    n_counted : int
        Rows that have weight.
    n_blank_rows : int
        Rows of which nothing is known.
    first_blanks : tuple of int
        The first of them.
    """

    columns: tuple[Histogram | LevelCounts, ...]
    sample: Sample
    n_rows: int
    total: float
    n_counted: int
    n_blank_rows: int = 0
    first_blanks: tuple[int, ...] = ()

    def joined(self, following: Survey) -> Survey:
        """Of the rows of both."""
        return Survey(
            tuple(a.joined(b) for a, b in zip(self.columns, following.columns, strict=True)),  # type: ignore[arg-type]
            self.sample.joined(following.sample),
            self.n_rows + following.n_rows,
            self.total + following.total,
            self.n_counted + following.n_counted,
            self.n_blank_rows + following.n_blank_rows,
            (self.first_blanks + following.first_blanks)[:_FIRST_BLANKS],
        )


@dataclass(frozen=True, eq=False)
class SurveyPass:
    """The map of the first pass; it reads chunks, because columns are not numbers yet.

    Attributes
    ----------
    plans : tuple of ColumnPlan
    threshold : int
        Rows whose hashes are below it are kept.
    """

    plans: tuple[ColumnPlan, ...]
    threshold: int

    def __call__(self, chunk: Chunk, first: int) -> Survey:
        """What is known of a block of rows."""
        weights = chunk.weights
        found: list[Histogram | LevelCounts] = []
        blank = np.ones(len(chunk), dtype=bool)
        numbers: dict[int, FloatArray] = {}
        for k, plan in enumerate(self.plans):
            raw = chunk.columns[plan.position]
            if plan.counts_levels:
                found.append(plan.tally(raw, weights))
                blank &= np.isnan(raw) if isinstance(raw, np.ndarray) else np.asarray(raw.is_null())
            else:
                numbers[k] = plan.numbers(raw)
                _refuse_infinity(numbers[k], plan, first)
                found.append(Histogram.of(numbers[k], weights, first, plan.origin, plan.unit))
                blank &= np.isnan(numbers[k])
        rows = np.arange(first, first + len(chunk))
        hashes = row_hashes(rows)
        kept = hashes < np.uint64(self.threshold)
        if weights is not None:
            kept &= weights > 0
        chosen = np.flatnonzero(kept)
        sample = Sample(
            rows[chosen],
            hashes[chosen],
            tuple(
                numbers[k][chosen] if k in numbers else _taken(plan, chunk.columns[plan.position], chosen)
                for k, plan in enumerate(self.plans)
            ),
            None if weights is None else weights[chosen],
        )
        nothing = np.flatnonzero(blank)
        return Survey(
            tuple(found),
            sample,
            len(chunk),
            float(len(chunk)) if weights is None else float(weights.sum()),
            len(chunk) if weights is None else int((weights > 0).sum()),
            len(nothing),
            tuple((first + nothing[:_FIRST_BLANKS]).tolist()),
        )


def _taken(plan: ColumnPlan, raw: Any, chosen: IntArray) -> NDArray[Any]:
    return raw[chosen] if isinstance(raw, np.ndarray) else raw_values(plan.raw.title, raw.take(chosen))


def _refuse_infinity(values: FloatArray, plan: ColumnPlan, first: int) -> None:
    infinite = np.isinf(values)
    if infinite.any():
        raise ValueError(
            f"column '{short_name(plan.raw.title)}' contains infinity (the first in row "
            f"{first + int(infinite.argmax())}): correct it, or make it NaN if it stands for a missing value"
        )


def sample_threshold(n_rows: int, n_counted: int | None = None) -> int:
    """Hashes below it belong to enough of the rows that count, and not to many more."""
    n_counted = n_rows if n_counted is None else n_counted
    return _LARGEST_HASH if n_counted <= 2 * SAMPLE_ROWS else int(_SPARE * SAMPLE_ROWS / n_counted * _LARGEST_HASH)
