"""Arrow data sets and Dask collections as sources: any stretch of rows, whatever fragments and partitions hold."""

from __future__ import annotations

import os
import pickle

import dask
import dask.array as da
import dask.bag
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

from kfrc import FCM, FRC, KFRC
from kfrc.blocks.chunks import BlockChunks
from kfrc.metrics import adjusted_rand_score
from kfrc.sources import ArrowSource, DaskSource, SourceError, as_source

N_ROWS = 1000


def frame(n_rows=N_ROWS):
    rows = np.arange(n_rows)
    names = [f"row {row}" for row in rows]
    return pd.DataFrame({"x": rows + 0.5, "k": rows % 7, "w": 1.0 + rows % 3, "name": names})


def values(chunks, place=0):
    return [
        value
        for chunk in chunks
        for value in (
            chunk.columns[place].tolist()
            if isinstance(chunk.columns[place], np.ndarray)
            else chunk.columns[place].to_pylist()
        )
    ]


def block(source):
    """All rows joined as one block, as passes see them."""
    ((chunk, first),) = BlockChunks(source, 0, len(source))
    assert first == 0
    return chunk


def some_stretches(n_rows, seed=0):
    rng = np.random.default_rng(seed)
    drawn = [tuple(sorted(rng.integers(0, n_rows + 1, 2).tolist())) for _ in range(15)]
    return [*drawn, (0, n_rows), (n_rows - 1, n_rows)]


def one_line(caught, *named):
    message = str(caught.value)
    assert len(message.splitlines()) == 1
    for name in named:
        assert str(name) in message


def assert_any_stretch(source, whole):
    """A source with the columns of :func:`frame`, of which ``w`` is the weight, gives any of its rows."""
    assert source.shape == (N_ROWS, 3)
    assert source.names == ("x", "k", "name")
    for start, stop in some_stretches(N_ROWS):
        chunks = list(source.chunks(start, stop))
        part = whole[start:stop]
        assert values(chunks, 0) == part["x"].tolist()
        assert values(chunks, 2) == part["name"].tolist()
        assert [weight for chunk in chunks for weight in chunk.weights.tolist()] == part["w"].tolist()


# Arrow data sets


@pytest.fixture
def folder(tmp_path):
    table = pa.Table.from_pandas(frame(), preserve_index=False)
    for k, (start, stop) in enumerate([(0, 300), (300, 301), (301, 301), (301, 1000)]):
        pq.write_table(table.slice(start, stop - start), tmp_path / f"{k}.parquet", row_group_size=90)
    return tmp_path


def test_any_stretch_of_a_data_set_is_that_of_the_table(folder):
    assert_any_stretch(ArrowSource(ds.dataset(folder), weights="w"), frame())


def test_columns_of_a_data_set_are_those_asked_for_and_others_are_named_columns(folder):
    source = ArrowSource(ds.dataset(folder), columns=["k"])
    assert source.names == ("k",)
    assert source.all_names == ["x", "k", "w", "name"]
    (names,) = source.named_columns(299, 303, ["name"])
    assert names.to_pylist() == [f"row {row}" for row in range(299, 303)]


def test_a_data_set_of_any_format_and_of_partitions_is_read(tmp_path):
    for year in (2023, 2024):
        (tmp_path / f"year={year}").mkdir()
        (tmp_path / f"year={year}" / "a.csv").write_text(f"x\n{year}.5\n0\n")
    source = ArrowSource(ds.dataset(tmp_path, format="csv", partitioning="hive"))
    assert source.names == ("x", "year")
    assert values(source.chunks(0, 4), 0) == [2023.5, 0.0, 2024.5, 0.0]
    assert values(source.chunks(1, 3), 1) == [2023, 2024]


def test_a_data_set_in_memory_is_a_source(folder):
    source = as_source(ds.dataset(pa.table({"x": [1.0, 2.0]})))
    assert isinstance(source, ArrowSource)
    assert values(source.chunks(0, 2)) == [1.0, 2.0]
    assert isinstance(as_source(ds.dataset(folder)), ArrowSource)
    assert as_source(pa.table({"x": [1.0]})) is None


