from __future__ import annotations

import zipfile

import numpy as np
import pytest
import skops.io
from sklearn.cluster import KMeans

from kfrc import FRC, KFRC
from kfrc.kernels import Kernel
from kfrc_app.models import ModelError, _is_own_class, dump_model, load_model


class Intruder:
    """A type that no model contains."""

    def __init__(self):
        self.value = 1


@pytest.mark.parametrize("kernel", [name for name in Kernel.registry if name not in ("linear", "path")])
@pytest.mark.parametrize("approximation", ["none", "nystrom"])
def test_a_loaded_model_predicts_as_before(blobs, tmp_path, kernel, approximation):
    X, _ = blobs
    model = KFRC(3, kernel=kernel, level=1.0, approximation=approximation, n_starts=1, random_state=0).fit(X)
    (tmp_path / "model.skops").write_bytes(dump_model(model))
    loaded = load_model(tmp_path / "model.skops")
    np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))
    assert loaded.search_.level == model.search_.level


@pytest.mark.parametrize("memberships", ["fuzzy", "posterior"])
def test_a_loaded_model_with_paths_predicts_as_before(blobs, tmp_path, memberships):
    X, _ = blobs
    model = KFRC(3, kernel="path", memberships=memberships, random_state=0).fit(X)
    (tmp_path / "model.skops").write_bytes(dump_model(model))
    loaded = load_model(tmp_path / "model.skops")
    np.testing.assert_array_equal(loaded.predict_proba(X + 0.01), model.predict_proba(X + 0.01))
    assert loaded.kernel_ == model.kernel_


def test_foreign_types_are_refused(blobs, tmp_path):
    model = FRC(3, random_state=0).fit(blobs[0])
    model.extra = Intruder()
    (tmp_path / "model.skops").write_bytes(dump_model(model))
    with pytest.raises(ModelError, match=r"refused: it contains .*Intruder"):
        load_model(tmp_path / "model.skops")


@pytest.mark.parametrize(
    ("name", "own"),
    [
        ("kfrc.clusterers.kfrc.KFRC", True),
        ("kfrc.kernels.gaussian.GaussianSum", True),
        ("kfrc.datasets.Path", False),  # imported there, defined elsewhere
        ("kfrc._registry.load_family", False),  # a function
        ("kfrc_app.tables.table.Table", False),
        ("kfrcevil.KFRC", False),
        ("kfrc.absent.KFRC", False),
        ("os.system", False),
        ("builtins.eval", False),
    ],
)
def test_only_classes_of_the_library_are_trusted(name, own):
    assert _is_own_class(name) is own


def test_other_estimators_are_refused(blobs, tmp_path):
    skops.io.dump(KMeans(3, n_init=1, random_state=0).fit(blobs[0]), tmp_path / "model.skops")
    with pytest.raises(ModelError, match="holds a KMeans"):
        load_model(tmp_path / "model.skops")


def test_what_is_no_model_is_said_to_be_none(tmp_path):
    (tmp_path / "text.skops").write_text("not a model")
    with pytest.raises(ModelError, match="not a model file"):
        load_model(tmp_path / "text.skops")
    with zipfile.ZipFile(tmp_path / "other.zip", "w") as archive:
        archive.writestr("a.txt", "hello")
    with pytest.raises(ModelError, match="not a model of this program"):
        load_model(tmp_path / "other.zip")
    with pytest.raises(ModelError, match="no model file"):
        load_model(tmp_path / "absent.skops")
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "model.skops").write_text("")
    with pytest.raises(ModelError, match="did you mean"):
        load_model(tmp_path / "out")
