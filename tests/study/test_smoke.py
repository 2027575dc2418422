"""The smoke preset of both studies, end to end through the command line: run, status, tables, figures."""

import os
import subprocess
import sys
from collections import Counter

import pandas as pd
import pytest
from typer.testing import CliRunner

from kfrc.simulation import study_designs
from kfrc_app.cli.main import app
from kfrc_app.study.cell import run_task
from kfrc_app.study.design import StudyGrid, StudyTask, study_tasks
from kfrc_app.study.methods import METHODS

pytestmark = pytest.mark.slow

FIGURES = {"synthetic": {"figure_2"}, "real": {"figure_1", "figure_3"}}


def run_here(*arguments):
    """In this process: starting one takes longer than what it does."""
    ended = CliRunner().invoke(app, ["study", *map(str, arguments)])
    assert ended.exit_code == 0, ended


def run(*arguments, folder):
    environment = os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MPLBACKEND": "Agg"}
    command = [sys.executable, "-m", "kfrc_app.cli.main", "study", *arguments]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, encoding="utf-8", timeout=600)


@pytest.mark.slow
@pytest.mark.parametrize("study", ["real", pytest.param("synthetic", marks=pytest.mark.long)])
def test_the_smoke_preset_goes_from_nothing_to_tables_and_figures(study, tmp_path):
    done = run("run", study, "--preset", "smoke", "--out", "out", "--n-jobs", "2", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    run_here("run", study, "--preset", "smoke", "--out", tmp_path / "out")
    run_here("tables", tmp_path / "out")
    paper = pd.read_csv(next((tmp_path / "out" / "tables").glob("*paper*.csv")))
    assert {"mean", "standard_error", "published", "difference"} <= set(paper.columns)
    assert paper["published"].notna().any()
    assert paper["mean"].notna().all()
    run_here("figures", tmp_path / "out")
    drawn = {path.stem: path.stat().st_size for path in (tmp_path / "out" / "figures").glob("*.png")}
    assert set(drawn) == FIGURES[study]
    assert min(drawn.values()) > 5_000


@pytest.mark.slow
def test_a_cell_is_a_pure_function_of_its_task():
    grid = StudyGrid(kernels=("sum",), anisotropies=(5.0,), criteria=("gap",), n_starts=2)
    task = StudyTask("synthetic", "098", 3, grid=grid)
    first, second = run_task(task), run_task(task)
    assert first == second
    assert len(first) == len(grid) + len(METHODS)
    assert len({record["method"] for record in first}) == 4 + len(METHODS)


def test_the_full_study_has_the_papers_size():
    full = study_tasks("synthetic", "full")
    assert len(full) == 4800
    assert len({task.key for task in full}) == 4800
    assert len(full[0].grid) == 120
    real = study_tasks("real", "full")
    assert [len(task.grid) for task in real] == [60] * 6


def test_a_part_of_the_study_keeps_all_levels_of_every_factor():
    designs = study_designs()
    for every in (5, 7):
        tasks = study_tasks("synthetic", "seed", every=every, kernel="sum")
        assert all(len(task.grid) == 60 for task in tasks)
        cells = Counter(
            (designs[int(task.dataset)].signal_to_noise, designs[int(task.dataset)].n_clusters) for task in tasks
        )
        assert len(cells) == 12
        assert max(cells.values()) - min(cells.values()) <= 1
    with pytest.raises(ValueError, match="no kernel 'linear'"):
        study_tasks("real", "seed", kernel="linear")


@pytest.mark.parametrize(("study", "preset"), [("imaginary", "smoke"), ("real", "tiny")])
def test_unknown_studies_and_presets_list_the_known_ones(study, preset):
    with pytest.raises(ValueError, match="choose one of"):
        study_tasks(study, preset)
