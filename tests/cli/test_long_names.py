"""A name of a column of 30 000 characters, or a cell of them, fills no screen: not in results, notes or errors."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

LONG = "How often did you, in the last 12 months, answer questions such as this one? " * 400
LONGEST_LINE = 1500
"""Characters of a message with several names, each of which is cut; one that is not has 30 000."""

rng = np.random.default_rng(5)
N = 40
GROUPS = np.repeat([0.0, 6.0], N // 2)


def measured(k=0):
    return (GROUPS + rng.normal(size=N) + k).round(3)


def columns_that_are_told_of():
    """Columns of long names that are each told of in another way."""
    words = [LONG + "yes", LONG + "no", LONG + "Yes"]
    days = [f"2021-03-{k % 28 + 1:02d}" for k in range(N)]
    columns = [
        [*measured()[:-1], 1e6],
        [1.0] * N,
        [words[k % 3] for k in range(N)],
        [*range(5)] * (N // 5),
        [f"{LONG}{k}" for k in range(N)],
        [*measured()[:-1].astype(str), LONG],
        days,
        [*days[1:], "2021-02-30"],
        [f"0{k % 8 + 1}/05/2021" for k in range(N)],
        [10**17 + 10**5 * k for k in range(N)],
        [None, *measured()[1:]],
        [-99.0, *np.abs(measured()[1:])],
        [f"{value} %" for value in measured()],
        [*measured()[:-1], 0.25],
    ]
    return {f"{k} {LONG}": column for k, column in enumerate(columns)}


def refused():
    """Columns and options that lead to an error."""
    words = [f"{LONG}{k}" for k in range(N)]
    yield "no such column", {}, ["--drop", LONG]
    yield "no numbers", {LONG: words}, ["--types", f"{LONG}=numeric"]
    yield "no dates", {LONG: words}, ["--types", f"{LONG}=date"]
    yield "no order", {LONG: words[:4] * (N // 4)}, ["--types", f"{LONG}=ordinal"]
    yield "no levels", {LONG: words[:4] * (N // 4)}, ["--types", f"{LONG}=ordinal:{LONG}1<{LONG}2"]
    yield "text", {LONG: [*measured()[:-1], LONG]}, ["--columns", LONG]
    yield "most", {f"{k}{LONG}": words for k in range(4)}, ["--drop", "x"]
    yield "infinite", {LONG: [*measured()[:-1], "inf"]}, []
    yield "marks", {LONG: ["1,234"] * N, "x": range(N), "y": range(N)}, []
    yield "weights", {LONG: words}, ["--weight-column", LONG]
    yield "tiny", {LONG: [1e-310 * k for k in range(N)]}, []


def longest(text):
    return max(map(len, text.splitlines()), default=0)


@pytest.mark.parametrize(
    "options", [(), ("--label-column", f"2 {LONG}", "--drop", f"13 {LONG}", "--id-column", f"6 {LONG}")]
)
def test_a_long_name_is_cut_in_results_notes_and_reports(run, tmp_path, options):
    columns = {"x": measured(), "y": measured(3), **columns_that_are_told_of(), "class": [LONG, "no"] * (N // 2)}
    pd.DataFrame(columns).to_csv(tmp_path / "t.csv", index=False, sep=";")
    ended = run("fit", tmp_path / "t.csv", "-c", 2, "-o", tmp_path / "out", "--no-excel", *options)
    assert longest(ended.out) < LONGEST_LINE
    notes = json.loads((tmp_path / "out" / "summary.json").read_text())["notes"]
    assert len(notes) > 8
    assert max(map(len, notes)) < LONGEST_LINE
    assert longest(ended.err) < LONGEST_LINE
    assert LONG not in (tmp_path / "out" / "report.html").read_text()


def test_a_long_name_without_spaces_fills_no_screen(run, tmp_path):
    name = "a" * 30_000
    levels = np.where(GROUPS > 0, f"{name}1", f"{name}2")
    pd.DataFrame({"x": measured(), name: measured(3), "l": levels}).to_csv(tmp_path / "t.csv", index=False)
    ended = run("fit", tmp_path / "t.csv", "-c", 2, "-o", tmp_path / "out", "--refits", 0)
    assert len(ended.out) < 12_000
    assert name[:1000] not in (tmp_path / "out" / "report.html").read_text()


@pytest.mark.parametrize(("columns", "options"), [case[1:] for case in refused()], ids=[case[0] for case in refused()])
def test_a_long_name_is_cut_in_errors(run, tmp_path, columns, options):
    pd.DataFrame({"x": measured(), "y": measured(3), **columns}).to_csv(tmp_path / "t.csv", index=False, sep=";")
    ended = run("diagnose", tmp_path / "t.csv", "-c", 2, *options, code=1)
    assert longest(ended.err) < LONGEST_LINE, ended.err[:300]


@pytest.mark.parametrize("types", [":numbers", "=drop,{}=date", "=nominal:a<b", "=date:ymd", "=ordinal:a<a"])
def test_a_long_name_is_cut_where_a_command_is_wrong(run, tmp_path, types):
    pd.DataFrame({"x": measured(), "y": measured(3)}).to_csv(tmp_path / "t.csv", index=False)
    ended = run("diagnose", tmp_path / "t.csv", "-c", 2, "--types", LONG + types.format(LONG), code=2)
    assert longest(ended.err) < LONGEST_LINE
