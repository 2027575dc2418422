"""Which figures belong to which study, and writing them to files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from kfrc_app.figures import collapse, oracle_choices, spheres

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def draw_figures(records: pd.DataFrame, study: str, out: Path, *, data_dir: str | None = None) -> list[Path]:
    """Draw all figures of a study.

    Parameters
    ----------
    records : DataFrame
        One row per configuration and data set.
    study : {"synthetic", "real"}
        ``"synthetic"`` has Figure 2, ``"real"`` Figures 1 and 3.
    out : Path
        Folder, made if needed.
    data_dir : str, optional
        Folder with the benchmark sets, for Figure 3.

    Returns
    -------
    list of Path
    """
    figures: dict[str, Figure] = (
        {"figure_2": oracle_choices.draw(records)}
        if study == "synthetic"
        else {"figure_1": collapse.draw(), "figure_3": spheres.draw(records, data_dir=data_dir)}
    )
    out.mkdir(parents=True, exist_ok=True)
    paths = []
    for name, figure in figures.items():
        for suffix in (".png", ".pdf"):
            paths.append(out / f"{name}{suffix}")
            figure.savefig(paths[-1], dpi=150)
    return paths
