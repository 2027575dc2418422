"""What a long fit has found so far, kept in a folder: the next run with the same question goes on from there."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from kfrc import __version__
from kfrc_app.models import ModelError, dump_object, load_object

UNFINISHED = "unfinished"
"""Folder among the results of a run that has not ended."""

_QUESTION = "question.json"


class FolderCheckpoint:
    """Stages of a fit as files that hold nothing but data of this program.

    Parameters
    ----------
    folder : Path
        Where results are to be; stages are kept in a folder of its own in it.
    question : mapping
        What was asked, in JSON: files with their sizes and times, and settings. Stages of another question are removed.
    """

    def __init__(self, folder: Path, question: Mapping[str, Any]) -> None:
        self.folder = folder / UNFINISHED
        asked = json.dumps({"version": __version__, **question}, sort_keys=True, default=str)
        self._digest = hashlib.sha256(asked.encode()).hexdigest()
        if self.folder.is_symlink():
            self.folder.unlink()  # what it leads to is not ours to write to
        self.resumed = self._matches()
        if not self.resumed:
            shutil.rmtree(self.folder, ignore_errors=True)

    def _matches(self) -> bool:
        try:
            kept = json.loads((self.folder / _QUESTION).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return False
        return isinstance(kept, dict) and kept.get("digest") == self._digest

    def begin(self) -> None:
        """Make the folder."""
        self.folder.mkdir(parents=True, exist_ok=True)
        self._write(_QUESTION, json.dumps({"digest": self._digest}).encode())

    def load(self, stage: str) -> Any:
        """What was kept of a stage; None if nothing usable was."""
        try:
            return load_object((self.folder / f"{stage}.skops").read_bytes())
        except (OSError, ModelError):
            return None

    def save(self, stage: str, content: Any) -> None:
        """Keep what a stage has found, whole or not at all."""
        self._write(f"{stage}.skops", dump_object(content))

    def _write(self, name: str, content: bytes) -> None:
        partial = self.folder / f"{name}.partial"
        partial.write_bytes(content)
        os.replace(partial, self.folder / name)

    def remove(self) -> None:
        """The run has ended."""
        shutil.rmtree(self.folder, ignore_errors=True)
