"""The page and fits by a Dask cluster under load, with processes killed at random: `python tests/hostile/soak/run.py`.

Prints what was tried and what failed, and the memory of the processes that live through it; ends with 1 if something
failed.
"""

from __future__ import annotations

import argparse
import signal
import sys
import tempfile
import threading
import time
import traceback
from pathlib import Path

if __name__ == "__main__":
    sys.path[0] = str(Path(__file__).resolve().parents[2])  # this package by its full name, and tests/processes.py

from hostile.soak.app import soak_app
from hostile.soak.cluster import soak_cluster
from hostile.soak.gauges import quarters
from hostile.soak.tally import Tally

PARTS = {"app": soak_app, "cluster": soak_cluster}


def soak(minutes, seed, parts):
    """Run parts at the same time; what was counted and what was measured."""
    tally, gauges = Tally(), {}
    with tempfile.TemporaryDirectory(prefix="kfrc-soak-", ignore_cleanup_errors=True) as place:

        def run(part):
            folder = Path(place) / part
            folder.mkdir()
            try:
                gauges.update(PARTS[part](folder, 60.0 * minutes, seed, tally, every=min(2.0, minutes)))
            except BaseException:
                tally.fail(f"{part}: the soak itself", traceback.format_exc())

        threads = [threading.Thread(target=run, args=(part,)) for part in parts]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    return tally, gauges


def show(tally, gauges):
    """The tables that are printed."""
    width = max(map(len, tally.tries))
    print(f"{'what':<{width}}  tries  failures")
    for what in sorted(tally.tries):
        print(f"{what:<{width}}  {tally.tries[what]:>5}  {tally.failures[what]:>8}")
    print(f"\n{'median of quarter':<{width}}  {'1':>7}{'2':>7}{'3':>7}{'4':>7}")
    for name, gauge in sorted(gauges.items()):
        for unit, values in gauge.series.items():
            if len(values) >= 4:
                numbers = "".join(f"{value:>7.0f}" for value in quarters(values))
                print(f"{name + ', ' + unit:<{width}}  {numbers}")
    for why in tally.told:
        print(f"\nFAILED {why}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=30.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", choices=tuple(PARTS), help="one part instead of both at once")
    options = parser.parse_args()
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell lets what runs in the background ignore it
    began = time.monotonic()
    tally, gauges = soak(options.minutes, options.seed, [options.only] if options.only else list(PARTS))
    show(tally, gauges)
    print(f"\n{(time.monotonic() - began) / 60:.1f} minutes, seed {options.seed}: ", end="")
    print(f"{tally.failures.total()} failures" if tally.failures.total() else "no failure")
    return 1 if tally.failures.total() else 0


if __name__ == "__main__":
    sys.exit(main())
