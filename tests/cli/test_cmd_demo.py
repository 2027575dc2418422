from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from documents import ROOT, TEXT_BLOCK, assert_same_text, run_python
from kfrc import KFRC
from kfrc_app.cli.demo import MEMBERS, agreement_of_others
from kfrc_app.demo_table import KINDS, TELLING, as_spreadsheet, make_members
from kfrc_app.facts.agreement import agreement
from kfrc_app.runs.results import ALL_FILES
from kfrc_app.tables import Missing, read_table


@pytest.fixture(scope="module")
def shown(tmp_path_factory):
    """The demo, run once as its readers do: what it printed, and its folder."""
    folder = tmp_path_factory.mktemp("demo")
    return run_python(["-m", "kfrc_app.cli.main", "demo"], folder), folder / "kfrc-demo"


@pytest.mark.slow
def test_the_demo_prints_what_its_page_shows(shown):
    printed, out = shown
    assert (out / "report.html").stat().st_size > 50_000
    assert [line for line in printed.splitlines() if line != line.rstrip()] == []
    page = ROOT / "docs" / "how-to" / "use-the-command-line.md"
    assert_same_text(printed, TEXT_BLOCK.findall(page.read_text(encoding="utf-8"))[-1])


@pytest.mark.slow
def test_the_demo_says_that_its_table_is_made_up_and_writes_its_results(shown):
    text, out = shown
    assert text.split()[:5] == ["This", "table", "is", "made", "up:"]
    assert {path.name for path in out.iterdir()} == {MEMBERS, *ALL_FILES}
    assert "<html" in (out / "report.html").read_text(encoding="utf-8")
    assert len(pd.read_csv(out / "memberships.csv")) == 200


@pytest.mark.slow
def test_columns_that_tell_the_kinds_apart_lead_and_the_others_are_near_zero(shown):
    _, out = shown
    columns = json.loads((out / "summary.json").read_text(encoding="utf-8"))["columns"]
    shares = {column["name"]: column["contribution"] for column in columns}
    telling = [shares[name] for name in TELLING]
    idle = [share for name, share in shares.items() if name not in TELLING]
    assert min(telling) > max(idle)
    assert sum(telling) > 0.95
    assert max(telling) > 5 * np.median(list(shares.values()))


@pytest.mark.slow
def test_other_methods_are_measured_in_the_same_run(shown):
    text, out = shown
    document = json.loads((out / "summary.json").read_text(encoding="utf-8"))
    assert document["agreement"]["adjusted_rand"] > 0.75
    rows = [line.split() for line in text.splitlines()]
    ours = next(float(row[1]) for row in rows if row[:1] == ["kfrc"])
    assert ours == pytest.approx(document["agreement"]["adjusted_rand"], abs=0.006)
    assert any(row[:1] == ["k-means"] and float(row[1]) < ours - 0.2 for row in rows)


@pytest.mark.slow
def test_the_spreadsheet_is_the_table_and_can_be_fitted(shown, run, tmp_path):
    _, out = shown
    frame = pd.read_excel(out / MEMBERS, engine="openpyxl")
    pd.testing.assert_frame_equal(frame, make_members().data.infer_objects(), check_dtype=False)
    assert as_spreadsheet(make_members().data) == (out / MEMBERS).read_bytes()
    ended = run("fit", out / MEMBERS, "-c", 3, "-o", tmp_path / "result", "--no-report", "--json")
    assert ended.document["n_rows"] == 200


@pytest.mark.long
def test_the_story_does_not_hang_on_a_lucky_seed(tmp_path):
    gained = []
    for seed in (1, 2, 3):
        made = make_members(seed=seed)
        path = tmp_path / f"{seed}.xlsx"
        path.write_bytes(as_spreadsheet(made.data))
        found = replace(read_table(str(path), missing=Missing.PARTIAL), labels=made.kinds)
        model = KFRC(3, random_state=0).fit(found.data)
        ours = agreement(made.kinds, model.labels_, 3).adjusted_rand
        others = [value for value in agreement_of_others(found).values() if value is not None]
        gained.append([ours - value for value in others])
        assert ours > 0.65
        assert min(gained[-1]) > 0
        shares = dict(zip(found.data.columns, model.contributions_, strict=True))
        assert sum(shares[name] for name in TELLING) > 0.9
    assert np.mean(gained, axis=0).min() > 0.2


def test_members_differ_in_the_columns_that_are_said_to_tell():
    made = make_members(400, seed=5)
    assert set(made.kinds) == set(KINDS)
    means = made.data["visits per month"].astype(float).groupby(made.kinds).mean()
    assert means.max() > 2 * means.min()
    idle = made.data["height (cm)"].astype(float).groupby(made.kinds).mean()
    assert idle.max() - idle.min() < 5


def test_wine_is_still_there(run, tmp_path):
    out = tmp_path / "kfrc-demo"
    ended = run("demo", "wine", "--out", out)
    for words in ("Wine: 178 rows, 13 columns", "flavanoids", "Largest membership"):
        assert words in ended.out
    assert sorted(path.name for path in out.iterdir()) == sorted(ALL_FILES)
    assert json.loads((out / "summary.json").read_text(encoding="utf-8"))["agreement"]["adjusted_rand"] > 0.7
    assert "--force" in run("demo", "wine", "--out", out, code=1).err
    run("demo", "wine", "--out", out, "--force")
    assert (out / "report.html").exists()


def test_a_table_that_does_not_exist_is_refused_before_anything_is_printed(run):
    assert run("demo", "beer", code=2).out == ""
