"""Fits by a Dask scheduler and two workers with nannies, while the workers are killed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import threading
import time
from contextlib import suppress
from pathlib import Path

import numpy as np
import pandas as pd
import psutil

from processes import Machines

from . import fits
from .gauges import Gauges
from .tally import Killer, command_of, descendants, mature, seeded

KILL_PAUSE = 20.0
"""Seconds from one kill to the next, on average: a nanny needs several to start another worker."""

YOUNG = 0.15
"""How often a worker may be killed while another one is just being started; on a busy machine that takes a minute."""

N_ROWS = 140_000
"""Three blocks of rows."""

PATIENCE = 1500.0
"""Seconds after which a fit that has not ended counts as lost: it takes ten, and two minutes on a machine that is so
busy that workers need a minute to start; one that has lost its way takes for ever."""

_ALLOWED_DEATHS = 3
"""How often a part of a pass may lose its worker until the fit ends with one line, as Dask has it."""


_LOCKS = ("global.lock", "purge.lock")
"""Empty files of Dask's own, by which its processes agree on who clears up: one of each, however long they run."""


_BOUNDED = {
    "DASK_DISTRIBUTED__ADMIN__LOW_LEVEL_LOG_LENGTH": "10",
    "DASK_DISTRIBUTED__ADMIN__LOG_LENGTH": "100",
    "DASK_DISTRIBUTED__SCHEDULER__EVENTS_CLEANUP_DELAY": "10s",
    "DASK_DISTRIBUTED__SCHEDULER__PRELOAD": "['hostile.soak.forgetting']",
}
"""For half an hour a scheduler does nothing but fill what Dask keeps for its developers: the last thousand messages to
every worker, with the centers in them, its log and the events of the last hour. It also keeps dead workers with what
they were at (dead_workers.py shows it without a fit), unless it is helped. What grows beyond that is looked for."""


class Cluster(Machines):
    """A scheduler and two workers that are started again by their nannies when they die."""

    def __init__(self, folder):
        self.scratch = folder / "scratch"
        self.temporary = folder / "cluster-tmp"
        for each in (self.scratch, self.temporary):
            each.mkdir()
        super().__init__(folder, Path(__file__).parents[2], TMPDIR=str(self.temporary), **_BOUNDED)
        self.address, self.scheduler, _ = self.cluster(0)
        self.nannies = [self._nanny() for _ in range(2)]

    def _nanny(self):
        place = ("--local-directory", str(self.scratch))
        options = ("--host", "127.0.0.1", "--no-dashboard", "--nthreads", "1", "--nanny", *place)
        return self.start("-m", "dask", "worker", self.address, *options)

    def workers(self):
        """The workers themselves, not their nannies."""
        children = [child for nanny in self.nannies for child in descendants(nanny.pid)]
        return [child for child in children if "spawn_main" in command_of(child)]

    def victims(self, rng):
        """Workers of which one may die: mostly only when both of them have done something."""
        found = self.workers()
        ready = len(mature(found, 4.0)) == len(self.nannies)
        return found if ready or rng.random() < YOUNG else []

    def end(self, tally):
        """Everybody is told to end; afterwards nothing is left."""
        processes = [*self.workers(), *(psutil.Process(each.pid) for each in (*self.nannies, self.scheduler))]
        for each in (*self.nannies, self.scheduler):
            each.send_signal(signal.SIGINT)
            with suppress(subprocess.TimeoutExpired):
                each.wait(60)
        _, alive = psutil.wait_procs(processes, timeout=10)
        tally.check("end: no process of the cluster is left", not alive, str([command_of(each) for each in alive]))
        files = (path.name for path in self.temporary.rglob("*") if path.is_file())
        left = sorted(name for name in files if name not in _LOCKS)
        tally.check("end: no temporary file of a fit is left", not left, str(left[:5]))


def write_rows(folder):
    """Rows in two files, in stretches that are not those of blocks."""
    folder.mkdir()
    rng = np.random.default_rng(0)
    means = np.array([[0.0, 0.0, 0.0], [4.0, 0.0, 1.0], [0.0, 4.0, -1.0]])
    X = means[rng.integers(3, size=N_ROWS)] + rng.standard_normal((N_ROWS, 3))
    frame = pd.DataFrame(X, columns=["x", "y", "z"])
    for k, first in enumerate(range(0, N_ROWS, 80_000)):
        part = frame[first : first + 80_000]
        part.to_parquet(folder / f"part-{k}.parquet", row_group_size=30_000, index=False)


