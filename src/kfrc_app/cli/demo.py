"""``kfrc demo``: cluster wine without its labels, to see what the program does."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import numpy as np
import pandas as pd
import typer

from kfrc import KFRC
from kfrc.datasets import load_benchmark
from kfrc_app.cli import options
from kfrc_app.cli.console import output, progress, say_notes
from kfrc_app.cli.fit import show_files
from kfrc_app.cli.render import show_fit
from kfrc_app.output import check_output, write_folder
from kfrc_app.runs import cluster_table
from kfrc_app.runs.results import ALL_FILES
from kfrc_app.tables import InputRows, Table

N_CLUSTERS = 3
SHORT_NAMES = {"od280/od315_of_diluted_wines": "od280/od315"}


def demo(
    context: typer.Context,
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder for the results.", metavar="FOLDER")] = Path(
        "kfrc-demo"
    ),
    refits: options.Refits = options.N_REFITS,
    force: options.Force = False,
) -> None:
    """Cluster 178 wines by 13 measurements, without using their labels."""
    out = options.as_path(out)
    check_output(out, force=force, folder=True)
    with progress() as bar:
        bar.add_task("reading wine", total=None)
        wine = load_benchmark("wine")
    names = [SHORT_NAMES.get(name, name).replace("_", " ") for name in wine.feature_names]
    found = Table(
        pd.DataFrame(wine.data, columns=names),
        InputRows.all_used(np.arange(1, len(wine.data) + 1).astype(str)),
        wine.target.astype(str),
        (),
    )
    with progress() as bar:
        facts, files = cluster_table(
            found,
            KFRC(N_CLUSTERS, random_state=0),
            source="Wine",
            command=options.command_line(context),
            with_report=True,
            bar=bar,
            n_refits=refits,
        )
    write_folder(out, files, force=force, obsolete=ALL_FILES)
    say_notes(facts.notes)
    show_fit(output(), facts)
    show_files(out, files)
    console = output()
    console.print(f"Open {out / 'report.html'} in a browser, then try: kfrc fit YOUR.csv -c 3 -o OUT")
