"""The server lives on whatever is sent to it, reads only what it was given, and ends when it is asked to."""

import http.client
import random
import signal
import socket
import time
from types import SimpleNamespace
from urllib.parse import quote, urlsplit

import pytest

from molyneux.cli import main
from molyneux.core import ConfigError
from molyneux.data import CdSprites
from molyneux.run.run.stored import write_settings
from molyneux.studio.library import Library


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Two runs, one with a report that would run scripts, a secret beside them, and a link that leads to it."""
    top = tmp_path_factory.mktemp("folders")
    (top / "secret").mkdir()
    write_settings(top / "secret", {"seed": 1})
    (top / "secret" / "report").mkdir()
    (top / "secret" / "report" / "report.html").write_text("secret")
    runs = top / "runs"
    for name in ("one", "two"):
        (runs / name / "report").mkdir(parents=True)
        write_settings(runs / name, {"seed": 1, "data": {}, "learn": {}})
    (runs / "one" / "report" / "report.html").write_text("<script>fetch('//evil')</script><h1>One</h1>")
    (runs / "two" / "report" / "report.html").symlink_to(top / "secret" / "report" / "report.html")
    (runs / "three").symlink_to(top / "secret")
    return runs


@pytest.fixture(scope="module")
def studio(folder, tmp_path_factory, launch):
    log = tmp_path_factory.mktemp("server") / "log.txt"
    with launch(folder, log=log) as (process, address):
        yield process, urlsplit(address).netloc, log


def ask(netloc, path, *, method="GET", body=None, headers=()):
    connection = http.client.HTTPConnection(netloc, timeout=60)
    try:
        connection.putrequest(method, path, skip_host=any(name.lower() == "host" for name, _ in headers))
        for name, value in headers:
            connection.putheader(name, value)
        if body is not None:
            connection.putheader("content-length", str(len(body)))
        connection.endheaders(body)
        answer = connection.getresponse()
        return answer.status, dict(answer.getheaders()), answer.read()
    finally:
        connection.close()


def test_reports_are_shown_without_scripts(studio):
    status, headers, body = ask(studio[1], "/report/runs/one")
    assert status == 200
    assert b"<h1>One</h1>" in body
    assert "sandbox" in headers["content-security-policy"]
    assert "default-src 'none'" in headers["content-security-policy"]


@pytest.mark.parametrize(
    "name",
    [
        "runs/two",
        "runs/three",
        "../secret",
        "runs/../../secret",
        "secret",
        "",
        "/etc/passwd",
        "runs/one/report",
        "%2e%2e/secret",
        "\x00",
    ],
)
def test_nothing_else_is_read(studio, name):
    status, _, body = ask(studio[1], f"/report/{quote(name, safe='/%')}")
    assert status in (400, 404)
    assert b"secret</" not in body
    assert body != b"secret"


def test_a_thousand_odd_requests_leave_it_alive(studio):
    process, netloc, log = studio
    stream = random.Random(1)
    paths = [
        "/",
        "/ask",
        "/codes",
        "/_nicegui/",
        "/_nicegui_ws/socket.io/",
        "/report/",
        "/_nicegui/client/x/upload/1",
        "/static/../../x",
    ]
    letters = "abc/.%&=?#<>\"'\\{}[]()*;:,~^|` \u00e9\u4e2d"
    for number in range(1_000):
        text = "".join(stream.choice(letters) for _ in range(stream.randrange(60)))
        path = stream.choice(paths) + stream.choice(["", "?", "/"]) + quote(text, safe="/?&=%")
        method = stream.choice(["GET", "GET", "POST", "HEAD", "PUT", "DELETE"])
        body = bytes(stream.randrange(256) for _ in range(stream.randrange(200))) if method in ("POST", "PUT") else None
        headers = [("cookie", text.encode("latin-1", "ignore").decode("latin-1").replace("\n", ""))] if number % 7 == 0 else []
        status, _, answer = ask(netloc, path, method=method, body=body, headers=headers)
        assert 200 <= status < 600
        assert b"Traceback" not in answer, path
    assert process.poll() is None
    assert ask(netloc, "/ask")[0] == 200
    assert "Traceback" not in log.read_text()


def test_broken_connections_leave_it_alive(studio):
    process, netloc, _ = studio
    host, port = netloc.split(":")
    for sent in (
        b"",
        b"GET / HTTP/1.1\r\n",
        b"\x00\xff\xfe",
        b"GET " + b"/a" * 40_000 + b" HTTP/1.1\r\n\r\n",
        b"POST / HTTP/1.1\r\nhost: x\r\n\r\n",
    ):
        with socket.create_connection((host, int(port)), timeout=10) as connection:
            connection.sendall(sent)
    assert ask(netloc, "/ask")[0] == 200
    assert process.poll() is None


def test_other_hosts_and_origins_are_refused(studio):
    netloc = studio[1]
    assert ask(netloc, "/ask", headers=[("host", "evil.example")])[0] == 421
    assert ask(netloc, "/ask", headers=[("origin", "http://evil.example")])[0] == 403
    upgrade = [
        ("connection", "Upgrade"),
        ("upgrade", "websocket"),
        ("sec-websocket-key", "AAAAAAAAAAAAAAAAAAAAAA=="),
        ("sec-websocket-version", "13"),
    ]
    socket_path = "/_nicegui_ws/socket.io/?EIO=4&transport=websocket"
    assert ask(netloc, socket_path, headers=[*upgrade, ("origin", "http://evil.example")])[0] == 403
    assert ask(netloc, socket_path, headers=[*upgrade, ("host", "evil.example"), ("origin", "http://evil.example")])[0] == 403
    polling = "/_nicegui_ws/socket.io/?EIO=4&transport=polling"
    assert ask(netloc, polling, headers=[("origin", "http://evil.example")])[0] == 403


def test_the_library_opens_only_what_it_found(folder):
    library = Library([folder])
    assert [place.name for place in library.runs()] == ["runs/one", "runs/two"]
    for name in ("../secret", "runs/three", str(folder / "one"), "runs/one/", "", "/"):
        with pytest.raises(ConfigError):
            library.open(name)
    with pytest.raises(ConfigError, match="folder with runs"):
        Library([folder / "none"])


def test_models_that_are_open_are_bounded():
    library = Library([], keep=2)
    first = library.open("ynoc-slots")
    assert library.open("ynoc-slots") is first
    library.open("spoken-digits")
    library.open("molyneux-touch")
    assert library.open("ynoc-slots") is not first


def test_samples_of_other_shapes_than_those_of_the_model_are_not_made():
    """Settings of a stranger may name another world than the one that the model learned from."""
    library = Library()
    model = library.open("gebid-level5")
    assert len(library.samples(model, 3)) == 3
    other = SimpleNamespace(name="a", spec=model.spec, dataset=lambda: CdSprites(level=5, image_size=128))
    with pytest.raises(ConfigError, match="expected image of shape"):
        library.samples(other, 400)


@pytest.mark.parametrize("stop", [signal.SIGINT, signal.SIGTERM])
def test_it_ends_when_it_is_asked_to(tmp_path, launch, stop):
    with launch(log=tmp_path / "log.txt") as (process, address):
        netloc = urlsplit(address).netloc
        assert ask(netloc, "/ask")[0] == 200
        begun = time.monotonic()
        process.send_signal(stop)
        process.wait(20)
        assert time.monotonic() - begun < 10
        assert "Traceback" not in (tmp_path / "log.txt").read_text()


def test_what_cannot_be_served_is_said_in_a_sentence(tmp_path, capsys):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        assert main(["studio", "--no-browser", "--port", port]) == 2
    assert "choose another --port" in capsys.readouterr().err
    assert main(["studio", "--no-browser", str(tmp_path / "none")]) != 0
    assert "expected a folder with runs" in capsys.readouterr().err
    assert main(["studio", "--no-browser", "--port", "0", "--results", str(tmp_path / "none")]) != 0
    assert "expected a folder of records" in capsys.readouterr().err
    assert main(["studio", "--no-browser", "--port", "70000"]) == 2
    assert main(["studio", "--no-browser", "--jobs", "0"]) == 2
