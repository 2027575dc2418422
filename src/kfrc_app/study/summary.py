"""The synthetic study in a few small tables: all that its tables and figure need, without its millions of records."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from kfrc_app.neutral import neutral_csv, restored_frame
from kfrc_app.output import write_folder
from kfrc_app.study.errors import StudyError
from kfrc_app.study.manifest import digest
from kfrc_app.study.packages import Packages, are_packages
from kfrc_app.study.picks import (
    SETTINGS,
    SYNTHETIC_METRICS,
    best_of_kfrc,
    count_best,
    fixed_configuration,
    pick_with_labels,
)

QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
"""Quantiles of the effective number of features that a box plot shows: whiskers, box and line."""

QUANTILE_NAMES = [f"w_eff_{quantile:g}" for quantile in QUANTILES]

CHOSEN_WITH_LABELS = "KFRC, chosen with labels"
FIXED_SETTING = "KFRC, one fixed setting"

_ABOUT = "about.json"
_CHECKSUMS = "checksums"
_CELL = ["n_clusters", "snr"]
_COLUMNS: dict[str, tuple[list[str], list[str]]] = {
    "scores": (["method"], ["seed", *_CELL, "count", *SYNTHETIC_METRICS]),
    "choices": (["setting", "value"], [*_CELL, "count", "alone"]),
    "effective_features": (["criterion"], [*_CELL, "n_signal", "max_anisotropy", *QUANTILE_NAMES]),
}
"""Files of a summary: columns of text, and columns of numbers."""

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
    choices : DataFrame or None
        How often each anisotropy and each criterion of KFRC was the best, per cell; ties are split. None in the folder
        of a summary without Figure 2.
    effective_features : DataFrame or None
        Quantiles of the effective number of features per cell, criterion and anisotropy.
    """

    about: dict[str, Any]
    scores: pd.DataFrame
    choices: pd.DataFrame | None
    effective_features: pd.DataFrame | None

    @property
    def mixture(self) -> list[Packages]:
        """The sets of versions that computed it, if there are several; else empty."""
        several = self.about.get("packages")
        if not isinstance(several, list) or len(several) < 2:
            return []
        return [packages for packages in several if are_packages(packages)]

    @classmethod
    def of(cls, records: pd.DataFrame, about: Mapping[str, Any]) -> Summary:
        """From the records of a run."""
        return cls(dict(about), _scores(records), _choices(records), _effective_features(records))

    @classmethod
    def read(cls, folder: Path) -> Summary:
        """From files that :meth:`write` made.

        Raises
        ------
        StudyError
            If a file is missing or damaged.
        """
        about = _read_about(folder / _ABOUT)
        checksums = about.pop(_CHECKSUMS, {})
        if not isinstance(checksums, dict):
            raise _damaged(folder / _ABOUT)
        tables: dict[str, pd.DataFrame] = {}
        for name, (texts, numbers) in _COLUMNS.items():
            path = folder / f"{name}.csv"
            if name != "scores" and not checksums and not path.exists():
                continue
            try:
                text = path.read_text(encoding="utf-8")  # with line ends of any system
                if checksums and checksums.get(path.name) != digest(text):
                    raise _damaged(path)
                table = restored_frame(pd.read_csv(io.StringIO(text), dtype=dict.fromkeys(texts, str)))
                other = {column: float for column in numbers if table[column].dtype.kind not in "if"}
                tables[name] = table.astype(other)
            except (ValueError, KeyError):
                raise _damaged(path) from None
        return cls(about, tables["scores"], tables.get("choices"), tables.get("effective_features"))

    def write(self, folder: Path) -> None:
        """As small text files, in the place of those that are there."""
        tables = {"scores": self.scores, "choices": self.choices, "effective_features": self.effective_features}
        files = {f"{name}.csv": neutral_csv(table) for name, table in tables.items() if table is not None}
        about = self.about | {_CHECKSUMS: {name: digest(text) for name, text in files.items()}}
        write_folder(folder, files | {_ABOUT: json.dumps(about, indent=1) + "\n"}, force=True)


def _read_about(path: Path) -> dict[str, Any]:
    try:
        about = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError):
        about = None
    if not isinstance(about, dict):
        raise _damaged(path)
    return about


def _damaged(path: Path) -> StudyError:
    return StudyError(f"{path} is damaged: make the summary again with kfrc study summarize")


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
    kfrc = _feasible_kfrc(records)
    counts = {name: count_best(kfrc, name, _CELL, ["task"]) for name in SETTINGS}
    parts = [table.assign(setting=name, value=table[name].astype(str)) for name, table in counts.items()]
    return pd.concat(parts, ignore_index=True)[[*_CELL, "setting", "value", "count", "alone"]].round(_DIGITS)


def _effective_features(records: pd.DataFrame) -> pd.DataFrame:
    groups = _feasible_kfrc(records).groupby([*_CELL, "n_signal", "criterion", "max_anisotropy"], sort=True)
    return groups["w_eff"].quantile(QUANTILES).round(_DIGITS).unstack().set_axis(QUANTILE_NAMES, axis=1).reset_index()


def _feasible_kfrc(records: pd.DataFrame) -> pd.DataFrame:
    return records[records["feasible"].astype(bool) & records["method"].str.startswith("KFRC")]
