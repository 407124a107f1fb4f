"""The bytes of every world, against checksums that were stored once.

A change that changes them is a new version of the world: give it a new name, then write the checksums anew with

    python tests/data/test_bytes.py
"""

import hashlib
import json
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from molyneux.data import (
    Bridging,
    CdSprites,
    GeBiD,
    GeBiDNoise,
    Hand,
    HeldOut,
    Interactions,
    Letters,
    Missing,
    MolyneuxShapes,
    Noise,
    PartsOfSpeech,
    SceneSettings,
    ShapeWorld,
    Ynoc,
)
from molyneux.data.worlds.shapeworld.kinds import KINDS

pytestmark = pytest.mark.kernels
STORED = Path(__file__).with_name("bytes.json")
SAMPLES = np.random.default_rng(0).permutation(100)
EVERY = ("image", "text", "touch")
HEARTS = ({"shape": "heart", "colour": ["red", "pink"]}, {"size": "small", "colour": "blue"})
CIRCLES = ({"shape": "circle", "colour": ["red", "blue"]},)
NOISE = Noise(shade=30.0, rotation=45.0, size=0.2, position=0.5, background=20.0)
PLAIN = ("train", "validation", "test")
SPRITES = ("square", "ellipse", "heart", "line", "circle", "semicircle", "pieslice", "spiral")


def worlds():
    """Worlds by a name for their settings, and the splits to read."""
    sprites, shapes = partial(CdSprites, modalities=EVERY), partial(GeBiD, modalities=EVERY)
    for level in range(1, 6):
        yield f"cdsprites {level}", sprites(level=level), PLAIN
        yield f"cdsprites {level} noisy", sprites(level=level, noise=NOISE, anti_alias=True), PLAIN
        yield f"gebid {level}", shapes(level=level), PLAIN
        noise = GeBiDNoise(colour=True, rotation=90.0, size=0.3, position=0.6, background=25.0)
        yield f"gebid {level} noisy", shapes(level=level, noise=noise, anti_alias=True, image_size=48), PLAIN
    yield "cdsprites held out", sprites(level=3, caption_level=4, held_out=HEARTS), (*PLAIN, "heldout")
    yield "cdsprites imbalanced", sprites(level=2, caption_level=5), PLAIN
    yield "cdsprites published dark", sprites(level=5, dark_background="published", touch_noise=0.0), PLAIN
    yield "cdsprites flat", sprites(level=5, textures=None, sizes=("small", "medium", "big"), image_size=96), PLAIN
    chosen = {"colours": {"teal": [0, 128, 128], "grey": [90, 90, 90]}, "sizes": {"tiny": 0.3, "giant": 1.2}, "shapes": SPRITES}
    yield "cdsprites own attributes", sprites(level=4, **chosen), PLAIN
    yield "gebid restricted", shapes(level=5, held_out="restricted"), (*PLAIN, "heldout")
    yield "gebid held out", shapes(level=4, held_out=CIRCLES, image_size=128), (*PLAIN, "heldout")
    yield "gebid own attributes", shapes(level=5, sizes={"tiny": 10.0, "medium": 23.0, "giant": 36.0}, image_size=28), PLAIN
    yield "gebid spirals", shapes(level=2, shapes=("spiral",), image_size=256, anti_alias=True), PLAIN
    for kind in (Ynoc, Letters):
        yield f"{kind.__name__.lower()}", kind(), PLAIN
        yield f"{kind.__name__.lower()} published", kind(split="published"), PLAIN
    yield "ynoc realistic", Ynoc(vocabulary="realistic", nuisances=("template",), split_seed=3), PLAIN
    yield "pos", PartsOfSpeech(), PLAIN
    labelled = PartsOfSpeech(factors="positions", nuisances=("structure", "kind"), cap=100, limit=7)
    yield "pos positions", labelled, PLAIN
    yield "interactions", Interactions(), PLAIN
    every = ("mixture", "synergy")
    yield "interactions mixed", Interactions(kinds=("series", "tabular", "tabular"), targets=every, embedding="linear"), PLAIN
    for level in range(1, 6):
        yield f"molyneux {level}", MolyneuxShapes(level=level), PLAIN
    described = MolyneuxShapes(text="description", image_size=48, hand=Hand(second=1.0, speed=0.6, tremor=0.05, turned=False))
    yield "molyneux described", described, PLAIN
    yield "molyneux bridged", MolyneuxShapes(level=3, bridging=Bridging(bridged=8, named=("felt",), assignment=2)), PLAIN
    yield from shape_worlds()


def shape_worlds():
    """Every kind and variant of ShapeWorld with all views, the paper's in full size, and settings of scenes."""
    views = ("image", "text", "meaning", "scene")
    for kind in KINDS:
        papers = kind in ("oneshape", "multishape", "spatial", "quantification")
        for variant in ("balanced", "foils", "published", *(() if kind == "oneshape" else ("bound",))):
            world = ShapeWorld(kind=kind, variant=variant, views=views, image_size=64 if papers else 24)
            yield f"shapeworld {kind} {variant}", world, PLAIN if papers else ("train",)
    held_out = {
        "validation": HeldOut(counts=(3,), patterns=(("left",),)),
        "test": HeldOut(places=((0, 0, 0.4, 1),), lengths=(9, 11)),
    }
    mixed = partial(ShapeWorld, kind=("spatial", "oneshape", "count"), views=views, image_size=24)
    yield "shapeworld mixed", mixed(), ("train", "test")
    yield "shapeworld part", mixed(variant="foils", only={"kind": ["count"], "change": ["number changed"]}), ("train",)
    for attributes in ("random", "reinforced", "limited", "framed", "clustered"):
        scenes = SceneSettings(
            counts=(3, 4, 6), attributes=attributes, overlap=0.4, outside=0.2, colours=("red", "green", "white")
        )
        world = ShapeWorld(
            kind="relational", scenes=scenes, **held_out, language="german", noise=0.05, views=views, image_size=24
        )
        yield f"shapeworld {attributes}", world, PLAIN


def batches():
    """Batches by a name for what they are."""
    for name, world, splits in worlds():
        yield name, [world.source(split, 100, seed=1).batch(SAMPLES) for split in splits]
    missing = Missing(CdSprites(level=1, modalities=EVERY).source("test", 100, seed=1), {"image": 0.3, "text": 0.6}, seed=4)
    yield "missing at random", [missing.batch(SAMPLES)]


def checksums():
    """For each name and each tensor of its batches, the BLAKE2b hash of its type, shape and bytes, 16 hex digits."""
    found = {}
    for name, made in batches():
        found[name] = {}
        for tensor in made[0].tensors():
            digest = hashlib.blake2b(digest_size=8)
            for batch in made:
                array = batch.tensors()[tensor].contiguous().numpy()
                digest.update(f"{array.dtype.str}{array.shape}".encode())
                digest.update(array.tobytes())
            found[name][tensor] = digest.hexdigest()
    return found


@pytest.fixture(scope="module")
def made():
    return checksums()


@pytest.mark.parametrize("name", json.loads(STORED.read_text()) if STORED.exists() else [])
def test_the_bytes_of_a_world_stay_as_they_are(made, name):
    assert made[name] == json.loads(STORED.read_text())[name]


def test_every_case_has_stored_checksums(made):
    assert made.keys() == json.loads(STORED.read_text()).keys()


if __name__ == "__main__":
    STORED.write_text(json.dumps(checksums(), indent=1) + "\n")
