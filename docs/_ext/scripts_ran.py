"""Remembers with which code the scripts of the gallery ran last, so that they run once for each state of it."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from typing import Any

CODE = ("src", "examples")
"""Folders whose changes can change what a script shows."""

SITE = Path("_build", "html")
"""Where ``make docs`` builds; a build elsewhere is not remembered."""


def marker_of(docs: Path) -> Path:
    """The file that is as old as the last complete run of all scripts, and names the interpreter."""
    return docs / "_build" / "scripts-ran.txt"


def are_current(docs: Path) -> bool:
    """Whether the built pages show what this interpreter would make of the scripts and the library as they are."""
    marker = marker_of(docs)
    if not marker.exists() or marker.read_text(encoding="utf-8") != sys.executable:
        return False
    files = (path for folder in CODE for path in (docs.parent / folder).rglob("*.py"))
    return marker.stat().st_mtime > max(path.stat().st_mtime for path in files)


def run_all_unless_current(app: Any, config: Any) -> None:
    """Let scripts run again that did not change, if what they use did."""
    app.kfrc_started = time.time()
    config.sphinx_gallery_conf["run_stale_examples"] = not are_current(Path(app.srcdir))


def remember(app: Any, exception: Exception | None) -> None:
    """Note that all scripts ran, as of the beginning of the build."""
    if exception is None and Path(app.outdir) == Path(app.srcdir) / SITE:
        marker = marker_of(Path(app.srcdir))
        marker.write_text(sys.executable, encoding="utf-8")
        os.utime(marker, (app.kfrc_started, app.kfrc_started))


def setup(app: Any) -> dict[str, bool]:
    """Called by Sphinx."""
    app.connect("config-inited", run_all_unless_current)
    app.connect("build-finished", remember, priority=900)  # not if the gallery found a script that failed
    return {"parallel_read_safe": True, "parallel_write_safe": True}
