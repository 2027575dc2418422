"""What the program writes for tables of strangers: every file of a run, and the words of every verb."""

from __future__ import annotations

import csv
import datetime
import io
import math
import re
import shutil
import warnings
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import openpyxl
import pandas as pd

from hostile.attack import FINE, REFUSED, Attack, Broken
from hostile.drawn import draw_one
from hostile.pages import NO_NUMBER, check_page, check_text, strict_json
from hostile.program import ending, run
from hostile.strangers import Strange, draw_strange, is_gap, write_matrix, write_strange

QUICK = ("--refits", "2", "-m", "1.5", "--level", "1", "--max-anisotropy", "1", "--starts", "1")
"""A fit with a report that takes half a second."""

_ADDED = ("cluster", "group", "certainty")
_DANGEROUS = "=+-@\t\r＝＋－＠"
_CUTS = re.compile(r"[;,|\t\r\n]")
_UNSEEN = (
    " \u00a0\u200b\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\ufeff\u2028\u2029\x00\x07\x1b\x85"
)
_TIMES = re.compile(r'"(?:seconds|duration|made)": [^,\n]*')


class Results(Attack, name="results"):
    """A table with hostile names and values is clustered, and everything that comes out is held against the table."""

    tries = 1000
    quick = 20

    def attempt(self, rng: np.random.Generator, folder: Path) -> str:
        with no_warning_leaks():
            way = rng.choice(list(_WAYS), p=[0.55, 0.1, 0.15, 0.2])
            return _WAYS[way](rng, folder)


@contextmanager
def no_warning_leaks():
    """Fail if a warning of Python would be shown between the notes."""
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        for kind in (DeprecationWarning, PendingDeprecationWarning, ImportWarning, ResourceWarning):
            warnings.simplefilter("ignore", kind)
        warnings.filterwarnings("ignore", "Glyph .* missing from", UserWarning)  # whose fonts have which signs
        yield
    for warning in seen:
        place = "/".join(Path(warning.filename).parts[-2:])
        raise Broken(f"{warning.category.__name__} from {place}: {str(warning.message)[:60]}")


def _fit(rng: np.random.Generator, folder: Path) -> str:
    path, table = write_strange(draw_strange(rng), folder, rng)
    options = [*_clusters(table.n_rows, rng), *_settings(rng)]
    roles = [word for option, name in table.roles.items() if rng.random() < 0.9 for word in (option, name)]
    return _fitted(path, table, [*options, *roles], rng)


def _fit_matrix(rng: np.random.Generator, folder: Path) -> str:
    path, table = write_matrix(rng, folder)
    m = ["-m", str(rng.choice(["1.2", "2", "60"]))] if rng.random() < 0.7 else []
    named = ["--fuzzifier", "power", *m] if m else []
    clusters = ["-c", str(rng.choice([2, 2, 3, 12]))]
    return _fitted(path, table, [*clusters, "--dissimilarity", "--refits", "2", *named], rng)


def _clusters(n_rows: int, rng: np.random.Generator) -> list[str]:
    if rng.random() < 0.04:
        return ["-c", "auto", "--max-clusters", "3"]
    most = max(n_rows - 1, 2)
    return ["-c", str(rng.choice([*(2, 3) * 6, min(12, most), most, most, n_rows]))]


def _settings(rng: np.random.Generator) -> list[str]:
    chance = rng.random()
    if chance < 0.03:
        kind = ["--memberships", str(rng.choice(["fuzzy", "posterior"]))]
        return ["--refits", "2", "--starts", "1", *kind]  # every choice is left to the program
    chosen = [*QUICK]
    if chance < 0.15:
        chosen += ["--fuzzifier", "power", "-m", "60"]  # which collapses
    for option, values, likely in (
        ("--missing", ("level", "error", "drop"), 0.2),
        ("--outliers", ("keep",), 0.1),
        ("--refits", ("0", "3", "7"), 0.15),
    ):
        if rng.random() < likely:
            chosen += [option, str(rng.choice(values))]
    for flag, likely in (("--no-report", 0.05), ("--no-excel", 0.2), ("--json", 0.2)):
        chosen += [flag] if rng.random() < likely else []
    return chosen


