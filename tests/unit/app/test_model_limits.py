"""Model files that are made to fill a memory, or to be called rather than read, are refused before anything is made."""

from __future__ import annotations

import io
import json
import resource
import struct
import zipfile

import numpy as np
import pytest
import scipy.sparse

from kfrc import FCM
from kfrc_app import _unpacking
from kfrc_app.models import ModelError, dump_model, dump_object, load_model, load_object
from kfrc_app.models.archive import MAX_DEPTH, SCHEMA

BIG = 64 << 20  # more than a small file may become


@pytest.fixture(scope="module")
def model_bytes(blobs):
    return dump_model(FCM(3, random_state=0).fit(blobs[0]))


def parts_of(content):
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def packed(parts, method=zipfile.ZIP_DEFLATED):
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", method) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return target.getvalue()


def array_name(parts):
    return next(name for name in parts if name.endswith(".npy"))


def npy_header(shape, kind="<f8"):
    text = f"{{'descr': {kind!r}, 'fortran_order': False, 'shape': {shape}, }}".encode()
    text += b" " * (-(len(text) + 11) % 64) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text


def refused(tmp_path, content, said):
    path = tmp_path / "model.skops"
    path.write_bytes(content)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(ModelError, match=said) as problem:
        load_model(path)
    assert "\n" not in str(problem.value)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < BIG >> 10
    with pytest.raises(ModelError):
        load_object(content)