def soak_cluster(folder, seconds, seed, tally, *, every=2.0):
    """The soak of fits by a cluster; what was measured of the client and of the scheduler."""
    rows = folder / "rows"
    write_rows(rows)
    cluster = Cluster(folder)
    try:
        rng = seeded(seed, "killer of the cluster")
        killer = Killer(lambda: cluster.victims(rng), KILL_PAUSE, rng)
        client = cluster.start(
            "-m",
            "hostile.soak.fits",
            cluster.address,
            str(rows),
            str(seconds),
            str(seed),
            stdout=subprocess.PIPE,
            text=True,
        )
        gauges = {
            "client of the cluster": Gauges(client.pid, every).start(),
            "scheduler of the cluster": Gauges(cluster.scheduler.pid, every).start(),
        }
        killer.start()
        commands = threading.Thread(target=_commands, args=(cluster, rows, folder, seconds, tally, killer))
        commands.start()
        lost = _read(client, tally, killer)
        commands.join()
        killer.stop()
        for each in gauges.values():
            each.stop()
        tally.check("cluster: the client ends by itself", not lost and client.wait(60) == 0, _tail(folder / "log"))
        tally.ok("cluster: workers killed", len(killer))
        for name, each in gauges.items():
            tally.check(f"cluster: {name.split()[0]} does not grow", not each.growing(), str(each.growing()))
        tally.check("cluster: scratch of dead workers is removed", *_stale(cluster))
        cluster.end(tally)
    finally:
        cluster.stop()
    return gauges


def _read(client, tally, killer):
    """Count what the client tells, line by line; whether it said nothing for so long that it is lost."""
    heard = [time.monotonic()]
    lost = threading.Event()
    over = threading.Event()

    def watch():
        while not over.wait(1.0):
            if time.monotonic() - heard[0] > PATIENCE:
                lost.set()
                os.killpg(client.pid, signal.SIGKILL)
                return

    threading.Thread(target=watch, daemon=True).start()
    for line in client.stdout:
        heard[0] = time.monotonic()
        told = json.loads(line)
        _count(f"cluster: {told['case']}", told["outcome"], killer.since(told["began"]), tally)
    over.set()
    if lost.is_set():
        tally.fail("cluster: fits", f"nothing was heard of a fit for {PATIENCE:.0f} s")
    return lost.is_set()


def _count(what, outcome, n_killed, tally):
    if fits.DIED in outcome and n_killed > _ALLOWED_DEATHS:
        tally.ok("cluster: told that workers died again and again")
    else:
        tally.check(what, outcome == "the same bits", f"{outcome}, {n_killed} killed meanwhile")


def _commands(cluster, rows, folder, seconds, tally, killer):
    """`kfrc fit` by the same cluster, one after the other, each into a new folder."""
    what, k = "cluster: kfrc fit --scheduler", 0
    alone = _memberships(cluster, rows, folder / "out-alone", [])
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        began, out = time.monotonic(), folder / f"out-{k}"
        k += 1
        found = _memberships(cluster, rows, out, ["--scheduler", cluster.address])
        if isinstance(found, str):
            _count(what, found, killer.since(began), tally)
            continue
        right = tally.check(what, not isinstance(alone, str) and found.equals(alone), "other memberships")
        left = [path.name for path in out.iterdir() if path.name == "unfinished" or path.name.startswith(".")]
        beside = [path.name for path in folder.glob(".out-*")]
        tally.check("cluster: nothing unfinished is left", not left and not beside, str([*left, *beside]))
        if right:
            for path in sorted(out.rglob("*"), reverse=True):
                path.unlink() if path.is_file() else path.rmdir()


def _memberships(cluster, rows, out, options):
    """What a command writes, or the one line that it ends with."""
    command = (
        "-X",
        "faulthandler",
        "-m",
        "kfrc_app",
        "fit",
        str(rows),
        "-c",
        "3",
        "-o",
        str(out),
        "--memory",
        fits.MEMORY,
        *_QUICK,
    )
    process = cluster.start(*command, *options, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    try:
        _, said = process.communicate(timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGABRT)  # faulthandler then tells where it was
        _, said = process.communicate()
        lives = [f"{each.cpu_times().user:.0f} s" for each in cluster.workers()]
        return (
            f"no end after {PATIENCE:.0f} s, load {os.getloadavg()}, workers have worked for {lives}:\n{said[-4000:]}"
        )
    if process.returncode:
        return said.strip().removeprefix("error: ")
    return pd.read_parquet(out / "memberships")


_QUICK = ("--m", "1.5", "--level", "1.0", "--refits", "0", "--no-report")


def _stale(cluster):
    """Whether only what living workers use is in the scratch folder, and what else there is; a new worker clears up."""
    space = cluster.scratch / "dask-scratch-space"
    folders = [path.name for path in space.iterdir() if path.is_dir()] if space.exists() else []
    return len(folders) <= len(cluster.nannies) + _ALLOWED_DEATHS, str(folders)


def _tail(path):
    return path.read_text("utf-8", "replace")[-2000:]
