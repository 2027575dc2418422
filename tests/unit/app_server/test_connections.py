"""What a connection is taken for, step by step and without a clock."""

import asyncio
from unittest.mock import Mock

import pytest
import uvicorn
from uvicorn.server import ServerState

from kfrc_app.server.connections import Connection
from kfrc_app.server.security import TOKEN_HEADER, Guard, Secrets

KNOWN = Secrets()


async def answer(scope, receive, send):
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"0")]})
    await send({"type": "http.response.body"})


def asking(token):
    return f"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n{TOKEN_HEADER}: {token}\r\n\r\n".encode()


async def admitted_after(*tokens):
    """Whether a connection is, before and after each of its requests reaches the guard."""
    guard = Guard(answer, known=KNOWN, cookie="kfrc")
    config = uvicorn.Config(guard, log_config=None, lifespan="off", ws="none")
    config.load()
    connection = Connection(config, ServerState(), {})
    transport = Mock()
    transport.get_extra_info.return_value = None
    transport.is_closing.return_value = False
    connection.connection_made(transport)
    found = []
    for token in tokens:
        connection.data_received(asking(token))
        before = connection.admitted
        while not connection.cycle.response_complete:
            await asyncio.sleep(0)
        found.append((before, connection.admitted))
    connection.connection_lost(None)
    return found


@pytest.mark.parametrize(
    ("tokens", "expected"),
    [
        ([KNOWN.token, KNOWN.token], [(False, True), (True, True)]),
        (["wrong", "wrong"], [(False, False), (False, False)]),
        (["wrong", KNOWN.token], [(False, False), (False, True)]),
    ],
)
def test_a_connection_that_brought_the_token_is_no_stranger_when_its_next_request_begins(tokens, expected):
    assert asyncio.run(admitted_after(*tokens)) == expected
