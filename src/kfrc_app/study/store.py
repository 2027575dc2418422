"""The folder of a study: a manifest, one checked Parquet shard per finished task, and the reason of every failure."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
import secrets
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import kfrc
from kfrc_app.study.errors import CorruptShardError, StudyError
from kfrc_app.study.manifest import MANIFEST, SAFE_KEY, Manifest, canonical, digest
from kfrc_app.study.packages import Packages, are_packages, installed_packages
from kfrc_app.study.progress import Failure, StudyState
from kfrc_app.study.run_lock import exclusive, last_run, noted_run
from kfrc_app.study.writing import make_folder, remove_leftovers, write_atomically

if TYPE_CHECKING:
    import pandas as pd

_SHARDS, _ASIDE = "shards", "corrupt"
_MARK = b"kfrc-shard-sha256:"
_BLANK = b"0" * 64


class Task(Protocol):
    """A dataclass of plain values, or of such dataclasses, with a key that is unique and safe as a file name."""

    @property
    def key(self) -> str: ...  # noqa: D102


def fingerprint(task: Any) -> str:
    """Digest of a task's configuration, the same in every process; fields with ``compare=False`` are no part of it."""
    return digest(canonical(_plain(task)))


class StudyStore:
    """Results of a study in a folder, safe against interruption at any point.

    A shard is written to a temporary file, synchronized and renamed, so that it is there in full or not at all. Its
    name holds the task's key and a digest of key, library version and fingerprint; its checksum covers every byte.
    Tasks are pure, so that writing one twice replaces a shard by its equal.

    Parameters
    ----------
    folder : path-like
        Folder with a manifest; see `create`.
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = Path(folder)
        manifest = Manifest.read(self.folder)
        self.settings = manifest.settings
        self.version = manifest.version
        self.fingerprints = manifest.tasks
        self.packages = manifest.packages

    @classmethod
    def create(
        cls,
        folder: str | os.PathLike[str],
        tasks: Iterable[Task],
        *,
        version: str = kfrc.__version__,
        settings: Mapping[str, Any] | None = None,
    ) -> StudyStore:
        """Open the folder of a study, which is made if need be and refused if it holds another study.

        Parameters
        ----------
        folder : path-like
        tasks : iterable of Task
        version : str, optional
            Version of the library that computes the results.
        settings : mapping, optional
            What the study was asked for, for instance its name and preset; plain values.
        """
        folder = Path(folder)
        fingerprints: dict[str, str] = {}
        for task in tasks:
            if not SAFE_KEY.fullmatch(task.key) or task.key in fingerprints:
                raise ValueError(f"task keys must be unique and safe as file names, got {task.key!r}")
            fingerprints[task.key] = fingerprint(task)
        asked = Manifest(version, dict(settings or {}), fingerprints, installed_packages())
        if not (folder / MANIFEST).exists():
            make_folder(folder / _SHARDS)
            with exclusive(folder):
                if not (folder / MANIFEST).exists():
                    asked.write(folder)
        Manifest.read(folder).refuse_other(asked, folder)
        return cls(folder)

    @contextmanager
    def lock(self, workers: int = 0) -> Iterator[None]:
        """Keep other runs out of the folder; leftovers of killed runs are removed.

        The lock ends with its process, however that ends. On a file system without locks there is none, and two runs
        do the same work twice, harmlessly: writes are idempotent.

        Parameters
        ----------
        workers : int, default=0
            How many tasks run at a time, for the estimate of the remaining time; 0 if unknown.
        """
        with exclusive(self.folder) as locked:
            make_folder(self.folder / _SHARDS)
            for folder in (self.folder, self.folder / _SHARDS) if locked else ():
                remove_leftovers(folder)
            with noted_run(self.folder, workers):
                yield

    def last_run(self) -> tuple[bool, int]:
        """Whether a run is under way, and the number of workers of the last one (0 if unknown); takes no lock."""
        return last_run(self.folder)

    def write(
        self,
        key: str,
        records: Sequence[Mapping[str, Any]],
        seconds: float,
        packages: Packages | None = None,
    ) -> None:
        """Store the records of a finished task; a failure recorded before is forgotten.

        Parameters
        ----------
        key : str
        records : sequence of mappings
            Flat: names to numbers, strings, booleans or None.
        seconds : float
            Time the task took.
        packages : dict of str to str, optional
            Versions of what computed them; those of this process by default.
        """
        versions = installed_packages() if packages is None else packages
        facts = {"seconds": repr(seconds), "packages": json.dumps(versions)}
        write_atomically(self.shard_path(key), _encode(records, self._identity(key) | facts))
        self._failure_path(key).unlink(missing_ok=True)

    def write_failure(self, key: str, failure: Failure) -> None:
        """Store why a task failed, next to where its shard would be."""
        content = self._identity(key) | dataclasses.asdict(failure)
        write_atomically(self._failure_path(key), json.dumps(content, indent=1).encode())

    def state(self) -> StudyState:
        """Check every shard and say where the study stands."""
        state = StudyState({}, {}, {}, [])
        for key in self.fingerprints:
            try:
                state.seconds[key], state.packages[key], _ = self._read(key)
            except CorruptShardError as error:
                state.corrupt[key] = str(error)
            except FileNotFoundError:
                failure = self._read_failure(key)
                if failure is None:
                    state.remaining.append(key)
                else:
                    state.failures[key] = failure
        return state

    def set_aside(self, key: str) -> Path:
        """Move a damaged shard into a folder for inspection; returns where it went."""
        make_folder(self.folder / _ASIDE)
        target = self.folder / _ASIDE / f"{self.shard_path(key).name}.{secrets.token_hex(4)}"
        with suppress(FileNotFoundError):
            os.replace(self.shard_path(key), target)
        return target

    def load(self) -> pd.DataFrame:
        """All records of finished tasks, in the order of keys, within a task as its function returned them.

        The same, bit for bit, whatever the order in which tasks finished and the number of workers.
        """
        tables = []
        for key in sorted(self.fingerprints):
            with suppress(FileNotFoundError):
                tables.append(self._table(key))
        if not tables:
            return pa.table({}).to_pandas()
        try:
            return pa.concat_tables(tables, promote_options="permissive").to_pandas()
        except (pa.ArrowException, ValueError) as error:
            raise StudyError(f"records of different tasks do not fit into one table: {error}") from error

    def shard_path(self, key: str) -> Path:
        """Where the shard of a task is, once it is finished."""
        return self.folder / _SHARDS / f"{self._stem(key)}.parquet"

    def _failure_path(self, key: str) -> Path:
        return self.folder / _SHARDS / f"{self._stem(key)}.failed.json"

    def _stem(self, key: str) -> str:
        return f"{key}.{digest(canonical(self._identity(key)))[:16]}"

    def _identity(self, key: str) -> dict[str, str]:
        return {"key": key, "version": self.version, "fingerprint": self.fingerprints[key]}

    def _read(self, key: str) -> tuple[float, Packages, pq.ParquetFile]:
        path = self.shard_path(key)
        try:
            file = _decode(path.read_bytes())
            metadata = {name.decode(): value.decode() for name, value in (file.metadata.metadata or {}).items()}
            seconds = float(metadata["seconds"])
            packages = json.loads(metadata.get("packages", "{}"))
            if not are_packages(packages):
                raise CorruptShardError("no versions")
        except CorruptShardError as error:
            raise _damaged(path, error) from None
        except (pa.ArrowException, ValueError, KeyError, RecursionError) as error:
            raise _damaged(path, type(error).__name__) from None
        except IsADirectoryError:
            raise _damaged(path, "a folder") from None
        if not self._identity(key).items() <= metadata.items():
            raise CorruptShardError(f"{path.name} holds another task; run the study again to recompute it")
        return seconds, packages, file

    def _table(self, key: str) -> pa.Table:
        try:
            return self._read(key)[2].read()
        except (pa.ArrowException, ValueError) as error:
            raise _damaged(self.shard_path(key), type(error).__name__) from None

    def _read_failure(self, key: str) -> Failure | None:
        try:
            content = json.loads(self._failure_path(key).read_text(encoding="utf-8"))
            return Failure(str(content["reason"]), str(content["traceback"]), float(content["seconds"]))
        except (OSError, ValueError, KeyError, TypeError, OverflowError, RecursionError):
            return None  # never written, or damaged: either way the task is to be computed


def _damaged(path: Path, how: object) -> CorruptShardError:
    return CorruptShardError(f"{path.name} is damaged ({how}); run the study again to recompute it")


def _encode(records: Sequence[Mapping[str, Any]], metadata: Mapping[str, str]) -> bytes:
    """Parquet file whose footer holds the SHA-256 of the file with the digest itself blanked out."""
    names = list(dict.fromkeys(name for record in records for name in record))
    columns = {name: [_scalar(record.get(name), name) for record in records] for name in names}
    try:
        table = pa.table(columns)
    except (pa.ArrowException, OverflowError) as error:
        raise ValueError(f"records cannot be stored: {error}") from error
    sink = pa.BufferOutputStream()
    with pq.ParquetWriter(sink, table.schema, compression="zstd") as writer:
        writer.write_table(table)
        writer.add_key_value_metadata({**metadata, "checksum": (_MARK + _BLANK).decode()})
    data: bytes = sink.getvalue().to_pybytes()
    start = data.rindex(_MARK) + len(_MARK)
    return data[:start] + hashlib.sha256(data).hexdigest().encode() + data[start + len(_BLANK) :]


def _decode(data: bytes) -> pq.ParquetFile:
    start = data.rfind(_MARK) + len(_MARK)
    if start < len(_MARK):
        raise CorruptShardError("no checksum; truncated or overwritten")
    end = start + len(_BLANK)
    if data[start:end] != hashlib.sha256(data[:start] + _BLANK + data[end:]).hexdigest().encode():
        raise CorruptShardError("wrong checksum")
    return pq.ParquetFile(pa.BufferReader(data))


def _scalar(value: Any, name: str) -> str | int | float | bool | None:
    value = value.item() if isinstance(value, np.generic) else value
    if value is not None and not isinstance(value, str | int | float):
        raise ValueError(f"records cannot be stored: {name!r} is a {type(value).__name__}, not a number or string")
    return value


def _plain(value: Any) -> Any:
    """JSON-ready form of a configuration, the same in every process."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = [field.name for field in dataclasses.fields(value) if field.compare]
        return {"class": type(value).__name__, **{name: _plain(getattr(value, name)) for name in fields}}
    if isinstance(value, Mapping):
        return {str(name): _plain(item) for name, item in value.items()}
    if isinstance(value, tuple | list):
        return [_plain(item) for item in value]
    if isinstance(value, PurePath):
        return str(value)
    if value is None or isinstance(value, str | int | float):
        return value
    raise TypeError(f"a task's configuration must be plain values, got a {type(value).__name__}")
