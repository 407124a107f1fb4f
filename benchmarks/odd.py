"""Odd requests and odd messages, as no browser sends them: the same seed gives the same ones."""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import Callable
from typing import Any
from urllib.parse import quote
from uuid import UUID

import aiohttp

AT_ONCE = 20
_LETTERS = "abc/.%&=?#<>\"'\\{}[]()*;:,~^|` \u00e9\u4e2d\u202e\x00"
_PATHS = (
    "/",
    "/ask",
    "/worlds",
    "/codes",
    "/broken",
    "/question",
    "/runs",
    "/leaderboard",
    "/report/",
    "/favicon.ico",
    "/_nicegui/",
    "/_nicegui/client/x/upload/1",
    "/_nicegui_ws/socket.io/",
    "/_nicegui_ws/socket.io/?EIO=4&transport=polling",
    "/static/../../x",
)
_FIELDS = (
    "model",
    "given",
    "moved",
    "sample",
    "share",
    "seed",
    "count",
    "world",
    "settings",
    "having",
    "run",
    "variant",
    "token",
)
_VALUES = ("", "-1", "1e400", "nan", "9" * 400, "0:nan", "..", "/etc/passwd", "<script>", "\u0000", "text:" + "x" * 5_000)


def _text(stream: random.Random, most: int = 60) -> str:
    return "".join(stream.choice(_LETTERS) for _ in range(stream.randrange(most)))


def _request(stream: random.Random) -> tuple[str, str, bytes | None]:
    """A method, a path and a body."""
    path = stream.choice(_PATHS)
    if stream.random() < 0.5:
        query = "&".join(f"{stream.choice(_FIELDS)}={quote(stream.choice((*_VALUES, _text(stream))))}" for _ in range(3))
        path += ("&" if "?" in path else "?") + query
    else:
        path += quote(_text(stream), safe="/?&=%")
    method = stream.choice(["GET", "GET", "GET", "POST", "HEAD", "PUT", "DELETE", "OPTIONS"])
    body = stream.randbytes(stream.choice((0, 10, 200, 20_000))) if method in ("POST", "PUT") else None
    return method, path, body


async def odd_requests(address: str, count: int, *, seed: int) -> list[int]:
    """The statuses of the answers to odd requests.

    Raises:
        SystemExit: a page shows a traceback.
    """
    stream, gate = random.Random(seed), asyncio.Semaphore(AT_ONCE)
    requests = [_request(stream) for _ in range(count)]
    async with aiohttp.ClientSession() as session:

        async def ask(method: str, path: str, body: bytes | None) -> int:
            async with gate, session.request(method, address + path, data=body, allow_redirects=False) as answer:
                text = await answer.read()
                if b"Traceback" in text:
                    raise SystemExit(f"a page shows a traceback: {method} {path}")
                return answer.status

        return list(await asyncio.gather(*(ask(*request) for request in requests)))


def _messages() -> tuple[Callable[[random.Random], str | bytes], ...]:
    """Kinds of messages of Engine.IO and Socket.IO: cut, of other kinds, huge, binary, nested, of no event, of nobody."""

    def event(*parts: Any) -> str:
        return "42" + json.dumps(parts)

    def message(stream: random.Random, **changed: Any) -> dict[str, Any]:
        named = {"client_id": str(UUID(int=stream.getrandbits(128))), "id": stream.choice((0, -1, 7, "7", None, 1e99))}
        return {**named, "listener_id": "x", "args": [stream.choice(("1", "{", "", None))], **changed}

    names = ("event", "handshake", "ack", "log", "javascript_response", "connect", "disconnect", "nothing", "", "__class__")
    return (
        lambda stream: "",
        lambda stream: stream.choice(
            ["4", "42", "42[", '42["event"', "5", "6", "3", "0", "1x", "99", "4\x00", "41", "40/other,", "40{"]
        ),
        lambda stream: _text(stream),
        lambda stream: "42" + _text(stream),
        lambda stream: stream.randbytes(stream.randrange(1, 300)),
        lambda stream: event(stream.choice(names)),
        lambda stream: event(stream.choice(names), stream.choice((None, 1, "x", [], {}, [[]], {"client_id": None}))),
        lambda stream: event(stream.choice(names), message(stream)),
        lambda stream: event(stream.choice(names), message(stream), message(stream)),
        lambda stream: event("event", message(stream, args="x" * stream.choice((10, 100_000)))),
        lambda stream: event("ack", message(stream, next_message_id=stream.choice((-1, "x", None, 10**30)))),
        lambda stream: event("log", message(stream, level=stream.choice(("x", "error", None)), message="x")),
        lambda stream: event("handshake", message(stream, tab_id="x", document_id=[], next_message_id="x")),
        lambda stream: "42" + "[" * 3_000,
        lambda stream: '451-["event",{"_placeholder":true,"num":0}]',
        lambda stream: '42/other,["event",{}]',
        lambda stream: f"42{stream.choice(('1' * 200, '-1', '0'))}" + json.dumps(["event", {}]),
    )


async def odd_sockets(address: str, count: int, *, seed: int) -> int:
    """Send odd messages over sockets, ten a socket; how many were sent before the server closed theirs."""
    stream, gate, kinds = random.Random(seed), asyncio.Semaphore(AT_ONCE), _messages()
    queries = (
        "EIO=4&transport=websocket",
        "EIO=4&transport=websocket&implicit_handshake=true",
        "EIO=4&transport=websocket&implicit_handshake=true&client_id=x&tab_id=&document_id=",
        "EIO=3&transport=websocket",
        "transport=websocket",
        "EIO=4&transport=websocket&sid=nobody",
    )
    parts = [
        (stream.choice(queries[:2] if stream.random() < 0.7 else queries), [stream.choice(kinds)(stream) for _ in range(10)])
        for _ in range(-(-count // 10))
    ]
    async with aiohttp.ClientSession() as session:

        async def speak(query: str, messages: list[str | bytes]) -> int:
            sent = 0
            async with gate:
                try:
                    async with session.ws_connect(
                        f"{address}/_nicegui_ws/socket.io/?{query}", timeout=aiohttp.ClientWSTimeout(ws_close=2)
                    ) as socket:
                        await socket.send_str("40")
                        for message in messages:
                            await (socket.send_str(message) if isinstance(message, str) else socket.send_bytes(message))
                            sent += 1
                except (aiohttp.ClientError, ConnectionError, TimeoutError):
                    pass
            return max(1, sent)

        return sum(await asyncio.gather(*(speak(*part) for part in parts)))
