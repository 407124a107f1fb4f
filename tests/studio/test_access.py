"""Only the studio's own pages are answered, under its own names, with the token where one is needed."""

import asyncio
from concurrent.futures import ThreadPoolExecutor

import pytest

from molyneux.studio.access import COOKIE, Guard, new_token, server_names

NAMES = server_names("127.0.0.1", 8765)
OWN = {"host": "127.0.0.1:8765"}


def finished(coroutine):
    """The result of a coroutine, in a loop of a thread of its own: a browser that tests drive keeps one in this thread."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, coroutine).result()


async def application(scope, receive, send):
    if scope["type"] == "websocket":
        await send({"type": "websocket.accept"})
        return
    body = b""
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            body = b"disconnected"
            break
        body += message.get("body", b"")
        if not message.get("more_body"):
            break
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b"page " + str(len(body)).encode()})


def ask(headers=OWN, *, path="/ask", query=b"", kind="http", method="GET", parts=(b"",), token="", most=1000, names=NAMES):
    sent = []
    pairs = headers.items() if isinstance(headers, dict) else headers
    scope = {"type": kind, "path": path, "query_string": query, "headers": [(k.encode(), v.encode()) for k, v in pairs]}
    scope |= {"method": method} if kind == "http" else {}
    messages = [{"type": "http.request", "body": part, "more_body": place + 1 < len(parts)} for place, part in enumerate(parts)]
    if kind == "websocket":
        messages = [{"type": "websocket.connect"}]

    async def receive():
        return messages.pop(0)

    async def send(message):
        sent.append(message)

    finished(Guard(application, names=names, token=token, most_bytes=most)(scope, receive, send))
    return sent


def status(sent):
    return sent[0]["status"]


def headers_of(sent):
    return {name.decode(): value.decode() for name, value in sent[0]["headers"]}


def test_own_pages_are_answered_and_load_nothing_from_elsewhere():
    sent = ask()
    assert status(sent) == 200
    found = headers_of(sent)
    assert "default-src 'self'" in found["content-security-policy"]
    assert "frame-ancestors 'none'" in found["content-security-policy"]
    assert found["x-frame-options"] == "DENY"
    assert found["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:8765", "127.0.0.1", "127.0.0.1:80", "localhost:8766", "", "127.0.0.1:8765.evil"]
)
@pytest.mark.parametrize("kind", ["http", "websocket"])
def test_other_names_are_refused_also_where_origin_says_the_same(host, kind):
    for headers in ({"host": host}, {"host": host, "origin": f"http://{host}"}):
        sent = ask(headers, kind=kind)
        assert sent[0] == {**sent[0], "status": 421} if kind == "http" else sent[0]["type"] == "websocket.close"


@pytest.mark.parametrize(
    "origin",
    [
        "http://evil.example",
        "null",
        "http://127.0.0.1:8766",
        "https://localhost",
        "file://",
        "http://127.0.0.1:8765.evil",
        "http://[",
    ],
)
@pytest.mark.parametrize("kind", ["http", "websocket"])
def test_other_origins_are_refused(origin, kind):
    sent = ask({**OWN, "origin": origin}, kind=kind)
    assert sent[0].get("status") == 403 if kind == "http" else sent[0]["type"] == "websocket.close"


def test_own_origin_opens_the_socket():
    assert ask({**OWN, "origin": "http://127.0.0.1:8765"}, kind="websocket")[0]["type"] == "websocket.accept"
    assert ask({"host": "LOCALHOST:8765", "origin": "http://localhost:8765"}, kind="websocket")[0]["type"] == "websocket.accept"


def test_a_link_of_another_site_starts_nothing_and_asks_first():
    elsewhere = {**OWN, "sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"}
    sent = ask(elsewhere, query=b"given=text:a&x=%22%3E%3Cscript%3E")
    page = sent[1]["body"].decode()
    assert status(sent) == 200
    assert "page 0" not in page
    assert 'href="/ask?given=text:a&x=%22%3E%3Cscript%3E"' in page
    assert "<script>" not in page
    assert "//" not in ask(elsewhere, path="//evil.example")[1]["body"].decode().split("href=")[1][:4]
    assert status(ask({**OWN, "sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors"})) == 403
    assert status(ask({**OWN, "sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"}, method="POST")) == 403
    assert status(ask({**OWN, "sec-fetch-site": "same-origin"})) == 200
    assert status(ask({**OWN, "sec-fetch-site": "none"})) == 200


def test_a_token_is_needed_once_and_then_kept_as_a_cookie():
    token = new_token()
    assert status(ask(token=token)) == 401
    assert status(ask(token=token, query=b"token=wrong")) == 401
    assert ask(token=token, kind="websocket")[0]["type"] == "websocket.close"
    shown = ask(token=token, path="/codes", query=f"model=a%26b&token={token}".encode())
    assert status(shown) == 303
    found = headers_of(shown)
    assert found["location"] == "/codes?model=a%26b"
    led = ask(token=token, path="///evil.example", query=f"token={token}".encode())
    assert headers_of(led)["location"] == "/evil.example"
    assert "HttpOnly" in found["set-cookie"]
    assert "SameSite=Strict" in found["set-cookie"]
    cookie = {**OWN, "cookie": f"other=1; {COOKIE}={token}"}
    assert status(ask(cookie, token=token)) == 200
    assert ask(cookie, token=token, kind="websocket")[0]["type"] == "websocket.accept"
    assert status(ask({**OWN, "cookie": f"{COOKIE}=x"}, token=token)) == 401
    assert headers_of(ask(token=token, path="//evil.example/", query=f"token={token}".encode()))["location"] == "/evil.example/"


def test_tokens_differ():
    assert len({new_token() for _ in range(50)}) == 50


def test_large_bodies_are_refused_or_cut_off():
    assert status(ask({**OWN, "content-length": "1001"}, method="POST")) == 413
    assert status(ask({**OWN, "content-length": "many"}, method="POST")) == 413
    assert status(ask({**OWN, "content-length": "-1"}, method="POST")) == 413
    sent = ask(method="POST", parts=[b"x" * 600, b"x" * 600])
    assert sent[1]["body"] == b"page 12"


@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH", "TRACE", "OPTIONS", "CONNECT"])
def test_other_methods_are_refused(method):
    assert status(ask(method=method)) == 405


def test_headers_twice_are_refused():
    assert status(ask([("host", "127.0.0.1:8765"), ("host", "evil.example")])) == 400
    assert status(ask([("host", "127.0.0.1:8765"), ("origin", "http://127.0.0.1:8765"), ("origin", "null")])) == 400


def test_names_of_other_addresses():
    assert server_names("0.0.0.0", 80, ["lab"]) >= {"lab:80", "lab", "127.0.0.1"}
    assert "0.0.0.0:80" not in server_names("0.0.0.0", 80)
    assert "[::5]:9" in server_names("::5", 9)
