"""One seed of the synthetic study, from every 17th of its data sets: minutes of CPU time."""

from __future__ import annotations

import time
from collections.abc import Iterator

from harness import Row

from kfrc_app.study.cell import run_task
from kfrc_app.study.datasets import load_task_data
from kfrc_app.study.design import study_tasks
from kfrc_app.study.methods import METHODS

AUTOMATIC = "automatic KFRC"
EVERY = 17
"""Prime to the factors of the design: 12 data sets in which all of them vary."""


def rows() -> Iterator[Row]:
    tasks = study_tasks("synthetic", "seed")
    sample = tasks[::EVERY]
    seconds, automatic = [], []
    for task in sample:
        start = time.process_time()
        run_task(task)
        seconds.append(time.process_time() - start)
        data = load_task_data(task)
        start = time.process_time()
        METHODS[AUTOMATIC](data.X, data.n_clusters, task.seed)
        automatic.append(time.process_time() - start)
    minutes, later = (sum(values) / len(sample) * len(tasks) / 60.0 for values in (seconds, automatic))
    yield Row(
        "one seed of the synthetic study, minutes of CPU time",
        minutes,
        "<= 9.6",
        f"{len(sample)} data sets, {min(seconds):.1f} to {max(seconds):.1f} s each",
    )
    yield Row(f"the same without {AUTOMATIC}, which the 23 minutes to be beaten did not have", minutes - later)
