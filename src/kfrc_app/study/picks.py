"""Which configuration of a method counts on a data set: what the labels pick, as in the paper, or a fixed one."""

from __future__ import annotations

import pandas as pd

SYNTHETIC_METRICS: tuple[str, ...] = ("ari", "ami", "fari_crisp", "fari_fuzzy", "uniformity")
REAL_METRICS: tuple[str, ...] = ("ari", "ami", "fari_crisp", "uniformity")

DEFAULT_CONFIGURATION = {"kernel": "sum", "criterion": "sum", "max_anisotropy": 5.0, "fuzzifier": "complementary_root"}
"""One configuration for all data: what a user without labels gets when nothing is chosen per data set."""

_TIE = 1e-4
"""Scores that differ by less are equal: a tenth of the last digit reported, ten times the tolerance of the solver."""

SETTINGS = ("max_anisotropy", "criterion")
"""What Figure 2 counts: how often each of their values is the best."""

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


def count_best(records: pd.DataFrame, setting: str, cell: list[str], dataset: list[str]) -> pd.DataFrame:
    """How often each value of a setting of KFRC gives the best score of a data set, over the other settings.

    Searches with different criteria often end in the same kernel, so that their scores tie. A data set with k best
    values counts 1/k for each of them.

    Parameters
    ----------
    records : DataFrame
        Of the synthetic study.
    setting : str
    cell : list of str
        Columns to count by.
    dataset : list of str
        Columns that, beside those of the cell, identify a data set.

    Returns
    -------
    DataFrame
        A row per cell and value: ``count`` data sets, and of these ``alone`` without a tie.
    """
    score = _ORACLE_METRIC["synthetic"]
    usable = records[records[setting].notna() & records[score].notna()]
    scores = usable.groupby([*cell, *dataset, setting], sort=True)[score].max().reset_index()
    sets = scores.groupby([*cell, *dataset])
    best = scores[scores[score] > sets[score].transform("max") - _TIE]
    n_best = best.groupby([*cell, *dataset])[score].transform("size")
    votes = best.assign(count=1.0 / n_best, alone=(n_best == 1).astype(int))
    return votes.groupby([*cell, setting], sort=True)[["count", "alone"]].sum().reset_index()
