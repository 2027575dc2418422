"""Whatever a file of a study holds, each verb ends with a result or with one line, never with a traceback."""

from __future__ import annotations

import copy
import json
import shutil

import fake_study
import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from kfrc_app.cli import study as verbs
from kfrc_app.study.errors import StudyError
from kfrc_app.study.manifest import canonical, digest
from kfrc_app.study.store import StudyStore
from kfrc_app.study.summary import QUANTILE_NAMES, Summary
from kfrc_app.study.tables import build_tables

pytestmark = pytest.mark.slow

VALUES = [None, [], [1], 7, -1, 1e308, True, "", "text", "x" * 10**5, 10**400, {}, {"a": None}, "\ud800", "../../x"]
DEEP = "[" * 50_000 + "]" * 50_000
REAL_TABLES = build_tables


@pytest.fixture(autouse=True)
def _fakes(monkeypatch):
    fake_study.install(monkeypatch.setattr)
    monkeypatch.setattr(fake_study, "N_TASKS", 2)


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """Folder of a finished study of two tasks."""
    out = tmp_path_factory.mktemp("study") / "out"
    with pytest.MonkeyPatch.context() as patch:
        fake_study.install(patch.setattr)
        patch.setattr(fake_study, "N_TASKS", 2)
        ended = CliRunner().invoke(verbs.app, ["run", "synthetic", "--out", str(out)])
    assert ended.exit_code == 0, ended.output
    return out


@pytest.fixture
def study(finished, tmp_path):
    shutil.copytree(finished, tmp_path / "out")
    return tmp_path / "out"


def calls(folder):
    """Every verb that reads a study."""
    elsewhere = str(folder.parent / "elsewhere")
    yield "status", str(folder)
    yield "tables", str(folder)
    yield "figures", str(folder)
    yield "summarize", str(folder), "--out", elsewhere
    yield "compare", str(folder), str(folder)
    yield "run", "synthetic", "--out", str(folder)


def ends_in_order(*arguments):
    """Call a verb; returns its exit code."""
    ended = CliRunner().invoke(verbs.app, list(arguments))
    assert ended.exception is None or isinstance(ended.exception, SystemExit), (arguments, ended.exception)
    assert ended.exit_code in (0, 1, 2), (arguments, ended.output)
    if ended.exit_code:
        problem = [line for line in ended.stderr.splitlines() if line.startswith("kfrc: ")]
        assert len(problem) == 1, ended.stderr
        assert len(problem[0]) < 3000
    return ended.exit_code


def signed(content):
    """A manifest with the checksum that belongs to it."""
    unsigned = {name: value for name, value in content.items() if name != "checksum"}
    return json.dumps(unsigned | {"checksum": digest(canonical(unsigned))})


def places(content, path=()):
    """Paths of all fields."""
    for name, value in content.items():
        yield (*path, name)
        if isinstance(value, dict):
            yield from places(value, (*path, name))


def changed(content, values=VALUES):
    """The manifest without each field, and with each replaced by each strange value."""
    for *above, name in places(content):
        for value in [..., *values]:
            variant = copy.deepcopy(content)
            inner = variant
            for step in above:
                inner = inner[step]
            del inner[name]
            if value is not ...:
                inner[name] = value
            yield variant


def raw_damage(good):
    """Contents that are no manifest at all."""
    yield from (
        b"",
        b"{",
        b"null",
        b"[]",
        b"7",
        b'"text"',
        b"\x00\xff\xfe" * 99,
        DEEP.encode(),
        b'{"a":' + DEEP.encode(),
    )
    yield from (good[:length] for length in range(0, len(good), 37))
    for position in range(0, len(good), 23):
        yield good[:position] + bytes([good[position] ^ 4]) + good[position + 1 :]


def test_no_manifest_of_other_fields_is_taken_for_one(study):
    path = study / "manifest.json"
    good = json.loads(path.read_text())
    refused = 0
    for variant in changed(good):
        for text in (json.dumps(variant), signed(variant)):
            path.write_text(text)
            try:
                StudyStore(study).state()
            except StudyError:
                refused += 1
    assert refused > 300
    for damage in raw_damage(json.dumps(good, indent=1).encode()):
        path.write_bytes(damage)
        with pytest.raises(StudyError):
            StudyStore(study)


def test_every_verb_refuses_a_damaged_manifest_in_one_line(study):
    good = json.loads((study / "manifest.json").read_text())
    for damage in (b"", DEEP.encode(), signed({**good, "tasks": []}).encode()):
        for call in calls(study):
            (study / "manifest.json").write_bytes(damage)
            assert ends_in_order(*call) == 1, call


