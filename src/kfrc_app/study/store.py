"""The folder of a study: a manifest, one checked Parquet shard per finished task, and the reason of every failure."""

from __future__ import annotations

import dataclasses
import errno
import hashlib
import json
import os
import re
import secrets
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import kfrc
from kfrc_app.output import replace_file
from kfrc_app.study.progress import Failure, StudyState

if TYPE_CHECKING:
    import pandas as pd

FORMAT = 1
"""Layout of the folder; a folder of another format is refused."""

_MANIFEST, _SHARDS, _ASIDE, _LOCK = "manifest.json", "shards", "corrupt", "run.lock"
_TEMPORARY = ".tmp-"
_SAFE_KEY = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.=+-]{0,149}")
_MARK = b"kfrc-shard-sha256:"
_BLANK = b"0" * 64
_NO_SPACE = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
"""Errors of a full disk, an exhausted quota, and a limit on the size of files."""


class StudyError(Exception):
    """A study cannot go on; the message says why and what to do."""


class SettingsError(StudyError):
    """The folder belongs to another study, or to none."""


class DiskFullError(StudyError):
    """The disk or the quota of the output folder is full."""


class CorruptShardError(StudyError):
    """A shard does not hold what was written to it."""


class Task(Protocol):
    """A dataclass of plain values, or of such dataclasses, with a key that is unique and safe as a file name."""

    @property
    def key(self) -> str: ...  # noqa: D102


def fingerprint(task: Any) -> str:
    """Digest of a task's configuration, the same in every process; fields with ``compare=False`` are no part of it."""
    return _digest(_canonical(_plain(task)))


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
        manifest = self._read_manifest()
        self.settings: dict[str, Any] = manifest["settings"]
        self.version: str = manifest["version"]
        self.fingerprints: dict[str, str] = manifest["tasks"]

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
            if not _SAFE_KEY.fullmatch(task.key) or task.key in fingerprints:
                raise ValueError(f"task keys must be unique and safe as file names, got {task.key!r}")
            fingerprints[task.key] = fingerprint(task)
        content = {"format": FORMAT, "version": version, "settings": dict(settings or {}), "tasks": fingerprints}
        if not (folder / _MANIFEST).exists():
            _make_folder(folder / _SHARDS)
            with _exclusive(folder / _LOCK):
                if not (folder / _MANIFEST).exists():
                    text = json.dumps(content | {"checksum": _digest(_canonical(content))}, indent=1)
                    _write_atomically(folder / _MANIFEST, text.encode())
        store = cls(folder)
        store._refuse_other(content)
        return store

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
        with _exclusive(self.folder / _LOCK, {"pid": os.getpid(), "workers": workers}) as locked:
            _make_folder(self.folder / _SHARDS)
            for leftover in self.folder.rglob(f"{_TEMPORARY}*") if locked else ():
                leftover.unlink(missing_ok=True)
            yield

    def last_run(self) -> tuple[bool, int]:
        """Whether a run is under way, and the number of workers of the last one (0 if unknown)."""
        try:
            workers = int(json.loads((self.folder / _LOCK).read_text())["workers"])
            with _exclusive(self.folder / _LOCK):
                return False, workers
        except StudyError:
            return True, workers
        except (OSError, ValueError, KeyError, TypeError):
            return False, 0

    def write(self, key: str, records: Sequence[Mapping[str, Any]], seconds: float) -> None:
        """Store the records of a finished task; a failure recorded before is forgotten.

        Parameters
        ----------
        key : str
        records : sequence of mappings
            Flat: names to numbers, strings, booleans or None.
        seconds : float
            Time the task took.
        """
        _write_atomically(self.shard_path(key), _encode(records, self._identity(key) | {"seconds": repr(seconds)}))
        self._failure_path(key).unlink(missing_ok=True)

    def write_failure(self, key: str, failure: Failure) -> None:
        """Store why a task failed, next to where its shard would be."""
        content = self._identity(key) | dataclasses.asdict(failure)
        _write_atomically(self._failure_path(key), json.dumps(content, indent=1).encode())

    def state(self) -> StudyState:
        """Check every shard and say where the study stands."""
        state = StudyState({}, {}, {}, [])
        for key in self.fingerprints:
            try:
                state.seconds[key] = self._read(key)[0]
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
        _make_folder(self.folder / _ASIDE)
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
                tables.append(self._read(key)[1].read())
        if not tables:
            return pa.table({}).to_pandas()
        try:
            return pa.concat_tables(tables, promote_options="permissive").to_pandas()
        except pa.ArrowException as error:
            raise StudyError(f"records of different tasks do not fit into one table: {error}") from error

    def shard_path(self, key: str) -> Path:
        """Where the shard of a task is, once it is finished."""
        return self.folder / _SHARDS / f"{self._stem(key)}.parquet"

    def _failure_path(self, key: str) -> Path:
        return self.folder / _SHARDS / f"{self._stem(key)}.failed.json"

    def _stem(self, key: str) -> str:
        return f"{key}.{_digest(_canonical(self._identity(key)))[:16]}"

    def _identity(self, key: str) -> dict[str, str]:
        return {"key": key, "version": self.version, "fingerprint": self.fingerprints[key]}

    def _read(self, key: str) -> tuple[float, pq.ParquetFile]:
        path = self.shard_path(key)
        try:
            file = _decode(path.read_bytes())
            metadata = {name.decode(): value.decode() for name, value in file.metadata.metadata.items()}
        except CorruptShardError as error:
            raise CorruptShardError(f"{path.name} is damaged ({error}); run the study again to recompute it") from None
        if not self._identity(key).items() <= metadata.items():
            raise CorruptShardError(f"{path.name} holds another task; run the study again to recompute it")
        return float(metadata["seconds"]), file

    def _read_failure(self, key: str) -> Failure | None:
        try:
            content = json.loads(self._failure_path(key).read_text())
            return Failure(str(content["reason"]), str(content["traceback"]), float(content["seconds"]))
        except (OSError, ValueError, KeyError, TypeError):
            return None  # never written, or damaged: either way the task is to be computed

    def _read_manifest(self) -> dict[str, Any]:
        path = self.folder / _MANIFEST
        try:
            content: dict[str, Any] = json.loads(path.read_text())
            checksum = content.pop("checksum")
        except FileNotFoundError:
            raise SettingsError(f"{self.folder} is not the folder of a study: it has no {_MANIFEST}") from None
        except (ValueError, KeyError, TypeError, AttributeError):
            checksum, content = "", {}
        if checksum != _digest(_canonical(content)):
            raise StudyError(f"{path} is damaged: remove it and run the study again; finished tasks are kept")
        if content["format"] != FORMAT:
            raise SettingsError(f"{self.folder} has format {content['format']}, this version reads {FORMAT}")
        return content

    def _refuse_other(self, content: Mapping[str, Any]) -> None:
        asked = {"version": content["version"], **content["settings"]}
        found = {"version": self.version, **self.settings}
        differences = [
            f"{name} {found.get(name)!r} (asked for {asked.get(name)!r})"
            for name in dict.fromkeys((*found, *asked))
            if found.get(name) != asked.get(name)
        ]
        if not differences and content["tasks"] != self.fingerprints:
            differences = ["tasks of another configuration"]
        if differences:
            raise SettingsError(
                f"{self.folder} holds another study: {', '.join(differences)}; choose another output folder"
            )


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


