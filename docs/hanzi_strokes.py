"""A picture of samples of `hanzi-strokes-v1`: pairs of characters that are alike, as pictures and as the way of the pen.

    python docs/hanzi_strokes.py [FOLDER]

reads the files of the benchmark and writes it to `docs/assets/molyneux`.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw

from molyneux.data import HanziStrokes

PATH = Path(__file__).parent / "assets" / "molyneux" / "characters.webp"
SIDE, GAP = 128, 10
PAIRS = (700, 1400, 2100, 2800)
"""Places of the pairs that are shown, the nearest pair first."""
FIRST, LAST = np.array((30, 50, 130)), np.array((230, 120, 40))
"""Colours of the way of the pen at its beginning and at its end."""


def main() -> None:
    """Draw a sample of each of the characters: two columns a pair, with the way of the pen under the picture."""
    data = HanziStrokes(Path(sys.argv[1]) if len(sys.argv) > 1 else None)
    wanted = np.array([[2 * pair, 2 * pair + 1] for pair in PAIRS]).ravel()
    signs = data.factor_codes(np.arange(100_000), split="test", seed=1)[:, 0]
    batch = data.batch(np.array([np.flatnonzero(signs == sign)[0] for sign in wanted]), split="test", seed=1)
    sheet = Image.new("RGB", (len(wanted) * (SIDE + GAP) + (len(PAIRS) + 1) * GAP, 2 * SIDE + 3 * GAP), (255, 255, 255))
    draw = ImageDraw.Draw(sheet)
    for column in range(len(wanted)):
        x = GAP + column * (SIDE + GAP) + (column // 2) * GAP
        sheet.paste(Image.fromarray(batch.views["image"][column, 0].numpy()).resize((SIDE, SIDE)), (x, GAP))
        draw.rectangle((x, 2 * GAP + SIDE, x + SIDE - 1, 2 * GAP + 2 * SIDE - 1), (244, 244, 244))
        _written(draw, batch.views["strokes"][column].numpy(), x, 2 * GAP + SIDE)
    PATH.parent.mkdir(parents=True, exist_ok=True)
    sheet.save(PATH, quality=90, method=6)


def _written(draw: ImageDraw.ImageDraw, strokes: np.ndarray, left: int, top: int) -> None:
    """What a pen writes (steps, 3) in a square."""
    low, high = strokes[:, :2].min(0), strokes[:, :2].max(0)
    scale = (SIDE - 24) / (high - low).max()
    points = scale * (strokes[:, :2] - (low + high) / 2) + np.array([left, top]) + SIDE / 2
    for step in np.flatnonzero((strokes[1:, 2] > 0.5) & (strokes[:-1, 2] > 0.5)):
        share = step / (len(strokes) - 1)
        colour = tuple(int(part) for part in (1 - share) * FIRST + share * LAST)
        draw.line([tuple(points[step]), tuple(points[step + 1])], colour, 3)


if __name__ == "__main__":
    main()
