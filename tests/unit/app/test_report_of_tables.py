"""The report of a table with levels, dates, gaps and weights."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest

from kfrc import KFRC
from kfrc_app.facts import summarize, summary_document
from kfrc_app.facts.fitted import fitted_columns, missing_in_new_rows
from kfrc_app.models import dump_model, load_model
from kfrc_app.report import render_html
from kfrc_app.tables import Kind, Missing

N = 90
STRANGE = '<script>alert("1")</script> & 🐧'
LONG = "Donaudampfschifffahrtsgesellschaft" * 9


@pytest.fixture(scope="module")
def frame():
    """Three groups in columns of every type; names of levels that a page must not take for its own."""
    rng = np.random.default_rng(0)
    group = np.repeat([0, 1, 2], N // 3)
    color = np.array([STRANGE, LONG, "it's"], dtype=object)[group]
    color[::8] = None
    return pd.DataFrame(
        {
            "height": np.where(np.arange(N) % 9 == 4, np.nan, 4.0 * group + rng.normal(size=N)),
            "color": pd.Categorical(color),
            "grade": pd.Categorical(np.array(["low", "mid", "top"])[group], ["low", "mid", "top"], ordered=True),
            "day": pd.to_datetime("2020-01-01") + pd.to_timedelta(40 * group + rng.integers(0, 30, N), unit="D"),
        }
    )


@pytest.fixture(scope="module")
def weights():
    return np.random.default_rng(1).integers(0, 3, N).astype(float)


@pytest.fixture(scope="module", params=["partial", "level"])
def facts(request, frame, weights):
    model = KFRC(3, missing=request.param, n_starts=1, random_state=0).fit(frame, sample_weight=weights)
    return summarize(model, frame, weights=weights)


@pytest.fixture(scope="module")
def page(facts):
    return render_html(facts)


def text_of(page, section):
    (inside,) = re.findall(rf'<section id="{section}">(.*?)</section>', page, flags=re.DOTALL)
    return " ".join(re.sub(r"<[^>]*>", " ", inside).split())


def test_shares_of_levels_are_told_with_their_lift(facts, page):
    told = text_of(page, "levels")
    color = next(shares for shares in facts.levels if shares.column.name == "color")
    assert f"{100 * color.shares.max():.0f} %" in told
    assert "×" in told
    assert "low" in told
    blank = "(blank)" in color.column.levels
    assert blank == (facts.model.missing == "level")
    assert ("(blank)" in told) == blank


def test_names_of_levels_are_text(page):
    assert "<script>alert" not in page
    assert "&lt;script&gt;alert(&#34;1&#34;)&lt;/script&gt; &amp; 🐧" in page
    assert LONG not in page


def test_dates_and_ordered_levels_are_told_by_their_names(page):
    told = text_of(page, "profiles")
    assert re.search(r"day 2020-0\d-\d\d", told)
    assert re.search(r"grade (low|mid|top)", told)


def test_gaps_and_weights_are_told(facts, page, weights):
    assert "entries missing" in page
    assert "sum of the weights" in page
    assert f"<dd>{weights.sum():g}</dd>" in page
    columns = text_of(page, "importance")
    assert re.search(r"color words, \d+ % missing", columns)
    assert "grade ordered values" in columns
    assert all(f"stand for {cluster.weight:g}" in page for cluster in facts.clusters)


def test_plain_tables_say_nothing_of_types():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2)) + 6 * np.eye(2)[np.repeat([0, 1], 30)]
    plain = render_html(summarize(KFRC(2, level=1.0, random_state=0).fit(X), X))
    for text in ("entries missing", "sum of the weights", 'id="levels"', "<small>numeric"):
        assert text not in plain


def test_the_document_is_plain_data(facts):
    document = summary_document(facts)
    assert [column["type"] for column in document["table"]["columns"]] == ["numeric", "nominal", "ordinal", "date"]
    profiles = {column["name"]: column for column in document["profiles"]}
    assert profiles["grade"]["cluster_medians"][0] in ("low", "mid", "top")
    assert LONG in profiles["color"]["levels"]
    assert {column["name"]: column["bandwidth"] for column in document["columns"]}["color"] is None


def test_the_judge_is_described(facts, page):
    assert facts.choice.is_mixture
    assert facts.choice.has_levels
    assert "shares of the levels" in text_of(page, "choice")


def test_a_saved_model_knows_its_columns(facts, frame, tmp_path):
    (tmp_path / "model.skops").write_bytes(dump_model(facts.model))
    loaded = load_model(tmp_path / "model.skops")
    np.testing.assert_array_equal(loaded.predict_proba(frame), facts.model.predict_proba(frame))
    columns = fitted_columns(loaded)
    assert [columns[name].kind for name in frame.columns] == [Kind.NUMERIC, Kind.NOMINAL, Kind.ORDINAL, Kind.DATE]
    assert columns["grade"].levels == ("low", "mid", "top")
    assert {STRANGE, LONG, "it's"} <= set(columns["color"].levels)
    assert missing_in_new_rows(loaded) is Missing(facts.model.missing)


def test_rows_in_pictures_lie_on_the_sphere(facts, weights):
    lengths = np.linalg.norm(facts.sphere, axis=1)
    np.testing.assert_allclose(lengths[weights > 0], 1, atol=1e-9)
    assert facts.path.uniformity[0] <= facts.path.uniformity[-1]
