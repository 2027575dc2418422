"""``kfrc study``: what it prints, what it writes, and how it ends."""

from __future__ import annotations

import io
import json
import subprocess
import sys

import fake_study
import pandas as pd
import pytest
from rich.console import Console
from typer.testing import CliRunner

from kfrc_app.cli import study as verbs
from kfrc_app.study.progress import Failure, RichProgress, StudyProgress
from kfrc_app.study.store import StudyStore

pytestmark = pytest.mark.slow


@pytest.fixture
def call(monkeypatch):
    """Run a verb on the fake study; returns (exit code, output, messages)."""
    fake_study.install(monkeypatch.setattr)

    def call_in_process(*arguments):
        result = CliRunner().invoke(verbs.app, [str(argument) for argument in arguments])
        assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
        return result.exit_code, result.stdout, result.stderr

    return call_in_process


@pytest.fixture
def done(call, tmp_path):
    """Folder of a finished study."""
    assert call("run", "synthetic", "--out", tmp_path / "done")[0] == 0
    return tmp_path / "done"


def test_run_says_what_it_did_and_resumes(call, tmp_path):
    code, output, errors = call("run", "synthetic", "--out", tmp_path / "out")
    assert code == 0
    assert "24 of 24 tasks done: 24 computed" in output
    assert "synthetic smoke: 24 of 24" in errors
    code, output, _ = call("run", "synthetic", "--out", tmp_path / "out", "--n-jobs", 2)
    assert code == 0
    assert "0 computed" in output
    assert "24 from earlier runs" in output


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("other",), "unknown study 'other'"),
        (("synthetic", "--n-jobs", "0"), "--n-jobs must be positive"),
        (("synthetic", "--scheduler", "host"), "must be an address"),
        (("synthetic", "--scheduler", "tcp://127.0.0.1:9", "--n-jobs", "2"), "leave it out"),
        (("synthetic", "--optimizer", "other"), "unknown optimizer 'other'"),
        (("synthetic", "--data", "nowhere-at-all"), "nowhere-at-all"),
        ((), "study"),
    ],
)
def test_a_wrong_call_ends_with_2_and_makes_no_folder(call, tmp_path, arguments, message):
    code, _, errors = call("run", *arguments, "--out", tmp_path / "out")
    assert code == 2
    assert message in errors.replace("\n", " ")
    assert not (tmp_path / "out").exists()


def test_other_settings_into_the_same_folder_end_with_2(call, done):
    code, _, errors = call("run", "synthetic", "--out", done, "--optimizer", "momentum")
    assert code == 2
    assert "optimizer 'lbfgs' (asked for 'momentum')" in errors
    assert errors.count("\n") == 1


def test_failures_end_with_1_and_are_retried_on_request(call, tmp_path, monkeypatch):
    trouble = tmp_path / "trouble"
    trouble.write_text("synthetic-003 raise")
    monkeypatch.setenv("FAKE_TROUBLE", str(trouble))
    for _ in range(2):
        code, output, errors = call("run", "synthetic", "--out", tmp_path / "out")
        assert code == 1
        assert "synthetic-003: ArithmeticError: no luck with 3" in output
        assert "1 of 24 tasks failed; --retry-failed tries them again" in errors
    code, output, _ = call("status", tmp_path / "out")
    assert code == 0
    assert "synthetic-003: ArithmeticError: no luck with 3" in output
    trouble.write_text("")
    assert call("run", "synthetic", "--out", tmp_path / "out", "--retry-failed")[0] == 0


def test_status_counts_and_estimates_from_the_recorded_seconds(call, tmp_path):
    out = tmp_path / "out"
    tasks = fake_study.fake_tasks()
    settings = {"study": "synthetic", "preset": "seed", "optimizer": "lbfgs", "data": None}
    store = StudyStore.create(out, tasks, settings=settings)
    code, output, _ = call("status", out)
    assert code == 0
    assert "unknown before the first task" in output
    store.write(tasks[0].key, [{"x": 1}], 300.0)
    store.write(tasks[1].key, [{"x": 1}], 500.0)
    store.write_failure(tasks[2].key, Failure("ValueError: two\nlines"))
    store.shard_path(tasks[3].key).write_bytes(b"")
    lines = call("status", out)[1].splitlines()
    assert lines[0].startswith("study      synthetic, seed, lbfgs (kfrc ")
    assert lines[1:5] == [
        "done       2 of 24",
        "failed     1",
        "damaged    1 (computed again by the next run)",
        "remaining  21",
    ]
    assert lines[5] == "time left  about 2 h 20 min of computing, divided among the workers"
    assert lines[6] == "  synthetic-002: ValueError: two lines"
    with store.lock(workers=2):
        lines = call("status", out)[1].splitlines()
    assert lines[0].endswith(", running")
    assert lines[5] == "time left  about 1 h 10 min with 2 workers"


