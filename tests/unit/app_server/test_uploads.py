"""Files that come in: bounded, counted, private, and removed."""

import asyncio
import gzip
import io
import json
import os
import random
import socket
import stat
import time
import zipfile
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import anyio
import pytest
from starlette.requests import Request

from kfrc_app.server import limits
from kfrc_app.server.pages import Pages
from kfrc_app.server.problems import PageError
from kfrc_app.server.serve import backstage
from kfrc_app.server.tasks import as_problem
from kfrc_app.server.uploads import Uploads
from waiting import PATIENCE, wait_until

from .conftest import as_csv, give, receive, two_groups


def describe(client, key, **choices):
    return client.post(f"/tables/{key}/columns", json=choices)


def is_one_sentence(text):
    return (
        bool(text) and "Traceback" not in text and "\n" not in text and text.endswith((".", "?")) and "--" not in text
    )


def size_of(path):
    """Bytes of a file, which the server may remove at any time."""
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0


def test_of_a_file_that_is_too_large_no_more_than_the_bound_is_ever_kept(served, client, monkeypatch):
    monkeypatch.setattr(limits, "MAX_UPLOAD", 2 * limits.MEGABYTE)
    before, kept = served.files, []

    def endless():
        for _ in range(200):
            kept.append(sum(size_of(served.folder / name) for name in served.files - before))
            yield b"1,2,3\n" * 20_000

    answer = client.post("/tables", content=endless(), headers={"x-file-name": "a.csv"})
    assert answer.status_code == 413
    assert "2 megabytes" in answer.json()["problem"]
    assert is_one_sentence(answer.json()["problem"])
    assert max(kept) <= 2 * limits.MEGABYTE
    assert kept[-1] == 0
    assert served.files == before


def test_the_bound_is_told_for_a_file_that_is_a_little_too_large(served, client, monkeypatch):
    monkeypatch.setattr(limits, "MAX_UPLOAD", limits.MEGABYTE)
    before = served.files
    answer = client.post("/tables", content=b"1" * (limits.MEGABYTE + 1))
    assert answer.status_code == 413
    assert "larger than 1 megabytes" in answer.json()["problem"]
    assert served.files == before


def test_a_length_that_a_client_claims_is_not_believed(served, client, monkeypatch):
    monkeypatch.setattr(limits, "MAX_UPLOAD", 100)
    # Without a length, in pieces: nothing but counting tells how much there is.
    answer = client.post("/tables", content=iter([b"x" * 60, b"x" * 60]))
    assert answer.status_code == 413


def test_an_empty_file_is_refused(client):
    answer = client.post("/tables", content=b"")
    assert answer.status_code == 422
    assert answer.json()["where"] == "file"


def test_the_folder_is_private(served, client):
    give(client, b"a\n1\n")
    assert stat.S_IMODE(os.stat(served.folder).st_mode) == 0o700


def test_a_hundred_tables_leave_a_bounded_number(served, client):
    keys = [give(client, f"a,b\n{k},1\n".encode()) for k in range(100)]
    tables = [name for name in served.files if (served.folder / name).is_file()]
    assert len(tables) <= limits.MAX_KEPT_TABLES
    assert describe(client, keys[-1]).status_code == 200  # one row is too few to look for groups, but it is shown
    answer = describe(client, keys[0])
    assert answer.status_code == 404
    assert is_one_sentence(answer.json()["problem"])


def test_the_table_that_was_not_used_for_longest_makes_room_and_one_in_use_stays(tmp_path, monkeypatch):
    monkeypatch.setattr(limits, "MAX_KEPT_TABLES", 3)
    uploads = Uploads(tmp_path)
    first, second, third = (receive(uploads, b"x") for _ in range(3))
    uploads.hold(first.id)
    uploads.get(second.id)
    receive(uploads, b"x")
    assert first.path.exists()
    assert second.path.exists()
    assert not third.path.exists()


def test_the_bytes_of_all_tables_are_bounded(tmp_path, monkeypatch):
    monkeypatch.setattr(limits, "MAX_KEPT_BYTES", 250)
    uploads = Uploads(tmp_path)
    for _ in range(5):
        receive(uploads, b"x" * 100)
    assert sum(path.stat().st_size for path in tmp_path.iterdir()) <= 250


