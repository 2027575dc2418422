"""The threat model promises nothing without a test."""

from __future__ import annotations

import ast
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "project" / "threat-model.md"


def test_every_promise_of_the_threat_model_names_a_test_that_exists():
    text = PAGE.read_text(encoding="utf-8")
    existing = {
        node.name
        for path in (ROOT / "tests").rglob("test_*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef)
    }
    named = set(re.findall(r"`(test_\w+)`", text))
    assert len(named) > 40
    assert named <= existing, sorted(named - existing)
    promises = [row for row in re.findall(r"(?m)^\| (.*) \|$", text) if not row.startswith("promise |")]
    assert len(promises) > 25
    assert [row for row in promises if "`test_" not in row] == []


def test_whoever_finds_a_weakness_is_told_where_to_go():
    text = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
    assert "docs/project/threat-model.md" in text
    assert "`SECURITY.md`" in PAGE.read_text(encoding="utf-8")
