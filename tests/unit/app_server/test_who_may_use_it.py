"""Requests that are not the page's own are refused with one sentence."""

import asyncio
import re

import httpx
import pytest

from kfrc_app.server.security import NO_TOKEN, TOKEN_HEADER, WRONG_HOST, WRONG_ORIGIN, Guard, Secrets

ADDRESSES = [
    ("GET", "/"),
    ("GET", "/static/page.css"),
    ("GET", "/example"),
    ("POST", "/tables"),
    ("DELETE", "/tables/x"),
    ("POST", "/tables/x/columns"),
    ("POST", "/tables/x/runs"),
    ("GET", "/runs/x"),
    ("DELETE", "/runs/x"),
    ("GET", "/runs/x/report"),
    ("GET", "/runs/x/files/memberships.csv"),
    ("GET", "/nothing/here"),
]


def refused(answer, sentence):
    assert answer.status_code == 403
    assert answer.text == sentence
    assert "set-cookie" not in answer.headers
    return True


def page_of(client, served):
    """The path of the page, to which the address leads."""
    return re.search(r'content="0; url=(/[\w-]{40,}/)"', client.get(served.address.text).text)[1]


@pytest.fixture
def browser(served):
    """A client with the cookie, as a browser that has opened the address has it."""
    with served.stranger() as client:
        client.base_url = f"{served.origin}{page_of(client, served)}"
        yield client


@pytest.mark.parametrize(("method", "path"), ADDRESSES)
def test_nothing_answers_without_the_token(served, method, path):
    with served.stranger() as stranger:
        assert refused(stranger.request(method, path), NO_TOKEN)


@pytest.mark.parametrize("token", ["", "x", "é", "0" * 43])
def test_a_wrong_token_is_refused_wherever_it_is_brought(served, token):
    with served.stranger() as stranger:
        assert refused(stranger.get("/", params={"token": token}), NO_TOKEN)
        assert refused(stranger.get("/", headers={TOKEN_HEADER: token.encode()}), NO_TOKEN)
        cookie = f"kfrc_{served.address.port}={token}".encode()
        assert refused(stranger.get("/", headers={"cookie": cookie}), NO_TOKEN)


def test_the_address_is_exchanged_for_a_cookie_that_scripts_and_other_sites_do_not_have(served):
    with served.stranger() as stranger:
        answer = stranger.get(served.address.text)
        cookie = answer.headers["set-cookie"]
        assert "HttpOnly" in cookie
        assert "SameSite=Strict" in cookie
        assert served.address.token not in cookie
        page = page_of(stranger, served)
        assert f"Path={page};" in cookie
        assert "<h1>Find groups in a table</h1>" in stranger.get(page).text


def test_the_cookie_opens_nothing_where_a_program_at_another_port_would_get_it_too(served, browser):
    cookie = f"kfrc_{served.address.port}={browser.cookies[f'kfrc_{served.address.port}']}"
    elsewhere = httpx.Request("GET", "http://127.0.0.1:1/")  # where browsers send the cookies of all ports
    browser.cookies.set_cookie_header(elsewhere)
    assert "cookie" not in elsewhere.headers
    with served.stranger(cookie=cookie) as stranger:
        assert refused(stranger.get("/"), NO_TOKEN)
        assert refused(stranger.get(f"/{'x' * 43}/"), NO_TOKEN)


def test_the_token_in_the_address_opens_nothing_but_the_page(served):
    with served.stranger() as stranger:
        for path in ("/static/page.css", "/runs/x"):
            assert refused(stranger.get(path, params={"token": served.address.token}), NO_TOKEN)


