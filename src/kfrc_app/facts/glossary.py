"""The words of the trade in plain ones: the glossary of the report and of the documentation, and what to avoid."""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Term:
    """A word of the trade.

    Attributes
    ----------
    word : str
        As it is written, with its sign if it has one.
    meaning : str
        One or two plain sentences.
    """

    word: str
    meaning: str

    @property
    def anchor(self) -> str:
        """Its place on a page."""
        return "term-" + re.sub(r"[^a-z0-9]+", "-", self.word.lower()).strip("-")


GLOSSARY = (
    Term(
        "Adjusted Rand index",
        "How alike two ways to group the same rows are. 1: the same groups; 0: no more alike than by chance.",
    ),
    Term(
        "Anisotropy", "How many times the smallest bandwidth the largest may be. With 1, all columns are treated alike."
    ),
    Term(
        "Bandwidth (θ)",
        "The difference in one column from which on two rows count as unlike. A small bandwidth makes a column count "
        "more; an infinite one leaves it out.",
    ),
    Term(
        "Cluster",
        "A group of rows that are more alike than others. In the report groups have letters; in the result files they "
        "have numbers.",
    ),
    Term(
        "Collapse",
        "When every row belongs to all groups alike, so that nothing has been found. It happens when the fuzzifier is "
        "too large for the table.",
    ),
    Term("Contribution of a column", "Its share in what tells the groups apart. All contributions sum to one."),
    Term("Converged", "The computation went on until nothing moved any more, and did not run out of steps."),
    Term("Criterion", "What the search for bandwidths makes as large as it can: a number made of the eigenvalues."),
    Term(
        "Critical fuzzifier (m*)",
        "The fuzzifier from which on a collapse may happen with these bandwidths. Below it, it does not.",
    ),
    Term(
        "Eigenvalue (λ)",
        "The share of all differences between rows along one main direction. Groups that are far apart make the first "
        "ones large.",
    ),
    Term(
        "Evidence", "How well a number of groups describes the table, with a penalty for describing it in more detail."
    ),
    Term(
        "Fuzzifier (m)",
        "The setting that says how soft the borders between groups are. Small: every row belongs to one group; large: "
        "rows belong to several.",
    ),
    Term(
        "Fuzziness, uniformity index (U)",
        "How soft the result is. 0: every row belongs to one group only; 1: every row belongs to all groups alike.",
    ),
    Term(
        "Jaccard similarity",
        "How alike two groups are: rows that are in both, divided by rows that are in at least one.",
    ),
    Term(
        "Judge",
        "A statistical model, fitted without labels, that says which of many candidate groupings describes the table "
        "best.",
    ),
    Term(
        "Kernel",
        "The rule that turns the differences of two rows in all columns into one number for how alike they are.",
    ),
    Term(
        "Label",
        "A grouping that is known from elsewhere. It is never used to find the groups, only to compare them "
        "afterwards.",
    ),
    Term("Level of a column", "One of the values of a column that holds words instead of numbers, such as a color."),
    Term(
        "Level of the bandwidths",
        "How large the bandwidths are on the whole. 0 means one standard deviation of each column.",
    ),
    Term("Median", "The value in the middle: half of the rows have less, half have more."),
    Term("Membership", "How strongly a row belongs to a group, from 0 to 1. The memberships of a row sum to one."),
    Term("Merge bound", "The fuzzifier at which two groups become one at the latest."),
    Term(
        "p-value of “there is only one group”",
        "How often tables with a single group look at least as grouped as this one. Small values speak for groups.",
    ),
    Term("Principal coordinates", "The main directions in which rows differ. A map shows the first two."),
    Term(
        "Refit",
        "The whole analysis once more, on a part of the rows. What is found again does not hang on single rows.",
    ),
    Term(
        "Robust standard deviation",
        "A typical distance from the median that a few wild values do not change.",
    ),
    Term("Spectrum", "All eigenvalues together."),
    Term("Standard deviation", "A typical distance from the mean."),
    Term(
        "Threshold (τ)",
        "If the first eigenvalue reaches it, no fuzzifier makes the result collapse with these bandwidths. It says "
        "nothing about whether groups exist.",
    ),
)
"""In alphabetical order."""

JARGON = re.compile(
    r"\b(fuzzifiers?|memberships?|eigenvalues?|bandwidths?|collapse[sd]?|collapsing|kernels?|anisotropy|levels?|judges?|"
    r"ari|rand|p-values?|uniformity|converged?|convergence|refits?|refitted|spectr(?:um|a|al)|posteriors?|fuzzy|"
    r"fuzziness|criterion|gram|jaccard|bic|likelihood|covariance|mixture|robust|n_clusters|iterations?|medoids?|"
    r"centroids?)\b|[λτθκ]|\bm\*|\bm\s*=|\b\w+=\S|\bKFRC\b|(?<!\S)--[a-z]",
    re.IGNORECASE,
)
"""Words and signs that a first page does without."""


def is_plain(text: str) -> bool:
    """Whether a text does without the words of the trade.

    Examples
    --------
    >>> from kfrc_app.facts.glossary import is_plain
    >>> is_plain("2 rows without any value were left out"), is_plain("raise m or the bandwidths")
    (True, False)
    """
    return JARGON.search(text) is None
