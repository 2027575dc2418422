"""The paper's two tables recomputed, each cell beside the published value, and a third: scores without labels."""

from __future__ import annotations

import re
from functools import lru_cache
from importlib.resources import files

import numpy as np
import pandas as pd

from kfrc_app.study.design import PAPER_ANISOTROPIES, PAPER_CRITERIA
from kfrc_app.study.picks import REAL_METRICS, SYNTHETIC_METRICS, best_of_kfrc, fixed_configuration, pick_with_labels
from kfrc_app.study.summary import CHOSEN_WITH_LABELS, FIXED_SETTING, Summary

NOTABLE = 0.02
"""A difference from a published value above which a cause is wanted."""

_CELL = ["method", "snr", "n_clusters"]
_PUBLISHED = {"synthetic": "table_c1", "real": "table_1"}
_CONTROLS = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069]+")
_LATEX = str.maketrans(
    {sign: f"\\{sign}" for sign in "_%&#${}"}
    | {"\\": r"\textbackslash{}", "^": r"\textasciicircum{}", "~": r"\textasciitilde{}"}
)
"""A name in the results of a study is text, and no command of LaTeX."""


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
    if study == "synthetic" and records["seed"].nunique() > 1:
        return tables_of_summary(Summary.of(records, {}))
    picked = pick_with_labels(records, study)
    if study == "synthetic":
        groups, metrics = _CELL, SYNTHETIC_METRICS
    else:
        picked = _one_row_per_method(picked)
        groups, metrics = ["method", "dataset"], (*REAL_METRICS, "undecided")
    paper = _beside_published(_means(picked, groups, metrics), groups, _PUBLISHED[study])
    return {"paper": paper, "without_labels": _without_labels(records, picked, groups, metrics)}


def tables_of_summary(summary: Summary) -> dict[str, pd.DataFrame]:
    """The same tables from several seeds: means over seeds of the mean of a cell, with standard errors over seeds."""
    long = summary.scores.melt(
        id_vars=["seed", *_CELL, "count"], value_vars=list(SYNTHETIC_METRICS), var_name="metric", value_name="score"
    ).dropna()
    groups = long.groupby([*_CELL, "metric"], sort=True)
    table = groups.agg(
        mean=("score", "mean"), standard_error=("score", "sem"), seeds=("seed", "nunique"), count=("count", "sum")
    ).reset_index()
    chosen_or_fixed = table["method"].isin([CHOSEN_WITH_LABELS, FIXED_SETTING])
    peers = ~table["method"].str.startswith("KFRC")
    paper = _beside_published(table[~chosen_or_fixed].reset_index(drop=True), _CELL, _PUBLISHED["synthetic"])
    return {"paper": paper, "without_labels": table[chosen_or_fixed | peers].reset_index(drop=True)}


def _beside_published(table: pd.DataFrame, groups: list[str], name: str) -> pd.DataFrame:
    reference = published(name).rename(columns={"value": "published"})
    paper = table.merge(reference, how="left", on=[*groups, "metric"])
    paper["difference"] = paper["mean"] - paper["published"]
    return paper


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
    oracle = picked[picked["method"].str.startswith("KFRC")]
    if "snr" in groups:  # the best fuzzifier too, as a user with labels would choose
        oracle = best_of_kfrc(records)
    peers = picked[~picked["method"].str.startswith("KFRC")]
    fixed = fixed_configuration(records)
    parts = [oracle.assign(method=CHOSEN_WITH_LABELS), fixed.assign(method=FIXED_SETTING), peers]
    return _means(pd.concat(parts, ignore_index=True), groups, metrics)


def compact(table: pd.DataFrame, metric: str) -> pd.DataFrame:
    """One metric of the synthetic study: a row per method and SNR, a column per number of clusters.

    A cell has the mean, ± its standard error, and the published value in brackets if there is one; it is bold if they
    differ by more than 0.02.
    """
    chosen = table[table["metric"] == metric]
    bracketed = chosen["published"] if "published" in chosen else pd.Series(np.nan, index=chosen.index)
    texts = [
        f"{mean:z.3f} ± {error:.3f}" + ("" if np.isnan(value) else f" ({value:z.3f})")
        for mean, error, value in zip(chosen["mean"], chosen["standard_error"], bracketed, strict=True)
    ]
    notable = (chosen["mean"] - bracketed).abs() > NOTABLE
    cells = [f"**{text}**" if bold else text for text, bold in zip(texts, notable, strict=True)]
    columns = "c = " + chosen["n_clusters"].astype(str)
    wide = chosen.assign(cell=cells, column=columns).pivot(index=["method", "snr"], columns="column", values="cell")
    return wide.rename_axis(columns=None).reset_index()


