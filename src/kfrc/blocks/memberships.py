"""Memberships of rows that need not fit into memory: made when they are asked for, block by block."""

from __future__ import annotations

import math
import os
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin
from numpy.typing import NDArray

from kfrc._numerics import check_memory
from kfrc.blocks.descent import occupied_only
from kfrc.blocks.engine import Engine, LocalEngine
from kfrc.blocks.partition import BLOCK_ROWS, Partition, sub_blocks
from kfrc.blocks.reader import Block, Coding, Reader
from kfrc.blocks.row_maps import BlockCenters, RowMap
from kfrc.blocks.survey import SAMPLE_ROWS
from kfrc.fuzzifiers import Fuzzifier
from kfrc.sources import Chunk, Source
from kfrc.typing import FloatArray, IntArray

_PART_ROWS = 1 << 22
"""Rows of one file of memberships."""

FINISHED = "_SUCCESS"
"""Name of the empty file that stands in a folder of memberships when all of them are there."""


class LazyArray(NDArrayOperatorsMixin, ABC):
    """Values of all rows of a source, none of which is kept.

    ``head(n)`` are those of the first rows and ``blocks()`` all of them in order. Comparisons, arithmetic, indices,
    iteration and ``numpy.asarray`` give what they give for an array; a row or a slice of rows reads the blocks it lies
    in, everything else makes an array of all rows, if that fits into memory.
    """

    __hash__ = None  # type: ignore[assignment]  # as of arrays, whose comparisons are elementwise

    @property
    @abstractmethod
    def shape(self) -> tuple[int, ...]:
        """Number of rows, and of values of each."""

    @property
    @abstractmethod
    def dtype(self) -> np.dtype[Any]:
        """Type of the values."""

    @abstractmethod
    def blocks(self, engine: Engine | None = None, first_block: int = 0) -> Iterator[tuple[int, NDArray[Any]]]:
        """First row and values of every block, in order.

        Parameters
        ----------
        engine : Engine, optional
            Who computes them; by default threads of this process.
        first_block : int, default=0
            Where to begin.
        """

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """Number of values."""
        return math.prod(self.shape)

    def __len__(self) -> int:
        return self.shape[0]

    def __bool__(self) -> bool:
        raise ValueError("the truth value of an array is ambiguous: use numpy.any or numpy.all of it")

    def head(self, n: int = 5) -> NDArray[Any]:
        """Values of the first rows."""
        return self._between(0, min(n, len(self)))

    def _between(self, first: int, last: int) -> NDArray[Any]:
        """Values of some rows, from their blocks only."""
        found: list[NDArray[Any]] = []
        if first < last:
            for start, part in self.blocks(LocalEngine(1), first // BLOCK_ROWS):
                found.append(part[max(first - start, 0) : last - start])
                if start + len(part) >= last:
                    break
        return np.concatenate(found) if found else np.empty((0, *self.shape[1:]), dtype=self.dtype)

    def __iter__(self) -> Iterator[Any]:
        for _, part in self.blocks():
            yield from part

    def __getitem__(self, key: Any) -> Any:
        rows, *rest = key if isinstance(key, tuple) and key else (key,)
        if isinstance(rows, slice) and (rows.step is None or rows.step > 0):
            first, last, step = rows.indices(len(self))
            return self._between(first, last)[(slice(None, None, step), *rest)]
        if isinstance(rows, (int, np.integer)) and not isinstance(rows, bool):
            row = int(rows) if rows >= 0 else int(rows) + len(self)
            if not 0 <= row < len(self):
                raise IndexError(f"row {rows} is out of range: there are {len(self)} rows")
            return self._between(row, row + 1)[(0, *rest)]
        return np.asarray(self)[key]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        if copy is False:
            raise ValueError("the values are computed when an array is made of them: use copy=None")
        dtype = np.dtype(self.dtype if dtype is None else dtype)
        check_memory(self.size * dtype.itemsize, f"the array of shape {self.shape}", "head(n), a slice or blocks()")
        values = np.empty(self.shape, dtype=dtype)
        for first, part in self.blocks():
            values[first : first + len(part)] = part
        return values

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        if any(isinstance(value, LazyArray) for value in options.get("out", ())):
            raise TypeError("values of a source cannot be written to: make an array of them with numpy.array")
        arrays = [np.asarray(value) if isinstance(value, LazyArray) else value for value in inputs]
        return getattr(ufunc, method)(*arrays, **options)


class LazyMemberships(LazyArray):
    """Memberships of all rows of a source, of shape (n_rows, n_clusters), none of which is kept.

    ``head(n)`` are those of the first rows, ``blocks()`` all of them in order, ``write_parquet(folder)`` writes them to
    files; in everything else they are like an array.
    """

    n_clusters: int

    @property
    @abstractmethod
    def reader(self) -> Reader:
        """Reads the rows."""

    @abstractmethod
    def _made(self, engine: Engine, reader: Reader) -> Iterator[list[tuple[int, FloatArray]]]:
        """First row and memberships of every block of a reader, task by task."""

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of rows and clusters."""
        return self.reader.partition.n_rows, self.n_clusters

    @property
    def dtype(self) -> np.dtype[Any]:
        """Double precision."""
        return np.dtype(np.float64)

    def __repr__(self) -> str:
        n_rows, n_clusters = self.shape
        return f"<memberships of {n_rows} rows in {n_clusters} clusters: head(n), blocks(), write_parquet(folder)>"

    def blocks(  # noqa: D102
        self, engine: Engine | None = None, first_block: int = 0
    ) -> Iterator[tuple[int, FloatArray]]:
        reader = self.reader.beginning_at(first_block)
        for task in self._made(engine or LocalEngine(), reader):
            yield from task

    def write_parquet(
        self,
        folder: str | Path,
        *,
        names: Sequence[str] = (),
        engine: Engine | None = None,
        resume: bool = False,
    ) -> list[Path]:
        """Write memberships to Parquet files of some million rows each.

        A file gets its name when it is complete, and ``_SUCCESS`` is written at the end: a folder without it is not
        finished. Columns are ``label``, the cluster of largest membership, ``cluster_0``, ``cluster_1``, …

        Parameters
        ----------
        folder : str or Path
            Made if it does not exist.
        names : sequence of str, optional
            Columns of the source to put before the memberships, such as names of the rows.
        engine : Engine, optional
            Who computes them; by default threads of this process.
        resume : bool, default=False
            Whether files that are there already are of these memberships, and are kept.

        Returns
        -------
        list of Path
            The files.

        Raises
        ------
        OSError
            If the disk is full, or nobody may write there.
        ValueError
            If the rows themselves stand there in files of these names, or one of ``names`` is that of a column of
            memberships.
        """
        target = Path(folder)
        taken = {"label", *(f"cluster_{i}" for i in range(self.n_clusters))}.intersection(names)
        if taken:
            raise ValueError(f"column '{min(taken)}' has the name of a column of memberships: give it another")
        rows = {Path(file).resolve() for file in self.reader.source.files}
        if any(part.resolve() in rows for part in _parts_in(target)):
            raise ValueError(f"{target} holds the rows themselves: write memberships to another folder")
        try:
            target.mkdir(parents=True, exist_ok=True)
            (target / FINISHED).unlink(missing_ok=True)
            if not resume:
                for old in _parts_in(target):
                    old.unlink()
            self._write_parts(target, list(names), engine)
            (target / FINISHED).touch()
        except OSError as error:
            raise OSError(
                f"memberships could not be written to {target}: {error.strerror or error}; the files named part-… are "
                "complete, others are missing"
            ) from error
        finally:
            with suppress(OSError):
                for partial in target.glob("*.partial"):
                    partial.unlink()
        return _parts_in(target)

    def _write_parts(self, target: Path, names: list[str], engine: Engine | None) -> None:
        import pyarrow.parquet as pq

        part_blocks = _PART_ROWS // BLOCK_ROWS
        n_done = 0
        while (target / _part_name(n_done)).exists():
            n_done += 1
        if n_done * part_blocks >= self.reader.partition.n_blocks:
            return
        writer: Any = None
        partial = path = target
        try:
            for first, U in self.blocks(engine, n_done * part_blocks):
                index = first // BLOCK_ROWS
                table = self._table(first, U, names)
                if index % part_blocks == 0:
                    path = target / _part_name(index // part_blocks)
                    partial = path.with_suffix(".partial")
                    writer = pq.ParquetWriter(partial, table.schema)
                writer.write_table(table)
                if (index + 1) % part_blocks == 0 or first + len(U) == len(self):
                    writer.close()
                    writer = None
                    os.replace(partial, path)
        finally:
            if writer is not None:
                with suppress(Exception):  # the error that is on its way says more
                    writer.close()

    def _table(self, first: int, U: FloatArray, names: list[str]) -> Any:
        import pyarrow as pa

        columns: dict[str, Any] = {}
        if names:
            found = self.reader.source.named_columns(first, first + len(U), names)
            columns |= dict(zip(names, found, strict=True))
        columns["label"] = U.argmax(axis=1).astype(np.int32)
        columns |= {f"cluster_{i}": U[:, i] for i in range(U.shape[1])}
        return pa.table(columns)


def _part_name(index: int) -> str:
    return f"part-{index:05d}.parquet"


def _parts_in(folder: Path) -> list[Path]:
    """Files of memberships in a folder; other programs name theirs similarly."""
    return sorted(path for path in folder.glob("part-*.parquet") if re.fullmatch(r"part-\d{5,}", path.stem))


@dataclass(frozen=True, eq=False, repr=False)
class BlockMemberships(LazyMemberships):
    """Memberships of the rows of a fit, from its centers.

    Attributes
    ----------
    fitted : Reader
        Blocks in standard units.
    rows : RowMap
    centers : BlockCenters
    rule : Fuzzifier
    """

    fitted: Reader
    rows: RowMap
    centers: BlockCenters
    rule: Fuzzifier

    @property
    def reader(self) -> Reader:  # noqa: D102
        return self.fitted

    @property
    def n_clusters(self) -> int:  # type: ignore[override]
        """Number of clusters."""
        return self.centers.n_clusters

    def of(self, values: FloatArray) -> FloatArray:
        """Memberships of rows in standard units, values of shape (n_columns, n_rows)."""
        U = np.empty((values.shape[1], self.n_clusters))
        table = self.rows.table(self.centers)
        workspace: dict[str, Any] = {}
        for part in sub_blocks(values.shape[1], self.rows.sub_block_rows):
            basis = self.rows.prepared(values[:, part], workspace)
            distances = occupied_only(self.rows.distances(basis, table), self.centers)
            U[part] = self.rule.sample_memberships(distances).T
            if self.rule.has_penalty:  # a rule with sizes would give them to a row of which nothing is known
                U[part][np.isnan(values[:, part]).all(axis=0)] = 1.0 / self.n_clusters
        return U

    def of_block(self, block: Block) -> tuple[int, FloatArray]:
        """First row of a block, and the memberships of its rows."""
        return block.first, self.of(block.values)

    def _made(self, engine: Engine, reader: Reader) -> Iterator[list[tuple[int, FloatArray]]]:
        return engine.each(_OfBlock(self.rows, self.centers, self.rule), reader, "computing memberships")


@dataclass(frozen=True, eq=False)
class _OfBlock:
    """The map of a pass that makes memberships, without the reader."""

    rows: RowMap
    centers: BlockCenters
    rule: Fuzzifier

    def __call__(self, block: Block) -> tuple[int, FloatArray]:
        memberships = BlockMemberships(None, self.rows, self.centers, self.rule)  # type: ignore[arg-type]
        return memberships.of_block(block)


@dataclass(frozen=True, eq=False, repr=False)
class PredictedMemberships(LazyMemberships):
    """Memberships of rows that were not fitted.

    Attributes
    ----------
    source : Source
    n_clusters : int
    predict : callable
        Memberships of a chunk of rows.
    partition : Partition
    """

    source: Source
    n_clusters: int
    predict: Callable[[Chunk], FloatArray]
    partition: Partition | None = None

    @property
    def reader(self) -> Reader:  # noqa: D102
        return Reader(self.source, Coding(), self.partition or Partition(self.source.n_rows))

    def _made(self, engine: Engine, reader: Reader) -> Iterator[list[tuple[int, FloatArray]]]:
        return engine.each_chunk(_OfChunk(self.predict), reader, "computing memberships")


@dataclass(frozen=True, eq=False)
class _OfChunk:
    predict: Callable[[Chunk], FloatArray]

    def __call__(self, chunk: Chunk, first: int) -> tuple[int, FloatArray]:
        return first, self.predict(chunk)


@dataclass(frozen=True, eq=False, repr=False)
class StoredMemberships(LazyMemberships):
    """Memberships of a source so small that it was fitted in memory.

    Attributes
    ----------
    source : Source
    U : ndarray of shape (n_rows, n_clusters)
    """

    source: Source
    U: FloatArray

    @property
    def n_clusters(self) -> int:  # type: ignore[override]
        """Number of clusters."""
        return self.U.shape[1]

    @property
    def reader(self) -> Reader:  # noqa: D102
        return Reader(self.source, Coding(), Partition(len(self.U)))

    def _made(self, engine: Engine, reader: Reader) -> Iterator[list[tuple[int, FloatArray]]]:
        for blocks in reader.partition.tasks:
            for index in blocks:
                rows = slice(index * BLOCK_ROWS, (index + 1) * BLOCK_ROWS)
                yield [(rows.start, self.U[rows])]


class LazyLabels(LazyArray):
    """The cluster of largest membership of every row, of shape (n_rows,), made when it is asked for."""

    def __init__(self, memberships: LazyMemberships) -> None:
        self._memberships = memberships

    @property
    def shape(self) -> tuple[int]:
        """Number of rows."""
        return (len(self._memberships),)

    @property
    def dtype(self) -> np.dtype[Any]:
        """Whole numbers."""
        return np.dtype(np.int64)

    def __repr__(self) -> str:
        return f"<labels of {len(self)} rows: head(n), numpy.asarray(labels)>"

    def blocks(  # noqa: D102
        self, engine: Engine | None = None, first_block: int = 0
    ) -> Iterator[tuple[int, IntArray]]:
        for first, U in self._memberships.blocks(engine, first_block):
            yield first, U.argmax(axis=1)


def labels_of(memberships: LazyMemberships) -> IntArray | LazyLabels:
    """The cluster of largest membership of every row: an array, unless a fit of so many rows would not be in memory."""
    labels = LazyLabels(memberships)
    return np.asarray(labels) if len(labels) <= SAMPLE_ROWS else labels
