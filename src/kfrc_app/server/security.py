"""Who may use the page: this computer, at the address that was printed, from the page itself.

Three questions are asked of every request. Is it addressed to this computer by its own name (else a foreign site could
have given its name to it)? Does it bring the token, or the cookie that the token was exchanged for? Was it made by the
page (else another site makes the browser of the user ask)? If not, the answer is one sentence.
"""

from __future__ import annotations

import ipaddress
import re
import secrets
import threading
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

TOKEN_HEADER = "x-kfrc-token"  # noqa: S105  # the name of a header
TOKEN_PARAMETER = "token"  # noqa: S105  # the name of a parameter
ADMITTED = "admitted"
"""In the state of a request: an event, set once a request on its connection has brought the token."""

LOOPBACK = ("127.0.0.1", "localhost", "::1")

PAGE_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; frame-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
"""What the page may load: its own files, nothing written inside it, nothing from elsewhere."""

REPORT_POLICY = (
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; font-src data:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'self'; sandbox allow-scripts allow-modals"
)
"""The report has its scripts inside, and names their hash itself. It lives in a sandbox, as a page of nobody: it has no
cookie and may load nothing. A sandbox does not keep a document from leaving for another address, which could carry text
along; that no script but the report's own runs, by the hash in its meta tag, is what prevents it."""

_HEADERS = {
    "content-security-policy": PAGE_POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), microphone=(), geolocation=()",
    "cache-control": "no-store",
}
REPORT_HEADERS = {"content-security-policy": REPORT_POLICY, "cross-origin-opener-policy": "unsafe-none"}
"""Browsers do not open a sandbox in a tab of its own if it also asks for a separate group of tabs."""

_ENTRY = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="refresh" content="0; url={home}/">
<link rel="icon" href="{home}/static/icon.svg" type="image/svg+xml">
<title>kfrc</title>
</head>
<body><p><a href="{home}/">Go to the page</a></p></body>
</html>
"""
"""What the address with the token shows: the way to the page. It is the page itself that goes there, so that browsers
send the cookie, which they withhold from a page that something else has led to."""

_READING = ("GET", "HEAD")
_TOKEN_BYTES = 32
_HOST = re.compile(r"(?:\[(?P<number>[0-9A-Fa-f:.]+)\]|(?P<name>[^\s:@/\[\]]+))(?::[0-9]{1,5})?")

WRONG_HOST = "This page answers at the address that `kfrc app` printed, and at no other name."
NO_TOKEN = "Open the address that `kfrc app` printed, with its token: this page is private."  # noqa: S105  # a sentence
WRONG_ORIGIN = "Another site asked for this, not the page itself: nothing was done."


@dataclass(frozen=True)
class Secrets:
    """What a browser must know.

    Attributes
    ----------
    token : str
        Part of the address that is printed.
    session : str
        What the cookie holds afterwards.
    place : str
        The first part of the path of the page. Browsers send a cookie to all ports of a computer, so also to a program
        of somebody else; but only below the path that it was given for, which nobody else knows.
    """

    token: str = field(default_factory=lambda: secrets.token_urlsafe(_TOKEN_BYTES))
    session: str = field(default_factory=lambda: secrets.token_urlsafe(_TOKEN_BYTES))
    place: str = field(default_factory=lambda: secrets.token_urlsafe(_TOKEN_BYTES))


class Guard:
    """Middleware that refuses what is not the page's own, and adds to answers what browsers are to enforce.

    Parameters
    ----------
    app : ASGI application
    known : Secrets
    cookie : str
        Name of the cookie; one for each port, because cookies of all ports of a computer are mixed.
    hosts : iterable of str
        Names of the server beside those of this computer; with ``"0.0.0.0"`` or ``"::"`` every number is one.

    Attributes
    ----------
    opened : Event
        Set once somebody has opened the address with the token.
    """

    def __init__(self, app: ASGIApp, *, known: Secrets, cookie: str, hosts: Iterable[str] = ()) -> None:
        self.app, self.known, self.cookie = app, known, cookie
        self.hosts = {*LOOPBACK, *(host.lower() for host in hosts)}  # as `host_name` gives them
        self.any_number = bool({"0.0.0.0", "::"} & self.hosts)  # noqa: S104  # compared, not bound to
        self.opened = threading.Event()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008})
            return
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        request = Request(scope)
        by_address = (
            scope["path"] == "/"
            and request.method in _READING
            and _same(request.query_params.get(TOKEN_PARAMETER), self.known.token)
        )
        home = f"/{self.known.place}"
        inside = scope["path"].startswith(f"{home}/")
        if inside:
            scope = {**scope, "path": scope["path"].removeprefix(home)}

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    headers.setdefault(name, value)
                if by_address and message["status"] == 200:
                    self.opened.set()
                    headers.append(
                        "set-cookie", f"{self.cookie}={self.known.session}; Path={home}/; HttpOnly; SameSite=Strict"
                    )
            await send(message)

        refusal = self._refusal(request, by_address=by_address, inside=inside)
        admitted = scope.get("state", {}).get(ADMITTED)
        if refusal is None and admitted is not None:
            admitted.set()
        answer = self.app if refusal is None else PlainTextResponse(refusal, status_code=403)
        if refusal is None and by_address:
            answer = HTMLResponse(_ENTRY.format(home=home))
        await answer(scope, receive, send_guarded)

    def _refusal(self, request: Request, *, by_address: bool, inside: bool) -> str | None:
        """Why a request is refused; None if it is not."""
        headers = request.headers
        if not self._is_own_name(headers.get("host", "")):
            return WRONG_HOST
        by_header = _same(headers.get(TOKEN_HEADER), self.known.token)
        by_cookie = inside and _same(request.cookies.get(self.cookie), self.known.session)
        if not (by_header or by_address or by_cookie):
            return NO_TOKEN
        if not _is_own_request(headers, request.method, by_header=by_header):
            return WRONG_ORIGIN
        return None

    def _is_own_name(self, host: str) -> bool:
        name = host_name(host)
        return name in self.hosts or (self.any_number and _is_number(name))


def host_name(host: str) -> str:
    """The name in a Host header, without its port and brackets; blank if it is no such header.

    Examples
    --------
    >>> from kfrc_app.server.security import host_name
    >>> host_name("127.0.0.1:80"), host_name("[::1]:80"), host_name("LOCALHOST"), host_name("localhost:80@evil.example")
    ('127.0.0.1', '::1', 'localhost', '')
    """
    found = _HOST.fullmatch(host)
    return "" if found is None else (found["number"] or found["name"]).lower()


def _is_own_request(headers: Headers | Mapping[str, str], method: str, *, by_header: bool) -> bool:
    """Whether the page itself made a request, as far as browsers say."""
    site, origin = headers.get("sec-fetch-site"), headers.get("origin")
    if method in _READING:
        # Somebody may follow a link to the address; nothing else of another site may look in.
        return site in (None, "same-origin", "none") or headers.get("sec-fetch-mode") == "navigate"
    if origin is not None and origin != f"http://{headers.get('host')}":
        return False
    if site is not None and site != "same-origin":
        return False
    # A browser says one of the two; a program that says neither must know the token.
    return by_header or origin is not None or site is not None


def _is_number(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def _same(given: str | None, secret: str) -> bool:
    return given is not None and secrets.compare_digest(given.encode("utf-8", "replace"), secret.encode())
