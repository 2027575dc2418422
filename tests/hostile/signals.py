"""Signals at any moment of a run: one line at most, a documented status, and whole results or none."""

from __future__ import annotations

import os
import re
import signal
import tempfile
import time
from contextlib import suppress
from functools import cache
from pathlib import Path

import numpy as np

from hostile.attack import FINE, REFUSED, Attack, Broken
from hostile.models import dumped
from hostile.program import CHEAP, GROUPS
from hostile.spawned import Spawned, contents, leftovers

POSIX = os.name == "posix"
EARLIER = {"model.skops": b"of an earlier run", "notes of mine.txt": b"mine"}
WHOLE = {"model.skops", "memberships.csv", "summary.json"}
"""Files that every complete fit has."""

_TOLD_BEFORE = re.compile(r"note: |.*: \d+ of \d+$")
"""Lines that may stand above the one that says how a run ended: notes, and how far it was."""

VERBS = {"fit": 1.0, "fit with a report": 2.0, "predict": 1.0, "study": 2.0, "demo": 3.0, "pieces": 1.5}
"""What is interrupted, and about how long it takes beside a cheap fit."""


class Signals(Attack, name="signals" if POSIX else ""):
    """A verb is sent a signal, or two, at a random moment between its first instruction and its end."""

    tries = 200
    quick = 1

    def attempt(self, rng: np.random.Generator, folder: Path) -> str:
        verb = str(rng.choice(list(VERBS)))
        sent = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGPIPE][rng.choice(4, p=[0.45, 0.3, 0.15, 0.1])]
        twice = sent == signal.SIGINT and rng.random() < 0.3
        everybody = bool(rng.integers(2))
        words = prepare(verb, folder)
        before = contents(folder / "results")
        program = Spawned(words, folder)
        program.wait_for_begin()
        time.sleep(float(rng.random() ** 1.5) * 1.1 * VERBS[verb] * duration_of_a_fit())
        _send(program.process.pid, sent, everybody=everybody)
        if twice:
            time.sleep(float(rng.choice([0.0, 0.01, 0.2])))
            _send(program.process.pid, sent, everybody=everybody)
        status = program.wait()
        _check_status(status, sent, twice=twice, messages=program.messages)
        _check_results(verb, folder, status, before, twice=twice, in_order=sent != signal.SIGHUP and status >= 0)
        return FINE if status == 0 else REFUSED


def prepare(verb: str, folder: Path) -> list[str]:
    """The words of a command whose results belong to ``results``, where an earlier result stands already."""
    results = folder / "results"
    (results / "out").mkdir(parents=True)
    for name, content in EARLIER.items():
        (results / "out" / name).write_bytes(content)
    table = folder / "table.csv"
    table.write_text(GROUPS)
    out = str(results / "out")
    if verb == "predict":
        (folder / "model.skops").write_bytes(dumped("FCM", True))
        table.write_text("a,b,c\n" + "1,2,3\n4,5,6\n" * 200)
        (results / "new.csv").write_bytes(b"of an earlier run")
        return ["predict", str(folder / "model.skops"), str(table), "-o", str(results / "new.csv"), "--force"]
    if verb == "study":
        return ["study", "run", "synthetic", "--out", str(results / "study"), "--every", "40", "--n-jobs", "2"]
    if verb == "demo":
        return ["demo", "-o", out, "--refits", "0", "--force"]
    if verb == "pieces":
        return ["fit", str(table), "-c", "2", "-o", str(results / "new"), *CHEAP, "--memory", "1GB"]
    further = () if verb == "fit" else ("--report", "--refits", "1")
    return ["fit", str(table), "-c", "2", "-o", out, "--force", *CHEAP, *further]


@cache
def duration_of_a_fit() -> float:
    """Seconds that a cheap fit takes here and now, from its first instruction on."""
    with tempfile.TemporaryDirectory(prefix="hostile-") as place:
        program = Spawned(prepare("fit", Path(place)), Path(place))
        program.wait_for_begin()
        start = time.monotonic()
        program.wait()
        return time.monotonic() - start


def _send(pid: int, number: int, *, everybody: bool) -> None:
    """As a terminal does, to all processes of the group; or as kill does."""
    with suppress(ProcessLookupError):
        (os.killpg if everybody else os.kill)(pid, number)


def _check_status(status: int, sent: int, *, twice: bool, messages: str) -> None:
    allowed = {0, 128 + sent, -sent}  # a shell calls the last two the same
    if status not in ({0} if sent == signal.SIGPIPE else allowed):
        raise Broken(f"status {status} after {signal.Signals(sent).name}{' twice' if twice else ''}\n{messages}")
    if "Traceback" in messages:
        raise Broken(f"a traceback after {signal.Signals(sent).name}{' twice' if twice else ''}\n{messages}")
    lines = [line for line in messages.splitlines() if line and not _TOLD_BEFORE.match(line)]
    if status and len(lines) > 1:
        raise Broken(f"more than one line after {signal.Signals(sent).name}\n{messages}")


def _check_results(
    verb: str, folder: Path, status: int, before: dict[str, bytes], *, twice: bool, in_order: bool
) -> None:
    """Hold what is there against what was there: whole, and nothing else if the program could still act."""
    from kfrc_app.output import mend_output

    results = folder / "results"
    if in_order and leftovers(results):
        raise Broken(f"an orderly end leaves something behind\n{leftovers(results)}")
    for name in ("out", "new.csv", "new"):
        mend_output(results / name)
    if leftovers(results):
        raise Broken(f"what a killed run has left is not mended\n{leftovers(results)}")
    found = contents(results)
    kept = {name: content for name, content in found.items() if not name.startswith(("study", "new/unfinished"))}
    if kept == before and status == -signal.SIGINT and not twice and verb != "study":
        raise Broken("a single Ctrl-C kills the program without a word, before it has a result")
    if kept == before:
        if status == 0 and verb != "study":
            raise Broken("status 0 without a result")
        return
    if found.get("out/notes of mine.txt") != EARLIER["notes of mine.txt"]:
        raise Broken("a file of the user is lost")
    if verb == "predict":
        if found["new.csv"].count(b"\n") != 401:
            raise Broken("a prediction is not whole")
    elif verb == "pieces":
        if "new/model.skops" not in found and (status == 0 or not (results / "new" / "unfinished").is_dir()):
            raise Broken(f"a result is not whole, and nothing says that it is unfinished\n{sorted(found)}")
    elif verb != "study" and not {f"out/{name}" for name in WHOLE} <= {*found}:
        raise Broken(f"a result is not whole\n{sorted(found)}")
