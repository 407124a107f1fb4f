"""The server of the studio: its pages, its address, and how it starts and ends."""

from __future__ import annotations

import logging
import socket
import warnings
import webbrowser
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import uvicorn
from fastapi import FastAPI, Request
from fastapi.responses import HTMLResponse, PlainTextResponse, Response
from nicegui import app, ui

from molyneux.core import ConfigError, MolyneuxError, files
from molyneux.studio.access import REPORT_POLICY, Application, Guard, new_token, server_names
from molyneux.studio.computing import Computing
from molyneux.studio.frame import frame
from molyneux.studio.library import Library
from molyneux.studio.messages import CheckedSockets, WaitingPages, check_messages
from molyneux.studio.visit import Studio, Visit

PAGES = ("ask", "scenes", "worlds", "codes", "broken", "question", "which", "runs", "leaderboard")
"""Modules of the pages, in the order of the head; the first is also shown at `/`."""
_HISTORY, _AWAY = 60, 30.0
"""Messages of a page, with pictures, that are kept for a browser that was cut off, and the seconds in which it may come back."""
_NOT_THERE = (
    '<!doctype html><html lang="en"><meta charset="utf-8"><title>Not there</title><main><h1>There is no such page</h1>'
    '<p><a href="/">The first page of the studio</a></p></main></html>'
)
_LOOPBACK = ("127.0.0.1", "localhost", "::1")


def make_studio(library: Library, computing: Computing) -> FastAPI:
    """The application with all pages; who serves it puts a `Guard` before it."""
    application, studio = FastAPI(docs_url=None, redoc_url=None, openapi_url=None), Studio(library, computing)
    modules = [import_module(f"molyneux.studio.pages.{name}") for name in PAGES]
    waiting = WaitingPages()
    titles = {module.PATH: module.TITLE for module in modules}
    for module in modules:
        _add(module, studio, waiting, titles, module.PATH)
    _add(modules[0], studio, waiting, titles, "/")
    _add_reports(application, library)
    check_messages()
    app.add_exception_handler(404, _not_there)  # that of NiceGUI makes a page for each, which stays for a minute
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # it looks at every object that is alive, also those of torch
        _run_with(application)
    return application


def _run_with(application: FastAPI) -> None:
    ui.run_with(
        application,
        title="Molyneux studio",
        dark=None,
        language="en-GB",
        tailwind=False,
        show_welcome_message=False,
        binding_refresh_interval=None,
        message_history_length=_HISTORY,
        reconnect_timeout=_AWAY,
    )
    app.config.socket_io_js_transports = ["websocket"]


def _add_reports(application: FastAPI, library: Library) -> None:
    """Reports of runs, which a browser shows without running scripts of theirs."""

    @application.get("/report/{name:path}")
    def report(name: str) -> Response:
        try:
            path = files.inside(library.run(name).folder, "report/report.html")
            content = files.read_plain(path)
        except (MolyneuxError, OSError) as error:
            return PlainTextResponse(f"There is no such report: {error}", status_code=404)
        return HTMLResponse(content, headers={"content-security-policy": REPORT_POLICY})


async def _not_there(_: Request, __: Exception) -> Response:
    return HTMLResponse(_NOT_THERE, status_code=404)


def _add(module: Any, studio: Studio, waiting: WaitingPages, titles: dict[str, str], path: str) -> None:
    @ui.page(path, title=f"{module.TITLE} · Molyneux studio", response_timeout=20)
    async def shown(request: Request) -> None:
        state = module.State.from_query(request.query_params.multi_items())
        visit = Visit(studio, module.PATH, state)
        with frame(module.TITLE, module.INTRO, pages=titles, path=module.PATH):
            if await waiting.connected(visit.client):
                await module.build(visit)


def serve(
    folders: Sequence[Path] = (),
    *,
    host: str = "127.0.0.1",
    port: int = 8765,
    names: Sequence[str] = (),
    results: Sequence[Path] = (),
    workers: int = 1,
    browser: bool = True,
    trust: bool = False,
    told: Callable[[str], object] = print,
) -> None:
    """Serve the studio until it is interrupted.

    Args:
        folders: with runs that may be opened.
        host: the address to listen on; any but that of this machine alone needs the token in the printed link.
        port: its port; 0 takes a free one.
        names: further names under which it is reached.
        results: folders of records of studies, for the leaderboard.
        workers: computations at a time.
        browser: whether the page is opened in the browser.
        trust: see `open_model`.
        told: prints the link.

    Raises:
        ConfigError: a folder that is not there, or a port that is taken.
    """
    library = Library([Path(folder) for folder in folders], results=results, trust=trust)
    computing = Computing(workers)
    listening = _listening(host, port)
    port = listening.getsockname()[1]
    token = "" if host in _LOOPBACK else new_token()
    application = make_studio(library, computing)
    guarded: Application = Guard(CheckedSockets(application), names=server_names(host, port, names), token=token)
    link = f"http://{'127.0.0.1' if host in ('0.0.0.0', '::') else host}:{port}/{f'?token={token}' if token else ''}"
    told(f"The studio is at {link}  (Ctrl-C ends it)")
    config = uvicorn.Config(
        guarded, log_level="warning", timeout_graceful_shutdown=1, ws_max_size=2**20, lifespan="on", access_log=False
    )
    warnings.filterwarnings("ignore", message=".* does not read ")  # of texts, which the pages tell
    warnings.filterwarnings("ignore", message=".*torch.distributed.reduce_op")  # NiceGUI looks at every object that is alive
    logging.getLogger("molyneux.studio").addHandler(logging.StreamHandler())
    server = _Server(config, (lambda: webbrowser.open(link)) if browser else None)
    try:
        server.run(sockets=[listening])
    finally:
        computing.close()
        listening.close()


class _Server(uvicorn.Server):
    """A server that opens the browser when it is ready."""

    def __init__(self, config: uvicorn.Config, ready: Callable[[], object] | None) -> None:
        super().__init__(config)
        self._ready = ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """See uvicorn."""
        await super().startup(sockets)
        if self._ready is not None:
            self._ready()


def _listening(host: str, port: int) -> socket.socket:
    """A socket that listens on an address: who opens the link at once waits until the pages are there.

    Raises:
        ConfigError: the address is taken, or none of this machine.
    """
    made = None
    try:
        family, kind, number, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        made = socket.socket(family, kind, number)
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.bind(address)
        made.listen(128)
    except (OSError, OverflowError) as error:
        if made is not None:
            made.close()
        raise ConfigError(f"cannot listen on {host}:{port} ({error}): choose another --port, or --host") from error
    return made
