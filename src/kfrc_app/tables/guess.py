"""What a column of a text file is, from its cells alone: rules that are careful, and say what they took it for.

A number stays a number unless it has two values, or a few whole values that follow each other; then it is taken for
levels, whose distances are the same. Text is taken for levels if they repeat.
"""

from __future__ import annotations

import numpy as np

from kfrc.typing import FloatArray
from kfrc_app.tables.columns import Encoded
from kfrc_app.tables.kinds import Kind

MAX_SCALE = 7
"""Levels up to which a column of whole numbers is taken for an ordered scale, such as 1 to 5 or three years."""

USES = 10
"""Rows per level, on average, from which on few values are taken for levels: fewer may be few by chance."""

MAX_GUESSED_LEVELS = 100
"""Levels of text from which on a column is taken for names or remarks."""

MAX_LEVELS_PER_ROW = 0.5
"""The same by the share of different values: names of rows and free text hardly repeat."""

LABEL_NAMES = frozenset({"label", "labels", "class", "target", "y", "species", "group", "cluster"})
"""What columns of known groups are called; text under such a name is not clustered by unless that is said."""


def kind_of_numbers(values: FloatArray) -> Kind:
    """Whether numbers are measurements, a scale, or one of two values.

    Parameters
    ----------
    values : ndarray of shape (n_rows,)
        NaN where missing.

    Examples
    --------
    >>> import numpy as np
    >>> from kfrc_app.tables.guess import kind_of_numbers
    >>> years, answers = np.tile([2007.0, 2008.0, 2009.0], 20), np.tile([0.0, 1.0], 20)
    >>> str(kind_of_numbers(years)), str(kind_of_numbers(answers)), str(kind_of_numbers(years[:9]))
    ('ordinal', 'nominal', 'numeric')
    """
    known = values[~np.isnan(values)]
    if len(np.unique(known[: USES * MAX_SCALE])) > MAX_SCALE:  # most columns end here, before all rows are sorted
        return Kind.NUMERIC
    distinct, uses = np.unique(known, return_counts=True)
    if not 2 <= len(distinct) <= MAX_SCALE or len(known) < USES * len(distinct):
        return Kind.NUMERIC
    if len(distinct) == 2:
        # A value that stands alone is a far one, which the fit has its own way to treat.
        return Kind.NOMINAL if uses.min() > 1 else Kind.NUMERIC
    follow_each_other = np.array_equal(distinct, distinct[0] + np.arange(len(distinct)))
    return Kind.ORDINAL if follow_each_other and float(distinct[0]).is_integer() else Kind.NUMERIC


def are_levels(found: Encoded) -> bool:
    """Whether texts repeat as levels do, rather than name rows or say something of each.

    Examples
    --------
    >>> import numpy as np
    >>> from kfrc_app.tables.columns import Encoded
    >>> from kfrc_app.tables.guess import are_levels
    >>> are_levels(Encoded(np.array([0, 1, 0, 1]), ("a", "b"))), are_levels(Encoded(np.arange(4), tuple("abcd")))
    (True, False)
    """
    n_levels, n_known = len(found.levels), found.n_known
    if n_levels == 2:
        return n_known > n_levels  # yes and no
    return n_levels <= min(MAX_GUESSED_LEVELS, MAX_LEVELS_PER_ROW * n_known)


def repeat_often(found: Encoded) -> bool:
    """Whether every text is used many times on average: so often that numbers among them are names of levels."""
    return are_levels(found) and found.n_known >= USES * len(found.levels)
