"""The start of the program: help and wrong usage need no numerical library, and know its names all the same."""

from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys

import pytest

import kfrc
from kfrc.bandwidth import Optimizer
from kfrc.criteria import Criterion
from kfrc.fitting import MEMBERSHIPS, OUTLIERS
from kfrc.fuzzifiers import Fuzzifier
from kfrc.kernels import Kernel
from kfrc_app import runs, tables
from kfrc_app.cli import names, options

HEAVY = ["joblib", "matplotlib", "numpy", "pandas", "pyarrow", "scipy", "sklearn", "skops", "starlette", "uvicorn"]
HEAVY_OF_OURS = ["kfrc.clusterers", "kfrc.kernels", "kfrc_app.facts.collection", "kfrc_app.runs", "kfrc_app.tables"]

USING = """
import sys
import typer
from kfrc_app.__main__ import main
from kfrc_app.cli.main import app

def helps(command, words):
    yield [*words, "--help"]
    for name, other in getattr(command, "commands", {}).items():
        yield from helps(other, [*words, name])

wrong = [[], ["--version"], ["nothing"], ["--nothing"], ["fit"], ["fit", "x.csv", "--nothing"], ["predict", "m.skops"]]
wrong += [["fit", "x.csv", "-c", "2", "-o", "out", "--seed", "-1"], ["demo", "none"], ["app", "--port", "70000"]]
for words in [*wrong, *helps(typer.main.get_command(app), [])]:
    sys.argv = ["kfrc", *words]
    try:
        main()
    except SystemExit as end:
        assert end.code in (0, 2), words
"""

EVERY_NAME = """
import kfrc
assert "KFRC" in dir(kfrc) and "indices" in dir(kfrc)
from kfrc import *
assert KFRC is kfrc.KFRC and indices is kfrc.indices
assert kfrc.datasets.load_benchmark and kfrc.kernels.Kernel
"""

EVERY_MODULE = """
import importlib, os, pkgutil, sys
import sklearn.cluster, pandas, scipy.stats, pyarrow, typer, jinja2, starlette, joblib, matplotlib
import kfrc, kfrc_app

for package in (kfrc, kfrc_app):
    for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}.", onerror=print):
        child = os.fork()
        if child == 0:
            try:
                importlib.import_module(module.name)
            except BaseException as error:
                print(module.name, repr(error), flush=True)
                os._exit(1)
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0, module.name
"""


def modules_after(code):
    """What is imported at the end of a script of its own."""
    told = "\nimport json, sys\nsys.stderr.write('\\n' + json.dumps(sorted(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code + told], capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done
    return set(json.loads(done.stderr.splitlines()[-1]))


@pytest.mark.slow
def test_help_and_wrong_usage_import_no_numerical_library():
    imported = modules_after(USING)
    assert not imported & {*HEAVY, *HEAVY_OF_OURS}


def test_importing_the_library_imports_nothing_else_until_it_is_used():
    assert not modules_after("import kfrc, kfrc.exceptions, kfrc.activity") & {*HEAVY, *HEAVY_OF_OURS}
    assert "kfrc.clusterers" in modules_after(EVERY_NAME)


def test_an_attribute_that_the_library_does_not_have_is_one():
    for name in ("nothing", "_nothing", "__nothing__"):
        assert not hasattr(kfrc, name)
    with pytest.raises(AttributeError, match="module 'kfrc' has no attribute 'nothing'"):
        kfrc.nothing  # noqa: B018
    with pytest.raises(ImportError, match="cannot import name 'nothing'"):
        from kfrc import nothing  # noqa: F401


def test_every_public_name_is_found_and_remembered():
    for name in kfrc.__all__:
        found = getattr(kfrc, name)
        assert vars(kfrc)[name] is found
        assert name in dir(kfrc)
    assert pickle.loads(pickle.dumps(kfrc.KFRC)) is kfrc.KFRC


@pytest.mark.long
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_every_module_can_be_the_first_that_is_imported():
    done = subprocess.run([sys.executable, "-c", EVERY_MODULE], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, ""), done.stderr


@pytest.mark.parametrize(
    ("written", "family"),
    [
        (names.KERNELS, Kernel),
        (names.FUZZIFIERS, Fuzzifier),
        (names.CRITERIA, Criterion),
        (names.OPTIMIZERS, Optimizer),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_names_that_help_offers_are_those_of_the_registry(written, family):
    of_library = [name for name, cls in family.registry.items() if cls.__module__.startswith("kfrc.")]
    assert list(written) == of_library, "kfrc_app.cli.names lists them for help: change it too"


def test_what_else_is_written_down_for_help_is_as_in_the_library():
    assert names.MEMBERSHIPS == MEMBERSHIPS
    assert names.OUTLIERS == OUTLIERS
    assert names.N_REFITS == runs.N_REFITS
    assert options.Missing is tables.Missing


def test_a_name_that_somebody_adds_to_a_registry_is_accepted():
    check = options.one_of("kfrc.criteria:Criterion", names.CRITERIA)
    with pytest.raises(options.typer.BadParameter, match="'mine' is not one of sum, log_sum, gap"):
        check("mine")

    class Mine(Criterion, name="mine"):
        pass

    try:
        assert check("mine") == "mine"
    finally:
        del Criterion.registry["mine"]
