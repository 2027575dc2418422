"""The two things that a worker can be asked for, each a function of a table and what was chosen."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from kfrc import KFRC
from kfrc.activity import follow
from kfrc_app.facts.agreement import label_notes
from kfrc_app.output import write_folder
from kfrc_app.report import render_html  # noqa: F401  (what is needed at the end is loaded at the beginning)
from kfrc_app.runs import cluster_table
from kfrc_app.runs.settings import missing_settings
from kfrc_app.server.choices import Aside, Choices
from kfrc_app.server.describe import describe
from kfrc_app.server.plain import in_plain_words, says_something
from kfrc_app.server.problems import PageError
from kfrc_app.server.progress import Steps
from kfrc_app.tables import DataError, read_table

Tell = Callable[[dict[str, Any]], None]

SEED = 0
"""As the program has it: the same table and choices give the same groups."""


def describe_table(task: Mapping[str, Any], tell: Tell) -> dict[str, Any]:
    """The columns of a table, as they are understood."""
    return describe(task["path"], Choices.parse(task["choices"]))


def cluster(task: Mapping[str, Any], tell: Tell) -> dict[str, Any]:
    """Do what `kfrc fit` does, into a folder; what the page shows of the result."""
    choices = Choices.parse(task["choices"])
    steps = Steps(tell)
    with follow(steps.show):
        found = read_table(task["path"], **choices.reading)
        notes = (*found.notes, *label_notes(found.labels, choices.aside.get(Aside.GROUPS)))
        found = replace(found, notes=tuple(filter(says_something, map(in_plain_words, notes))))
        model = KFRC(choices.clusters, random_state=SEED, **missing_settings(choices.missing))
        facts, files = cluster_table(
            found,
            model,
            source=task["name"],
            command=choices.command(task["name"]),
            with_report=True,
            bar=steps,
            n_refits=choices.refits,
        )
    write_folder(Path(task["out"]), files)
    return {
        "title": facts.opening.title,  # the words of the report: groups are claimed only if there is evidence
        "files": sorted(files),
        "n_groups": int(facts.model.memberships_.shape[1]),
        "n_rows": len(found.data),
        "notes": [in_plain_words(note) for note in facts.notes],
    }


def as_problem(error: Exception, task: Mapping[str, Any]) -> PageError:
    """What the program would say in one line, for the page: with the name of the file, not with our place for it."""
    where = "columns" if isinstance(error, DataError) else ""
    said = str(error).replace(str(task.get("path")), f"'{task.get('name') or 'this file'}'")
    return PageError(in_plain_words(said), where=where)


TASKS = {"describe": describe_table, "cluster": cluster}
