import builtins
from pathlib import Path
from types import SimpleNamespace
from urllib.error import URLError

import numpy as np
import pytest
import sklearn.datasets
from numpy.testing import assert_array_equal

from kfrc.datasets import load_benchmark
from kfrc.exceptions import KFRCError

SHARED = Path(__file__).parents[3] / "shared" / "data"
SIZES = {
    "diabetes": (768, 8, 2),
    "rice": (3810, 7, 2),
    "seeds": (210, 7, 3),
    "vehicle": (846, 18, 4),
    "wine": (178, 13, 3),
    "image_segmentation": (2310, 18, 7),
    "iris": (150, 4, 3),
}


@pytest.fixture(autouse=True)
def isolated(monkeypatch):
    """No variable from outside, and no test reaches the network."""
    monkeypatch.delenv("KFRC_DATA", raising=False)

    def refuse(**kwargs):
        raise URLError("no network in tests")

    monkeypatch.setattr(sklearn.datasets, "fetch_openml", refuse)


def write(folder, name, text):
    (folder / f"{name}.csv").write_text(text, encoding="utf-8")


def serve(monkeypatch, shape, target, calls=None, data=None):
    def fetch(**kwargs):
        if calls is not None:
            calls.append(kwargs)
        values = np.random.default_rng(0).random(shape) if data is None else data
        return SimpleNamespace(data=values, target=target, feature_names=[f"f{j}" for j in range(shape[1])])

    monkeypatch.setattr(sklearn.datasets, "fetch_openml", fetch)


@pytest.mark.parametrize("name", ["iris", "wine"])
def test_bundled_sets_need_neither_files_nor_network(name):
    benchmark = load_benchmark(name)
    assert (*benchmark.data.shape, benchmark.n_clusters) == SIZES[name]
    assert benchmark.data.dtype == np.float64
    assert benchmark.source == "scikit-learn"
    assert benchmark.name == name
    assert len(benchmark.feature_names) == benchmark.data.shape[1]


@pytest.mark.skipif(not SHARED.is_dir(), reason="the benchmark CSV files are not beside the repository")
@pytest.mark.parametrize("name", SIZES)
def test_csv_files_have_the_sizes_of_the_paper(name):
    benchmark = load_benchmark(name, data_dir=SHARED)
    assert (*benchmark.data.shape, benchmark.n_clusters) == SIZES[name]
    assert len(benchmark.target) == len(benchmark.data)
    assert (np.ptp(benchmark.data, axis=0) > 0).all()


@pytest.mark.skipif(not SHARED.is_dir(), reason="the benchmark CSV files are not beside the repository")
@pytest.mark.parametrize("name", ["iris", "wine"])
def test_bundled_copies_hold_the_values_of_the_csv_files(name):
    values = np.genfromtxt(SHARED / f"{name}.csv", delimiter=",", skip_header=1, usecols=range(SIZES[name][1]))
    assert_array_equal(load_benchmark(name).data, values)


def test_a_file_is_read_as_it_is(tmp_path):
    write(tmp_path, "seeds", "\ufeffarea,length of kernel,label\n15.26,5.7,Kama\n\n14.88,1e-3,Rosa\n")
    benchmark = load_benchmark("seeds", data_dir=str(tmp_path))
    assert_array_equal(benchmark.data, [[15.26, 5.7], [14.88, 1e-3]])
    assert benchmark.target.tolist() == ["Kama", "Rosa"]
    assert benchmark.feature_names == ("area", "length of kernel")
    assert benchmark.n_clusters == 2
    assert benchmark.source.endswith("seeds.csv")


def test_integer_labels_become_integers(tmp_path):
    write(tmp_path, "diabetes", "a,label\n1,0\n2,1\n")
    assert load_benchmark("diabetes", tmp_path).target.dtype == np.int64


def test_the_environment_variable_names_the_folder_unless_data_dir_does(tmp_path, monkeypatch):
    first, second = tmp_path / "first", tmp_path / "second"
    for folder, value in ((first, 1), (second, 2)):
        folder.mkdir()
        write(folder, "rice", f"a,label\n{value},x\n5,y\n")
    monkeypatch.setenv("KFRC_DATA", str(first))
    assert load_benchmark("rice").data[0, 0] == 1
    assert load_benchmark("rice", second).data[0, 0] == 2


