"""The program as an attack runs it: in this process, with what it may say and how it may end."""

from __future__ import annotations

import re
from collections.abc import Sequence

from hostile.attack import FINE, REFUSED, Broken

SUCCESS, DATA_PROBLEM, USAGE = 0, 1, 2

CHEAP = ("--refits", "0", "--level", "1", "-m", "1.5", "--max-anisotropy", "1", "--starts", "1", "--no-report")
"""A fit that takes a quarter of a second."""

_OF_OTHERS = re.compile(r"\n?libgomp: Invalid value for environment variable .*\n")
"""What a library of the system says before Python begins."""

GROUPS = "\n".join(
    ["height,weight,colour", *(f"{k % 7 + 10 * (k % 2)}.5,{k % 5 - 8 * (k % 2)},{'rb'[k % 2]}" for k in range(24))]
)
"""A small table of two groups, as CSV."""


def run(arguments: Sequence[str], stdin: bytes | None = None, told_by: tuple[str, ...] = ()) -> tuple[int, str, str]:
    """Run the program in this process; returns (status, output, messages). What it raises is raised.

    Messages may begin with names in ``told_by``, beside those of the program.
    """
    from typer.testing import CliRunner

    from kfrc_app.cli.main import app

    result = CliRunner().invoke(app, list(arguments), input=stdin)
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    check_end(result.exit_code, result.stderr, told_by)
    return result.exit_code, result.stdout, result.stderr


def check_end(status: int, messages: str, told_by: tuple[str, ...] = ()) -> None:
    """Hold how a run ended against what is documented."""
    if status not in (SUCCESS, DATA_PROBLEM, USAGE):
        raise Broken(f"the program ends with status {status}\n{messages}")
    if "Traceback" in messages:
        raise Broken(f"a traceback\n{messages}")
    problems = [line for line in messages.splitlines() if line.startswith("kfrc: ")]
    messages = _OF_OTHERS.sub("", messages)
    speakers = tuple(f"{name}: " for name in ("kfrc", "note", *told_by))
    others = [line for line in messages.splitlines() if not line.startswith(speakers)]
    if status == USAGE:
        if not others and not problems:
            raise Broken("status 2 without a word")
        return
    if len(problems) != (status == DATA_PROBLEM):
        raise Broken(f"status {status} with {len(problems)} messages of a problem\n{messages}")
    if others:
        raise Broken(f"the program says something that is neither a note nor a problem\n{messages}")


def ending(status: int) -> str:
    """What a status means for an attack."""
    return FINE if status == SUCCESS else REFUSED
