"""What a Dask scheduler keeps of workers that were killed: no fit, and nothing of kfrc.

``python tests/hostile/soak/dead_workers.py`` takes two minutes. A scheduler in this process has two workers and gives
them tasks of a megabyte each. The older one is killed in the middle of them, again and again, and another begins. Logs
for developers are short, as in the soak. At the end nothing is to be done, and it is counted what the scheduler still
holds; with ``--forget`` work stealing forgets workers that are gone.

Distributed 2026.8 goes from 85 to 139 MB in twelve kills: it holds eight of the dead workers and eight tasks that they
were running, with what belongs to these. With ``--forget`` it holds none, and 101 MB from the second kill on. Besides,
about ten kilobytes stay of each worker: an emptied topic of events and lines of the log (at most 10 000); and a span of
each burst of tasks.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import logging
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import dask
import psutil
from distributed import Client, Scheduler

if __name__ == "__main__":
    sys.path[0] = str(Path(__file__).resolve().parents[2])  # this package by its full name

from hostile.soak.forgetting import Forgetting

_SHORT = {
    "distributed.admin.low-level-log-length": 10,
    "distributed.scheduler.events-cleanup-delay": "1s",
    "distributed.diagnostics.computations.max-history": 10,
}
_MEGABYTE = 1_000_000
_TASKS = 16  # of a round
_SECONDS = 0.7  # that a task takes: longer than from one heartbeat of a worker to the next


def work(content, seconds):
    """A task that holds a megabyte and takes its time."""
    time.sleep(seconds)
    return len(content)


async def main(n_kills, forget):
    """Workers that are killed; prints what stays."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as place, dask.config.set(_SHORT):
        async with (
            Scheduler(port=0, dashboard=False, host="127.0.0.1") as scheduler,
            Client(scheduler.address, asynchronous=True) as client,
        ):
            if forget:
                scheduler.add_plugin(Forgetting())
            workers = [_worker(scheduler.address, place) for _ in range(2)]
            try:
                for k in range(n_kills):
                    await client.wait_for_workers(2)
                    contents = [os.urandom(_MEGABYTE) for _ in range(_TASKS)]
                    futures = [client.submit(work, content, _SECONDS, pure=False) for content in contents]
                    await asyncio.sleep(3 * _SECONDS)
                    workers.pop(0).kill()
                    workers.append(_worker(scheduler.address, place))
                    await asyncio.gather(*futures)
                    del futures, contents
                    while scheduler.tasks:
                        await asyncio.sleep(0.05)
                    gc.collect()
                    print(f"{k + 1} killed: {psutil.Process().memory_info().rss / 1e6:.1f} MB", flush=True)
                await asyncio.sleep(2.0)  # until Dask clears up
                held = _held(scheduler)
            finally:
                for worker in workers:
                    worker.kill()
    print("nothing is to be done, and the scheduler still holds")
    for name, n in held.items():
        print(f"{n:8}  {name}")


def _worker(address, place):
    options = ("--no-nanny", "--nthreads", "1", "--no-dashboard", "--host", "127.0.0.1", "--local-directory", place)
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parent)}
    command = (sys.executable, "-m", "dask", "worker", address, *options)
    return subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def _held(scheduler):
    gc.collect()
    kinds = Counter(type(each).__name__ for each in gc.get_objects())
    topics = scheduler._broker._topics.values()
    return {
        "workers that are there": len(scheduler.workers),
        "tasks that are there": len(scheduler.tasks),
        "workers that are gone (WorkerState)": kinds["WorkerState"] - len(scheduler.workers),
        "  of which work stealing holds": len(getattr(scheduler.extensions.get("stealing"), "in_flight_tasks", ())),
        "tasks that are forgotten (TaskState)": kinds["TaskState"],
        "topics of events": len(topics),
        "events in them": sum(len(topic.events) for topic in topics),
        "spans": len(scheduler.extensions["spans"].spans),
        "lines of the log": len(scheduler._deque_handler.deque),
    }


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=12)
    parser.add_argument("--forget", action="store_true", help="let work stealing forget workers that are gone")
    options = parser.parse_args()
    logging.getLogger("distributed").propagate = False
    asyncio.run(main(options.kills, options.forget))
