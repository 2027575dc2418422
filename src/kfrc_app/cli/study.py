"""``kfrc study``: run the paper's studies, see how far they are, and make their tables and figures."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

from kfrc_app.cli import options
from kfrc_app.cli.cluster import cluster_of
from kfrc_app.cli.console import messages, say_notes, say_problem
from kfrc_app.cli.study_words import note_mixture, tell_failures, tell_report, time_left, told_mixture
from kfrc_app.cli.termination import INTERRUPTED, Terminated, orderly_termination
from kfrc_app.facts.text import clean
from kfrc_app.output import OutputError, write_folder

if TYPE_CHECKING:
    import pandas as pd

    from kfrc_app.study.store import StudyStore

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    help="Run the paper's studies; make their tables and figures.",
)

_MAX_JOBS = 4096
_MAX_SEEDS = 10_000
_MAX_SEED_LETTERS = 40
"""More of them are a slip of the finger, which would fill the memory."""

Folder = Annotated[Path, typer.Argument(metavar="DIR", help="Output folder of a run.", show_default=False)]


@app.command()
def run(
    study: Annotated[str, typer.Argument(help="synthetic or real.", show_default=False)],
    out: Annotated[Path, typer.Option(help="Folder for the results; a run into it again resumes.", show_default=False)],
    preset: Annotated[str, typer.Option(help="smoke (minutes), seed (one seed), or full (the paper).")] = "smoke",
    n_jobs: Annotated[
        int | None,
        typer.Option(min=-1, max=_MAX_JOBS, help="Processes on this machine; -1 for one per core.", show_default="1"),
    ] = None,
    scheduler: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS",
            help="Dask scheduler, as tcp://HOST:PORT; or 'local' for a cluster here. Whoever runs it can run programs "
            "as you.",
        ),
    ] = None,
    tls_ca_file: options.TlsCaFile = None,
    tls_cert: options.TlsCert = None,
    tls_key: options.TlsKey = None,
    trust_cluster: options.TrustCluster = False,
    optimizer: Annotated[str, typer.Option(help="lbfgs (fast), or momentum (the paper's).")] = "lbfgs",
    data: Annotated[
        Path | None, typer.Option(exists=True, file_okay=False, help="Folder with the data sets, if not bundled.")
    ] = None,
    every: Annotated[int, typer.Option(min=1, metavar="K", help="Only every K-th data set.")] = 1,
    kernel: Annotated[
        str | None, typer.Option(help="Only configurations with this kernel.", show_default="all of the study")
    ] = None,
    seeds: Annotated[
        str | None, typer.Option(metavar="A-B", help="Seeds of the synthetic study.", show_default="of the preset")
    ] = None,
    starts: Annotated[
        int | None,
        typer.Option(min=1, help="Starts of every bandwidth search (the paper: 5).", show_default="of the preset"),
    ] = None,
    retry_failed: Annotated[bool, typer.Option("--retry-failed", help="Try failed tasks again.")] = False,
    mixed: Annotated[
        bool, typer.Option("--mixed", help="Resume also with other versions of numpy, scipy, scikit-learn, Python.")
    ] = False,
) -> None:
    """Run a study, or what is left of it: finished tasks are kept, whatever ended the last run."""
    from kfrc.bandwidth import Optimizer
    from kfrc_app.study.cell import run_task
    from kfrc_app.study.design import study_tasks
    from kfrc_app.study.executors import LOCAL, run_tasks
    from kfrc_app.study.progress import RichProgress
    from kfrc_app.study.store import StudyStore

    if n_jobs == 0:
        _stop("--n-jobs must be positive, or -1 for one per core", code=2)
    if scheduler is not None and scheduler != LOCAL and "://" not in scheduler:
        _stop(f"--scheduler must be an address as tcp://HOST:PORT, or 'local'; got {scheduler!r}", code=2)
    if scheduler not in (None, LOCAL) and n_jobs is not None:
        _stop("--n-jobs is for this machine: the cluster has the workers it has; leave it out", code=2)
    cluster = cluster_of(scheduler, tls_ca_file, tls_cert, tls_key, trust_cluster, own=LOCAL)
    if optimizer not in Optimizer.registry:
        _stop(f"unknown optimizer {optimizer!r}: choose one of {', '.join(Optimizer.registry)}", code=2)
    data_dir = None if data is None else str(data.resolve())
    try:
        tasks = study_tasks(
            study,
            preset,
            optimizer=optimizer,
            data_dir=data_dir,
            every=every,
            kernel=kernel,
            seeds=_seeds(seeds),
            n_starts=starts,
        )
    except ValueError as error:
        _stop(str(error), code=2)
    settings = {
        "study": study,
        "preset": preset,
        "optimizer": optimizer,
        "data": data_dir,
        "every": every if every > 1 else None,
        "kernel": kernel,
    }
    settings |= {name: value for name, value in (("seeds", seeds), ("starts", starts)) if value is not None}
    with _told(), RichProgress(messages(), f"{study} {preset}") as progress:
        store = StudyStore.create(out, tasks, settings=settings)
        report = run_tasks(
            tasks,
            run_task,
            store,
            n_jobs=n_jobs or (-1 if scheduler == LOCAL else 1),
            scheduler=scheduler,
            security=None if cluster is None else cluster.security,
            trusted=trust_cluster,
            retry_failed=retry_failed,
            mixed=mixed,
            progress=progress,
        )
    tell_report(report)
    if report.failures:
        _stop(f"{len(report.failures)} of {report.n_tasks} tasks failed; --retry-failed tries them again", code=1)


@app.command()
def status(folder: Folder) -> None:
    """Say what is done, what failed and why, what is left, and about how long that takes."""
    from kfrc_app.study.store import StudyStore

    with _told():
        store = StudyStore(folder)
        state = store.state()
    running, workers = store.last_run()
    settings = [clean(value) for value in store.settings.values() if value is not None]
    versions = f"kfrc {clean(store.version)}, {told_mixture([store.packages])}"
    lines = {
        "study": f"{', '.join(settings)} ({versions}){', running' if running else ''}",
        "mixed": told_mixture(state.mixture),
        "done": f"{len(state.seconds)} of {len(store.fingerprints)}",
        "failed": str(len(state.failures)),
        "damaged": f"{len(state.corrupt)} (computed again by the next run)" if state.corrupt else "",
        "remaining": str(len(state.remaining) + len(state.corrupt)),
        "time left": time_left(state.seconds_left, workers),
    }
    for name, text in lines.items():
        if text:
            typer.echo(f"{name:<10} {text}")
    tell_failures({key: failure.reason for key, failure in state.failures.items()})


@app.command()
def tables(
    folder: Folder,
    measure: Annotated[
        str | None,
        typer.Option(
            help="Print the synthetic tables of one measure only, short: fari_fuzzy, fari_crisp, ari, ami, uniformity.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Make the tables from what is done: Markdown, LaTeX and CSV in DIR/tables; the Markdown is printed."""
    import pandas as pd

    from kfrc_app.neutral import neutral_csv
    from kfrc_app.study.picks import SYNTHETIC_METRICS
    from kfrc_app.study.summary import Summary, is_summary
    from kfrc_app.study.tables import (
        build_tables,
        cell_by_cell,
        compact,
        over_cells,
        tables_of_summary,
        to_latex,
        to_markdown,
    )

    if measure is not None and measure not in SYNTHETIC_METRICS:
        _stop(f"unknown measure {measure!r}: choose one of {', '.join(SYNTHETIC_METRICS)}", code=2)

    with _told(), _whole(folder):
        if is_summary(folder):
            summary = Summary.read(folder)
            note_mixture(summary.mixture)
            made = tables_of_summary(summary)
        else:
            study, _, records = _load(folder)
            made = build_tables(records, study)
    texts = {name: to_markdown(table) for name, table in made.items()}
    files = {f"{name}.md": text for name, text in texts.items()}
    files |= {f"{name}.tex": to_latex(table) for name, table in made.items()}
    files |= {f"{name}.csv": neutral_csv(table) for name, table in made.items()}
    with _told():
        write_folder(folder / "tables", files, force=True)
    if measure is not None:
        if any("snr" not in table for table in made.values()):
            _stop("only the synthetic study has short tables", code=2)
        # The methods that both tables have stand in the first.
        made["without_labels"] = made["without_labels"][made["without_labels"]["method"].str.startswith("KFRC")]
        texts = {name: to_markdown(compact(table, measure)) for name, table in made.items()}
        texts["over_cells"] = to_markdown(over_cells(pd.concat(made.values()), measure))
    elif "dataset" in made.get("paper", ()):
        texts["paper"] = to_markdown(cell_by_cell(made["paper"]))
    for name, text in texts.items():
        typer.echo(f"## {name}\n\n{text}")


