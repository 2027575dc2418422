"""Options with values that nobody means: for every verb, one line or a result, never a traceback or a swarm."""

from __future__ import annotations

import contextlib
import os
import subprocess
import warnings
from collections.abc import Iterator
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from hostile.attack import Attack, Broken
from hostile.files import within_memory
from hostile.models import dumped
from hostile.program import CHEAP, GROUPS, ending, run

VALUES = (
    *("", " ", "0", "-1", "1", "2", "3", "1.5", "-0", "1e5", "1e999", "nan", "inf", "-inf", "NaN", "auto", "default"),
    *(
        "search",
        "None",
        "null",
        "true",
        "1000000",
        "99999999999999999999",
        "1" * 5000,
        "0x10",
        "1_000",
        "١",
        "½",
        "2-3",
    ),
    *(
        "2,3",
        "3-2",
        "1-1000000000",
        "2,,3",
        "-",
        "--",
        "-c",
        "--help",
        "/",
        "/dev/null",
        "..",
        ".",
        "~",
        "$HOME",
        "`id`",
    ),
    *(
        "$(touch x)",
        ";",
        "|",
        "*",
        "?",
        "[a]",
        "{}",
        "%s",
        "%n",
        "\\",
        "'",
        '"',
        "\n",
        "\t",
        "\x1b[31m",
        "\x07",
        "\u202e",
    ),
    *("\udcff", "é", "😀", "a" * 300, "height", "height,weight", "colour", "height=nominal", "colour=numeric"),
    *(
        "colour=ordinal:r<b",
        "=",
        "a=b=c",
        "height=date:xyz",
        "x=drop",
        "height=drop,weight=drop,colour=drop",
        ":",
        "a:b",
    ),
    *(
        ",",
        ".",
        "power",
        "quadratic",
        "sum",
        "linear",
        "product",
        "path",
        "lbfgs",
        "momentum",
        "1GB",
        "1KB",
        "0B",
        "-1GB",
    ),
    *(
        "1TB",
        "1 GB",
        "GB",
        "1e400GB",
        "tcp://",
        "tcp://localhost:99999",
        "file:///etc/passwd",
        "local",
        "smoke",
        "full",
    ),
    *("drop", "partial", "level", "error", "clip", "keep", "fuzzy", "posterior", "gap", "log_sum", "exponential"),
)
COSTLY = {"--refits": ("0", "1", "-1", "x", "nan", ""), "--starts": ("0", "1", "2", "-1", "x", "1e3", "")}
"""Options that ask for work: as much as somebody asks for is what they get."""

LEFT_OUT = {"app", "study run", "study figures"}
"""Verbs that serve until they are ended, or compute for minutes."""

OFTEN = ("fit",) * 6 + ("predict",) * 4 + ("diagnose",) * 2
"""Verbs that most people use are tried more than others."""

MAX_CHILDREN = 32


class Arguments(Attack, name="arguments"):
    """A verb gets a few options whose values come from a pool of bad ones."""

    tries = 1000
    quick = 20

    def attempt(self, rng: np.random.Generator, folder: Path) -> str:
        verbs = commands()
        verb = str(rng.choice([*sorted(verbs), *OFTEN]))
        with _working_in(folder), within_memory(), warnings.catch_warnings():
            warnings.simplefilter("error")
            words = [*verb.split(), *_positional(verb, folder, rng), *_options(verb, verbs[verb], folder, rng)]
            before = _everything_above(folder)
            status, _, _ = run(words)
            if _everything_above(folder) != before:
                raise Broken(f"something was written where nobody asked for it\n{words}")
            if n_children() > MAX_CHILDREN:
                raise Broken(f"an option starts a swarm of processes\n{words}")
            return ending(status)


@cache
def commands() -> dict[str, Any]:
    """Every verb that a try may run, with its parameters as click knows them."""
    import typer

    from kfrc_app.cli.main import app

    found: dict[str, Any] = {}

    def walk(command: Any, path: str) -> None:
        for name, child in getattr(command, "commands", {}).items():
            walk(child, f"{path} {name}".strip())
        if not hasattr(command, "commands") and path not in LEFT_OUT:
            found[path] = command

    walk(typer.main.get_command(app), "")
    return found


def _positional(verb: str, folder: Path, rng: np.random.Generator) -> list[str]:
    table = folder / "table.csv"
    table.write_text(GROUPS)
    words = [str(table)]
    if verb == "predict":
        model, new = folder / "model.skops", folder / "new.csv"
        model.write_bytes(dumped("FCM", True))
        new.write_text("a,b,c\n1,2,3\n4,5,6\n")
        words = [str(model), str(new)]
    elif verb == "demo":
        words = [str(rng.choice(["gym", "wine", ""]))] if rng.random() < 0.05 else ["no"]
    elif verb.startswith("study"):
        words = [str(folder)] * (1 + (verb == "study compare"))
    if rng.random() < 0.15:
        words[rng.integers(len(words))] = str(VALUES[rng.integers(len(VALUES))])
    return words


def _options(verb: str, command: Any, folder: Path, rng: np.random.Generator) -> list[str]:
    """What makes a verb cheap, and one to three options with any value; the last one given counts."""
    words = {
        "fit": ["-c", "2", "-o", str(folder / "out"), *CHEAP],
        "diagnose": ["-c", "2"],
        "compare": ["-c", "2"],
        "indices": ["-c", "2-3", "--refits", "0"],
        "demo": ["-o", str(folder / "demo"), "--refits", "0"],
        "study summarize": ["--out", str(folder / "summary")],
    }.get(verb, [])
    options = [parameter for parameter in command.params if parameter.opts[0].startswith("-")]
    for k in rng.integers(len(options), size=rng.choice([1, 1, 1, 2, 3])) if options else ():
        name = str(options[k].opts[rng.integers(len(options[k].opts))])
        if getattr(options[k], "is_flag", False):
            words.append(name)
            continue
        pool = next((COSTLY[called] for called in options[k].opts if called in COSTLY), VALUES)
        if isinstance(options[k].default, StrEnum) and rng.random() < 0.5:
            pool = tuple(type(options[k].default))
        elif options[k].default is not None and rng.random() < 0.2:
            pool = (str(options[k].default),)
        value = str(pool[rng.integers(len(pool))])
        words += [f"{name}={value}"] if name.startswith("--") and rng.random() < 0.3 else [name, value]
    return words


@contextlib.contextmanager
def _working_in(folder: Path) -> Iterator[None]:
    """Names without a folder are meant in one of the try."""
    place = folder / "here"
    place.mkdir()
    before = Path.cwd()
    os.chdir(place)
    try:
        yield
    finally:
        os.chdir(before)


def _everything_above(folder: Path) -> set[str]:
    """What stands beside the folder of the try; others at work may have folders of their own there."""
    return {
        name for name in os.listdir(folder.parent) if not name.startswith(("hostile-", "kfrc-", "tmp", "pytest"))
    } & {*VALUES}


def n_children() -> int:
    """Processes that this one has started and that are still there, where the system tells."""
    try:
        found = subprocess.run(["ps", "-o", "pid=", "--ppid", str(os.getpid())], capture_output=True, check=False)
    except OSError:
        return 0
    return len(found.stdout.split())
