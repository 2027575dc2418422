"""Ctrl-C while the program starts, or ends: one line, or nothing if it was over; never a traceback.

Before the first line of the program Python itself starts, and answers in its own way; nothing here can change that.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import pytest

from waiting import PATIENCE

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform == "win32", reason="needs signals"),
]

PROGRAM = """
import os, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)  # tests that run in the background are told to ignore it
from kfrc_app.__main__ import main
from kfrc_app._interrupts import answer_interrupts
answer_interrupts()  # the first line of main
os.write(1, b"!")
main()
"""
"""The program, which says when its first line has run."""

IMPORTING = """
import importlib.abc, importlib.machinery, os, signal, sys

class Interrupting(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name == sys.argv[0]:
            os.kill(os.getpid(), signal.{signal})
        return None

signal.signal(signal.SIGINT, signal.default_int_handler)
sys.meta_path.insert(0, Interrupting())
sys.argv = {words!r}
from kfrc_app.__main__ import main
main()
"""
"""The program, which is sent a signal while it imports one module."""

DYING = """
import os, signal, sys, time
signal.signal(signal.SIGINT, signal.default_int_handler)
from kfrc_app.__main__ import main
from kfrc_app.cli import fit

class Dying:
    def __del__(self):
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(0.1)

def check(*arguments, **options):
    Dying()
    time.sleep(60)

fit.check_output = check
sys.argv = ["kfrc", "fit", "table.csv", "-c", "2", "-o", "out"]
main()
"""
"""The program, which is sent a signal while an object is deleted, where Python prints exceptions and forgets them."""


def python(code):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=PATIENCE, check=False)


def start(*arguments):
    """The program after its first line."""
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
        env={**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
    )
    assert process.stdout.read(1) == b"!"
    return process


def interrupted_at(delay, *arguments):
    """Press Ctrl-C some seconds after the first line; (status, messages)."""
    process = start(*arguments)
    time.sleep(delay)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=PATIENCE)
    return process.returncode, err.decode()


def left_alone(*arguments):
    """Seconds from the first line to the end, and (status, messages)."""
    process = start(*arguments)
    began = time.monotonic()
    _, err = process.communicate(timeout=PATIENCE)
    return time.monotonic() - began, (process.returncode, err.decode())


def assert_silent_ends(n, tmp_path):
    command = ("fit", tmp_path / "none.csv", "-c", 2, "-o", tmp_path / "out")
    whole, finished = left_alone(*command)
    assert finished[0] == 1
    assert finished[1].count("\n") == 1
    ends = [interrupted_at(whole * k / n, *command) for k in range(n)]
    # A signal after the program gave up its own handling ends the process as it ends any other.
    allowed = {(130, "kfrc: interrupted\n"), finished, (-signal.SIGINT, finished[1])}
    assert set(ends) <= allowed
    assert (130, "kfrc: interrupted\n") in ends


def test_ctrl_c_while_the_program_starts_is_one_line(tmp_path):
    assert_silent_ends(5, tmp_path)


@pytest.mark.long
def test_ctrl_c_at_many_moments_of_the_start_is_one_line(tmp_path):
    assert_silent_ends(60, tmp_path)


@pytest.mark.parametrize("module", ["socket", "rich.console", "scipy.sparse"])
def test_ctrl_c_in_the_middle_of_an_import_is_one_line(module):
    words = [module, "fit", "table.csv", "-c", "2", "-o", "out"]
    ended = python(IMPORTING.format(signal="SIGINT", words=words))
    assert (ended.returncode, ended.stdout, ended.stderr) == (130, "", "kfrc: interrupted\n")


def test_a_termination_in_the_middle_of_an_import_is_silent():
    words = ["scipy.sparse", "fit", "table.csv", "-c", "2", "-o", "out"]
    ended = python(IMPORTING.format(signal="SIGTERM", words=words))
    assert (ended.returncode, ended.stdout, ended.stderr) == (128 + signal.SIGTERM, "", "")


def test_ctrl_c_while_an_object_is_deleted_is_one_line():
    ended = python(DYING)
    assert (ended.returncode, ended.stdout, ended.stderr) == (130, "", "kfrc: interrupted\n")