@app.command()
def summarize(
    folder: Folder,
    out: Annotated[Path, typer.Option(help="Folder for the summary.", show_default=False)],
) -> None:
    """Reduce the complete seeds of a synthetic study to a few small files: enough for its tables and figure."""
    from kfrc_app.study.packages import distinct
    from kfrc_app.study.summary import Summary

    with _told():
        study, store, records = _load(folder)
    if study != "synthetic":
        _stop("only the synthetic study has a summary: the real one has few records", code=2)
    state = store.state()
    seconds = state.seconds
    unfinished = {_seed_of(key) for key in store.fingerprints if key not in seconds}
    with _told(), _whole(folder):
        records = records[~records["task"].map(_seed_of).isin(unfinished)]
        if records.empty:
            _stop("no seed is complete yet; see kfrc study status", code=1)
        tasks = records["task"].unique()
        about = {
            "settings": {name: value for name, value in store.settings.items() if name != "data"},
            "version": store.version,
            "packages": distinct(state.packages[key] for key in tasks),
            "n_data_sets": len(tasks),
            "n_seeds": int(records["seed"].nunique()),
            "hours_of_computing": round(sum(seconds[key] for key in tasks) / 3600.0, 2),
        }
        summary = Summary.of(records, about)
    with _told():
        summary.write(out)
    typer.echo(f"{about['n_data_sets']} data sets of {about['n_seeds']} seed(s) in {out}")


