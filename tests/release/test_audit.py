"""``make audit``: a database that says nothing is not taken for one that knows nothing."""

from __future__ import annotations

import ast
import importlib.util
import re
import tomllib

import pytest

from release.conftest import ROOT

PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PAGE = (ROOT / "docs/decisions/audit.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def audit():
    spec = importlib.util.spec_from_file_location("audit_of_requirements", ROOT / "requirements/audit.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def package(name, *vulnerabilities):
    return {"name": name, "version": "1.0", "vulns": list(vulnerabilities)}


SILENT = {"name": "other", "skip_reason": "Dependency not found on PyPI and could not be audited: other (1.0)"}
OURS = {"name": "kfrc", "skip_reason": "distribution marked as editable"}
HOLE = {"id": "PYSEC-1", "aliases": ["CVE-1"], "fix_versions": ["1.1"]}


@pytest.mark.parametrize(
    ("packages", "end", "said"),
    [
        ([OURS, package("numpy")], 0, "1 packages, all asked about"),
        ([OURS, package("numpy", HOLE)], 1, "numpy 1.0: CVE-1 PYSEC-1; fixed in 1.1"),
        ([OURS, SILENT], 3, "no answer for any of 1 packages"),
        ([OURS, package("numpy"), SILENT], 3, "no answer for 1 of 2 packages: other"),
        ([package("numpy", HOLE), SILENT], 1, "no answer for 1 of 2"),
        ([OURS], 3, "no answer for any"),
        ([], 3, "no answer for any"),
    ],
)
def test_an_audit_passes_only_if_every_package_was_asked_about(audit, packages, end, said):
    found, lines = audit.judge({"dependencies": packages})
    assert found == end
    assert said in "\n".join(lines)


def test_without_a_network_the_audit_says_that_it_is_none(audit, capsys):
    assert audit.main("folder", ask=lambda service, folder: "no network") == 3
    printed = capsys.readouterr().out
    assert [line.partition(":")[0] for line in printed.splitlines()] == ["pypi", "osv", "NOT AUDITED"]
    assert "not a pass" in printed


def test_the_second_database_is_asked_if_the_first_is_silent(audit, capsys):
    answers = {"pypi": {"dependencies": [SILENT]}, "osv": {"dependencies": [package("other")]}}
    assert audit.main("folder", ask=lambda service, folder: answers[service]) == 0
    assert "NOT AUDITED" not in capsys.readouterr().out


def test_a_pip_audit_that_fails_is_no_answer(audit, tmp_path, monkeypatch):
    (tmp_path / "pip_audit.py").write_text("raise SystemExit('no such host')")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    assert audit.ask("osv", "folder") == "no such host"


def test_a_vulnerability_is_accepted_by_name_and_with_a_reason_only(audit, monkeypatch):
    monkeypatch.setitem(audit.ACCEPTED, "CVE-1", "only concerns a function that we do not use")
    end, lines = audit.judge({"dependencies": [package("numpy", HOLE)]})
    assert end == 0
    assert "accepted: only concerns" in lines[0]


def test_the_page_names_all_that_is_accepted(audit):
    inline = {
        rule
        for path in (ROOT / "src").rglob("*.py")
        for rule in re.findall(r"noqa:[^#\n]*\b(S\d{3})\b", path.read_text(encoding="utf-8"))
    }
    by_file = {
        rule
        for rules in PYPROJECT["tool"]["ruff"]["lint"]["per-file-ignores"].values()
        for rule in rules
        if re.fullmatch(r"S\d+", rule)
    }
    assert inline
    for rule in {*inline, *by_file, *audit.ACCEPTED}:
        assert f"`{rule}`" in PAGE, rule


def test_the_security_rules_are_part_of_the_ordinary_lint():
    lint = PYPROJECT["tool"]["ruff"]["lint"]
    assert "S" in lint["select"]
    assert not any(rule.startswith("S") and rule[1:].isdigit() for rule in lint["ignore"])


def test_every_exception_in_the_sources_gives_its_reason():
    for path in (ROOT / "src").rglob("*.py"):
        for line in path.read_text(encoding="utf-8").splitlines():
            if re.search(r"# noqa:.*\bS\d{3}\b", line):
                assert re.search(r"# noqa: S\d{3}(, S\d{3})*  # \w.{5}", line), (path.name, line)


def is_type(test):
    """Whether a condition says what a type checker cannot know: not None, or of a class."""
    if isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.ops[0], ast.IsNot):
        (right,) = test.comparators
        return isinstance(right, ast.Constant) and right.value is None
    return isinstance(test, ast.Call) and getattr(test.func, "id", "") == "isinstance"


@pytest.mark.slow
def test_asserts_in_the_sources_tell_types_and_guard_no_input():
    """With python -O they are gone, and nobody may miss them; one with a message was meant for somebody."""
    for path in (ROOT / "src").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Assert):
                assert is_type(node.test), (path.name, node.lineno)
                assert node.msg is None, (path.name, node.lineno)