def test_a_packed_model_that_unpacks_to_far_more_is_refused_with_the_limit(tmp_path, model_bytes):
    parts = parts_of(model_bytes)
    parts[array_name(parts)] = npy_header((BIG // 8,)) + bytes(BIG)
    refused(tmp_path, packed(parts), r"unpacks to more than 32 MB \(at least 64 MB\).*as it was written")


def test_a_model_whose_directory_states_less_than_comes_out_is_refused(tmp_path, model_bytes):
    parts = parts_of(model_bytes)
    parts[array_name(parts)] = npy_header((BIG // 8,)) + bytes(BIG)
    content = packed(parts)
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        size, start = archive.getinfo(array_name(parts)).file_size, archive.start_dir
    lying = content[:start] + content[start:].replace(size.to_bytes(4, "little"), (900).to_bytes(4, "little"))
    refused(tmp_path, lying, "unpacks to more than 32 MB")


def test_a_model_that_names_one_array_again_and_again_is_refused(tmp_path, model_bytes, monkeypatch):
    monkeypatch.setattr(_unpacking, "ALWAYS_ALLOWED", 1 << 16)
    monkeypatch.setattr(_unpacking, "MAX_GROWTH", 1)
    parts = parts_of(model_bytes)
    document = json.loads(parts[SCHEMA])
    node = {"__class__": "ndarray", "__module__": "numpy", "__loader__": "NdArrayNode", "type": "numpy", "file": "a"}
    document["content"]["content"]["again"] = {
        "__class__": "list",
        "__module__": "builtins",
        "__loader__": "ListNode",
        "content": [node] * 100,
    }
    parts |= {SCHEMA: json.dumps(document).encode(), "a": npy_header((1 << 12,)) + bytes(8 << 12)}
    refused(tmp_path, packed(parts, zipfile.ZIP_STORED), "unpacks to more than")


@pytest.mark.parametrize(
    ("shape", "kind"), [((10**12,), "<f8"), ((10**6, 10**6), "|V0"), ((2,), "|O"), ((0, 2), "<f8")]
)
def test_an_array_that_says_another_size_than_it_has_is_refused(tmp_path, model_bytes, shape, kind):
    parts = parts_of(model_bytes)
    parts[array_name(parts)] = npy_header(shape, kind) + bytes(8)
    refused(tmp_path, packed(parts), "is damaged: an array")


@pytest.mark.parametrize("depth", [MAX_DEPTH + 1, 100_000])
def test_objects_within_objects_without_end_are_refused(tmp_path, model_bytes, depth):
    parts = parts_of(model_bytes)
    document = parts[SCHEMA].decode().rstrip()
    parts[SCHEMA] = f'{document[:-1]}, "deep": {"[" * depth}{"]" * depth}}}'.encode()
    refused(tmp_path, packed(parts), r"deep|recursion")


def test_a_model_that_describes_far_too_many_values_is_refused(tmp_path, model_bytes, monkeypatch):
    monkeypatch.setattr("kfrc_app.models.archive.MAX_VALUES", 100)
    refused(tmp_path, model_bytes, "describes more than 100 values")


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_a_model_that_is_packed_in_an_unusual_way_is_refused(tmp_path, model_bytes, method):
    refused(tmp_path, packed(parts_of(model_bytes), method), "packed in a way in which no model")


def test_two_parts_of_one_name_are_refused(tmp_path, model_bytes):
    target = io.BytesIO(model_bytes)
    with zipfile.ZipFile(target, "a") as archive, pytest.warns(UserWarning, match="Duplicate"):
        archive.writestr(SCHEMA, "{}")
    refused(tmp_path, target.getvalue(), "two parts of one name")


@pytest.mark.parametrize(
    "node",
    [
        {"__loader__": "ListNode", "__module__": "kfrc.sources.text", "__class__": "CSVSource", "content": []},
        {"__loader__": "TypeNode", "__module__": "kfrc.sources.text", "__class__": "CSVSource"},
        {"__loader__": "SparseMatrixNode", "__module__": "scipy.sparse", "__class__": "csr_matrix", "type": "scipy"},
        {"__loader__": "ObjectNode", "__module__": "sklearn.cluster._kmeans", "__class__": "KMeans", "content": None},
        {"__loader__": "NdArrayNode", "__module__": "kfrc.sources.text", "__class__": "CSVSource", "type": "numpy"},
        {
            "__loader__": "ConstructorFromReduceNode",
            "__module__": "kfrc.sources.text",
            "__class__": "CSVSource",
            "content": {},
        },
    ],
)
def test_classes_that_would_be_called_with_what_the_file_says_are_refused(tmp_path, model_bytes, node):
    parts = parts_of(model_bytes)
    document = json.loads(parts[SCHEMA])
    document["content"]["content"]["extra"] = node
    parts[SCHEMA] = json.dumps(document).encode()
    refused(tmp_path, packed(parts), "was refused: it contains")


def test_a_model_that_somebody_packed_is_read(tmp_path, model_bytes, blobs):
    (tmp_path / "model.skops").write_bytes(packed(parts_of(model_bytes)))
    assert np.isfinite(load_model(tmp_path / "model.skops").predict_proba(blobs[0])).all()


def test_a_damaged_byte_in_a_model_is_one_line(tmp_path, model_bytes):
    rng = np.random.default_rng(0)
    path = tmp_path / "model.skops"
    for place in rng.integers(0, len(model_bytes), 60):
        content = bytearray(model_bytes)
        content[place] ^= 1 << rng.integers(0, 8)
        path.write_bytes(content)
        try:
            load_model(path)
        except ModelError as error:
            assert "\n" not in str(error)  # noqa: PT017 - some bytes do no harm


def test_a_stored_model_larger_than_the_limit_of_packed_files_is_read(tmp_path, model_bytes, monkeypatch):
    monkeypatch.setattr(_unpacking, "MAX_UNPACKED", 1000)
    (tmp_path / "model.skops").write_bytes(model_bytes)
    load_model(tmp_path / "model.skops")


def test_a_sparse_matrix_among_the_stages_of_a_fit_is_read_and_a_bomb_in_it_is_not():
    matrix = scipy.sparse.csr_array(np.eye(5))
    stage = dump_object({"matrix": matrix})
    assert (load_object(stage)["matrix"] != matrix).nnz == 0
    parts = parts_of(stage)
    (name,) = [name for name in parts if name.endswith(".npz")]
    inner = parts_of(parts[name])
    inner["data.npy"] = npy_header((BIG // 8,)) + bytes(BIG)
    with pytest.raises(ModelError, match="unpacks to more than 32 MB"):
        load_object(packed({**parts, name: packed(inner)}))
    inner["data.npy"] = npy_header((10**12,)) + bytes(8)
    with pytest.raises(ModelError, match="is damaged: an array"):
        load_object(packed({**parts, name: packed(inner)}))


def test_a_model_that_says_it_needs_a_password_is_refused(tmp_path, model_bytes):
    found = bytearray(model_bytes)
    found[found.rfind(b"PK\x01\x02") + 8] |= 1
    refused(tmp_path, bytes(found), "is protected with a password")


def test_a_model_whose_description_is_no_object_is_refused(tmp_path, model_bytes):
    refused(tmp_path, packed({**parts_of(model_bytes), SCHEMA: b"[1, 2]"}), "it describes no objects")
