"""Data and reference numbers shared by the tests."""

from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, settings
from sklearn.datasets import load_iris, load_wine

from kfrc._numerics import standardize

# How fast examples are drawn is a matter of the machine, not of the code.
settings.register_profile(
    "stable",
    deadline=None,
    derandomize=True,
    max_examples=40,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile("quick", settings.get_profile("stable"), max_examples=5)
settings.load_profile("stable")

GOLDEN = Path(__file__).parent / "golden"
SHARED = Path(__file__).parents[2] / "shared"
FULL_ORACLES = os.environ.get("KFRC_FULL_ORACLES", "") == "1"


def pytest_make_parametrize_id(config, val, argname):
    """Bytes get a number, not their content: files hold times, and every process must give a test the same name."""
    return argname if isinstance(val, bytes) else None


def pytest_collection_modifyitems(items):
    """For the same reason no name holds an address."""
    assert not [item.nodeid for item in items if " at 0x" in item.nodeid]


@pytest.fixture(scope="session")
def iris():
    """Iris with columns scaled as in R."""
    return standardize(load_iris().data)


@pytest.fixture(scope="session")
def wine():
    """Wine with columns scaled as in R."""
    return standardize(load_wine().data)


@pytest.fixture(scope="session")
def scaled(iris, wine):
    """The data sets whose reference numbers are part of the repository."""
    return {"iris": iris, "wine": wine}


@pytest.fixture(scope="session")
def blobs():
    """Three well-separated groups of 20 points in the plane, and their labels."""
    rng = np.random.default_rng(7)
    centers = np.array([[0.0, 0.0], [8.0, 1.0], [3.0, 9.0]])
    labels = np.repeat(np.arange(3), 20)
    return centers[labels] + rng.standard_normal((60, 2)), labels


@pytest.fixture(scope="session")
def golden_arrays():
    """Reader of the arrays in tests/golden."""

    def read(name):
        with np.load(GOLDEN / f"{name}.npz") as arrays:
            return dict(arrays)

    return read


@pytest.fixture(scope="session")
def golden_scalars():
    """Reader of the JSON files in tests/golden."""
    return lambda name: json.loads((GOLDEN / f"{name}.json").read_text())


@pytest.fixture(scope="session")
def callbacks():
    """scikit-learn's callbacks."""
    return pytest.importorskip("sklearn.callback", reason="callbacks need scikit-learn 1.9 or later")


@pytest.fixture(scope="session")
def shared():
    """Folder of reference numbers and data that are not part of the repository."""
    if not (SHARED / "oracles").is_dir():
        pytest.skip("needs the reference numbers in ../shared/oracles beside the repository")
    return SHARED
