"""How long a test waits for another process, a thread or a browser."""

from __future__ import annotations

import time

PATIENCE = 240.0
"""Seconds until a test gives up. Busy machines take a minute for what takes a second; idle workers of joblib go by
themselves after 300, which is no end that a test may take for one."""


def wait_until(condition):
    """What a condition says once it says something."""
    end = time.monotonic() + PATIENCE
    while not (found := condition()):
        assert time.monotonic() < end, "waited too long"
        time.sleep(0.02)
    return found
