"""Tables in pieces at the command line: folders, patterns, predictions, and runs that go on after they were killed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from kfrc.metrics import adjusted_rand_score
from processes import Machines
from waiting import wait_until

N_ROWS = 24_000
SETTINGS = ("-c", "3", "--level", "1", "-m", "1.3", "--max-anisotropy", "2", "--starts", "1")
FILES = {"model.skops", "report.html", "summary.json", "memberships"}


def write_parts(folder: Path, frame: pd.DataFrame, n_parts: int = 3) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for k, part in enumerate(np.array_split(np.arange(len(frame)), n_parts)):
        table = pa.Table.from_pandas(frame.iloc[part], preserve_index=False)
        pq.write_table(table, folder / f"part-{k}.parquet", row_group_size=7000)


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(0)
    labels = rng.integers(3, size=N_ROWS)
    X = 3.0 * rng.standard_normal((3, 4))[labels] + rng.standard_normal((N_ROWS, 4))
    frame = pd.DataFrame(X, columns=["w", "x", "y", "z"])
    frame.insert(0, "patient_id", [f"p{k}" for k in range(N_ROWS)])
    frame["color"] = np.array(["red", "green", "blue"])[(labels + (rng.random(N_ROWS) < 0.4)) % 3]
    frame.loc[rng.random(N_ROWS) < 0.05, "y"] = np.nan
    frame["known"] = labels
    return frame


@pytest.fixture(scope="module")
def parts(frame, tmp_path_factory):
    folder = tmp_path_factory.mktemp("pieces")
    write_parts(folder, frame)
    return folder


@pytest.fixture(scope="module")
def fitted(run, parts, tmp_path_factory):
    out = tmp_path_factory.mktemp("out") / "OUT"
    return out, run("fit", f"{parts}/*.parquet", *SETTINGS, "-o", out, "--label-column", "known")


def memberships(out):
    return pq.read_table(out / "memberships").to_pandas()


def test_a_pattern_of_files_becomes_memberships_of_all_rows_a_model_and_a_report(fitted, frame, parts):
    out, ended = fitted
    assert {path.name for path in out.iterdir()} == FILES
    found = memberships(out)
    assert list(found) == ["patient_id", "label", "cluster_0", "cluster_1", "cluster_2"]
    assert found["patient_id"].tolist() == frame["patient_id"].tolist()
    np.testing.assert_allclose(found.filter(like="cluster_").sum(axis=1), 1.0, atol=1e-12)
    assert adjusted_rand_score(frame["known"], found["label"]) > 0.9
    assert "All 24,000 rows" in ended.out
    assert ended.out.startswith(f"{parts.name}, 5,000 of 24,000 rows, cut into 3 groups")  # a pattern is no name
    assert (out / "memberships" / "_SUCCESS").exists()


def test_the_report_says_that_it_shows_a_sample(fitted):
    out, ended = fitted
    words = "5,000 of 24,000 rows, chosen at random"
    assert words in ended.err
    assert words in (out / "report.html").read_text(encoding="utf-8")


def test_the_summary_counts_all_rows(fitted, parts):
    out, _ = fitted
    document = json.loads((out / "summary.json").read_text(encoding="utf-8"))
    about = document["rows_beyond_memory"]
    sizes = memberships(out)["label"].value_counts().sort_index()
    assert about["n_rows"] == N_ROWS
    assert about["cluster_sizes"] == sizes.tolist()
    assert [Path(file).name for file in about["files"]] == ["part-0.parquet", "part-1.parquet", "part-2.parquet"]
    assert document["n_rows"] == 5000


@pytest.mark.slow
def test_a_folder_and_text_files_give_the_same_memberships(run, fitted, frame, parts, tmp_path):
    run("fit", parts, *SETTINGS, "-o", tmp_path / "A", "--label-column", "known", "--no-report")
    pd.testing.assert_frame_equal(memberships(tmp_path / "A"), memberships(fitted[0]))
    frame.to_csv(tmp_path / "rows.csv", index=False)
    options = ("--memory", "100MB", "--label-column", "known", "--no-report")
    run("fit", tmp_path / "rows.csv", *SETTINGS, "-o", tmp_path / "B", *options)
    pd.testing.assert_frame_equal(memberships(tmp_path / "B"), memberships(fitted[0]))


def test_predictions_of_files_are_written_to_a_folder(run, fitted, parts, tmp_path):
    out, _ = fitted
    ended = run(
        "predict", out / "model.skops", f"{parts}/*.parquet", "-o", tmp_path / "new", "--id-column", "patient_id"
    )
    assert "Memberships of 24,000 rows written" in ended.out
    found = pq.read_table(tmp_path / "new").to_pandas()
    pd.testing.assert_frame_equal(found, memberships(out), atol=1e-9)


def test_predictions_of_files_need_a_folder_and_the_columns_of_the_fit(run, fitted, parts, frame, tmp_path):
    out, _ = fitted
    assert "need a folder" in run("predict", out / "model.skops", parts, code=2).err
    write_parts(tmp_path / "other", frame.drop(columns="x"))
    ended = run("predict", out / "model.skops", tmp_path / "other", "-o", tmp_path / "new", code=1)
    assert "has no column 'x'" in ended.err
    assert not (tmp_path / "new").exists()


@pytest.mark.slow
def test_diagnose_looks_at_a_sample_and_says_so(run, frame, tmp_path):
    write_parts(tmp_path / "rows", frame[["w", "x"]])
    ended = run("diagnose", tmp_path / "rows", "-c", "3")
    assert "20,000 of 24,000 rows" in ended.err
    assert "Does it collapse? (20,000 rows, 2 columns, 3 clusters)" in ended.out


@pytest.mark.slow
def test_weights_are_a_column_of_the_files(run, frame, tmp_path):
    write_parts(tmp_path / "rows", frame[["w", "x"]].assign(count=np.tile([1, 2, 0], N_ROWS // 3)))
    out = tmp_path / "OUT"
    ended = run("fit", tmp_path / "rows", *SETTINGS, "-o", out, "--weight-column", "count", "--no-report", "--json")
    assert sum(ended.document["rows_beyond_memory"]["cluster_sizes"]) == N_ROWS


@pytest.mark.parametrize(
    ("break_it", "words"),
    [
        (lambda folder: (folder / "part-1.parquet").write_bytes(b"no table"), r"part-1.parquet is no Parquet file"),
        (
            lambda folder: pq.write_table(pa.table({"w": [1.0]}), folder / "part-1.parquet"),
            "part-1.parquet lacks",
        ),
        (lambda folder: _damage(folder / "part-1.parquet"), "part-1.parquet"),
        (lambda folder: [path.unlink() for path in folder.iterdir()], "there are no Parquet files"),
    ],
    ids=["no table", "other columns", "damaged", "no files"],
)
def test_bad_files_are_one_line_and_nothing_is_called_finished(break_it, words, run, frame, tmp_path):
    write_parts(tmp_path / "rows", frame[["w", "x"]])
    break_it(tmp_path / "rows")
    ended = run("fit", tmp_path / "rows", *SETTINGS, "-o", tmp_path / "OUT", code=1)
    assert words in ended.err
    assert len(ended.err.strip().splitlines()) == 1
    assert not (tmp_path / "OUT" / "summary.json").exists()
    assert not (tmp_path / "OUT" / "memberships" / "_SUCCESS").exists()


def _damage(path):
    content = bytearray(path.read_bytes())
    middle = len(content) // 2
    content[middle - 20_000 : middle + 20_000] = os.urandom(40_000)
    path.write_bytes(content)


@pytest.mark.slow
def test_an_empty_part_is_no_problem(run, frame, tmp_path):
    write_parts(tmp_path / "rows", frame[["w", "x"]])
    empty = pa.Table.from_pandas(frame[["w", "x"]][:0], preserve_index=False)
    pq.write_table(empty, tmp_path / "rows" / "part-1a.parquet")
    run("fit", tmp_path / "rows", *SETTINGS, "-o", tmp_path / "OUT", "--no-report")
    assert len(memberships(tmp_path / "OUT")) == N_ROWS


def test_a_scheduler_that_does_not_answer_is_one_line(run, parts, tmp_path, monkeypatch):
    monkeypatch.setattr("kfrc.blocks.connection.CONNECT_TIMEOUT", 0.3)
    ended = run("fit", parts, *SETTINGS, "-o", tmp_path / "OUT", "--scheduler", "tcp://127.0.0.1:9", code=1)
    assert ended.err.strip().splitlines()[-1].startswith("kfrc: no Dask scheduler answers at tcp://127.0.0.1:9")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--memory", "little"), "memory must be at least 10 MB"),
        (("--sheet", "A"), "--sheet has no meaning"),
        (("--missing", "drop"), "--missing drop needs the whole table in memory"),
        (("--kernel", "product"), "product kernel needs all rows at once"),
    ],
)
def test_options_that_pieces_cannot_have_are_refused(options, words, run, parts, tmp_path):
    code = 1 if options[0] in ("--missing", "--kernel") else 2
    assert words in run("fit", parts, *SETTINGS, "-o", tmp_path / "OUT", *options, code=code).err


def test_results_are_replaced_only_if_that_is_asked_for(run, fitted, parts):
    out, _ = fitted
    assert "exists already" in run("fit", parts, *SETTINGS, "-o", out, code=1).err


@pytest.mark.slow
def test_a_full_disk_is_one_line_and_the_run_can_go_on(run, parts, fitted, tmp_path, monkeypatch):
    out = tmp_path / "OUT"
    command = ("fit", parts, *SETTINGS, "-o", out, "--label-column", "known", "--no-report")

    write_table = pq.ParquetWriter.write_table

    def full(writer, table, *arguments, **options):
        if "cluster_0" in table.column_names:
            raise OSError(28, "No space left on device")
        return write_table(writer, table, *arguments, **options)

    with monkeypatch.context() as patch:
        patch.setattr(pq.ParquetWriter, "write_table", full)
        ended = run(*command, code=1)
    assert "No space left on device" in ended.err
    assert "Repeat the command to go on" in ended.err
    assert not (out / "summary.json").exists()
    assert not list((out / "memberships").iterdir())
    assert "an earlier run was continued" in run(*command).out
    pd.testing.assert_frame_equal(memberships(out), memberships(fitted[0]))
    assert {path.name for path in out.iterdir()} == FILES - {"report.html"}


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs kill -9")
def test_a_run_that_was_killed_goes_on_at_the_pass_where_it_stopped(parts, fitted, tmp_path):
    out = tmp_path / "OUT"
    program = Path(sys.executable).parent / "kfrc"
    words = ["fit", str(parts), *SETTINGS, "-o", str(out), "--label-column", "known", "--no-report", "--refits", "0"]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    first = subprocess.Popen([program, *words], env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    wait_until((out / "unfinished" / "passes.skops").exists)
    first.kill()
    first.wait()
    if not (out / "summary.json").exists():  # killed in time, as is usual
        began = (out / "unfinished" / "survey.skops").stat().st_mtime_ns
        kept = (out / "unfinished" / "sample.skops").stat().st_mtime_ns
        second = subprocess.run([program, *words], env=environment, capture_output=True, text=True, check=True)
        assert "an earlier run was continued" in second.stdout
        assert began < kept
    pd.testing.assert_frame_equal(memberships(out), memberships(fitted[0]))
    assert {path.name for path in out.iterdir()} == FILES - {"report.html"}


def test_another_question_begins_anew(run, parts, tmp_path):
    from kfrc_app.runs.checkpoint import FolderCheckpoint

    first = FolderCheckpoint(tmp_path, {"seed": 0})
    first.begin()
    first.save("survey", {"a": np.arange(3)})
    assert FolderCheckpoint(tmp_path, {"seed": 0}).resumed
    again = FolderCheckpoint(tmp_path, {"seed": 0})
    np.testing.assert_array_equal(again.load("survey")["a"], np.arange(3))
    assert again.load("sample") is None
    (again.folder / "sample.skops").write_bytes(b"damaged")
    assert again.load("sample") is None
    other = FolderCheckpoint(tmp_path, {"seed": 1})
    assert not other.resumed
    assert not other.folder.exists()


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs processes of its own")
def test_workers_of_a_scheduler_give_the_same_memberships(run, parts, fitted, tmp_path):
    machines = Machines(tmp_path)
    try:
        address, _, _ = machines.cluster(1)
        out = tmp_path / "OUT"
        options = ("--label-column", "known", "--no-report", "--scheduler", address)
        run("fit", parts, *SETTINGS, "-o", out, *options)
    finally:
        machines.stop()
    pd.testing.assert_frame_equal(memberships(out), memberships(fitted[0]))