def _canonical(value: Any) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"))


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise _write_error(folder, error) from error


def _write_atomically(path: Path, data: bytes) -> None:
    """Write a file in full or not at all, under a name that the next run removes if this one is killed."""
    try:
        replace_file(path, data, temporary=path.parent / f"{_TEMPORARY}{os.getpid()}-{secrets.token_hex(4)}")
    except OSError as error:
        raise _write_error(path, error) from error


def _write_error(path: Path, error: OSError) -> StudyError:
    reason = error.strerror or str(error)
    if error.errno in _NO_SPACE:
        return DiskFullError(f"no space to write {path} ({reason}); make room and run again: finished tasks are kept")
    return StudyError(f"cannot write {path} ({reason})")


@contextmanager
def _exclusive(path: Path, note: Mapping[str, Any] | None = None) -> Iterator[bool]:
    """Hold an advisory lock, which the system releases when the process ends; yields whether there are locks."""
    try:
        import fcntl
    except ImportError:  # no such locks on this platform
        yield False
        return
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    except OSError as error:
        raise _write_error(path, error) from error
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            locked = True
        except BlockingIOError:
            raise StudyError(
                f"another run is writing to {path.parent}; wait for it, or choose another folder"
            ) from None
        except OSError:  # a file system without locks
            locked = False
        if note is not None:
            with suppress(OSError):  # a full disk is reported by what must be written
                os.ftruncate(descriptor, 0)
                os.pwrite(descriptor, json.dumps(note).encode(), 0)
        yield locked
    finally:
        os.close(descriptor)
