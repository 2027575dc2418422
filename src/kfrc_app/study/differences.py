"""Two sets of results of the synthetic study beside each other, cell by cell, with paired standard errors."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from kfrc_app.study.errors import StudyError
from kfrc_app.study.picks import SETTINGS, SYNTHETIC_METRICS, count_best
from kfrc_app.study.store import StudyStore

_DESIGN = ["seed", "snr", "n_clusters", "n_signal", "average_overlap", "spherical", "balanced"]
"""What identifies a data set of the synthetic study."""

FACTORS = ("fuzzifier", *_DESIGN)
"""What scores can be averaged by."""

_CONFIGURATION = ["kernel", "criterion", "max_anisotropy"]
"""What the paper picks with the labels, per data set and fuzzifier."""

_SCORE = "fari_fuzzy"
"""What the paper picks by."""

_COLUMNS = [*FACTORS, *_CONFIGURATION, *SYNTHETIC_METRICS]
_FLOATS: dict[str, Any] = dict.fromkeys(SYNTHETIC_METRICS, float)

_AUTHORS_COLUMNS = {
    "K": "n_clusters",
    "p_signal": "n_signal",
    "BarOmega": "average_overlap",
    "sph": "spherical",
    "sn_ratio": "snr",
    "alpha": "max_anisotropy",
    "FARI_fuzzy": _SCORE,
    "FARI_crisp": "fari_crisp",
    "ARI": "ari",
    "AMI": "ami",
}
_AUTHORS_FUZZIFIERS = {
    "power": "power",
    "exp": "exponential",
    "quad": "quadratic",
    "crt": "complementary_root",
}
_AUTHORS_CRITERIA = {"sum": "sum", "logsum": "log_sum", "gap": "gap"}


def load_results(source: Path) -> pd.DataFrame:
    """KFRC records of a run (a folder), or of the authors' study (their result files stacked, as Parquet)."""
    try:
        if source.is_dir():
            records = StudyStore(source).load()
            kfrc = records[records["method"].str.startswith("KFRC")]
            return kfrc.astype(_FLOATS)[_COLUMNS]
        return _authors_results(pd.read_parquet(source))
    except (KeyError, AttributeError, ValueError, TypeError, OverflowError) as error:  # of Arrow too
        raise StudyError(
            f"{source} does not hold results of the synthetic study ({type(error).__name__}: {error})"
        ) from None


def _authors_results(records: pd.DataFrame) -> pd.DataFrame:
    records = records.rename(columns=_AUTHORS_COLUMNS)
    named = records.assign(
        fuzzifier=records["fuzzifier"].astype(str).map(_AUTHORS_FUZZIFIERS),
        criterion=records["criterion"].astype(str).map(_AUTHORS_CRITERIA),
        kernel=records["kernel"].astype(str),
        spherical=records["spherical"].astype(bool),
        balanced=records["PiLow"] == 1.0,
        uniformity=(1.0 - records["PC"]) / (1.0 - 1.0 / records["n_clusters"]),
    ).astype({"seed": int, "n_clusters": int, "n_signal": int, **_FLOATS})
    return named[_COLUMNS]


def compare_results(
    results: pd.DataFrame,
    reference: pd.DataFrame,
    by: Sequence[str] = ("fuzzifier", "snr", "n_clusters"),
    *,
    measure: str = _SCORE,
    over_seeds: bool = False,
) -> pd.DataFrame:
    """Mean score of the best configuration in two sets of results, on the data sets and configurations of both.

    Parameters
    ----------
    results, reference : DataFrame
        From :func:`load_results`.
    by : sequence of str, default=("fuzzifier", "snr", "n_clusters")
        Some of ``FACTORS``; one row for each combination of their values.
    measure : str, default="fari_fuzzy"
        One of ``SYNTHETIC_METRICS``: of the configuration that has the largest Frobenius ARI, as in the paper.
    over_seeds : bool, default=False
        Whether to compare designs, each with its mean over the seeds that either side has, instead of data sets.

    Returns
    -------
    DataFrame
        ``count`` data sets, or designs; ``mean`` and ``reference``; their ``difference`` and its ``standard_error``
        over them; ``seed_deviation``, the standard deviation of the reference's mean from seed to seed, if it has
        several; ``verdict``: "lower" or "higher" beyond two standard errors, or empty.
    """
    common = results[_CONFIGURATION].drop_duplicates().merge(reference[_CONFIGURATION].drop_duplicates())
    ours, theirs = (_best(records.merge(common, on=_CONFIGURATION), measure) for records in (results, reference))
    designs = [name for name in FACTORS if name != "seed"]
    sides = [side.dropna().groupby(designs).mean() if over_seeds else side for side in (ours, theirs)]
    pairs = pd.DataFrame(dict(zip(("score", "reference"), sides, strict=True))).dropna().reset_index()
    pairs["difference"] = pairs["score"] - pairs["reference"]
    cell = list(by)
    groups = pairs.groupby(cell, sort=True)
    table = groups.agg(
        count=("score", "size"),
        mean=("score", "mean"),
        reference=("reference", "mean"),
        difference=("difference", "mean"),
        standard_error=("difference", "sem"),
    )
    of_seeds = theirs.dropna().groupby(list(dict.fromkeys([*cell, "seed"]))).mean()
    table["seed_deviation"] = of_seeds.groupby(cell).std().reindex(table.index)
    beyond = table["difference"].abs() > 2.0 * table["standard_error"]
    table["verdict"] = np.where(beyond, np.where(table["difference"] < 0, "lower", "higher"), "")
    return table.reset_index()


def compare_choices(
    results: pd.DataFrame, reference: pd.DataFrame, by: Sequence[str] = ("n_clusters", "snr")
) -> pd.DataFrame:
    """How often each anisotropy and each criterion is the best, on the designs and configurations of both.

    Parameters
    ----------
    results, reference : DataFrame
        From :func:`load_results`.
    by : sequence of str, default=("n_clusters", "snr")
        Some of ``FACTORS`` without the fuzzifier.

    Returns
    -------
    DataFrame
        ``setting`` and its ``value``; ``share`` of the data sets in which it is the best, ties split, and ``alone``,
        the share of those without a tie; ``reference`` and ``reference_alone``, the same of the other results.
    """
    designs = [name for name in _DESIGN if name != "seed"]
    sides = []
    for one, other in ((results, reference), (reference, results)):
        both = [*designs, *_CONFIGURATION]
        records = one.merge(other[both].drop_duplicates(), on=both)
        dataset = [name for name in _DESIGN if name not in by]
        counts = {name: count_best(records, name, list(by), dataset) for name in SETTINGS}
        parts = [table.assign(setting=name, value=table[name].astype(str)) for name, table in counts.items()]
        votes = pd.concat(parts).set_index([*by, "setting", "value"])[["count", "alone"]]
        sides.append(votes / votes.groupby([*by, "setting"])[["count"]].transform("sum").to_numpy())
    ours, theirs = sides
    table = ours.rename(columns={"count": "share"}).join(
        theirs.set_axis(["reference", "reference_alone"], axis=1), how="outer"
    )
    return table.fillna(0.0).reset_index()


def _best(records: pd.DataFrame, measure: str) -> pd.Series[float]:
    """A measure of the configuration with the best score, for every data set and fuzzifier."""
    ranked = records.dropna(subset=[_SCORE]).sort_values(_SCORE, ascending=False, kind="stable")
    return ranked.groupby(list(FACTORS))[measure].first()
