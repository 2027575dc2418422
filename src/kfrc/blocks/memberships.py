"""Memberships of rows that need not fit into memory: made when they are asked for, block by block."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from kfrc.blocks.descent import occupied_only
from kfrc.blocks.engine import Engine, LocalEngine
from kfrc.blocks.partition import BLOCK_ROWS, sub_blocks
from kfrc.blocks.reader import Block, Reader
from kfrc.blocks.row_maps import BlockCenters, RowMap
from kfrc.fuzzifiers import Fuzzifier
from kfrc.typing import FloatArray, IntArray

_PART_ROWS = 1 << 22
"""Rows of one file of memberships."""


@dataclass(frozen=True, eq=False)
class BlockMemberships:
    """Memberships of all rows of a fit, of shape (n_rows, n_clusters), none of which is kept.

    ``head(n)`` are those of the first rows, ``blocks()`` all of them in order, ``write_parquet(folder)`` writes them to
    files, and ``numpy.asarray`` makes an array, if it fits into memory.

    Attributes
    ----------
    reader : Reader
    rows : RowMap
    centers : BlockCenters
    rule : Fuzzifier
    """

    reader: Reader
    rows: RowMap
    centers: BlockCenters
    rule: Fuzzifier

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of rows and clusters."""
        return self.reader.partition.n_rows, self.centers.n_clusters

    def __len__(self) -> int:
        return self.shape[0]

    def __repr__(self) -> str:
        n_rows, n_clusters = self.shape
        return f"<memberships of {n_rows} rows in {n_clusters} clusters: head(n), blocks(), write_parquet(folder)>"

    def of(self, values: FloatArray) -> FloatArray:
        """Memberships of rows in standard units, values of shape (n_columns, n_rows)."""
        U = np.empty((values.shape[1], self.centers.n_clusters))
        table, workspace = self.rows.table(self.centers), {}  # type: tuple[Any, dict[str, Any]]
        for part in sub_blocks(values.shape[1], self.rows.sub_block_rows):
            basis = self.rows.prepared(values[:, part], workspace)
            distances = occupied_only(self.rows.distances(basis, table), self.centers)
            U[part] = self.rule.sample_memberships(distances).T
            if self.rule.has_penalty:  # a rule with sizes would give them to a row of which nothing is known
                U[part][np.isnan(values[:, part]).all(axis=0)] = 1.0 / self.centers.n_clusters
        return U

    def blocks(self, engine: Engine | None = None) -> Iterator[tuple[int, FloatArray]]:
        """First row and memberships of every block, in order."""
        made = (engine or LocalEngine()).each(self._first_and_memberships, self.reader, "writing memberships")
        for task in made:
            yield from task

    def _first_and_memberships(self, block: Block) -> tuple[int, FloatArray]:
        return block.first, self.of(block.values)

    def head(self, n: int = 5) -> FloatArray:
        """Memberships of the first rows."""
        n = min(n, len(self))
        parts = []
        for block in self.reader.blocks(range(-(-n // BLOCK_ROWS))):
            parts.append(self.of(block.values[:, : n - block.first]))
        return np.vstack(parts)

    def labels(self) -> IntArray:
        """The cluster of largest membership of every row."""
        return np.concatenate([U.argmax(axis=1) for _, U in self.blocks()])

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> FloatArray:
        U = np.empty(self.shape)
        for first, part in self.blocks():
            U[first : first + len(part)] = part
        return U if dtype is None else U.astype(dtype)

    def write_parquet(
        self, folder: str | Path, *, names: Sequence[str] = (), engine: Engine | None = None, resume: bool = False
    ) -> list[Path]:
        """Write memberships to Parquet files of some million rows each.

        A file gets its name when it is complete, and ``_SUCCESS`` is written at the end: a folder without it is not
        finished. Columns are ``cluster_1``, ``cluster_2``, … and ``label``, from 1 on as in other files.

        Parameters
        ----------
        folder : str or Path
            Made if it does not exist.
        names : sequence of str, optional
            Columns of the source to put before the memberships, such as names of the rows.
        engine : Engine, optional
            Who computes them; by default threads of this process.
        resume : bool, default=False
            Whether files that are there already are complete, and kept.

        Returns
        -------
        list of Path
            The files.
        """
        import pyarrow.parquet as pq

        target = Path(folder)
        target.mkdir(parents=True, exist_ok=True)
        done, finished = target / "_SUCCESS", []
        done.unlink(missing_ok=True)
        task_rows = self.reader.partition.task_blocks * BLOCK_ROWS
        part_rows = max(_PART_ROWS // task_rows, 1) * task_rows
        writer, path, partial = None, target, target
        skipped = _complete_rows(target, part_rows, len(self)) if resume else 0
        try:
            for first, U in self._blocks_from(skipped, engine):
                if first % part_rows == 0:
                    path = target / f"part-{first // part_rows:05d}.parquet"
                    partial = path.with_suffix(".partial")
                table = self._table(first, U, names)
                if writer is None:
                    writer = pq.ParquetWriter(partial, table.schema)
                writer.write_table(table)
                if (first + len(U)) % part_rows == 0 or first + len(U) == len(self):
                    writer.close()
                    writer = None
                    os.replace(partial, path)
        except OSError as error:
            raise OSError(
                f"memberships could not be written to {target}: {error.strerror or error}; files that are named "
                "part-….parquet are complete, the rest is missing"
            ) from error
        finally:
            if writer is not None:
                _close_quietly(writer)
            partial_files = list(target.glob("*.partial"))
            for file in partial_files:
                file.unlink(missing_ok=True)
        finished = sorted(target.glob("part-*.parquet"))
        done.touch()
        return finished

    def _blocks_from(self, first_row: int, engine: Engine | None) -> Iterator[tuple[int, FloatArray]]:
        if first_row == 0:
            yield from self.blocks(engine)
            return
        partition = self.reader.partition
        for blocks in partition.tasks:
            if partition.rows(blocks)[0] >= first_row:
                yield from (self._first_and_memberships(block) for block in self.reader.blocks(blocks))

    def _table(self, first: int, U: FloatArray, names: Sequence[str]) -> Any:
        import pyarrow as pa

        columns: dict[str, Any] = {}
        if names:
            found = self.reader.source.named_columns(first, first + len(U), names)
            columns |= dict(zip(names, found, strict=True))
        columns |= {f"cluster_{i + 1}": U[:, i] for i in range(U.shape[1])}
        columns["label"] = (U.argmax(axis=1) + 1).astype(np.int32)
        return pa.table(columns)


def _complete_rows(folder: Path, part_rows: int, n_rows: int) -> int:
    """Rows whose files are there, one after the other."""
    n_files = 0
    while (folder / f"part-{n_files:05d}.parquet").exists():
        n_files += 1
    return min(n_files * part_rows, n_rows)


def _close_quietly(writer: Any) -> None:
    try:
        writer.close()
    except Exception:
        return  # the error that is on its way says more
