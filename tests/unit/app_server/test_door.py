"""The browser is led to the page by a private file, so that nobody reads the token where programs are listed."""

import re
import threading
from contextlib import contextmanager
from html import unescape
from pathlib import Path

import pytest
from typer.testing import CliRunner

import kfrc_app.cli.app
import kfrc_app.server.door
import kfrc_app.server.serve
from kfrc_app.cli.main import app
from kfrc_app.server.door import leading_to
from kfrc_app.server.serve import Address
from waiting import wait_until


def is_private(path):
    return path.stat().st_mode & 0o777 == 0o600 and path.parent.stat().st_mode & 0o777 == 0o700


def test_the_file_leads_to_the_address_is_private_and_goes(tmp_path):
    with leading_to('http://127.0.0.1:1/?token=a&b"<', tmp_path) as path:
        assert is_private(path)
        assert path.is_relative_to(tmp_path)
        (leads_to,) = re.findall(r'content="0; url=([^"]*)"', path.read_text())
        assert unescape(leads_to) == 'http://127.0.0.1:1/?token=a&b"<'
        assert "<script" not in path.read_text()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("closed", [True, False])
def test_a_browser_that_is_closed_in_finds_the_file_in_the_folder_of_the_user(tmp_path, monkeypatch, closed):
    home, private = tmp_path / "home", tmp_path / "private"
    for folder in (home, private):
        folder.mkdir()
    monkeypatch.setattr(Path, "home", lambda: home)
    monkeypatch.setattr(kfrc_app.server.door, "_SNAPS", tmp_path if closed else tmp_path / "none")
    with leading_to("http://127.0.0.1:1/", private) as path:
        assert is_private(path)
        assert path.parent.parent == (home if closed else private)
        assert not path.parent.name.startswith(".")
    assert list(home.iterdir()) == list(private.iterdir()) == []


def test_the_browser_is_started_with_the_file_which_goes_once_the_page_is_open(tmp_path, monkeypatch):
    opened, ended, started = threading.Event(), threading.Event(), []
    thread = threading.Thread(target=ended.wait, daemon=True)
    thread.start()

    @contextmanager
    def served(*arguments):
        yield Address("127.0.0.1", 1, "secret", tmp_path, opened, thread)

    def look(path):  # as a browser that reads the file, and then asks for the page
        try:
            wait_until(lambda: not path.exists())
            started.append("gone")
        finally:
            ended.set()

    def start(address):
        path = Path(address.removeprefix("file://"))
        started.extend([address, is_private(path), "token=secret" in path.read_text()])
        opened.set()
        threading.Thread(target=look, args=(path,), daemon=True).start()
        return True

    monkeypatch.setattr(kfrc_app.server.serve, "serving", served)
    monkeypatch.setattr(kfrc_app.cli.app, "_has_browser", lambda: True)
    monkeypatch.setattr(kfrc_app.cli.app.webbrowser, "open", start)
    ending = CliRunner().invoke(app, ["app"])
    assert ending.exit_code == 0
    address, *found = started
    assert "secret" not in address
    assert found == [True, True, "gone"]
    assert "token=secret" in ending.stdout  # whoever has no such browser reads it here


def test_an_address_counts_as_open_once_it_was_asked_for_with_its_token(served):
    served.address.opened.clear()
    with served.stranger() as stranger:
        stranger.get("/", params={"token": "wrong"})
        assert not served.address.opened.is_set()
        stranger.get(served.address.text)
    assert served.address.opened.is_set()