@app.command()
def compare(
    folder: Folder,
    reference: Annotated[
        Path,
        typer.Argument(
            exists=True, metavar="REFERENCE", help="Folder of another run, or the authors' results as Parquet."
        ),
    ],
    by: Annotated[
        str, typer.Option(metavar="FACTORS", help="What to average by, separated by commas.")
    ] = "fuzzifier,snr,n_clusters",
    measure: Annotated[
        str, typer.Option(help="fari_fuzzy, fari_crisp, ari, ami or uniformity, of the configuration picked.")
    ] = "fari_fuzzy",
    over_seeds: Annotated[
        bool, typer.Option("--over-seeds", help="Compare designs, each with its mean over the seeds of either side.")
    ] = False,
) -> None:
    """Compare the synthetic study with another run or the authors' results.

    The configuration with the best Frobenius ARI is compared, among those and on the data sets that both have.
    """
    from kfrc_app.study.differences import FACTORS, compare_results, load_results
    from kfrc_app.study.picks import SYNTHETIC_METRICS
    from kfrc_app.study.tables import to_markdown

    factors = by.split(",")
    if measure not in SYNTHETIC_METRICS:
        _stop(f"unknown measure {measure!r}: choose one of {', '.join(SYNTHETIC_METRICS)}", code=2)
    if over_seeds and "seed" in factors:
        _stop("--by seed has no meaning with --over-seeds", code=2)
    unknown = [name for name in factors if name not in FACTORS]
    if unknown:
        _stop(f"unknown factor {unknown[0]!r}: choose from {', '.join(FACTORS)}", code=2)
    with _told(), _whole(folder):
        _load(folder)  # says what is missing
        results, others = load_results(folder), load_results(reference)
        table = compare_results(results, others, factors, measure=measure, over_seeds=over_seeds)
    if table.empty:
        _stop("the two have no data set of the synthetic study in common", code=1)
    typer.echo(to_markdown(table))
    lower, higher = ((table["verdict"] == word).sum() for word in ("lower", "higher"))
    typer.echo(
        f"{len(table)} cells: {lower} lower and {higher} higher than the reference beyond 2 standard errors; "
        f"mean {table['mean'].mean():.3f} against {table['reference'].mean():.3f}"
    )


