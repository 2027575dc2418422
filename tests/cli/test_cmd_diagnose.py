from __future__ import annotations

import shlex
import warnings

import numpy as np
import pandas as pd
import pytest

from kfrc import FRC, KFRC, InfeasibleBandwidthError, UniformCollapseWarning
from kfrc.fuzzifiers import Fuzzifier
from kfrc.stability import critical_fuzzifier, stability_threshold


def standardized(path):
    frame = pd.read_csv(path)
    return ((frame - frame.mean()) / frame.std(ddof=1)).to_numpy()


@pytest.mark.slow
def test_collapse_is_foretold_in_words_and_numbers(run, collapsing_csv):
    ended = run("diagnose", collapsing_csv, "-c", 4)
    assert "Plain fuzzy c-means with m = 2 collapses on these data" in " ".join(ended.out.split())
    with pytest.warns(UniformCollapseWarning):
        assert FRC(4, random_state=0).fit(standardized(collapsing_csv)).status_ == "collapsed"


@pytest.mark.slow
def test_the_advice_works_when_followed(run, collapsing_csv, tmp_path):
    facts = run("diagnose", collapsing_csv, "-c", 4, "--json").document
    choose, tune, stay = facts["advice"]

    for advice in (choose, tune):
        words = shlex.split(advice["command"])
        assert words[0] == "kfrc"
        words[words.index("OUT")] = str(tmp_path / "out")
        fitted = run(*words[1:], "--json", "--no-report", "--force").document
        assert fitted["status"] == "converged"
        assert fitted["stability"]["stable"]
        assert fitted["uniformity"] < 0.6
        assert min(cluster["n_rows"] for cluster in fitted["clusters"]) > 10

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = FRC(4, fuzzifier=stay["fuzzifier"], m=stay["m"], random_state=0).fit(standardized(collapsing_csv))
    assert model.status_ == "converged"
    assert model.uniformity_ < 0.9


@pytest.mark.slow
def test_every_fuzzifier_is_diagnosed_as_the_library_does(run, collapsing_csv):
    facts = run("diagnose", collapsing_csv, "-c", 4, "--json").document
    for outlook in (facts["plain"], facts["tuned"]):
        assert [found["name"] for found in outlook["fuzzifiers"]] == list(Fuzzifier.registry)
        for found in outlook["fuzzifiers"]:
            assert found["threshold"] == pytest.approx(stability_threshold(found["name"], 4))
            expected = critical_fuzzifier(found["name"], 4, lambda1=outlook["leading_eigenvalue"])
            assert found["critical_m"] == (pytest.approx(expected) if np.isfinite(expected) else None)
            assert found["never_collapses"] == np.isinf(expected)
    assert facts["plain"]["leading_eigenvalue"] < facts["tuned"]["leading_eigenvalue"]


@pytest.mark.slow
def test_data_that_do_not_collapse_are_not_said_to(run, iris_csv):
    facts = run("diagnose", iris_csv, "-c", 3, "--json").document
    assert "does not collapse" in facts["verdict"]
    assert not facts["plain"]["fuzzifiers"][0]["collapses_at_default"]


def test_bandwidths_that_cannot_help_are_said_to(run, iris_csv, monkeypatch):
    def fail(self, X, y=None):
        raise InfeasibleBandwidthError("none", best_eigenvalue=0.125, threshold=0.2)

    monkeypatch.setattr(KFRC, "fit", fail)
    facts = run("diagnose", iris_csv, "-c", 3, "--json").document
    assert facts["tuned"] is None
    assert "No tuned bandwidths were found that rule collapse out: λ₁ reached 0.125" in facts["verdict"]
    assert facts["advice"][0]["command"] is None
    assert "--max-anisotropy" in run("diagnose", iris_csv, "-c", 3).out


def test_as_a_program(run_program, run, iris_csv):
    ended = run_program("diagnose", iris_csv, "-c", 3, "--drop", "species", "--json")
    assert ended.document["advice"][0]["command"] == f"kfrc fit {iris_csv} -c 3 --drop species -o OUT"
    assert ended.err == ""
    assert run("diagnose", iris_csv, code=2).out == ""
    assert run("diagnose", "nothing.csv", "-c", 3, code=1).out == ""