def test_a_data_set_of_files_can_be_sent_to_another_process(folder):
    source = pickle.loads(pickle.dumps(ArrowSource(ds.dataset(folder), columns=["x"])))
    assert values(source.chunks(298, 302)) == [298.5, 299.5, 300.5, 301.5]


def test_fragments_that_differ_in_type_become_the_type_of_the_data_set(tmp_path):
    pq.write_table(pa.table({"x": [0.5, 1.0]}), tmp_path / "1.parquet")
    pq.write_table(pa.table({"x": [1, 2]}), tmp_path / "2.parquet")
    assert block(ArrowSource(ds.dataset(tmp_path))).columns[0].to_pylist() == [0.5, 1.0, 1.0, 2.0]


def test_a_data_set_without_rows_is_refused():
    with pytest.raises(SourceError, match="no rows") as caught:
        ArrowSource(ds.dataset(pa.table({"x": pa.array([], pa.float64())})))
    one_line(caught)


def test_columns_that_a_data_set_lacks_are_named(folder):
    for options in ({"columns": ["q"]}, {"weights": "q"}):
        with pytest.raises(SourceError, match="'q'") as caught:
            ArrowSource(ds.dataset(folder), **options)
        one_line(caught, "x, k, w, name")
    with pytest.raises(SourceError, match="'q'"):
        ArrowSource(ds.dataset(folder)).named_columns(0, 1, ["q"])


def test_files_of_a_data_set_that_cannot_be_read_are_named(folder):
    source = ArrowSource(ds.dataset(folder))
    os.unlink(folder / "1.parquet")
    with pytest.raises(SourceError) as caught:
        values(source.chunks(0, N_ROWS))
    one_line(caught, folder / "1.parquet")
    (folder / "1.parquet").write_text("no table")
    with pytest.raises(SourceError) as caught:
        ArrowSource(ds.dataset(folder))
    one_line(caught, folder / "1.parquet")


@pytest.mark.parametrize("other", [["u", "v"], [[1.0], [2.0]]], ids=["text", "lists"])
def test_fragments_that_do_not_fit_the_data_set_are_refused(tmp_path, other):
    pq.write_table(pa.table({"x": [0.5, 1.0]}), tmp_path / "1.parquet")
    pq.write_table(pa.table({"x": other}), tmp_path / "2.parquet")
    source = ArrowSource(ds.dataset(tmp_path))
    with pytest.raises(SourceError) as caught:
        values(source.chunks(0, 4))
    one_line(caught)


def test_a_filtered_data_set_is_refused_rather_than_read_without_its_filter(folder):
    with pytest.raises(SourceError, match="filter") as caught:
        ArrowSource(ds.dataset(folder).filter(ds.field("x") > 3))
    one_line(caught)


@pytest.mark.parametrize("weight", [-1.0, None, "many"])
def test_weights_of_a_data_set_that_count_no_rows_are_refused(weight):
    data = ds.dataset(pa.table({"x": [1.0], "w": [weight]}))
    source = ArrowSource(data, weights="w")
    with pytest.raises(SourceError, match="weights") as caught:
        list(source.chunks(0, 1))
    one_line(caught, "'w'")


# Dask DataFrames


def partitions(*parts):
    """A collection of partitions that are as they are."""
    return dd.from_map(lambda k: parts[k], list(range(len(parts))), meta=parts[0].iloc[:0])


def test_any_stretch_of_a_dask_frame_is_that_of_the_frame():
    whole = frame()
    assert_any_stretch(DaskSource(dd.from_pandas(whole, npartitions=7), weights="w"), whole)


def test_columns_of_a_dask_frame_are_those_asked_for():
    collection = dd.from_pandas(frame(), npartitions=3)
    source = DaskSource(collection, columns=["k", "x"], weights="x")
    assert source.names == ("k", "x")
    (chunk,) = source.chunks(8, 10)
    assert values([chunk], 0) == [1, 2]
    assert values([chunk], 1) == [8.5, 9.5]
    assert_array_equal(chunk.weights, [8.5, 9.5])


