"""Distributions built once, and environments to install them in."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="session")
def distributions(tmp_path_factory):
    """Folder with the source distribution of kfrc, the wheel made from it, and the wheel of kfrc-core."""
    folder = tmp_path_factory.mktemp("dist")
    build = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(folder)]
    for arguments in ([str(ROOT)], ["--wheel", str(ROOT / "packaging" / "core")]):
        done = subprocess.run([*build, *arguments], capture_output=True, text=True, env=clean_environment())
        assert done.returncode == 0, done.stdout + done.stderr
    return folder


@pytest.fixture(scope="session")
def wheel(distributions):
    """The wheel of kfrc."""
    return only(distributions.glob("kfrc-*.whl"))


@pytest.fixture(scope="session")
def core_wheel(distributions):
    """The wheel of kfrc-core."""
    return only(distributions.glob("kfrc_core-*.whl"))


@pytest.fixture(scope="session")
def sdist(distributions):
    """The source distribution of kfrc."""
    return only(distributions.glob("kfrc-*.tar.gz"))


def only(paths):
    (path,) = paths
    return path


def clean_environment():
    """The environment variables, without those that lead to the sources or to the environment of the tests."""
    return {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "VIRTUAL_ENV"))}


class Environment:
    """A virtual environment, and how to run what is in it, away from the sources."""

    def __init__(self, folder, python=sys.executable, *options):
        self.folder = folder
        subprocess.run([python, "-m", "venv", *options, str(folder / "venv")], check=True, env=clean_environment())
        self.bin = folder / "venv" / ("Scripts" if os.name == "nt" else "bin")

    def run(self, program, *arguments, status=0):
        """Standard output of a program of the environment, which must end as expected."""
        command = [str(self.bin / program), *map(str, arguments)]
        done = subprocess.run(command, capture_output=True, encoding="utf-8", cwd=self.folder, env=clean_environment())
        assert done.returncode == status, f"{command}: {done.stdout}{done.stderr}"
        return done.stdout

    def python(self, code):
        """What Python code prints."""
        return self.run("python", "-c", code).strip()

    def pip(self, *arguments):
        """Run the environment's pip."""
        return self.run("python", "-m", "pip", "--disable-pip-version-check", *arguments)
