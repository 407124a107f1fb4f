"""A studio that runs in a process of its own, and a real browser that visits it."""

import os
import re
import shutil
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import pytest

CHROMIUM = os.environ.get("MOLYNEUX_CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser") or ""
"""The path of a Chromium: named by the variable, or that of the system."""
_RESULTS = Path(__file__).parents[2] / "studies" / "results"
RECORDS = [_RESULTS / name for name in ("ynoc-best", "molyneux-question-diffusion", "molyneux-v1")]
"""Records of three studies."""


@contextmanager
def started(*arguments, log):
    """A studio on a free port: its process and its address, as it prints it."""
    command = [sys.executable, "-m", "molyneux", "studio", "--no-browser", "--port", "0", *map(str, arguments)]
    with log.open("w") as errors, subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, text=True) as process:
        try:
            line = process.stdout.readline()
            found = re.search(r"http://\S+", line)
            assert found, f"no address in {line!r}: {log.read_text()}"
            yield process, found.group().rstrip("/")
        finally:
            process.terminate()
            process.wait(10)


@pytest.fixture(scope="session")
def launch():
    """Starts a studio, as a context."""
    return started


@pytest.fixture(scope="session")
def log(tmp_path_factory):
    """What the studio writes to standard error."""
    return tmp_path_factory.mktemp("studio") / "log.txt"


@pytest.fixture(scope="session")
def address(log):
    """The address of a running studio."""
    with started(*(part for folder in RECORDS for part in ("--results", folder)), log=log) as (_, found):
        yield found


@pytest.fixture(scope="session")
def browser():
    """A browser without a window; the tests are skipped where there is none."""
    if not CHROMIUM or not Path(CHROMIUM).exists():
        pytest.skip("no Chromium: install one, or name its path with MOLYNEUX_CHROMIUM")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        made = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield made
        made.close()


@pytest.fixture
def page(browser, address):
    """A new tab; what it asks for elsewhere, and what its console says, is a failure."""
    context = browser.new_context(viewport={"width": 1300, "height": 900}, base_url=address)
    context.set_default_timeout(90_000)
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    made, elsewhere, said = context.new_page(), [], []
    local = (address, address.replace("http", "ws"), "data:", "blob:")
    made.on("request", lambda request: None if request.url.startswith(local) else elsewhere.append(request.url))
    made.on("console", lambda message: said.append(f"{message.type}: {message.text}"))
    made.on("pageerror", lambda error: said.append(f"error: {error}"))
    yield made
    context.close()
    assert elsewhere == []
    assert said == []
