"""How a browser is led to the page: by a file that only this user can read.

What a program is started with can be listed by every user of a computer. So a browser is not started with the address,
which has the token, but with a small file that leads there.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from html import escape
from pathlib import Path

_PREFIX = "kfrc-page-"
_FILE = "open.html"
_SNAPS = Path("/snap")
"""Where Ubuntu keeps programs that are closed in: they see no temporary files of others, but what stands openly in the
folder of the user."""

_HTML = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="referrer" content="no-referrer">
<meta http-equiv="refresh" content="0; url={address}">
<title>kfrc</title>
</head>
<body><p><a href="{address}">Open the page of kfrc</a></p></body>
</html>
"""


@contextmanager
def leading_to(address: str, folder: Path) -> Iterator[Path]:
    """A file that leads to an address, for the time of a block.

    Parameters
    ----------
    address : str
    folder : Path
        A private folder that goes with the server, where browsers can look into it.

    Yields
    ------
    Path
        Of a file with the rights 0600, alone in a folder with the rights 0700.
    """
    place = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=_visible(folder)))
    path = place / _FILE
    try:
        descriptor = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(_HTML.format(address=escape(address)))
        yield path
    finally:
        shutil.rmtree(place, ignore_errors=True)


def _visible(folder: Path) -> Path:
    """The folder of the user if a browser may be closed in and that folder can be written to; else the given one."""
    home = Path.home()
    return home if _SNAPS.is_dir() and os.access(home, os.W_OK) else folder
