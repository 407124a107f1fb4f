"""Take the pictures of the studio that the guide and the README show, from the studio itself.

    python docs/studio_pictures.py [NAME ...]

Needs Chromium (Debian: `apt install chromium`) and the packages for development.
"""

from __future__ import annotations

import io
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from PIL import Image
from playwright.sync_api import Page, sync_playwright

FOLDER = Path(__file__).parent / "assets" / "studio"
WIDTH, HEIGHT = 1180, 760
VIEWS = {
    "ask": ("/ask?count=6&given=text:small+red+heart+at+top+left+on+light", ".reading.right >> nth=4", 560),
    "scenes": ("/scenes?changes=1.colour%3Ared", "ul.meaning >> nth=0", 900),
    "worlds": ("/worlds?settings=level:5", "figure.sample img >> nth=20", 760),
    "codes": ("/codes?model=gebid-level5&sample=3&moved=4:1.2", ".now img", 760),
    "broken": ("/broken?model=gebid-level5&strength=0.5", ".js-plotly-plot .scatter", 760),
    "question": ("/question", ".walks .answer >> nth=1", 1120),
    "which": ("/which?answers=0&number=0", ".which .reading >> nth=1", 640),
    "runs": ("/runs?run=gebid-level5", ".reading.wrong && .js-plotly-plot .main-svg", 900),
}
"""By name: the address, what is waited for (parts joined by &&), and the height that is shown."""


def main() -> None:
    """Write one WebP for each view, or for those that are named."""
    views = {name: VIEWS[name] for name in sys.argv[1:] or VIEWS}
    browser = os.environ.get("MOLYNEUX_CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
    if browser is None:
        raise SystemExit("expected chromium to be installed, got none: apt install chromium")
    command = [sys.executable, "-m", "molyneux", "studio", "--no-browser", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as studio, sync_playwright() as playwright:
        assert studio.stdout is not None
        found = re.search(r"http://\S+", studio.stdout.readline())
        assert found is not None
        opened = playwright.chromium.launch(executable_path=browser, args=["--no-sandbox"])
        page = opened.new_page(viewport={"width": WIDTH, "height": HEIGHT}, color_scheme="light")
        for name, (address, ready, height) in views.items():
            _take(page, found.group().rstrip("/") + address, ready, height).save(FOLDER / f"{name}.webp", quality=82, method=6)
            print(name)
        opened.close()
        studio.terminate()


def _take(page: Page, address: str, ready: str, height: int) -> Image.Image:
    page.set_viewport_size({"width": WIDTH, "height": height})
    page.goto(address)
    for part in ready.split(" && "):
        page.locator(part).first.wait_for(timeout=300_000)
    page.wait_for_timeout(1_500)
    return Image.open(io.BytesIO(page.screenshot())).convert("RGB")


if __name__ == "__main__":
    FOLDER.mkdir(parents=True, exist_ok=True)
    main()
