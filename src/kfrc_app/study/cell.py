"""One task of a study: a pure function from its configuration to records, with all shareable work shared."""

from __future__ import annotations

from collections.abc import Iterator

from kfrc.bandwidth import (
    BandwidthResult,
    Exploration,
    MomentumAscent,
    Optimizer,
    QuasiNewton,
    explore_bandwidths,
    select_bandwidths,
)
from kfrc.exceptions import InfeasibleBandwidthError
from kfrc.fuzzifiers import Fuzzifier
from kfrc.metrics import effective_n_features
from kfrc_app.study.clusterings import Clusterings, Scores
from kfrc_app.study.datasets import StudyData, load_task_data
from kfrc_app.study.design import Record, StudyTask
from kfrc_app.study.methods import METHODS

_PAPER = MomentumAscent(stage2_momentum=False)
"""The paper's ascent. As printed, stage 2 has momentum; the authors' published numbers were made without."""

OPTIMIZERS: dict[str, dict[str, Optimizer]] = {
    # Without the restart stage 2 stays, as the paper's does, in the basin that stage 1 found: cheaper, with smaller
    # criteria, and better partitions of the synthetic data. Real data differ (docs/reproduction.md has both).
    "synthetic": {"lbfgs": QuasiNewton(tol=1e-5, restart=False, at_limit=True), "momentum": _PAPER},
    "real": {"lbfgs": QuasiNewton(tol=1e-5, warm_up=10), "momentum": _PAPER},
}
"""Optimizers by study and name. Criteria to 10⁻⁵ are plenty for scores that differ in the second digit."""

_GRAM_TOL = 1e-6
"""Accuracy of Gram matrices that can be had at any: a tenth of that of the criteria."""


def run_task(task: StudyTask) -> list[Record]:
    """All configurations of one data set.

    Parameters
    ----------
    task : StudyTask

    Returns
    -------
    list of dict
        One flat record per configuration: method, its settings, scores, and what identifies the data.
    """
    data = load_task_data(task)
    common = {"task": task.key, "seed": task.seed, "n_clusters": data.n_clusters, **data.facts}
    scores = Scores(data)
    records = [*_kfrc_records(task, data, scores), *_other_records(task, data, scores)]
    return [common | record for record in records]


def _other_records(task: StudyTask, data: StudyData, scores: Scores) -> Iterator[Record]:
    for name, method in METHODS.items():
        memberships = method(data.X, data.n_clusters, task.seed)
        yield {"method": name, "feasible": True, **scores.of(memberships)}


def _kfrc_records(task: StudyTask, data: StudyData, scores: Scores) -> Iterator[Record]:
    grid = task.grid
    fuzzifiers = [Fuzzifier.from_name(name) for name in grid.fuzzifiers]
    thresholds = sorted({t.threshold(data.n_clusters) for t in fuzzifiers})
    clusterings = Clusterings(data.n_clusters, scores, task.seed)
    for kernel, anisotropy in grid.spaces():
        shared = explore_bandwidths(
            data.X,
            kernel=kernel,
            max_anisotropy=anisotropy,
            n_starts=grid.n_starts,
            optimizer=OPTIMIZERS[task.study][task.optimizer],
            gram_tol=_GRAM_TOL,
            random_state=task.seed,
        )
        for criterion in grid.criteria:
            results = _search(data, shared, criterion, thresholds)
            for fuzzifier in fuzzifiers:
                settings = {
                    "method": f"KFRC ({fuzzifier.label})",
                    "fuzzifier": fuzzifier.name,
                    "kernel": kernel,
                    "criterion": criterion,
                    "max_anisotropy": anisotropy,
                    "m": fuzzifier.m,
                }
                result = results[fuzzifier.threshold(data.n_clusters)]
                yield settings | _kfrc_outcome(clusterings, shared, result, fuzzifier)


def _search(
    data: StudyData, shared: Exploration, criterion: str, thresholds: list[float]
) -> dict[float, BandwidthResult | None]:
    """Bandwidths for every threshold, in rising order: a start is repeated only once the threshold binds."""
    results: dict[float, BandwidthResult | None] = {}
    relaxed: BandwidthResult | None = None
    for k, threshold in enumerate(thresholds):
        try:
            relaxed = select_bandwidths(
                data.X, data.n_clusters, criterion=criterion, threshold=threshold, exploration=shared, relaxed=relaxed
            )
        except InfeasibleBandwidthError:
            # What no start reaches at this threshold none reaches at a larger one.
            return results | dict.fromkeys(thresholds[k:])
        results[threshold] = relaxed
    return results


def _kfrc_outcome(
    clusterings: Clusterings, shared: Exploration, result: BandwidthResult | None, fuzzifier: Fuzzifier
) -> Record:
    if result is None:
        return {"feasible": False}
    return {
        "feasible": True,
        "lambda1": float(result.eigenvalues[0]),
        "criterion_value": float(result.criterion_value),
        "level": result.level,
        "linear_limit": result.linear_limit,
        "w_eff": effective_n_features(result.bandwidths),
        "bandwidths": " ".join(f"{bandwidth:.8g}" for bandwidth in result.bandwidths),
        **clusterings.outcome(shared.space.family, result.log_bandwidths, fuzzifier),
    }
