"""What a Dask scheduler keeps of workers that were killed: no fit, and nothing of kfrc.

``python tests/hostile/soak/dead_workers.py`` takes two minutes. A scheduler in this process gets workers, a few small
tasks for them, and loses them by SIGKILL, again and again. Objects are counted by type, and containers of Dask are
measured; its logs for developers are short, as in the soak.

With distributed 2026.8 one emptied topic of events and three lines of the log stay of each killed worker, and one span
of each burst of tasks: about ten kilobytes for a worker. Lines of the log end at 10 000; the rest has no bound.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import logging
import os
import signal
import subprocess
import sys
import tempfile
from collections import Counter

import dask
import psutil

_WORKERS = """
import asyncio, sys
from distributed import Worker
async def main():
    for _ in range(int(sys.argv[2])):
        await Worker(sys.argv[1], nthreads=1, dashboard=False, local_directory=sys.argv[3])
    print("ready", flush=True)
    await asyncio.sleep(600)
asyncio.run(main())
"""

_SHORT = {
    "distributed.admin.low-level-log-length": 10,
    "distributed.scheduler.events-cleanup-delay": "1s",
    "distributed.diagnostics.computations.max-history": 10,
}
_WARM = 3  # rounds before counting begins
_TASKS = 5  # of a round, each begun when there are no others


async def main(n_rounds, n_workers):
    """Rounds of workers that are killed; prints what stays."""
    from distributed import Client, Scheduler

    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as place, dask.config.set(_SHORT):
        async with (
            Scheduler(port=0, dashboard=False, host="127.0.0.1") as scheduler,
            Client(scheduler.address, asynchronous=True) as client,
        ):
            for k in range(n_rounds):
                await _round(scheduler, client, n_workers, place)
                if k == _WARM - 1:
                    first, began = _objects(), _lengths(scheduler)
                print(f"round {k}: {psutil.Process().memory_info().rss / 1e6:.1f} MB", flush=True)
            n_rounds -= _WARM
            grown = {name: n - began[name] for name, n in _lengths(scheduler).items()}
            stays = {name: n for name, n in (_objects() - first).items() if n >= n_rounds}
    print(f"{n_rounds * n_workers} workers killed, {n_rounds * _TASKS} tasks in {n_rounds} rounds")
    print("longer by:", ", ".join(f"{name} {n}" for name, n in grown.items()))
    print("objects more:", ", ".join(f"{name} {n}" for name, n in Counter(stays).most_common(12)))


async def _round(scheduler, client, n_workers, place):
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", _WORKERS, scheduler.address, str(n_workers), place),
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    await process.stdout.readline()
    for _ in range(_TASKS):
        await client.submit(sum, (1, 2), pure=False)
        while scheduler.tasks:
            await asyncio.sleep(0.02)
    os.kill(process.pid, signal.SIGKILL)
    await process.wait()
    while scheduler.workers:
        await asyncio.sleep(0.05)
    await asyncio.sleep(2.0)  # until Dask clears up behind them


def _objects():
    gc.collect()
    return Counter(type(each).__name__ for each in gc.get_objects())


def _lengths(scheduler):
    """Of what the scheduler keeps."""
    return {
        "topics of events": len(scheduler._broker._topics),
        "events": sum(len(topic.events) for topic in scheduler._broker._topics.values()),
        "spans": len(scheduler.extensions["spans"].spans),
        "lines of the log": len(scheduler._deque_handler.deque),
        "tasks": len(scheduler.tasks),
        "groups of tasks": len(scheduler.task_groups),
        "kinds of tasks": len(scheduler.task_prefixes),
        "workers": len(scheduler.workers),
        "computations": len(scheduler.computations),
    }


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--workers", type=int, default=10)
    options = parser.parse_args()
    logging.getLogger("distributed").addHandler(logging.NullHandler())
    logging.getLogger("distributed").propagate = False
    asyncio.run(main(options.rounds, options.workers))
