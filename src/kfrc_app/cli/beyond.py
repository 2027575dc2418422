"""What verbs share that pass over tables in pieces: when they do, with which workers, and what they say."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import typer

from kfrc.blocks import connected, parse_memory
from kfrc_app.cli import options
from kfrc_app.cli.cluster import Cluster
from kfrc_app.cli.console import messages, output, print_json, say_notes
from kfrc_app.cli.render import show_fit
from kfrc_app.facts.text import count
from kfrc_app.runs.beyond import RunBeyond
from kfrc_app.tables.beyond import TableBeyond, is_beyond

_CLUSTER = frozenset({"scheduler", "tls_ca_file", "tls_cert", "tls_key", "trust_cluster"})
_NOT_ASKED = _CLUSTER | {"out", "json", "force", "memory", "report", "excel", "refits"}
"""Parameters on which what is found does not depend."""


def wants_pieces(data: str, memory: str | None, scheduler: str | None) -> bool:
    """Whether a table is passed over in pieces: it is long, or has many files, or the user says so."""
    if memory is not None:
        try:
            parse_memory(memory)
        except ValueError as error:
            raise typer.BadParameter(str(error), param_hint="'--memory'") from None
    return memory is not None or scheduler is not None or is_beyond(data)


def refuse_pieces(context: typer.Context, names: Iterable[str]) -> None:
    """Stop if an option was given that has no meaning for tables in pieces."""
    for name in names:
        if options.typed(context, name):
            raise typer.BadParameter(f"--{name} has no meaning for a table that is passed over in pieces")


def question_of(context: typer.Context, table: TableBeyond) -> dict[str, Any]:
    """What a result depends on: the files as they are, and everything that was asked."""
    asked = {name: str(value) for name, value in context.params.items() if name not in _NOT_ASKED}
    return {"asked": asked, "files": table.source.fingerprint()}


@contextmanager
def engine_of(cluster: Cluster | None) -> Iterator[Any]:
    """A client of the cluster that was named; None if none was."""
    if cluster is None:
        yield None
        return
    with connected(cluster.address, security=cluster.security, trusted=cluster.trusted) as client:
        if not client.nthreads():
            messages().print(f"note: the scheduler at {cluster.address} has no workers yet; waiting for them")
        yield client


def show_beyond(out: Path, run: RunBeyond, *, json: bool) -> None:
    """Say what was found and where it is."""
    say_notes(run.facts.notes)
    if json:
        print_json({**run.document, "output": str(out), "files": sorted(run.files)})
        return
    console = output()
    show_fit(console, run.facts)
    about = run.document["rows_beyond_memory"]
    sizes = ", ".join(f"{size:,.0f} in cluster {i}" for i, size in enumerate(about["cluster_sizes"]))
    console.print()
    console.print(
        f"All {count(about['n_rows'], 'row')}: {sizes}; {about['passes']} passes over them",
        soft_wrap=not console.is_terminal,
    )
    going_on = " (an earlier run was continued)" if run.resumed else ""
    console.print(
        f"Written to {out}/: {', '.join(run.files)}{going_on}",
        soft_wrap=not console.is_terminal,
    )
