from __future__ import annotations

import json

import pandas as pd

from kfrc_app.runs.results import ALL_FILES


def test_demo_explains_wine_and_writes_its_results(run, tmp_path):
    out = tmp_path / "kfrc-demo"
    ended = run("demo", "--out", out)
    for words in (
        "Wine, cut into 3 groups\n  Wine: 178 rows, 13 columns\n",
        "flavanoids",
        "λ₁ ≥ τ: no",
        "Largest membership",
    ):
        assert words in ended.out
    assert sorted(path.name for path in out.iterdir()) == sorted(ALL_FILES)
    assert "<html" in (out / "report.html").read_text(encoding="utf-8")
    assert json.loads((out / "summary.json").read_text(encoding="utf-8"))["agreement"]["adjusted_rand"] > 0.7
    assert len(pd.read_csv(out / "memberships.csv")) == 178


def test_demo_again_needs_force(run, tmp_path):
    out = tmp_path / "kfrc-demo"
    out.mkdir()
    assert "--force" in run("demo", "--out", out, code=1).err
    run("demo", "--out", out, "--force")
    assert (out / "report.html").exists()


def test_as_a_program(run_program, tmp_path):
    ended = run_program("demo", cwd=tmp_path)
    assert (tmp_path / "kfrc-demo" / "report.html").exists()
    assert all(line == line.rstrip() for line in ended.out.splitlines())
