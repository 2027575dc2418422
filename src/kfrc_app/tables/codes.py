"""Numbers that may stand for a missing answer, such as -99 or 9999: they are told, never taken out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from kfrc.typing import FloatArray
from kfrc_app.tables.columns import in_quotes
from kfrc_app.tables.levels import number_name

CODES = (
    *(-1.0, -7.0, -8.0, -9.0, 77.0, 88.0, 99.0, 777.0, 888.0, 999.0, 7777.0, 8888.0, 9999.0, 99999.0, 999999.0),
    *(-77.0, -88.0, -99.0, -777.0, -888.0, -999.0, -7777.0, -8888.0, -9999.0, -99999.0, -999999.0),
)
"""What surveys and instruments write where nothing is known: -1, -9, 77, -88, 99, 999, -9999 and the like."""

FAR = 1.0
"""How far such a number lies from the others at least, in units of their range: ages of 20 to 99 hold no code."""

_TOLD = 3  # columns in notes


def suspected_codes(values: FloatArray) -> list[float]:
    """Numbers that look like codes: of a usual form, and far from all others, or negative among others that are not.

    Examples
    --------
    >>> import numpy as np
    >>> from kfrc_app.tables.codes import suspected_codes
    >>> suspected_codes(np.array([18.0, 40.0, 25.0, 999.0])), suspected_codes(np.array([90.0, 95.0, 99.0, 80.0]))
    ([999.0], [])
    """
    known = values[np.isfinite(values)]
    if not len(known) or not {float(known.min()), float(known.max())} & {*CODES}:  # most columns end here
        return []
    distinct = np.unique(known)
    found = distinct[np.isin(distinct, CODES)].tolist()
    others = distinct[~np.isin(distinct, found)]
    if len(others) < 2:
        return []
    low, high = float(others[0]), float(others[-1])
    reach = FAR * (high - low)
    return [code for code in found if code > high + reach or code < low - reach or (code < 0 <= low)]


def code_notes(columns: Mapping[str, pd.Series[Any]]) -> list[str]:
    """A note for each of the first columns that may hold such codes; the others are counted."""
    suspects = {}
    for name, column in columns.items():
        if column.dtype == np.float64:
            codes = suspected_codes(column.to_numpy())
            if codes:
                suspects[name] = codes
    notes = []
    for name, codes in list(suspects.items())[:_TOLD]:
        n_rows = int(columns[name].isin(codes).sum())
        words = " and ".join(number_name(code) for code in codes)
        notes.append(
            f"{in_quotes(name)} holds {words} in {n_rows} row(s), unlike its other values: if that means that "
            "nothing is known, "
            "put blanks there instead"
        )
    if len(suspects) > _TOLD:
        notes.append(f"the same holds for {len(suspects) - _TOLD} more column(s)")
    return notes
