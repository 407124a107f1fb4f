"""Take the pictures of the home page from the report of a run, with headless Chromium.

    molyneux run configs/quickstart.yaml --out runs/quickstart
    python docs/pictures.py runs/quickstart

Needs `chromium` (Debian: `apt install chromium`).
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import tempfile
from pathlib import Path

from PIL import Image

FOLDER = Path(__file__).parent / "assets" / "report"
SECTIONS = {"top": 800, "coherence": 800, "generated": 900}
"""Sections of a report, `top` for what stands before the first, and how many pixels of each are shown."""
WIDTH = 1000


def main() -> None:
    """Write one WebP for each section, and one of the first samples."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", type=Path, help="folder of a run with a report")
    run = parser.parse_args().run.resolve()
    page = run / "report" / "report.html"
    browser = shutil.which("chromium") or shutil.which("google-chrome")
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


if __name__ == "__main__":
    main()
