"""The program's entry: it runs, and without the packages of the application it ends with one line."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from kfrc_app._missing import missing_package
from waiting import PATIENCE

ROOT = Path(__file__).resolve().parents[2]

BLOCKED = """
import runpy, sys
for name in {names!r}:
    sys.modules[name] = None
sys.argv = ["kfrc", *{words!r}]
{start}
"""
STARTS = {
    "script": "from kfrc_app.__main__ import main; main()",
    "module": "runpy.run_module('kfrc_app', run_name='__main__')",
}
VERSION = ["--version"]
FIT = ["fit", "table.csv", "-c", "2", "-o", "out"]


def run_python(*arguments):
    return subprocess.run(
        [sys.executable, *arguments], capture_output=True, text=True, encoding="utf-8", timeout=PATIENCE, check=False
    )


@pytest.mark.parametrize("start", STARTS)
@pytest.mark.parametrize(
    ("package", "words"), [("typer", VERSION), ("rich", VERSION), ("pandas", FIT), ("sklearn", FIT)]
)
def test_a_missing_package_is_named_in_one_line(package, words, start):
    ended = run_python("-c", BLOCKED.format(names=[package], words=words, start=STARTS[start]))
    assert ended.returncode == 1
    assert ended.stdout == ""
    assert ended.stderr == f"kfrc: the package {package} is needed for this: type pip install . in the folder of kfrc\n"


def test_without_any_package_of_the_application_the_end_is_the_same():
    names = ["typer", "rich", "pandas", "jinja2", "matplotlib", "pyarrow", "skops"]
    ended = run_python("-c", BLOCKED.format(names=names, words=VERSION, start=STARTS["script"]))
    assert ended.returncode == 1
    assert ended.stderr.count("\n") == 1
    assert "pip install . in the folder of kfrc" in ended.stderr


@pytest.mark.parametrize(("module", "words"), [("kfrc_app.cli.main", VERSION), ("kfrc.clusterers", FIT)])
def test_a_broken_module_of_our_own_is_not_called_a_missing_package(module, words):
    ended = run_python("-c", BLOCKED.format(names=[module], words=words, start=STARTS["script"]))
    assert ended.returncode == 1
    assert "Traceback" in ended.stderr
    assert "pip install" not in ended.stderr


@pytest.mark.parametrize("module", ["kfrc_app", "kfrc_app.cli.main"])
def test_the_program_runs_as_a_module(module):
    ended = run_python("-m", module, "--version")
    assert (ended.returncode, ended.stderr) == (0, "")
    assert ended.stdout.startswith("kfrc ")


def test_usage_names_the_program(tmp_path):
    ended = run_python("-m", "kfrc_app", "fit")
    assert ended.returncode == 2
    assert "kfrc fit" in ended.stderr


def test_the_console_script_is_this_entry():
    scripts = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["scripts"]
    assert scripts == {"kfrc": "kfrc_app.__main__:main"}


def test_the_advice_names_the_package_and_the_empty_extra_is_kept():
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    advice = missing_package(ModuleNotFoundError("no", name="matplotlib.pyplot"))
    assert advice == "the package matplotlib is needed for this: type pip install . in the folder of kfrc"
    assert "app" in extras


def test_a_program_that_ends_by_itself_says_nothing_of_signals():
    for _ in range(2):  # what was said depended on which thread ended first
        done = subprocess.run([sys.executable, "-m", "kfrc_app", "--help"], capture_output=True, text=True, check=True)
        assert done.stderr == ""
