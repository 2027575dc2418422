"""Pages of scripts that are gone are removed, so that a second build is what a first one would be."""

from __future__ import annotations

from pathlib import Path
from typing import Any


def remove_stale(app: Any, config: Any) -> None:
    """Remove what earlier builds made of scripts that were renamed or removed since."""
    gallery = config.sphinx_gallery_conf
    for scripts, pages in zip(gallery["examples_dirs"], gallery["gallery_dirs"], strict=True):
        source, shown = Path(app.srcdir, scripts), Path(app.srcdir, pages)
        for copy in shown.rglob("*.py"):
            if not (source / copy.relative_to(shown)).exists():
                for file in copy.parent.glob(f"{copy.stem}.*"):
                    file.unlink()


def setup(app: Any) -> dict[str, bool]:
    """Called by Sphinx."""
    app.connect("config-inited", remove_stale)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