def test_the_constant_column_of_image_segmentation_is_dropped(tmp_path):
    write(tmp_path, "image_segmentation", "a,pixel.count,b,label\n1,9,2,SKY\n2,9,3,PATH\n")
    benchmark = load_benchmark("image_segmentation", tmp_path)
    assert benchmark.feature_names == ("a", "b")
    assert_array_equal(benchmark.data, [[1, 2], [2, 3]])


def test_no_pandas_is_needed(tmp_path, monkeypatch):
    write(tmp_path, "rice", "a,label\n1,x\n5,y\n")
    original = builtins.__import__

    def guarded(name, *args, **kwargs):
        assert name.split(".")[0] != "pandas"
        return original(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", guarded)
    assert load_benchmark("rice", tmp_path).n_clusters == 2


@pytest.mark.parametrize(
    ("name", "data_id"), [("diabetes", 37), ("vehicle", 54), ("seeds", 1499), ("image_segmentation", 36)]
)
def test_openml_is_asked_when_no_folder_has_the_file(name, data_id, tmp_path, monkeypatch):
    n_samples, n_features, n_clusters = SIZES[name]
    calls = []
    target = np.array([f"class {i % n_clusters}" for i in range(n_samples)], dtype=object)
    data = np.random.default_rng(0).random((n_samples, n_features + (name == "image_segmentation")))
    if name == "image_segmentation":
        data[:, 2] = 9.0
    serve(monkeypatch, data.shape, target, calls, data)
    benchmark = load_benchmark(name, data_dir=tmp_path)
    assert (*benchmark.data.shape, benchmark.n_clusters) == SIZES[name]
    assert benchmark.source == f"OpenML {data_id}"
    assert calls == [{"data_id": data_id, "as_frame": False, "parser": "liac-arff"}]


def test_a_download_of_another_size_is_refused(monkeypatch):
    serve(monkeypatch, (210, 6), np.arange(210) % 3)
    with pytest.raises(KFRCError, match=r"OpenML 1499 has .* = \(210, 6, 3\), but seeds must have \(210, 7, 3\)"):
        load_benchmark("seeds")


def test_without_file_and_network_the_error_says_what_to_do(tmp_path):
    with pytest.raises(KFRCError) as caught:
        load_benchmark("vehicle", data_dir=tmp_path)
    message = str(caught.value)
    for part in ("no network in tests", "vehicle.csv", "data_dir", "KFRC_DATA", "OpenML 54", "'label'", "UCI"):
        assert part in message
    with pytest.raises(KFRCError, match="no folder was given"):
        load_benchmark("vehicle")


def test_rice_must_be_given_as_a_file():
    with pytest.raises(KFRCError, match=r"rice has no known copy on OpenML\. What to do .* data set 545"):
        load_benchmark("rice")


@pytest.mark.parametrize("name", ["Iris", "digits", None])
def test_unknown_names_list_the_known_ones(name):
    with pytest.raises(ValueError, match=r"unknown data set .*: choose one of diabetes, rice, seeds"):
        load_benchmark(name)


def test_a_missing_folder_is_named(tmp_path, monkeypatch):
    with pytest.raises(FileNotFoundError, match="data_dir must name an existing folder"):
        load_benchmark("rice", tmp_path / "absent")
    monkeypatch.setenv("KFRC_DATA", str(tmp_path / "absent"))
    with pytest.raises(FileNotFoundError, match="environment variable KFRC_DATA must name"):
        load_benchmark("rice")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "must be called 'label', found nothing"),
        ("a,class\n1,x\n", "must be called 'label', found 'class'"),
        ("label\nx\n", "must be called 'label'|must have"),
        ("a,label\n", "has a header but no rows"),
        ("a,b,label\n1,2,x\n1,x\n", "row 3: 2 fields, but the header has 3"),
        ("a,label\nred,x\n", "feature columns must be numbers"),
        ("a,label\nnan,x\n", "column 'a' has a missing value in data row 0"),
    ],
)
def test_malformed_files_are_named(tmp_path, text, message):
    write(tmp_path, "rice", text)
    with pytest.raises(KFRCError, match=message):
        load_benchmark("rice", tmp_path)
