"""The paper's two tables recomputed, each cell beside the published value, and a third: scores without labels."""

from __future__ import annotations

from functools import lru_cache
from importlib.resources import files

import numpy as np
import pandas as pd

SYNTHETIC_METRICS = ("ari", "ami", "fari_crisp", "fari_fuzzy", "uniformity")
REAL_METRICS = ("ari", "ami", "fari_crisp", "uniformity")

DEFAULT_CONFIGURATION = {"kernel": "sum", "criterion": "sum", "max_anisotropy": 5.0, "fuzzifier": "complementary_root"}
"""One configuration for all data: what a user without labels gets when nothing is chosen per data set."""

_ORACLE_METRIC = {"synthetic": "fari_fuzzy", "real": "fari_crisp"}
"""The score by which the paper picks kernel, anisotropy and criterion with the labels (its tables report the pick)."""


@lru_cache
def published(table: str) -> pd.DataFrame:
    """Values printed in the paper: ``"table_c1"`` (synthetic) or ``"table_1"`` (real)."""
    with (files("kfrc_app.study") / "published" / f"{table}.csv").open(encoding="utf-8") as text:
        return pd.read_csv(text)


def build_tables(records: pd.DataFrame, study: str) -> dict[str, pd.DataFrame]:
    """All tables of a study.

    Parameters
    ----------
    records : DataFrame
        One row per configuration and data set, from :func:`kfrc_app.study.cell.run_task`.
    study : {"synthetic", "real"}

    Returns
    -------
    dict of DataFrame
        ``"paper"``: the paper's table, with the published value and the difference; ``"without_labels"``: the oracle
        that picks with labels beside one fixed configuration and the methods a user would try instead.
    """
    picked = pick_with_labels(records, study)
    if study == "synthetic":
        groups = ["method", "snr", "n_clusters"]
        metrics: tuple[str, ...] = SYNTHETIC_METRICS
        reference = published("table_c1")
    else:
        picked = _one_row_per_method(picked)
        groups = ["method", "dataset"]
        metrics = REAL_METRICS
        reference = published("table_1")
    paper = _means(picked, groups, metrics)
    paper = paper.merge(reference.rename(columns={"value": "published"}), how="left", on=[*groups, "metric"])
    paper["difference"] = paper["mean"] - paper["published"]
    return {"paper": paper, "without_labels": _without_labels(records, picked, groups, metrics)}


def pick_with_labels(records: pd.DataFrame, study: str) -> pd.DataFrame:
    """The best feasible configuration of every method on every data set, by the score the paper picks with."""
    score = _ORACLE_METRIC[study]
    usable = records[records["feasible"].astype(bool) & records[score].notna()]
    best = usable.sort_values(score, ascending=False, kind="stable").groupby(["task", "method"], sort=True).head(1)
    return best.sort_values(["task", "method"], kind="stable").reset_index(drop=True)


def _one_row_per_method(picked: pd.DataFrame) -> pd.DataFrame:
    """The paper's real-data table has one row for all fuzzifiers and metrics of a method: the best by its score."""
    family = picked["method"].str.replace(r"^(KFRC|FRC|FANNY) \(.*\)$", r"\1", regex=True)
    ranked = picked.assign(method=family).sort_values("fari_crisp", ascending=False, kind="stable")
    return ranked.groupby(["task", "method"], sort=True).head(1)


def _means(records: pd.DataFrame, groups: list[str], metrics: tuple[str, ...]) -> pd.DataFrame:
    """Mean, standard error and count of every metric in every group, one row each."""
    long = records.melt(id_vars=groups, value_vars=list(metrics), var_name="metric", value_name="score").dropna()
    table = long.groupby([*groups, "metric"], sort=True)["score"].agg(["mean", "std", "count"]).reset_index()
    table["standard_error"] = table.pop("std") / np.sqrt(table["count"])
    return table


def _without_labels(
    records: pd.DataFrame, picked: pd.DataFrame, groups: list[str], metrics: tuple[str, ...]
) -> pd.DataFrame:
    fixed = records[records["feasible"].astype(bool)]
    for name, value in DEFAULT_CONFIGURATION.items():
        fixed = fixed[fixed[name] == value]
    oracle = picked[picked["method"].str.startswith("KFRC")]
    if "snr" in groups:  # the best fuzzifier too, as a user with labels would choose
        score = _ORACLE_METRIC["synthetic"]
        oracle = oracle.sort_values(score, ascending=False, kind="stable").groupby("task", sort=True).head(1)
    peers = picked[~picked["method"].str.startswith("KFRC")]
    parts = [oracle.assign(method="KFRC, chosen with labels"), fixed.assign(method="KFRC, one fixed setting"), peers]
    return _means(pd.concat(parts, ignore_index=True), groups, metrics)


def to_markdown(table: pd.DataFrame) -> str:
    """A table in GitHub's Markdown."""
    header = "| " + " | ".join(map(str, table.columns)) + " |"
    rule = "|" + "---|" * len(table.columns)
    rows = ["| " + " | ".join(_format(value) for value in row) + " |" for row in table.itertuples(index=False)]
    return "\n".join([header, rule, *rows]) + "\n"


def to_latex(table: pd.DataFrame) -> str:
    """A table in LaTeX with booktabs rules."""
    header = " & ".join(_escape(str(name)) for name in table.columns) + r" \\"
    rows = [" & ".join(_escape(_format(value)) for value in row) + r" \\" for row in table.itertuples(index=False)]
    lines = [rf"\begin{{tabular}}{{{'l' * len(table.columns)}}}", r"\toprule", header, r"\midrule", *rows]
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}"]) + "\n"


def _format(value: object) -> str:
    if isinstance(value, float | np.floating):
        return "" if np.isnan(value) else ("inf" if np.isinf(value) else f"{value:.3f}")
    return str(value)


def _escape(text: str) -> str:
    return text.replace("_", r"\_").replace("%", r"\%")
