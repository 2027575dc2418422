"""The first page of the report: plain words for every kind of table, groups by name, nothing that needs a script."""

from __future__ import annotations

import re
import warnings
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from report_pages import first_page, main_part, visible

from kfrc import FRC, KFRC, TrivialPartitionWarning, UniformCollapseWarning
from kfrc.confidence import assess
from kfrc_app.facts import summarize
from kfrc_app.facts.glossary import GLOSSARY, JARGON, is_plain
from kfrc_app.report import render_html

COMMAND = "kfrc fit table.csv -c 3 -o out"
PYTHON = re.compile(r"\b(n_clusters|n_init|random_state|column_types|memberships|n_starts)\s*=|\b[A-Z]+CM?\(|KFRC")


def numbers(seed=0, n_groups=3, n_columns=4, far=6.0):
    rng = np.random.default_rng(seed)
    X = np.vstack(
        [center + rng.normal(size=(20, n_columns)) for center in far * rng.normal(size=(n_groups, n_columns))]
    )
    return pd.DataFrame(X, columns=["height", "weight", "age", "income"][:n_columns])


def mixed():
    frame = numbers()
    group = np.repeat([0, 1, 2], 20)
    frame["color"] = pd.Categorical(np.array(["red", "blue", "green"])[group])
    frame["size"] = pd.Categorical(np.array(["s", "m", "l"])[group], ["s", "m", "l"], ordered=True)
    frame.loc[::7, "height"] = np.nan
    return frame


def fitted(model, data, **known):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return summarize(model.fit(data), data, source="/a/folder/table.csv", command=COMMAND, **known)


@pytest.fixture(scope="module")
def all_facts():
    """One fit of every kind."""
    table = numbers()
    quick = {"m": 1.5, "level": 1.0, "n_starts": 1, "random_state": 0}
    plain = KFRC(3, **quick).fit(table)
    noise = pd.DataFrame(np.random.default_rng(2).normal(size=(60, 3)), columns=["height", "weight", "age"])
    loose = KFRC(3, random_state=0).fit(noise)
    X = table.to_numpy()
    label = np.repeat(["x", "y", "z"], 20)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UniformCollapseWarning)
        warnings.simplefilter("ignore", TrivialPartitionWarning)
        aside = pd.DataFrame({"city": label, "score": np.arange(60.0), "name": [f"row {k}" for k in range(60)]})
        notes = ["2 rows without any value were left out", "m = 3 is above the critical fuzzifier"]
        return {
            "numbers": summarize(
                plain,
                table,
                confidence=assess(plain, table, n_refits=2, random_state=0),
                labels=label,
                aside=aside,
                notes=notes,
                source="/a/folder/table.csv",
                command=COMMAND,
            ),
            "mixed": fitted(KFRC(3, **quick), mixed()),
            "noise": summarize(
                loose, noise, confidence=assess(loose, noise, n_refits=2, random_state=0), source="noise.csv"
            ),
            "one": fitted(KFRC(1, random_state=0), table),
            "collapsed": fitted(KFRC(3, fuzzifier="power", m=9.0, bandwidths=np.full(3, 9.0), random_state=0), noise),
            "many": fitted(KFRC(10, **quick), numbers(n_groups=10)),
            "weighted": summarize(
                KFRC(3, **quick).fit(table, sample_weight=np.full(60, 2.0)), table, weights=np.full(60, 2.0)
            ),
            "distances": fitted(
                FRC(3, metric="precomputed", m=1.5, random_state=0), np.square(X[:, None] - X).sum(axis=2)
            ),
        }


@pytest.fixture(scope="module")
def pages(all_facts):
    return {name: render_html(facts) for name, facts in all_facts.items()}


KINDS = ["numbers", "mixed", "noise", "one", "collapsed", "many", "weighted", "distances"]


@pytest.mark.parametrize("kind", KINDS)
def test_the_first_page_has_no_word_of_the_trade(pages, kind):
    text = visible(first_page(pages[kind]))
    assert [text[max(0, found.start() - 30) : found.end() + 30] for found in JARGON.finditer(text)] == []
    assert len(text) > 80


@pytest.mark.parametrize("kind", KINDS)
def test_names_of_python_are_told_in_the_appendix_only(pages, kind):
    assert PYTHON.findall(visible(main_part(pages[kind]))) == []
    assert "KFRC(" in pages[kind] or kind == "distances"


@pytest.mark.parametrize("kind", KINDS)
def test_the_first_page_needs_no_script(pages, kind):
    first = first_page(pages[kind])
    assert "<canvas" not in first
    assert "<script" not in first


def test_jargon_is_found_where_it_is():
    for text in ("the fuzzifier", "a membership of 1", "λ₁ ≥ τ", "p-value", "n_clusters=3", "m = 2", "Levels"):
        assert not is_plain(text)
    assert is_plain("3 groups in table.csv: 20 rows (33 %), the middle is 4 m above all rows")


@pytest.mark.parametrize("kind", KINDS)
def test_sentences_do_not_touch(pages, kind):
    text = visible(pages[kind])
    assert re.findall(r"\w*[a-z0-9%)][.;:][A-Z]\w*", text) == []
    assert re.findall(r"\w+ [.,;](?=\s)", text) == []


