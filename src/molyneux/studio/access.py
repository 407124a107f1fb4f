"""Who may use the studio: names of the server, a token for other machines, sizes of what is sent, and what pages may load."""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from dataclasses import dataclass
from http.cookies import CookieError, SimpleCookie
from typing import Any
from urllib.parse import parse_qsl, quote, urlencode, urlsplit

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]

COOKIE = "molyneux_studio"
MOST_BYTES = 16 * 2**20
"""Bytes of one request: a picture or a sound."""
_LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
_POLICY = "; ".join(
    (
        "default-src 'self'",
        "script-src 'self' 'unsafe-inline' 'unsafe-eval' blob:",
        "style-src 'self' 'unsafe-inline'",
        "img-src 'self' data: blob:",
        "media-src 'self' data: blob:",
        "font-src 'self' data:",
        "connect-src 'self'",
        "worker-src 'self' blob:",
        "frame-ancestors 'none'",
        "base-uri 'none'",
        "object-src 'none'",
        "form-action 'self'",
    )
)
REPORT_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'none'; sandbox"
"""Of a report, which may come from a stranger: no scripts, nothing from elsewhere, and no part in the studio's own origin."""
_HEADERS = (
    (b"content-security-policy", _POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
)


def server_names(host: str, port: int, others: Iterable[str] = ()) -> frozenset[str]:
    """The values of the header `Host` that are the server's own.

    Args:
        host: the address that it listens on.
        port: its port.
        others: further names under which it is reached, such as that of the machine.
    """
    names = {*_LOOPBACK, *others}
    if host not in ("0.0.0.0", "::", ""):
        names.add(f"[{host}]" if ":" in host and not host.startswith("[") else host)
    with_port = {f"{name.lower()}:{port}" for name in names}
    return frozenset(with_port | ({name.lower() for name in names} if port == 80 else set()))


def new_token() -> str:
    """A token for the link of a server that other machines may reach: 192 random bits."""
    return secrets.token_urlsafe(24)


@dataclass(frozen=True)
class Refusal:
    """An answer that is given in place of a page."""

    status: int
    text: str
    kind: str = "text/plain"
    headers: tuple[tuple[bytes, bytes], ...] = ()


class Guard:
    """An ASGI application that passes on the requests of the studio's own pages and refuses all others.

    `Host` is compared with the names of the server and not with `Origin`: under DNS rebinding both are the attacker's. Pages of
    other sites that lead here are answered with a page that asks first, so that they start nothing.

    Args:
        application: gets what is passed on.
        names: values of `Host`; see `server_names`.
        token: that a browser must show, once in the address and then as a cookie; empty where none is needed.
        most_bytes: of the body of a request.
    """

    def __init__(self, application: Application, *, names: frozenset[str], token: str = "", most_bytes: int = MOST_BYTES) -> None:
        self._application, self._names, self._token, self._most = application, names, token, most_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """See the ASGI specification."""
        if scope["type"] not in ("http", "websocket"):
            await self._application(scope, receive, send)
            return
        refusal = self.refused(scope)
        if refusal is None:
            await self._application(scope, _Limited(receive, self._most), _protected(send))
        elif scope["type"] == "websocket":
            await receive()
            await send({"type": "websocket.close", "code": 1008, "reason": refusal.text[:120]})
        else:
            await _answer(send, refusal)

    def refused(self, scope: Scope) -> Refusal | None:
        """Why a request is refused; None if it is not."""
        headers = _headers(scope)
        if headers is None:
            return Refusal(400, "A header that may stand once stands twice.")
        if headers.get("host", "").lower() not in self._names:
            known = ", ".join(sorted(self._names))
            return Refusal(421, f"This is no name of the studio: expected one of {known}. Name others with --name.")
        origin = headers.get("origin")
        if origin is not None and not self._own(origin):
            return Refusal(403, "The studio answers only its own pages.")
        if scope["type"] == "http" and scope["method"] not in ("GET", "HEAD", "POST"):
            return Refusal(405, "Expected GET, HEAD or POST.")
        if not headers.get("content-length", "0").isdecimal() or int(headers.get("content-length", "0")) > self._most:
            return Refusal(413, f"Expected at most {self._most // 2**20} MiB.")
        return self._without_token(scope, headers) or _from_elsewhere(scope, headers)

    def _own(self, origin: str) -> bool:
        try:
            parts = urlsplit(origin)
        except ValueError:  # no address, such as http://[
            return False
        return parts.scheme in ("http", "https") and parts.netloc.lower() in self._names

    def _without_token(self, scope: Scope, headers: dict[str, str]) -> Refusal | None:
        """The answer to who shows no token, or shows it in the address: then a cookie is set and the address is cleaned."""
        if not self._token or self._is_token(_cookie(headers)):
            return None
        query = parse_qsl(scope.get("query_string", b"").decode("latin-1"), keep_blank_values=True)
        shown = dict(query).get("token", "")
        if scope["type"] != "http" or not self._is_token(shown):
            return Refusal(401, "Open the link that the studio printed when it was started: it has a token.")
        rest = urlencode([(name, value) for name, value in query if name != "token"])
        place = f"/{quote(scope['path']).lstrip('/')}" + (f"?{rest}" if rest else "")
        cookie = f"{COOKIE}={self._token}; HttpOnly; SameSite=Strict; Path=/"
        headers_out = ((b"location", place.encode("latin-1")), (b"set-cookie", cookie.encode("latin-1")))
        return Refusal(303, "", headers=headers_out)

    def _is_token(self, shown: str) -> bool:
        return hmac.compare_digest(shown.encode(), self._token.encode())


def _headers(scope: Scope) -> dict[str, str] | None:
    """Headers by name in small letters; None where `Host` or `Origin` stands twice."""
    found = [(name.decode("latin-1").lower(), value.decode("latin-1")) for name, value in scope["headers"]]
    names = [name for name, _ in found]
    return None if any(names.count(name) > 1 for name in ("host", "origin", "content-length")) else dict(found)


def _cookie(headers: dict[str, str]) -> str:
    try:
        cookies = SimpleCookie(headers.get("cookie", ""))
    except CookieError:
        return ""
    return cookies[COOKIE].value if COOKIE in cookies else ""


def _from_elsewhere(scope: Scope, headers: dict[str, str]) -> Refusal | None:
    """A page that asks first where a page of another site leads here; a refusal where it loads something of the studio."""
    if headers.get("sec-fetch-site") not in ("cross-site", "same-site"):
        return None
    if scope["type"] != "http" or headers.get("sec-fetch-mode") != "navigate" or scope["method"] != "GET":
        return Refusal(403, "The studio answers only its own pages.")
    place = quote(scope["path"], safe="/") or "/"
    query = scope.get("query_string", b"").decode("latin-1")
    address = quote(f"/{place.lstrip('/')}?{query}" if query else f"/{place.lstrip('/')}", safe="/?&=%+-._~:,;")
    page = (
        '<!doctype html><html lang="en"><meta charset="utf-8"><title>Molyneux studio</title><main><h1>Molyneux studio</h1>'
        "<p>A page of another site led here. Nothing was started yet.</p>"
        f'<p><a href="{address}">Open this page of the studio</a></p></main></html>'
    )
    return Refusal(200, page, kind="text/html; charset=utf-8")


async def _answer(send: Send, refusal: Refusal) -> None:
    body = refusal.text.encode()
    length = (b"content-length", str(len(body)).encode())
    headers = [(b"content-type", refusal.kind.encode()), length, (b"cache-control", b"no-store"), *_HEADERS, *refusal.headers]
    await send({"type": "http.response.start", "status": refusal.status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


def _protected(send: Send) -> Send:
    """Adds the headers by which a browser loads nothing from elsewhere and shows the studio in no frame."""

    async def sent(message: Message) -> None:
        if message["type"] == "http.response.start":
            given = list(message.get("headers", ()))
            names = {name.lower() for name, _ in given}
            message = {**message, "headers": [*given, *(item for item in _HEADERS if item[0] not in names)]}
        await send(message)

    return sent


class TooLargeError(Exception):
    """A request whose body is larger than it may be, and does not say so."""


class _Limited:
    """Receives the messages of a connection, and stops a body that grows too large."""

    def __init__(self, receive: Receive, most: int) -> None:
        self._receive, self._left = receive, most

    async def __call__(self) -> Message:
        message = await self._receive()
        if message["type"] == "http.request":
            self._left -= len(message.get("body", b""))
            if self._left < 0:
                return {"type": "http.disconnect"}
        return message