def test_there_is_no_room_while_all_tables_are_in_use(tmp_path, monkeypatch):
    monkeypatch.setattr(limits, "MAX_KEPT_TABLES", 1)
    uploads = Uploads(tmp_path)
    uploads.hold(receive(uploads, b"x").id)
    with pytest.raises(Exception, match="no room"):
        receive(uploads, b"x")
    assert len(list(tmp_path.iterdir())) == 1


def test_a_table_that_nobody_looks_at_is_removed(tmp_path, monkeypatch):
    uploads = Uploads(tmp_path)
    upload = receive(uploads, b"x")
    upload.touched -= limits.IDLE_SECONDS + 1
    uploads.forget_idle()
    assert len(uploads) == 0
    assert not upload.path.exists()


def test_a_table_that_a_run_needs_is_not_removed(tmp_path):
    uploads = Uploads(tmp_path)
    upload = receive(uploads, b"x")
    with uploads.held(upload.id):
        uploads.forget(upload.id)
        assert upload.path.exists()
    uploads.forget(upload.id)
    assert not upload.path.exists()
    with pytest.raises(PageError, match="not kept any more"):
        uploads.hold(upload.id)


@pytest.mark.parametrize(("address", "status"), [("columns", 200), ("runs", 201)])
def test_a_table_stays_while_what_the_page_says_of_it_comes_in(tmp_path, address, status):
    uploads = Uploads(tmp_path)
    upload = receive(uploads, b"x")
    runs = SimpleNamespace(add=lambda upload, choices: upload, document=lambda run: {"there": run.path.exists()})
    workers = SimpleNamespace(do_within=lambda seconds, task: {"there": upload.path.exists()})
    pages = Pages(uploads, runs, workers)

    async def choices():
        uploads.forget(upload.id)  # as another tab may ask in between
        return {"type": "http.request", "body": b"{}", "more_body": False}

    request = Request({"type": "http", "path_params": {"key": upload.id}, "headers": []}, choices)
    answer = asyncio.run({"columns": pages.describe, "runs": pages.start}[address](request))
    assert (answer.status_code, json.loads(answer.body)) == (status, {"there": True})
    assert upload.users == 0


def test_holding_from_many_threads_is_counted(tmp_path):
    uploads = Uploads(tmp_path)
    upload = receive(uploads, b"x")

    def use(_):
        for _ in range(500):
            with uploads.held(upload.id):
                pass

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(use, range(8)))
    assert upload.users == 0


def test_what_nobody_looks_at_is_removed_although_nobody_asks_for_anything(tmp_path, monkeypatch):
    monkeypatch.setattr(limits, "SWEEPING_SECONDS", 0.05)
    monkeypatch.setattr(limits, "IDLE_SECONDS", 0.2)
    with backstage(tmp_path) as pages:
        upload = receive(pages.uploads, b"x")
        wait_until(lambda: not upload.path.exists())
        assert len(pages.uploads) == 0


def test_a_problem_names_the_file_and_not_our_place_for_it():
    problem = as_problem(OSError("cannot read /tmp/x/abc: gone"), {"path": "/tmp/x/abc", "name": "my.csv"})
    assert problem.sentence == "Cannot read 'my.csv': gone."


def test_the_page_can_have_a_table_removed(served, client):
    key = give(client, b"a\n1\n")
    assert client.delete(f"/tables/{key}").status_code == 204
    assert key not in served.files
    assert client.delete(f"/tables/{key}").status_code == 204


NOISE = random.Random(0)
WRONG = {
    "picture": b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 20,
    "document": b"%PDF-1.7\n" + b"1 0 obj << /Type /Catalog >> endobj\n" * 20,
    "program": b"\x7fELF" + NOISE.randbytes(3000),
    "noise": NOISE.randbytes(5000),
    "zeros": bytes(5000),
    "web page": b"<!doctype html><html><body><p>hello</p></body></html>",
    "broken Parquet": b"PAR1" + b"\x00" * 500 + b"PAR1",
    "broken spreadsheet": b"PK\x03\x04" + NOISE.randbytes(500),
    "broken old spreadsheet": b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + NOISE.randbytes(2000),
    "broken gzip": b"\x1f\x8b\x08" + NOISE.randbytes(200),
    "names only": b"a,b,c\n",
}


