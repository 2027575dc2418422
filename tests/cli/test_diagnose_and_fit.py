"""`kfrc diagnose` and `kfrc fit` never contradict each other: same settings and seed, same verdict and numbers."""

from __future__ import annotations

import json
import shlex
from dataclasses import dataclass

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris, load_wine
from typer.testing import CliRunner

from kfrc_app.cli.main import app

NUMBERS = ("leading_eigenvalue", "threshold", "critical_m", "stable")
SEED = ("--seed", 5)

pytestmark = pytest.mark.slow


def noise():
    """White noise: λ₁ of the chosen bandwidths stays below τ, so that fit says "yes, from m* on"."""
    return pd.DataFrame(np.random.default_rng(2).normal(size=(60, 8))).add_prefix("x")


def noise_with_a_typing_error():
    frame = noise()
    frame.iloc[3, 1] = 1e6
    return frame


TABLES = {
    "noise": (noise, ()),
    "typing error": (noise_with_a_typing_error, ()),
    "typing error kept": (noise_with_a_typing_error, ("--outliers", "keep")),
    "wine": (lambda: load_wine(as_frame=True).data, ()),
    "iris": (lambda: load_iris(as_frame=True).data, ()),
}


@dataclass(frozen=True)
class Both:
    """What both verbs said of one table."""

    typed: tuple
    told: dict
    document: dict
    terminal: str


def call(*arguments):
    """Run the program in this process; returns what it printed, in one line."""
    result = CliRunner().invoke(app, [str(word) for word in arguments])
    assert result.exit_code == 0, result.output
    return " ".join(result.stdout.split())


def fit(out, *arguments):
    terminal = call("fit", *arguments, "-o", out, "--no-report", "--refits", 0)
    return json.loads((out / "summary.json").read_text(encoding="utf-8")), terminal


@pytest.fixture(scope="module", params=TABLES)
def both(request, tmp_path_factory):
    make, options = TABLES[request.param]
    folder = tmp_path_factory.mktemp("both")
    make().to_csv(folder / "table.csv", index=False)
    typed = (folder / "table.csv", "-c", 3, *options, *SEED)
    told = json.loads(call("diagnose", *typed, "--json"))
    return Both(typed, told, *fit(folder / "out", *typed))


def test_the_numbers_are_the_same(both):
    chosen, stability = both.told["chosen"], both.document["stability"]
    for name in NUMBERS:
        assert chosen[name] == (None if stability[name] is None else pytest.approx(stability[name], rel=1e-9)), name
    assert (chosen["m"], chosen["fuzzifier"]) == (both.document["m"], both.document["fuzzifier"])
    assert chosen["collapsed"] == (both.document["status"] == "collapsed")
    for found in chosen["fuzzifiers"]:
        if found["name"] == chosen["fuzzifier"]:  # a rule with sizes is none of the registered fuzzifiers
            assert found["critical_m"] == chosen["critical_m"]
            assert found["never_collapses"] == chosen["stable"]


def test_the_verdicts_are_the_same(both):
    chosen = both.told["chosen"]
    assert chosen["answer"] in both.terminal
    name = both.document["fuzzifier"].replace("_", " ")
    assert f"kfrc fit takes the {name} fuzzifier with m = {both.document['m']:g}" in both.told["verdict"]
    assert ("with the bandwidths that it chooses no m would" in both.told["verdict"]) == chosen["stable"]
    if not chosen["stable"]:
        limit = f"m* = {both.document['stability']['critical_m']:.3f} on"
        assert limit in both.told["verdict"]
        assert limit in both.terminal


def test_the_first_advice_is_the_fit_that_was_diagnosed(both):
    words = shlex.split(both.told["advice"][0]["command"])
    assert words == ["kfrc", "fit", *(str(word) for word in both.typed), "-o", "OUT"]


def test_the_tuned_bandwidths_are_those_of_the_command(tmp_path):
    noise_with_a_typing_error().to_csv(tmp_path / "table.csv", index=False)
    told = json.loads(call("diagnose", tmp_path / "table.csv", "-c", 3, "--json"))
    assert told["chosen"]["leading_eigenvalue"] != told["tuned"]["leading_eigenvalue"]  # two kinds of bandwidths
    tuned = {found["name"]: found for found in told["tuned"]["fuzzifiers"]}[told["tuned_for"]]
    assert tuned["never_collapses"]
    words = shlex.split(told["advice"][1]["command"])
    document, _ = fit(tmp_path / "out", *words[2 : words.index("-o")])
    assert document["stability"]["stable"]
    assert document["stability"]["leading_eigenvalue"] == pytest.approx(told["tuned"]["leading_eigenvalue"], rel=1e-6)


@pytest.mark.parametrize("both", ["noise", "typing error"], indirect=True)
def test_the_terminal_says_the_same_as_the_document(both):
    assert not both.told["chosen"]["stable"]
    printed = call("diagnose", *both.typed)
    assert both.told["verdict"] in printed
    assert both.told["chosen"]["answer"] in printed
