"""Messages of browsers over the socket: those that are none of an open page are passed over, and what waits is bounded."""

from __future__ import annotations

import logging
import re
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

from nicegui import Client, core
from nicegui.json import loads

from molyneux.studio.access import Application, Message, Receive, Scope, Send

_LOG = logging.getLogger("molyneux.studio")
_MOST_WAITING = 64
"""Pages that were sent and whose browser has not connected yet: of more, the oldest are closed."""
_OF_A_PAGE = ("event", "javascript_response", "ack", "log")
"""Messages that only the socket of an open page may send."""

_SOCKET = "/_nicegui_ws"
_FRAME = re.compile(r"4(?P<kind>[0123])(?P<number>\d{0,9})(?P<content>[^\d/].*)?", re.DOTALL)
"""A message of Socket.IO in one of Engine.IO: without a namespace of its own, and without binary parts."""

_RESERVED = ("connect", "disconnect")
"""Names of events that the server itself makes."""
Handler = Callable[..., Any]


class CheckedSockets:
    """An ASGI application whose sockets are closed where something comes that pages do not send.

    Engine.IO has two ways to speak; pages use WebSocket alone, and the other one is refused.

    Args:
        application: gets what is passed on.
    """

    def __init__(self, application: Application) -> None:
        self._application = application

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """See the ASGI specification."""
        if not str(scope.get("path", "")).startswith(_SOCKET):
            await self._application(scope, receive, send)
        elif scope["type"] == "websocket":
            await self._application(scope, partial(_received, receive), send)
        else:
            await send({"type": "http.response.start", "status": 400, "headers": [(b"content-type", b"text/plain")]})
            await send({"type": "http.response.body", "body": b"Expected a WebSocket."})


async def _received(receive: Receive) -> Message:
    """The next message; that the socket was closed, where it is none that a page sends."""
    message = await receive()
    if message["type"] == "websocket.receive" and not is_frame(message.get("text")):
        return {"type": "websocket.disconnect", "code": 1003}
    return message


def is_frame(text: object) -> bool:
    """Whether something is a message as pages send them: one of Engine.IO, with one of Socket.IO in it that can be read.

    >>> is_frame("2"), is_frame('42["event",{}]'), is_frame('42["event"'), is_frame(b"4")
    (True, True, False, False)
    """
    if not isinstance(text, str) or text[:1] not in ("1", "2", "3", "4", "5", "6"):
        return False
    if text[0] != "4":
        return len(text) < 20
    found = _FRAME.fullmatch(text)
    if found is None:
        return False
    content = found["content"]
    try:
        value = loads(content) if content else None
    except (ValueError, RecursionError):
        return False
    if found["kind"] in "01":
        return value is None or isinstance(value, dict)
    if found["kind"] == "3":
        return isinstance(value, list)
    return isinstance(value, list) and bool(value) and isinstance(value[0], str) and value[0] not in _RESERVED


def check_messages() -> None:
    """Put a check before each handler of messages: one that is cut, of another page, or of no page starts nothing."""
    handlers = core.sio.handlers["/"]
    for name in (*_OF_A_PAGE, "handshake", "connect"):
        if not hasattr(handlers[name], "checks"):
            handlers[name] = _connecting(handlers[name]) if name == "connect" else _checked(name, handlers[name])


def _checked(name: str, handler: Handler) -> Handler:
    """A handler that passes over what is no message of the page whose socket sends it."""

    async def handled(socket: str, *parts: Any) -> Any:
        message = parts[0] if len(parts) == 1 else None
        if not isinstance(message, dict) or not isinstance(message.get("client_id"), str):
            return False
        if name in _OF_A_PAGE and message["client_id"] not in core.sio.rooms(socket):
            return False
        return await _tried(handler, socket, message)

    handled.checks = name  # type: ignore[attr-defined]
    return handled


def _connecting(handler: Handler) -> Handler:
    """A handler of new sockets, which refuses one whose address says no page."""

    async def handled(socket: str, environment: dict[str, Any], _: Any = None) -> bool | None:
        return False if await _tried(handler, socket, environment) is False else None

    handled.checks = "connect"  # type: ignore[attr-defined]
    return handled


async def _tried(handler: Handler, *arguments: Any) -> Any:
    """What a handler gives; False where it stumbles over a message, which its own pages never send."""
    try:
        found = handler(*arguments)
        return await found if isinstance(found, Awaitable) else found
    except (LookupError, TypeError, ValueError, AttributeError, OverflowError, RecursionError) as error:
        _LOG.debug("a message was passed over: %s", type(error).__name__)
        return False


class WaitingPages:
    """Pages whose browser has not connected yet. What only fetches pages leaves them, and each holds its elements.

    Args:
        most: how many may wait; of more, the oldest are closed.
    """

    def __init__(self, most: int = _MOST_WAITING) -> None:
        self._most, self._waiting = most, OrderedDict[str, Client]()

    async def connected(self, client: Client) -> bool:
        """Wait until the browser of a page has connected; whether it has."""
        self._waiting[client.id] = client
        while len(self._waiting) > self._most:
            _, oldest = self._waiting.popitem(last=False)
            if not oldest.is_deleted and not oldest.has_socket_connection:
                oldest.delete()
        try:
            await client.connected()
        finally:
            self._waiting.pop(client.id, None)
        return not client.is_deleted
