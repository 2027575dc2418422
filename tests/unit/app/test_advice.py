"""What is made of many methods: which are one, what is said of them, and what is never said of noise."""

from __future__ import annotations

import numpy as np
import pytest

from kfrc_app.facts.advice import advice, merge_coinciding, same_memberships
from kfrc_app.facts.comparison import FAILED, MethodResult

rng = np.random.default_rng(0)
LABELS = np.repeat([0, 1, 2], 10)
GOOD = 0.9 * np.eye(3)[LABELS] + 0.1 / 3
OTHER = np.eye(3)[rng.permutation(LABELS)]
UNIFORM = np.full((30, 3), 1 / 3)


def result(method, U, **facts):
    status = facts.pop("status", "converged")
    return MethodResult(method, "as it is", 0.1, status, memberships=U, **facts)


def told(*results, p_value=0.01):
    return " ".join(advice(merge_coinciding(results), p_value))


def test_numbering_and_the_fourth_digit_make_no_other_result():
    rows = merge_coinciding([result("A", GOOD), result("B", GOOD[:, [2, 0, 1]] + 1e-4), result("C", OTHER)])
    assert [row.methods for row in rows] == [("A", "B"), ("C",)]
    assert not same_memberships(GOOD, GOOD.round())
    assert not same_memberships(GOOD, GOOD[:, :2])


def test_methods_without_a_result_stand_alone():
    rows = merge_coinciding([result("A", None, status=FAILED), result("B", None, status=FAILED)])
    assert len(rows) == 2
    assert told(result("A", None, status=FAILED)).startswith("No method found anything")


def test_collapsed_methods_are_one_row_and_are_told_to_have_found_nothing():
    results = [result("A", GOOD), *[result(name, UNIFORM, status="collapsed") for name in "BC"]]
    assert [row.methods for row in merge_coinciding(results)] == [("A",), ("B", "C")]
    assert "B and C found nothing" in told(*results)


@pytest.mark.parametrize("labeled", [False, True])
def test_noise_is_never_praised(labeled):
    facts = {"adjusted_rand": 0.05} if labeled else {}
    text = told(result("KFRC", GOOD, **facts), result("B", GOOD, **facts), p_value=0.4)
    assert "no sign of more than one group here (p = 0.4)" in text
    assert "Look at" not in text
    assert ("None has much to do with the labels" in text) == labeled


def test_agreement_is_told_and_ours_is_to_be_looked_at_first():
    crisp = np.eye(3)[LABELS]
    text = told(result("KFRC", GOOD), result("B", crisp), result("C", OTHER))
    assert "KFRC and B draw the same borders" in text
    assert "Look at KFRC first: others agree with it" in text
    assert "All 2 methods that found something draw the same borders" in told(result("KFRC", GOOD), result("B", crisp))


def test_standing_alone_is_told_with_the_columns_it_rests_on():
    text = told(result("KFRC", OTHER, n_telling=2), result("B", GOOD), result("C", GOOD.round()))
    assert "B and C draw the same borders" in text
    assert "check its columns" in text
    assert "rest mostly on 2 columns" in text


def test_labels_decide_where_there_are_any():
    text = told(result("KFRC", GOOD, adjusted_rand=0.6), result("B", OTHER, adjusted_rand=0.8))
    assert "Closest to the labels, which no method saw, is B (agreement 0.80), then KFRC (0.60)." in text


def test_without_ours_the_majority_or_the_silhouette_is_named():
    crisp = np.eye(3)[LABELS]
    assert "Look at B first" in told(result("B", GOOD), result("C", crisp), result("D", OTHER))
    alone = told(result("B", GOOD, fuzzy_silhouette=0.1), result("C", OTHER, fuzzy_silhouette=0.3))
    assert "No two methods draw the same borders. Look at C first" in alone
    assert "any of them will do" in told(result("B", GOOD), result("C", GOOD))


def test_there_are_one_to_three_sentences():
    results = [result("KFRC", GOOD), result("B", OTHER), result("C", UNIFORM, status="collapsed")]
    assert 1 <= len(advice(merge_coinciding(results), 0.01)) <= 3
