"""What a study consists of: tasks (one data set each) and the grid of configurations tried on every data set."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from kfrc.datasets import BENCHMARK_NAMES
from kfrc.simulation import study_designs

STUDIES = ("synthetic", "real")
PRESETS = ("smoke", "seed", "full")

N_SEEDS = 25
"""Seeds of the full synthetic study (Section 5.1)."""

Record = dict[str, Any]
"""What a task finds for one method: plain values by name."""

PAPER_ANISOTROPIES = (1.0, 5.0, 10.0, 25.0, math.inf)
PAPER_CRITERIA = ("sum", "log_sum", "gap")
PAPER_FUZZIFIERS = ("power", "exponential", "quadratic", "complementary_root")

_SMOKE_DESIGNS = (1, 53, 98, 101, 146, 188)
"""Positions of the designs of the smoke preset: every SNR and c occurs."""


@dataclass(frozen=True)
class StudyGrid:
    """KFRC configurations: all combinations, with the fuzzifiers' default m.

    Attributes
    ----------
    kernels, criteria, fuzzifiers : tuple of str
    anisotropies : tuple of float
    n_starts : int
    """

    kernels: tuple[str, ...] = ("sum", "product")
    anisotropies: tuple[float, ...] = PAPER_ANISOTROPIES
    criteria: tuple[str, ...] = PAPER_CRITERIA
    fuzzifiers: tuple[str, ...] = PAPER_FUZZIFIERS
    n_starts: int = 5

    def __len__(self) -> int:
        return len(self.kernels) * len(self.anisotropies) * len(self.criteria) * len(self.fuzzifiers)

    def spaces(self) -> list[tuple[str, float]]:
        """(kernel, anisotropy): what one stage 1 serves."""
        return list(itertools.product(self.kernels, self.anisotropies))


SMALL_GRID = StudyGrid(anisotropies=(1.0, 5.0), n_starts=2)
REAL_GRID = StudyGrid(kernels=("sum",))


@dataclass(frozen=True)
class StudyTask:
    """One data set with all its configurations.

    Attributes
    ----------
    study : {"synthetic", "real"}
    dataset : str
        Position of the design among the 192 (as text), or the name of a benchmark set.
    seed : int
        Seed of the data (synthetic) and of every method.
    optimizer : {"lbfgs", "momentum"}
    grid : StudyGrid
    data_dir : str or None
        Folder with the benchmark sets, or with given synthetic data sets.
    """

    study: str
    dataset: str
    seed: int
    optimizer: str = "lbfgs"
    grid: StudyGrid = StudyGrid()
    data_dir: str | None = None

    @property
    def key(self) -> str:
        """Unique, readable, and safe as a file name."""
        return f"{self.study}-{self.dataset}-seed{self.seed:02d}"


def study_tasks(
    study: str,
    preset: str,
    *,
    optimizer: str = "lbfgs",
    data_dir: str | None = None,
    every: int = 1,
    kernel: str | None = None,
    seeds: Sequence[int] | None = None,
    n_starts: int | None = None,
) -> list[StudyTask]:
    """Tasks of a study.

    Parameters
    ----------
    study : {"synthetic", "real"}
    preset : {"smoke", "seed", "full"}
        ``"smoke"`` is a minute's worth; ``"seed"`` is one seed of the 192 designs, or the six real sets; ``"full"``
        has 25 seeds.
    optimizer : {"lbfgs", "momentum"}, default="lbfgs"
    data_dir : str, optional
    every : int, default=1
        Only every so many of the data sets; 5 and 7 leave all factors of the synthetic design about balanced.
    kernel : str, optional
        Only configurations with this kernel.
    seeds : sequence of int, optional
        Seeds of the synthetic study, instead of those of the preset.
    n_starts : int, optional
        Starts of every bandwidth search, instead of those of the preset.

    Returns
    -------
    list of StudyTask
    """
    if study not in STUDIES:
        raise ValueError(f"unknown study {study!r}: choose one of {', '.join(STUDIES)}")
    if preset not in PRESETS:
        raise ValueError(f"unknown preset {preset!r}: choose one of {', '.join(PRESETS)}")
    if study == "real":
        if seeds is not None:
            raise ValueError("the real study has no seeds: its data sets are what they are")
        names = ("wine",) if preset == "smoke" else tuple(name for name in BENCHMARK_NAMES if name != "iris")
        grid = StudyGrid(kernels=("sum",), anisotropies=(1.0, 5.0), n_starts=2) if preset == "smoke" else REAL_GRID
        grid = _changed(grid, kernel, n_starts)
        return [StudyTask(study, name, 1, optimizer, grid, data_dir) for name in names[::every]]
    designs = _SMOKE_DESIGNS if preset == "smoke" else range(len(study_designs()))
    if seeds is None:
        seeds = range(1, N_SEEDS + 1) if preset == "full" else (1,)
    grid = _changed(SMALL_GRID if preset == "smoke" else StudyGrid(), kernel, n_starts)
    return [
        StudyTask(study, f"{design:03d}", seed, optimizer, grid, data_dir)
        for seed, design in itertools.product(seeds, designs[::every])
    ]


def _changed(grid: StudyGrid, kernel: str | None, n_starts: int | None) -> StudyGrid:
    if kernel is not None and kernel not in grid.kernels:
        raise ValueError(f"the study has no kernel {kernel!r}: choose one of {', '.join(grid.kernels)}")
    kernels = grid.kernels if kernel is None else (kernel,)
    return replace(grid, kernels=kernels, n_starts=grid.n_starts if n_starts is None else n_starts)
