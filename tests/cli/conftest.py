"""How the tests of the command line run it, and the files they run it on."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris
from typer.testing import CliRunner

from kfrc.simulation import StudyDesign, make_study_dataset


@dataclass(frozen=True)
class Ended:
    """How a run ended."""

    code: int
    out: str
    err: str

    @property
    def document(self):
        return json.loads(self.out)


def without_refits(arguments):
    """The words of a command; a fit is not repeated unless the test asks for it, because that takes long."""
    words = [str(word) for word in arguments]
    repeated = words[:1] in (["fit"], ["demo"]) and "--refits" not in words
    return [words[0], "--refits", "0", *words[1:]] if repeated else words


@pytest.fixture(scope="session")
def run():
    """Run the program in this process."""
    from kfrc_app.cli.main import app

    def run_in_process(*arguments, stdin=None, code=0):
        result = CliRunner().invoke(app, without_refits(arguments), input=stdin)
        ended = Ended(result.exit_code, result.stdout, result.stderr)
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        assert ended.code == code, ended
        return ended

    return run_in_process


@pytest.fixture
def run_program():
    """Run the program as a process of its own."""

    def run_as_process(*arguments, stdin=None, code=0, cwd=None):
        result = subprocess.run(
            [sys.executable, "-m", "kfrc_app.cli.main", *without_refits(arguments)],
            input=stdin,
            capture_output=True,
            text=True,
            encoding="utf-8",
            env={**os.environ, "OMP_NUM_THREADS": "1", "PYTHONIOENCODING": "utf-8"},
            cwd=cwd,
            timeout=300,
            check=False,
        )
        assert result.returncode == code, result
        assert "Traceback" not in result.stderr
        return Ended(result.returncode, result.stdout, result.stderr)

    return run_as_process


@pytest.fixture(scope="session")
def iris_frame():
    """Iris with the names of its species."""
    frame = load_iris(as_frame=True).frame
    frame.columns = ["sepal_length", "sepal_width", "petal_length", "petal_width", "species"]
    frame["species"] = np.array(["setosa", "versicolor", "virginica"])[frame["species"]]
    return frame


@pytest.fixture
def iris_csv(iris_frame, tmp_path):
    """Path of iris as CSV."""
    path = tmp_path / "iris.csv"
    iris_frame.to_csv(path, index=False)
    return path


@pytest.fixture
def collapsing_csv(tmp_path):
    """200 rows, 4 clusters in 2 columns and 8 columns of noise: plain fuzzy c-means with m = 2 collapses."""
    design = StudyDesign(n_clusters=4, average_overlap=0.01, n_signal=2, n_noise=8)
    X = make_study_dataset(design, random_state=1).X
    path = tmp_path / "noisy.csv"
    pd.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])]).to_csv(path, index=False)
    return path


@pytest.fixture
def left_behind(tmp_path):
    """Names of what is in the folder of the test, besides what was there at a moment."""
    before = set()

    def names():
        return {path.name for path in tmp_path.iterdir()} - before

    def remember():
        before.update(path.name for path in tmp_path.iterdir())
        return names

    return remember
