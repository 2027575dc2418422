"""The facts in sentences: what was found, whether it can collapse, and what speaks against it."""

from __future__ import annotations

from dataclasses import dataclass

from kfrc_app.facts import Facts
from kfrc_app.facts.choice import Choice, CountChoice
from kfrc_app.facts.importance import Importance
from kfrc_app.facts.reliability import Reliability
from kfrc_app.facts.stability import Stability
from kfrc_app.facts.text import count, isolate, listing, number, words
from kfrc_app.facts.verdicts import CLOSE_MARGIN, HIGH, LOW, fuzziness

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
}


@dataclass(frozen=True)
class Headline:
    """The top of the report.

    Attributes
    ----------
    sentence : str
        What was found and whether it can collapse.
    verdict : {"stable", "limited", "collapsed", "trivial"}
    points : tuple of str
        What explains it.
    """

    sentence: str
    verdict: str
    points: tuple[str, ...]


def headline(facts: Facts) -> Headline:
    """One sentence that says what was found and whether it can collapse, and a few that explain it.

    Parameters
    ----------
    facts : Facts
        Of a model whose stability is known.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from kfrc import KFRC
    >>> from kfrc_app.facts import summarize
    >>> from kfrc_app.report import headline
    >>> X = load_iris().data
    >>> headline(summarize(KFRC(3, level=1.0, random_state=0).fit(X), X)).sentence
    '3 clusters; 3 of 4 columns carry the weight; no fuzzifier value collapses them'
    """
    assert facts.stability is not None
    collapsed = facts.fit.collapsed and facts.n_clusters > 1
    parts = [
        f"no clusters: all memberships are 1/{facts.n_clusters}" if collapsed else count(facts.n_clusters, "cluster")
    ]
    if facts.importance is not None and not collapsed:
        carrying = max(1, round(facts.importance.effective))
        columns = count(facts.n_columns, "column")
        share = f"all {columns}" if carrying == facts.n_columns > 1 else f"{carrying} of {columns}"
        parts.append(f"{share} {'carries' if carrying == 1 else 'carry'} the weight")
    verdict, outlook = _outlook(facts, facts.stability)
    parts.append(outlook)
    points = (_memberships(facts), _columns(facts.importance), _stability(facts.stability), *_doubts(facts))
    return Headline("; ".join(parts), verdict, tuple(sentence for sentence in points if sentence))


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


def _memberships(facts: Facts) -> str:
    if facts.n_clusters == 1 or facts.fit.collapsed:
        return ""
    n_high, n_low = facts.largest_memberships.n_high, facts.largest_memberships.n_low
    high = f"In {n_high:,} of {count(facts.n_rows, 'row')} the largest membership is {HIGH:g} or more"
    low = f"in {n_low:,} it is below {LOW:g}"
    how = "" if facts.fit.is_posterior else f" How large memberships are depends on m, here {number(facts.fit.m, 3)}."
    return f"{high}, {low}.{how}"


def _columns(importance: Importance | None) -> str:
    if importance is None or importance.n_columns == 1:
        return ""
    if importance.alike:
        return "All columns count alike."
    leading = [f"“{isolate(column.name)}”" for column in importance.columns[:3]]
    return (
        f"The columns that count most are {listing(leading)}. All weights together amount to "
        f"{number(importance.effective, 3)} equally important columns out of {importance.n_columns}."
    )


def _stability(stability: Stability) -> str:
    if stability.threshold <= 0:
        return ""
    leading, threshold = f"λ₁ = {stability.leading_eigenvalue:.3f}", f"τ = {stability.threshold:.3f}"
    if stability.stable:
        return (
            f"The leading eigenvalue {leading} reaches the threshold {threshold}: "
            "with these bandwidths no fuzzifier value makes all memberships equal."
        )
    return (
        f"The leading eigenvalue {leading} stays below the threshold {threshold}: with these bandwidths all "
        f"memberships may become equal from a fuzzifier of m* = {number(stability.critical_m, 3)} on."
    )


def _doubts(facts: Facts) -> list[str]:
    """What speaks against believing an automatic choice."""
    doubts = []
    if facts.choice is not None and facts.choice.doubtful:
        doubts.append(facts.choice.resampling)
    if facts.cluster_count is not None and facts.cluster_count.most_evidence == 1:
        doubts.append(count_sentences(facts.cluster_count)[-1])
    return doubts


def choice_introduction(choice: Choice) -> str:
    """What was chosen, and by whom."""
    what = listing([_SETTING_WORDS[name] for name in choice.settings]) or "the settings"
    verb = "was" if len(choice.settings) == 1 else "were"
    if choice.is_mixture:
        kind = _JUDGE_WORDS.get(choice.judge, words(choice.judge))
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
    chosen, most = found.chosen, found.most_evidence
    taken = (
        f"The judge compared the evidence for {found.numbers[0].n_clusters} to "
        f"{found.numbers[-1].n_clusters} clusters; {chosen} were taken."
    )
    if most == chosen:
        return [taken, "That is the number with the most evidence."]
    if most == 1:
        return [
            taken,
            "A single cluster explains the data better than any other number: treat the clusters as a way to cut the "
            "data, not as groups that exist.",
        ]
    return [
        taken,
        f"The most evidence is for {most}, but {chosen} is the smallest number within one standard error of it.",
    ]


def reliability_sentences(reliability: Reliability) -> list[str]:
    """Whether memberships are fuzzier or crisper than the judge's probabilities, and what the labels say."""
    membership, probability = reliability.mean_membership, reliability.mean_probability
    if probability is None:
        sentences = [
            "The memberships of this report are the judge’s probabilities (memberships=“posterior”), so there is "
            "nothing to compare between the two."
        ]
    else:
        sentences = [
            f"On average the largest membership is {membership:.2f}, and the judge gives that cluster a probability of "
            f"{probability:.2f}: the memberships are {fuzziness(membership, probability)} the judge’s probabilities.",
            "memberships=“posterior” gives the judge’s probabilities as memberships.",
        ]
    if reliability.label_share is not None:
        sentences.append(
            f"By the labels, which were not used, {100 * reliability.label_share:.0f} % of the rows with a label have "
            "the most frequent one of their cluster."
        )
    return sentences
