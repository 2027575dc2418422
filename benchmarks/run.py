"""Run the benchmarks and print one table of ratios.

    make bench                                   all of them
    .venv/bin/python benchmarks/run.py solver    some of them

Every row compares two things measured in the same run; bounds are what the library holds itself to.
"""

from __future__ import annotations

import importlib
import platform
import sys
from pathlib import Path

import numpy as np
import scipy
import sklearn
from threadpoolctl import threadpool_limits

HERE = Path(__file__).parent
NOT_BENCHMARKS = {"run", "harness", "peers_beyond_memory"}


def main(names: list[str]) -> None:
    available = sorted(path.stem for path in HERE.glob("*.py") if path.stem not in NOT_BENCHMARKS)
    unknown = set(names) - set(available)
    if unknown:
        sys.exit(f"no benchmark called {', '.join(sorted(unknown))}: choose from {', '.join(available)}")
    print(f"Python {platform.python_version()}, numpy {np.__version__}, scipy {scipy.__version__}, ", end="")
    print(f"scikit-learn {sklearn.__version__}; one BLAS thread; CPU time, medians\n")
    print("| comparison | ratio | bound | | |\n|---|---|---|---|---|")
    with threadpool_limits(1):
        for name in names or available:
            for row in importlib.import_module(name).rows():
                print(f"| {row.what} | {row.ratio:.3g} | {row.bound} | {row.verdict} | {row.detail} |", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
