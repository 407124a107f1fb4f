"""Settings of worlds that are of the wrong kind are refused in words: those of the worlds, and of the data classes in them."""

import inspect
from dataclasses import is_dataclass
from typing import get_args

import pytest

from molyneux.core import ConfigError
from molyneux.core.tooling.classes import arguments
from molyneux.core.tooling.kinds import kind_problems
from molyneux.data import Bridging, Hand, MolyneuxShapes, World, worlds

WORLDS = [
    item
    for name in worlds.__all__
    if inspect.isclass(item := getattr(worlds, name)) and issubclass(item, World) and item is not World
]
WRONG = {"a number": 3.7, "a text": "zz", "an object": object(), "a list": [object()], "true": True}


def data_class(kind):
    """The data class that an annotation allows, or None."""
    return next((one for one in (kind, *get_args(kind)) if isinstance(one, type) and is_dataclass(one)), None)


def given(target, names, value):
    """A setting of a class, through the data classes on the way to it."""
    first, *rest = names
    inner = data_class(arguments(target)[first].kind)
    return target(**{first: given(inner, rest, value) if rest else value})


def paths(target, before=()):
    """The names of all settings and of those in them, with their class."""
    for name, argument in arguments(target).items():
        yield (*before, name), target
        if (inner := data_class(argument.kind)) is not None and len(before) < 2:
            yield from paths(inner, (*before, name))


@pytest.mark.parametrize("world", WORLDS, ids=lambda world: world.__name__)
def test_a_setting_of_the_wrong_kind_is_refused_and_named(world):
    tried = 0
    for names, owner in paths(world):
        for value in WRONG.values():
            if not kind_problems(owner, {names[-1]: value}):
                continue
            tried += 1
            with pytest.raises(ConfigError, match=names[-1]):
                given(world, names, value)
    assert tried >= 4


def test_what_newcomers_tried_is_told_in_words():
    with pytest.raises(ConfigError, match=r"^hand.turned: expected true or false, got 'no'$"):
        Hand(turned="no")
    with pytest.raises(ConfigError, match=r"^permuted: expected true or false, got 'no'$"):
        Bridging(permuted="no")
    with pytest.raises(ConfigError, match=r"^assignment: expected a whole number of at least 0, got -1$"):
        Bridging(assignment=-1)
    with pytest.raises(ConfigError) as caught:
        MolyneuxShapes(bridging=8, level=9, image_size="large")
    assert set(caught.value.problems) == {
        "image_size: expected a whole number, got 'large'",
        "bridging: expected an instance of Bridging, got 8",
        "level: expected one of 1, 2, 3, 4, 5, got 9",
    }
