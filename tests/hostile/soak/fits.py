"""Fits by a Dask cluster, one after the other, in a process of their own: each tells in one line how it ended.

Started by `cluster.py` with the address, the folder of rows, how many seconds to go on and a seed.
"""

from __future__ import annotations

import itertools
import json
import random
import sys
import time
from pathlib import Path

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd

from kfrc import FCM, KFRC
from kfrc.blocks import WorkerError, connected
from kfrc.sources import ParquetSource

SETTINGS = {"n_clusters": 3, "bandwidths": 1.5, "m": 1.5, "n_init": 1, "random_state": 0}
MEMORY = "12MB"
"""With so little, every block is a task of its own."""

DIED = "workers of the cluster died again and again"


def one_process(folder):
    """What a fit in one process finds."""
    source = ParquetSource(folder)
    return {
        "kfrc": np.asarray(KFRC(**SETTINGS, n_jobs=1).fit(source).memberships_),
        "fcm": np.asarray(FCM(3, random_state=0).fit(source).memberships_),
    }


def cases(folder):
    """Where rows can be, and which method passes over them."""
    frame = pd.read_parquet(folder)
    X = frame.to_numpy()
    return {
        "rows in files": ("kfrc", lambda: ParquetSource(folder)),
        "rows of this process": ("kfrc", lambda: X),
        "rows of a dask DataFrame": ("kfrc", lambda: dd.from_pandas(frame, npartitions=3)),
        "rows of a dask array": ("kfrc", lambda: da.from_array(X, chunks=(50_001, 2))),
        "fuzzy c-means": ("fcm", lambda: ParquetSource(folder)),
    }


def main():
    address, folder, seconds, seed = sys.argv[1], Path(sys.argv[2]), float(sys.argv[3]), sys.argv[4]
    rng, expected, tries = random.Random(seed), one_process(folder), cases(folder)
    with connected(address) as client:
        client.wait_for_workers(1)
        end = time.monotonic() + seconds
        for k in itertools.count():
            if k > 0 and time.monotonic() > end:
                break
            case = rng.choice(sorted(tries))
            method, rows = tries[case]
            began = time.monotonic()
            try:
                model = KFRC(**SETTINGS) if method == "kfrc" else FCM(3, random_state=0)
                model.fit(rows(), client=client, memory=MEMORY)
                same = np.array_equal(np.asarray(model.memberships_), expected[method])
                outcome = "the same bits" if same else "OTHER BITS"
            except WorkerError as error:
                outcome = str(error)
            except Exception as error:
                outcome = f"{type(error).__name__}: {error}"
            print(json.dumps({"case": case, "began": began, "outcome": outcome}), flush=True)


if __name__ == "__main__":
    main()
