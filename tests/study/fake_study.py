"""A study of tasks that only draw numbers, importable by workers; as a script, ``kfrc study`` on these tasks."""

from __future__ import annotations

import os
import signal
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pandas as pd

import kfrc_app.figures
import kfrc_app.study.cell
import kfrc_app.study.design
import kfrc_app.study.tables

N_TASKS = 24


@dataclass(frozen=True)
class FakeTask:
    """Draws `n_records` records; `gate`, `trouble` and `diary` are files, and no part of the configuration."""

    index: int
    study: str = "synthetic"
    n_records: int = 3
    gate: str | None = field(default=None, compare=False)
    trouble: str | None = field(default=None, compare=False)
    diary: str | None = field(default=None, compare=False)

    @property
    def key(self) -> str:
        return f"{self.study}-{self.index:03d}"


def draw(task):
    """Records of one task, once the file of the gate lets it pass. If the file of trouble names it: raise, or die."""
    trouble = _trouble(task)
    if trouble == "raise":
        raise ArithmeticError(f"no luck with {task.index}")
    if trouble == "die":
        os.kill(os.getpid(), signal.SIGKILL)
    if trouble == "nested":
        return [{"value": [1, 2]}]
    while task.gate and task.index >= int(Path(task.gate).read_text() or 0):
        time.sleep(0.02)
    if task.diary:
        with open(task.diary, "a") as diary:
            diary.write(f"{task.key}\n")
    rng = np.random.default_rng([5, task.index])
    matrix = rng.standard_normal((40, 40))
    eigenvalues = np.linalg.eigvalsh(matrix @ matrix.T)
    return [
        {
            "task": task.key,
            "method": f"method {i}",
            "score": float(eigenvalues[-1 - i] / 3),
            "feasible": bool(i % 2),
            "maybe": None if i == task.index % 3 else i,
        }
        for i in range(task.n_records)
    ]


def _trouble(task):
    if task.trouble is None or not Path(task.trouble).exists():
        return None
    words = dict(line.split() for line in Path(task.trouble).read_text().splitlines())
    return words.get(task.key)


def fake_tasks(study="synthetic", preset="smoke", **options):
    """Stands for `study_tasks`; the files come from the environment."""
    if study not in ("synthetic", "real"):
        raise ValueError(f"unknown study {study!r}")
    files = [os.environ.get(f"FAKE_{name}") for name in ("GATE", "TROUBLE", "DIARY")]
    return [FakeTask(index, study, 3, *files) for index in range(N_TASKS)]


def fake_tables(records, study):
    """Stands for `build_tables`: a table that depends on every bit of every record, and on their order."""
    means = records.groupby("method")["score"].agg(["mean", "sum", "count"]).reset_index()
    bits = pd.DataFrame({"score": [float(score).hex() for score in records["score"]], "task": records["task"]})
    return {"means": means, "bits": bits}


def fake_figures(records, study, out, *, data_dir=None):
    """Stands for `draw_figures`."""
    out.mkdir(exist_ok=True)
    path = out / "figure.txt"
    path.write_text(f"{study} {len(records)}")
    return [path]


def install(patch=setattr):
    """Put the fakes in the places where ``kfrc study`` looks."""
    patch(kfrc_app.study.design, "study_tasks", fake_tasks)
    patch(kfrc_app.study.cell, "run_task", draw)
    patch(kfrc_app.study.tables, "build_tables", fake_tables)
    patch(kfrc_app.figures, "draw_figures", fake_figures)


if __name__ == "__main__":
    import fake_study

    from kfrc_app.cli.study import app

    fake_study.install()
    sys.exit(app())
