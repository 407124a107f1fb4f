"""Pages can be used without a mouse, by people who do not see them, and on a narrow screen.

What axe-core and a browser say is asked where both are found: `pip install axe-playwright-python playwright`, and Chromium.
"""

import re
import shutil

import pytest

from molyneux.report import write_run


@pytest.fixture(scope="module")
def page(made, tmp_path_factory):
    folder = made.folder(tmp_path_factory.mktemp("runs") / "accessible", made.coherence() + made.others(), made.exhibits())
    write_run(folder, formats=("html",))
    return folder / "report" / "report.html"


def test_what_scrolls_can_be_focused_and_no_heading_is_empty(page):
    text = page.read_text()
    assert all('tabindex="0"' in tag for tag in re.findall(r"<pre[^>]*>|<div class=\"scroll\"[^>]*>", text))
    assert not re.search(r"<(th|h[1-6])[^>]*>\s*</", text)
    labels = re.findall(r'role="group" aria-label="([^"]*)"', text)
    assert labels
    assert all(labels)


def test_values_of_stacked_rows_have_the_titles_of_their_columns(page):
    assert 'data-title="value (95 %)"' in page.read_text()
    assert 'data-title="chance"' in page.read_text()


@pytest.mark.parametrize("width", [420, 1300])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_and_nothing_is_off_the_screen(page, width, scheme):
    driver = pytest.importorskip("playwright.sync_api", reason="needs playwright")
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="needs axe-playwright-python")
    chromium = shutil.which("chromium")
    if chromium is None:
        pytest.skip("needs chromium")
    with driver.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        opened = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
        opened.goto(page.as_uri())
        found = axe.Axe().run(opened).response["violations"]
        wide = opened.evaluate("document.documentElement.scrollWidth")
        browser.close()
    assert [(item["id"], item["nodes"][0]["html"]) for item in found] == []
    assert wide <= width
