"""What the page of worlds offers: choices that the worlds have, and what they are by default."""

import pytest

from molyneux.data import CdSprites, GeBiD, MolyneuxShapes
from molyneux.studio.pages.worlds import WorldsState, made, simple_settings


@pytest.mark.parametrize("world", [CdSprites, GeBiD, MolyneuxShapes])
def test_modalities_are_those_that_a_world_has_by_default(world):
    options, default = simple_settings(world)["modalities"]
    assert default == ",".join(world().spec.names)
    assert len({frozenset(names.split(",")) for names in options}) == len(options)


def test_a_choice_of_modalities_is_made():
    for names in simple_settings(MolyneuxShapes)["modalities"][0]:
        assert made(WorldsState(world="MolyneuxShapes", settings=(f"modalities:{names}",))).spec.names == tuple(names.split(","))
