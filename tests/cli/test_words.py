"""No word promises what no number supports: on white noise nothing is called sure, and verbs do not contradict."""

from __future__ import annotations

import html
import json
import re
import shlex
from dataclasses import dataclass

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from kfrc_app.cli.main import app

PROMISES = re.compile(
    r"\b((un)?sure\w*|clear(ly|est)?|likely|safe\w*|trust\w*|reliab\w*|certain\w*|confiden\w*|cannot collapse)\b", re.I
)
"""What a reader would take for a promise about the clusters or their rows."""

ASKED = ("Can it be trusted?", '"confidence":')
"""Where such words ask or name instead of promising."""

CLAIM = re.compile(r"\b(\d+|perhaps|these) (fuzzy )?(groups?|clusters?)\b", re.I)
"""What a title must not say of data without groups."""


@dataclass(frozen=True)
class Told:
    """What a fit said, everywhere."""

    terminal: str
    document: dict
    report: str
    titles: tuple = ()


def call(*arguments):
    """Run the program in this process; returns what it printed."""
    result = CliRunner().invoke(app, [str(word) for word in arguments])
    assert result.exit_code == 0, result.output
    return result.output


def told_by_fit(out, *arguments):
    terminal = call("fit", *arguments, "-o", out)
    page = out / "report.html"
    document = json.loads((out / "summary.json").read_text(encoding="utf-8"))
    if not page.exists():
        return Told(terminal, document, "")
    text = page.read_text(encoding="utf-8")
    titles = re.search(r"<title>(.*?)</title>.*<h1[^>]*>(.*?)</h1>", text, flags=re.DOTALL).groups()
    return Told(terminal, document, visible(text), titles)


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    """White noise on which the judge keeps its opinion and λ₁ < τ, and three groups far apart."""
    folder = tmp_path_factory.mktemp("tables")
    rng = np.random.default_rng(2)
    noise = rng.normal(size=(60, 8))
    groups = np.repeat(np.array([[0, 0, 0], [9, 0, 4], [0, 9, 0]]), 20, axis=0) + rng.normal(size=(60, 3))
    paths = {}
    for name, X in {"noise": noise, "apart": groups}.items():
        paths[name] = folder / f"{name}.csv"
        pd.DataFrame(X).add_prefix("x").to_csv(paths[name], index=False)
    return paths


@pytest.fixture(scope="module")
def fits(tables, tmp_path_factory):
    """The default fit of each table, with few refits."""
    few = ("--refits", 2)
    return {
        name: told_by_fit(tmp_path_factory.mktemp(name) / "out", path, "-c", 3, *few) for name, path in tables.items()
    }


def visible(page):
    """What a reader of the report sees, hears from a screen reader, or is told by the slider."""
    told = " ".join(re.findall(r'(?:aria-label|title)="([^"]*)"', page))
    scripts = " ".join(re.findall(r"<script>(.*?)</script>", page, flags=re.DOTALL))
    messages = " ".join(re.findall(r"[\"'`]([^\"'`\n]* [^\"'`\n]*)[\"'`]", scripts))
    text = re.sub(r"<(script|style)\b.*?</\1>", " ", page, flags=re.DOTALL)
    text = re.sub(r"<[^>]*>", " ", text)
    return one_line(html.unescape(f"{text} {told} {messages}"))


def one_line(text):
    return " ".join(text.split())


def promises(text):
    text = one_line(text)
    for asked in ASKED:
        text = text.replace(asked, "")
    return [text[max(0, found.start() - 40) : found.end() + 40] for found in PROMISES.finditer(text)]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["noise", "apart"])
def test_nothing_is_promised_of_clusters(fits, name):
    told = fits[name]
    assert promises(told.terminal) == []
    assert promises(json.dumps(told.document)) == []
    assert promises(told.report) == []


def test_noise_has_a_title_that_claims_nothing(fits):
    told = fits["noise"]
    assert told.document["confidence"]["existence"] > 0.05
    assert told.document["confidence"]["verdict"] == "no groups"
    assert told.titles == ("No sign of more than one group in noise.csv",) * 2
    assert not any(CLAIM.search(text) for text in told.titles)
    for text in (told.terminal, told.report):
        assert "No sign of more than one group in noise.csv" in one_line(text)
        assert "Treat the 3 clusters as a way to cut the data, not as groups that exist" in one_line(text)
        assert "groups exist beyond chance" not in one_line(text)


def test_groups_are_claimed_with_the_numbers_that_support_them(fits):
    told = fits["apart"]
    found = told.document["confidence"]
    assert (found["verdict"], found["n_found_again"], found["n_refits"]) == ("stable", 2, 2)
    assert found["existence"] <= 0.05
    assert told.titles == ("3 groups in apart.csv",) * 2
    for text in (told.terminal, told.report):
        assert told.titles[0] in one_line(text)
        assert "much the same groups came out 2 times" in one_line(text)
        assert f"mean {found['partition']:.2f}, stable" in one_line(text)


def test_nothing_is_promised_of_the_number_of_clusters(tables, tmp_path):
    fixed = ("--max-clusters", 2, "-m", 2, "--level", 1)
    told = told_by_fit(tmp_path / "out", tables["noise"], "-c", "auto", *fixed, "--refits", 0)
    assert told.document["confidence"] is None
    for text in (told.terminal, told.report):
        assert "Nothing was refitted: whether other rows would lead to the same is not known" in one_line(text)
    assert told.titles[0] == "No sign of more than one group in noise.csv"
    assert told.document["n_clusters"] == 1
    assert promises(told.terminal) == promises(json.dumps(told.document)) == promises(told.report) == []


@pytest.mark.slow
@pytest.mark.parametrize("name", ["noise", "apart"])
def test_diagnose_and_fit_say_the_same_of_the_same_bandwidths(tables, fits, tmp_path, name):
    facts = json.loads(CliRunner().invoke(app, ["diagnose", str(tables[name]), "-c", "3", "--json"]).stdout)
    assert promises(json.dumps(facts)) == []
    by_claim = {"no m collapses" in item["text"]: item["command"] for item in facts["advice"] if item["command"]}
    assert by_claim[False] == f"kfrc fit {tables[name]} -c 3 -o OUT"
    words = shlex.split(by_claim[True])
    same = told_by_fit(tmp_path / "out", *words[2 : words.index("-o")], "--no-report", "--refits", 0)
    assert "λ₁ ≥ τ: no. With these bandwidths no value of the fuzzifier m collapses." in same.terminal
    found = same.document["stability"]
    assert found["stable"]
    assert found["leading_eigenvalue"] == pytest.approx(facts["tuned"]["leading_eigenvalue"], rel=1e-6)
    chosen = fits[name]
    stable = chosen.document["stability"]["stable"]
    yes = f"λ₁ < τ: yes, at every m from m* = {chosen.document['stability']['critical_m'] or 0:.3f} on with these"
    assert (yes in chosen.terminal) == (not stable)
    assert "other bandwidths may collapse" in facts["verdict"]
    if name == "noise":
        assert promises(call("diagnose", tables[name], "-c", 3)) == []
