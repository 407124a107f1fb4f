"""What comes over the socket: what pages do not send closes it, messages of others start nothing, and what waits is bounded."""

import asyncio
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace

import pytest

from molyneux.studio import messages
from molyneux.studio.messages import WaitingPages, is_frame

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


def finished(coroutine):
    """The result of a coroutine, in a loop of a thread of its own."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, coroutine).result()


@pytest.fixture
def odd(monkeypatch):
    """The odd requests and messages of the benchmark."""
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    yield __import__("odd")
    sys.modules.pop("odd")


@pytest.mark.parametrize("text", ["2", "2probe", "3", "1", "40", "40{}", "41", '42["event",{"a":[1]}]', '4213["event"]', "431[]"])
def test_what_pages_send_is_passed_on(text):
    assert is_frame(text)


@pytest.mark.parametrize(
    "text",
    [
        None,
        b"42[]",
        "",
        "x",
        "0{}",
        "4",
        "44",
        "42",
        "42[",
        "42[]",
        "42[1]",
        "42{}",
        "40[]",
        "40/other,",
        '42/other,["event"]',
        '451-["event",{"_placeholder":true,"num":0}]',
        "42" + "1" * 30 + '["event"]',
        "42" + "[" * 3_000,
        '42["event",NaN]',
        "2" * 50,
        '42["disconnect"]',
        '42["connect",{}]',
    ],
)
def test_other_frames_are_not(text):
    assert not is_frame(text)


def test_odd_requests_and_messages_leave_it_alive(odd, launch, tmp_path):
    log = tmp_path / "log.txt"
    with launch(log=log) as (process, address):
        statuses = finished(odd.odd_requests(address, 300, seed=3))
        assert max(statuses) < 500
        assert finished(odd.odd_sockets(address, 300, seed=4)) >= 30
        assert process.poll() is None
        assert "Traceback" not in log.read_text()


@pytest.fixture
def handlers(monkeypatch):
    """Checked handlers of a server whose socket `mine` is of the page `one`, and what reached them."""
    heard = []

    def known(socket, message, *_):
        heard.append((socket, message))
        return message["answer"]

    async def connected(socket, environment, _=None):
        return known(socket, environment)

    names = ("event", "javascript_response", "ack", "log", "handshake")
    found = {**dict.fromkeys(names, known), "connect": connected}
    server = SimpleNamespace(handlers={"/": found}, rooms=lambda socket: ["mine", "one"] if socket == "mine" else [socket])
    monkeypatch.setattr(messages.core, "sio", server)
    messages.check_messages()
    messages.check_messages()
    return found, heard


def test_a_page_is_changed_over_its_own_socket_alone(handlers):
    found, heard = handlers
    message = {"client_id": "one", "answer": 3}
    assert finished(found["event"]("mine", message)) == 3
    assert finished(found["event"]("another", message)) is False
    assert finished(found["event"]("mine", {**message, "client_id": "two"})) is False
    assert finished(found["handshake"]("another", message)) == 3
    assert heard == [("mine", message), ("another", message)]


def test_messages_that_are_cut_start_nothing(handlers):
    found, heard = handlers
    for parts in ((), (None,), ("x",), ({},), ({"client_id": 1},), ({"client_id": "one"}, {}), ({"client_id": "one"},)):
        assert finished(found["ack"]("mine", *parts)) is False
    assert heard == [("mine", {"client_id": "one"})]  # the last one lacks what the handler wants
    assert finished(found["connect"]("mine", {})) is False
    assert finished(found["connect"]("mine", {"answer": None}, None)) is None


class Page:
    """A page whose browser has not connected."""

    has_socket_connection = False

    def __init__(self, number):
        self.id, self.is_deleted, self._here = str(number), False, asyncio.Event()

    async def connected(self):
        await self._here.wait()

    def come(self):
        self._here.set()

    def delete(self):
        self.is_deleted = True
        self._here.set()


def test_of_pages_that_wait_the_oldest_are_closed():
    async def many():
        waiting, pages = WaitingPages(3), [Page(number) for number in range(5)]
        asked = []
        for page in pages:
            asked.append(asyncio.ensure_future(waiting.connected(page)))
            await asyncio.sleep(0)
        for page in pages[2:]:
            page.come()
        return await asyncio.gather(*asked)

    assert finished(many()) == [False, False, True, True, True]
