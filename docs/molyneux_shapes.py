"""A picture of samples of the world `molyneux-v1`: pairs of shapes that are alike, as they are seen and felt, with their names.

    python docs/molyneux_shapes.py

writes it to `docs/assets/molyneux`.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from molyneux.data import MolyneuxShapes

PATH = Path(__file__).parent / "assets" / "molyneux" / "shapes.webp"
SIDE, GAP, LINE, PAIRS = 128, 10, 18, 4
INKS = ((40, 70, 160), (200, 60, 20))
"""Of the first and the second finger."""


def main() -> None:
    """Draw the first samples of the first pairs: two columns a pair, with picture, touch and name under each other."""
    world = MolyneuxShapes()
    numbers = np.arange(4000)
    shapes = world.scenes(numbers, split="test", seed=1).shape
    batch = world.batch(np.array([np.flatnonzero(shapes == shape)[0] for shape in range(2 * PAIRS)]), split="test", seed=1)
    names = world.spec.factor("shape").values
    height = 2 * SIDE + 2 * GAP + LINE
    sheet = Image.new("RGB", (2 * PAIRS * (SIDE + GAP) + (PAIRS + 1) * GAP, height + GAP), (255, 255, 255))
    draw, font = ImageDraw.Draw(sheet), ImageFont.load_default(14)
    for column in range(2 * PAIRS):
        x = GAP + column * (SIDE + GAP) + (column // 2) * GAP
        picture = Image.fromarray(batch.views["image"][column].permute(1, 2, 0).numpy()).resize((SIDE, SIDE))
        sheet.paste(picture, (x, GAP))
        draw.rectangle((x, 2 * GAP + SIDE, x + SIDE - 1, 2 * GAP + 2 * SIDE - 1), (244, 244, 244))
        _touch(draw, batch.views["touch"][column].numpy(), x, 2 * GAP + SIDE)
        draw.text((x, 2 * GAP + 2 * SIDE), names[int(batch.factors[column, 0])], (30, 30, 30), font)
    PATH.parent.mkdir(parents=True, exist_ok=True)
    sheet.save(PATH, quality=90, method=6)


def _touch(draw: ImageDraw.ImageDraw, felt: np.ndarray, left: int, top: int) -> None:
    """The path (steps, 6) of both fingers in a square, thicker where they press more."""
    pressed = np.concatenate([felt[felt[:, 3 * finger + 2] > 0, 3 * finger : 3 * finger + 2] for finger in (0, 1)])
    low, high = pressed.min(0), pressed.max(0)
    scale = (SIDE - 16) / (high - low).max()
    shift = np.array([left, top]) + SIDE / 2 - scale * (low + high) / 2
    for finger, ink in enumerate(INKS):
        points, pressure = scale * felt[:, 3 * finger : 3 * finger + 2] + shift, felt[:, 3 * finger + 2]
        for step in np.flatnonzero((pressure[1:] > 0) & (pressure[:-1] > 0)):
            draw.line([tuple(points[step]), tuple(points[step + 1])], ink, round(1 + 3 * float(pressure[step])))


if __name__ == "__main__":
    main()
