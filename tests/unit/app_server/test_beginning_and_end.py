"""The program `kfrc app` as a process: what it prints, and what is left of it however it ends."""

import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest
from typer.testing import CliRunner

import kfrc_app.server.serve
from kfrc_app.cli.main import app
from kfrc_app.server.folder import PREFIX, PrivateFolder, remove_left_over, remove_own
from kfrc_app.server.serve import serving
from waiting import PATIENCE, wait_until

from .conftest import follow, give, long_table

psutil = pytest.importorskip("psutil")
ADDRESS = re.compile(r"http://127\.0\.0\.1:\d+/\?token=[\w-]{40,}")


@contextmanager
def program(place):
    """`kfrc app` as a process that keeps its files in a folder, and its address; its browser notes what it is given."""
    process = subprocess.Popen(
        [sys.executable, "-m", "kfrc_app", "app"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "TMPDIR": str(place), "DISPLAY": ":0", "BROWSER": f'sh -c "echo $0 > {place}/given" %s'},
    )
    try:
        line = process.stdout.readline()
        yield process, ADDRESS.search(line)[0]
    finally:
        process.kill()
        process.communicate()


def folders(place):
    return list(place.glob(f"{PREFIX}*"))


def client_of(address):
    base, token = address.split("/?token=")
    return httpx.Client(base_url=base, headers={"x-kfrc-token": token}, timeout=PATIENCE, trust_env=False)


def run_something_long(address):
    """Start a run that takes long, and wait until it works."""
    with client_of(address) as client:
        table = give(client, long_table())
        run = client.post(f"/tables/{table}/runs", json={"refits": 20}).json()["id"]
        wait_until(lambda: client.get(f"/runs/{run}").json()["progress"].get("step") == "looking")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("number", "code", "working"), [(signal.SIGTERM, 143, True), (signal.SIGINT, 0, False)], ids=["SIGTERM", "SIGINT"]
)
def test_an_orderly_end_leaves_no_file_and_no_process(tmp_path, number, code, working):
    with program(tmp_path) as (process, address):
        if working:
            run_something_long(address)
        (folder,) = folders(tmp_path)
        assert folder.stat().st_mode & 0o777 == 0o700
        wait_until((tmp_path / "given").exists)
        given = wait_until((tmp_path / "given").read_text).strip()
        assert "token" not in given
        assert address.split("=")[1] in Path(given.removeprefix("file://")).read_text()
        children = psutil.Process(process.pid).children(recursive=True)
        assert children
        process.send_signal(number)
        out, err = process.communicate(timeout=PATIENCE)
        assert process.returncode == code
        assert "Traceback" not in out + err
        assert folders(tmp_path) == []
        assert not Path(given.removeprefix("file://")).exists()
        wait_until(lambda: not any(child.is_running() for child in children))


@pytest.mark.slow
def test_a_server_that_is_killed_takes_its_processes_and_files_along(tmp_path):
    with program(tmp_path) as (process, address):
        run_something_long(address)
        children = psutil.Process(process.pid).children(recursive=True)
        assert len(children) >= 1
        process.kill()
        process.wait()
        wait_until(lambda: not any(child.is_running() for child in children))
        wait_until(lambda: folders(tmp_path) == [])


def test_the_folder_of_a_server_that_is_gone_is_removed_and_that_of_a_living_one_is_not(tmp_path):
    living = PrivateFolder(tmp_path)
    gone = PrivateFolder(tmp_path)
    os.close(gone._descriptor)  # as the end of its process does
    (gone.path / "secret").write_text("x")
    new = tmp_path / f"{PREFIX}new"
    new.mkdir()
    old = tmp_path / f"{PREFIX}old"
    old.mkdir()
    os.utime(old, (0, 0))
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (tmp_path / f"{PREFIX}link").symlink_to(elsewhere)
    remove_left_over(tmp_path)
    assert living.path.exists()
    assert new.exists()
    assert elsewhere.exists()
    assert not gone.path.exists()
    assert not old.exists()
    living.remove()
    assert not living.path.exists()


def test_a_worker_removes_the_folder_of_a_server_and_no_other(tmp_path):
    mine = PrivateFolder(tmp_path)
    unlocked = tmp_path / f"{PREFIX}unlocked"
    unnamed = tmp_path / "elsewhere"
    for folder in (unlocked, unnamed):
        folder.mkdir()
    (unnamed / "in-use").touch()
    link = tmp_path / f"{PREFIX}link"
    link.symlink_to(unnamed)
    for folder in (mine.path, unlocked, unnamed, link):
        remove_own(folder)
    assert not mine.path.exists()
    assert unlocked.exists()
    assert (unnamed / "in-use").exists()
    mine.remove()


def test_a_port_that_is_taken_is_told_in_one_line(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        ended = CliRunner().invoke(app, ["app", "--no-browser", "--port", str(port)])
    assert ended.exit_code == 1
    assert ended.stderr.startswith(f"kfrc: cannot listen at 127.0.0.1, port {port}")
    assert len(ended.stderr.splitlines()) == 1
    assert folders(tmp_path) == []


def test_only_this_computer_is_listened_to(served):
    port = served.address.port
    found = [each for each in psutil.Process().net_connections("tcp") if each.status == psutil.CONN_LISTEN]
    assert [each.laddr.ip for each in found if each.laddr.port == port] == ["127.0.0.1"]


def test_listening_elsewhere_is_warned_of(monkeypatch):
    def refused(*arguments):
        raise OSError("stopped here")

    monkeypatch.setattr(kfrc_app.server.serve, "serving", refused)
    warned = CliRunner().invoke(app, ["app", "--no-browser", "--host", "0.0.0.0"])
    assert "open to every computer" in warned.stderr
    assert "warning" not in CliRunner().invoke(app, ["app", "--no-browser"]).stderr


@pytest.mark.slow
def test_a_second_server_works_beside_the_first_and_a_finished_run_leaves_nothing(served):
    first, place = served.address, served.parent
    with serving(parent=place) as second, client_of(second.text) as client:
        assert first.port != second.port
        assert len(folders(place)) == 2
        for address, other in ((first, second), (second, first)):
            with client_of(address.text) as asking:
                assert asking.get("/").status_code == 200
                assert asking.get("/", headers={"x-kfrc-token": other.token}).status_code == 403
        table = give(client, b"a,b\n" + b"".join(b"%d,%d\n" % (k % 2 * 9 + k % 3, k % 2 * 7) for k in range(20)))
        run = client.post(f"/tables/{table}/runs", json={"clusters": 2, "refits": 0}).json()["id"]
        assert follow(client, run)["state"] == "done"
        assert client.get(f"/runs/{run}/files/kfrc-results.zip").status_code == 200
    assert folders(place) == [served.folder]
