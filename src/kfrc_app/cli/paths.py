"""Names of files and folders as they are typed: what can be none is refused before any work."""

from __future__ import annotations

from pathlib import Path

import typer


def name_given(value: str | None) -> str | None:
    """A name as it was typed, which must be one: a variable of a shell may be empty."""
    if value == "":
        raise typer.BadParameter("the name is empty")
    if value is not None and "\0" in value:
        raise typer.BadParameter(f"{value!r} is no name of a file")
    return value


def path_given(value: str | Path) -> Path:
    """A path from a name; an empty one is not taken for the working directory."""
    name_given(str(value))
    return Path(value)


def as_path(value: str | Path) -> Path:
    """A path with the user's home folder filled in."""
    try:
        return Path(value).expanduser()
    except RuntimeError:  # as Python says that there is no such user
        raise typer.BadParameter(f"{value}: the folder of {Path(value).parts[0]} is not known; write it out") from None
