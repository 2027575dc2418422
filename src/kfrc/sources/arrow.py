"""Parquet files, Arrow data sets and text files as sources: row groups and batches, decoded when they are looked at."""

from __future__ import annotations

import glob
import os
import tempfile
from collections.abc import Iterator, Sequence
from copy import copy
from pathlib import Path
from typing import Any

import numpy as np

from kfrc.sources.base import Chunk, Source, SourceError, check_row_weights, chosen_names, natural_order

_BATCH_ROWS = 1 << 16
"""Rows that are decoded at a time."""

_TEXT_BLOCK = 1 << 24
"""Bytes of a text file that are parsed at a time; the types of its columns are those of the first so many."""


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
        self.files = tuple(parquet_files(path))
        self.weight_name = weights
        footers = [_Footer.read(file) for file in self.files]
        for footer in footers[1:]:
            footer.refuse_other_columns(footers[0])
        footers = [footer for footer in footers if footer.n_rows] or footers[:1]
        self.files = tuple(footer.path for footer in footers)
        self._sizes = tuple(footer.size for footer in footers)
        self._groups = tuple(footer.group_rows for footer in footers)
        self.names = tuple(chosen_names(footers[0].names, columns, weights, footers[0].path))
        self.all_names = footers[0].names
        self.n_rows = sum(footer.n_rows for footer in footers)
        if self.n_rows == 0:
            raise SourceError(f"{self.described} has no rows")

    def fingerprint(self) -> list[list[Any]]:
        """What changes if a file does: name, size and time of the last change of every file."""
        return [[file, size, os.stat(file).st_mtime_ns] for file, size in zip(self.files, self._sizes, strict=True)]

    @property
    def described(self) -> str:  # noqa: D102
        return self.files[0] if len(self.files) == 1 else f"{self.files[0]} and {len(self.files) - 1} more file(s)"

    def chunks(self, start: int, stop: int) -> Iterator[Chunk]:  # noqa: D102
        names = [*self.names, *([] if self.weight_name is None else [self.weight_name])]
        for batch in self._batches(start, stop, names):
            yield _chunk(batch, self.names, self.weight_name)

    def named_columns(self, start: int, stop: int, names: Sequence[str]) -> list[Any]:  # noqa: D102
        import pyarrow as pa

        batches = list(self._batches(start, stop, list(names)))
        return [pa.chunked_array([batch.column(name) for batch in batches]) for name in names]

    def _batches(self, start: int, stop: int, names: list[str]) -> Iterator[Any]:
        begin = 0
        for file, size, groups in zip(self.files, self._sizes, self._groups, strict=True):
            ends = begin + np.cumsum(groups)
            if begin < stop and ends[-1] > start:
                starts = ends - groups
                wanted = np.flatnonzero((starts < stop) & (ends > start))
                yield from _cut(_decoded(file, size, wanted.tolist(), names), int(starts[wanted[0]]), start, stop)
            begin = int(ends[-1])


