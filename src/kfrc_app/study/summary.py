"""The synthetic study in a few small tables: all that its tables and figure need, without its millions of records."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from kfrc_app.neutral import neutral_csv, restored_frame
from kfrc_app.output import write_folder
from kfrc_app.study.picks import SYNTHETIC_METRICS, best_of_kfrc, fixed_configuration, pick_with_labels

CHOSEN_WITH_LABELS = "KFRC, chosen with labels"
FIXED_SETTING = "KFRC, one fixed setting"

_ABOUT = "about.json"
_CELL = ["n_clusters", "snr"]
_DIGITS = 5
"""Decimals that are kept: a hundredth of the last one that is shown."""


@dataclass(frozen=True)
class Summary:
    """Means of the synthetic study.

    Attributes
    ----------
    about : dict
        What was run, with which version, on how many data sets, and how long it took.
    scores : DataFrame
        Per seed, method, signal-to-noise ratio and number of clusters: the number of data sets and the mean of every
        score, for methods with several configurations that of the one picked with the labels.
    choices : DataFrame
        How often each anisotropy and each criterion of KFRC was the best, per cell.
    effective_features : DataFrame
        Median effective number of features per cell, criterion and anisotropy.
    """

    about: dict[str, Any]
    scores: pd.DataFrame
    choices: pd.DataFrame
    effective_features: pd.DataFrame

    @classmethod
    def of(cls, records: pd.DataFrame, about: Mapping[str, Any]) -> Summary:
        """From the records of a run."""
        return cls(dict(about), _scores(records), _choices(records), _effective_features(records))

    @classmethod
    def read(cls, folder: Path) -> Summary:
        """From files that :meth:`write` made."""
        about = json.loads((folder / _ABOUT).read_text(encoding="utf-8"))
        names = ("scores", "choices", "effective_features")
        return cls(about, *(restored_frame(pd.read_csv(folder / f"{name}.csv")) for name in names))

    def write(self, folder: Path) -> None:
        """As small text files, in the place of those that are there."""
        tables = {
            "scores": self.scores,
            "choices": self.choices,
            "effective_features": self.effective_features,
        }
        files = {f"{name}.csv": neutral_csv(t) for name, t in tables.items()}
        write_folder(folder, files | {_ABOUT: json.dumps(self.about, indent=1) + "\n"}, force=True)


def is_summary(folder: Path) -> bool:
    """Whether a folder holds a summary, not a run."""
    return (folder / _ABOUT).is_file()


def _scores(records: pd.DataFrame) -> pd.DataFrame:
    parts = [
        pick_with_labels(records, "synthetic"),
        best_of_kfrc(records).assign(method=CHOSEN_WITH_LABELS),
        fixed_configuration(records).assign(method=FIXED_SETTING),
    ]
    everything = pd.concat(parts, ignore_index=True)
    groups = everything.groupby(["seed", "method", *_CELL], sort=True)
    means = groups[list(SYNTHETIC_METRICS)].mean().round(_DIGITS)
    means.insert(0, "count", groups.size())
    return means.reset_index()


def _choices(records: pd.DataFrame) -> pd.DataFrame:
    best = best_of_kfrc(records)
    parts = []
    for name in ("max_anisotropy", "criterion"):
        counts = best.groupby([*_CELL, name], sort=True).size().reset_index(name="count")
        parts.append(counts.assign(setting=name, value=counts[name].astype(str)))
    return pd.concat(parts, ignore_index=True)[[*_CELL, "setting", "value", "count"]]


def _effective_features(records: pd.DataFrame) -> pd.DataFrame:
    kfrc = records[records["feasible"].astype(bool) & records["method"].str.startswith("KFRC")]
    groups = kfrc.groupby([*_CELL, "n_signal", "criterion", "max_anisotropy"], sort=True)
    return groups["w_eff"].median().round(_DIGITS).reset_index()
