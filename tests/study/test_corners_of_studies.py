"""What is rare in a study: short tables, chosen seeds, damaged summaries, given data sets."""

from __future__ import annotations

import json
import os
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import SimpleNamespace

import fake_study
import numpy as np
import pytest
import test_summary
from typer.testing import CliRunner

from kfrc.exceptions import InfeasibleBandwidthError
from kfrc.fuzzifiers import Power
from kfrc_app.cli import study as verbs
from kfrc_app.study import cell, executors, store
from kfrc_app.study.clusterings import Clusterings, Scores
from kfrc_app.study.datasets import GIVEN_FILE, StudyData, load_task_data
from kfrc_app.study.design import SMALL_GRID, StudyTask, study_tasks
from kfrc_app.study.errors import CorruptShardError, StudyError
from kfrc_app.study.executors import DaskExecutor, LostSchedulerError, Outcome
from kfrc_app.study.progress import StudyProgress
from kfrc_app.study.store import StudyStore, fingerprint
from kfrc_app.study.summary import Summary

pytestmark = pytest.mark.slow

records = test_summary.records  # a fixture
VERSIONS = {"numpy": "2.0", "scipy": "1.15"}


def call(*arguments):
    return CliRunner().invoke(verbs.app, [str(argument) for argument in arguments])


@pytest.fixture
def small(records, tmp_path):
    """Folder of a summary."""
    Summary.of(records, {"version": "x"}).write(tmp_path / "small")
    return tmp_path / "small"


@pytest.fixture
def real(monkeypatch, tmp_path):
    """Folder of a finished study of real data sets."""
    fake_study.install(monkeypatch.setattr)
    assert call("run", "real", "--out", tmp_path / "real").exit_code == 0
    return tmp_path / "real"


def test_one_measure_has_a_column_per_number_of_clusters_and_a_table_over_all_cells(small):
    result = call("tables", small, "--measure", "ari")
    assert result.exit_code == 0
    assert "| method | snr | c = 2 |" in result.stdout
    without_labels = result.stdout.partition("## without_labels")[2].partition("## ")[0]
    assert "KFRC" in without_labels
    assert "KMeans" not in without_labels
    assert "## over_cells" in result.stdout
    assert "fari_fuzzy" in (small / "tables" / "paper.csv").read_text()


def test_an_unknown_measure_ends_with_2_and_names_those_that_there_are(small):
    result = call("tables", small, "--measure", "accuracy")
    assert result.exit_code == 2
    assert "unknown measure 'accuracy': choose one of ari, ami" in " ".join(result.stderr.split())
    assert not (small / "tables").exists()


def test_real_data_sets_have_no_short_tables_and_no_summary(real, tmp_path):
    result = call("tables", real, "--measure", "ari")
    assert result.exit_code == 2
    assert "only the synthetic study has short tables" in result.stderr
    result = call("summarize", real, "--out", tmp_path / "small")
    assert result.exit_code == 2
    assert "only the synthetic study has a summary" in result.stderr
    assert not (tmp_path / "small").exists()


def test_without_a_complete_seed_there_is_no_summary(records, tmp_path):
    tasks = [StudyTask("synthetic", f"{dataset:03d}", 1) for dataset in (0, 1)]
    begun = StudyStore.create(tmp_path / "run", tasks, settings={"study": "synthetic"})
    of_task = records[records["task"] == tasks[0].key]
    begun.write(tasks[0].key, of_task.astype(object).where(of_task.notna(), None).to_dict("records"), seconds=1.0)
    result = call("summarize", tmp_path / "run", "--out", tmp_path / "small")
    assert result.exit_code == 1
    assert "no seed is complete yet" in result.stderr
    assert not (tmp_path / "small").exists()


@pytest.mark.parametrize(("text", "expected"), [("4", [4]), ("2-4", [2, 3, 4])])
def test_seeds_can_be_chosen_and_are_noted(monkeypatch, tmp_path, text, expected):
    fake_study.install(monkeypatch.setattr)
    asked = []
    tasks = fake_study.fake_tasks()

    def noted(*arguments, seeds, **settings):
        asked.append(seeds)
        return tasks[:2]

    monkeypatch.setattr("kfrc_app.study.design.study_tasks", noted)
    assert call("run", "synthetic", "--out", tmp_path / "out", "--seeds", text).exit_code == 0
    assert asked == [expected]
    assert StudyStore(tmp_path / "out").settings["seeds"] == text


