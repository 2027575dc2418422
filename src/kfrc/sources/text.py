"""Text files as sources: parsed once into Parquet, and read from there."""

from __future__ import annotations

import os
import shutil
import tempfile
import weakref
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from kfrc.sources.arrow import ParquetSource, expanded
from kfrc.sources.base import Chunk, Source, SourceError, require_arrow
from kfrc.sources.footers import Footer, first_line, kind_of
from kfrc.sources.unchanged import FileState, fingerprint_of, states_of

_TEXT_BLOCK = 1 << 24
"""Bytes of a text file that are parsed at a time; the types of its columns are those of the first so many."""


class CSVSource(Source):
    """Rows of text files, kept as Parquet in a temporary folder after they were parsed once.

    Parsing text takes several times as long as everything else that a pass over the rows does. The copy is removed when
    nobody needs the source any more. The text files must stay as they were when they were parsed, as those of other
    sources must, and every process that reads rows must see both.

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
        require_arrow()
        files = expanded(path)
        if not files:
            raise SourceError(f"there is no file {path}")
        self.files, self._states = tuple(files), states_of(files)
        self._described = files[0] if len(files) == 1 else f"{files[0]} and {len(files) - 1} more file(s)"
        schema = next((found for file in files if (found := _types_of(file, separator)) is not None), None)
        if schema is None:
            raise SourceError(f"{self._described} has no rows")
        place = _Folder(os.path.abspath(tempfile.mkdtemp(prefix="kfrc-rows-", dir=folder)))
        self._folder: _Folder | None = place
        try:
            originals = {}
            for k, (file, state) in enumerate(zip(files, self._states, strict=True)):
                target = os.path.join(place.name, f"{k:06d}.parquet")
                _spool(file, target, separator, schema)
                # Like the copy, the original is looked for from any folder that a process works in.
                originals[target] = replace(state, path=os.path.abspath(file))
            for state in self._states:
                state.refuse_change()
            self._rows = _Copies(originals, self._described, columns, weights)
        except BaseException:
            place.remove()
            raise
        self.names, self.n_rows, self.weight_name = self._rows.names, self._rows.n_rows, weights

    @property
    def described(self) -> str:  # noqa: D102
        return self._described

    def chunks(self, start: int, stop: int) -> Iterator[Chunk]:  # noqa: D102
        yield from self._rows.chunks(start, stop)  # whoever reads needs the folder, and so this source

    def named_columns(self, start: int, stop: int, names: Sequence[str]) -> list[Any]:  # noqa: D102
        return self._rows.named_columns(start, stop, names)

    @property
    def all_names(self) -> list[str]:
        """Names of all columns of the files."""
        return self._rows.all_names

    def restricted(self, columns: Sequence[str], weights: str | None = None) -> CSVSource:
        """The same rows, which are not parsed again, with other columns to cluster by."""
        other = CSVSource.__new__(CSVSource)
        other.__dict__.update(self.__dict__)  # with the folder, which goes with the last of them
        other._rows = _Copies(self._rows.originals, self._described, columns, weights)
        other.names, other.weight_name = other._rows.names, weights
        return other

    def fingerprint(self) -> list[list[Any]]:
        """What changes if a file does: name, size and digest of every file."""
        return fingerprint_of(self._states)

    def __getstate__(self) -> dict[str, Any]:
        # Only the process that parsed the files removes the copy.
        return {**self.__dict__, "_folder": None}


class _Folder:
    """A temporary folder that goes when nobody refers to it any more."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.remove = weakref.finalize(self, shutil.rmtree, name, ignore_errors=True)


class _Copies(ParquetSource):
    """Parquet files that are called by the names of what they are copies of, and are good as long as these are."""

    def __init__(
        self, originals: dict[str, FileState], described: str, columns: Sequence[str] | None, weights: str | None
    ) -> None:
        self.originals, self._described = originals, described
        super().__init__(list(originals), columns, weights)
        self._states = tuple(replace(state, original=originals[state.path]) for state in self._states)

    @property
    def described(self) -> str:
        return self._described

    def _called(self, footer: Footer) -> str:
        return self.originals[footer.path].path


def _types_of(path: str, separator: str | None) -> Any:
    """Types of the columns of a text file, which all files must have; None if it has no rows."""
    import pyarrow as pa

    with _parsed(path), _batches_of_text(path, separator) as batches:
        if next(iter(batches), None) is None:
            return None
        strange = [field.name for field in batches.schema if pa.types.is_binary(field.type)]
        if strange:
            raise SourceError(f"{path} is not encoded as UTF-8: see column '{strange[0]}'")
        # A column that begins with whole numbers may go on with others, and one that begins with blanks with anything.
        usual = {"numbers": pa.float64(), "null": pa.string()}
        return pa.schema([(field.name, usual.get(kind_of(field.type), field.type)) for field in batches.schema])


def _spool(path: str, target: str, separator: str | None, schema: Any) -> None:
    """Parse a text file into Parquet."""
    import pyarrow.parquet as pq

    with _parsed(path), _batches_of_text(path, separator, schema) as batches:
        if batches.schema.names != schema.names:
            raise SourceError(f"{path} has other columns than the first file: all files must have the same columns")
        with pq.ParquetWriter(target, schema, compression="lz4") as writer:
            for batch in batches:
                writer.write_batch(batch)


def _batches_of_text(path: str, separator: str | None, schema: Any = None) -> Any:
    import pyarrow.csv as text

    delimiter = separator or ("\t" if {".tsv", ".tab"} & set(Path(path).suffixes) else ",")
    types = None if schema is None else dict(zip(schema.names, schema.types, strict=True))
    return text.open_csv(
        path,
        text.ReadOptions(use_threads=False, block_size=_TEXT_BLOCK),
        text.ParseOptions(delimiter=delimiter, newlines_in_values=True),
        text.ConvertOptions(column_types=types, strings_can_be_null=True),
    )


@contextmanager
def _parsed(path: str) -> Iterator[None]:
    """Errors of a parser as what they mean."""
    import pyarrow as pa

    try:
        yield
    except FileNotFoundError:
        raise SourceError(f"{path} does not exist") from None
    except UnicodeDecodeError:
        raise SourceError(f"{path} is not encoded as UTF-8: see the names of its columns") from None
    except (pa.ArrowException, OSError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise  # the disk is full, or nobody may read it: what the system says is clear
        raise SourceError(f"{path} cannot be read as a table of text: {first_line(error)}") from error
