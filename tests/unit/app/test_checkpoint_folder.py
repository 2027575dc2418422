"""What a folder with an unfinished run can do that somebody else made: nothing."""

from __future__ import annotations

import os

import numpy as np
import pytest
from sklearn.preprocessing import FunctionTransformer
from skops.io import dumps

from kfrc_app.runs.checkpoint import UNFINISHED, FolderCheckpoint

QUESTION = {"asked": {"clusters": "3"}}


def test_a_stage_with_foreign_types_is_as_good_as_none(tmp_path):
    checkpoint = FolderCheckpoint(tmp_path, QUESTION)
    checkpoint.begin()
    checkpoint.save("passes", {"rows": np.arange(3)})
    assert FolderCheckpoint(tmp_path, QUESTION).load("passes")["rows"].tolist() == [0, 1, 2]
    (tmp_path / UNFINISHED / "passes.skops").write_bytes(dumps(FunctionTransformer(os.getcwd)))
    assert FolderCheckpoint(tmp_path, QUESTION).load("passes") is None


def test_nothing_is_written_where_a_link_in_the_folder_leads(tmp_path):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "question.json").write_text("mine", encoding="utf-8")
    out = tmp_path / "out"
    out.mkdir()
    try:
        (out / UNFINISHED).symlink_to(elsewhere, target_is_directory=True)
    except OSError:
        pytest.skip("no symbolic links here")
    checkpoint = FolderCheckpoint(out, QUESTION)
    checkpoint.begin()
    checkpoint.save("passes", {"rows": 1})
    checkpoint.remove()
    assert [path.name for path in elsewhere.iterdir()] == ["question.json"]
    assert (elsewhere / "question.json").read_text(encoding="utf-8") == "mine"