@pytest.mark.parametrize("name", ["format", "version", "settings", "study", "data", "packages"])
def test_no_verb_trips_over_a_field_that_is_missing_or_strange(study, name):
    good = json.loads((study / "manifest.json").read_text())
    variants = [
        variant for variant in changed(good, [None, [], 7, "\ud800"]) if _without(variant, name) == _without(good, name)
    ]
    assert len(variants) >= 5
    for variant in variants[:: len(variants) // 5]:
        for call in calls(study):
            (study / "manifest.json").write_text(signed(variant))
            ends_in_order(*call)


def _without(content, name):
    settings = content.get("settings")
    inner = {k: v for k, v in settings.items() if k != name} if isinstance(settings, dict) else settings
    outer = {k: v for k, v in content.items() if k not in (name, "settings", "checksum")}
    return outer if name == "settings" else (outer, inner)


@pytest.mark.parametrize("found", [0, 2, 99, pytest.param(10**400, id="huge")])
def test_another_format_is_told_before_anything_else_of_it_is_read(study, found):
    (study / "manifest.json").write_text(json.dumps({"format": found, "contents": "of another age"}))
    for call in calls(study):
        assert ends_in_order(*call) == 2


def test_a_manifest_that_is_a_folder_is_told(study):
    (study / "manifest.json").unlink()
    (study / "manifest.json").mkdir()
    for call in calls(study):
        assert ends_in_order(*call) == 1


def test_damaged_shards_are_counted_by_status_told_by_tables_and_computed_again(study):
    path = StudyStore(study).shard_path("synthetic-000")
    good = path.read_bytes()
    for damage in (b"", b"PAR1", good[:-9], good[: len(good) // 2], good[:40] + b"\x00" + good[41:], good * 2):
        for verb in ("status", "tables"):
            path.write_bytes(damage)
            assert ends_in_order(verb, str(study)) == (verb == "tables")
        assert ends_in_order("run", "synthetic", "--out", str(study)) == 0
        assert StudyStore(study).state().corrupt == {}


def test_a_folder_in_the_place_of_a_shard_is_set_aside(study):
    path = StudyStore(study).shard_path("synthetic-000")
    path.unlink()
    path.mkdir()
    assert "synthetic-000" in StudyStore(study).state().corrupt
    assert ends_in_order("run", "synthetic", "--out", str(study)) == 0
    assert path.is_file()


@pytest.mark.parametrize("seconds", [7, "nan", pytest.param(10**400, id="huge"), "much", None, [], "-inf"])
def test_a_damaged_failure_does_not_stop_status(study, seconds):
    store = StudyStore(study)
    store.shard_path("synthetic-000").unlink()
    path = store.shard_path("synthetic-000").with_suffix(".failed.json")
    for content in ({"reason": "\ud800\n" * 9999, "traceback": "", "seconds": seconds}, [], DEEP):
        path.write_text(content if content is DEEP else json.dumps(content))
        assert ends_in_order("status", str(study)) == 0


@pytest.mark.parametrize(
    "note", ["", "{", "[]", '{"workers": "many"}', '{"workers": 2, "pid": -1}', pytest.param(DEEP, id="deep")]
)
def test_a_damaged_note_of_the_last_run_does_not_stop_status(study, note):
    (study / "run.json").write_text(note)
    assert ends_in_order("status", str(study)) == 0


def test_records_of_something_else_are_told_in_one_line(study, monkeypatch):
    monkeypatch.setattr("kfrc_app.study.tables.build_tables", REAL_TABLES)
    assert ends_in_order("tables", str(study)) == 1
    assert ends_in_order("summarize", str(study), "--out", str(study.parent / "small")) == 1
    assert not (study.parent / "small").exists()


@pytest.fixture
def summary(tmp_path):
    rows = {"n_clusters": [2, 2], "snr": [1.0, 1.0]}
    metrics = {name: [0.5, 0.25] for name in ("ari", "ami", "fari_crisp", "fari_fuzzy", "uniformity")}
    scores = pd.DataFrame({"seed": [1, 2], "method": ["KMeans"] * 2, **rows, "count": [3, 3], **metrics})
    settings = {"setting": ["max_anisotropy", "criterion"], "value": ["5.0", "sum"], "count": [1, 1], "alone": [1, 1]}
    configurations = {"n_signal": 2, "criterion": ["sum", "gap"], "max_anisotropy": 5.0}
    features = pd.DataFrame({**rows, **configurations, **dict.fromkeys(QUANTILE_NAMES, 2.0)})
    Summary({"version": "x"}, scores, pd.DataFrame({**rows, **settings}), features).write(tmp_path / "small")
    return tmp_path / "small"


@pytest.mark.parametrize("name", ["about.json", "scores.csv", "choices.csv", "effective_features.csv"])
def test_a_damaged_summary_is_told_in_one_line(summary, name):
    assert ends_in_order("tables", str(summary)) == 0
    good = (summary / name).read_bytes()
    flipped = (good[:k] + bytes([good[k] ^ 1]) + good[k + 1 :] for k in range(0, len(good), 19))
    for damage in (b"", b"\xff\x00", b"a,b\n1,2,3\n", good[:-3], DEEP.encode(), b"[]", *flipped):
        (summary / name).write_bytes(damage)
        code = ends_in_order("tables", str(summary))
        assert code == 1 or name == "about.json", damage
    (summary / name).unlink()
    assert ends_in_order("tables", str(summary)) in (1, 2)


def test_a_summary_with_the_line_ends_of_another_system_is_the_same(summary):
    path = summary / "scores.csv"
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    assert ends_in_order("tables", str(summary)) == 0


def test_a_summary_without_checksums_must_have_its_columns(summary):
    about = json.loads((summary / "about.json").read_text())
    del about["checksums"]
    (summary / "about.json").write_text(json.dumps(about))
    scores = pd.read_csv(summary / "scores.csv")
    for column in scores:
        scores.drop(columns=column).to_csv(summary / "scores.csv", index=False)
        assert ends_in_order("tables", str(summary)) == 1
    scores.assign(ari="many").to_csv(summary / "scores.csv", index=False)
    assert ends_in_order("tables", str(summary)) == 1
    scores.to_csv(summary / "scores.csv", index=False)
    assert ends_in_order("tables", str(summary)) == 0


def test_a_reference_that_holds_no_results_is_told(study, tmp_path):
    reference = tmp_path / "reference.parquet"
    pd.DataFrame({"seed": [1, 2]}).to_parquet(reference)
    good = reference.read_bytes()
    rng = np.random.default_rng(0)
    for content in (good, b"", b"PAR1", good[:-9], rng.bytes(500)):
        reference.write_bytes(content)
        assert ends_in_order("compare", str(study), str(reference)) == 1
