"""The page of the public interface names what is there, and leaves nothing open."""

from __future__ import annotations

import importlib
import pkgutil
import re
import tomllib
from pathlib import Path

import kfrc

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/public-api.md").read_text(encoding="utf-8")
PUBLIC, PRIVATE = PAGE.split("## Not public")
MODULES = set(re.findall(r"`(kfrc\.[a-z_]+)`", PUBLIC))


def test_every_module_that_is_called_public_exists_and_offers_something():
    assert len(MODULES) > 15
    for name in MODULES - {"kfrc.__all__"}:
        module = importlib.import_module(name)
        assert [item for item in getattr(module, "__all__", vars(module)) if not item.startswith("_")]


def test_what_a_user_imports_from_is_public():
    """Modules named in the README and in the documents that teach."""
    documents = [ROOT / "README.md", *(ROOT / "docs/how-to").glob("*.md"), *(ROOT / "docs/tutorials").glob("*.md")]
    text = "\n".join(path.read_text(encoding="utf-8") for path in documents)
    used = set(re.findall(r"^from (kfrc\.[a-z_]+)", text, re.MULTILINE))
    assert used
    assert used <= MODULES


def test_every_public_name_of_the_package_is_a_class_or_function_that_is_described():
    public = [name for name in kfrc.__all__ if name != "__version__"]
    assert all((getattr(kfrc, name).__doc__ or "").strip() for name in public)


def test_every_other_module_is_private_by_the_rule():
    found = {f"kfrc.{module.name}" for module in pkgutil.iter_modules(kfrc.__path__) if not module.name.startswith("_")}
    assert found >= MODULES - {"kfrc.__all__"}
    for name in re.findall(r"`(kfrc\.[a-z_]+)`", PRIVATE):
        assert name in found - MODULES


def test_the_page_names_the_versions_of_the_project():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    versions = re.findall(r"Python :: (3\.\d+)", "\n".join(project["classifiers"]))
    assert f"| Python | {versions[0]} | {', '.join(versions[1:])} |" in PAGE
    (sklearn,) = [line for line in project["dependencies"] if line.startswith("scikit-learn")]
    assert f"| scikit-learn | {sklearn.partition('>=')[2]} |" in PAGE
