"""The program where nobody tries it: odd variables, closed or full streams, small limits, names and folders."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np

from hostile.attack import FINE, REFUSED, Attack, Broken
from hostile.models import dumped
from hostile.program import CHEAP, GROUPS, check_end, ending, run
from hostile.spawned import Spawned, contents, environment, leftovers

POSIX = os.name == "posix"
WHOLE = {"model.skops", "memberships.csv", "summary.json"}

SHOWN: dict[str, tuple[str | None, ...]] = {
    "COLUMNS": ("1", "0", "-5", "abc", "", "1000000000", "7"),
    "LINES": ("0", "abc", ""),
    "TERM": ("dumb", "", "unknown", None, "xterm-256color"),
    "NO_COLOR": ("1", ""),
    "HOME": ("/nowhere", "", None, "/dev/null"),
    "TMPDIR": ("/nowhere", "", "/dev/null"),
    "TZ": ("Nowhere/City", "", "UTC-99"),
}
"""Variables that are looked at while the program runs, so that it need not be started anew."""

STARTED: dict[str, tuple[str | None, ...]] = SHOWN | {
    "LANG": ("C", "POSIX", "xx_YY.no", None),
    "LC_ALL": ("C", "POSIX", "tr_TR.UTF-8", None),
    "PYTHONUTF8": ("0", "1"),
    "PYTHONIOENCODING": ("ascii", "utf-16", "latin-1", "ascii:strict"),
    "PYTHONOPTIMIZE": ("1", "2"),
    "PYTHONWARNINGS": ("error", "always", "ignore", "nonsense"),
    "PYTHONHASHSEED": ("0", "4294967295", "random"),
    "PYTHONDONTWRITEBYTECODE": ("1",),
    "PYTHONUNBUFFERED": ("1",),
    "PYTHONNOUSERSITE": ("1",),
    "OMP_NUM_THREADS": ("abc", "0", "-1", "3", ""),
    "OPENBLAS_NUM_THREADS": ("abc", "0", "-1", ""),
    "MPLCONFIGDIR": ("/nowhere", "/dev/null"),
    "MPLBACKEND": ("nonsense",),
    "XDG_CACHE_HOME": ("/dev/null",),
    "NUMBA_DISABLE_JIT": ("1",),
    "PATH": ("", None),
}

NAMES = (
    *(
        "with space.csv",
        "new\nline.csv",
        "😀.csv",
        "ünï.csv",
        "-dash.csv",
        "--out",
        "%s%n.csv",
        "a'b\".csv",
        "$(id).csv",
    ),
    *(
        "*.csv",
        "[a].csv",
        "x" * 250 + ".csv",
        "\x1b[31mred.csv",
        "caf\udcff.csv",
        ".csv",
        "con.csv",
        "a\\b.csv",
        "~",
        "#.csv",
    ),
)


class Environments(Attack, name="environments" if POSIX else ""):
    """A cheap run of a verb with one to three things that are not as usual."""

    tries = 300
    quick = 6

    def attempt(self, rng: np.random.Generator, folder: Path) -> str:
        verb = str(rng.choice(["fit", "fit", "predict", "diagnose", "help", "version"]))
        if rng.random() < 0.35:
            return _here(verb, folder, rng)
        setting = Setting(folder)
        words = prepare(verb, folder, rng)
        for k in rng.permutation(len(_ODDITIES))[: rng.integers(1, 4)]:
            _ODDITIES[k](setting, rng)
        with setting.stack:
            program = Spawned(
                words, folder, env=environment(**setting.variables), prepare=setting.prepare, **setting.streams
            )
            status = program.wait()
            if "stdout" in setting.streams or "stderr" in setting.streams or setting.closed:
                _check_cut_off(status, program.messages)
            else:
                check_end(status, program.messages if verb != "help" else "")
        _check_results(verb, folder, status)
        return FINE if status == 0 else REFUSED


class Setting:
    """How a process is started.

    Attributes
    ----------
    variables : dict of str to str or None
    streams : dict
        Those that are neither nothing nor a file.
    actions : list of callables
        What the new process does before the program begins.
    closed : bool
        Whether a stream for messages or results is missing.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.variables: dict[str, str | None] = {}
        self.streams: dict[str, Any] = {}
        self.actions: list[Callable[[], None]] = []
        self.closed = False
        self.stack = ExitStack()

    def prepare(self) -> None:
        for action in self.actions:
            action()


def _variables(setting: Setting, rng: np.random.Generator) -> None:
    for name in rng.permutation(list(STARTED))[: rng.integers(1, 5)]:
        values = STARTED[str(name)]
        setting.variables[str(name)] = values[rng.integers(len(values))]


def _closed_streams(setting: Setting, rng: np.random.Generator) -> None:
    chosen = [number for number in (0, 1, 2) if rng.random() < 0.5]
    setting.closed = bool({1, 2} & {*chosen})
    setting.actions.append(lambda: [os.close(number) for number in chosen] and None)


def _full_stream(setting: Setting, rng: np.random.Generator) -> None:
    name = str(rng.choice(["stdout", "stdout", "stderr"]))
    full = os.open("/dev/full", os.O_WRONLY)
    setting.stack.callback(os.close, full)
    setting.streams[name] = full


def _left_reader(setting: Setting, rng: np.random.Generator) -> None:
    """A pipe whose reader has gone, as after ``| head -1``."""
    reading, writing = os.pipe()
    os.close(reading)
    setting.stack.callback(os.close, writing)
    setting.streams["stdout"] = writing


