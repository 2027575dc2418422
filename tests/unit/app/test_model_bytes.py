"""Equal models have equal files, in every process and at any time; they are read as before."""

from __future__ import annotations

import hashlib
import io
import os
import subprocess
import sys
import zipfile
from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal

from kfrc import FCM, FRC, KFRC
from kfrc_app.models import dump_model, dump_object, load_model, load_object

CODE = "from test_model_bytes import digests; print(*digests(list(map(str, range(4242)))))"
"""Other addresses and another order of sets."""


def digests(_):
    """Of all kinds of models, and of data of which stages of a fit consist."""
    contents = [dump_model(fitted(name)) for name in ("fcm", "kfrc", "table", "frc")]
    contents.append(dump_object({"set": {"x", "y", "zz", "long"}, "counts": Counter("abc")}))
    return [hashlib.sha256(content).hexdigest() for content in contents]


def fitted(name):
    X = np.random.default_rng(0).standard_normal((60, 3)) + 4.0 * (np.arange(60) % 2)[:, None]
    if name == "table":
        frame = pd.DataFrame(X, columns=["a", "file", "__id__"])
        frame["k"] = pd.Categorical(np.array(["x", "y", "z"])[np.arange(60) % 3])
        return KFRC(2, m=1.5, fuzzifier="power", bandwidths=np.ones(4), random_state=0).fit(frame)
    if name == "kfrc":
        return KFRC(2, m=1.5, fuzzifier="power", bandwidths=np.ones(3), random_state=0).fit(X)
    return {"fcm": FCM, "frc": FRC}[name](2, random_state=0).fit(X)


def test_equal_models_have_equal_bytes_whatever_the_process():
    environment = {**os.environ, "PYTHONHASHSEED": "4242", "PYTHONPATH": path()}
    other = subprocess.run([sys.executable, "-c", CODE], env=environment, capture_output=True, text=True, check=True)
    assert other.stdout.split() == digests(None)


def path():
    """What this process imports from, and this folder."""
    return os.pathsep.join([str(Path(__file__).parent), *filter(None, sys.path)])


@pytest.mark.parametrize("name", ["fcm", "kfrc", "table", "frc"])
def test_a_model_is_written_as_it_was_when_it_was_read(name, tmp_path):
    model = fitted(name)
    content = dump_model(model)
    assert content == dump_model(fitted(name))
    (tmp_path / "model").write_bytes(content)
    again = load_model(tmp_path / "model")
    assert dump_model(again) == content
    assert_array_equal(again.memberships_, model.memberships_)


def test_the_time_is_not_in_a_file_and_equal_texts_may_be_one_object():
    content = dump_model(fitted("fcm"))
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        assert {member.date_time for member in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}
    one, other = "a text", "".join(["a ", "text"])
    assert dump_object([one, one]) == dump_object([one, other])
    x = np.arange(3.0)
    data = {"file": x, "same": x, "other": x.copy(), "__id__": [1, True, 1.0, None, "1"], "set": {3, "b", 1}}
    found = load_object(dump_object({**data, "counts": Counter("aab")}))
    assert found["file"] is found["same"]
    assert found["other"] is not found["same"]
    assert [type(v) for v in found["__id__"]] == [int, bool, float, type(None), str]
    assert (found["set"], found["counts"]) == (data["set"], Counter("aab"))