def _fitted(path: Path, table: Strange, options: list[str], rng: np.random.Generator) -> str:
    """Let the program cluster a file, and look at what comes out."""
    out = path.parent / "out"
    arguments = ["fit", str(path), "-o", str(out), *options]
    status, said, messages = run(arguments)
    such = table.says_such()
    check_text(messages, "what is said", says_such=True)
    if status:
        left = sorted(entry.name for entry in path.parent.iterdir() if entry != path)
        if left:
            raise Broken(f"a refused run leaves {left}")
        return REFUSED
    if "--json" in options:
        strict_json(said)
    else:
        check_text(said, "the terminal", says_such=such)
    summary = check_summary(strict_json((out / "summary.json").read_text("utf-8")))
    if "--no-report" not in options:
        check_page((out / "report.html").read_text("utf-8"), says_such=such)
    memberships = check_memberships(_read_csv(out / "memberships.csv"), summary)
    check_clustered(out, table, memberships, messages, matrix="--dissimilarity" in options)
    if rng.random() < 0.6:
        _predicted(path, table, memberships, summary, options, rng)
    if rng.random() < 0.12:
        _run_again(arguments, out)
    return FINE


def check_summary(summary: dict[str, Any]) -> dict[str, Any]:
    """Counts that add up, shares that are shares."""
    clusters = summary["clusters"]
    if len(clusters) != summary["n_clusters"]:
        raise Broken("summary.json has another number of clusters than clusters")
    if sum(cluster["n_rows"] for cluster in clusters) > summary["n_rows"]:
        raise Broken("clusters of summary.json have more rows than there are")
    for column in summary["columns"] or []:
        contribution = column["contribution"]
        if contribution is None or not -1e-9 <= contribution <= 1 + 1e-9:
            raise Broken(f"a column contributes {contribution}")
    for key in ("m", "uniformity", "partition_coefficient", "objective"):
        if key in summary and summary[key] is None:
            raise Broken(f"summary.json: {key} is no number")
    return summary


def _read_csv(path: Path) -> list[list[str]]:
    """Cells of a CSV file, none of which may be a formula."""
    rows = list(csv.reader(io.StringIO(path.read_bytes().decode("utf-8"), newline="")))
    if any(len(row) != len(rows[0]) for row in rows):
        raise Broken(f"rows of {path.name} have different lengths")
    for row in rows:
        for cell in row:
            if not _is_number(cell) and any(
                part.lstrip(_UNSEEN)[:1] in [*"=+-@＝＋－＠"] for part in _CUTS.split(cell)
            ):
                raise Broken(f"{path.name} has a formula\n{cell!r}")
    return rows


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return cell == cell.strip()


def check_memberships(rows: list[list[str]], summary: dict[str, Any]) -> dict[int, tuple[str, np.ndarray]]:
    """Rows that sum to one, with the largest as their group; (label, memberships) by the position of the row."""
    heading, *body = rows
    n_clusters = summary["n_clusters"]
    if heading != ["id", "label", *(f"cluster_{i}" for i in range(n_clusters)), "left_out"]:
        raise Broken(f"memberships.csv has other columns than promised\n{heading}")
    found = {}
    for k, (_, label, *cells, reason) in enumerate(body):
        if not any(cells):
            if label or not reason:
                raise Broken("a row without memberships has a label, or no reason")
            continue
        U = np.array([float(cell) for cell in cells])
        if not np.isfinite(U).all() or U.min() < 0 or abs(U.sum() - 1) > 1e-9:
            raise Broken(f"memberships in the file do not sum to 1\n{cells}")
        if label and U[int(label)] < U.max() - 1e-9:
            raise Broken("the label in the file is not the largest membership")
        if not label and not reason:
            raise Broken("a row with memberships has neither a label nor a reason")
        found[k] = (label, U)
    if len(found) != summary["n_rows"] or len(body) - len(found) != summary["n_left_out"]:
        raise Broken("memberships.csv has another number of rows than summary.json")
    return found


