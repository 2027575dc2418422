"""One seed of the synthetic study, from every 17th of its data sets: minutes of CPU time."""

from __future__ import annotations

import time
from collections.abc import Iterator

from harness import Row

from kfrc_app.study.cell import run_task
from kfrc_app.study.design import study_tasks

EVERY = 17
"""Prime to the factors of the design: 12 data sets in which all of them vary."""


def rows() -> Iterator[Row]:
    tasks = study_tasks("synthetic", "seed")
    sample = tasks[::EVERY]
    seconds = []
    for task in sample:
        start = time.process_time()
        run_task(task)
        seconds.append(time.process_time() - start)
    minutes = sum(seconds) / len(sample) * len(tasks) / 60.0
    yield Row(
        "one seed of the synthetic study, minutes of CPU time",
        minutes,
        "<= 9.6",
        f"{len(sample)} data sets, {min(seconds):.1f} to {max(seconds):.1f} s each",
    )
