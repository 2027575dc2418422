"""What visitors of the page do: each visit ends with a right result or a clear sentence, or it is a failure."""

from __future__ import annotations

import csv
import io
import socket
import time
import zipfile
from urllib.parse import quote

import httpx
import numpy as np

from kfrc_app.server import limits
from kfrc_app.server.security import TOKEN_HEADER

from .tables import QUICK, hostile_tables

PATIENCE = 300.0
"""Seconds after which a run that says nothing new counts as lost."""

ENDED = "The work ended before it was done"
UNREADABLE = "This file made the program that reads it stop"
SLOW = "Reading this file takes too long"
SURPRISE = "Something went wrong"
FULL = (429,)
"""Too many at once: the page says so and the visitor goes away."""

SURE = 1e-9
"""Memberships are written with as many digits."""


class LostError(Exception):
    """Neither a result nor a sentence."""


class Visitor:
    """One person with the page open.

    Parameters
    ----------
    app : App
        The running program: ``origin``, ``token``, ``home``, ``port``.
    tally : Tally
    killer : Killer
    good : list of Good
    large : Good
    rng : random.Random
    """

    def __init__(self, app, tally, killer, good, large, rng):
        self.app, self.tally, self.killer = app, tally, killer
        self.good, self.large, self.rng = good, large, rng
        self.client = httpx.Client(
            base_url=app.origin, headers={TOKEN_HEADER: app.token}, timeout=PATIENCE, trust_env=False
        )
        self.visits = [
            (self.cluster, 10),
            (self.hostile, 4),
            (self.cancel, 3),
            (self.twice, 2),
            (self.walk_away, 2),
            (self.break_off, 3),
            (self.nonsense, 2),
            (self.as_browser, 1),
            (self.cluster_large, 1),
            (self.too_large, 0.2),
        ]

    def visit(self):
        """One visit of a random kind."""
        kinds, weights = zip(*self.visits, strict=True)
        kind = self.rng.choices(kinds, weights)[0]
        what = f"page: {kind.__name__.replace('_', ' ')}"
        try:
            kind(what)
        except LostError as lost:
            self.tally.fail(what, str(lost))
        except httpx.HTTPError as error:
            self.tally.fail(what, f"the page did not answer: {error!r}")

    def close(self):
        self.client.close()

    # Visits

    def cluster(self, what):
        """A table as somebody means it: columns, groups, report and downloads, and gone."""
        self._cluster(what, self.rng.choice(self.good))

    def cluster_large(self, what):
        self._cluster(what, self.large)

    def _cluster(self, what, good):
        began = time.monotonic()
        table = self._give(what, good.content, good.name)
        if table is None:
            return
        if self.rng.random() < 0.7:
            answer = self.client.post(f"/tables/{table}/columns", json=good.choices)
            if answer.status_code != 200:
                self._failed(what, answer.json().get("problem", answer.text), began)
                return
        run = self._start(what, table, good.choices)
        if run is not None:
            self._expect(what, run, good, began)
        self.client.delete(f"/tables/{table}")

    def twice(self, what):
        """The button is pressed twice, and the table is removed while it is needed."""
        good, began = self.rng.choice(self.good), time.monotonic()
        table = self._give(what, good.content, good.name)
        if table is None:
            return
        runs = [self._start(what, table, good.choices) for _ in range(2)]
        self.client.delete(f"/tables/{table}")
        for run in filter(None, runs):
            self._expect(what, run, good, began)

    def cancel(self, what):
        """A run is cancelled at a random moment."""
        table = self._give(what, self.large.content, self.large.name)
        run = None if table is None else self._start(what, table, self.large.choices)
        if run is None:
            return
        time.sleep(self.rng.uniform(0.0, 4.0))
        began = time.monotonic()
        state = self.client.delete(f"/runs/{run}").json()
        if state["state"] in ("done", "failed"):  # it was over already
            self.tally.check(what, state["state"] == "done" or ENDED in state["result"]["problem"], str(state)[:200])
            return
        told = self.client.get(f"/runs/{run}/report").status_code == 404 and state["state"] == "cancelled"
        self.tally.check(what, told, f"{state} after {time.monotonic() - began:.1f} s")

    def hostile(self, what):
        """A file that is no table: one sentence says so, at whatever step."""
        name, content = self.rng.choice(hostile_tables(self.rng))
        began = time.monotonic()
        answer = self._post(content, name)
        if answer.status_code == 201:
            table = answer.json()["id"]
            answer = self.client.post(f"/tables/{table}/columns", json={})
            run = self.client.post(f"/tables/{table}/runs", json=QUICK)
            if run.status_code == 201:
                state = self._follow(run.json()["id"])
                problem = state["result"].get("problem", "")
                if not problem or SURPRISE in problem:
                    self.tally.fail(what, f"{name}: {state}")
                    return
                if ENDED in problem:
                    self._failed(what, problem, began)
                    return
            self.client.delete(f"/tables/{table}")
        problem = "" if answer.status_code < 300 else answer.json().get("problem", "")
        clear = answer.status_code < 500 and SURPRISE not in problem and (problem or answer.status_code < 300)
        if UNREADABLE in problem or SLOW in problem:
            self._failed(what, problem, began)
        else:
            self.tally.check(what, clear, f"{name}: {answer.status_code} {answer.text[:200]}")

    def walk_away(self, what):
        """A run is started, and nobody ever looks at it."""
        good = self.rng.choice(self.good)
        table = self._give(what, good.content, good.name)
        if table is not None and self._start(what, table, good.choices) is not None:
            self.tally.ok(what)

    def break_off(self, what):
        """The connection ends in the middle of a file, or in the middle of an answer."""
        head = f"POST /tables HTTP/1.1\r\nHost: 127.0.0.1:{self.app.port}\r\n{TOKEN_HEADER}: {self.app.token}\r\n"
        size = self.rng.randrange(1000, 3_000_000)
        with socket.create_connection(("127.0.0.1", self.app.port), timeout=PATIENCE) as connection:
            connection.sendall(f"{head}x-file-name: part.csv\r\nContent-Length: {size}\r\n\r\n".encode())
            connection.sendall(b"1,2\n" * self.rng.randrange(1, size // 4))
            time.sleep(self.rng.uniform(0.0, 0.3))
        self.tally.check(what, self.client.get("/example").status_code == 200, "the page does not answer afterwards")

    def nonsense(self, what):
        """Requests that the page never makes are refused in one sentence."""
        unknown = "f" * 32
        answers = [
            self.client.get(f"/runs/{unknown}"),
            self.client.get(f"/runs/{unknown}/files/..%2f..%2fin-use"),
            self.client.post(f"/tables/{unknown}/runs", json=QUICK),
            self.client.post(f"/tables/{unknown}/columns", content=b"[" * 5000),
            self.client.put("/tables", content=b"x"),
            httpx.get(f"{self.app.origin}/", timeout=PATIENCE, trust_env=False),
        ]
        refused = all(400 <= answer.status_code < 500 and len(answer.text) < 300 for answer in answers)
        self.tally.check(what, refused, str([(answer.status_code, answer.text[:80]) for answer in answers]))

    def as_browser(self, what):
        """By the address with its token, a cookie and the origin, as a browser does it."""
        headers = {"origin": self.app.origin, "sec-fetch-site": "same-origin"}
        with httpx.Client(timeout=PATIENCE, trust_env=False) as browser:
            entry = browser.get(self.app.address)
            home = entry.text.split("url=")[1].split('"')[0]
            page = browser.get(self.app.origin + home)
            answer = browser.post(
                f"{self.app.origin}{home}tables", content=self.good[0].content, headers={**headers, "x-file-name": "a"}
            )
            if answer.status_code in FULL:
                self.tally.ok("page: said to be full")
                return
            removed = browser.delete(f"{self.app.origin}{home}tables/{answer.json().get('id')}", headers=headers)
        told = [entry.status_code, page.status_code, answer.status_code, removed.status_code]
        self.tally.check(what, told == [200, 200, 201, 204], str(told))

    def too_large(self, what):
        """A file beyond the bound, by its bytes and not by what it says of itself."""
        piece = b"1,2,3,4\n" * 125_000

        def pieces():
            for _ in range(limits.MAX_UPLOAD // len(piece) + 2):
                yield piece

        try:
            answer = self._post(pieces(), "large.csv")
        except (httpx.WriteError, httpx.ReadError):  # refused and closed while bytes were still on their way
            self.tally.ok(what)
            return
        self.tally.check(what, answer.status_code in (413, *FULL), f"{answer.status_code} {answer.text[:200]}")

    # Steps

    def _post(self, content, name):
        return self.client.post("/tables", content=content, headers={"x-file-name": quote(name)})

    def _give(self, what, content, name):
        """Drop a table on the page; its key, or None if the page is full and says so."""
        answer = self._post(content, name)
        if answer.status_code == 201:
            return answer.json()["id"]
        self._refused(what, answer)
        return None

    def _start(self, what, table, choices):
        answer = self.client.post(f"/tables/{table}/runs", json=choices)
        if answer.status_code == 201:
            return answer.json()["id"]
        self._refused(what, answer)
        return None

    def _refused(self, what, answer):
        if answer.status_code in FULL:
            self.tally.ok("page: said to be full")
        else:
            self.tally.fail(what, f"{answer.status_code} {answer.text[:200]}")

    def _follow(self, run):
        """The last state of a run, which has to move all the time."""
        seen, moved = None, time.monotonic()
        while True:
            answer = self.client.get(f"/runs/{run}")
            if answer.status_code != 200:
                raise LostError(f"a run that was followed is gone: {answer.text[:200]}")
            state = answer.json()
            if state["state"] not in ("waiting", "running"):
                return state
            now = (state["state"], state["ahead"], str(state["progress"]))
            if now != seen:
                seen, moved = now, time.monotonic()
            elif time.monotonic() - moved > PATIENCE:
                raise LostError(f"nothing moves: {now}")
            time.sleep(self.rng.uniform(0.1, 0.7))

    def _expect(self, what, run, good, began):
        """The result is complete and right, or a sentence says what happened to it."""
        state = self._follow(run)
        if state["state"] == "failed":
            self._failed(what, state["result"].get("problem", ""), began)
            return
        if state["state"] != "done":
            self.tally.fail(what, f"{state}"[:300])
            return
        wrong = self._wrong(run, state["result"], good)
        self.tally.check(what, not wrong, f"{good.name}: {wrong}")

    def _failed(self, what, problem, began):
        """A failure is right if a process was killed, and the sentence is about that, or if time was really up."""
        if SLOW in problem and time.monotonic() - began > limits.READING_SECONDS:
            self.tally.ok("page: told that time is up on a machine this busy")
        elif (ENDED in problem or UNREADABLE in problem) and self.killer.since(began):
            self.tally.ok("page: told that its process died")
        else:
            self.tally.fail(what, f"failed with {problem!r}, {self.killer.since(began)} killed meanwhile")

    def _wrong(self, run, result, good):
        """What is wrong with a result; blank if nothing is."""
        contents = {}
        for name in result["files"]:
            answer = self.client.get(f"/runs/{run}/files/{name}")
            if answer.status_code != 200 or not answer.content:
                return f"{name} is missing: {answer.status_code}"
            contents[name] = answer.content
        rows = list(csv.DictReader(io.StringIO(contents["memberships.csv"].decode("utf-8-sig"))))
        found = np.array([[float(row["cluster_0"]), float(row["cluster_1"])] for row in rows])
        if found.shape != good.memberships.shape or np.abs(found - good.memberships).max() > SURE:
            return "other memberships than a direct fit finds"
        report = self.client.get(f"/runs/{run}/report")
        if report.status_code != 200 or not report.text.rstrip().endswith("</html>"):
            return f"the report is not complete: {report.status_code}"
        if len(contents["clustered.csv"].decode("utf-8-sig").strip().splitlines()) != good.n_rows + 1:
            return "clustered.csv has not one line for each row"
        zipped = self.client.get(f"/runs/{run}/files/kfrc-results.zip")
        for content in (zipped.content, contents["clustered.xlsx"]):
            with zipfile.ZipFile(io.BytesIO(content)) as archive:
                if archive.testzip() is not None:
                    return "a packed file is damaged"
        return ""
