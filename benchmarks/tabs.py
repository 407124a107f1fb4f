"""A studio in a process of its own, and tabs that visit it as a browser does: a page, a socket, and what is shown."""

from __future__ import annotations

import asyncio
import json
import os
import re
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import uuid4

import aiohttp
import socketio

SOCKET = "/_nicegui_ws/socket.io"
_TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Server:
    """A studio that runs.

    Args:
        process: the process.
        address: of the studio.
        log: what it writes to standard error.
    """

    process: subprocess.Popen[str]
    address: str
    log: Path

    @property
    def memory(self) -> float:
        """Resident memory in MiB."""
        return self._status("VmRSS")

    @property
    def peak(self) -> float:
        """The most resident memory so far, in MiB."""
        return self._status("VmHWM")

    @property
    def seconds(self) -> float:
        """Processor seconds so far."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / _TICKS

    @property
    def faults(self) -> int:
        """Tracebacks in the log."""
        return self.log.read_text(encoding="utf-8", errors="replace").count("Traceback (most recent call last)")

    def _status(self, name: str) -> float:
        found = re.search(rf"^{name}:\s+(\d+) kB", Path(f"/proc/{self.process.pid}/status").read_text(), re.MULTILINE)
        assert found is not None
        return int(found.group(1)) / 1024


@contextmanager
def served(log: Path, *arguments: str) -> Iterator[Server]:
    """A studio on a free port, as a context."""
    command = [sys.executable, "-m", "molyneux", "studio", "--no-browser", "--port", "0", *arguments]
    with log.open("w") as errors, subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, text=True) as process:
        try:
            assert process.stdout is not None
            found = re.search(r"http://\S+", process.stdout.readline())
            if found is None:
                raise SystemExit(f"the studio did not start: {log.read_text()}")
            yield Server(process, found.group().rstrip("/"), log)
        finally:
            process.terminate()
            process.wait(20)


@dataclass
class Tab:
    """One open page.

    Args:
        client: its name for the server.
        socket: over which it hears and speaks.
        elements: what is shown, by number.
        shown: is set when a picture comes.
    """

    client: str
    socket: socketio.AsyncClient
    elements: dict[str, Any] = field(default_factory=dict)
    shown: asyncio.Event = field(default_factory=asyncio.Event)

    def take(self, changed: dict[str, Any]) -> None:
        """Take what the server changed."""
        for number, element in changed.items():
            if element is None:
                self.elements.pop(number, None)
            elif isinstance(element, dict):
                self.elements[number] = element
                if 'class="picture"' in str(element.get("props", {}).get("innerHTML", "")):
                    self.shown.set()

    async def until(self, condition: Callable[[], object], *, seconds: float = 300.0) -> None:
        """Wait for what is to be shown."""
        end = time.monotonic() + seconds
        while not condition():
            if time.monotonic() > end:
                raise SystemExit("a page did not show what it should have shown")
            await asyncio.sleep(0.02)

    def sliders(self, label: str = "") -> list[tuple[str, dict[str, Any]]]:
        """Sliders whose name begins so, with their numbers."""
        return [
            (number, element)
            for number, element in self.elements.items()
            if (props := element.get("props", {})).get("type") == "range" and str(props.get("aria-label", "")).startswith(label)
        ]

    async def move(self, slider: tuple[str, dict[str, Any]], value: float) -> float:
        """Move a slider and wait for the next picture; the seconds it took."""
        number, element = slider
        self.shown.clear()
        begun = time.monotonic()
        message = {"id": int(number), "client_id": self.client, "listener_id": element["events"][0]["listener_id"]}
        await self.socket.emit("event", {**message, "args": [json.dumps(f"{value:.3f}")]})
        await asyncio.wait_for(self.shown.wait(), 120)
        return time.monotonic() - begun


@asynccontextmanager
async def visiting(server: Server, path: str) -> AsyncIterator[Tab]:
    """A tab with a page, as a context."""
    async with aiohttp.ClientSession() as session, session.get(server.address + path) as answer:
        found = re.search(r"client_id\W+([0-9a-f-]{36})", await answer.text())
        assert found is not None, answer.status
    socket = socketio.AsyncClient(reconnection=False)
    tab = Tab(found.group(1), socket)
    socket.on("update", tab.take)
    names = {
        "client_id": tab.client,
        "next_message_id": 0,
        "implicit_handshake": "true",
        "tab_id": uuid4(),
        "document_id": uuid4(),
    }
    query = "&".join(f"{name}={value}" for name, value in names.items())
    await socket.connect(f"{server.address}?{query}", socketio_path=SOCKET, transports=["websocket"], wait_timeout=60)
    try:
        yield tab
    finally:
        await socket.disconnect()