@app.command()
def choices(
    folder: Folder,
    reference: Annotated[
        Path,
        typer.Argument(
            exists=True, metavar="REFERENCE", help="Folder of another run, or the authors' results as Parquet."
        ),
    ],
) -> None:
    """Count how often each anisotropy bound and criterion is the best, beside another run or the authors' results.

    Ties are split. Only designs and configurations that both have are counted.
    """
    from kfrc_app.study.differences import compare_choices, load_results
    from kfrc_app.study.tables import shares, to_markdown

    with _told(), _whole(folder):
        _load(folder)  # says what is missing
        table = compare_choices(load_results(folder), load_results(reference))
    if table.empty:
        _stop("the two have no design of the synthetic study in common", code=1)
    for setting, part in table.groupby("setting", sort=False):
        ties, reference_ties = 1.0 - part.groupby(["n_clusters", "snr"])[["alone", "reference_alone"]].sum().mean()
        typer.echo(f"## {setting}\n\n{to_markdown(shares(part))}")
        typer.echo(
            f"several values tie for {ties:.0%} of the data sets, and for {reference_ties:.0%} of the reference\n"
        )


@app.command()
def figures(folder: Folder) -> None:
    """Draw the figures from what is done, into DIR/figures; their files are printed."""
    from kfrc_app.figures import draw_figures, draw_summary_figures
    from kfrc_app.study.summary import Summary, is_summary

    with _told(), _whole(folder):
        if is_summary(folder):
            paths = draw_summary_figures(Summary.read(folder), folder / "figures")
        else:
            study, store, records = _load(folder)
            paths = draw_figures(records, study, folder / "figures", data_dir=store.settings.get("data"))
    for path in paths:
        typer.echo(str(path))


def _seed_of(key: str) -> str:
    """The seed in the key of a task."""
    return key.rpartition("-")[2]


def _seeds(text: str | None) -> list[int] | None:
    """Seeds of "4" or "1-3"."""
    if text is None:
        return None
    first, _, last = text.partition("-")
    written = first.isdecimal() and (last.isdecimal() or not last) and len(text) <= _MAX_SEED_LETTERS
    if not written or int(first) > int(last or first):
        _stop(f"--seeds must be a number or a range such as 1-3, got {text[:_MAX_SEED_LETTERS]!r}", code=2)
    if int(last or first) - int(first) >= _MAX_SEEDS:
        _stop(f"--seeds: at most {_MAX_SEEDS} of them, got {text!r}", code=2)
    return list(range(int(first), int(last or first) + 1))


def _load(folder: Path) -> tuple[str, StudyStore, pd.DataFrame]:
    """Which study, the store and its records; says so if some are missing, or of other versions."""
    from kfrc_app.study.design import STUDIES
    from kfrc_app.study.errors import StudyError
    from kfrc_app.study.store import StudyStore

    store = StudyStore(folder)
    study = store.settings.get("study")
    if study not in STUDIES:
        raise StudyError(f"{folder} does not say of which study it is: {', '.join(STUDIES)}; run the study again")
    records = store.load()
    state = store.state()
    if not state.seconds:
        _stop(f"{folder} has no results yet; run the study first", code=1)
    missing = len(store.fingerprints) - len(state.seconds)
    if missing:
        say_notes([f"{missing} of {len(store.fingerprints)} tasks are missing; see kfrc study status"])
    note_mixture(state.mixture)
    return study, store, records


@contextmanager
def _told() -> Iterator[None]:
    """Turn what can go wrong into one line and an exit code: 2 for a wrong call, 1 for a study that cannot go on."""
    from kfrc_app.study.errors import SettingsError, StudyError

    try:
        with orderly_termination():
            yield
    except SettingsError as error:
        _stop(str(error), code=2)
    except (StudyError, OutputError, OSError) as error:
        _stop(str(error), code=1)
    except KeyboardInterrupt:
        _stop("interrupted; finished tasks are kept, and the same command resumes", code=INTERRUPTED)
    except Terminated:
        say_problem("terminated; finished tasks are kept, and the same command resumes")
        raise


@contextmanager
def _whole(folder: Path) -> Iterator[None]:
    """Results without the columns, or with other values than a study has: they were changed by hand, or damaged."""
    from kfrc_app.study.errors import StudyError

    try:
        yield
    except (KeyError, ValueError, TypeError, AttributeError, IndexError, ArithmeticError) as error:
        raise StudyError(
            f"the results in {folder} are not those of a study ({type(error).__name__}: {error}); run it again"
        ) from error


def _stop(message: str, *, code: int) -> NoReturn:
    say_problem(message)
    raise typer.Exit(code)


if __name__ == "__main__":
    app()
