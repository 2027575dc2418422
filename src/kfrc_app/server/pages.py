"""What the server answers: the page and its files, tables that come in, runs, reports and downloads."""

from __future__ import annotations

import json
import re
import sys
import traceback
from collections.abc import Mapping
from importlib import resources
from typing import Any
from urllib.parse import unquote

import anyio
import anyio.to_thread
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import FileResponse, HTMLResponse, JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

import kfrc
from kfrc_app.runs.results import CLUSTERED, REPORT, WORKBOOK
from kfrc_app.server import limits
from kfrc_app.server.choices import MAX_GROUPS, MIN_GROUPS, Choices
from kfrc_app.server.example import NAME, example_table
from kfrc_app.server.jobs import ALL_FILES, Runs
from kfrc_app.server.problems import PageError
from kfrc_app.server.security import REPORT_HEADERS
from kfrc_app.server.uploads import Uploads
from kfrc_app.server.workers import WorkerEndedError, Workers

NAME_HEADER = "x-file-name"

_KINDS = {".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}
_DOWNLOADS = {
    WORKBOOK: "with groups.xlsx",
    CLUSTERED: "with groups.csv",
    ALL_FILES: "results.zip",
}
_ENDINGS = re.compile(r"(?:\.[A-Za-z0-9]{1,8})?(?:\.(?:gz|zip))?$")
_SENTENCES = {404: "There is nothing at this address.", 405: "This address does not answer to that."}
_UNREADABLE = (
    "This file made the program that reads it stop, perhaps because it needs too much memory: use another file."
)
_SLOW = "Reading this file takes too long: leave out rows or columns that are not needed, and choose it again."


class Pages:
    """The answers of a server.

    Parameters
    ----------
    uploads : Uploads
    runs : Runs
    workers : Workers
    """

    def __init__(self, uploads: Uploads, runs: Runs, workers: Workers) -> None:
        self.uploads, self.runs, self.workers = uploads, runs, workers
        self._reading = anyio.CapacityLimiter(limits.MAX_READING)
        self._page = _rendered()
        self._static = _static_files()

    def application(self) -> Starlette:
        """All of it, without a guard."""
        return Starlette(
            routes=[
                Route("/", self.page),
                Route("/static/{name}", self.static),
                Route("/example", self.example),
                Route("/tables", self.receive, methods=["POST"]),
                Route("/tables/{key}", self.forget, methods=["DELETE"]),
                Route("/tables/{key}/columns", self.describe, methods=["POST"]),
                Route("/tables/{key}/runs", self.start, methods=["POST"]),
                Route("/runs/{key}", self.follow),
                Route("/runs/{key}", self.cancel, methods=["DELETE"]),
                Route("/runs/{key}/report", self.report),
                Route("/runs/{key}/files/{name}", self.download),
            ],
            exception_handlers={
                PageError: _tell_problem,
                HTTPException: _tell_status,
                ClientDisconnect: _tell_nobody,
                Exception: _tell_surprise,
            },
        )

    async def page(self, request: Request) -> Response:
        """The page itself."""
        return HTMLResponse(self._page)

    async def static(self, request: Request) -> Response:
        """A style or a script; they are read once, so that no name becomes a path."""
        name = request.path_params["name"]
        if name not in self._static:
            raise HTTPException(404)
        return Response(self._static[name], media_type=_KINDS["." + name.rpartition(".")[2]])

    async def example(self, request: Request) -> Response:
        """A table to try the page with."""
        return Response(await anyio.to_thread.run_sync(example_table), media_type="text/csv")

    async def receive(self, request: Request) -> Response:
        """Keep a table."""
        name = unquote(request.headers.get(NAME_HEADER, ""), errors="replace")
        upload = await self.uploads.receive(request.stream(), name)
        return JSONResponse({"id": upload.id, "name": upload.name, "size": upload.size}, status_code=201)

    async def forget(self, request: Request) -> Response:
        """Remove a table."""
        self.uploads.forget(request.path_params["key"])
        return Response(status_code=204)

    async def describe(self, request: Request) -> Response:
        """The columns of a table, with what was chosen so far."""
        with self.uploads.held(request.path_params["key"]) as upload:
            choices = await _choices(request)
            task = {"do": "describe", "path": str(upload.path), "choices": choices}
            try:
                answer = await anyio.to_thread.run_sync(
                    self.workers.do_within, limits.READING_SECONDS, task, limiter=self._reading
                )
            except TimeoutError:
                raise PageError(_SLOW, where="file") from None
            except (WorkerEndedError, OSError):
                raise PageError(_UNREADABLE, where="file") from None
        if "details" in answer:
            print(answer.pop("details"), file=sys.stderr)
        return JSONResponse(answer, status_code=422 if "problem" in answer else 200)

    async def start(self, request: Request) -> Response:
        """Look for groups."""
        with self.uploads.held(request.path_params["key"]) as upload:  # it must not go while the choices come in
            run = self.runs.add(upload, await _choices(request))
        return JSONResponse(self.runs.document(run), status_code=201)

    async def follow(self, request: Request) -> Response:
        """How a run stands."""
        return JSONResponse(self.runs.document(self.runs.get(request.path_params["key"])))

    async def cancel(self, request: Request) -> Response:
        """End a run."""
        run = self.runs.get(request.path_params["key"])
        await anyio.to_thread.run_sync(self.runs.cancel, run)
        return JSONResponse(self.runs.document(run))

    async def report(self, request: Request) -> Response:
        """The report, in a sandbox."""
        path = self.runs.file(self.runs.get(request.path_params["key"]), REPORT)
        return FileResponse(path, media_type="text/html", headers=REPORT_HEADERS)

    async def download(self, request: Request) -> Response:
        """A file of a result."""
        run = self.runs.get(request.path_params["key"])
        path = await anyio.to_thread.run_sync(self.runs.file, run, request.path_params["name"])
        name = download_name(run.upload.name, path.name)
        return FileResponse(path, media_type="application/octet-stream", filename=name)


def download_name(table: str, file: str) -> str:
    """What a file of a result is called among the downloads of a user: after the table.

    Examples
    --------
    >>> from kfrc_app.server.pages import download_name
    >>> download_name("survey.2024.xlsx", "clustered.csv"), download_name("survey.csv.gz", "summary.json")
    ('survey.2024 with groups.csv', 'summary.json')
    """
    if file not in _DOWNLOADS:
        return file
    stem = _ENDINGS.sub("", "".join(filter(str.isprintable, table)))
    return f"{stem.strip(' .') or 'table'} {_DOWNLOADS[file]}"


async def _choices(request: Request) -> dict[str, Any]:
    """What the page sent, once it was checked."""
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > limits.MAX_CHOICES:
            raise PageError("The page sent too much: load it again.", status=413)
    try:
        document = json.loads(body or b"{}")
    except (ValueError, RecursionError):
        raise PageError("The page sent something that cannot be understood: load it again.", status=400) from None
    Choices.parse(document)
    return dict(document)


async def _tell_problem(request: Request, problem: Exception) -> Response:
    assert isinstance(problem, PageError)
    return JSONResponse(problem.document, status_code=problem.status)


async def _tell_status(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    sentence = _SENTENCES.get(error.status_code, "This cannot be done.")
    return JSONResponse({"problem": sentence}, status_code=error.status_code, headers=error.headers)


async def _tell_nobody(request: Request, error: Exception) -> Response:
    return PlainTextResponse("", status_code=400)


async def _tell_surprise(request: Request, error: Exception) -> Response:
    sentence = "Something went wrong that should not have: the window in which the page was started says more."
    traceback.print_exception(error)
    return JSONResponse({"problem": sentence}, status_code=500)


def _rendered() -> str:
    """The page, with the bounds that it tells."""
    import jinja2

    text = (resources.files("kfrc_app.server") / "templates" / "page.html.j2").read_text("utf-8")
    template = jinja2.Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True).from_string(text)
    return template.render(
        max_bytes=limits.MAX_UPLOAD,
        max_megabytes=limits.MAX_UPLOAD // limits.MEGABYTE,
        example=NAME,
        min_groups=MIN_GROUPS,
        max_groups=MAX_GROUPS,
        version=kfrc.__version__,
    )


def _static_files() -> Mapping[str, bytes]:
    folder = resources.files("kfrc_app.server") / "static"
    return {item.name: item.read_bytes() for item in folder.iterdir() if item.name.endswith(tuple(_KINDS))}
