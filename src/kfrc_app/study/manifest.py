"""The manifest of a study: what it was asked for, its tasks, and what computes them; checked when it is read."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from kfrc_app.facts.text import clean
from kfrc_app.study.errors import SettingsError, StudyError
from kfrc_app.study.packages import Packages, are_packages
from kfrc_app.study.writing import write_atomically

FORMAT = 1
"""Layout of the folder; a folder of another format is refused."""

MANIFEST = "manifest.json"
SAFE_KEY = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.=+-]{0,149}")
"""Keys of tasks become names of files: nothing that leads out of the folder."""

_DIGEST = re.compile(r"[0-9a-f]{64}")
_MAX_BYTES = 2**26
"""The largest study, with all its seeds, has a hundredth of that."""


@dataclass(frozen=True)
class Manifest:
    """What a study consists of.

    Attributes
    ----------
    version : str
        Of the library.
    settings : dict
        What the study was asked for: plain values by name.
    tasks : dict of str to str
        Fingerprints of the tasks by key.
    packages : dict of str to str
        Versions of what it was begun with; empty if they were not recorded.
    """

    version: str
    settings: dict[str, Any]
    tasks: dict[str, str]
    packages: Packages = field(default_factory=dict)

    def write(self, folder: Path) -> None:
        """In full or not at all."""
        content = {"format": FORMAT, **asdict(self)}
        text = json.dumps(content | {"checksum": digest(canonical(content))}, indent=1)
        write_atomically(folder / MANIFEST, text.encode())

    @classmethod
    def read(cls, folder: Path) -> Manifest:
        """From the folder of a study.

        Raises
        ------
        SettingsError
            If there is no manifest, or one of another format.
        StudyError
            If it is damaged.
        """
        path = folder / MANIFEST
        damaged = StudyError(f"{path} is damaged: remove it and run the study again; finished tasks are kept")
        try:
            if path.stat().st_size > _MAX_BYTES or not path.is_file():
                raise damaged
            content = json.loads(path.read_text(encoding="utf-8"))
            if not isinstance(content, dict):
                raise damaged
            found = content.get("format")
            if type(found) is int and found != FORMAT:
                raise SettingsError(
                    f"{folder} has format {clean(found)}, this version reads {FORMAT}: use the kfrc that made it, "
                    "or choose another output folder"
                )
            if content.pop("checksum", None) != digest(canonical(content)):
                raise damaged
        except (FileNotFoundError, NotADirectoryError):
            raise SettingsError(f"{folder} is not the folder of a study: it has no {MANIFEST}") from None
        except OSError as error:
            raise StudyError(f"{path} cannot be read ({error.strerror or error})") from None
        except (ValueError, RecursionError):
            raise damaged from None
        if type(found) is not int or not _is_sound(content):
            raise damaged
        return cls(content["version"], content["settings"], content["tasks"], content.get("packages", {}))

    def refuse_other(self, asked: Manifest, folder: Path) -> None:
        """Refuse to go on in a folder that was begun with other settings, tasks, or another version of the library."""
        wanted, found = ({"version": one.version, **one.settings} for one in (asked, self))
        differences = [
            f"{clean(name)} {_shown(found.get(name))} (asked for {_shown(wanted.get(name))})"
            for name in dict.fromkeys((*found, *wanted))
            if found.get(name) != wanted.get(name)
        ]
        if not differences and asked.tasks != self.tasks:
            differences = ["tasks of another configuration"]
        if differences:
            raise SettingsError(f"{folder} holds another study: {', '.join(differences)}; choose another output folder")


def canonical(value: Any) -> str:
    """JSON that is the same for equal values."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"))


def digest(text: str) -> str:
    """SHA-256 of a text."""
    return hashlib.sha256(text.encode()).hexdigest()


def _is_sound(content: Mapping[str, Any]) -> bool:
    """Whether every field is there and is what it must be: a checksum keeps out accidents, not strange hands."""
    settings, tasks, packages = content.get("settings"), content.get("tasks"), content.get("packages", {})
    return (
        isinstance(content.get("version"), str)
        and isinstance(settings, dict)
        and all(value is None or isinstance(value, str | int | float) for value in settings.values())
        and isinstance(tasks, dict)
        and all(SAFE_KEY.fullmatch(key) for key in tasks)
        and all(isinstance(value, str) and _DIGEST.fullmatch(value) for value in tasks.values())
        and are_packages(packages)
    )


def _shown(value: object) -> str:
    return clean(repr(value), max_length=300)
