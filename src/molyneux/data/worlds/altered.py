"""What judges of worlds in levels learn from beside true views: scenes that were altered after they were drawn, with labels."""

from __future__ import annotations

from molyneux.core import JudgeMaterial
from molyneux.data.dataset import Split
from molyneux.data.worlds.altered_contours import AlteredContours
from molyneux.data.worlds.altered_pictures import AlteredPictures
from molyneux.data.worlds.captioned_world import CaptionedWorld


def judge_material(world: CaptionedWorld, modality: str, split: Split, size: int, *, seed: int) -> JudgeMaterial:
    """What a judge of a modality of a world in levels learns from; see `World.judge_material`."""
    views = world.source(split, size, seed=seed)
    if modality not in ("image", "touch"):
        return JudgeMaterial(views)
    altered = AlteredPictures if modality == "image" else AlteredContours
    return JudgeMaterial(views, altered(world, split, size, seed=seed))
