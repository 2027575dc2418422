"""Parquet files and Arrow data sets as sources: row groups and batches, decoded when they are looked at."""

from __future__ import annotations

import glob
import os
import pickle
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from kfrc._numerics import available_memory
from kfrc.sources.base import (
    Chunk,
    Source,
    SourceError,
    check_row_weights,
    chosen_names,
    natural_order,
    require_arrow,
)
from kfrc.sources.footers import DAMAGED, Footer, first_line, opened, reading, shared_types
from kfrc.sources.pages import unpacked_chunks
from kfrc.sources.spelled import coded_texts, spelled_bytes
from kfrc.sources.unchanged import FileState, fingerprint_of, states_of

_BATCH_ROWS = 1 << 16
"""Rows that are decoded at a time."""

_BATCH_BYTES = 1 << 28
"""Bytes that these may take, whatever the memory; tables of many columns are decoded in fewer rows."""

_FEWEST_ROWS = 1 << 10
_CELL = 8  # bytes of a number

_MEMORY_SHARE = 0.25
"""Of the memory that can be had: as much as the rows that are decoded at a time may take."""


class ParquetSource(Source):
    """Rows of Parquet files.

    Parameters
    ----------
    path : str, Path or sequence of them
        A file, a folder (all Parquet files in it and below), a pattern such as ``"data/*.parquet"``, or several of
        these. Files come in natural order: part.2 before part.10.
    columns : sequence of str, optional
        To cluster by; all but ``weights`` if not given.
    weights : str, optional
        The column that says how many rows each row stands for.

    Raises
    ------
    SourceError
        If there is no such file, a file is damaged, or files have different columns.

    Examples
    --------
    >>> import tempfile
    >>> import pyarrow as pa, pyarrow.parquet as pq
    >>> from kfrc.sources import ParquetSource
    >>> folder = tempfile.mkdtemp()
    >>> for k in range(3):
    ...     pq.write_table(pa.table({"x": [k, k + 0.5], "y": [1.0, 2.0]}), f"{folder}/part-{k}.parquet")
    >>> source = ParquetSource(f"{folder}/part-*.parquet", columns=["x"])
    >>> source.shape, source.names
    ((6, 1), ('x',))
    """

    def __init__(self, path: Any, columns: Sequence[str] | None = None, weights: str | None = None) -> None:
        require_arrow()
        self.files = tuple(parquet_files(path))
        self.weight_name = weights
        states = dict(zip(self.files, states_of(self.files), strict=True))
        footers = [Footer.read(file) for file in self.files]
        for footer in footers[1:]:
            footer.refuse_other_names(footers[0])
        footers = [footer for footer in footers if footer.n_rows] or footers[:1]
        self.files = tuple(footer.path for footer in footers)
        self._footers, self._states = tuple(footers), tuple(states[footer.path] for footer in footers)
        self._types = shared_types(footers)
        self.names = tuple(chosen_names(footers[0].names, columns, weights, self.described))
        self.all_names = footers[0].names
        self.n_rows = sum(footer.n_rows for footer in footers)
        if self.n_rows == 0:
            raise SourceError(f"{self.described} has no rows")

    def fingerprint(self) -> list[list[Any]]:
        """What changes if a file does: name, size and digest of every file."""
        return fingerprint_of(self._states)

    @property
    def index_names(self) -> list[str]:
        """The columns that were an index of pandas, as it noted in the first file."""
        return self._footers[0].index_names

    @property
    def described(self) -> str:  # noqa: D102
        return self.files[0] if len(self.files) == 1 else f"{self.files[0]} and {len(self.files) - 1} more file(s)"

    def chunks(self, start: int, stop: int) -> Iterator[Chunk]:  # noqa: D102
        names = [*self.names, *([] if self.weight_name is None else [self.weight_name])]
        for footer, batch in self._batches(start, stop, names):
            yield _chunk(batch, self.names, self.weight_name, self._called(footer))

    def named_columns(self, start: int, stop: int, names: Sequence[str]) -> list[Any]:  # noqa: D102
        batches = [batch for _, batch in self._batches(start, stop, _among(self.all_names, names, self.described))]
        return _columns_of(batches, names)

    def _called(self, footer: Footer) -> str:
        """What a file is called in messages."""
        return footer.path

    def _batches(self, start: int, stop: int, names: list[str]) -> Iterator[tuple[Footer, Any]]:
        begin = 0
        for footer, state in zip(self._footers, self._states, strict=True):
            ends = begin + np.cumsum(footer.group_rows)
            if begin < stop and ends[-1] > start:
                starts = ends - footer.group_rows
                wanted = np.flatnonzero((starts < stop) & (ends > start))
                batches = _decoded(footer, state, wanted.tolist(), names, self._types)
                missing = min(stop, int(ends[-1])) - max(start, begin)
                for batch in _cut(batches, int(starts[wanted[0]]), start, stop):
                    missing -= len(batch)
                    yield footer, batch
                if missing:
                    raise SourceError(f"{footer.path} is damaged: it has fewer rows than it says")
            begin = int(ends[-1])