@pytest.mark.parametrize("kind", WRONG)
def test_a_file_that_is_no_table_is_told_in_one_sentence(client, kind):
    answer = describe(client, give(client, WRONG[kind], f"{kind}.csv"))
    if answer.status_code == 200:  # what can be seen as a table is shown as one, and has nothing to look for groups in
        assert all(column["use"] in ("drop", "names") for column in answer.json()["columns"]), answer.text
        return
    assert answer.status_code == 422
    assert is_one_sentence(answer.json()["problem"]), answer.text


def bomb_sheet(size):
    """A workbook whose only sheet unpacks to ``size`` bytes of blanks."""
    import openpyxl

    plain = io.BytesIO()
    book = openpyxl.Workbook()
    book.active.append(["a", "b"])
    book.save(plain)
    packed = io.BytesIO()
    with (
        zipfile.ZipFile(plain) as source,
        zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as target,
    ):
        for item in source.infolist():
            if item.filename == "xl/worksheets/sheet1.xml":
                head, tail = source.read(item).split(b"<sheetData>")
                with target.open(item.filename, "w", force_zip64=True) as file:
                    file.write(head + b"<sheetData>")
                    for _ in range(size // limits.MEGABYTE):
                        file.write(b" " * limits.MEGABYTE)
                    file.write(tail)
            else:
                target.writestr(item.filename, source.read(item))
    return packed.getvalue()


def zipped_text(size):
    packed = io.BytesIO()
    with (
        zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive,
        archive.open("table.csv", "w", force_zip64=True) as file,
    ):
        file.write(b"a,b\n")
        for _ in range(size // limits.MEGABYTE):
            file.write(b"1,2\n" * (limits.MEGABYTE // 4))
    return packed.getvalue()


def gzipped_text(size):
    packed = io.BytesIO()
    with gzip.GzipFile(fileobj=packed, mode="wb") as file:
        for _ in range(size // limits.MEGABYTE):
            file.write(b"1,2\n" * (limits.MEGABYTE // 4))
    return packed.getvalue()


def spaced_sheet(size):
    """A sheet of LibreOffice that writes ``size`` spaces as a number."""
    namespaces = "".join(f' xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"' for name in ODS_NAMES)
    cell = '<table:table-cell office:value-type="string"><text:p>{}</text:p></table:table-cell>'
    rows = "".join(
        f"<table:table-row>{cell.format(text)}{cell.format(k)}</table:table-row>"
        for k, text in enumerate(["a", "b", f'<text:s text:c="{size}"/>', "c"])
    )
    body = f'<office:body><office:spreadsheet><table:table table:name="S">{rows}</table:table></office:spreadsheet>'
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
        archive.writestr(
            "content.xml",
            f"<office:document-content{namespaces}>{body}</office:body></office:document-content>",
        )
    return packed.getvalue()


def repeated_text(size):
    """A workbook that stores a text once and shows it in so many cells that they hold eleven times ``size`` bytes."""
    import xlsxwriter

    plain = io.BytesIO()
    with xlsxwriter.Workbook(plain, {"in_memory": True}) as book:
        sheet = book.add_worksheet()
        for k in range(1100):
            sheet.write_row(k, 0, ["long", k])
    packed = io.BytesIO()
    with zipfile.ZipFile(plain) as source, zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as target:
        for item in source.infolist():
            content = source.read(item)
            if item.filename == "xl/sharedStrings.xml":
                content = content.replace(b"long", b"x" * (size // 100))
            target.writestr(item.filename, content)
    return packed.getvalue()


ODS_NAMES = ("office", "table", "text")


@pytest.mark.parametrize("make", [bomb_sheet, zipped_text, gzipped_text, spaced_sheet, repeated_text])
def test_a_small_file_that_unpacks_to_very_much_is_refused_and_the_page_lives(client, make):
    content = make(100 * limits.MEGABYTE)
    assert len(content) < limits.MEGABYTE
    answer = describe(client, give(client, content, "bomb.xlsx"))
    assert answer.status_code == 422
    assert is_one_sentence(answer.json()["problem"]), answer.text
    assert describe(client, give(client, as_csv(two_groups(20)))).status_code == 200


def test_what_the_page_says_of_columns_is_bounded_and_checked(client):
    key = give(client, as_csv(two_groups(20)))
    for body in (b"[", b"[]", b'"x"', b"[" * 100_000, b'{"columns": []}', b'{"columns": {"x0": {"use": "evil"}}}'):
        answer = client.post(f"/tables/{key}/columns", content=body)
        assert answer.status_code == 400, body
        assert is_one_sentence(answer.json()["problem"])
    answer = client.post(f"/tables/{key}/columns", content=b" " * (limits.MAX_CHOICES + 1))
    assert answer.status_code == 413


async def _stopping():
    yield b"a,b\n"
    await anyio.sleep_forever()


def test_a_file_of_which_nothing_comes_in_any_more_is_given_up(tmp_path, monkeypatch):
    monkeypatch.setattr(limits, "RECEIVING_SECONDS", 0.05)
    uploads = Uploads(tmp_path)
    with pytest.raises(PageError, match="choose it again") as refused:
        asyncio.run(uploads.receive(_stopping(), "a.csv"))
    assert refused.value.status == 408
    assert list(tmp_path.iterdir()) == []
    assert receive(uploads, b"x").path.exists()  # its place is free again


def test_connections_that_ask_for_nothing_are_closed(served, client, monkeypatch):
    monkeypatch.setattr(limits, "ASKING_SECONDS", 0.1)
    silent = [socket.create_connection(("127.0.0.1", served.address.port), timeout=PATIENCE) for _ in range(3)]
    for begun, connection in zip(
        (b"", b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX:", b"GET /nothing HTTP/1.1\r\n"), silent, strict=True
    ):
        connection.sendall(begun)
    for connection in silent:
        with connection:
            assert connection.recv(100) == b""


BEGUN = {
    "silent": b"",
    "half a request": b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX:",
    "half a body": b"POST /tables HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 1000\r\n\r\nabc",
    "a wrong token": b"POST /tables HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Kfrc-Token: x\r\nContent-Length: 1000\r\n\r\nabc",
}


@pytest.mark.parametrize("begun", BEGUN)
def test_connections_without_the_token_take_no_places_of_those_with_it(served, begun):
    def sending():
        yield b"a,b\n"
        for _ in range(3 * limits.MAX_STRANGERS):
            strangers.append(socket.create_connection(("127.0.0.1", served.address.port), timeout=PATIENCE))
            strangers[-1].sendall(BEGUN[begun])
        time.sleep(2 * limits.STRANGER_SECONDS)
        yield b"1,2\n"

    strangers = []
    try:
        with served.client() as client:
            assert client.post("/tables", content=sending(), headers={"x-file-name": "a.csv"}).status_code == 201
            assert client.get("/", follow_redirects=True).status_code == 200
        with served.client() as another:
            assert another.get("/").status_code == 200
        with served.stranger() as client:
            assert client.get("/").status_code == 403
    finally:
        for stranger in strangers:
            stranger.close()


def test_a_request_that_takes_longer_than_its_beginning_may_is_answered(served, client, monkeypatch):
    monkeypatch.setattr(limits, "ASKING_SECONDS", 0.05)

    def slow():
        for _ in range(4):
            yield b"1,2\n"
            time.sleep(0.06)

    assert client.post("/tables", content=slow()).status_code == 201


def test_files_beyond_what_is_received_at_once_are_told_to_wait(tmp_path, monkeypatch):
    monkeypatch.setattr(limits, "MAX_RECEIVING", 0)
    with pytest.raises(PageError, match="Several files are being read already: wait a moment") as refused:
        receive(Uploads(tmp_path), b"x")
    assert refused.value.status == 429
    assert list(tmp_path.iterdir()) == []
