"""Draw the sheet of the README: four captions of level 5, four pictures each, by the model that comes with the package.

python docs/sheet.py
"""

from __future__ import annotations

from pathlib import Path

from PIL import Image, ImageDraw, ImageFont

import molyneux

PLACE = Path(__file__).parent / "assets" / "generated" / "sheet.webp"
CAPTIONS = (
    "small red heart at top left on light",
    "big blue ellipse at bottom right on dark",
    "big green square at top right on light",
    "small yellow heart at bottom left on dark",
)
SIDE, GAP, LABEL, SEED = 96, 4, 26, 1


def main() -> None:
    """Write the sheet: each caption above its four pictures, two captions in a row."""
    model = molyneux.open_model("cdsprites-level5")
    width, height = 4 * (SIDE + GAP) + 12, SIDE + LABEL + 8
    sheet = Image.new("RGB", (2 * width - 12, 2 * height), "white")
    pen, font = ImageDraw.Draw(sheet), ImageFont.load_default(size=16)
    for number, caption in enumerate(CAPTIONS):
        left, top = number % 2 * width, number // 2 * height
        pen.text((left, top + 3), caption, "black", font)
        drawn = model.generate("image", text=caption, count=4, seed=SEED)
        for column, picture in enumerate(drawn.images()):
            large = picture.convert("RGB").resize((SIDE, SIDE), Image.Resampling.LANCZOS)
            sheet.paste(large, (left + column * (SIDE + GAP), top + LABEL))
    sheet.save(PLACE, quality=90, method=6)


if __name__ == "__main__":
    main()