def test_seeds_of_a_study_are_those_that_are_given_and_real_data_sets_have_none():
    found = study_tasks("synthetic", "smoke", seeds=[3, 8])
    assert {task.seed for task in found} == {3, 8}
    assert len(found) == 2 * len(study_tasks("synthetic", "smoke"))
    with pytest.raises(ValueError, match="the real study has no seeds"):
        study_tasks("real", "smoke", seeds=[3])


def test_a_summary_knows_whether_several_sets_of_versions_computed_it(records):
    other = {**VERSIONS, "numpy": "2.1"}
    assert Summary.of(records, {"packages": [VERSIONS]}).mixture == []
    assert Summary.of(records, {"packages": [VERSIONS, other]}).mixture == [VERSIONS, other]
    assert Summary.of(records, {"packages": [VERSIONS, other, "numpy 3"]}).mixture == [VERSIONS, other]


def test_a_summary_whose_checksums_are_no_table_is_damaged(small):
    about = json.loads((small / "about.json").read_text())
    (small / "about.json").write_text(json.dumps({**about, "checksums": ["x"]}))
    with pytest.raises(StudyError, match=r"about\.json"):
        Summary.read(small)
    assert call("tables", small).exit_code != 0


@dataclass(frozen=True)
class Nested:
    """A task with a folder and a mapping."""

    place: Path
    options: dict[str, int] = field(default_factory=dict)
    key: str = "one"


def test_paths_and_mappings_are_part_of_what_a_task_is():
    task = Nested(Path("a"), {"x": 1})
    assert fingerprint(task) == fingerprint(Nested(Path("a"), {"x": 1}))
    assert fingerprint(task) != fingerprint(replace(task, place=Path("b")))
    assert fingerprint(task) != fingerprint(replace(task, options={"x": 2}))


def test_a_shard_whose_versions_are_none_is_damaged(tmp_path):
    task = fake_study.FakeTask(0)
    made = StudyStore.create(tmp_path, [task])
    content = store._encode([{"x": 1}], {"seconds": "1", "packages": '["numpy"]'})
    made.shard_path(task.key).write_bytes(content)
    with pytest.raises(CorruptShardError, match=r"is damaged \(no versions\); run the study again"):
        made._read(task.key)
    content = store._encode([{"x": 1}], {"seconds": "soon"})
    made.shard_path(task.key).write_bytes(content)
    with pytest.raises(CorruptShardError, match=r"is damaged \(ValueError\)"):
        made._read(task.key)


def test_a_study_that_another_process_began_meanwhile_is_not_begun_again(tmp_path, monkeypatch):
    tasks = [fake_study.FakeTask(0)]
    begun = []

    @contextmanager
    def late(folder):
        monkeypatch.undo()
        begun.append(StudyStore.create(folder, tasks, settings={"study": "synthetic"}))
        yield True

    monkeypatch.setattr(store, "exclusive", late)
    with pytest.raises(StudyError, match="study"):
        StudyStore.create(tmp_path, tasks, settings={"study": "real"})
    assert StudyStore(tmp_path).settings == {"study": "synthetic"}


def test_data_sets_of_a_folder_are_taken_as_they_are(tmp_path):
    rng = np.random.default_rng(0)
    X, labels = rng.normal(size=(30, 4)), np.repeat([0, 1, 2], 10)
    arrays = {"X": X, "labels": labels, "posteriors": np.eye(3)[labels]}
    np.savez(tmp_path / GIVEN_FILE.format(seed=7), **{f"d005__{name}": value for name, value in arrays.items()})
    data = load_task_data(StudyTask("synthetic", "005", 7, data_dir=str(tmp_path)))
    np.testing.assert_allclose(data.X, (X - X.mean(axis=0)) / X.std(axis=0, ddof=1))
    np.testing.assert_array_equal(data.labels, labels)
    np.testing.assert_array_equal(data.posteriors, np.eye(3)[labels])


def test_real_data_sets_have_no_posteriors():
    data = load_task_data(StudyTask("real", "wine", 1))
    assert data.X.shape == (178, 13)
    assert (data.posteriors, data.n_clusters, data.facts) == (None, 3, {"dataset": "wine"})


