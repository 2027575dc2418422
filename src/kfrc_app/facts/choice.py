"""How the settings were chosen: the candidates, what the judge believes, and the evidence for numbers of clusters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from kfrc import KFRC
from kfrc.clusterers import FuzzyClusterer
from kfrc.fitting import is_auto
from kfrc.mixtures import Mixture
from kfrc_app.facts.text import plain
from kfrc_app.facts.verdicts import DOUBTFUL

N_CANDIDATES = 10
"""Candidates of an automatic choice that are listed, best first."""

_SETTINGS = ("level", "max_anisotropy", "m", "fuzzifier", "kernel", "criterion")


@dataclass(frozen=True)
class Choice:
    """An automatic choice of settings.

    Attributes
    ----------
    settings : tuple of str
        Which settings were chosen.
    judge : str
        What the judge took the clusters for.
    is_mixture : bool
        Whether the judge is a mixture model.
    n_rows : int
        Rows that it saw.
    n_candidates : int
    margin : float or None
        Lead of the best candidate in score; None if there is no other.
    same_partition : float or None
        Share of resamples of the rows in which the judge prefers an opinion with the same partition. Nothing is fitted
        again: a small share speaks against the partition, a large one does not speak for it.
    n_ties : int
        Other partitions that describe the data just as well.
    below_critical : bool
        Whether every m that was compared lies below its critical value.
    varying : tuple of str
        Of "kernel" and "criterion", those in which the candidates differ.
    candidates : tuple of dict
        The best, with the columns of ``KFRC.selection_``; infinite values are None.
    """

    settings: tuple[str, ...]
    judge: str
    is_mixture: bool
    n_rows: int
    n_candidates: int
    margin: float | None
    same_partition: float | None
    n_ties: int
    below_critical: bool
    varying: tuple[str, ...]
    candidates: tuple[dict[str, Any], ...]

    @property
    def resampling(self) -> str:
        """What became of the judge's opinion on resampled rows, and what that does not say; empty if not known."""
        if self.same_partition is None:
            return ""
        doubt = ", but slightly different data could have led to other clusters" if self.doubtful else ""
        return (
            "On resampled rows, without refitting, the judge prefers the same partition in "
            f"{100 * self.same_partition:.0f} % of the resamples: this says nothing about whether groups exist{doubt}."
            f"{self._tie}"
        )

    @property
    def _tie(self) -> str:
        if not self.n_ties:
            return ""
        others = "Another partition describes" if self.n_ties == 1 else f"{self.n_ties} other partitions describe"
        return f" It was a tie: {others} the data just as well."

    @property
    def doubtful(self) -> bool:
        """Whether a reader should be warned."""
        return self.n_ties > 0 or (self.same_partition is not None and self.same_partition < DOUBTFUL)


@dataclass(frozen=True)
class CountCandidate:
    """A number of clusters and what speaks for it.

    Attributes
    ----------
    n_clusters : int
    evidence : float
    behind : float
        Evidence minus the most evidence: zero or less.
    wins : float
        Share of resamples of the rows in which it has the most evidence; nothing is fitted again.
    chosen : bool
    """

    n_clusters: int
    evidence: float
    behind: float
    wins: float
    chosen: bool


@dataclass(frozen=True)
class CountChoice:
    """An automatic choice of the number of clusters.

    Attributes
    ----------
    numbers : tuple of CountCandidate
        In ascending order.
    chosen, most_evidence : int
        The number that was taken, and the one with the most evidence.
    """

    numbers: tuple[CountCandidate, ...]
    chosen: int
    most_evidence: int

    @property
    def nearest(self) -> tuple[CountCandidate, ...]:
        """From the most evidence down."""
        return tuple(sorted(self.numbers, key=lambda found: -found.evidence))


def choice_facts(model: FuzzyClusterer) -> Choice | None:
    """What was compared to choose the settings; None if nothing was chosen.

    Parameters
    ----------
    model : FuzzyClusterer
        Fitted.
    """
    if not isinstance(model, KFRC) or model.selection_ is None or model.opinion_ is None:
        return None
    table, opinion = model.selection_, model.opinion_
    n_candidates = len(table["score"])
    return Choice(
        settings=tuple(name for name in _SETTINGS if is_auto(getattr(model, name))),
        judge=str(opinion.name),
        is_mixture=isinstance(opinion.model, Mixture),
        n_rows=len(opinion.posterior),
        n_candidates=n_candidates,
        margin=plain(model.selection_margin_),
        same_partition=plain(model.selection_support_),
        n_ties=model.selection_ties_ or 0,
        below_critical=bool(np.all(table["m"] < table["critical_m"])),
        varying=tuple(name for name in ("kernel", "criterion") if len(np.unique(table[name])) > 1),
        candidates=tuple(
            {name: plain(values[k]) for name, values in table.items()} for k in range(min(n_candidates, N_CANDIDATES))
        ),
    )


def count_facts(model: FuzzyClusterer) -> CountChoice | None:
    """Evidence for each number of clusters; None if the number was given."""
    if not isinstance(model, KFRC) or model.cluster_count_ is None:
        return None
    table = model.cluster_count_
    evidence = np.asarray(table["evidence"], dtype=np.float64)
    numbers = [int(n) for n in table["n_clusters"]]
    return CountChoice(
        tuple(
            CountCandidate(n, float(e), float(e - evidence.max()), float(wins), n == model.n_clusters_)
            for n, e, wins in zip(numbers, evidence, table["wins"], strict=True)
        ),
        chosen=int(model.n_clusters_),
        most_evidence=numbers[int(evidence.argmax())],
    )
