"""The soak itself: what it calls growth, and one short run of it."""

from __future__ import annotations

import importlib.util
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

pytestmark = pytest.mark.slow

SOAK = Path(__file__).parent / "soak"


@pytest.fixture(scope="module")
def gauges():
    spec = importlib.util.spec_from_file_location("soak_gauges", SOAK / "gauges.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


N = 400
NOISE = np.random.default_rng(0).normal(scale=3.0, size=N)
TEETH = 15.0 * (np.arange(N) % 20) / 20
SERIES = {
    "noise": (NOISE, False),
    "memory that is used and given back": (TEETH + NOISE, False),
    "warming up": (40.0 * np.minimum(np.arange(N) / 90, 1) + NOISE, False),
    "one step": (12.0 * (np.arange(N) > 250) + NOISE / 3, False),
    "a leak": (0.05 * np.arange(N) + NOISE, True),
    "a leak below teeth": (0.06 * np.arange(N) + TEETH + NOISE, True),
    "a leak that begins late": (0.2 * np.maximum(np.arange(N) - 200, 0) + NOISE, True),
    "few numbers": (np.arange(5.0) * 100, False),
}


@pytest.mark.parametrize("name", SERIES)
def test_what_grows_for_good_is_told_from_noise_and_single_steps(gauges, name):
    values, leaks = SERIES[name]
    assert gauges.grows(200.0 + values, allowed=8.0) is leaks


@pytest.mark.long
@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs kill -9")
@pytest.mark.parametrize("part", ["app", "cluster"])
def test_a_short_soak_loses_nothing(part):
    command = [sys.executable, str(SOAK / "run.py"), "--minutes", "0.5", "--only", part]
    found = subprocess.run(command, capture_output=True, text=True, timeout=900, check=False)
    assert found.returncode == 0, found.stdout + found.stderr
    assert "no failure" in found.stdout
