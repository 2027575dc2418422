"""What the report calls typical is what a spreadsheet computes from the rows of a group."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from kfrc import FCM
from kfrc.index_table import Indices
from kfrc_app.facts import summarize
from kfrc_app.facts.clusters import LargestMemberships
from kfrc_app.facts.confidence import Trust, in_a_hundred
from kfrc_app.facts.levels import level_shares
from kfrc_app.facts.numbers import number_sentence
from kfrc_app.facts.opening import _degrees
from kfrc_app.facts.profiles import cluster_profiles, weighted_quantiles
from kfrc_app.facts.table import TableColumn, table_facts
from kfrc_app.facts.typical import typical_columns
from kfrc_app.tables import Kind


@pytest.fixture(scope="module")
def blobs():
    """Facts of a soft fit of two groups of even size, most of whose rows belong to both a little."""
    rng = np.random.default_rng(3)
    X = np.r_[rng.normal(size=(6, 2)), rng.normal(size=(12, 2)) + 3.0]
    return summarize(FCM(2, m=2.5, random_state=0).fit(X), pd.DataFrame(X, columns=["x", "y"]))


def test_typical_values_are_medians_of_the_rows_of_a_group(blobs):
    labels, X = blobs.model.labels_, blobs.X
    for i in range(2):
        own = X[labels == i]
        assert len(own) % 2 == 0  # the mean of the two in the middle
        for k, name in enumerate(blobs.profiles.names):
            assert blobs.profiles.medians[i, k] == pytest.approx(np.median(own[:, blobs.positions[name]]), rel=1e-12)


def test_drawn_medians_are_those_of_the_table(blobs):
    for spread in blobs.distributions:
        k = blobs.profiles.names.index(spread.column.name)
        np.testing.assert_array_equal(spread.medians, blobs.profiles.medians[:, k])


def test_a_row_of_weight_two_is_two_rows_in_a_median():
    x, s = np.array([3.0, 1.0, 2.0, 8.0]), np.array([2.0, 1.0, 1.0, 2.0])
    for share in (0.25, 0.5, 0.75):
        repeated = weighted_quantiles(np.repeat(x, s.astype(int)), np.ones((6, 1)), [share])
        assert weighted_quantiles(x, s[:, None], [share]) == repeated
    assert weighted_quantiles(x, s[:, None], [0.5]) == np.median(np.repeat(x, s.astype(int)))


def test_shares_of_words_are_counts_of_rows():
    data = pd.DataFrame({"c": pd.Categorical(["a", "a", "b", "b", "b", None])})
    belonging = np.eye(2)[[0, 0, 0, 1, 1, 1]]
    (found,) = level_shares(data, belonging, table_facts(data).columns, [0])
    (column,) = typical_columns(None, [found], ["c"])
    assert [value.text.replace("\N{NO-BREAK SPACE}", " ") for value in column.clusters] == ["a 67 %", "b 100 %"]


@pytest.mark.parametrize(("levels", "told"), [(("1", "2", "5"), "3.5"), (("low", "middle", "high"), "middle to high")])
def test_between_two_steps_of_a_scale_neither_is_told_alone(levels, told):
    column = TableColumn("c", Kind.ORDINAL, levels, 0, 0.0)
    assert column.show(1.5) == told
    assert column.show(2.0) == levels[2]


def test_a_large_group_far_from_the_others_is_called_high():
    X = np.r_[np.arange(5.0), 100.0 + np.arange(20.0)][:, None]
    belonging = np.eye(2)[[0] * 5 + [1] * 20]
    profiles = cluster_profiles(X, belonging, ["x"])
    assert abs(profiles.differences[1, 0]) < 0.5
    assert [profiles.description(i) for i in range(2)] == ["low x", "high x"]


@pytest.mark.parametrize(
    ("n_high", "told"),
    [
        (0, "None of 5 rows belongs to its group by"),
        (1, "1 of 5 rows belongs to its group by"),
        (4, "4 of 5 rows belong to their groups by"),
        (5, "All 5 rows belong to their groups by"),
    ],
)
def test_how_strongly_rows_belong_is_grammatical(n_high, told):
    assert _degrees(5, LargestMemberships(n_high, 5 - n_high, 0), "group").startswith(told)


def test_a_p_value_of_one_is_told_in_words():
    assert in_a_hundred(1.0) == "nearly all"


def test_a_fit_that_chose_one_group_itself_says_so_without_refits():
    chosen = Trust(1, False, 0, 0, 0, 0, 9, None, (), None, (), (), chose_one=True)
    assert chosen.title("x.csv") == "No sign of more than one group in x.csv"
    assert "no sign of more than one" in chosen.plain_sentences[0]
    given = replace(chosen, chose_one=False)
    assert given.title("x.csv") == "x.csv, taken as one group"
    assert "is not known" in given.plain_sentences[0]


def test_evidence_that_is_largest_at_the_end_of_the_range_asks_for_more():
    table = Indices([2, 3, 4], {"evidence": [1.0, 8.9, 9.0], "stability": [np.nan] * 3}, automatic=3)
    assert number_sentence(table).endswith("at 4, the end of what was tried: try larger numbers, too.")
    inside = Indices([2, 3, 4], {"evidence": [1.0, 8.9, 2.0], "stability": [np.nan] * 3}, automatic=3)
    assert "try larger" not in number_sentence(inside)


NAN = float("nan")
JUDGED = {"XB": [0.4, 0.2, 0.3], "fuzzy silhouette": [0.9, 0.1, 0.2]}


@pytest.mark.parametrize(
    ("evidence", "stability", "automatic", "existence", "sentence"),
    [
        (
            [1.0, 5.0, 4.0],
            [0.5, 0.6, 0.6],
            3,
            None,
            "Take 3 clusters: the evidence speaks for them, but parts of the rows give other clusters (agreement "
            "0.60), so do not rely on every border.",
        ),
        ([1.0, 5.0, 4.0], [0.5, NAN, 0.6], 3, None, "Take 3 clusters: the evidence speaks for them."),
        (
            [5.0, 4.0, 1.0],
            [0.9, 0.9, 0.6],
            3,
            None,
            "Take 3 clusters: 2 clusters have hardly more evidence, or would cut what hangs together, and parts of the "
            "rows give the same clusters (agreement 0.90).",
        ),
        (
            [NAN] * 3,
            [NAN] * 3,
            None,
            None,
            "There is no evidence to choose by; the indices speak fuzzy silhouette for 2; XB for 3.",
        ),
        (
            [1.0, 5.0, 4.0],
            [NAN] * 3,
            1,
            0.4,
            "Do not cut this table: nothing speaks for more than one group (p = 0.4), and the best of these numbers is "
            "the best of a bad lot.",
        ),
    ],
)
def test_the_number_of_clusters_is_said_with_what_speaks_for_it(evidence, stability, automatic, existence, sentence):
    columns = {"evidence": evidence, "stability": stability, **JUDGED}
    assert number_sentence(Indices([2, 3, 4], columns, automatic=automatic, existence=existence)) == sentence


def test_numbers_of_clusters_without_any_index_are_not_judged():
    columns = {name: [NAN, NAN] for name in ("evidence", "stability", "XB")}
    assert number_sentence(Indices([2, 3], columns)) == "None of these numbers of clusters could be judged."