def check_clustered(out: Path, table: Strange, memberships: dict, messages: str, *, matrix: bool) -> None:
    """Every row of the file is there, in order, with its values; the workbook says the same as the CSV file."""
    from kfrc_app.neutral import restored

    heading, *body = [[restored(cell) for cell in row] for row in _read_csv(out / "clustered.csv")]
    n_clusters = len(next(iter(memberships.values()))[1])
    n_original = len(heading) - n_clusters - 5
    for k, (label, U) in memberships.items():
        cluster, _, _, _, *cells, _ = body[k][n_original:]
        if (cluster and int(float(cluster))) != (label and int(label)) or (cluster == "") != (label == ""):
            raise Broken("clustered.csv has another cluster than memberships.csv")
        if np.abs(np.array([float(cell) for cell in cells]) - U).max() > 1e-9:
            raise Broken("clustered.csv has other memberships than memberships.csv")
    if not matrix:
        _check_values(heading[:n_original], [row[:n_original] for row in body], table, messages)
    if (out / "clustered.xlsx").exists():
        _check_workbook(out / "clustered.xlsx", [heading, *body], says_such=table.says_such())


def _check_values(names: list[str], body: list[list[str]], table: Strange, messages: str) -> None:
    if len(body) != table.n_rows:
        if not any(word in messages for word in ("left out", "line", "row", "names of the columns")):
            raise Broken(f"clustered.csv has other rows than the file, without a note\n{messages}")
        return
    if len(names) != len(table.names):
        if "column" not in messages:
            raise Broken(f"clustered.csv has other columns than the file, without a note\n{names}\n{messages}")
        return
    for j, column in enumerate(table.columns):
        for k, value in enumerate(column):
            if not same_value(value, body[k][j]):
                raise Broken(
                    f"a value is another in clustered.csv\n{names[j]!r}: {value!r} is {body[k][j]!r}\n{messages}"
                )


def same_value(written: Any, found: str) -> bool:
    """Whether a cell of clustered.csv holds what stood in the file; marks for missing values are blank."""
    if is_gap(written) or found == "":
        return found == "" and (is_gap(written) or str(written).strip().lower().strip("#.\u200b\ufeff\x00") in _GAPS)
    if isinstance(written, bool):
        return found.lower() in (str(written).lower(), str(int(written)), str(float(written)))
    if isinstance(written, (int, float)):
        return _is_number(found) and float(found) == float(written)
    if isinstance(written, datetime.datetime):
        return pd.Timestamp(found).to_pydatetime() == written
    if " ".join(written.split()) == " ".join(found.split()):
        return True
    return _is_number(written.strip()) and _is_number(found) and float(written) == float(found)


_GAPS = {"", "na", "nan", "null", "none", "n/a", "-", "--", "?", "missing", "nil", "unknown", "ref"}


def _check_workbook(path: Path, expected: list[list[str]], *, says_such: bool) -> None:
    book = openpyxl.load_workbook(path)
    if book.sheetnames != ["table", "clusters", "about"]:
        raise Broken("the workbook has other sheets")
    for sheet in book:
        for cells in sheet.iter_rows():
            for cell in cells:
                if cell.data_type in ("f", "e") or cell.hyperlink is not None:
                    raise Broken(f"the workbook has a formula, an error or a link\n{cell.value!r}")
    for name in ("clusters", "about"):
        words = [str(cell.value) for cells in book[name].iter_rows() for cell in cells if cell.value is not None]
        if not says_such and NO_NUMBER.search("\n".join(words)):
            raise Broken(f"the sheet {name} shows a number that is none")
    rows = [[cell.value for cell in cells] for cells in book["table"].iter_rows()]
    if len(rows) != len(expected):
        raise Broken("the workbook has another number of rows than clustered.csv")
    for row, others in zip(rows, expected, strict=True):
        for value, text in zip(row, others, strict=True):
            if not _same_in_workbook(value, text):
                raise Broken(f"the workbook has another value than clustered.csv\n{value!r}, not {text!r}")


def _same_in_workbook(value: Any, text: str) -> bool:
    if value is None or text == "":
        return (value in (None, "")) and text == ""
    if isinstance(value, datetime.datetime):
        return abs(pd.Timestamp(text).to_pydatetime() - value) < datetime.timedelta(milliseconds=1)
    if isinstance(value, bool):
        return text.lower() == str(value).lower()
    if isinstance(value, (int, float)):
        return math.isclose(float(text), float(value), rel_tol=1e-15)
    return _without_escapes(value) == _without_escapes(text)


