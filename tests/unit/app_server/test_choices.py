"""What a user chose on the page is what the program is told, and could be typed."""

import shlex

import pytest

from kfrc_app.server.choices import Aside, Choices
from kfrc_app.server.plain import in_plain_words
from kfrc_app.server.problems import PageError
from kfrc_app.server.progress import STEPS, Steps
from kfrc_app.tables import Kind, Missing, Wish, parse_wishes


def test_columns_become_types_and_parts():
    choices = Choices.parse(
        {
            "columns": {
                "a": {"use": "nominal"},
                "b, c": {"use": "ordinal", "levels": ["low", "high"]},
                "d": {"use": "date", "day_first": True},
                "e": {"use": "drop"},
                "f": {"use": "names"},
                "g": {"use": "weight"},
                "h": {"use": "groups"},
                "i": {},
            },
            "clusters": "4",
            "missing": "drop",
            "decimal": ",",
        }
    )
    assert choices.types == {
        "a": Wish(Kind.NOMINAL),
        "b, c": Wish(Kind.ORDINAL, ("low", "high")),
        "d": Wish(Kind.DATE, day_first=True),
        "e": Wish(Kind.DROP),
    }
    assert choices.aside == {Aside.NAMES: "f", Aside.WEIGHT: "g", Aside.GROUPS: "h"}
    assert (choices.clusters, choices.missing, choices.marks.decimal) == (4, Missing.DROP, ",")


def test_the_command_says_the_same():
    choices = Choices.parse(
        {
            "columns": {
                "a b": {"use": "ordinal", "levels": ["low", "high"]},
                "d'x": {"use": "date", "day_first": False},
                "f": {"use": "names"},
            },
            "clusters": 3,
            "missing": "level",
            "refits": 0,
        }
    )
    words = shlex.split(choices.command("my table.csv"))
    assert words[:7] == ["kfrc", "fit", "my table.csv", "-c", "3", "-o", "results"]
    typed = [words[k + 1] for k, word in enumerate(words) if word == "--types"]
    assert parse_wishes(typed) == choices.types
    for flag, value in (("--id-column", "f"), ("--missing", "level"), ("--refits", "0")):
        assert words[words.index(flag) + 1] == value


def test_nothing_chosen_is_what_kfrc_fit_does_by_default():
    assert Choices.parse({}).command("a.csv") == "kfrc fit a.csv -c auto -o results"


def test_two_columns_for_one_part_are_told_beside_the_second():
    with pytest.raises(PageError) as refused:
        Choices.parse({"columns": {"a": {"use": "names"}, "b": {"use": "names"}}})
    assert (refused.value.where, refused.value.column) == ("columns", "b")


@pytest.mark.parametrize(
    "document",
    [
        None, [], "x", {"columns": []}, {"columns": {"a": "names"}}, {"columns": {"a": {"use": "x"}}},
        {"columns": {"a": {"use": "ordinal", "levels": "ab"}}}, {"columns": {"a": {"use": "ordinal", "levels": [1]}}},
        {"columns": {"a": {"use": "date", "day_first": "yes"}}}, {"decimal": "x"}, {"decimal": 3}, {"missing": "x"},
        {"refits": 10**9}, {"refits": "20"}, {"refits": True}, {"sheet": 3}, {"decimal": ",", "thousands": ","},
    ],
)  # fmt: skip
def test_what_no_page_sends_is_refused(document):
    with pytest.raises(PageError) as refused:
        Choices.parse(document)
    assert refused.value.status == 400


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("5 rows: use --missing partial, or --drop 'a'", "5 rows."),
        ("no flags here", "No flags here."),
        ("the day or the month? Nothing tells: add --types 'a=date:dmy'", "The day or the month? Nothing tells."),
        ("'--drop' is a name: leave it out", "'--drop' is a name: leave it out."),
        ("2 clusters of 'my clusters'", "2 groups of 'my clusters'."),
    ],
)
def test_sentences_lose_what_to_type(said, shown):
    assert in_plain_words(said) == shown


def test_steps_are_told_in_order_with_their_counts():
    told = []
    steps = Steps(lambda message: told.append(message["progress"]))
    task = steps.add_task("clustering", total=4)
    steps.update(task, advance=1, description="clustering: something difficult")
    steps.show("fitting mixtures: 7 of 9")
    task = steps.add_task("fitting again", total=20)
    steps.remove_task(task)
    steps.add_task("writing the report")
    assert tuple(dict.fromkeys(message["step"] for message in told)) == STEPS
    assert {"step": "looking", "done": 1, "total": 4, "small": [7, 9]} in told
    assert not any("mixtures" in str(message) for message in told)