def cell_by_cell(table: pd.DataFrame) -> pd.DataFrame:
    """The real study: a row per data set and method of the paper, a column per measure.

    A cell has the value here, the published one in brackets, and the difference, in bold if it is above 0.02. The last
    column is the share of rows whose two largest memberships are equal, so that rounding decides their labels.
    """
    undecided = table[table["metric"] == "undecided"].set_index(["dataset", "method"])["mean"]
    known = table[table["published"].notna()]
    differences = known["difference"].map("{:+.3f}".format).str.replace("-", "−")
    differences = differences.where(known["difference"].abs() <= NOTABLE, "**" + differences + "**")
    values = known["mean"].map("{:z.3f}".format) + known["published"].map(" ({:.3f}) ".format) + differences
    wide = known.assign(cell=values).pivot(index=["dataset", "method"], columns="metric", values="cell")
    wide = wide[list(REAL_METRICS)].assign(undecided=undecided.map("{:.0%}".format))
    return wide.rename_axis(columns=None).reset_index()


def shares(table: pd.DataFrame) -> pd.DataFrame:
    """Shares of one setting from ``compare_choices``: a row per cell, a column per value, the reference in brackets."""
    texts = table["share"].map("{:.0%}".format) + table["reference"].map(" ({:.0%})".format)
    wide = table.assign(text=texts).pivot(index=["n_clusters", "snr"], columns="value", values="text").fillna("0% (0%)")
    order = [str(value) for value in (*PAPER_ANISOTROPIES, *PAPER_CRITERIA)]
    return wide[[value for value in order if value in wide]].rename_axis(columns=None).reset_index()


def over_cells(table: pd.DataFrame, metric: str) -> pd.DataFrame:
    """One metric of the synthetic study over all cells: a row per method, the best first.

    Returns
    -------
    DataFrame
        ``mean`` and ``published`` are means over cells. ``higher`` and ``lower`` are the numbers of cells that differ
        from the published value by more than two standard errors, ``best`` that of cells in which no method has more.
    """
    chosen = table[table["metric"] == metric]
    ahead = chosen["difference"] / chosen["standard_error"]
    best = chosen["mean"] == chosen.groupby(["snr", "n_clusters"])["mean"].transform("max")
    marked = chosen.assign(higher=ahead > 2, lower=ahead < -2, best=best)
    rows = marked.groupby("method").agg(
        mean=("mean", "mean"),
        published=("published", "mean"),
        cells=("mean", "size"),
        higher=("higher", "sum"),
        lower=("lower", "sum"),
        best=("best", "sum"),
    )
    return rows.sort_values("mean", ascending=False, kind="stable").reset_index()


def to_markdown(table: pd.DataFrame) -> str:
    """A table in GitHub's Markdown."""
    header = "| " + " | ".join(_of_markdown(_format(name)) for name in table.columns) + " |"
    rule = "|" + "---|" * len(table.columns)
    lines = [[_of_markdown(_format(value)) for value in row] for row in table.itertuples(index=False)]
    rows = ["| " + " | ".join(line) + " |" for line in lines]
    return "\n".join([header, rule, *rows]) + "\n"


def to_latex(table: pd.DataFrame) -> str:
    """A table in LaTeX with booktabs rules."""
    header = " & ".join(_of_latex(_format(name)) for name in table.columns) + r" \\"
    rows = [" & ".join(_of_latex(_format(value)) for value in row) + r" \\" for row in table.itertuples(index=False)]
    lines = [rf"\begin{{tabular}}{{{'l' * len(table.columns)}}}", r"\toprule", header, r"\midrule", *rows]
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}"]) + "\n"


def _format(value: object) -> str:
    if isinstance(value, float | np.floating):
        return "" if np.isnan(value) else ("inf" if np.isinf(value) else f"{value:.3f}")
    return _CONTROLS.sub(" ", str(value))  # tables are shown in terminals, which controls would steer


def _of_markdown(text: str) -> str:
    return text.replace("|", r"\|").replace("<", "&lt;")


def _of_latex(text: str) -> str:
    return text.translate(_LATEX)
