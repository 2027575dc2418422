"""Which configuration of a method counts on a data set: what the labels pick, as in the paper, or a fixed one."""

from __future__ import annotations

import pandas as pd

SYNTHETIC_METRICS: tuple[str, ...] = ("ari", "ami", "fari_crisp", "fari_fuzzy", "uniformity")
REAL_METRICS: tuple[str, ...] = ("ari", "ami", "fari_crisp", "uniformity")

DEFAULT_CONFIGURATION = {"kernel": "sum", "criterion": "sum", "max_anisotropy": 5.0, "fuzzifier": "complementary_root"}
"""One configuration for all data: what a user without labels gets when nothing is chosen per data set."""

_ORACLE_METRIC = {"synthetic": "fari_fuzzy", "real": "fari_crisp"}
"""The score by which the paper picks kernel, anisotropy and criterion with the labels (its tables report the pick)."""


def pick_with_labels(records: pd.DataFrame, study: str) -> pd.DataFrame:
    """The best feasible configuration of every method on every data set, by the score the paper picks with."""
    score = _ORACLE_METRIC[study]
    usable = records[records["feasible"].astype(bool) & records[score].notna()]
    best = usable.sort_values(score, ascending=False, kind="stable").groupby(["task", "method"], sort=True).head(1)
    return best.sort_values(["task", "method"], kind="stable").reset_index(drop=True)


def fixed_configuration(records: pd.DataFrame) -> pd.DataFrame:
    """The records of the fixed configuration, where it is feasible."""
    fixed = records[records["feasible"].astype(bool)]
    for name, value in DEFAULT_CONFIGURATION.items():
        fixed = fixed[fixed[name] == value]
    return fixed


def best_of_kfrc(records: pd.DataFrame) -> pd.DataFrame:
    """The best configuration of KFRC, fuzzifier included, on every data set of the synthetic study."""
    usable = records[records["feasible"].astype(bool) & records["method"].str.startswith("KFRC")]
    score = _ORACLE_METRIC["synthetic"]
    return usable.sort_values(score, ascending=False, kind="stable").groupby("task", sort=True).head(1)
