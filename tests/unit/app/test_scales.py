"""Answers on a scale in words: put in order where everybody knows it, and left alone where not."""

from __future__ import annotations

import numpy as np
import pytest

from kfrc_app.tables import Missing, read_table
from kfrc_app.tables.kinds import parse_wishes
from kfrc_app.tables.scales import known_order

ANSWERS = ["strongly disagree", "disagree", "neither agree nor disagree", "agree", "strongly agree"]


@pytest.mark.parametrize(
    "scale",
    [
        ANSWERS,
        ["never", "sometimes", "always"],
        ["Very low", "Low", "Medium", "High", "Very high"],
        ["S", "M", "L", "XL"],
        ["None", "Mild", "Moderate", "Severe"],
        ["stimme überhaupt nicht zu", "teils/teils", "Stimme eher zu", "stimme voll und ganz zu"],
        ["klein", "mittel", "groß"],
        ["Pas du tout d’accord", "Plutôt d'accord", "Tout à fait d'accord"],
        ["Nunca", "Casi nunca", "A veces", "Siempre"],
        ["1 - never", "2 - rarely", "3 - often"],
        ["1 = not at all", "2", "3", "4", "5 = very much"],
        ["0: Fully against", "1", "2", "3: Fully for"],
    ],
)
def test_a_known_scale_is_put_in_order_from_any_order(scale):
    for levels in (sorted(scale), scale[::-1]):
        assert known_order(levels) == tuple(scale)


@pytest.mark.parametrize(
    "levels",
    [
        ["yes", "no"],
        ["low", "high"],
        ["red", "green", "blue"],
        ["never", "often", "don't know"],
        ["Never", "never", "often"],
        ["never", "agree", "high"],
        ["often", "frequently", "never"],
        ["1 - Germany", "2 - France", "3 - Spain"],
        ["1 - never", "1 - often", "2 - always"],
        ["1 - low end", "2", "4 - high end"],
        ["1", "2 - some", "3 - more"],
        ["monday", "tuesday", "sunday"],
        ["", "a", "b"],
    ],
)
def test_what_is_no_known_scale_has_no_order(levels):
    assert known_order(levels) is None


def answers(tmp_path, words):
    path = tmp_path / "answers.csv"
    lines = [f"{k * 0.37:.2f},{words[k % len(words)]}" for k in range(60)]
    path.write_text("\n".join(["amount,opinion", *lines]))
    return str(path)


def test_a_column_of_known_answers_is_read_as_ordered_and_said_so(tmp_path):
    table = read_table(answers(tmp_path, ANSWERS), missing=Missing.PARTIAL)
    opinion = table.data["opinion"]
    assert opinion.cat.ordered
    assert list(opinion.cat.categories) == ANSWERS
    assert np.array_equal(opinion.cat.codes, np.arange(60) % 5)
    assert any("'opinion' read as ordered" in note and "disagree < neither" in note for note in table.notes)


def test_known_answers_are_categories_on_request(tmp_path):
    table = read_table(answers(tmp_path, ANSWERS), missing=Missing.PARTIAL, types=parse_wishes(["opinion=nominal"]))
    assert not table.data["opinion"].cat.ordered


def test_asked_to_be_ordered_known_answers_need_no_order_and_others_do(tmp_path):
    table = read_table(answers(tmp_path, ANSWERS), missing=Missing.PARTIAL, types=parse_wishes(["opinion=ordinal"]))
    assert list(table.data["opinion"].cat.categories) == ANSWERS
    with pytest.raises(ValueError, match="its order must be said"):
        read_table(
            answers(tmp_path, ["red", "green", "blue"]),
            missing=Missing.PARTIAL,
            types=parse_wishes(["opinion=ordinal"]),
        )