def _limits(setting: Setting, rng: np.random.Generator) -> None:
    import resource

    which, low, high = (
        (resource.RLIMIT_NOFILE, 20, 64),
        (resource.RLIMIT_FSIZE, 0, 20_000),
        (resource.RLIMIT_AS, 3 << 30, 6 << 30),
        (resource.RLIMIT_CORE, 0, 1),
        (resource.RLIMIT_STACK, 1 << 20, 8 << 20),
    )[rng.integers(5)]
    limit = int(rng.integers(low, high))
    setting.actions.append(lambda: resource.setrlimit(which, (limit, limit)))


def _lost_folder(setting: Setting, rng: np.random.Generator) -> None:
    """The working directory is removed."""
    place = setting.folder / "lost"
    place.mkdir(exist_ok=True)

    def lose() -> None:
        os.chdir(place)
        os.rmdir(place)

    setting.actions.append(lose)


def _mask(setting: Setting, rng: np.random.Generator) -> None:
    mask = int(rng.choice([0o000, 0o077, 0o777]))
    setting.actions.append(lambda: os.umask(mask) and None)


def _nice(setting: Setting, rng: np.random.Generator) -> None:
    setting.actions.append(lambda: os.nice(5) and None)


_ODDITIES = (_variables, _closed_streams, _full_stream, _left_reader, _limits, _lost_folder, _mask, _nice)


def prepare(verb: str, folder: Path, rng: np.random.Generator) -> list[str]:
    """The words of a command, with files whose names and places may be odd."""
    results = folder / "results"
    results.mkdir()
    if verb in ("help", "version"):
        return [f"--{verb}"] if rng.random() < 0.5 or verb == "version" else ["fit", "--help"]
    table = _table(folder, "a,b,c\n" + "1,2,3\n4,5,7\n" * 6 if verb == "predict" else GROUPS, rng)
    if verb == "predict":
        (folder / "model.skops").write_bytes(dumped("FCM", True))
        out = ["-o", _place(results, rng, folder=False)] if rng.random() < 0.7 else []
        return ["predict", *out, "--", str(folder / "model.skops"), table]
    if verb == "diagnose":
        return ["diagnose", "-c", "2", "--", table]
    return ["fit", "-c", "2", "-o", _place(results, rng, folder=True), *CHEAP, "--", table]


def _table(folder: Path, text: str, rng: np.random.Generator) -> str:
    if rng.random() < 0.08:
        return str(
            rng.choice(["/dev/null", "/proc/self/environ", str(folder), "/nowhere/table.csv", "", "\n", "/dev/fd/99"])
        )
    path = folder / ("table.csv" if rng.random() < 0.6 else NAMES[rng.integers(len(NAMES))])
    path.write_text(text)
    return str(path)


def _place(results: Path, rng: np.random.Generator, *, folder: bool) -> str:
    """Where the output goes, mostly to a place that is free."""
    kind = rng.integers(16)
    out = results / "out"
    if kind == 0:
        out.write_text("a file")
    elif kind == 1:
        out.mkdir()
    elif kind == 2:
        out.symlink_to(results / "elsewhere")
    elif kind == 3:
        out.symlink_to(out)
    elif kind == 4:
        return str(results / ("x" * 300))
    elif kind == 5:
        return str(results / "a" / "b" / ".." / "c" / "out")
    elif kind == 6:
        return str(rng.choice(["/dev/null", "/dev/full/out", "/proc/out", "", ".", "/"]))
    elif kind == 7:
        return str(results / NAMES[rng.integers(len(NAMES))])
    elif kind == 8:
        results.chmod(0o500)
    elif kind == 9:
        (results / "file").write_text("")
        return str(results / "file" / "out")
    return str(out)


def _check_cut_off(status: int, messages: str) -> None:
    """What may happen where a result or a message has nowhere to go: no traceback, and a status that tells."""
    if status not in (0, 1, 2, 141, -13):
        raise Broken(f"status {status} without a stream\n{messages}")
    if "Traceback" in messages or "Exception ignored" in messages:
        raise Broken(f"a traceback without a stream\n{messages}")


def _check_results(verb: str, folder: Path, status: int) -> None:
    results = folder / "results"
    results.chmod(0o700)
    for place in [results, *(path for path in results.rglob("*") if path.is_dir() and not path.is_symlink())]:
        if leftovers(place):
            raise Broken(f"something half made is left\n{leftovers(place)}")
    models = list(results.rglob("model.skops"))
    others = {name.rpartition("/")[2] for name in contents(results)} & {*WHOLE}
    if others and not others >= WHOLE:
        raise Broken(f"a result is not whole\n{sorted(others)}")
    if verb == "fit" and status not in (0, 1, 141, -13) and models:
        raise Broken(f"status {status} with a result")


def _here(verb: str, folder: Path, rng: np.random.Generator) -> str:
    """A try in this process, if only variables are odd."""
    words = prepare(verb, folder, rng)
    variables = {name: values[rng.integers(len(values))] for name, values in SHOWN.items() if rng.random() < 0.4}
    with mock.patch.dict(os.environ, environment(**variables), clear=True), warnings.catch_warnings():
        warnings.simplefilter("error")
        status, _, _ = run(words)
    _check_results(verb, folder, status)
    return ending(status)