def test_names_of_columns_may_be_numbers():
    numbered = pd.DataFrame({10: [1.0, 2.0], 20: [3.0, 4.0], 0: [5.0, 6.0]})
    source = DaskSource(dd.from_pandas(numbered, npartitions=1), weights=0)
    (chunk,) = source.chunks(0, 2)
    assert source.names == (10, 20)
    assert values([chunk], 1) == [3.0, 4.0]
    assert_array_equal(chunk.weights, [5.0, 6.0])


def test_partitions_without_rows_and_repeated_indices_do_not_matter():
    collection = dd.concat([dd.from_pandas(frame(5), npartitions=2)] * 2)
    filtered = collection[(collection["x"] < 1) | (collection["x"] > 3)]
    source = DaskSource(filtered, columns=["x"])
    assert values(source.chunks(0, len(source))) == [0.5, 3.5, 4.5] * 2
    assert values(source.chunks(1, 4)) == [3.5, 4.5, 0.5]


def test_levels_that_differ_between_partitions_make_one_block():
    levels = [str(level) for level in range(300)]  # too many for indices of one byte
    parts = [pd.DataFrame({"s": pd.Categorical(["a", None, "b"])}), pd.DataFrame({"s": pd.Categorical(levels)})]
    assert block(DaskSource(partitions(*parts))).columns[0].to_pylist() == ["a", None, "b", *levels]


def test_columns_of_objects_may_hold_nothing_in_a_partition():
    with dask.config.set({"dataframe.convert-string": False}):
        parts = [pd.DataFrame({"s": np.array(cells, dtype=object)}) for cells in ([None, None], ["a", None])]
        assert block(DaskSource(partitions(*parts))).columns[0].to_pylist() == [None, None, "a", None]


def test_partitions_that_hold_different_things_are_refused():
    parts = [pd.DataFrame({"s": [1.0]}), pd.DataFrame({"s": ["a"]})]
    with pytest.raises(SourceError, match="do not agree") as caught:
        DaskSource(partitions(*parts))
    one_line(caught)


# Dask arrays


@pytest.mark.parametrize("dtype", ["f8", "f4", "i8"])
@pytest.mark.parametrize("chunks", [(300, 1), (1000, 3), (70, 2)])
def test_any_stretch_of_a_dask_array_is_that_of_the_array(chunks, dtype):
    X = np.arange(3000).reshape(1000, 3).astype(dtype)
    source = DaskSource(da.from_array(X, chunks=chunks))
    assert (source.shape, source.names) == ((1000, 3), (0, 1, 2))
    for start, stop in some_stretches(1000):
        found = [np.column_stack(chunk.columns) for chunk in source.chunks(start, stop)]
        assert_array_equal(np.concatenate([X[:0], *found]), X[start:stop])


def test_chunks_of_unknown_size_are_counted():
    X = np.arange(20.0).reshape(10, 2)
    collection = da.from_array(X, chunks=(3, 1))
    source = DaskSource(collection[collection[:, 0] > 7])
    assert source.shape == (6, 2)
    assert values(source.chunks(0, 6)) == X[4:, 0].tolist()


@pytest.mark.parametrize(
    "collection",
    [
        lambda: dd.from_pandas(frame(), npartitions=1)["x"],
        lambda: da.zeros(5),
        lambda: da.zeros((5, 2, 2)),
        lambda: dask.bag.from_sequence([1, 2]),
        lambda: da.from_array(np.array([["a", "b"]])),
    ],
    ids=["series", "line", "cube", "bag", "text"],
)
def test_collections_that_are_no_tables_of_numbers_are_refused(collection):
    with pytest.raises(ValueError, match=r"table|numbers"):
        as_source(collection())


def test_columns_of_dask_arrays_have_no_names():
    for options in ({"columns": ["x"]}, {"weights": "w"}):
        with pytest.raises(ValueError, match="no names"):
            DaskSource(da.zeros((5, 2)), **options)


# Both


def test_collections_are_recognized():
    for collection in (dd.from_pandas(frame(), npartitions=2), da.zeros((5, 2))):
        assert isinstance(as_source(collection), DaskSource)