class CSVSource(Source):
    """Rows of text files, kept as Parquet in a temporary folder after they were parsed once.

    Parsing text takes several times as long as everything else that a pass over the rows does. The copy is removed when
    nobody needs the source any more.

    Parameters
    ----------
    path : str, Path or sequence of them
        A file, a pattern such as ``"data/*.csv"``, or several; with a header each. ``.gz`` files are unpacked.
    columns, weights
        See :class:`ParquetSource`.
    separator : str, optional
        By default a tabulator for ``.tsv`` and ``.tab``, else a comma.
    folder : str or Path, optional
        Where to keep the copy, by default the system's place for temporary files.
    """

    def __init__(
        self,
        path: Any,
        columns: Sequence[str] | None = None,
        weights: str | None = None,
        *,
        separator: str | None = None,
        folder: Any = None,
    ) -> None:
        files = self._files = _expanded(path)
        if not files:
            raise SourceError(f"there is no file {path}")
        self._folder = tempfile.TemporaryDirectory(prefix="kfrc-rows-", dir=folder, ignore_cleanup_errors=True)
        schema: Any = None
        for k, file in enumerate(files):
            schema = _spool(file, os.path.join(self._folder.name, f"{k:06d}.parquet"), separator, schema)
        self._rows = ParquetSource(self._folder.name, columns, weights)
        self.names, self.n_rows, self.weight_name = self._rows.names, self._rows.n_rows, weights
        self._described = files[0] if len(files) == 1 else f"{files[0]} and {len(files) - 1} more file(s)"

    @property
    def described(self) -> str:  # noqa: D102
        return self._described

    def chunks(self, start: int, stop: int) -> Iterator[Chunk]:  # noqa: D102
        return self._rows.chunks(start, stop)

    def named_columns(self, start: int, stop: int, names: Sequence[str]) -> list[Any]:  # noqa: D102
        return self._rows.named_columns(start, stop, names)

    @property
    def all_names(self) -> list[str]:
        """Names of all columns of the files."""
        return self._rows.all_names

    def restricted(self, columns: Sequence[str], weights: str | None = None) -> CSVSource:
        """The same rows, which are not parsed again, with other columns to cluster by."""
        other = copy(self)
        other._rows = ParquetSource(list(self._rows.files), columns, weights)
        other.names, other.weight_name = other._rows.names, weights
        return other

    def fingerprint(self) -> list[list[Any]]:
        """What changes if a file does: name, size and time of the last change of every file."""
        return [[file, os.path.getsize(file), os.stat(file).st_mtime_ns] for file in self._files]

    def __getstate__(self) -> dict[str, Any]:
        # Only the process that parsed the files removes the copy.
        return {**self.__dict__, "_folder": None}


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
        self.weight_name = weights
        self._fragments = list(dataset.get_fragments())
        try:
            self._counts = [fragment.count_rows() for fragment in self._fragments]
        except (OSError, ValueError) as error:
            raise SourceError(f"the data set cannot be read: {_first_line(error)}") from error
        self.n_rows = sum(self._counts)
        if self.n_rows == 0:
            raise SourceError("the data set has no rows")
        self.all_names = list(dataset.schema.names)
        self.names = tuple(chosen_names(self.all_names, columns, weights, "the data set"))

    def chunks(self, start: int, stop: int) -> Iterator[Chunk]:  # noqa: D102
        names = [*self.names, *([] if self.weight_name is None else [self.weight_name])]
        for batch in self._batches(start, stop, names):
            yield _chunk(batch, self.names, self.weight_name)

    def named_columns(self, start: int, stop: int, names: Sequence[str]) -> list[Any]:  # noqa: D102
        import pyarrow as pa

        batches = list(self._batches(start, stop, list(names)))
        return [pa.chunked_array([batch.column(name) for batch in batches]) for name in names]

    def _batches(self, start: int, stop: int, names: list[str]) -> Iterator[Any]:
        begin = 0
        for fragment, count in zip(self._fragments, self._counts, strict=True):
            if begin < stop and begin + count > start:
                yield from _cut(self._read(fragment, names), begin, start, stop)
            begin += count

    def _read(self, fragment: Any, names: list[str]) -> Iterator[Any]:
        try:
            scanner = fragment.scanner(
                schema=self.dataset.schema, columns=names, batch_size=_BATCH_ROWS, use_threads=False
            )
            yield from scanner.to_batches()
        except (OSError, ValueError) as error:
            raise SourceError(f"the data set cannot be read: {_first_line(error)}") from error


class _Footer:
    """What the end of a Parquet file says of it."""

    def __init__(self, path: str, size: int, metadata: Any, schema: Any) -> None:
        self.path, self.size = path, size
        self.n_rows = int(metadata.num_rows)
        self.group_rows = np.array([metadata.row_group(k).num_rows for k in range(metadata.num_row_groups)], dtype=int)
        self.names = list(schema.names)
        self.kinds = [_kind(field.type) for field in schema]

    @classmethod
    def read(cls, path: str) -> _Footer:
        with _opened(path) as file:
            return cls(path, os.path.getsize(path), file.metadata, file.schema_arrow)

    def refuse_other_columns(self, first: _Footer) -> None:
        """Stop if the columns are not those of the first file."""
        if self.names != first.names:
            here, there = set(self.names) - set(first.names), set(first.names) - set(self.names)
            what = (
                f"has {_listed(here)}, which {first.path} has not"
                if here
                else f"lacks {_listed(there)}, which {first.path} has"
                if there
                else f"has its columns in another order than {first.path}"
            )
            raise SourceError(f"{self.path} {what}: all files must have the same columns")
        for name, kind, other in zip(self.names, self.kinds, first.kinds, strict=True):
            if kind != other:
                raise SourceError(
                    f"column '{name}' holds {kind} in {self.path}, but {other} in {first.path}: all files must agree"
                )


def _kind(kind: Any) -> str:
    """What a type of Arrow is: columns of several files must agree in that."""
    import pyarrow.types as types

    if types.is_dictionary(kind):
        kind = kind.value_type
    for name, found in (
        ("truth values", types.is_boolean),
        ("numbers", lambda k: types.is_integer(k) or types.is_floating(k) or types.is_decimal(k)),
        ("text", lambda k: types.is_string(k) or types.is_large_string(k)),
        ("dates", lambda k: types.is_date(k) or types.is_timestamp(k)),
    ):
        if found(kind):
            return name
    return str(kind)


