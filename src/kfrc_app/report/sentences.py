"""The facts of the appendix in sentences: whether it can collapse, and how settings were chosen."""

from __future__ import annotations

import math
from dataclasses import dataclass

from kfrc_app.facts import Facts
from kfrc_app.facts.choice import Choice, CountChoice
from kfrc_app.facts.reliability import Reliability
from kfrc_app.facts.stability import Stability
from kfrc_app.facts.text import count, isolate, listing, number, words
from kfrc_app.facts.verdicts import CLOSE_MARGIN, fuzziness

_SETTING_WORDS = {
    "level": "the level of the bandwidths",
    "max_anisotropy": "how far bandwidths may differ",
    "m": "the fuzzifier m",
    "fuzzifier": "the kind of fuzzifier",
    "kernel": "the kernel",
    "criterion": "the criterion",
}

_JUDGE_WORDS = {
    "tied_diagonal": "Gaussian clusters with a common diagonal covariance",
    "tied": "Gaussian clusters with a common full covariance",
    "diagonal": "Gaussian clusters, each with its own diagonal covariance",
    "tied_diagonal_t": "heavy-tailed clusters (t distributions) with a common diagonal covariance",
    "tied_t": "heavy-tailed clusters (t distributions) with a common full covariance",
    "levels": "clusters, each with its own shares of the levels",
}

_LEVELS_ONLY = "levels"
_WITH_LEVELS = ", and each with its own shares of the levels"
"""What is added where clusters are described by numbers and by levels."""


_COUNT_REASONS = {
    "no groups": "Tables of a single group look as grouped as this one: there is no sign of more than one group.",
    "density": "The rows crowd in {chosen} places, of other shapes than mixtures assume: a density says more of them.",
    "most evidence": "That is the number with the most evidence.",
    "one standard error": "The most evidence is for {most}; {chosen} is the smallest within a standard error of it.",
    "separated": "The evidence speaks for more, but then two of the clusters would not be separated: one cut in two.",
}
"""Why a number of clusters was taken, see ``KFRC.cluster_count_reason_``."""


@dataclass(frozen=True)
class CollapseOutlook:
    """Whether the fit can collapse.

    Attributes
    ----------
    sentence : str
    verdict : {"stable", "limited", "collapsed", "trivial"}
    reason : str
        The leading eigenvalue against the threshold; empty without a threshold.
    """

    sentence: str
    verdict: str
    reason: str


def collapse_outlook(facts: Facts) -> CollapseOutlook:
    """Whether the fit can collapse, and why.

    Parameters
    ----------
    facts : Facts
        Of a model whose stability is known.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from kfrc import KFRC
    >>> from kfrc_app.facts import summarize
    >>> from kfrc_app.report.sentences import collapse_outlook
    >>> X = load_iris().data
    >>> collapse_outlook(summarize(KFRC(3, level=1.0, m=1.5, random_state=0).fit(X), X)).sentence
    '3 clusters; 2 of 4 columns stand out; no fuzzifier value collapses them'
    """
    assert facts.stability is not None
    collapsed = facts.fit.collapsed and facts.n_clusters > 1
    parts = [
        f"no clusters: all memberships are 1/{facts.n_clusters}" if collapsed else count(facts.n_clusters, "cluster")
    ]
    if facts.importance is not None and not collapsed:
        parts.append(facts.importance.summary)
    verdict, outlook = _outlook(facts, facts.stability)
    return CollapseOutlook("; ".join([*parts, outlook]), verdict, _stability(facts.stability, facts.held))


def _outlook(facts: Facts, stability: Stability) -> tuple[str, str]:
    m, critical = facts.fit.m, stability.critical_m
    if facts.n_clusters == 1:
        return "trivial", "every row belongs to it"
    if facts.fit.collapsed:
        return "collapsed", "the fit collapsed"
    if stability.stable:
        return "stable", "no fuzzifier value collapses them"
    if m < critical:
        return "limited", f"no collapse below a fuzzifier of {number(critical, 3)}"
    return "limited", f"they may collapse: the fuzzifier {number(m)} is above the critical {number(critical, 3)}"


