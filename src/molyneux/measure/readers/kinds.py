"""Every kind of view that readers are shown: true ones, these as files and models spoil them, and wrong ones."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from molyneux.core import Batch, Spec
from molyneux.measure.readers.held_out_pictures import HELD_OUT, LEARNED, HeldOutPictures
from molyneux.measure.readers.looks import LOOKS
from molyneux.measure.readers.reading import LabelledViews
from molyneux.measure.readers.spoiled import blended, jpeg, softened, with_block_noise
from molyneux.measure.readers.wrong_contours import CONTOURS, WrongContours
from molyneux.measure.readers.wrong_pictures import PICTURES, WrongPictures

TRUE = ("true", "soft", "jpeg", "blocks")
"""Kinds that show figures of the world: as it draws them, a little blurred and noisy, as JPEG, and with an error for each block
of 8 pixels."""
_ORDER = ("noise", "blends", *PICTURES[1:])
KINDS = (*TRUE, *_ORDER, *LEARNED, *HELD_OUT)


def kinds_of_views(
    world: str, level: int, spec: Spec, batch: Batch, modality: str, factors: tuple[str, ...], *, seed: int
) -> Iterator[tuple[str, LabelledViews]]:
    """True views of a world in levels and wrong ones, by kind, as many of each as there are samples.

    Args:
        world: name of the world with its version, one of `looks.LOOKS`.
        level: of difficulty, 1..5.
        spec: of the samples.
        batch: true samples, with their factors.
        modality: `image` or `touch`.
        factors: what a view shows.
        seed: of everything drawn.
    """
    views, count = batch.views[modality].numpy(), len(batch)
    codes = {name: _codes(spec, batch, name) for name in factors}
    truth = {name: [spec.factor(name).values[code] for code in column] for name, column in codes.items()}
    yield "true", LabelledViews(views, truth)
    if modality == "image":
        for kind, spoil in (("soft", softened), ("jpeg", jpeg), ("blocks", with_block_noise)):
            yield kind, LabelledViews(spoil(views, seed=seed), truth)
    drawer = (WrongPictures if modality == "image" else WrongContours)(world, level, seed=seed)
    for kind in _ORDER if modality == "image" else (CONTOURS[0], "blends", *CONTOURS[1:]):
        if kind == "near":  # drawn apart, so that it changes nothing of the others
            drawer = WrongPictures(world, level, seed=seed + 1000)
        if kind == "blends":
            yield kind, LabelledViews(blended(views, codes["shape"], seed=seed))
        elif kind not in ("discs", "plain") or "circle" not in LOOKS[world](level).shapes:  # GeBiD has circles, and no textures
            yield kind, drawer.draw(kind, count)
    for number, kind in enumerate((*LEARNED, *HELD_OUT) if modality == "image" else ()):
        more = HeldOutPictures(world, level, seed=seed + 2000 + number)  # each drawn apart: one more changes no other
        if more.shows(kind):
            yield kind, more.draw(kind, count)


def _codes(spec: Spec, batch: Batch, name: str) -> np.ndarray:
    assert batch.factors is not None, "expected samples with factors"
    return batch.factors[:, spec.factor_index(name)].numpy()
