"""What others may have done to a model or to a Parquet file is one line of the program, and no file of results."""

from __future__ import annotations

import json
import zipfile

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from kfrc import FCM
from kfrc_app import _unpacking
from kfrc_app.models import dump_model
from kfrc_app.models.record import RECORD, versions

from .test_bad_files import assert_one_line


@pytest.fixture
def model(iris_frame):
    return FCM(3, random_state=0).fit(iris_frame.drop(columns="species"))


def predicted(run, tmp_path, model, iris_csv, code):
    (tmp_path / "model.skops").write_bytes(model if isinstance(model, bytes) else dump_model(model))
    ended = run("predict", tmp_path / "model.skops", iris_csv, "-o", tmp_path / "new.csv", code=code)
    assert (tmp_path / "new.csv").exists() is (code == 0)
    return ended


def test_a_model_without_an_attribute_is_one_line(run, tmp_path, model, iris_csv):
    del model._locations
    assert "not whole" in assert_one_line(predicted(run, tmp_path, model, iris_csv, 1))


def test_centers_that_are_no_numbers_are_never_written_as_memberships(run, tmp_path, model, iris_csv):
    model._locations = np.full_like(model._locations, np.nan)
    assert "not whole" in assert_one_line(predicted(run, tmp_path, model, iris_csv, 1))


def test_memberships_that_are_no_numbers_are_never_written(run, tmp_path, model, iris_csv, monkeypatch):
    content = dump_model(model)
    told = FCM.predict_proba
    monkeypatch.setattr(FCM, "predict_proba", lambda self, X: told(self, X) * (np.nan if len(X) > 100 else 1.0))
    assert "cannot place these rows" in assert_one_line(predicted(run, tmp_path, content, iris_csv, 1))


def test_versions_of_a_model_are_said(run, tmp_path, model, iris_csv):
    parts = {}
    (tmp_path / "made.skops").write_bytes(dump_model(model))
    with zipfile.ZipFile(tmp_path / "made.skops") as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    for change, code, said in (
        ({"numpy": "0.1.2"}, 0, "note: the model was made with numpy 0.1.2"),
        ({"kfrc": "9.8.7"}, 1, "was made by kfrc 9.8.7, and this is kfrc"),
    ):
        with zipfile.ZipFile(tmp_path / "other.skops", "w") as archive:
            for name, content in parts.items():
                archive.writestr(name, content if name != RECORD else json.dumps({**versions(), **change}))
        (tmp_path / "new.csv").unlink(missing_ok=True)
        ended = predicted(run, tmp_path, (tmp_path / "other.skops").read_bytes(), iris_csv, code)
        assert said in ended.err


@pytest.mark.parametrize("verb", ["fit", "diagnose", "compare"])
def test_a_small_file_that_becomes_a_large_table_is_one_line(run, tmp_path, monkeypatch, verb):
    monkeypatch.setattr(_unpacking, "ALWAYS_ALLOWED_TABLE", 1 << 20)
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({name: np.arange(100_000) % 2 for name in "abc"}), path)
    words = [verb, path, "-c", 2, *(["-o", tmp_path / "out"] if verb == "fit" else [])]
    line = assert_one_line(run(*words, code=1))
    assert "grows to" in line
    assert "--memory" in line
    assert not (tmp_path / "out").exists()
