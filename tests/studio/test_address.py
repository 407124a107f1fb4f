"""The state of a page is its address: written, read back, and safe to read when somebody else wrote it."""

from dataclasses import dataclass, fields
from importlib import import_module
from urllib.parse import parse_qsl

import pytest

from molyneux.studio.address import PageState, chosen, whole, word
from molyneux.studio.server import PAGES

STATES = [import_module(f"molyneux.studio.pages.{name}").State for name in PAGES]


@dataclass(frozen=True)
class Example(PageState):
    name: str = "a"
    number: int = 3
    share: float = 0.5
    on: bool = False
    names: tuple[str, ...] = ("x",)
    moved: tuple[tuple[int, float], ...] = ()


def read(query):
    return Example.from_query(parse_qsl(query, keep_blank_values=True))


@pytest.mark.parametrize(
    "values",
    [
        {},
        {"name": "", "number": -4, "share": 0.25, "on": True},
        {"names": ()},
        {"names": ("a&b=c", "ü 1", "x:y")},
        {"moved": ((0, -1.5), (12, 0.25))},
    ],
)
def test_what_is_written_is_read_again(values):
    state = Example(**values)
    assert read(state.query()) == state


def test_defaults_are_left_out():
    assert Example().query() == ""
    assert Example().address("/page") == "/page"
    assert Example(number=4).address("/page") == "/page?number=4"


@pytest.mark.parametrize(
    "query",
    ["number=many", "share=nan", "share=inf", "moved=1", "moved=a:b", "moved=1:nan", "unknown=1", "number=", "share=1e400"],
)
def test_what_cannot_be_read_is_passed_over(query):
    assert read(query) == Example()


def test_numbers_are_bounded():
    assert read(f"number={10**30}").number == 2**31 - 1
    assert len(read("&".join(f"names={i}" for i in range(5_000))).names) <= 512


def test_a_known_value_is_chosen():
    assert chosen("b", ["a", "b"]) == "b"
    assert chosen("c", ["a", "b"], "b") == "b"
    assert chosen("c", ["a", "b"]) == "a"
    assert chosen("c", []) == ""


def test_fields_without_a_choice_are_empty_and_no_word():
    assert (word(None), word("None"), word(3)) == ("", "None", "3")
    assert (whole(None, 4), whole("2", 4), whole(2.7, 4), whole(1e300, 4)) == (4, 4, 2, 4)


@pytest.mark.parametrize("state", STATES, ids=lambda state: state.__name__)
def test_every_page_reads_what_it_writes_and_survives_nonsense(state):
    assert state.from_query(parse_qsl(state().query())) == state()
    odd = ["", "-1", "99999999999", "nan", "../../etc/passwd", "<script>", "a:b", "1:1e9", "\x00", "é" * 3_000]
    for value in odd:
        made = state.from_query([(item.name, value) for item in fields(state)])
        again = state.from_query(parse_qsl(made.query(), keep_blank_values=True))
        assert again == made