@pytest.mark.parametrize("kind", KINDS)
def test_headings_descend_one_step_at_a_time_and_cells_have_scopes(pages, kind):
    steps = [int(step) for step in re.findall(r"<h([1-6])", pages[kind])]
    assert steps[0] == 1
    assert steps.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(steps))
    assert re.findall(r"<th(?! scope|ead)[^>]*>", pages[kind]) == []
    assert '<html lang="en">' in pages[kind]
    ids = re.findall(r'\bid="([^"]+)"', pages[kind])
    assert len(ids) == len(set(ids))
    assert set(re.findall(r'href="#([^"]+)"', pages[kind])) <= set(ids)


def test_groups_have_names_sizes_and_typical_rows(all_facts, pages):
    facts = all_facts["numbers"]
    text = visible(first_page(pages["numbers"]))
    assert facts.opening.title == "3 groups in table.csv"
    assert len({group.name for group in facts.groups}) == 3
    for group in facts.groups:
        assert re.match(r"(High|Low) (height|weight|age|income)", group.name)
        assert f"{group.letter} {group.name} {group.n_rows} rows · {100 * group.share:.0f} %" in text
        assert len(group.rows) == 3
        for row in group.rows:
            assert facts.model.labels_[row.position] == group.label
            assert f"row {row.id} {' '.join(row.values)}" in text
    assert "In the result files A is 0, B is 1 and C is 2." in text


def test_typical_rows_have_the_values_of_the_table(all_facts):
    facts = all_facts["numbers"]
    for group in facts.groups:
        for row in group.rows:
            values = [facts.data.iloc[row.position][name] for name in group.columns_beside]
            assert [float(value) for value in row.values] == pytest.approx(values, rel=1e-3)


def test_notes_of_the_trade_wait_in_the_appendix(pages):
    first = visible(first_page(pages["numbers"]))
    assert "2 rows without any value were left out" in first
    assert "critical fuzzifier" not in first
    assert "m = 3 is above the critical fuzzifier" in visible(pages["numbers"])


def test_noise_is_cut_into_parts_not_groups(all_facts, pages):
    facts = all_facts["noise"]
    assert facts.trust.existence > 0.05
    text = visible(first_page(pages["noise"]))
    assert text.count("No sign of more than one group") == 2
    assert "Treat the 3 parts as a way to cut the data, not as groups that exist" in text
    assert not re.search(r"\b(3|these|the) groups\b", text, flags=re.IGNORECASE)


def test_a_collapsed_fit_shows_no_groups(pages):
    page = pages["collapsed"]
    assert visible(first_page(page)).count("Nothing was found in table.csv") == 1
    for place in ("groups", "importance", "distributions", "profiles", "ambiguous", "comparison"):
        assert f'id="{place}"' not in page


def test_rows_between_groups_have_their_values_and_both_groups():
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(size=(30, 2)), rng.normal(size=(30, 2)) + np.array([3.0, 0.0])])
    table = pd.DataFrame(X, columns=["height", "weight"])
    facts = summarize(KFRC(2, m=2.0, level=1.0, n_starts=1, random_state=0).fit(table), table)
    row = facts.borderline[0]
    assert row.degrees[row.first] == max(row.degrees) < 0.9
    assert row.first != row.second
    (section,) = re.findall(r'<section id="ambiguous">(.*?)</section>', render_html(facts), flags=re.DOTALL)
    text = visible(section)
    for row in facts.borderline:
        first, second = (f"{100 * row.degrees[k]:.0f} %" for k in (row.first, row.second))
        a, b = "AB"[row.first], "AB"[row.second]
        assert re.search(rf"{row.id} {a} {first} and {b} {second} .*?{' '.join(map(re.escape, row.values))}", text)


def test_left_out_columns_and_labels_are_crossed_with_the_groups(all_facts, pages):
    (aside,) = re.findall(r'<section id="aside">(.*?)</section>', pages["numbers"], flags=re.DOTALL)
    text = visible(aside)
    assert "city" in text
    assert re.search(r"score \d", text)
    assert "nearly every row has a value of its own: “name”" in text
    (labels,) = re.findall(r'<section id="comparison">(.*?)</section>', pages["numbers"], flags=re.DOTALL)
    assert "100 % of the rows with a label have the most frequent one of their group" in visible(labels)
    assert 'id="aside"' not in pages["mixed"]


def test_the_glossary_explains_what_the_appendix_says(pages):
    words = [term.word for term in GLOSSARY]
    assert words == sorted(words, key=str.lower)
    assert len({term.anchor for term in GLOSSARY}) == len(GLOSSARY)
    for term in GLOSSARY:
        assert f'id="{term.anchor}"' in pages["numbers"]
    told = " ".join(words).lower()
    for word in ("fuzzifier", "membership", "eigenvalue", "bandwidth", "collapse", "kernel", "anisotropy", "judge"):
        assert word in told


def test_many_groups_keep_their_letters_and_names_apart(all_facts, pages):
    facts = all_facts["many"]
    assert [group.letter for group in facts.groups] == list("ABCDEFGHIJ")
    assert len({group.name for group in facts.groups}) == 10
    assert pages["many"].count('class="card"') == 10


@pytest.mark.slow
def test_thousands_of_columns_are_cut_to_those_that_matter():
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(20, 3000)) + 3 * (np.arange(20) % 2)[:, None]).add_prefix(
        "a name of a column "
    )
    facts = summarize(KFRC(2, bandwidths=np.full(3000, 5.0), random_state=0).fit(table.to_numpy()), table)
    page = render_html(facts)
    assert len(page) < 1_000_000
    assert "The 12 columns that matter most of 3,000 are drawn." in visible(page)
    assert "And 2,980 more columns" in visible(page)
