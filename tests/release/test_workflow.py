"""The hosted workflow, the hooks and the lowest versions agree with the Makefile and with pyproject.toml."""

from __future__ import annotations

import itertools
import re
import tomllib

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.version import Version

from release.conftest import ROOT

PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PROJECT = PYPROJECT["project"]
WORKFLOW = yaml.safe_load((ROOT / ".github/workflows/ci.yml").read_text(encoding="utf-8"))
JOBS = WORKFLOW["jobs"]
TRIGGERS = WORKFLOW[True]  # YAML 1.1 takes "on" for a truth value
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")
TARGETS = set(re.findall(r"^([a-z][\w-]*):(?!=)", MAKEFILE, re.MULTILINE))
COMMANDS = ("test", "rest", "long", "release-check")
SUPPORTED = re.findall(r"Python :: (3\.\d+)", "\n".join(PROJECT["classifiers"]))


def targets_of(job):
    """What a job makes; every other step is an action of the host."""
    commands = [step["run"] for step in job["steps"] if "run" in step]
    assert all(re.fullmatch(r"make [\w-]+( \w+=[\w.]+)*", command) for command in commands), commands
    return [command.split()[1] for command in commands]


def versions_of(job):
    """Versions of Python that a job asks for."""
    (wanted,) = [step["with"]["python-version"] for step in job["steps"] if "setup-python" in step.get("uses", "")]
    return job["strategy"]["matrix"]["python-version"] if "matrix." in wanted else wanted.split()


def recipe_of(target):
    return re.search(rf"^{target}:.*\n((?:\t.*\n)*)", MAKEFILE, re.MULTILINE).group(1)


def test_every_test_is_run_by_exactly_one_command():
    marks = ("slow", "long", "release")
    (usual,) = re.findall(r"-m '([^']*)'", PYPROJECT["tool"]["pytest"]["ini_options"]["addopts"])
    chosen = {name: re.findall(r" -m (\w+|'[^']*')", recipe_of(name))[-1].strip("'") for name in COMMANDS}
    for values in itertools.product([False, True], repeat=3):
        test = dict(zip(marks, values, strict=True))
        if not (test["long"] and test["release"]):
            runs = {name for name, expression in chosen.items() if eval(expression, {}, test)}
            assert len(runs) == 1, (test, runs)
            assert eval(usual, {}, test) == (runs <= {"test", "rest"})


def test_files_of_tests_that_are_in_no_package_have_names_of_their_own():
    found = [path.name for path in (ROOT / "tests").rglob("test_*.py") if not (path.parent / "__init__.py").exists()]
    assert sorted(found) == sorted(set(found))


def test_continuous_integration_runs_both_parts_of_the_check_and_each_once():
    assert re.findall(r"\$\(MAKE\) (\w+)", recipe_of("check")) == ["test", "rest"]
    run = (ROOT / ".ci/run").read_text(encoding="utf-8")
    assert 'for part in test rest; do\n    make "$part"' in run
    assert "set -euo pipefail" in run


@pytest.mark.parametrize("name", JOBS)
def test_jobs_make_targets_that_exist(name):
    targets = targets_of(JOBS[name])
    assert targets
    assert set(targets) <= TARGETS


def test_targets_are_no_files():
    phony = re.search(r"^\.PHONY: (.*)$", MAKEFILE, re.MULTILINE).group(1).split()
    assert set(phony) == TARGETS


@pytest.mark.parametrize("name", JOBS)
def test_jobs_end_in_finite_time_and_know_supported_versions_only(name):
    assert JOBS[name]["timeout-minutes"] <= 60
    assert set(versions_of(JOBS[name])) <= set(SUPPORTED)


def test_every_supported_version_is_tested_and_installed():
    assert versions_of(JOBS["test"]) == SUPPORTED
    assert sorted(versions_of(JOBS["release-check"])) == SUPPORTED
    assert targets_of(JOBS["test"]) == ["check"]
    assert targets_of(JOBS["release-check"]) == ["release-check"]


def test_the_first_supported_version_is_what_is_required():
    assert PROJECT["requires-python"] == f">={SUPPORTED[0]}"
    assert versions_of(JOBS["lowest"]) == [SUPPORTED[0]]


def test_other_systems_and_documents_are_tried_as_well():
    assert {name.partition("-")[0] for name in JOBS["smoke"]["strategy"]["matrix"]["os"]} == {"macos", "windows"}
    assert [target for name in ("lowest", "docs", "coverage") for target in targets_of(JOBS[name])] == [
        "lowest",
        "docs",
        "coverage",
    ]


def test_the_newest_dependencies_are_tried_once_a_week():
    (schedule,) = TRIGGERS["schedule"]
    minute, hour, day, month, weekday = schedule["cron"].split()
    assert (day, month) == ("*", "*")
    assert all(field.isdecimal() for field in (minute, hour, weekday))
    assert "schedule" in JOBS["newest"]["if"]
    assert re.search(r"^newest:\n(\t.*\n)*\t.*--pre --upgrade", MAKEFILE, re.MULTILINE)


# --- the lowest versions ---


def lowest():
    lines = (ROOT / "requirements/lowest.txt").read_text(encoding="utf-8").splitlines()
    pins = dict(line.split("==") for line in lines if line and not line.startswith("#"))
    return {name: Version(version) for name, version in pins.items()}


def test_every_dependency_is_pinned_at_its_lower_bound():
    pins = lowest()
    for requirement in map(Requirement, PROJECT["dependencies"]):
        (bound,) = requirement.specifier
        assert bound.operator == ">="
        assert pins[requirement.name] == Version(bound.version), requirement


def test_pins_of_tools_keep_their_lower_bounds_too():
    pins = lowest()
    tools = [tool for tool in map(Requirement, PROJECT["optional-dependencies"]["test"]) if tool.name in pins]
    assert tools
    assert all(tool.specifier.contains(pins[tool.name]) for tool in tools)


# --- hooks ---


def test_hooks_are_the_checks_of_the_makefile_and_fetch_nothing():
    (repository,) = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8"))["repos"]
    assert repository["repo"] == "local"
    assert {hook["language"] for hook in repository["hooks"]} == {"system"}
    called = {hook["entry"].removeprefix(".venv/bin/").partition(" --")[0] for hook in repository["hooks"]}
    made = set(re.findall(r"\$\(BIN\)/(ruff format|ruff check|mypy|lint-imports)", MAKEFILE))
    assert called == made
    extras = PROJECT["optional-dependencies"]
    tools = {Requirement(line).name for line in extras["dev"] + extras["test"]}
    assert {"ruff", "mypy", "import-linter", "pre-commit"} <= tools
