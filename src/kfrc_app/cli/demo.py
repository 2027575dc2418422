"""``kfrc demo``: cluster a table that is made up for it, or wine, to see what the program does."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kfrc_app._missing_values import Missing
from kfrc_app.cli import options
from kfrc_app.cli.console import output, progress, say_notes
from kfrc_app.cli.fit import show_files
from kfrc_app.output import check_output, write_folder

if TYPE_CHECKING:
    import pandas as pd

    from kfrc_app.facts import Facts
    from kfrc_app.tables import Table

N_CLUSTERS = 3
N_REFITS = 10
"""Fewer than of a fit: a demonstration is watched."""

MEMBERS = "members.xlsx"
SHORT_NAMES = {"od280/od315_of_diluted_wines": "od280/od315"}


class DemoName(StrEnum):
    """The tables to choose from."""

    GYM = "gym"
    WINE = "wine"


def demo(
    context: typer.Context,
    name: Annotated[DemoName, typer.Argument(help="Made-up members of a gym, or 178 wines.")] = DemoName.GYM,
    out: options.OutFolder = Path("kfrc-demo"),
    refits: options.Refits = N_REFITS,
    force: options.Force = False,
) -> None:
    """Show what the program does, on a table that is made up for it, or on wine."""
    from kfrc import KFRC
    from kfrc_app.cli.render import show_findings, show_fit
    from kfrc_app.runs import cluster_table
    from kfrc_app.runs.results import ALL_FILES

    out = options.as_path(out)
    check_output(out, force=force, folder=True)
    gym = name is DemoName.GYM
    with progress() as bar:
        bar.add_task("making a table" if gym else "reading wine", total=None)
        found, spreadsheet = _members() if gym else (_wine(), None)
    with progress() as bar:
        facts, files = cluster_table(
            found,
            KFRC(N_CLUSTERS, random_state=0),
            source="Gym members (made up)" if gym else "Wine",
            command=options.command_line(context),
            with_report=True,
            bar=bar,
            n_refits=refits,
        )
        if spreadsheet is not None:
            bar.add_task("other methods", total=None)
            rivals = agreement_of_others(found)
    if spreadsheet is not None:
        files = {MEMBERS: spreadsheet, **files}
    write_folder(out, files, force=force, obsolete=(*ALL_FILES, MEMBERS))
    if spreadsheet is not None:
        _introduce(found.data)
        show_findings(output(), facts)
        _show_others(facts, rivals)
    else:
        say_notes(facts.notes)
        show_fit(output(), facts)
    show_files(out, files)
    console = output()
    again = f"kfrc fit {out / MEMBERS} -c auto -o OUT" if gym else "kfrc fit YOUR.xlsx -c auto -o OUT"
    whole = not console.is_terminal  # lines of a file are not broken
    console.print(f"Open {out / 'report.html'} in a browser, then try: {again}", soft_wrap=whole)
    if gym:
        told = "(kfrc fit also prints the statistics behind all this, which the report has at its end.)"
        console.print(told, soft_wrap=whole)


def _members() -> tuple[Table, bytes]:
    """The made-up members, read as any spreadsheet is, with the kinds that they were made of as labels."""
    from kfrc_app.demo_table import as_spreadsheet, make_members
    from kfrc_app.tables import read_table

    made = make_members()
    spreadsheet = as_spreadsheet(made.data)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / MEMBERS
        path.write_bytes(spreadsheet)
        found = read_table(str(path), missing=Missing.PARTIAL)
    return replace(found, labels=made.kinds), spreadsheet


def _wine() -> Table:
    import numpy as np
    import pandas as pd

    from kfrc.datasets import load_benchmark
    from kfrc_app.tables import InputRows, Table

    wine = load_benchmark("wine")
    names = [SHORT_NAMES.get(name, name).replace("_", " ") for name in wine.feature_names]
    return Table(
        pd.DataFrame(wine.data, columns=names),
        InputRows.all_used(np.arange(1, len(wine.data) + 1).astype(str)),
        wine.target.astype(str),
        (),
    )


def agreement_of_others(found: Table) -> dict[str, float | None]:
    """How well other methods find the labels of a table, as an adjusted Rand index; None if one finds nothing.

    They see what such methods can see: standardized numbers, one column per level, means for blanks.

    Parameters
    ----------
    found : Table
        With labels.
    """
    from kfrc import FCM
    from kfrc_app.facts.agreement import agreement
    from kfrc_app.facts.encoding import standardized
    from kfrc_app.facts.notes import warnings_as_notes
    from kfrc_app.facts.peers import gaussian_mixture, k_means

    fuzzy = FCM(N_CLUSTERS, random_state=0)
    with warnings_as_notes([]):
        fuzzy.fit(standardized(found.data).to_numpy())
        labels = {
            "k-means": k_means(found.data, N_CLUSTERS, 0, None).argmax(axis=1),
            "Gaussian mixture": gaussian_mixture(found.data, N_CLUSTERS, 0, None).argmax(axis=1),
            "fuzzy c-means": None if fuzzy.status_ == "collapsed" else fuzzy.labels_,
        }
    judged = {name: None if got is None else agreement(found.labels, got, N_CLUSTERS) for name, got in labels.items()}
    return {name: None if got is None else got.adjusted_rand for name, got in judged.items()}


def _introduce(data: pd.DataFrame) -> None:
    from kfrc_app.cli.render import line
    from kfrc_app.demo_table import KINDS, TELLING

    console = output()
    n_idle = data.shape[1] - len(TELLING)
    line(
        console,
        f"This table is made up: {len(data)} members of a gym, {data.shape[1]} columns of numbers, dates, words and "
        f"blanks. The members are of {len(KINDS)} kinds, which no method is told. {len(TELLING)} columns differ from "
        f"kind to kind; {n_idle} have nothing to do with it (body, locker, sleep, phone, pet, ...).",
    )
    console.print()


def _show_others(facts: Facts, rivals: dict[str, float | None]) -> None:
    from kfrc_app.cli.render import heading, line, table

    console = output()
    heading(console, "The same table by other methods (how much of the three kinds is found: 1 all, 0 as by chance)")
    ours = None if facts.agreement is None else facts.agreement.adjusted_rand
    rows = [[name, "nothing found" if got is None else f"{got:.2f}"] for name, got in {"kfrc": ours, **rivals}.items()]
    table(console, [("", "left"), ("", "left")], rows)
    line(console, "They cannot set columns aside, so that those that tell nothing mislead them.")
