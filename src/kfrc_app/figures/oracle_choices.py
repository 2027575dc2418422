"""Figure 2: which anisotropy and criterion win when chosen with the truth, and how many features they leave."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from kfrc_app.facts.palette import GREEN, OKABE_ITO
from kfrc_app.study.design import PAPER_ANISOTROPIES, PAPER_CRITERIA
from kfrc_app.study.errors import StudyError
from kfrc_app.study.summary import QUANTILE_NAMES, Summary

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLORS = OKABE_ITO[:5]


def draw(records: pd.DataFrame) -> Figure:
    """Panels A (anisotropy), B (criterion) and C (effective number of features).

    Parameters
    ----------
    records : DataFrame
        Records of the synthetic study.
    """
    return draw_summary(Summary.of(records, {}))


def draw_summary(summary: Summary) -> Figure:
    """The same from a summary of the study."""
    from matplotlib.figure import Figure

    if summary.choices is None or summary.effective_features is None:
        raise StudyError("this summary has no counts of best settings: make it again with kfrc study summarize")
    figure = Figure(figsize=(11, 8), layout="constrained")
    halves: Any = figure.subfigures(2, 1)
    top, bottom = halves
    left, right = top.subplots(1, 2)
    _shares(left, summary.choices, "max_anisotropy", PAPER_ANISOTROPIES, "A   best anisotropy bound α")
    _shares(right, summary.choices, "criterion", PAPER_CRITERIA, "B   best criterion")
    _effective_features(bottom, summary.effective_features)
    return figure


def _groups(records: pd.DataFrame) -> list[tuple[int, float]]:
    found = records[["n_clusters", "snr"]].drop_duplicates().sort_values(["n_clusters", "snr"])
    return [(int(c), float(snr)) for c, snr in found.itertuples(index=False)]


def _shares(axes: Axes, choices: pd.DataFrame, setting: str, values: tuple[Any, ...], title: str) -> None:
    """Stacked bars: how often each value of a setting wins, per number of clusters and SNR."""
    counts = choices[choices["setting"] == setting].set_index(["n_clusters", "snr", "value"])["count"]
    groups = _groups(choices)
    totals = counts.groupby(level=["n_clusters", "snr"]).sum()
    bottom = np.zeros(len(groups))
    for value, color in zip(values, COLORS, strict=False):
        share = np.array([counts.get((c, snr, str(value)), 0) / totals[c, snr] for c, snr in groups])
        label = f"{value:g}" if isinstance(value, float) else str(value)
        axes.bar(range(len(groups)), share, bottom=bottom, color=color, label=label.replace("inf", "∞"))
        bottom += share
    axes.set_xticks(range(len(groups)), [f"{c}\n{_snr(snr)}" for c, snr in groups])
    axes.set(xlabel="clusters, signal-to-noise ratio", ylabel="share of data sets", ylim=(0, 1))
    axes.set_title(title, loc="left", fontweight="bold")
    axes.legend(frameon=False, ncols=3, bbox_to_anchor=(1, 1), loc="lower right", fontsize="small")


def _effective_features(figure: Any, quantiles: pd.DataFrame) -> None:
    """W_eff for every α: a box per criterion, a panel per number of clusters and SNR."""
    groups = _groups(quantiles)
    n_rows = len({c for c, _ in groups})
    grid = figure.subplots(n_rows, max(1, -(-len(groups) // n_rows)), sharex=True, sharey=True, squeeze=False)
    positions = np.arange(len(PAPER_ANISOTROPIES))
    for axes, (c, snr) in zip(grid.flat, groups, strict=False):
        here = quantiles[(quantiles["n_clusters"] == c) & (quantiles["snr"] == snr)]
        for shift, criterion, color in zip((-0.27, 0.0, 0.27), PAPER_CRITERIA, COLORS, strict=False):
            chosen = here[here["criterion"] == criterion].set_index("max_anisotropy").reindex(list(PAPER_ANISOTROPIES))
            boxes = [
                dict(zip(("whislo", "q1", "med", "q3", "whishi"), row, strict=True))
                for row in chosen[QUANTILE_NAMES].to_numpy()
            ]
            drawn = axes.bxp(
                boxes,
                positions=positions + shift,
                widths=0.22,
                showfliers=False,
                patch_artist=True,
                manage_ticks=False,
                boxprops={"facecolor": color, "linewidth": 0.5},
                medianprops={"color": "black", "linewidth": 0.8},
                whiskerprops={"linewidth": 0.5},
                capprops={"linewidth": 0.5},
            )
            drawn["boxes"][0].set_label(criterion)
        axes.axhline(10, color="0.6", ls=":", lw=1)
        axes.axhline(here["n_signal"].iloc[0], color=GREEN, ls="--", lw=1)
        axes.set_yscale("log")
        axes.set_title(f"c = {c}, SNR = {_snr(snr)}", fontsize="small")
        axes.set_xticks(positions, [f"{alpha:g}".replace("inf", "∞") for alpha in PAPER_ANISOTROPIES])
        axes.set_yticks([1, 2, 5, 10], ["1", "2", "5", "10"])
        axes.minorticks_off()
    figure.supxlabel("anisotropy bound α", fontsize="medium")
    figure.supylabel("C   effective number of features", fontsize="medium")
    grid.flat[0].legend(frameon=False, fontsize="x-small")


def _snr(value: float) -> str:
    return "∞" if np.isinf(value) else f"{value:g}"
