"""Clusterings of one data set under many kernels, and their scores: what was met before is not computed again."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from kfrc.bandwidth import is_same_kernel
from kfrc.dissimilarity import Dissimilarity
from kfrc.fuzzifiers import Fuzzifier
from kfrc.gram import GramFamily
from kfrc.metrics import (
    adjusted_mutual_info_score,
    adjusted_rand_score,
    frobenius_adjusted_rand_score,
    fuzzy_adjusted_rand_score,
    uniformity_index,
)
from kfrc.relational import USUAL_MEMORY, Spectral, descend, starting_memberships
from kfrc_app.study.datasets import StudyData
from kfrc_app.study.design import Record
from kfrc_app.study.methods import STUDY_MAX_ITER

_TOL = 1e-5
"""Movement of a membership at convergence: a tenth of the last digit that is reported."""

_AT_LIMIT = 1e-4
"""Distance from the linear kernel over the whole range of the rows up to which it takes the kernel's place."""


@dataclass
class _Known:
    """A kernel that a search has ended in, where its clusterings start, and what they came to, by fuzzifier."""

    kernel: str | None
    levels: NDArray[np.float64]
    dissimilarity: Dissimilarity
    start: NDArray[np.float64]
    outcomes: dict[Fuzzifier, Record] = field(default_factory=dict)


_EQUAL = 1e-6
"""Difference of two memberships below which rounding decides which of them is larger."""


class Scores:
    """Agreement of memberships with what is known of a data set, and how fuzzy they are."""

    def __init__(self, data: StudyData) -> None:
        self._data = data
        # Indices with weights need no more than a cross-table; without, scikit-learn's checks take most of the time.
        self._once = np.ones(len(data.labels))
        self._of_labels: dict[bytes, Record] = {}

    def of(self, memberships: NDArray[np.float64]) -> Record:
        """Scores by name; what depends on the labels alone is computed once for all memberships with these."""
        data, labels = self._data, memberships.argmax(axis=1)
        second, first = np.partition(memberships, -2, axis=1)[:, -2:].T
        key = labels.tobytes()
        if key not in self._of_labels:
            self._of_labels[key] = {
                "ari": float(adjusted_rand_score(data.labels, labels, sample_weight=self._once)),
                "ami": float(adjusted_mutual_info_score(data.labels, labels, sample_weight=self._once)),
            }
        found = {
            **self._of_labels[key],
            "fari_crisp": float(fuzzy_adjusted_rand_score(data.labels, memberships)),
            "uniformity": float(uniformity_index(memberships)),
            "undecided": float((first - second < _EQUAL).mean()),
        }
        if data.posteriors is not None:
            found["fari_fuzzy"] = float(frobenius_adjusted_rand_score(data.posteriors, memberships))
        return found


class Clusterings:
    """Clusterings of one data set.

    Searches with other criteria, thresholds or anisotropies often end in the same kernel. At large bandwidths all
    kernels are the linear one, so that the sum and the product kernel do, too.

    Parameters
    ----------
    n_clusters : int
    scores : Scores
    seed : int
        Of the starts.
    """

    def __init__(self, n_clusters: int, scores: Scores, seed: int) -> None:
        self._n_clusters = n_clusters
        self._scores = scores
        self._seed = seed
        self._known: list[_Known] = []

    def outcome(self, family: GramFamily, log_bandwidths: NDArray[np.float64], fuzzifier: Fuzzifier) -> Record:
        """How the clustering with this kernel and fuzzifier ended, and its scores."""
        known = self._find(family, log_bandwidths)
        if fuzzifier not in known.outcomes:
            solution = descend(known.dissimilarity, fuzzifier, known.start, STUDY_MAX_ITER, _TOL, USUAL_MEMORY)
            known.outcomes[fuzzifier] = {"status": str(solution.status), **self._scores.of(solution.memberships)}
        return known.outcomes[fuzzifier]

    def _find(self, family: GramFamily, log_bandwidths: NDArray[np.float64]) -> _Known:
        bandwidths = np.exp(log_bandwidths)
        limit = family.linear_limit(bandwidths, _AT_LIMIT)
        kernel = family.kernel.name if limit is None else None
        for known in self._known:
            # The columns of a study are in standard units.
            if known.kernel == kernel and is_same_kernel(known.levels, log_bandwidths):
                return known
        dissimilarity = Dissimilarity((limit or family).at(bandwidths))
        start = next(starting_memberships(Spectral(), 1, dissimilarity, self._n_clusters, self._seed))
        self._known.append(_Known(kernel, log_bandwidths, dissimilarity, start))
        return self._known[-1]