def _without_escapes(text: str) -> str:
    """A text without what XML cannot hold, and with one kind of line break."""
    text = re.sub(r"_x([0-9a-fA-F]{4})_", lambda found: chr(int(found[1], 16)), text)
    text = re.sub(r"_x([0-9a-fA-F]{4})_", lambda found: chr(int(found[1], 16)), text)
    return re.sub("[\x00-\x1f\ufffe\uffff\ufffd\ud800-\udfff]+", " ", text).strip()


def _predicted(path, table: Strange, memberships: dict, summary: dict, options: list[str], rng) -> None:
    """Rows of the fit get their memberships again."""
    new = path.parent / "new.csv"
    known = ["--id-column", table.roles["--id-column"]] if "--id-column" in options else []
    status, _, messages = run(["predict", str(path.parent / "out" / "model.skops"), str(path), "-o", str(new), *known])
    if status:
        raise Broken(f"rows of the fit are refused by predict\n{messages}")
    if rng.random() < 0.3:
        said = strict_json(run(["predict", str(path.parent / "out" / "model.skops"), str(path), "--json", *known])[1])
        if len(said["memberships"]) != len(_read_csv(new)) - 1 or said["n_clusters"] != summary["n_clusters"]:
            raise Broken("predict says other memberships as JSON than as CSV")
    again = check_memberships(_read_csv(new), {**summary, **_counted(new)})
    if summary["status"] != "converged":
        return
    both = [k for k in memberships if k in again]
    worst = max((np.abs(memberships[k][1] - again[k][1]).max() for k in both), default=0.0)
    if worst > (1e-5 if summary["m"] >= 30 else 1e-6):
        raise Broken(f"predict gives rows of the fit other memberships\n{worst}\n{messages}")


def _counted(path: Path) -> dict[str, int]:
    body = _read_csv(path)[1:]
    left_out = sum(not any(row[2:-1]) for row in body)
    return {"n_rows": len(body) - left_out, "n_left_out": left_out}


def _run_again(arguments: list[str], out: Path) -> None:
    """The same command writes the same files."""
    first = out.with_name("first")
    shutil.move(out, first)
    run(arguments)
    for path in sorted(first.iterdir()):
        if path.suffix != ".skops" and _timeless(path.read_bytes()) != _timeless((out / path.name).read_bytes()):
            raise Broken(f"{path.name} is another when the same is run again")


def _timeless(content: bytes) -> bytes:
    return _TIMES.sub("", content.decode("latin-1")).encode("latin-1")


def _verb(rng: np.random.Generator, folder: Path) -> str:
    """The verbs that only say something."""
    if rng.random() < 0.15:
        path, table = write_matrix(rng, folder)
        options = ["--dissimilarity"]
    else:
        path, table = write_strange(draw_strange(rng), folder, rng)
        options = [word for option, name in table.roles.items() for word in (option, name)]
    verb = str(rng.choice(["indices", "compare", "diagnose"]))
    clusters = {"indices": ["2", "2-3", "2-4"], "compare": ["2", "3", "12"], "diagnose": ["2", "3", "12"]}[verb]
    options += ["-c", str(rng.choice(clusters))]
    options += ["--refits", str(rng.choice(["0", "2"]))] if verb == "indices" else []
    options += ["--json"] if rng.random() < 0.4 else []
    status, said, messages = run([verb, str(path), *options], told_by=methods() if verb == "compare" else ())
    check_text(messages, "what is said", says_such=True)
    if status == 0 and "--json" in options:
        strict_json(said)
    elif status == 0:
        check_text(said, "the terminal", says_such=table.says_such())
    if [entry for entry in folder.iterdir() if entry != path]:
        raise Broken(f"{verb} leaves files")
    return ending(status)


def methods() -> tuple[str, ...]:
    """Who speaks in the messages of ``kfrc compare``, beside the program."""
    import kfrc
    from kfrc_app.facts.peers import PEERS

    return (*(name for name in kfrc.__all__ if name.isupper()), *(peer.name for peer in PEERS))


def _display(rng: np.random.Generator, folder: Path) -> str:
    return draw_one(rng, folder)


_WAYS = {"fit": _fit, "matrix": _fit_matrix, "verb": _verb, "display": _display}
