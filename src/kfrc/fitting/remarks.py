"""What a user should know of a fit: one message for each thing, with the class of its warning."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kfrc._numerics import NOTICEABLE_ERROR
from kfrc.exceptions import (
    ApproximationWarning,
    IgnoredParameterWarning,
    LargestNumberWarning,
    LeftOutColumnWarning,
    NearTieWarning,
    NoStructureWarning,
)
from kfrc.fitting.result import KernelFit
from kfrc.gram.column_blocks import MOST_VALUES
from kfrc.gram.column_grams import ColumnGram


def remarks(result: KernelFit, in_vain: Sequence[str]) -> Iterator[tuple[str, type[Warning]]]:
    """What was set in vain, what is not exact, and when clusters may not exist.

    Parameters
    ----------
    result : KernelFit
    in_vain : sequence of str
        See :func:`kfrc.fitting.parameters_in_vain`.
    """
    if in_vain:
        yield "; ".join(in_vain), IgnoredParameterWarning
    gram, error = result.gram, result.approximation_error
    if gram.backend != "nystrom" and error > NOTICEABLE_ERROR:
        by_columns = isinstance(gram, ColumnGram) or result.error_of_passes == error
        remedy = f"columns rounded to at most {MOST_VALUES} different values" if by_columns else "at most 5000 rows"
        yield (
            "the bandwidths are too small for the kernel to be resolved at every row: squared distances are off by up "
            f"to {error:.2g} times their mean. Use a higher level, larger bandwidths, or {remedy}",
            ApproximationWarning,
        )
    if result.selection is not None and result.selection.n_ties:
        yield (
            "the choice was a tie: another partition describes the data just as well. Treat the clusters as one of "
            f"{result.selection.n_ties + 1} ways to cut the data",
            NearTieWarning,
        )
    foremost = result.foremost
    if foremost is not None and foremost.n_differing > foremost.most:
        yield (
            f"the clusters differ in about {foremost.n_differing} of {foremost.n_columns} columns, of which the "
            f"{len(foremost.columns)} foremost were used; the others have an infinite bandwidth and no share in "
            "contributions_, although they differ too",
            LeftOutColumnWarning,
        )
    count = result.count
    if count is not None and count.best == 1:
        why = (
            "mixtures of several groups explain it no better than one group does"
            if count.existence is None
            else f"tables of one group look as grouped as it does (p = {count.existence:.2g})"
        )
        yield (
            f"there is no sign of more than one group in the data: {why}. All memberships are 1. To cut the data all "
            "the same give a number of clusters",
            NoStructureWarning,
        )
    elif count is not None and count.is_largest:
        yield (
            f"{count.best} clusters were found, the largest number tried: there may be more. Raise max_clusters",
            LargestNumberWarning,
        )
