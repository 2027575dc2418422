"""How the settings were chosen: the candidates, what the judge believes, and the evidence for numbers of clusters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from kfrc import KFRC
from kfrc.clusterers import FuzzyClusterer
from kfrc.fitting import is_auto
from kfrc.mixtures import MixedMixture, Mixture
from kfrc.selection.columns import OnColumns
from kfrc_app.facts.text import plain

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
    has_levels : bool
        Whether it describes columns of levels.
    n_rows : int
        Rows that it saw.
    n_candidates : int
    margin : float or None
        Lead of the best candidate in score; None if there is no other.
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
    has_levels: bool
    n_rows: int
    n_candidates: int
    margin: float | None
    n_ties: int
    below_critical: bool
    varying: tuple[str, ...]
    candidates: tuple[dict[str, Any], ...]

    @property
    def tie(self) -> str:
        """That other partitions describe the data just as well, if they do; else empty."""
        if not self.n_ties:
            return ""
        others = "another partition describes" if self.n_ties == 1 else f"{self.n_ties} other partitions describe"
        return f"It was a tie: {others} the data just as well."


@dataclass(frozen=True)
class CountCandidate:
    """A number of clusters and what speaks for it.

    Attributes
    ----------
    n_clusters : int
    evidence : float
    behind : float
        Evidence minus the most evidence: zero or less.
    tolerated : bool
        Whether the evidence is within one standard error of the most.
    valley : float
        Density between the two clusters that are separated least, as a share of their lower peak.
    chosen : bool
    """

    n_clusters: int
    evidence: float
    behind: float
    tolerated: bool
    valley: float
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
    reason : str
        Why it was taken, see ``KFRC.cluster_count_reason_``.
    """

    numbers: tuple[CountCandidate, ...]
    chosen: int
    most_evidence: int
    reason: str

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
    believed = opinion.model.model if isinstance(opinion.model, OnColumns) else opinion.model
    n_candidates = len(table["score"])
    return Choice(
        settings=tuple(name for name in _SETTINGS if is_auto(getattr(model, name))),
        judge=str(opinion.name),
        is_mixture=isinstance(believed, Mixture | MixedMixture),
        has_levels=isinstance(believed, MixedMixture) and len(believed.shares) > 0,
        n_rows=len(opinion.posterior),
        n_candidates=n_candidates,
        margin=plain(model.selection_margin_),
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
            CountCandidate(
                n, float(e), float(e - evidence.max()), bool(tolerated), float(valley), n == model.n_clusters_
            )
            for n, e, tolerated, valley in zip(numbers, evidence, table["tolerated"], table["valley"], strict=True)
        ),
        chosen=int(model.n_clusters_),
        most_evidence=numbers[int(evidence.argmax())],
        reason=str(model.cluster_count_reason_),
    )
