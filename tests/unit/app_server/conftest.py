"""A server of the page in this process, and clients that know its token."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from pathlib import Path

import httpx
import numpy as np
import pandas as pd
import pytest

from kfrc_app.server.folder import PREFIX
from kfrc_app.server.security import TOKEN_HEADER
from kfrc_app.server.serve import Address, serving
from waiting import PATIENCE, wait_until


@dataclass
class Served:
    address: Address
    parent: Path

    @property
    def origin(self):
        return f"http://127.0.0.1:{self.address.port}"

    @property
    def folder(self):
        (found,) = self.parent.glob(f"{PREFIX}*")
        return found

    @property
    def files(self):
        """Everything that is kept, by name."""
        return {path.name for path in self.folder.iterdir()} - {"in-use"}

    def stranger(self, **headers):
        """Somebody who knows nothing."""
        return httpx.Client(base_url=self.origin, headers=headers, timeout=PATIENCE, trust_env=False)

    def client(self, **headers):
        """Somebody who knows the token."""
        return self.stranger(**{TOKEN_HEADER: self.address.token, **headers})


@pytest.fixture(scope="session")
def served(tmp_path_factory):
    parent = tmp_path_factory.mktemp("served")
    with serving(parent=parent) as address:
        yield Served(address, parent)


@pytest.fixture
def client(served):
    with served.client() as found:
        yield found


def give(client, content, name="table.csv"):
    """Drop a table on the page; its key."""
    answer = client.post("/tables", content=content, headers={"x-file-name": name})
    assert answer.status_code == 201, answer.text
    return answer.json()["id"]


async def _pieces(*chunks):
    for chunk in chunks:
        yield chunk


def receive(uploads, content, name="a.csv"):
    """Keep a table without a server."""
    return asyncio.run(uploads.receive(_pieces(content), name))


def follow(client, run):
    """The last state of a run."""

    def ended():
        state = client.get(f"/runs/{run}").json()
        return state if state["state"] not in ("waiting", "running") else None

    return wait_until(ended)


def two_groups(n_rows=40, n_columns=3, seed=0):
    """A table of two groups that are far apart."""
    rng = np.random.default_rng(seed)
    values = rng.normal(size=(n_rows, n_columns)) + 6.0 * (np.arange(n_rows) % 2)[:, None]
    return pd.DataFrame(values.round(3), columns=[f"x{j}" for j in range(n_columns)])


def as_csv(frame):
    return frame.to_csv(index=False).encode()


def long_table():
    """A table that takes many seconds, as CSV."""
    return as_csv(two_groups(1500, 12))


QUICK = {"clusters": 2, "refits": 0}


def start(client, content, name="table.csv", **choices):
    """Start a run; its key."""
    table = give(client, content, name)
    answer = client.post(f"/tables/{table}/runs", json={**QUICK, **choices})
    assert answer.status_code == 201, answer.text
    return answer.json()["id"]


@pytest.fixture(scope="session")
def table():
    """Two groups, with cells and a heading that a spreadsheet would compute."""
    frame = two_groups(30)
    frame["=cmd|' /C calc'!A0"] = np.tile(["=1+1", "@SUM(A1)", "+2", "plain", "-3+cmd|x"], 6)
    frame.insert(0, "who", [f'=HYPERLINK("http://evil.example",{k})' for k in range(30)])
    return frame


@pytest.fixture(scope="session")
def done(served, table):
    """A run that is done: its key and its last state."""
    with served.client() as client:
        run = start(client, as_csv(table), "<b>table</b>.csv", columns={"who": {"use": "names"}})
        state = follow(client, run)
    assert state["state"] == "done", state
    return run, state