def test_many_failures_are_cut_short(call, tmp_path, monkeypatch):
    trouble = tmp_path / "trouble"
    trouble.write_text("\n".join(f"{task.key} raise" for task in fake_study.fake_tasks()))
    monkeypatch.setenv("FAKE_TROUBLE", str(trouble))
    assert "  and 4 more" in call("run", "synthetic", "--out", tmp_path / "out")[1]
    assert call("tables", tmp_path / "out")[0] == 1


def test_tables_are_written_three_ways_and_printed(call, done):
    code, output, errors = call("tables", done)
    assert (code, errors) == (0, "")
    assert sorted(path.name for path in (done / "tables").iterdir()) == [
        f"{name}.{suffix}" for name in ("bits", "means") for suffix in ("csv", "md", "tex")
    ]
    assert "## means\n\n| method | mean |" in output
    assert (done / "tables" / "means.md").read_text() in output
    assert r"\toprule" in (done / "tables" / "means.tex").read_text()
    means = pd.read_csv(done / "tables" / "means.csv")
    assert means["count"].to_list() == [24, 24, 24]


def test_tables_of_an_unfinished_study_say_what_is_missing(call, done):
    store = StudyStore(done)
    store.shard_path("synthetic-000").unlink()
    code, output, errors = call("tables", done)
    assert code == 0
    assert "1 of 24 tasks are missing" in errors
    assert "| 23 |" in output


def test_tables_of_damaged_results_end_with_1(call, done):
    StudyStore(done).shard_path("synthetic-000").write_bytes(b"rubbish")
    code, output, errors = call("tables", done)
    assert (code, output) == (1, "")
    assert "run the study again to recompute it" in errors


def test_figures_are_drawn_into_the_folder(call, done):
    code, output, _ = call("figures", done)
    assert code == 0
    assert output.split() == [str(done / "figures" / "figure.txt")]
    assert (done / "figures" / "figure.txt").read_text() == "synthetic 72"


@pytest.mark.parametrize("verb", ["status", "tables", "figures"])
def test_a_folder_without_a_study_ends_with_2(call, tmp_path, verb):
    code, _, errors = call(verb, tmp_path)
    assert code == 2
    assert "not the folder of a study" in errors


def test_an_interrupt_ends_with_130_and_a_hint(call, tmp_path, monkeypatch):
    def interrupted(*arguments, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr("kfrc_app.study.executors.run_tasks", interrupted)
    code, _, errors = call("run", "synthetic", "--out", tmp_path / "out")
    assert code == 130
    assert "the same command resumes" in errors


def test_a_folder_that_is_a_file_ends_with_1(call, tmp_path):
    (tmp_path / "file").write_text("")
    code, _, errors = call("run", "synthetic", "--out", tmp_path / "file")
    assert code == 1
    assert "cannot write" in errors


def test_the_bar_shows_progress_failures_and_notes_on_a_terminal():
    console = Console(force_terminal=True, record=True, width=100, file=io.StringIO())
    with RichProgress(console, "study") as progress:
        progress.begin(3, 1)
        progress.advance("one")
        progress.advance("two", Failure("no [luck]"))
        progress.note("look")
    text = console.export_text()
    assert "two failed: no [luck]" in text
    assert "look" in text
    assert "3/3" in text


def test_the_silent_progress_says_nothing(capsys):
    with StudyProgress() as progress:
        progress.begin(1, 0)
        progress.advance("one")
        progress.note("look")
    assert capsys.readouterr() == ("", "")


def test_the_verbs_run_as_a_module(done):
    command = [sys.executable, "-m", "kfrc_app.cli.study", "status", str(done)]
    finished = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "done       24 of 24" in finished.stdout
    assert json.loads((done / "manifest.json").read_text())["settings"]["study"] == "synthetic"
