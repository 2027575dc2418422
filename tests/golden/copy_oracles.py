"""Copy the iris and wine numbers of the R oracles into this folder.

Run as ``python tests/golden/copy_oracles.py [folder of the oracles]``; without an argument the oracles are expected in
``../shared/oracles`` beside the repository. README.md says what is copied and which software made it.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np

HERE = Path(__file__).parent
DATASETS = ("iris", "wine")
FRC_KEYS = ("dissimilarity", "fuzzifier", "m", "iter", "converged", "objective", "n_exact_zeros")
SEARCH_KEYS = (
    "kernel",
    "criterion",
    "alpha",
    "tau",
    "stage1_iterations",
    "stage1_bw",
    "stage1_lambda1",
    "bw",
    "eigenvalues_top_c",
    "criterion_value",
    "stage2_iterations",
    "compute_F_calls",
)
SEARCHES = (  # (kernel, criterion, alpha, tau): the cheapest cases that still cover every kernel, criterion and bound
    ("sum", "logsum", "Inf", "quad"),
    ("sum", "gap", 5, "quad"),
    ("sum", "sum", 1, "crt"),
    ("product", "sum", 5, "quad"),
    ("product", "gap", "Inf", "crt"),
    ("product", "logsum", 1, "quad"),
)


def copy_spectra(oracles: Path) -> None:
    arrays = {}
    for dataset in DATASETS:
        cases = json.loads((oracles / "kernel_spectrum" / f"{dataset}.json").read_text())["cases"]
        with np.load(oracles / "kernel_spectrum" / f"{dataset}.npz") as source:
            for case in cases:
                for quantity in ("bw", "eigvals_top6", "grad_logbw", "grad_logsum", "D"):
                    arrays[f"{dataset}__{case}__{quantity}"] = source[f"{case}__{quantity}"]
    np.savez_compressed(HERE / "spectrum_oracle.npz", **arrays)


def copy_partitions(oracles: Path) -> None:
    arrays, scalars = {}, {}
    for dataset in DATASETS:
        exact = json.loads((oracles / "frc" / f"{dataset}.json").read_text())["cases"]
        clipped = json.loads((oracles / "frc" / f"{dataset}_clip_renorm.json").read_text())["cases"]
        with np.load(oracles / "frc" / f"{dataset}.npz") as source:
            arrays[f"{dataset}__U_init"] = source["U_init"]
            for case in exact:
                arrays[f"{dataset}__{case}__U_tight"] = source[f"{case}__U_tight"]
        scalars[dataset] = {
            group: {
                case: {key: record[key] for key in FRC_KEYS}
                | {"tight": {key: record["tight"][key] for key in ("iter", "converged", "objective")}}
                for case, record in records.items()
            }
            for group, records in {"exact": exact, "clip_renorm": clipped}.items()
        }
    np.savez_compressed(HERE / "frc_oracle.npz", **arrays)
    (HERE / "frc_oracle.json").write_text(json.dumps(scalars, indent=1) + "\n")


def copy_searches(oracles: Path) -> None:
    records = json.loads((oracles / "select_bandwidth" / "iris.json").read_text())
    chosen = [
        {key: record[key] for key in SEARCH_KEYS}
        for record in records
        if (record["kernel"], record["criterion"], record["alpha"], record["tau_name"]) in SEARCHES
    ]
    if len(chosen) != len(SEARCHES):
        raise ValueError(f"found {len(chosen)} of {len(SEARCHES)} searches")
    (HERE / "search_oracle.json").write_text(json.dumps(chosen, indent=1) + "\n")


if __name__ == "__main__":
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else HERE.parents[2] / "shared" / "oracles"
    copy_spectra(folder)
    copy_partitions(folder)
    copy_searches(folder)