def _listed(names: set[str]) -> str:
    return ", ".join(f"'{name}'" for name in sorted(names)[:5])


def _expanded(path: Any) -> list[str]:
    """Files of a path, a pattern or several of them, in natural order."""
    if isinstance(path, (list, tuple)):
        return [file for one in path for file in _expanded(one)]
    text = os.path.expanduser(os.fspath(path))
    if glob.has_magic(text) and not os.path.exists(text):
        return sorted((file for file in glob.glob(text, recursive=True) if os.path.isfile(file)), key=natural_order)
    return [text]


def parquet_files(path: Any) -> list[str]:
    """The Parquet files of a path, a folder, a pattern or several of them.

    Raises
    ------
    SourceError
        If there are none, or one that is named does not exist.
    """
    found: list[str] = []
    for file in _expanded(path):
        if os.path.isdir(file):
            inside = (p for p in Path(file).rglob("*") if p.suffix in (".parquet", ".pq") and p.is_file())
            visible = (p for p in inside if not any(part[0] in "._" for part in p.relative_to(file).parts))
            found += sorted(map(str, visible), key=natural_order)
        elif os.path.exists(file):
            found.append(file)
        else:
            raise SourceError(f"{file} does not exist")
    if not found:
        raise SourceError(f"there are no Parquet files in {path}")
    return found


def _opened(path: str) -> Any:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        return pq.ParquetFile(path, memory_map=True, pre_buffer=False)
    except FileNotFoundError:
        raise SourceError(f"{path} does not exist any more") from None
    except (pa.ArrowException, OSError) as error:
        raise SourceError(f"{path} is no Parquet file, or is damaged: {_first_line(error)}") from error


def _decoded(path: str, size: int, groups: list[int], names: list[str]) -> Iterator[Any]:
    """Batches of some row groups."""
    import pyarrow as pa

    with _opened(path) as file:
        if os.path.getsize(path) != size:
            raise SourceError(f"{path} has changed since its rows were counted: begin again")
        try:
            yield from file.iter_batches(_BATCH_ROWS, row_groups=groups, columns=names, use_threads=False)
        except (pa.ArrowException, OSError) as error:
            where = f"row groups {groups[0]} to {groups[-1]}" if len(groups) > 1 else f"row group {groups[0]}"
            raise SourceError(f"{path}: {where} cannot be read, the file is damaged: {_first_line(error)}") from error


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


def _chunk(batch: Any, names: Sequence[str], weight_name: str | None) -> Chunk:
    weights = None
    if weight_name is not None:
        weights = check_row_weights(batch.column(weight_name).to_numpy(zero_copy_only=False), weight_name)
    return Chunk([batch.column(name) for name in names], weights)


def _spool(path: str, target: str, separator: str | None, schema: Any) -> Any:
    """Parse a text file into Parquet; the types of its columns, which further files must have."""
    import pyarrow as pa
    import pyarrow.csv as text
    import pyarrow.parquet as pq

    suffixes = Path(path).suffixes
    delimiter = separator or ("\t" if {".tsv", ".tab"} & set(suffixes) else ",")
    reading = text.ReadOptions(use_threads=False, block_size=_TEXT_BLOCK)
    parsing = text.ParseOptions(delimiter=delimiter, newlines_in_values=True)
    try:
        if schema is None:
            with text.open_csv(path, reading, parsing) as first:
                # A column that begins with whole numbers may go on with others.
                schema = pa.schema(
                    [
                        (field.name, pa.float64() if _kind(field.type) == "numbers" else field.type)
                        for field in first.schema
                    ]
                )
        types = {field.name: pa.string() if pa.types.is_null(field.type) else field.type for field in schema}
        converting = text.ConvertOptions(column_types=types, strings_can_be_null=True)
        with text.open_csv(path, reading, parsing, converting) as batches:
            if batches.schema.names != schema.names:
                raise SourceError(f"{path} has other columns than the first file: all files must have the same columns")
            with pq.ParquetWriter(target, batches.schema, compression="lz4") as writer:
                for batch in batches:
                    writer.write_batch(batch)
    except FileNotFoundError:
        raise SourceError(f"{path} does not exist") from None
    except (pa.ArrowException, OSError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise  # the disk is full, or nobody may read it: what the system says is clear
        raise SourceError(f"{path} cannot be read as a table of text: {_first_line(error)}") from error
    return schema


def _first_line(error: BaseException) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]
