"""The recipes of CONTRIBUTING.md work where it says they go: inside the library, under the laws of their family."""

from __future__ import annotations

import ast
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
SECTION = re.compile(r"^### Add (?:an? )(\w+)\n(.*?)(?=^### |\Z)", re.MULTILINE | re.DOTALL)
FILE = re.compile(r"^File: (?:a new one, such as )?`([\w/.]+)`", re.MULTILINE)
BLOCK = re.compile(r"^(Elsewhere|In the file|Then):\n\n```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PYTHON = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
EXPORTS = ["src/kfrc/clusterers/__init__.py", "src/kfrc/__init__.py"]
TESTS = [
    "tests/laws",
    "tests/contract/test_registry.py",
    "tests/contract/test_sklearn.py",
    "tests/unit/clusterers/test_every_clusterer.py",
    "tests/unit/test_judges.py",
]
DRAWING = ["test_fuzzifier_laws", "test_spectrum_laws"]  # draw their members, so no id of theirs has a name
MISTAKES = {
    "fuzzifier": ("(self.m - 1) * u) ** 2", "(self.m - 1) * u) ** 3", "test_derivatives_are_the_slopes"),
    "kernel": ("return a * np.exp(-a)", "return -a * np.exp(-a)", "test_derivative_is_the_slope"),
    "criterion": ("] = 1.0", "] = 2.0", "test_criterion_gradients_equal_central_differences"),
    "judge": ("key=lambda opinion: -opinion", "key=lambda opinion: opinion", "test_opinions_are_sorted_from_the_best"),
    "optimizer": ("best = max(feasible", "best = min(feasible", "test_every_start_ends_feasible_and_not_below"),
    "start": (
        "return np.eye(n_clusters)",
        "return 0.5 * np.eye(n_clusters)",
        "test_rows_of_a_start_lie_on_the_simplex",
    ),
    "column": (
        "return np.sqrt(counts)",
        "return np.nan_to_num(np.sqrt(counts))",
        "test_blanks_and_only_blanks_have_no_code",
    ),
    "method": ("self.m = m", "self.m = m + 1", "check_parameters_default_constructible"),
}


@dataclass(frozen=True)
class Recipe:
    """What one section of the document adds to which file."""

    family: str
    file: str
    code: str

    @property
    def class_name(self):
        return re.search(r"^class (\w+)", self.code, re.MULTILINE).group(1)

    @property
    def name(self):
        """What ids of tests call the new member."""
        found = re.search(r'name="(\w+)"', self.code)
        return found.group(1) if found else self.class_name

    def install(self, root):
        path = root / self.file
        before = f"{path.read_text(encoding='utf-8')}\n\n" if path.exists() else ""
        path.write_text(before + self.code, encoding="utf-8")
        if self.family == "method":
            line = f"from kfrc.clusterers.{path.stem} import {self.class_name}\n"
            for name in EXPORTS:
                export(root / name, line, self.class_name)


def export(path, line, name):
    """Add an import, where the alphabet wants it, and an entry of ``__all__``."""
    text = path.read_text(encoding="utf-8")
    text = re.sub(r"^__all__ = \[\n", f'__all__ = [\n    "{name}",\n', text, flags=re.MULTILINE)
    others = list(re.finditer(r"^ *from kfrc\.clusterers\S* import .*\n", text, re.MULTILINE))
    last = max((match for match in others if match.group().lstrip() < line), key=re.Match.end)
    indent = " " * (len(last.group()) - len(last.group().lstrip()))
    path.write_text(text[: last.end()] + indent + line + text[last.end() :], encoding="utf-8")


def read_recipes():
    document = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    recipes = []
    for family, text in SECTION.findall(document):
        blocks = BLOCK.findall(text)
        assert len(blocks) == len(PYTHON.findall(text)), f"every block of {family} says where it belongs"
        (code,) = [code for place, code in blocks if place == "In the file"]
        recipes.append(Recipe(family, FILE.search(text).group(1), code))
    return recipes


RECIPES = read_recipes()


def copy_library(folder):
    """The library and its tests, without the application and the reference numbers."""
    shutil.copytree(ROOT / "src/kfrc", folder / "src/kfrc", ignore=shutil.ignore_patterns("__pycache__"))
    unneeded = shutil.ignore_patterns("__pycache__", "golden", "browser", "cli", "study", "app")
    shutil.copytree(ROOT / "tests", folder / "tests", ignore=unneeded)
    shutil.copy(ROOT / "pyproject.toml", folder)


def run_python(folder, *arguments):
    """A fresh interpreter that finds the copy, not the library this test belongs to."""
    environment = os.environ | {
        "PYTHONPATH": str(folder / "src"),
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
    }
    command = [sys.executable, *arguments]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, encoding="utf-8", timeout=900)


