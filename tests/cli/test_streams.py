"""Standard streams that are closed, full or left by their reader: one line or none, and never a traceback."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform == "win32", reason="needs a POSIX shell"),
]

NUMBERS = """
import os, sys
from kfrc_app._streams import open_closed_streams
open_closed_streams()
file = open(sys.argv[1], "w")
os.write(1, b"printed")
os.write(2, b"printed")
print("printed", file=sys.stderr)
file.write(f"{file.fileno()} {sys.stdin.read()!r}")
"""


def shell(command, cwd, **streams):
    return subprocess.run(
        f"{sys.executable} -m kfrc_app {command}",
        shell=True,
        cwd=cwd,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        **streams,
    )


@pytest.mark.parametrize(
    ("command", "code", "out", "err"),
    [
        ("fit - -c 2 -o out <&-", 1, "", "kfrc: the file is empty\n"),
        ("--version >&-", 0, "", ""),
        ("fit none.csv -c 2 -o out 2>&-", 1, "", ""),
        ("--version <&- >&- 2>&-", 0, "", ""),
    ],
)
def test_a_closed_stream_is_empty(tmp_path, command, code, out, err):
    ended = shell(command, tmp_path)
    assert (ended.returncode, ended.stdout, ended.stderr) == (code, out, err)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is full")
@pytest.mark.parametrize("command", ["--help", "--version", "predict model.skops iris.csv"])
def test_output_that_cannot_be_written_is_one_line(tmp_path, iris_csv, command, request):
    if command.startswith("predict"):
        request.getfixturevalue("model")
    ended = shell(f"{command} >/dev/full", tmp_path)
    problems = [line for line in ended.stderr.splitlines() if not line.startswith("note: ")]
    assert (ended.returncode, problems) == (1, ["kfrc: the output cannot be written: No space left on device"])


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is full")
def test_messages_that_cannot_be_written_end_in_the_status_alone(tmp_path):
    ended = shell("fit none.csv -c 2 -o out 2>/dev/full", tmp_path)
    assert (ended.returncode, ended.stdout, ended.stderr) == (1, "", "")


def test_a_reader_that_leaves_is_told_nothing(tmp_path):
    ended = shell("fit --help | head -c 1", tmp_path)
    assert ended.stderr == ""


def test_a_file_does_not_get_the_number_of_a_closed_stream(tmp_path):
    target = tmp_path / "table"
    script = tmp_path / "script.py"
    script.write_text(NUMBERS)
    closed = f"{sys.executable} {script} {target} <&- >&- 2>&-"
    subprocess.run(closed, shell=True, check=True, timeout=300)
    number, read = target.read_text().split()
    assert int(number) > 2
    assert read == "''"


@pytest.fixture
def model(iris_frame, tmp_path):
    """A model of iris beside its table."""
    from kfrc import FCM
    from kfrc_app.models import dump_model

    (tmp_path / "model.skops").write_bytes(dump_model(FCM(3, random_state=0).fit(iris_frame.drop(columns="species"))))
    return os.fspath(tmp_path)


def test_a_window_without_columns_shows_messages_all_the_same(run, tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", "0")
    assert "none.csv" in run("diagnose", tmp_path / "none.csv", "-c", "2", code=1).err
