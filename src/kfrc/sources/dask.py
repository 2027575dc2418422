"""Collections of Dask as sources: partitions are computed where they are needed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from importlib import import_module
from typing import Any

import numpy as np

from kfrc.sources.base import Chunk, Source, SourceError, check_row_weights, chosen_names
from kfrc.sources.footers import first_line


class DaskSource(Source):
    """Rows of a dask DataFrame or of a dask array.

    On one machine a partition is computed whenever it is looked at; a cluster computes every partition once and keeps
    it, in its memory or on its disks.

    Parameters
    ----------
    collection : dask.dataframe.DataFrame or dask.array.Array
    columns : sequence of str, optional
        Of a DataFrame: to cluster by; all but ``weights`` if not given.
    weights : str, optional
        Of a DataFrame: the column that says how many rows each row stands for.
    """

    def __init__(self, collection: Any, columns: Sequence[str] | None = None, weights: str | None = None) -> None:
        dask: Any = import_module("dask")
        self.weight_name = weights
        n_dimensions = getattr(collection, "ndim", 0)
        if n_dimensions != 2:
            raise ValueError(f"X must be a table (2 dimensions), got {n_dimensions} dimension(s)")
        self._schema: Any = None
        if hasattr(collection, "to_dask_array"):  # a DataFrame
            available = list(collection.columns)
            self.names: tuple[Any, ...] = tuple(chosen_names(available, columns, weights, "the dask DataFrame"))
            wanted = dict.fromkeys([*self.names, *([] if weights is None else [weights])])
            self._parts = collection[list(wanted)].to_delayed()
            found = dask.compute(*[dask.delayed(_rows_and_schema)(part) for part in self._parts])
            counts = [n_rows for n_rows, _ in found]
            self._schema = _shared_schema([schema for _, schema in found])
        else:
            if columns is not None or weights is not None:
                raise ValueError("columns of a dask array have no names: choose them before")
            if collection.dtype.kind not in "iufb":
                raise ValueError(f"a dask array to cluster holds numbers, got {collection.dtype}")
            collection = collection.rechunk({1: -1})
            if np.isnan(collection.chunks[0]).any():
                collection = collection.compute_chunk_sizes()
            self.names = tuple(range(collection.shape[1]))
            self._parts = collection.to_delayed().ravel().tolist()
            counts = collection.chunks[0]
        self._ends = np.cumsum(counts)
        self.n_rows = int(self._ends[-1]) if len(self._ends) else 0
        if self.n_rows == 0:
            raise SourceError("the dask collection has no rows")
        self._placed: list[Any] | None = None

    def place(self, client: Any) -> None:
        """Let a cluster compute every partition and keep it."""
        self._placed = client.compute(self._parts)

    @property
    def placed(self) -> bool:  # noqa: D102
        return self._placed is not None

    def _overlapping(self, start: int, stop: int) -> list[int]:
        starts = np.concatenate([[0], self._ends[:-1]])
        found: list[int] = np.flatnonzero((starts < stop) & (self._ends > start)).tolist()
        return found

    def chunks(self, start: int, stop: int) -> Iterator[Chunk]:  # noqa: D102
        if self._parts is None:
            raise SourceError("partitions of a dask collection stay where it was made: make the source anew")
        for k in self._overlapping(start, stop):
            yield self._cut(self._parts[k].compute(scheduler="synchronous"), k, start, stop)

    def _cut(self, part: Any, k: int, start: int, stop: int) -> Chunk:
        begin = int(self._ends[k - 1]) if k else 0
        rows = slice(max(start - begin, 0), max(min(stop, int(self._ends[k])) - begin, 0))
        if self._schema is None:
            block = part[rows]
            return Chunk([block[:, j] for j in range(block.shape[1])])
        return self._chunk_of(part.iloc[rows])

    def _chunk_of(self, part: Any) -> Chunk:
        """Rows of a pandas DataFrame, whose first columns are those to cluster by."""
        import pyarrow as pa

        named = part.set_axis(self._schema.names, axis=1)
        table = pa.Table.from_pandas(named, self._schema, preserve_index=False, safe=False)
        weights = None
        if self.weight_name is not None:
            place = [*self.names, self.weight_name].index(self.weight_name)
            described = f"the column of weights '{self.weight_name}' of the dask DataFrame"
            weights = check_row_weights(table.column(place).to_numpy(), described)
        return Chunk([table.column(j) for j in range(len(self.names))], weights)

    def pieces(self, start: int, stop: int) -> tuple[Any, ...] | None:  # noqa: D102
        if self._placed is None:
            raise SourceError("the partitions have not been given to a cluster yet")
        return tuple(self._placed[k] for k in self._overlapping(start, stop))

    def reading(self, start: int, stop: int, pieces: Sequence[Any]) -> Source:  # noqa: D102
        return _Arrived(self, pieces, self._overlapping(start, stop))

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_parts": None, "_placed": None}  # partitions arrive as pieces


class _Arrived(Source):
    """Some partitions that are there."""

    def __init__(self, whole: DaskSource, parts: Sequence[Any], places: Sequence[int]) -> None:
        self.names, self.n_rows, self.weight_name = whole.names, whole.n_rows, whole.weight_name
        self._whole, self._parts = whole, dict(zip(places, parts, strict=True))

    def chunks(self, start: int, stop: int) -> Iterator[Chunk]:
        for k in self._whole._overlapping(start, stop):
            yield self._whole._cut(self._parts[k], k, start, stop)


def _rows_and_schema(part: Any) -> tuple[int, Any]:
    """Number of rows and types of a partition, as Arrow sees it."""
    import pyarrow as pa

    return len(part), pa.Schema.from_pandas(part, preserve_index=False).remove_metadata()


def _shared_schema(schemas: Sequence[Any]) -> Any:
    """Types that the columns of all partitions fit: levels, and objects of which some are None, may differ in them."""
    import pyarrow as pa

    try:
        return pa.unify_schemas(list(schemas), promote_options="permissive")
    except pa.ArrowException as error:
        raise SourceError(f"partitions of the dask DataFrame do not agree: {first_line(error)}") from error
