"""The real program `kfrc app` with several visitors at once, while its processes are killed."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from urllib.parse import urlsplit

import psutil

from kfrc_app.server import limits
from kfrc_app.server.folder import PREFIX

from .gauges import Gauges
from .tables import good_tables, large_table
from .tally import Killer, command_of, descendants, mature, seeded
from .visits import PATIENCE, Visitor

VISITORS = 3
KILL_PAUSE = 9.0
"""Seconds from one kill to the next, on average: a run takes a few. On a machine that is busy with other things it is
the time that the direct fits took."""

YOUNG = 0.15
"""How often a process may be killed that has just been started; others have done something."""

_KEPT = re.compile(r"[0-9a-f]{32}")
"""Names of tables and results."""

_SHARED = "/dev/shm"


class App:
    """`kfrc app` in a process of its own, whose temporary files are in a folder of ours."""

    def __init__(self, folder):
        self.folder = folder
        self.log = folder / "app.log"
        self.temporary = folder / "app-tmp"
        self.temporary.mkdir()
        self._seen = set()
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-X", "faulthandler", "-m", "kfrc_app", "app", "--no-browser", "--port", "0"],
                stdout=log,
                stderr=log,
                start_new_session=True,
                env={**os.environ, "TMPDIR": str(self.temporary), "OMP_NUM_THREADS": "1"},
            )
        self.address = self._printed()
        parts = urlsplit(self.address)
        self.port, self.origin = parts.port, f"http://127.0.0.1:{parts.port}"
        self.token = parts.query.partition("=")[2]

    @property
    def private(self):
        (found,) = self.temporary.glob(f"{PREFIX}*")
        return found

    def workers(self):
        """Processes that work for the page; not the one that only clears up after joblib."""
        found = [child for child in descendants(self.process.pid) if "resource_tracker" not in command_of(child)]
        self._seen.update(child.pid for child in found)
        return found

    def end(self, tally):
        """Ctrl-C; afterwards nothing is left."""
        processes = descendants(self.process.pid)
        self.process.send_signal(signal.SIGINT)
        try:
            code = self.process.wait(60)
        except subprocess.TimeoutExpired:
            self.process.send_signal(signal.SIGABRT)  # faulthandler then tells where it was
            with suppress(subprocess.TimeoutExpired):
                self.process.wait(10)
            self.kill()
            code = f"none: it had to be killed\n{self.log.read_text('utf-8', 'replace')[-4000:]}"
        tally.check("end: the program ends by Ctrl-C", code == 0, f"exit code {code}")
        _, alive = psutil.wait_procs(processes, timeout=10)
        tally.check("end: no process is left", not alive, str([command_of(process)[:100] for process in alive]))
        left = sorted(path.name for path in self.temporary.iterdir())
        tally.check("end: no temporary file is left", not left, str(left[:5]))
        shared = [name for name in _shared_names() if any(f"-{pid}-" in f"-{name}-" for pid in self._seen)]
        tally.check("end: no shared memory is left", not shared, str(shared[:5]))
        listening = [c for c in psutil.net_connections("tcp") if c.laddr and c.laddr.port == self.port and not c.raddr]
        tally.check("end: nobody listens any more", not listening, str(listening))
        said = self.log.read_text("utf-8", "replace")
        tally.check("end: nothing but sentences was printed", "Traceback" not in said, said[-3000:])

    def kill(self):
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def _printed(self):
        end = time.monotonic() + 120
        while time.monotonic() < end:
            found = re.search(r"http://\S+", self.log.read_text("utf-8", "replace"))
            if found:
                return found[0]
            if self.process.poll() is not None:
                break
            time.sleep(0.1)
        raise SystemExit(f"kfrc app did not start:\n{self.log.read_text('utf-8', 'replace')}")


def soak_app(folder, seconds, seed, tally, *, every=2.0):
    """The soak of the page; what was measured of the server."""
    began, rng = time.monotonic(), seeded(seed, "killer of the page")
    good, large = good_tables(), large_table()
    pause = max(KILL_PAUSE, time.monotonic() - began)
    app = App(folder)

    def victims():
        found = app.workers()
        return found if rng.random() < YOUNG else mature(found, 2.0)

    try:
        gauges = Gauges(app.process.pid, every).start()
        killer = Killer(victims, pause, rng)
        end = time.monotonic() + seconds
        visitors = [Visitor(app, tally, killer, good, large, seeded(seed, k)) for k in range(VISITORS)]
        threads = [threading.Thread(target=_visit_until, args=(visitor, end)) for visitor in visitors]
        killer.start()
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        killer.stop()
        gauges.stop()
        _quiet(app, tally)
        tally.ok("page: processes killed", len(killer))
        tally.check("page: no more failures than kills", _told(tally) <= len(killer), f"{len(killer)} killed")
        tally.check("page: nothing grows", not gauges.growing(), str(gauges.growing()))
        # One that has just ended waits for the look that the server takes at it.
        tally.check("page: no process stays unburied", max(gauges.zombies[-4:], default=0) <= 2, str(gauges.zombies))
        _result_after_all(app, tally, killer, good, large, seed)
        app.end(tally)
    finally:
        app.kill()
    return {"server of the page": gauges}


def _told(tally):
    return tally.tries["page: told that its process died"]


def _visit_until(visitor, end):
    while time.monotonic() < end:
        visitor.visit()
    visitor.close()


def _quiet(app, tally):
    """When nobody asks for anything any more: what is left on the disk is what is kept, and one process is ready."""
    allowed = time.monotonic() + PATIENCE
    while time.monotonic() < allowed:
        unknown = _unknown(app)
        busy = [child for child in app.workers() if child.cpu_percent(0.2) > 5]
        if not unknown and not busy and len(app.workers()) <= 1:
            break
        time.sleep(0.5)
    names = sorted(path.name for path in app.private.iterdir())
    tally.check("page: no stale file when all is quiet", not unknown, str(unknown[:5]))
    kept = [name for name in names if _KEPT.fullmatch(name)]
    bound = limits.MAX_KEPT_TABLES + limits.MAX_KEPT_RUNS
    tally.check("page: no more tables and results than promised", len(kept) <= bound, str(len(kept)))
    tally.check("page: one process is ready when all is quiet", len(app.workers()) <= 1, str(app.workers()))


def _unknown(app):
    """Files in the private folder that are neither a table, nor a result, nor of a process that lives."""
    own = {str(child.pid) for child in app.workers()}
    return sorted(
        path.name
        for path in app.private.iterdir()
        if path.name != "in-use" and not _KEPT.fullmatch(path.name) and not _is_of(path, own)
    )


def _is_of(path, pids):
    """Whether a folder is where one of these processes keeps temporary files."""
    for pid in pids:
        with suppress(psutil.Error, OSError):
            if psutil.Process(int(pid)).environ().get("TMPDIR") == str(path):
                return True
    return False


def _result_after_all(app, tally, killer, good, large, seed):
    """After all that, the page still works."""
    visitor = Visitor(app, tally, killer, good, large, seeded(seed, "last"))
    visitor.cluster("page: works as before at the end")
    visitor.close()


def _shared_names():
    with suppress(OSError):
        return [re.sub(r"\W|_", "-", name) for name in os.listdir(_SHARED)]
    return []
