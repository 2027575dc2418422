"""Distributions installed with their dependencies into empty environments of every Python that is supported.

Each takes about a minute of downloads, so that `make release-check` runs them and `make check` does not. An
interpreter that this machine lacks is skipped, and said so.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

import kfrc
from release.conftest import Environment
from release.test_distributions import PROJECT

pytestmark = pytest.mark.release

VERSIONS = [
    found.group(1)
    for line in PROJECT["classifiers"]
    if (found := re.fullmatch(r"Programming Language :: Python :: (3\.\d+)", line))
]

TINY = "width,height,color\n" + "".join(
    f"{base + step / 10},{base * 2 - step / 10},{color}\n"
    for base, color in ((1.0, "red"), (9.0, "blue"))
    for step in range(10)
)


def candidates(version):
    """Where an interpreter may be: on the path, and where pyenv and uv keep theirs."""
    if path := shutil.which(f"python{version}"):
        yield path
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    yield from sorted(map(str, pyenv.glob(f"{version}.*/bin/python")), reverse=True)
    if uv := shutil.which("uv"):
        found = subprocess.run([uv, "python", "find", "--no-python-downloads", version], capture_output=True, text=True)
        yield from found.stdout.split()


def interpreter(version):
    """A Python of that version that runs and can make environments."""
    code = "import ensurepip, sys, venv; print('.'.join(map(str, sys.version_info[:2])))"
    for path in candidates(version):
        done = subprocess.run([path, "-c", code], capture_output=True, text=True)
        if (done.returncode, done.stdout.strip()) == (0, version):
            return path
    pytest.skip(f"no Python {version} with venv on this machine: neither on the path nor from pyenv or uv")


@pytest.fixture(scope="module", params=VERSIONS)
def python(request):
    """An interpreter of every supported version."""
    return interpreter(request.param)


@pytest.fixture(scope="module")
def whole(tmp_path_factory, python, wheel):
    """kfrc with what it needs, from its wheel."""
    environment = Environment(tmp_path_factory.mktemp("whole"), python)
    environment.pip("install", "--quiet", wheel)
    return environment


@pytest.fixture(scope="module")
def core(tmp_path_factory, python, core_wheel):
    """kfrc-core with what it needs."""
    environment = Environment(tmp_path_factory.mktemp("core"), python)
    environment.pip("install", "--quiet", core_wheel)
    return environment


def check_program(environment):
    """From a table to a report."""
    assert environment.run("kfrc", "--version") == f"kfrc {kfrc.__version__}\n"
    assert "fit" in environment.run("kfrc", "--help")
    (environment.folder / "tiny.csv").write_text(TINY, encoding="utf-8")
    environment.run("kfrc", "fit", "tiny.csv", "-c", "2", "--refits", "0", "-o", "out", "--force")
    page = (environment.folder / "out" / "report.html").read_text(encoding="utf-8")
    assert page.startswith("<!")
    assert "</html>" in page
    rows = (environment.folder / "out" / "memberships.csv").read_text(encoding="utf-8").splitlines()
    assert len(rows) == 21


def test_the_wheel_brings_a_program_that_works(whole):
    whole.pip("check")
    check_program(whole)


def test_every_verb_of_the_installed_program_has_help(whole):
    verbs = re.findall(r"^  (\w+) ", whole.run("kfrc", "--help").partition("Commands:")[2], re.MULTILINE)
    assert {"fit", "predict", "diagnose", "compare", "demo"} <= set(verbs)
    for verb in verbs:
        assert f"kfrc {verb}" in whole.run("kfrc", verb, "--help")


def test_importing_the_library_loads_no_package_of_the_application(whole):
    code = (  # scikit-learn itself loads pandas and rich where they are installed
        "import importlib.util, sys, sklearn.base;"
        "importlib.util.find_spec('sklearn.callback') and importlib.import_module('sklearn.callback');"
        "before = set(sys.modules); import kfrc; loaded = {name.split('.')[0] for name in set(sys.modules) - before};"
        "print(sorted(loaded & {'pandas', 'matplotlib', 'pyarrow', 'rich', 'typer', 'jinja2', 'starlette'}))"
    )
    assert whole.python(code) == "[]"


def test_the_source_distribution_installs_to_the_same(whole, sdist):
    before = whole.pip("freeze").splitlines()
    whole.pip("install", "--quiet", "--force-reinstall", "--no-deps", sdist)
    after = whole.pip("freeze").splitlines()
    assert [line for line in before if not line.startswith("kfrc ")] == [
        line for line in after if not line.startswith("kfrc ")
    ]
    check_program(whole)


def test_the_core_fits_and_has_nothing_of_the_application(core):
    core.pip("check")
    code = (
        "import importlib.util, numpy as np; from kfrc import KFRC; rng = np.random.default_rng(0);"
        "X = np.vstack([rng.normal(size=(20, 2)), 9 + rng.normal(size=(20, 2))]);"
        "print(np.bincount(KFRC(2, random_state=0).fit(X).labels_).tolist(),"
        "[name for name in ('kfrc_app', 'pandas', 'matplotlib', 'typer') if importlib.util.find_spec(name)])"
    )
    assert core.python(code) == "[20, 20] []"
    assert not list(core.bin.glob("kfrc*"))


def test_the_whole_installed_over_the_core_works_and_removing_the_core_needs_a_repair(core, wheel):
    """What docs/decisions/packaging.md says of the two together."""
    core.pip("install", "--quiet", wheel)
    assert core.run("kfrc", "--version") == f"kfrc {kfrc.__version__}\n"
    core.pip("uninstall", "--quiet", "--yes", "kfrc-core")
    core.run("kfrc", "--version", status=1)
    core.pip("install", "--quiet", "--force-reinstall", "--no-deps", wheel)
    check_program(core)
