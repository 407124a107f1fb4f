"""The kinds of captions of ShapeWorld, one contrast set each: the table of the page `shapeworld.md`, and its pictures.

    python docs/shapeworld_kinds.py

writes the pictures to `docs/assets/shapeworld`; `tables.py` writes the table.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
from PIL import Image

from molyneux.core import views
from molyneux.data import ShapeWorld
from molyneux.data.worlds.shapeworld.kinds import KINDS, Kind
from molyneux.report.tables import pipe_table

FOLDER = Path(__file__).parent / "assets" / "shapeworld"
SHOWN: dict[Kind, int] = {
    "oneshape": 1,
    "multishape": 2,
    "spatial": 1,
    "quantification": 1,
    "existential": 2,
    "relational": 1,
    "single_attribute": 2,
    "negation": 1,
    "selection": 1,
    "count": 1,
    "ratio": 3,
    "quantities": 4,
    "number_bound": 3,
    "comparison": 1,
    "complex": 2,
    "logical": 1,
}
"""Which contrast set of each kind is shown: one that is easily read."""
SEED, SPLIT, SIZE, GAP = 4, "train", 96, 6


def table(name: str) -> str:
    """Every kind with a contrast set; `name` is where the pages find the pictures."""
    rows = (
        [f"`{kind}`", f"![Two scenes of the kind {kind}]({name}/{kind}.webp)", *captions(kind), _entities(kind)] for kind in KINDS
    )
    heads = ["kind", "one contrast set", "true of the first picture", "true of the second", "entities"]
    return pipe_table(heads, rows, words=range(len(heads)))


@cache
def captions(kind: Kind) -> tuple[str, str]:
    """The two captions of the set: the first is true of the first picture, the second of the second."""
    world = ShapeWorld(kind=kind, views=("text",))
    batch = world.batch(4 * SHOWN[kind] + np.arange(2), split=SPLIT, seed=SEED)
    texts = views.text_strings(world.spec.modality("text"), batch.views["text"])
    true, other = sorted(zip(batch.targets["agreement"].tolist(), texts, strict=True), reverse=True)  # of the first picture
    return true[1].removesuffix(" ."), other[1].removesuffix(" .")


def _entities(kind: Kind) -> str:
    """Numbers of entities in training, and in validation and test where these differ."""
    world = ShapeWorld(kind=kind, views=("text",))
    counts = [world.scenes_of(split, kind).counts for split in ("train", "validation", "test")]
    texts = [_range(sorted(found)) for found in counts]
    return texts[0] if len(set(texts)) == 1 else " / ".join(texts)


def _range(counts: list[int]) -> str:
    whole = len(counts) > 2 and counts == list(range(counts[0], counts[-1] + 1))
    return f"{counts[0]}-{counts[-1]}" if whole else ", ".join(map(str, counts))


def main() -> None:
    """Write the pictures of every kind."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    for kind in KINDS:
        world = ShapeWorld(kind=kind, views=("image",), image_size=SIZE, noise=0.0)
        images = (
            world.batch(4 * SHOWN[kind] + np.array([0, 2]), split=SPLIT, seed=SEED).views["image"].permute(0, 2, 3, 1).numpy()
        )
        both = Image.new("RGB", (2 * SIZE + GAP, SIZE), (128, 128, 128))
        for place, image in enumerate(images):
            both.paste(Image.fromarray(image), (place * (SIZE + GAP), 0))
        both.save(FOLDER / f"{kind}.webp", quality=85, method=6)


if __name__ == "__main__":
    main()
