"""What a user chose on the page is what the program is told, and could be typed."""

import shlex

import pytest

from kfrc_app.runs import FitProgress
from kfrc_app.server.choices import Aside, Choices, from_wish
from kfrc_app.server.plain import in_plain_words
from kfrc_app.server.problems import PageError
from kfrc_app.server.progress import STEPS, Steps
from kfrc_app.server.tasks import cluster
from kfrc_app.tables import Kind, Missing, Wish, parse_wishes

from .conftest import as_csv, two_groups


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


@pytest.mark.parametrize(
    ("column", "choice"),
    [
        ("age", {"use": "ordinal", "levels": ["<18", "18-65", ">65"]}),
        ("a", {"use": "ordinal", "levels": [" low", "high"]}),
        ("x=drop,when", {"use": "date", "day_first": True}),
        (" when ", {"use": "drop"}),
        ("", {"use": "nominal"}),
    ],
)
def test_what_cannot_be_typed_has_no_command(column, choice):
    assert Choices.parse({"columns": {column: choice}}).command("a.csv") == ""


def test_names_that_can_be_typed_keep_their_command():
    choices = Choices.parse({"columns": {"a=b": {"use": "drop"}, "-c, d": {"use": "nominal"}}})
    words = shlex.split(choices.command("a.csv"))
    assert parse_wishes([words[k + 1] for k, word in enumerate(words) if word == "--types"]) == choices.types


@pytest.mark.parametrize("name", ["-rf.csv", "-", "--types"])
def test_a_file_is_never_an_option(name):
    assert shlex.split(Choices.parse({}).command(name))[2] == f"./{name}"


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


def test_a_total_that_is_known_later_is_told_at_once():
    told = []
    steps = Steps(lambda message: told.append(message["progress"]))
    task = steps.add_task("clustering")
    assert (told[-1]["step"], told[-1]["total"]) == ("looking", None)
    steps.update(task, total=4)
    assert told[-1] == {"step": "looking", "done": 0, "total": 4, "small": None}


def test_looking_for_groups_is_told_also_where_scikit_learn_has_no_callbacks(tmp_path, monkeypatch):
    monkeypatch.setattr(FitProgress, "attach", lambda watcher, model: model)  # as with an older one
    path = tmp_path / "a.csv"
    path.write_bytes(as_csv(two_groups(20)))
    told = []
    task = {"path": str(path), "name": "a.csv", "out": str(tmp_path / "out")}
    cluster({**task, "choices": {"clusters": 2, "refits": 0}}, lambda message: told.append(message["progress"]["step"]))
    assert list(dict.fromkeys(told)) == ["reading", "looking", "writing"]


@pytest.mark.parametrize("text", ["c=ordinal:s<m<l", "c=date:mdy", "c=date:dmy", "c=nominal", "c=numeric"])
def test_a_type_comes_back_from_the_page_as_it_was_sent(text):
    wishes = parse_wishes([text])
    sent = {"columns": {"c": from_wish(wishes["c"])}}
    assert Choices.parse(sent).types == wishes