class ArrowSource(Source):
    """Rows of an Arrow data set (:func:`pyarrow.dataset.dataset`), of any format that Arrow reads.

    Parameters
    ----------
    dataset : pyarrow.dataset.Dataset
    columns, weights
        See :class:`ParquetSource`.
    """

    def __init__(self, dataset: Any, columns: Sequence[str] | None = None, weights: str | None = None) -> None:
        self.dataset = dataset
        self.files = tuple(getattr(dataset, "files", ()))
        self.weight_name = weights
        with _readable():
            self._fragments = list(dataset.get_fragments())
            self._states = _states_of_local(self._fragments)
            self._counts = [fragment.count_rows() for fragment in self._fragments]
        self.n_rows = sum(self._counts)
        if self.n_rows == 0:
            raise SourceError("the data set has no rows")
        self.all_names = list(dataset.schema.names)
        self.names = tuple(chosen_names(self.all_names, columns, weights, "the data set"))

    def place(self, client: Any) -> None:  # noqa: D102
        try:
            pickle.dumps(self.dataset)
        except TypeError:
            raise SourceError(
                "the data set is in the memory of this process and cannot be sent to a cluster: write it to files"
            ) from None

    def chunks(self, start: int, stop: int) -> Iterator[Chunk]:  # noqa: D102
        names = [*self.names, *([] if self.weight_name is None else [self.weight_name])]
        for batch in self._batches(start, stop, names):
            yield _chunk(batch, self.names, self.weight_name, "the data set")

    def named_columns(self, start: int, stop: int, names: Sequence[str]) -> list[Any]:  # noqa: D102
        batches = list(self._batches(start, stop, _among(self.all_names, names, "the data set")))
        return _columns_of(batches, names)

    def _batches(self, start: int, stop: int, names: list[str]) -> Iterator[Any]:
        begin = 0
        for fragment, state, count in zip(self._fragments, self._states, self._counts, strict=True):
            if begin < stop and begin + count > start:
                yield from _cut(self._read(fragment, state, names), begin, start, stop)
            begin += count

    def _read(self, fragment: Any, state: FileState | None, names: list[str]) -> Iterator[Any]:
        refuse_change = state.refuse_change if state is not None else lambda: None
        refuse_change()
        try:
            with _readable():
                scanner = fragment.scanner(
                    schema=self.dataset.schema, columns=names, batch_size=_BATCH_ROWS, use_threads=False
                )
                for batch in scanner.to_batches():
                    refuse_change()
                    yield batch
        except SourceError:
            refuse_change()
            raise


def _states_of_local(fragments: list[Any]) -> list[FileState | None]:
    """States of the files of fragments; None for those that are in memory or on other machines."""
    import pyarrow.fs as fs

    local = {f.path for f in fragments if isinstance(getattr(f, "filesystem", None), fs.LocalFileSystem) and f.path}
    states = {state.path: state for state in states_of(sorted(local))}
    return [states.get(getattr(fragment, "path", "")) for fragment in fragments]


@contextmanager
def _readable() -> Iterator[None]:
    """Errors of Arrow and of files as what they mean."""
    import pyarrow as pa

    try:
        yield
    except (pa.ArrowException, OSError, ValueError) as error:
        raise SourceError(f"the data set cannot be read: {first_line(error)}") from error


def expanded(path: Any) -> list[str]:
    """Files of a path, a pattern or several of them, in natural order.

    Raises
    ------
    SourceError
        If there are none of a pattern.
    """
    if isinstance(path, (list, tuple)):
        return [file for one in path for file in expanded(one)]
    text = os.path.expanduser(os.fspath(path))
    if glob.has_magic(text) and not os.path.exists(text):
        found = [file for file in glob.glob(text, recursive=True) if os.path.isfile(file)]
        if not found:
            raise SourceError(f"there is no file {text}")
        return sorted(found, key=natural_order)
    return [text]


def parquet_files(path: Any) -> list[str]:
    """The Parquet files of a path, a folder, a pattern or several of them.

    Raises
    ------
    SourceError
        If there are none, or one that is named does not exist.
    """
    found: list[str] = []
    for file in expanded(path):
        if os.path.isdir(file):
            inside = (p for p in Path(file).rglob("*") if p.suffix in (".parquet", ".pq") and p.is_file())
            visible = (p for p in inside if not any(part[0] in "._" for part in p.relative_to(file).parts))
            found += sorted(map(str, visible), key=natural_order)
        elif os.path.exists(file):
            found.append(file)
        else:
            raise SourceError(f"{file} does not exist")
    if not found:
        is_folder = isinstance(path, (str, os.PathLike)) and os.path.isdir(path)
        where = (
            f"{path} is a folder, but there are no Parquet files in it" if is_folder else f"no Parquet files: {path}"
        )
        raise SourceError(where)
    return found


