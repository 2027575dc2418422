"""What is in the distributions, and that an installed wheel runs away from the sources."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tomllib
import zipfile
from email.parser import Parser
from pathlib import Path

import pytest
import yaml

import kfrc
from release.conftest import ROOT, Environment, clean_environment

pytestmark = pytest.mark.slow

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
CORE = tomllib.loads((ROOT / "packaging/core/pyproject.toml").read_text(encoding="utf-8"))["project"]
LEFT_BY_PYTHON = re.compile(r"__pycache__|\.py[co]$")


def sources(*packages):
    """Files of packages as they stand in a wheel."""
    files = {
        path.relative_to(ROOT / "src").as_posix()
        for package in packages
        for path in (ROOT / "src" / package).rglob("*")
        if path.is_file()
    }
    return {name for name in files if not LEFT_BY_PYTHON.search(name)}


def content(path):
    """Files of a wheel, without what describes them."""
    with zipfile.ZipFile(path) as archive:
        return {name for name in archive.namelist() if ".dist-info/" not in name}


def metadata(path):
    """The description in a wheel."""
    with zipfile.ZipFile(path) as archive:
        (name,) = [name for name in archive.namelist() if name.endswith(".dist-info/METADATA")]
        return Parser().parsestr(archive.read(name).decode())


def test_the_wheel_is_exactly_the_two_packages(wheel):
    assert content(wheel) == sources("kfrc", "kfrc_app")
    assert {"kfrc/py.typed", "kfrc_app/report/templates/report.html.j2"} <= content(wheel)


def test_the_core_wheel_is_exactly_the_library(core_wheel):
    assert content(core_wheel) == sources("kfrc")


def test_wheels_have_the_license_and_the_version_of_the_sources(wheel, core_wheel):
    for path in (wheel, core_wheel):
        described = metadata(path)
        assert described["Version"] == kfrc.__version__
        with zipfile.ZipFile(path) as archive:
            (license_file,) = [name for name in archive.namelist() if name.endswith("licenses/LICENSE")]
            assert archive.read(license_file) == (ROOT / "LICENSE").read_bytes()


def test_only_the_whole_has_the_program(wheel, core_wheel):
    def scripts(path):
        with zipfile.ZipFile(path) as archive:
            return [archive.read(name).decode() for name in archive.namelist() if name.endswith("entry_points.txt")]

    (entries,) = scripts(wheel)
    assert "[console_scripts]\nkfrc = kfrc_app.__main__:main\n" in entries
    assert scripts(core_wheel) == []


def test_the_core_asks_for_the_same_as_the_whole_does_for_its_library():
    assert CORE["dependencies"] == PROJECT["dependencies"][: len(CORE["dependencies"])]
    names = {re.match(r"[\w-]+", line).group() for line in CORE["dependencies"]}
    assert names == {"numpy", "scipy", "scikit-learn", "joblib", "threadpoolctl"}
    for field in ("requires-python", "license", "classifiers", "authors"):
        assert CORE[field] == PROJECT[field]


def test_the_extra_of_the_application_is_still_accepted(wheel):
    assert "app" in metadata(wheel).get_all("Provides-Extra")
    assert PROJECT["optional-dependencies"]["app"] == []


def test_the_citation_has_the_version_of_the_sources():
    assert yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))["version"] == kfrc.__version__


def test_the_source_distribution_holds_what_is_kept_in_version_control_and_nothing_else(sdist):
    if shutil.which("git") is None or not (ROOT / ".git").exists():
        pytest.skip("needs the repository to know what is kept in it")
    kept = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split("\n")
    new = subprocess.run(
        ["git", "ls-files", "--others", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.split("\n")
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert names - {*kept, *new} == {"PKG-INFO"}
    for needed in ("pyproject.toml", "LICENSE", "Makefile", "tests/conftest.py", "packaging/core/pyproject.toml"):
        assert needed in names


def test_the_source_distribution_holds_no_data_sets_and_is_small(sdist):
    with tarfile.open(sdist) as archive:
        largest = max(archive.getmembers(), key=lambda member: member.size)
        names = archive.getnames()
    assert not [name for name in names if "/shared/" in name or name.endswith((".parquet", ".skops", ".pkl"))]
    assert largest.size < MAX_FILE, largest.name
    assert sdist.stat().st_size < MAX_SDIST


MAX_FILE = 1_000_000
"""Bytes of one file; the largest are reference numbers and pictures."""

MAX_SDIST = 5_000_000


@pytest.fixture(scope="module")
def installed(tmp_path_factory, wheel):
    """The wheel in an environment of its own, which sees the packages that the tests run with."""
    environment = Environment(tmp_path_factory.mktemp("installed"), sys.executable, "--without-pip")
    pip = [sys.executable, "-m", "pip", "--python", str(environment.bin / "python"), "--disable-pip-version-check"]
    done = subprocess.run(
        [*pip, "install", "--no-deps", "--no-index", str(wheel)],
        capture_output=True,
        text=True,
        env=clean_environment(),
    )
    assert done.returncode == 0, done.stdout + done.stderr
    (site,) = (environment.folder / "venv").rglob("site-packages")
    # A line of a .pth file is a folder: the packages in it are found, an editable installation in it is not.
    (site / "tests.pth").write_text(sysconfig.get_path("purelib") + "\n", encoding="utf-8")
    return environment


def test_the_installed_program_runs_away_from_the_sources(installed):
    assert installed.run("kfrc", "--version") == f"kfrc {kfrc.__version__}\n"
    where = Path(installed.python("import kfrc, kfrc_app; print(kfrc.__file__)"))
    assert where.is_relative_to(installed.folder)


def test_the_installed_program_finds_its_data(installed):
    code = (
        "from importlib.resources import files; folder = files('kfrc_app');"
        "print(len(folder.joinpath('report/templates/report.html.j2').read_text(encoding='utf-8')) > 0,"
        "folder.joinpath('study/published/table_1.csv').is_file())"
    )
    assert installed.python(code) == "True True"
