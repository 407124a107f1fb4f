"""The built site: what people type finds the right page first, pages are small, the navigation is short."""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LARGEST = 300_000
"""Bytes of a page."""
MOST_OPEN, MOST_WORDS = 8, 6
QUESTIONS = {
    "generate image from caption": "how-to/use-a-trained-model",
    "pretrained": "how-to/use-a-trained-model",
    "missing modality": "how-to/my-camera-breaks",
    "microphone fails": "how-to/my-camera-breaks",
    "FID": "understand/formulas-of-measures",
    "own data csv": "how-to/your-own-data",
    "custom dataset": "how-to/your-own-data",
    "resume": "how-to/many-machines",
    "gpu": "how-to/many-machines",
    "ray cluster": "how-to/many-machines",
    "chance level": "understand/chance-and-intervals",
    "confidence interval": "understand/chance-and-intervals",
    "robustness": "understand/robustness",
    "compare models": "how-to/compare-two-models",
    "export latex table": "how-to/paper-table",
    "cite": "how-to/paper-table",
    "install": "start",
    "quickstart": "start",
    "which model": "results",
    "MultiVae": "understand/why-molyneux",
    "CLIP": "how-to/probe-your-vision-language-model",
    "custom training loop": "how-to/your-own-training-loop",
    "add a metric": "how-to/your-own-measure",
    "disentanglement MIG": "understand/disentanglement",
    "command line": "reference/run/commands",
    "slots MAT": "results/ynoc-slots",
    "missing captions": "results/incomplete",
    "draw a picture": "how-to/use-a-trained-model",
}


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    pytest.importorskip("material", reason="part of the extra docs")
    place = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--quiet", "--site-dir", str(place)]
    subprocess.run(command, check=True, cwd=ROOT, capture_output=True)
    return place


@pytest.mark.slow(shared="site")
def test_what_people_type_finds_the_right_page_first(site):
    node = shutil.which("node")
    if node is None:
        pytest.skip("node runs the search of the theme")
    typed = "\n".join(QUESTIONS)
    command = [node, str(ROOT / "docs" / "search.js"), str(site)]
    found = subprocess.run(command, input=typed, check=True, capture_output=True, text=True).stdout.splitlines()
    first = {query: json.loads(line)[0].partition("#")[0].strip("/") for query, line in zip(QUESTIONS, found, strict=True)}
    assert first == QUESTIONS


@pytest.mark.slow(shared="site")
def test_no_page_is_large(site):
    sizes = {str(path.relative_to(site)): path.stat().st_size for path in site.rglob("*.html")}
    assert {name: size for name, size in sizes.items() if size > LARGEST} == {}


@pytest.mark.slow(shared="site")
def test_files_that_make_the_site_are_no_part_of_it(site):
    assert [path.name for path in site.rglob("*") if path.suffix in (".pyc", ".py", ".yaml") or path.name == "search.js"] == []


@pytest.mark.slow(shared="site")
def test_a_number_and_its_unit_stay_in_one_line(site):
    page = (site / "index.html").read_text(encoding="utf-8")
    assert re.search(r"\d\u00a0%", page)
    assert not re.search(r"\d %", page)


def test_the_navigation_is_short():
    text = (ROOT / "mkdocs.yml").read_text(encoding="utf-8").partition("\nnav:\n")[2].partition("\nvalidation:")[0]
    open_now: dict[str, int] = {}
    section = ""
    for line in text.splitlines():
        indent, entry = len(line) - len(line.lstrip()), line.strip().removeprefix("- ")
        if indent == 2:
            section = entry
            open_now["the first row"] = open_now.get("the first row", 0) + 1
        elif indent == 6 and ": " in entry + " ":
            open_now[section] = open_now.get(section, 0) + 1
        title = entry.partition(":")[0] if not entry.startswith('"') else entry.split('"')[1]
        assert len(re.findall(r"\S+", title)) <= MOST_WORDS, title
    assert {section: count for section, count in open_now.items() if count > MOST_OPEN} == {}
