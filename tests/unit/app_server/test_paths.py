"""Names and addresses that try to lead elsewhere."""

import http.client
from contextlib import closing

import pytest

from kfrc_app.server.security import TOKEN_HEADER
from kfrc_app.server.uploads import shown_name
from waiting import PATIENCE

from .conftest import give

TRICKS = [
    "/static/../security.py",
    "/static/%2e%2e/security.py",
    "/static/..%2fsecurity.py",
    "/static/%252e%252e%252fsecurity.py",
    "/static/..\\security.py",
    "/static/%5c..%5csecurity.py",
    "/static//etc/passwd",
    "/static/%2fetc%2fpasswd",
    "/static/page.css%00.py",
    "/static/page%2ecss/../../work.py",
    "/../../../../etc/passwd",
    "//etc/passwd",
    "/%2e%2e/%2e%2e/etc/passwd",
    "/runs/../in-use",
    "/runs/%2e%2e/report",
    "/templates/page.html.j2",
    "/static/",
    "/static",
]


def raw(served, method, path):
    """A request with its path exactly as it is written."""
    connection = http.client.HTTPConnection("127.0.0.1", served.address.port, timeout=PATIENCE)
    connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
    connection.putheader("Host", "127.0.0.1")
    connection.putheader(TOKEN_HEADER, served.address.token)
    connection.endheaders()
    with closing(connection), connection.getresponse() as answer:
        return answer.status, answer.read().decode("utf-8", "replace")


@pytest.mark.parametrize("path", TRICKS)
def test_no_address_leads_to_a_file_of_the_computer(served, path):
    status, text = raw(served, "GET", path)
    assert status in (400, 404)
    assert "root:" not in text
    assert "import" not in text


@pytest.mark.parametrize(
    "name",
    [
        "../in-use", "..%2fin-use", "%2e%2e%2fin-use", "%2fetc%2fpasswd", "report.html%00", "Report.html", "", ".",
        "..", "model.skops/", "kfrc-results.zip.0",
    ],
)  # fmt: skip
def test_no_name_of_a_result_leads_to_another_file(served, done, name):
    status, text = raw(served, "GET", f"/runs/{done[0]}/files/{name}")
    assert status in (307, 404)
    assert "root:" not in text


NAMES = [
    "../../../../tmp/evil.csv",
    "..\\..\\evil.csv",
    "/etc/passwd",
    "C:\\Windows\\win.ini",
    "a%00b.csv",
    "%2e%2e%2fevil",
    "con",
    "-rf",
    "a" * 5000,
    "<img src=x onerror=alert(1)>.csv",
    "\u202egnp.csv",
    "",
]


@pytest.mark.parametrize("name", NAMES)
def test_a_file_is_kept_under_a_name_of_our_own(served, client, name):
    from urllib.parse import quote

    before = served.files
    key = give(client, b"a,b\n1,2\n", quote(name, safe=""))
    new = served.files - before
    assert key in new
    assert all(set(found) <= set("0123456789abcdef") for found in new)
    assert (served.folder / key).read_bytes() == b"a,b\n1,2\n"


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("../../etc/passwd", "passwd"),
        ("C:\\a\\b.csv", "b.csv"),
        ("/", "table"),
        ("", "table"),
        ("a\x00b\n.csv", "a\ufffdb\ufffd.csv"),
        ("x" * 500, "x" * 149 + "…"),
    ],
)
def test_the_name_that_is_shown_is_the_last_part_without_control_characters(name, shown):
    assert shown_name(name) == shown


def test_a_result_is_read_by_its_table_and_not_by_its_path(client):
    assert client.post("/tables/..%2f..%2fetc%2fpasswd/columns", json={}).status_code == 404
    assert client.post("/tables/in-use/columns", json={}).status_code == 404
