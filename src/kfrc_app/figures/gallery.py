"""Which figures belong to which study, and writing them to files."""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from kfrc_app.figures import collapse, oracle_choices, spheres
from kfrc_app.output import write_folder
from kfrc_app.study.summary import Summary

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
        Folder, made if needed; all figures in it are replaced, or none.
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
    return _write(figures, out)


def draw_summary_figures(summary: Summary, out: Path) -> list[Path]:
    """Draw the figures that a summary of the synthetic study has numbers for: Figure 2."""
    return _write({"figure_2": oracle_choices.draw_summary(summary)}, out)


def _write(figures: dict[str, Figure], out: Path) -> list[Path]:
    files: dict[str, bytes] = {}
    for name, figure in figures.items():
        for form in ("png", "pdf"):
            content = io.BytesIO()
            figure.savefig(content, format=form, dpi=150)
            files[f"{name}.{form}"] = content.getvalue()
    write_folder(out, files, force=True)
    return [out / name for name in files]
