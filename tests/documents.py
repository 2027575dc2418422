"""What documents show, compared with what programs print."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
TEXT_BLOCK = re.compile(r"^```text\n(.*?)^```", re.MULTILINE | re.DOTALL)
NUMBER = re.compile(r"[-+]?\d+(?:\.\d*)?(?:e[-+]?\d+)?")


def run_python(arguments, folder):
    """A fresh interpreter: classes that a document registers must not reach other tests."""
    environment = os.environ | {
        "MPLBACKEND": "Agg",
        "PYTHONIOENCODING": "utf-8",
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
    }
    environment.pop("COLUMNS", None)  # documents show output as wide as it is by itself
    command = [sys.executable, *arguments]
    run = subprocess.run(command, cwd=folder, env=environment, capture_output=True, encoding="utf-8", timeout=600)
    assert run.returncode == 0, run.stderr
    return run.stdout


def assert_same_text(printed, written):
    """Words must agree exactly and numbers to what a reader would notice; bars follow from the numbers."""
    printed, written = (text.replace("█", "").split() for text in (printed, written))
    assert [NUMBER.sub("#", word) for word in printed] == [NUMBER.sub("#", word) for word in written]
    for a, b in zip(printed, written, strict=True):
        for got, expected in zip(NUMBER.findall(a), NUMBER.findall(b), strict=True):
            # A count of rows or iterations may move by a few with the last digits of the arithmetic.
            tolerance = 0.005 if "." in expected else (0 if int(expected) < 10 else 10)
            assert float(got) == pytest.approx(float(expected), rel=0.02, abs=tolerance), (a, b)