@pytest.mark.parametrize(
    "host",
    [
        "evil.example", "127.0.0.1.evil.example", "localhost.evil.example", "192.168.0.7", "", "[::2]", "127.0.0.2",
        "127.0.0.1:80@evil.example", "localhost:evil.example", "[::1].evil.example", "localhost.", "127.1",
    ],
)  # fmt: skip
def test_another_name_of_this_computer_is_refused(served, host):
    with served.client(host=host) as client:
        assert refused(client.get("/"), WRONG_HOST)


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "LOCALHOST:1", "[::1]:9"])
def test_own_names_are_answered_at_any_port_because_ports_can_be_forwarded(served, host):
    with served.client(host=host) as client:
        assert client.get("/").status_code == 200


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "http://evil.example"},
        {"origin": "null"},
        {"origin": "http://127.0.0.1:1"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
        {"sec-fetch-site": "none"},
        {},
    ],
)
@pytest.mark.parametrize(("method", "path"), [pair for pair in ADDRESSES if pair[0] != "GET"])
def test_what_changes_something_must_come_from_the_page_itself(browser, headers, method, path):
    assert refused(browser.request(method, path, headers=headers), WRONG_ORIGIN)


def test_what_comes_from_the_page_itself_is_done(served, browser):
    for headers in ({"origin": served.origin}, {"sec-fetch-site": "same-origin"}):
        assert browser.delete("/tables/x", headers=headers).status_code == 204


def test_a_program_with_the_token_is_refused_if_a_browser_sent_it_from_elsewhere(client):
    assert client.delete("/tables/x").status_code == 204
    assert refused(client.delete("/tables/x", headers={"origin": "http://evil.example"}), WRONG_ORIGIN)


def test_other_sites_may_link_to_the_page_but_not_look_in(browser):
    elsewhere = {"sec-fetch-site": "cross-site"}
    assert browser.get("/", headers={**elsewhere, "sec-fetch-mode": "navigate"}).status_code == 200
    for mode in ("no-cors", "cors"):
        assert refused(browser.get("/static/page.css", headers={**elsewhere, "sec-fetch-mode": mode}), WRONG_ORIGIN)


def test_every_answer_tells_the_browser_what_to_forbid(served, client):
    with served.stranger() as stranger:
        answers = [client.get("/"), client.get("/nothing"), client.put("/"), stranger.get("/")]
    for answer in answers:
        policy = answer.headers["content-security-policy"]
        assert policy.startswith("default-src 'none'")
        assert "unsafe" not in policy
        assert "frame-ancestors 'none'" in policy
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["referrer-policy"] == "no-referrer"
        assert answer.headers["cache-control"] == "no-store"


def test_the_page_has_nothing_inside_that_its_policy_forbids_and_nothing_from_elsewhere(client):
    page = client.get("/").text
    for forbidden in ("<style", "style=", "onclick", "onload", "javascript:", "http://", "https://", 'src="//'):
        assert forbidden not in page
    assert page.count("<script") == page.count('<script type="module" src="static/') == 1


async def nothing(scope, receive, send):
    raise AssertionError("reached")


@pytest.mark.parametrize(
    ("hosts", "name", "own"),
    [
        (["0.0.0.0"], "192.168.0.7", True),
        (["0.0.0.0"], "evil.example", False),
        (["::"], "[fe80::1]", True),
        (["box.example"], "box.example", True),
        (["MyBox"], "mybox:80", True),
        (["MyBox"], "MYBOX", True),
        (["box.example"], "192.168.0.7", False),
    ],
)
def test_a_server_for_others_answers_to_numbers_and_its_name_only(hosts, name, own):
    guard = Guard(nothing, known=Secrets(), cookie="c", hosts=hosts)
    assert guard._is_own_name(name) is own


def test_a_websocket_is_closed_even_for_who_knows_the_token():
    known, sent = Secrets(), []
    headers = [(b"host", b"127.0.0.1"), (TOKEN_HEADER.encode(), known.token.encode())]
    scope = {"type": "websocket", "path": "/runs/x", "query_string": b"", "headers": headers}

    async def send(message):
        sent.append(message)

    asyncio.run(Guard(nothing, known=known, cookie="c")(scope, None, send))
    assert sent == [{"type": "websocket.close", "code": 1008}]


def test_two_servers_have_two_tokens_and_two_cookies():
    assert Secrets().token != Secrets().token
    assert len(Secrets().token) >= 40


def test_requests_are_not_sent_by_way_of_a_proxy(served):
    # The tests themselves must reach the server, not something else.
    assert httpx.get(served.address.text, trust_env=False).status_code == 200
