"""A second opinion for clusters of any shape: where a density describes columns better than a mixture, it is heard."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np

from kfrc.densities import joint_columns
from kfrc.judges import DensityJudge, Opinion, believe_density, density_beats, density_numbers
from kfrc.selection.columns import ColumnEvidence, ColumnOpinion
from kfrc.typing import FloatArray, IntArray


def density_opinion(evidence: ColumnEvidence, mixture: ColumnOpinion, judge: DensityJudge) -> ColumnOpinion | None:
    """The density judge's opinion, if it is to be believed more than the mixture's.

    It looks at groups of columns that hang together, each by itself, and compares with a mixture of just these columns.

    Parameters
    ----------
    evidence : ColumnEvidence
    mixture : ColumnOpinion
        The best opinion so far; the density judge looks for as many clusters.
    judge : DensityJudge

    Returns
    -------
    ColumnOpinion or None
    """
    partition = mixture.opinion.posterior
    believed: list[ColumnOpinion] = []
    for columns in _groups(evidence, judge):
        X = np.ascontiguousarray(evidence.X[:, columns])
        found = judge.examine(X, [partition])[0]
        if found.kernel is None:
            continue  # the partition of the mixture is the best the judge knows
        own = evidence.judge.examine(X, [partition, found.posterior])[0]
        if believe_density(found, _log_densities(own), own.n_parameters, own.posterior, X):
            believed.append(evidence.on_all_columns(columns, found))
    return max(believed, key=lambda opinion: opinion.evidence, default=None)


def count_by_density(
    evidence: ColumnEvidence, opinions: Sequence[ColumnOpinion], judge: DensityJudge
) -> ColumnOpinion | None:
    """The density judge's opinion with a number of clusters of its own, if it is believed more than the mixture's.

    Parameters
    ----------
    evidence : ColumnEvidence
    opinions : sequence of ColumnOpinion
        The best of the mixture for each number of clusters from one on, in steps of one.
    judge : DensityJudge

    Returns
    -------
    ColumnOpinion or None
    """
    numbers = range(2, len(opinions) + 1)
    believed: list[ColumnOpinion] = []
    for columns in _groups(evidence, judge):
        shares = density_numbers(np.ascontiguousarray(evidence.X[:, columns]), numbers)
        found = density_opinion(evidence, opinions[1 + int(shares.argmax())], judge)
        if found is not None:
            believed.append(found)
    return max(believed, key=lambda opinion: opinion.evidence, default=None)


def beats_mixture(evidence: ColumnEvidence, columns: IntArray, mixture: ColumnOpinion) -> bool:
    """Whether a density describes some columns better than a mixture, however many components that has."""
    X = np.ascontiguousarray(evidence.X[:, columns])
    own = evidence.judge.examine(X, [mixture.opinion.posterior])[0]
    return density_beats(_log_densities(own), own.n_parameters, X)


def _groups(evidence: ColumnEvidence, judge: DensityJudge) -> Iterator[IntArray]:
    """Groups of columns that hang together, without those that are better described alone."""
    for component in evidence.screening.components():
        if judge.can_search(len(evidence.X), len(component)):
            columns = component[joint_columns(np.ascontiguousarray(evidence.X[:, component]))]
            if len(columns) > 1:
                yield columns


def _log_densities(opinion: Opinion) -> FloatArray:
    """Log-densities of the rows under a mixture, without the price of its parameters."""
    n_samples = len(opinion.row_evidence)
    return opinion.row_evidence + 0.5 * opinion.n_parameters * math.log(n_samples) / n_samples