def _decoded(
    footer: Footer, state: FileState, groups: list[int], names: list[str], types: Mapping[str, Any]
) -> Iterator[Any]:
    """Batches of some row groups, each of the file as it was counted."""
    import pyarrow as pa

    state.refuse_change()
    limit = piece_limit()
    try:
        coded = coded_texts(footer.parts(), footer.schema, groups, names)
        _refuse_large_pages(footer, groups, names, limit)
        n_rows = min(_BATCH_ROWS, max(_FEWEST_ROWS, _BATCH_BYTES // (_CELL * len(names))))
        with opened(footer.path, coded) as file:
            for batch in file.iter_batches(n_rows, row_groups=groups, columns=names, use_threads=False):
                for column in batch.columns:
                    if not pa.types.is_primitive(column.type):
                        column.validate(full=True)  # text and levels refer to bytes that a damaged file may lack
                _refuse_long_texts(footer, batch, limit)
                state.refuse_change()
                yield _cast(batch, {name: footer.schema.field(name).type for name in coded} | dict(types))
    except SourceError:
        raise
    except DAMAGED as error:
        state.refuse_change()
        where = f"row groups {groups[0]} to {groups[-1]}" if len(groups) > 1 else f"row group {groups[0]}"
        raise SourceError(f"{footer.path}: {where} cannot be read, the file is damaged: {first_line(error)}") from error


def piece_limit() -> int:
    """Bytes that the rows that are decoded at a time may take: a share of the memory that can be had."""
    memory = available_memory()
    return max(_BATCH_BYTES, int(_MEMORY_SHARE * memory) if memory < float("inf") else 0)


def _refuse_large_pages(footer: Footer, groups: list[int], names: list[str], limit: int) -> None:
    """Stop if pages, of which one per column is unpacked at a time, are too large for the memory."""
    largest: dict[str, int] = dict.fromkeys(names, 0)
    with open(footer.path, "rb") as file:
        for group in groups:
            for chunk in footer.parts().groups[group]:
                name = chunk.name.partition(".")[0] if chunk.name not in largest else chunk.name
                if name in largest:
                    largest[name] = max(largest[name], unpacked_chunks([chunk], reading(file)).largest)
    size = sum(largest.values())
    if size > limit:
        raise SourceError(
            f"{footer.path} has pages that unpack to {size / 2**20:,.0f} MB, and at most {limit / 2**20:,.0f} MB are "
            "read at a time: write it again with smaller pages, or leave columns out"
        )


def _refuse_long_texts(footer: Footer, batch: Any, limit: int) -> None:
    """Stop if text that is stored once for many rows is too long when each has its own."""
    size = sum(spelled_bytes(column) for column in batch.columns)
    if size > limit:
        raise SourceError(
            f"{footer.path} has columns whose texts grow to {size / 2**20:,.0f} MB in {len(batch):,} rows, and at most "
            f"{limit / 2**20:,.0f} MB are read at a time: leave columns of long texts out"
        )


def _cast(batch: Any, types: Mapping[str, Any]) -> Any:
    """A batch with some of its columns in other types."""
    import pyarrow as pa

    if not types:
        return batch
    names = batch.schema.names
    columns = [
        column.cast(types[name], safe=False) if name in types else column
        for name, column in zip(names, batch.columns, strict=True)
    ]
    return pa.RecordBatch.from_arrays(columns, names=names)


def _cut(batches: Iterator[Any], begin: int, start: int, stop: int) -> Iterator[Any]:
    """The rows from ``start`` to ``stop`` of batches of which the first begins at row ``begin``."""
    for batch in batches:
        end = begin + len(batch)
        if end > start:
            low, high = max(start, begin), min(stop, end)
            yield batch if high - low == len(batch) else batch.slice(low - begin, high - low)
        begin = end
        if begin >= stop:
            return


def _chunk(batch: Any, names: Sequence[str], weight_name: str | None, where: str) -> Chunk:
    weights = None
    if weight_name is not None:
        values = batch.column(weight_name).to_numpy(zero_copy_only=False)
        weights = check_row_weights(values, f"the column of weights '{weight_name}' of {where}")
    return Chunk([batch.column(name) for name in names], weights)


def _among(available: Sequence[str], names: Sequence[str], where: str) -> list[str]:
    """Names of other columns than those to cluster by."""
    return chosen_names(available, names, None, where)


def _columns_of(batches: list[Any], names: Sequence[str]) -> list[Any]:
    import pyarrow as pa

    return [pa.chunked_array([batch.column(name) for batch in batches]) for name in names]