def run_tests(folder, keywords, profile="stable"):
    """Run the tests that the keywords select; their ids and outcomes."""
    options = ["-m", "pytest", "-v", "-p", "no:cacheprovider", "--tb=short", "--hypothesis-profile", profile]
    run = run_python(folder, *options, "-k", keywords, *TESTS)
    outcomes = dict(re.findall(r"^(tests/\S+::.+?) (PASSED|FAILED|ERROR)", run.stdout, re.MULTILINE))
    return run, outcomes


def test_every_family_that_can_be_extended_has_a_recipe():
    assert {recipe.family for recipe in RECIPES} == set(MISTAKES)


def test_recipes_import_nothing_private():
    document = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    imported = set()
    for code in PYTHON.findall(document):
        for node in ast.walk(ast.parse(code)):
            if isinstance(node, ast.Import):
                imported |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                imported |= {f"{node.module}.{alias.name}" for alias in node.names}
    assert "kfrc.fuzzifiers.Interval" in imported
    assert not [name for name in sorted(imported) if any(part.startswith("_") for part in name.split("."))]


@pytest.mark.slow
def test_recipes_keep_the_laws_of_their_families_inside_the_library(tmp_path):
    copy_library(tmp_path)
    for recipe in RECIPES:
        recipe.install(tmp_path)
    where = run_python(tmp_path, "-c", "import kfrc; print(kfrc.__file__, kfrc.FuzzyCMeans.__name__)").stdout
    assert where.split() == [str(tmp_path / "src" / "kfrc" / "__init__.py"), "FuzzyCMeans"]
    keywords = " or ".join([recipe.name for recipe in RECIPES] + DRAWING)
    run, outcomes = run_tests(tmp_path, keywords, profile="quick")
    assert run.returncode == 0, run.stdout[-5000:] + run.stderr
    for recipe in RECIPES:
        exercised = [test for test in outcomes if recipe.name in test]
        assert len(exercised) > 3, f"{recipe.name} is hardly tested: {exercised}"
    lint = run_python(tmp_path, "-m", "ruff", "check", "--no-cache", "src")
    assert lint.returncode == 0, lint.stdout


@pytest.mark.long
def test_a_mistake_in_a_recipe_breaks_a_law(tmp_path):
    copy_library(tmp_path)
    for recipe in RECIPES:
        right, wrong, _ = MISTAKES[recipe.family]
        assert recipe.code.count(right) == 1, f"the mistake in {recipe.name} is not where it was"
        replace(recipe, code=recipe.code.replace(right, wrong)).install(tmp_path)
    # Laws that draw their members have no name of one in their ids.
    laws = [(MISTAKES[recipe.family][2], "test" if recipe.family == "fuzzifier" else recipe.name) for recipe in RECIPES]
    run, outcomes = run_tests(tmp_path, " or ".join(f"({law} and {name})" for law, name in laws))
    assert run.returncode == 1, run.stdout[-5000:] + run.stderr
    failed = [test for test, outcome in outcomes.items() if outcome == "FAILED"]
    for law, name in laws:
        assert any(law in test and name in test for test in failed), f"{law} did not notice the mistake: {name}"
