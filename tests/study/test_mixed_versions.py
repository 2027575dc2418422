"""Results of other versions of numpy and the like are never added to in silence."""

from __future__ import annotations

import json
from dataclasses import replace

import fake_study
import numpy as np
import pytest
import scipy
import sklearn
from typer.testing import CliRunner

from kfrc_app.cli import study as verbs
from kfrc_app.study import executors
from kfrc_app.study.errors import SettingsError, StudyError
from kfrc_app.study.executors import attempt, run_tasks
from kfrc_app.study.manifest import Manifest
from kfrc_app.study.packages import installed_packages
from kfrc_app.study.store import StudyStore

pytestmark = pytest.mark.slow

TASKS = [fake_study.FakeTask(index) for index in range(4)]
SETTINGS = {"study": "synthetic"}


def call(*arguments):
    result = CliRunner().invoke(verbs.app, [str(argument) for argument in arguments])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result.exit_code, result.stdout, result.stderr


@pytest.fixture(autouse=True)
def _fakes(monkeypatch):
    fake_study.install(monkeypatch.setattr)
    monkeypatch.setattr(fake_study, "N_TASKS", 4)


@pytest.fixture
def begun(tmp_path):
    """Folder of a study of which one task is missing."""
    assert call("run", "synthetic", "--out", tmp_path / "out")[0] == 0
    StudyStore(tmp_path / "out").shard_path("synthetic-003").unlink()
    return tmp_path / "out"


def test_the_manifest_and_every_shard_say_which_versions_computed_them(begun):
    recorded = json.loads((begun / "manifest.json").read_text())["packages"]
    assert recorded["numpy"] == np.__version__
    assert recorded["scipy"] == scipy.__version__
    assert recorded["scikit-learn"] == sklearn.__version__
    assert {"python", "blas"} < set(recorded)
    store = StudyStore(begun)
    assert store.packages == recorded
    assert list(store.state().packages.values()) == [recorded] * 3
    assert f"numpy {np.__version__}" in call("status", begun)[1]


@pytest.mark.parametrize(
    ("module", "name"),
    [(np, "numpy"), (scipy, "scipy"), (sklearn, "scikit-learn")],
    ids=["numpy", "scipy", "scikit-learn"],
)
def test_a_study_of_other_versions_is_not_resumed(begun, monkeypatch, module, name):
    before = module.__version__
    monkeypatch.setattr(module, "__version__", "9.9.9")
    code, output, errors = call("run", "synthetic", "--out", begun)
    assert (code, output) == (2, "")
    assert errors.count("\n") == 1
    assert f"{name} {before} (here 9.9.9)" in errors
    assert "--mixed" in errors
    assert len(StudyStore(begun).state().seconds) == 3


def test_a_refused_run_moves_no_damaged_shard(begun, monkeypatch):
    path = StudyStore(begun).shard_path("synthetic-000")
    path.write_bytes(b"rubbish")
    monkeypatch.setattr(np, "__version__", "9.9.9")
    assert call("run", "synthetic", "--out", begun)[0] == 2
    assert path.read_bytes() == b"rubbish"


def test_a_mixed_study_says_so_wherever_its_results_are_shown(begun, tmp_path, monkeypatch):
    before = np.__version__
    monkeypatch.setattr(np, "__version__", "9.9.9")
    code, output, _ = call("run", "synthetic", "--out", begun, "--mixed")
    assert code == 0
    assert "1 computed" in output
    for version in (before, "9.9.9"):
        (line,) = (line for line in call("status", begun)[1].splitlines() if line.startswith("mixed"))
        assert f"numpy {version}" in line
        assert f"numpy {version}" in call("tables", begun)[2]
    monkeypatch.setattr(np, "__version__", before)
    assert call("run", "synthetic", "--out", begun)[0] == 2  # said again each time


def test_a_study_of_one_set_of_versions_is_not_called_mixed(begun):
    assert not any(line.startswith("mixed") for line in call("status", begun)[1].splitlines())
    assert "versions" not in call("tables", begun)[2]


def without_record(folder):
    """What the folder held before versions were recorded."""
    manifest = Manifest.read(folder)
    content = {"format": 1, "version": manifest.version, "settings": manifest.settings, "tasks": manifest.tasks}
    from kfrc_app.study.manifest import canonical, digest

    (folder / "manifest.json").write_text(json.dumps(content | {"checksum": digest(canonical(content))}))
    store = StudyStore(folder)
    for key in store.state().seconds:
        store.write(key, fake_study.draw(next(task for task in TASKS if task.key == key)), 1.0, {})


def test_a_study_from_before_versions_were_recorded_is_shown_but_not_resumed_in_silence(begun):
    without_record(begun)
    assert "not recorded" in call("status", begun)[1]
    assert call("tables", begun)[0] == 0
    code, _, errors = call("run", "synthetic", "--out", begun)
    assert code == 2
    assert errors.count("\n") == 1
    assert "not recorded" in errors
    assert "--mixed" in errors
    assert call("run", "synthetic", "--out", begun, "--mixed")[0] == 0
    assert "not recorded; and python" in call("status", begun)[1]


def test_a_new_manifest_does_not_hide_the_versions_of_the_results_that_are_there(begun, monkeypatch):
    (begun / "manifest.json").unlink()
    monkeypatch.setattr(np, "__version__", "9.9.9")
    code, _, errors = call("run", "synthetic", "--out", begun)
    assert code == 2
    assert "(here 9.9.9)" in errors


def outcomes_of_another_worker(monkeypatch, tmp_path):
    """A worker with another scipy computes the second task."""

    def attempt_there(run, task):
        outcome = attempt(run, task)
        there = installed_packages() | ({"scipy": "0.0.1"} if task.index == 1 else {})
        return replace(outcome, packages=there)

    monkeypatch.setattr(executors, "attempt", attempt_there)
    return StudyStore.create(tmp_path / "out", TASKS, settings=SETTINGS)


def test_a_worker_of_other_versions_stops_the_run(monkeypatch, tmp_path):
    store = outcomes_of_another_worker(monkeypatch, tmp_path)
    with pytest.raises(StudyError, match=rf"a worker has scipy 0\.0\.1 \(here {scipy.__version__}\).*--mixed"):
        run_tasks(TASKS, fake_study.draw, store)
    assert list(store.state().seconds) == ["synthetic-000"]


def test_what_a_worker_of_other_versions_computed_says_so_if_that_is_allowed(monkeypatch, tmp_path):
    store = outcomes_of_another_worker(monkeypatch, tmp_path)
    run_tasks(TASKS, fake_study.draw, store, mixed=True)
    state = store.state()
    assert state.packages["synthetic-001"]["scipy"] == "0.0.1"
    assert state.packages["synthetic-002"] == installed_packages()
    assert len(state.mixture) == 2
    with pytest.raises(SettingsError, match="was computed with scipy"):
        run_tasks(TASKS, fake_study.draw, store)