def _stability(stability: Stability, given: str) -> str:
    if stability.threshold <= 0:
        return ""
    if math.isinf(stability.threshold):
        return (
            f"With these {given} all memberships may become equal from a temperature of m* = "
            f"{number(stability.critical_m, 3)} on."
        )
    leading, threshold = f"λ₁ = {stability.leading_eigenvalue:.3f}", f"τ = {stability.threshold:.3f}"
    if stability.stable:
        return (
            f"The leading eigenvalue {leading} reaches the threshold {threshold}: "
            f"with these {given} no fuzzifier value makes all memberships equal."
        )
    return (
        f"The leading eigenvalue {leading} stays below the threshold {threshold}: with these {given} all "
        f"memberships may become equal from a fuzzifier of m* = {number(stability.critical_m, 3)} on."
    )


def choice_introduction(choice: Choice) -> str:
    """What was chosen, and by whom."""
    what = listing([_SETTING_WORDS[name] for name in choice.settings]) or "the settings"
    verb = "was" if len(choice.settings) == 1 else "were"
    if choice.is_mixture:
        kind = _JUDGE_WORDS.get(choice.judge, words(choice.judge))
        if choice.has_levels and choice.judge != _LEVELS_ONLY:
            kind += _WITH_LEVELS
        who = (
            f"The judge is a mixture model fitted from the candidate clusterings, here {kind}; "
            "it gives every row a probability for each cluster."
        )
    else:
        who = f"The judge is “{isolate(choice.judge)}”; it gives every row a probability for each cluster."
    best = number(choice.candidates[0]["score"], 3)
    return (
        f"{what[0].upper()}{what[1:]} {verb} chosen among {count(choice.n_candidates, 'candidate')}. "
        f"No labels were used. {who} "
        f"The candidate whose memberships agree best with these probabilities was taken (score {best})."
    )


def margin_sentence(choice: Choice) -> str:
    """How far ahead the chosen candidate is."""
    if choice.margin is None:
        return ""
    text = f"The chosen candidate leads the next by {number(choice.margin, 2)} in score"
    return f"{text}: that one agrees with the judge nearly as well." if choice.margin <= CLOSE_MARGIN else f"{text}."


def count_sentences(found: CountChoice) -> list[str]:
    """Why this number of clusters was taken."""
    chosen = found.chosen
    taken = (
        f"The judge compared the evidence for {found.numbers[0].n_clusters} to "
        f"{found.numbers[-1].n_clusters} clusters; {chosen} {'was' if chosen == 1 else 'were'} taken."
    )
    return [taken, _COUNT_REASONS[found.reason].format(chosen=chosen, most=found.most_evidence)]


def reliability_sentences(reliability: Reliability, from_typed: bool = False) -> list[str]:
    """Whether memberships are fuzzier or crisper than the judge's probabilities, and what the labels say.

    Parameters
    ----------
    reliability : Reliability
    from_typed : bool
        Whether the fit was asked for by a typed command, so that its options are named instead of Python's.
    """
    option = "--memberships posterior" if from_typed else "memberships=“posterior”"
    membership, probability = reliability.mean_membership, reliability.mean_probability
    if probability is None:
        sentences = [
            f"The memberships of this report are the judge’s probabilities ({option}), so there is "
            "nothing to compare between the two."
        ]
    else:
        sentences = [
            f"On average the largest membership is {membership:.2f}, and the judge gives that cluster a probability of "
            f"{probability:.2f}: the memberships are {fuzziness(membership, probability)} the judge’s probabilities.",
            f"{option} gives the judge’s probabilities as memberships.",
        ]
    if reliability.label_share is not None:
        sentences.append(
            f"By the labels, which were not used, {100 * reliability.label_share:.0f} % of the rows with a label have "
            "the most frequent one of their cluster."
        )
    return sentences
