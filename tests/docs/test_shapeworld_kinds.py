"""The pictures of the page on ShapeWorld are those of the captions that stand beside them."""

import runpy
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from molyneux.data import ShapeWorld
from molyneux.data.worlds.shapeworld.kinds import KINDS
from molyneux.data.worlds.shapeworld.meaning.language.captions import parse
from molyneux.data.worlds.shapeworld.meaning.trees.programs import programs_of
from molyneux.data.worlds.shapeworld.meaning.truth.truth import truth

ROOT = Path(__file__).parents[2]
PAGE = runpy.run_path(str(ROOT / "docs" / "shapeworld_kinds.py"))


@pytest.mark.parametrize("kind", KINDS)
def test_pictures_and_captions_are_of_one_contrast_set(kind):
    size, gap = PAGE["SIZE"], PAGE["GAP"]
    numbers = 4 * PAGE["SHOWN"][kind] + np.array([0, 2])
    world = ShapeWorld(kind=kind, views=("image",), image_size=size, noise=0.0)
    drawn = world.batch(numbers, split=PAGE["SPLIT"], seed=PAGE["SEED"]).views["image"].permute(0, 2, 3, 1).numpy().astype(float)
    with Image.open(PAGE["FOLDER"] / f"{kind}.webp") as picture:
        shown = np.asarray(picture.convert("RGB"), float)
    for place, image in enumerate(drawn):
        own = shown[:, place * (size + gap) : place * (size + gap) + size]
        assert np.abs(own - image).mean() < 5, "run python docs/shapeworld_kinds.py and make tables"  # WebP is lossy
    scenes = world.scenes(numbers, split=PAGE["SPLIT"], seed=PAGE["SEED"])
    for place, caption in enumerate(PAGE["captions"](kind)):
        found = truth(programs_of([parse(f"{caption}.")] * 2), scenes, world.semantics_of(kind))
        assert found.tolist() == [1 if other == place else -1 for other in range(2)]
