"""A world says which factors a view of each sense shows."""

import pytest

from molyneux.data import CdSprites, GeBiD


@pytest.mark.parametrize(
    ("world", "image", "touch"),
    [
        (CdSprites(level=5), ("size", "colour", "shape", "position", "background"), ("size", "shape", "position")),
        (GeBiD(level=5), ("size", "colour", "shape", "position", "background"), ("size", "shape", "position")),
        (CdSprites(level=1), ("shape",), ("shape",)),
        (CdSprites(level=1, caption_level=3), ("shape",), ("shape",)),
    ],
)
def test_visible_factors(world, image, touch):
    assert set(world.visible("image")) == set(image)
    assert set(world.visible("touch")) == set(touch)
    assert world.visible("text") == world.readers()["text"].factors