def test_collections_without_rows_are_refused():
    collection = dd.from_pandas(frame(), npartitions=2)
    for nothing in (collection[collection["x"] < 0], da.zeros((0, 2))):
        with pytest.raises(SourceError, match="no rows") as caught:
            DaskSource(nothing)
        one_line(caught)


def test_columns_that_a_dask_frame_lacks_are_named():
    collection = dd.from_pandas(frame(), npartitions=2)
    for options in ({"columns": ["q"]}, {"weights": "q"}):
        with pytest.raises(SourceError, match="'q'") as caught:
            DaskSource(collection, **options)
        one_line(caught, "x, k, w, name")


@pytest.mark.parametrize("weight", [-1.0, np.nan, "many"])
def test_weights_of_a_dask_frame_that_count_no_rows_are_refused(weight):
    source = DaskSource(dd.from_pandas(pd.DataFrame({"x": [1.0], "w": [weight]}), npartitions=1), weights="w")
    with pytest.raises(SourceError, match="weights") as caught:
        list(source.chunks(0, 1))
    one_line(caught, "'w'")


def test_partitions_that_have_arrived_are_read_under_their_row_numbers():
    """As on a worker of a cluster: the source comes without partitions, these come beside it."""
    whole = frame()
    source = DaskSource(dd.from_pandas(whole, npartitions=4), columns=["x"], weights="w")
    source._placed = [part.compute() for part in source._parts]
    lent = pickle.loads(pickle.dumps(source.without_rows()))
    reading = lent.reading(200, 600, source.pieces(200, 600))
    chunks = list(reading.chunks(240, 510))
    assert values(chunks) == whole["x"][240:510].tolist()
    assert_array_equal(np.concatenate([chunk.weights for chunk in chunks]), whole["w"][240:510])


def test_a_source_without_its_partitions_says_so():
    source = pickle.loads(pickle.dumps(DaskSource(da.zeros((5, 2)))))
    with pytest.raises(SourceError, match="partitions"):
        list(source.chunks(0, 5))
    with pytest.raises(SourceError, match="partitions"):
        DaskSource(da.zeros((5, 2))).pieces(0, 5)


def test_other_columns_of_a_collection_are_not_there():
    with pytest.raises(SourceError, match="no columns but those to cluster by"):
        DaskSource(da.zeros((5, 2))).named_columns(0, 1, ["name"])


def groups(n_rows):
    rng = np.random.default_rng(n_rows)
    return 6.0 * np.eye(3)[rng.integers(3, size=n_rows)] + rng.standard_normal((n_rows, 3))


@pytest.mark.parametrize("n_rows", [150, 20_500])
@pytest.mark.parametrize(
    "model",
    [
        FCM(3, n_init=1, random_state=0),
        FRC(3, n_init=1, random_state=0),
        KFRC(3, bandwidths=3.0, n_init=1, random_state=0),
    ],
    ids=lambda model: type(model).__name__,
)
def test_results_of_a_dask_array_answer_as_those_of_an_array_do(model, n_rows):
    X = groups(n_rows)
    of_dask = clone(model).fit(da.from_array(X, chunks=(n_rows // 3 + 1, 3)))
    of_array = clone(model).fit(X)
    assert (of_dask.labels_ == of_array.labels_).all()
    for labels in (of_dask.labels_, of_dask.predict(da.from_array(X))):
        assert isinstance(labels, np.ndarray) == (n_rows < 20_000)
        assert X[labels == 0].shape == X[of_array.labels_ == 0].shape
        assert_array_equal(pd.Series(labels), of_array.labels_)
        assert_array_equal(np.bincount(labels), np.bincount(of_array.labels_))
    U = of_dask.memberships_
    assert_allclose(U[:10], of_array.memberships_[:10], atol=1e-5)
    assert_allclose((U > 0.9).mean(axis=0), (of_array.memberships_ > 0.9).mean(axis=0), atol=1e-3)
    assert_allclose(pd.DataFrame(U).to_numpy(), of_array.memberships_, atol=1e-5)
    assert_allclose(U.head(4), np.asarray(U)[:4])
    assert adjusted_rand_score(of_array.labels_, of_dask.labels_) == 1.0