def test_scores_without_posteriors_are_those_of_the_labels():
    labels = np.repeat([0, 1], 10)
    scores = Scores(StudyData(np.zeros((20, 1)), labels, None, 2, {}))
    found = scores.of(np.eye(2)[labels])
    assert {*found} == {"ari", "ami", "fari_crisp", "uniformity", "undecided"}
    assert found["undecided"] == 0.0
    assert found["ari"] == pytest.approx(1.0)
    fuzzier = scores.of(0.8 * np.eye(2)[labels] + 0.1)
    assert (fuzzier["ari"], fuzzier["ami"]) == (found["ari"], found["ami"])
    assert fuzzier["uniformity"] > found["uniformity"]


def test_a_clustering_that_is_known_is_not_computed_again(monkeypatch):
    rng = np.random.default_rng(0)
    labels = np.repeat([0, 1], 15)
    X = rng.normal(size=(30, 2)) + 4.0 * labels[:, None]
    scores = Scores(StudyData(X, labels, np.eye(2)[labels], 2, {}))
    clusterings = Clusterings(2, scores, 0)
    family = cell.explore_bandwidths(X, kernel="sum", max_anisotropy=1.0, n_starts=1, random_state=0).space.family
    first = clusterings.outcome(family, np.zeros(2), Power(1.5))
    monkeypatch.setattr("kfrc_app.study.clusterings.descend", None)
    assert clusterings.outcome(family, np.zeros(2), Power(1.5)) == first
    assert first["status"] == "converged"


def test_what_no_bandwidths_reach_is_told_as_infeasible_also_for_larger_thresholds(monkeypatch):
    task = StudyTask("synthetic", "000", 1, grid=replace(SMALL_GRID, kernels=("sum",), anisotropies=(1.0,), n_starts=1))

    def nowhere(*_, threshold, **__):
        raise InfeasibleBandwidthError("nothing", best_eigenvalue=0.1, threshold=threshold)

    monkeypatch.setattr(cell, "select_bandwidths", nowhere)
    data = load_task_data(task)
    found = list(cell._kfrc_records(task, data, Scores(data)))
    assert found
    assert all(record["feasible"] is False and "ari" not in record for record in found)


class CancelledError(Exception):
    """What a future says whose scheduler is gone."""


def cluster_of(monkeypatch, result):
    """A cluster without workers, whose futures end as the test says."""
    future = SimpleNamespace(status="cancelled", key=None, result=result, release=lambda: None)

    def submitted(function, tasks, key, pure):
        future.key = key[0]
        return [future]

    client = SimpleNamespace(nthreads=dict, map=submitted, loop=None)
    package = SimpleNamespace(
        CancelledError=CancelledError, KilledWorker=ZeroDivisionError, as_completed=lambda futures, loop: futures
    )
    monkeypatch.setattr(executors, "quiet_dask", lambda: package)
    monkeypatch.setattr(DaskExecutor, "_client", lambda self, distributed: nullcontext(client))
    return DaskExecutor("tcp://127.0.0.1:9")


class Told(StudyProgress):
    """Keeps what it is told."""

    def __init__(self):
        self.notes = []

    def note(self, text):
        self.notes.append(text)


def test_a_scheduler_without_workers_is_told_and_waited_for(monkeypatch):
    task, told = fake_study.FakeTask(0), Told()
    expected = Outcome(task.key, [], None, 0.0)
    executor = cluster_of(monkeypatch, lambda: expected)
    assert list(executor.outcomes([task], fake_study.draw, told)) == [expected]
    assert told.notes == ["the scheduler at tcp://127.0.0.1:9 has no workers yet; waiting for them"]


def test_futures_that_were_cancelled_are_a_lost_scheduler_and_no_fault_of_the_tasks(monkeypatch):
    def cancelled():
        raise CancelledError

    executor = cluster_of(monkeypatch, cancelled)
    with pytest.raises(LostSchedulerError, match=r"lost the connection .* finished tasks are kept"):
        list(executor.outcomes([fake_study.FakeTask(0)], fake_study.draw, Told()))


@pytest.mark.parametrize("pid", [0, -1, 2**31])
def test_a_note_of_a_process_that_cannot_be_is_of_no_run(tmp_path, pid):
    made = StudyStore.create(tmp_path, [fake_study.FakeTask(0)])
    with made.lock(workers=3):
        (note,) = [path for path in tmp_path.iterdir() if path.is_file() and b'"pid"' in path.read_bytes()]
        found = json.loads(note.read_text())
        assert found["pid"] == os.getpid()
        assert made.last_run() == (True, 3)
        note.write_text(json.dumps({**found, "pid": pid}))
        assert made.last_run() == (False, 3)
