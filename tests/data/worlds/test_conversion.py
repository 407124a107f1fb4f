"""Views of every world become what people have, and become the same views again."""

import inspect

import hypothesis
import numpy as np
import pytest
import torch
from hypothesis import strategies

from molyneux.core import values_of, views_of
from molyneux.core.views import to_model
from molyneux.data import PartsOfSpeech, ShapeClasses, ShapeWorld, World, Ynoc, worlds
from molyneux.data.worlds.captioned_world import CaptionedWorld

KINDS = [
    item
    for name in worlds.__all__
    if inspect.isclass(item := getattr(worlds, name)) and issubclass(item, World) and item is not World
]


def made():
    for kind in KINDS:
        if issubclass(kind, CaptionedWorld):
            for level in range(1, 6):
                yield (
                    f"{kind.__name__}-{level}",
                    lambda kind=kind, level=level: kind(level=level, modalities=("image", "text", "touch")),
                )
        elif kind is ShapeWorld:
            yield "ShapeWorld", lambda: ShapeWorld(views=("image", "text", "meaning", "scene"))
            yield "ShapeWorld-quantities", lambda: ShapeWorld(kind="quantification", views=("text", "meaning"))
        elif kind is ShapeClasses:
            yield "ShapeClasses", lambda: ShapeClasses(views=("image", "scene"))
        else:
            yield kind.__name__, kind
    yield "Ynoc-realistic", lambda: Ynoc(vocabulary="realistic")
    yield "PartsOfSpeech-positions", lambda: PartsOfSpeech(factors="positions")


WORLDS = dict(made())


@pytest.mark.parametrize("name", WORLDS)
def test_round_trip(name):
    world = WORLDS[name]()
    whole = world.batch(np.arange(40), split="train", seed=0)

    @hypothesis.settings(max_examples=8, deadline=None, derandomize=True)
    @hypothesis.given(strategies.lists(strategies.integers(0, 39), min_size=1, max_size=12))
    def check(rows):
        batch = whole[torch.tensor(rows)]
        for modality in world.spec.modalities:
            view, lengths = batch.views[modality.name], batch.lengths.get(modality.name)
            values = values_of(modality, view, lengths)
            assert len(values) == len(rows)
            found = views_of(modality, values)
            assert found.notes == ()
            rest = batch.without_rest(modality.name, world.spec, view)
            torch.testing.assert_close(found.view, rest, rtol=0, atol=0)
            if modality.end is None and lengths is not None:
                assert (torch.full((len(rows),), modality.max_length) if found.lengths is None else found.lengths).equal(lengths)
            one = views_of(modality, values[0])
            torch.testing.assert_close(one.view, rest[:1], rtol=0, atol=0)
            generated = to_model(modality, rest)
            if not modality.symbols:
                again = views_of(modality, values_of(modality, generated, found.lengths))
                torch.testing.assert_close(again.view, rest, rtol=0, atol=0)

    check()
