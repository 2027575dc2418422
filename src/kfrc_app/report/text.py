"""Words of the report: names made safe to show, numbers as people write them, sentences from facts."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Sequence
from typing import Any

import numpy as np

_MAX_NAME = 120
_REPLACEMENT = "\N{REPLACEMENT CHARACTER}"
_TURNING = {"R", "AL", "AN", "RLE", "RLO", "RLI", "LRE", "LRO", "LRI", "FSI", "PDF", "PDI"}
_ALIKE = 1.05
"""Ratio of importance up to which columns are said to count alike."""

NOTABLE_DIFFERENCE = 0.5
"""Robust standard deviations from the overall median before a sentence calls a cluster high or low."""

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

SURE, COIN_TOSS = 0.95, 0.7
"""Support from which the judge is called sure, and below which the choice is called close to a coin toss."""

_CLOSE_MARGIN = 0.01
"""Lead in score up to which the next candidate is said to be nearly as good."""

_SAME_FUZZINESS = 0.02
"""Mean difference up to which memberships are called as fuzzy as the probabilities."""


def clean(value: object, max_length: int = _MAX_NAME) -> str:
    """Any value as text that every encoder takes: no control characters, no lone surrogates, not too long.

    Examples
    --------
    >>> from kfrc_app.report.text import clean
    >>> clean("a" + chr(0) + "b"), clean("x" * 500, max_length=5)
    ('a\ufffdb', 'xxxx…')
    """
    text = str(value)
    if len(text) > max_length:
        text = text[: max_length - 1] + "…"
    text = "".join(_REPLACEMENT if unicodedata.category(letter) in ("Cc", "Cs") else letter for letter in text)
    return text if text.strip() else "(blank)"


def isolate(name: str) -> str:
    """A name for the middle of a sentence: one with right-to-left letters or controls does not turn its neighbors."""
    turning = any(unicodedata.bidirectional(letter) in _TURNING for letter in name)
    return f"\N{FIRST STRONG ISOLATE}{name}\N{POP DIRECTIONAL ISOLATE}" if turning else name


def number(value: float | None, digits: int = 4) -> str:
    """A number with a few significant digits, without exponents where they can be avoided.

    Examples
    --------
    >>> from kfrc_app.report.text import number
    >>> number(0.40123), number(12345.6), number(3.0), number(None)
    ('0.4012', '12,346', '3', '–')
    """
    if value is None or not math.isfinite(value):
        return "–"
    if 10**digits <= abs(value) < 1e9:
        return f"{value:,.0f}"
    return f"{value:.{digits}g}"


def count(n: int, noun: str) -> str:
    """A count with its noun in the right number: "1 row", "12 rows"."""
    return f"{n:,} {noun}" if n == 1 else f"{n:,} {noun}s"


def listing(words: Sequence[str]) -> str:
    """Words joined as in a sentence."""
    if len(words) < 2:
        return "".join(words)
    return f"{', '.join(words[:-1])} and {words[-1]}"


def finite(value: Any) -> float | None:
    """A float for JSON: None where it is infinite or undefined."""
    result = float(value)
    return result if math.isfinite(result) else None


def headline(facts: dict[str, Any]) -> dict[str, Any]:
    """One sentence that says what was found and whether it can be trusted, and a few that explain it."""
    shape, spectrum, importance = facts["shape"], facts["spectrum"], facts["importance"]
    collapsed = facts["sureness"]["status"] == "collapsed" and shape["n_clusters"] > 1
    parts = [
        f"no clusters: all memberships are 1/{shape['n_clusters']}"
        if collapsed
        else count(shape["n_clusters"], "cluster")
    ]
    if importance is not None and not collapsed:
        carrying = max(1, round(importance["effective"]))
        columns = count(shape["n_columns"], "column")
        share = f"all {columns}" if carrying == shape["n_columns"] > 1 else f"{carrying} of {columns}"
        parts.append(f"{share} {'carries' if carrying == 1 else 'carry'} the structure")
    verdict, safety = _safety(facts)
    parts.append(safety)
    return {
        "sentence": "; ".join(parts),
        "verdict": verdict,
        "points": [
            sentence
            for sentence in (_sureness(facts), _columns(importance), _stability(spectrum), *_doubts(facts))
            if sentence
        ],
    }


def _safety(facts: dict[str, Any]) -> tuple[str, str]:
    spectrum, m = facts["spectrum"], facts["model"]["m"]
    critical = spectrum["critical_m"]
    if facts["shape"]["n_clusters"] == 1:
        return "trivial", "every row belongs to it"
    if facts["sureness"]["status"] == "collapsed":
        return "collapsed", "the fit collapsed"
    if spectrum["stable"] or critical is None:
        return "safe", "safe at any fuzzifier"
    if m < critical:
        return "limited", f"safe up to a fuzzifier of {number(critical, 3)}"
    return "limited", f"not safe: the fuzzifier {number(m)} is above the critical {number(critical, 3)}"


def _sureness(facts: dict[str, Any]) -> str:
    sure, n_rows = facts["sureness"], facts["shape"]["n_rows"]
    if facts["shape"]["n_clusters"] == 1 or sure["status"] == "collapsed":
        return ""
    text = f"{sure['n_clear']:,} of {count(n_rows, 'row')} belong clearly to one cluster (membership of 0.9 or more)"
    unsure = sure["n_unsure"]
    return f"{text}; {unsure:,} {'is' if unsure == 1 else 'are'} unsure (no membership reaches 0.6)."


def _columns(importance: dict[str, Any] | None) -> str:
    if importance is None:
        return ""
    weights = [column["weight"] for column in importance["columns"] if column["weight"] > 0]
    if len(weights) > 1 and max(weights) <= _ALIKE * min(weights):
        return "All columns count alike."
    leading = [f"“{isolate(column['name'])}”" for column in importance["columns"][:3]]
    n_all, effective = importance["n_columns"], number(importance["effective"], 3)
    if n_all == 1:
        return ""
    return (
        f"The columns that count most are {listing(leading)}. All weights together amount to "
        f"{effective} equally important columns out of {n_all}."
    )


def _stability(spectrum: dict[str, Any]) -> str:
    if not spectrum["eigenvalues"] or spectrum["threshold"] <= 0:
        return ""
    leading, threshold = f"λ₁ = {spectrum['eigenvalues'][0]:.3f}", f"τ = {spectrum['threshold']:.3f}"
    if spectrum["stable"]:
        return (
            f"The leading eigenvalue {leading} reaches the threshold {threshold}: "
            "no fuzzifier value makes all memberships equal."
        )
    return (
        f"The leading eigenvalue {leading} stays below the threshold {threshold}: from a fuzzifier of "
        f"m* = {number(spectrum['critical_m'], 3)} on, all memberships may become equal."
    )


def _doubts(facts: dict[str, Any]) -> list[str]:
    """What speaks against believing an automatic choice."""
    selection, numbers = facts["selection"], facts["cluster_count"]
    doubts = []
    if selection is not None and selection["warning"]:
        doubts.append(selection["support_sentence"])
    if numbers is not None and numbers["most_evidence"] == 1:
        doubts.append(numbers["sentences"][-1])
    return doubts


def describe_cluster(names: Sequence[str], differences: Any, limit: int = 3) -> str:
    """In what a cluster stands out: "high alcohol, low hue"."""
    order = np.argsort(-np.abs(np.asarray(differences)), kind="stable")[:limit].tolist()
    words = [
        f"{'high' if differences[j] > 0 else 'low'} {isolate(names[j])}"
        for j in order
        if abs(differences[j]) >= NOTABLE_DIFFERENCE
    ]
    return ", ".join(words) if words else "close to the overall medians"


def choice_sentences(selection: dict[str, Any]) -> dict[str, Any]:
    """What was chosen and by whom, and how sure that is; ``warning`` says whether it is close to a coin toss."""
    what = listing([_SETTING_WORDS[name] for name in selection["chosen"]]) or "the settings"
    verb = "was" if len(selection["chosen"]) == 1 else "were"
    judge = selection["judge"]
    if selection["is_mixture"]:
        kind = _JUDGE_WORDS.get(judge, judge.replace("_", " "))
        who = (
            f"The judge is a mixture model fitted from the candidate clusterings, here {kind}; "
            "it gives every row a probability for each cluster."
        )
    else:
        who = f"The judge is “{isolate(judge)}”; it gives every row a probability for each cluster."
    best = selection["candidates"][0]["score"]
    how = f"The candidate whose memberships agree best with these probabilities was taken (score {number(best, 3)})."
    return {
        "introduction": (
            f"{what[0].upper()}{what[1:]} {verb} chosen among {count(selection['n_candidates'], 'candidate')}. "
            f"No labels were used. {who} {how}"
        ),
        "support_sentence": _support(selection["support"]),
        "margin_sentence": _margin(selection["margin"]),
        "warning": selection["support"] is not None and selection["support"] < COIN_TOSS,
    }


def _support(support: float | None) -> str:
    if support is None:
        return ""
    text = f"On {100 * support:.0f} % of resamples of the rows the judge stays with this partition"
    if support >= SURE:
        return f"{text}: it is sure."
    if support >= COIN_TOSS:
        return f"{text}: it is fairly sure."
    toss = "close to a coin toss" if support >= 0.5 else "no better than a coin toss"
    return f"{text}. That is {toss}: slightly different data could have led to other clusters."


def _margin(margin: float | None) -> str:
    if margin is None:
        return ""
    text = f"The chosen candidate leads the next by {number(margin, 2)} in score"
    return f"{text}: that one agrees with the judge nearly as well." if margin <= _CLOSE_MARGIN else f"{text}."


def count_sentences(numbers: dict[str, Any]) -> list[str]:
    """Why this number of clusters was taken."""
    chosen, most = numbers["chosen"], numbers["most_evidence"]
    taken = (
        f"The judge compared the evidence for {numbers['numbers'][0]['n_clusters']} to "
        f"{numbers['numbers'][-1]['n_clusters']} clusters; {chosen} were taken."
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


def reliability_sentences(reliability: dict[str, Any]) -> list[str]:
    """Whether memberships are fuzzier or crisper than the judge's probabilities, and what the labels say."""
    membership, probability = reliability["mean_membership"], reliability["mean_probability"]
    if probability is None:
        sentences = [
            "The memberships of this report are the judge’s probabilities (memberships=“posterior”), so there is "
            "nothing to compare between the two."
        ]
    else:
        gap = membership - probability
        verdict = "about as fuzzy as" if abs(gap) <= _SAME_FUZZINESS else "fuzzier than" if gap < 0 else "crisper than"
        sentences = [
            f"On average the largest membership is {membership:.2f}, and the judge gives that cluster a probability of "
            f"{probability:.2f}: the memberships are {verdict} the judge’s probabilities.",
            "memberships=“posterior” gives the judge’s probabilities as memberships.",
        ]
    share = reliability["label_share"]
    if share is not None:
        sentences.append(
            f"By the labels, which were not used, {100 * share:.0f} % of the rows have the most frequent label of "
            "their cluster."
        )
    return sentences
