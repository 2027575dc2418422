"""Options that several verbs share.

Help and wrong usage need no numerical library: it is imported inside the functions that need it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from enum import StrEnum
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kfrc_app._missing_values import Missing
from kfrc_app.cli.console import say_problem
from kfrc_app.cli.names import CRITERIA, FUZZIFIERS, KERNELS, MEMBERSHIPS, OPTIMIZERS, OUTLIERS
from kfrc_app.cli.names import N_REFITS as N_REFITS
from kfrc_app.cli.paths import as_path as as_path
from kfrc_app.cli.paths import name_given as name_given
from kfrc_app.cli.paths import path_given as path_given
from kfrc_app.cli.typed import command_line as command_line
from kfrc_app.cli.typed import typed as typed

if TYPE_CHECKING:
    from kfrc_app.tables import Marks, Wish

COLUMN_ROLES = ("columns", "drop", "label_column", "id_column", "weight_column", "types", "missing")
"""Options of tables that :func:`column_roles` takes."""

AUTO = "auto"
SEARCH_LEVEL = "search"
DEFAULT_M = "default"
USAGE = 2
MIN_CLUSTERS = 2
MAX_CLUSTERS_OF_RANGE = 100
"""A slip of the finger in a range should not run for days."""

MAX_REPEATS = 10_000
"""Starts, or refits: nothing is gained by more, and they would take days."""

MAX_SEARCHED_COLUMNS = 500
"""Columns whose bandwidths are all searched at once: with more, that takes hours rather than minutes."""


def refuse_wide(n_columns: int) -> None:
    """Stop a verb that looks at every column at once; ``kfrc fit`` first finds the columns that matter."""
    from kfrc_app.tables import DataError

    if n_columns > MAX_SEARCHED_COLUMNS:
        raise DataError(
            f"the table has {n_columns} columns and at most {MAX_SEARCHED_COLUMNS} are compared here: choose some with "
            "--columns; kfrc fit takes all of them"
        )


def one_of(family: str, names: tuple[str, ...], *, auto: bool = False) -> Callable[[str | None], str | None]:
    """A check that a name is in a registry, or "auto" where that is a choice.

    Parameters
    ----------
    family : str
        Module and class, as ``kfrc.kernels:Kernel``; looked at for a name that is not among ``names``.
    names : tuple of str
        What is in its registry without anybody's additions.
    auto : bool, default=False
    """

    def check(value: str | None) -> str | None:
        if value is None or value in names or (auto and value == AUTO):
            return value
        module, _, class_name = family.partition(":")
        registry = getattr(import_module(module), class_name).registry
        if value not in registry:
            choices = [*registry, AUTO] if auto else registry
            raise typer.BadParameter(f"{value!r} is not one of {', '.join(choices)}")
        return value

    return check


def _choice(family: str, names: tuple[str, ...], text: str, *, auto: bool = True) -> Any:
    offered = ", ".join([*names, AUTO] if auto else names)
    return typer.Option(help=f"{text}: {offered}.", callback=one_of(family, names, auto=auto), metavar="NAME")


class MembershipKind(StrEnum):
    """What ``--memberships`` takes: what KFRC takes."""

    FUZZY, POSTERIOR = MEMBERSHIPS


class OutlierTreatment(StrEnum):
    """What ``--outliers`` takes: what KFRC takes."""

    CLIP, KEEP = OUTLIERS


Outliers = Annotated[
    OutlierTreatment, typer.Option(help="Values far outside the bulk: cut at the end of what is usual, or keep.")
]
Memberships = Annotated[
    MembershipKind, typer.Option(help="Of the fuzzy objective, or the probabilities of the judge of the choice.")
]
FILE_KINDS = "CSV or other text, Excel, OpenDocument, JSON or Parquet, also in a gz or zip file"
Data = Annotated[
    str, typer.Argument(help=f"Table: {FILE_KINDS}; - for standard input.", callback=name_given, metavar="DATA")
]
DataOrFiles = Annotated[
    str,
    typer.Argument(
        help=f"Table: {FILE_KINDS}; - for standard input. A folder, or a pattern in quotes such as 'data/*.parquet', "
        "is passed over in pieces.",
        callback=name_given,
        metavar="DATA",
    ),
]
OutFolder = Annotated[
    Path, typer.Option("--out", "-o", help="Folder for the results.", parser=path_given, metavar="FOLDER")
]
Memory = Annotated[
    str | None,
    typer.Option(
        "--memory", help="Pass over the rows in pieces; a worker may use this much, by default 1GB.", metavar="2GB"
    ),
]
Scheduler = Annotated[
    str | None,
    typer.Option(
        "--scheduler",
        help="Dask scheduler whose workers pass over the rows. Whoever runs it can run programs as you.",
        metavar="ADDRESS",
    ),
]
TlsCaFile = Annotated[
    Path | None,
    typer.Option("--tls-ca-file", help="Authority of the cluster's certificates, for a tls:// ADDRESS.", metavar="PEM"),
]
TlsCert = Annotated[Path | None, typer.Option("--tls-cert", help="Own certificate, of that authority.", metavar="PEM")]
TlsKey = Annotated[Path | None, typer.Option("--tls-key", help="Key of the own certificate.", metavar="PEM")]
TrustCluster = Annotated[
    bool, typer.Option("--trust-cluster", help="Connect to a scheduler on another computer without TLS.")
]
Sheet = Annotated[
    str | None,
    typer.Option(
        "--sheet", help="Sheet of a spreadsheet, or file in a zip file, if there are several.", metavar="NAME"
    ),
]
Clusters = Annotated[str, typer.Option("--clusters", "-c", help="Number of clusters.", metavar="NUMBER")]
ClusterRange = Annotated[
    str, typer.Option("--clusters", "-c", help="Numbers of clusters: from-to, or a list.", metavar="2-8|2,3,5")
]
Dissimilarity = Annotated[bool, typer.Option("--dissimilarity", help="DATA is a square matrix of dissimilarities.")]
ClustersOrAuto = Annotated[
    str, typer.Option("--clusters", "-c", help="Number of clusters, or auto.", metavar="NUMBER|auto")
]
MaxClusters = Annotated[
    int,
    typer.Option(
        help="Largest number that -c auto tries.", min=MIN_CLUSTERS, max=MAX_CLUSTERS_OF_RANGE, metavar="NUMBER"
    ),
]
Columns = Annotated[
    list[str] | None, typer.Option(help="Cluster by these columns only: names, separated by commas.", metavar="NAMES")
]
Drop = Annotated[list[str] | None, typer.Option(help="Leave these columns out.", metavar="NAMES")]
LabelColumn = Annotated[
    str | None, typer.Option(help="Known groups: never used, only compared with the result.", metavar="NAME")
]
IdColumn = Annotated[str | None, typer.Option(help="Names of the rows, if they are not found.", metavar="NAME")]
DecimalMark = Annotated[
    str | None, typer.Option("--decimal", help="Decimal mark, if the file leaves it open: , or .", metavar="MARK")
]
ThousandsMark = Annotated[
    str | None,
    typer.Option("--thousands", help="Mark between thousands: comma, dot, space or apostrophe.", metavar="MARK"),
]
MissingValues = Annotated[
    Missing,
    typer.Option(
        "--missing", help="Missing values: use the rest of the row, take a blank for a level, stop, or leave rows out."
    ),
]
Types = Annotated[
    list[str] | None,
    typer.Option(
        help="What columns are: numeric, ordinal, nominal, date or drop; size=ordinal:small<large gives an order.",
        metavar="NAME=TYPE,...",
    ),
]
DateTypes = Annotated[
    list[str] | None,
    typer.Option(
        "--types", help="How dates are written, if the file leaves it open: when=date:dmy.", metavar="NAME=TYPE"
    ),
]
WeightColumn = Annotated[
    str | None, typer.Option(help="How many rows each row stands for: 2 is the row twice, 0 none.", metavar="NAME")
]
Seed = Annotated[
    int, typer.Option(help="Start of the random numbers; same seed, same result.", min=0, metavar="NUMBER")
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document instead of tables.")]
Force = Annotated[bool, typer.Option("--force", help="Replace existing output.")]
KernelName = Annotated[str, _choice("kfrc.kernels:Kernel", KERNELS, "Similarity of two rows")]
FuzzifierName = Annotated[str, _choice("kfrc.fuzzifiers:Fuzzifier", FUZZIFIERS, "How memberships may spread")]
CriterionName = Annotated[str, _choice("kfrc.criteria:Criterion", CRITERIA, "What the bandwidths maximize")]
OptimizerName = Annotated[
    str, _choice("kfrc.bandwidth:Optimizer", OPTIMIZERS, "How the bandwidths are searched", auto=False)
]
Fuzziness = Annotated[
    str, typer.Option("--m", "-m", help="Fuzziness: a number, auto, or default.", metavar="NUMBER|auto|default")
]
Anisotropy = Annotated[
    str, typer.Option(help="Largest ratio of two bandwidths: a number, inf, or auto.", metavar="NUMBER|auto")
]
Starts = Annotated[int, typer.Option(help="Starts of the search.", min=1, max=MAX_REPEATS, metavar="NUMBER")]
Refits = Annotated[
    int,
    typer.Option(
        help="Refits on parts of the rows, to see what is found again; 0: none.",
        min=0,
        max=MAX_REPEATS,
        metavar="NUMBER",
    ),
]
Level = Annotated[
    str,
    typer.Option(
        help="Mean log-bandwidth in standard deviations: a number, auto, or search.", metavar="NUMBER|auto|search"
    ),
]


def parse_clusters(value: str) -> int:
    """Number of clusters from what was typed."""
    if value == AUTO:
        say_problem("only `kfrc fit` can choose the number of clusters: give a number here, such as -c 3")
        raise typer.Exit(USAGE)
    try:
        n_clusters = int(value)
    except ValueError:
        raise typer.BadParameter(f"{value!r} is not a whole number", param_hint="'-c'") from None
    if n_clusters < MIN_CLUSTERS:
        raise typer.BadParameter(f"{n_clusters} is too few, at least {MIN_CLUSTERS} clusters", param_hint="'-c'")
    return n_clusters


def parse_cluster_range(value: str) -> list[int]:
    """Numbers of clusters from what was typed: ``2-8``, ``3``, ``2,4,6``."""
    numbers: set[int] = set()
    for part in value.split(","):
        first, dash, last = part.strip().partition("-")
        try:
            low = int(first)
            high = int(last) if dash else low
        except ValueError:
            raise typer.BadParameter(f"{value!r} is neither like 2-8 nor like 2,3,5", param_hint="'-c'") from None
        if high < low:
            raise typer.BadParameter(f"{value!r}: {high} is less than {low}", param_hint="'-c'")
        if low < MIN_CLUSTERS:
            raise typer.BadParameter(f"{value!r}: at least {MIN_CLUSTERS} clusters", param_hint="'-c'")
        if high > MAX_CLUSTERS_OF_RANGE:  # before they are listed, which takes memory
            raise typer.BadParameter(f"{value!r}: at most {MAX_CLUSTERS_OF_RANGE} clusters", param_hint="'-c'")
        numbers |= set(range(low, high + 1))
    return sorted(numbers)


def refuse_table_options(context: typer.Context, names: Iterable[str]) -> None:
    """Stop if an option was given that has no meaning for a matrix of dissimilarities."""
    for name in names:
        if typed(context, name):
            raise typer.BadParameter(f"--{name.replace('_', '-')} has no meaning with --dissimilarity")


def parse_marks(decimal: str | None, thousands: str | None) -> Marks:
    """The marks that were given."""
    from kfrc_app.tables import DECIMAL_MARKS, THOUSANDS_MARKS, Marks

    for flag, value, allowed in (
        ("--decimal", decimal, DECIMAL_MARKS),
        ("--thousands", thousands, THOUSANDS_MARKS),
    ):
        if value is not None and value not in allowed:
            choices = " ".join(f'"{mark}"' for mark in allowed)
            raise typer.BadParameter(f"{value!r} is not one of {choices}", param_hint=f"'{flag}'")
    if decimal is not None and decimal == thousands:
        raise typer.BadParameter("--decimal and --thousands must differ")
    return Marks(decimal, thousands)


def column_roles(
    columns: list[str] | None,
    drop: list[str] | None,
    label_column: str | None,
    id_column: str | None,
    weight_column: str | None,
    types: list[str] | None,
    missing: Missing,
) -> dict[str, Any]:
    """What readers of tables are told of the columns."""
    return {
        "columns": columns or (),
        "drop": drop or (),
        "label_column": label_column,
        "id_column": id_column,
        "weight_column": weight_column,
        "types": parse_types(types),
        "missing": missing,
    }


def parse_types(entries: list[str] | None) -> dict[str, Wish]:
    """The types that were given."""
    from kfrc_app.tables import parse_wishes

    try:
        return parse_wishes(entries or ())
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="'--types'") from None


def parse_level(value: str) -> float | str | None:
    """A number, ``"auto"``, or None for the search."""
    return None if value == SEARCH_LEVEL else _number_or_auto(value, "--level", SEARCH_LEVEL)


def parse_anisotropy(value: str) -> float | str:
    """A number of at least 1, or ``"auto"``."""
    parsed = _number_or_auto(value, "--max-anisotropy")
    if not isinstance(parsed, str) and not parsed >= 1:
        raise typer.BadParameter(f"{value} is too small, at least 1", param_hint="'--max-anisotropy'")
    return parsed


def parse_fuzziness(fuzzifier: str, value: str) -> float | str | None:
    """A number in the range of the fuzzifier, ``"auto"``, or None for its default."""
    if value == DEFAULT_M:
        return None
    m = _number_or_auto(value, "-m", DEFAULT_M)
    if isinstance(m, str):
        return m
    if fuzzifier == AUTO:
        raise typer.BadParameter("a number needs a --fuzzifier that it belongs to", param_hint="'-m'")
    from kfrc.fuzzifiers import Fuzzifier

    try:
        Fuzzifier.resolve(fuzzifier, m=m)
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="'-m'") from None
    return m


def _number_or_auto(value: str, flag: str, *others: str) -> float | str:
    if value == AUTO:
        return value
    try:
        number = float(value)
    except ValueError:
        number = math.nan
    if math.isnan(number):
        allowed = " nor ".join(repr(word) for word in (AUTO, *others))
        raise typer.BadParameter(f"{value!r} is neither a number nor {allowed}", param_hint=f"'{flag}'")
    return number
