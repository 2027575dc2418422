"""``kfrc app``: a page on this computer on which a table is dropped."""

from __future__ import annotations

import os
import sys
import webbrowser
from contextlib import suppress
from typing import Annotated

import typer

from kfrc_app.cli.console import say

_PAUSE = 1.0  # seconds between two looks whether the server is still there


def _address_given(value: str) -> str:
    """An address as it was typed; an empty one would mean every network of this computer."""
    try:
        found = value.encode("idna")
    except UnicodeError:
        found = b""
    if not found or "\0" in value:
        raise typer.BadParameter(f"{value[:40]!r} is no address; 127.0.0.1 is this computer")
    return value


def app(
    port: Annotated[
        int, typer.Option(help="Port of the page; 0: any that is free.", min=0, max=65535, metavar="NUMBER")
    ] = 0,
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="Open the page in a browser.")] = True,
    host: Annotated[
        str,
        typer.Option(
            help="Where to listen; any other than this computer lets others in.",
            callback=_address_given,
            metavar="ADDRESS",
        ),
    ] = "127.0.0.1",
) -> None:
    """Open a page to drop a spreadsheet on: a report, Excel.

    It runs on this computer, and no table leaves it. Ctrl-C ends it and removes what was dropped on it.
    """
    from kfrc_app.server.door import leading_to
    from kfrc_app.server.security import LOOPBACK
    from kfrc_app.server.serve import serving

    if host not in LOOPBACK:
        say("warning", f"the page is open to every computer that reaches {host} and knows its address", "yellow")
    with serving("127.0.0.1" if host == "localhost" else host, port) as address:
        typer.echo(f"The page is at {address.text}")
        typer.echo("Ctrl-C here ends it. Tables and results that are not downloaded are then removed.")
        sys.stdout.flush()
        with suppress(KeyboardInterrupt):
            if browser and _has_browser():
                with leading_to(address.text, address.folder) as path:
                    webbrowser.open(path.as_uri())
                    while address.thread.is_alive() and not address.opened.wait(_PAUSE):
                        pass
            while address.thread.is_alive():
                address.thread.join(_PAUSE)
    typer.echo("The page is closed.")


def _has_browser() -> bool:
    """Whether a window can open: a browser inside the terminal would take it away."""
    return sys.platform in ("win32", "darwin") or bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))
