"""Take the pictures of the home page from the report of a run, with headless Chromium, or a sheet of what a run generated.

    molyneux run configs/quickstart.yaml --out runs/quickstart
    python docs/pictures.py runs/quickstart
    python docs/pictures.py runs/level-5 --sheet level-5
    python docs/pictures.py site/start/cheat-sheet/index.html --pdf site/cheat-sheet.pdf

The first and the last need `chromium` (Debian: `apt install chromium`); the second needs a run with the measure `galleries`.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import tempfile
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from molyneux.core.image_files import image_of

FOLDER = Path(__file__).parent / "assets" / "report"
SECTIONS = {"top": 850, "coherence": 770, "generated": 855}
"""Sections of a report, `top` for what stands before the first, and how many pixels of each are shown."""
WIDTH = 1000


def main() -> None:
    """Write one WebP for each section, and one of the first samples."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", type=Path, help="folder of a run with a report, or a page of the site")
    parser.add_argument("--sheet", metavar="NAME", help="write a sheet of pictures drawn from captions, and nothing else")
    parser.add_argument("--pdf", type=Path, help="write a page of the site as a file to print, and nothing else")
    options = parser.parse_args()
    run = options.run.resolve()
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    if options.pdf:
        if browser is None:
            parser.error("expected chromium to be installed, got none: apt install chromium")
        how = ["--headless", "--no-sandbox", "--disable-gpu", "--no-pdf-header-footer", f"--print-to-pdf={options.pdf.resolve()}"]
        subprocess.run([browser, *how, run.as_uri()], check=True, capture_output=True, timeout=300)
        return
    if options.sheet:
        place = FOLDER.parent / "generated"
        place.mkdir(exist_ok=True)
        _sheet(run / "measure").save(place / f"{options.sheet}.webp", quality=90, method=6)
        return
    page = run / "report" / "report.html"
    if browser is None or not page.exists():
        parser.error(
            f"expected chromium to be installed and {page} to exist, got one without: install it, or run the command above"
        )
    FOLDER.mkdir(parents=True, exist_ok=True)
    for section, height in SECTIONS.items():
        _picture(browser, page.read_text(encoding="utf-8"), section, height).save(
            FOLDER / f"{section}.webp", quality=80, method=6
        )
    with Image.open(run / "samples" / "contact_sheet.png") as sheet:
        sheet.convert("RGB").crop((0, 0, sheet.width, sheet.height // 3)).save(FOLDER / "samples.webp", quality=85, method=6)


def _picture(browser: str, page: str, section: str, height: int) -> Image.Image:
    """A section of a page as an image: all others are hidden."""
    others = "main > section" if section == "top" else f"header, main > :not([aria-labelledby={section}])"
    with tempfile.TemporaryDirectory() as folder:
        copy, path = Path(folder, "page.html"), Path(folder, "page.png")
        copy.write_text(page.replace("</head>", f"<style>{others} {{ display: none }}</style></head>"), encoding="utf-8")
        options = ["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--blink-settings=preferredColorScheme=1"]
        size = [f"--window-size={WIDTH},{height}", f"--screenshot={path}"]
        subprocess.run([browser, *options, *size, copy.as_uri()], check=True, capture_output=True, timeout=300)
        with Image.open(path) as picture:
            return picture.convert("RGB")


def _sheet(measure: Path, side: int = 128, label: int = 330) -> Image.Image:
    """For each caption of the gallery of draws a row: the caption, the true picture, and all draws."""
    exhibits = {item["name"]: item for item in json.loads((measure / "exhibits.json").read_text(encoding="utf-8"))}
    draws, cross = exhibits["draws_text_to_image"], exhibits["cross"]
    drawn, true = (np.load(measure / f"{item['file']}.0.npy") for item in (draws, cross))
    head = ["true picture", *(name for name in draws["columns"] if name != "text")]
    sheet = Image.new("RGB", (label + len(head) * (side + 4), 24 + len(draws["rows"]) * (side + 4)), "white")
    pen, font = ImageDraw.Draw(sheet), ImageFont.load_default(size=16)
    for column, name in enumerate(head):
        pen.text((label + column * (side + 4), 2), name, "black", font)
    for number, (row, beside) in enumerate(zip(draws["rows"], cross["rows"], strict=True)):
        top = 24 + number * (side + 4)
        pen.text((4, top + side // 2 - 8), row[0]["text"], "black", font)
        views = [true[beside[0]["view"][1]], *(drawn[cell["view"][1]] for cell in row[1:])]
        for column, view in enumerate(views):
            picture = image_of(view).resize((side, side), Image.Resampling.NEAREST)
            sheet.paste(picture, (label + column * (side + 4), top))
    return sheet


if __name__ == "__main__":
    main()
