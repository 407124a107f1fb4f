"""Contact sheets of ShapeWorld: captions of all kinds under their pictures, a true one and a false one each."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from molyneux.core import views
from molyneux.data import ShapeWorld
from molyneux.data.worlds.shapeworld.kinds import KINDS
from molyneux.data.worlds.shapeworld.meaning.language.language import pretty, words_of

SIDE, GAP, LINE, COLUMNS = 224, 14, 15, 5


def write(folder: Path, *, seed: int, count: int = 60) -> None:
    """Sheets of so many pictures with two captions each, in English and in German, of balanced samples and of foils."""
    font = ImageFont.load_default(13)
    for language in ("english", "german"):
        for variant in ("balanced", "foils"):
            cells = [cell for number in range(-(-count // len(KINDS))) for kind in KINDS for cell in [(kind, number)]][:count]
            for sheet in range(0, len(cells), 4 * COLUMNS):
                path = folder / f"{variant}-{language}-{sheet // (4 * COLUMNS) + 1}.png"
                path.parent.mkdir(parents=True, exist_ok=True)
                drawn = [cell(kind, variant, language, number, seed, font) for kind, number in cells[sheet : sheet + 4 * COLUMNS]]
                joined(drawn).save(path)
                print(path)


def cell(kind: str, variant: str, language: str, number: int, seed: int, font: ImageFont.FreeTypeFont) -> Image.Image:
    """A picture with the true and the false caption of its set."""
    world = ShapeWorld(kind=kind, variant=variant, language=language, image_size=SIDE)  # type: ignore[arg-type]
    batch = world.batch(4 * number + np.arange(2), split="train", seed=seed)
    captions = views.text_strings(world.spec.modality("text"), batch.views["text"])
    change = world.spec.factor("change").values[batch.factors[0, world.spec.factor_index("change")]]
    out = Image.new("RGB", (SIDE, SIDE + 10 * LINE), "white")
    out.paste(Image.fromarray(batch.views["image"][0].numpy().transpose(1, 2, 0)), (0, 0))
    pen, y = ImageDraw.Draw(out), SIDE + 2
    print(f"{kind} / {change}:", *(f"[{mark}] {pretty(words_of(text))}" for mark, text in zip("+-", captions, strict=True)))
    for text, colour in ((f"{kind}: {change}", "gray"), *zip(captions, ("black", "firebrick"), strict=True)):
        for line in wrapped(pretty(words_of(text)) if colour != "gray" else text, font):
            pen.text((0, y), line, fill=colour, font=font)
            y += LINE
    return out


def wrapped(text: str, font: ImageFont.FreeTypeFont) -> list[str]:
    """Lines that are no wider than a picture."""
    lines = [""]
    for word in text.split():
        longer = f"{lines[-1]} {word}".strip()
        lines = [*lines[:-1], longer] if font.getlength(longer) <= SIDE else [*lines, word]
    return lines


def joined(cells: list[Image.Image]) -> Image.Image:
    """Cells in rows."""
    width, height = SIDE + GAP, cells[0].height
    out = Image.new("RGB", (COLUMNS * width, -(-len(cells) // COLUMNS) * height), "white")
    for place, one in enumerate(cells):
        out.paste(one, (place % COLUMNS * width, place // COLUMNS * height))
    return out
