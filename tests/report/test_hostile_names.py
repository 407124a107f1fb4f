"""Names come from data sets: whatever they hold, pages show them as text and files stay in their folder."""

import csv
import io
import re
import xml.etree.ElementTree as ET
from html.parser import HTMLParser

import numpy as np
import pytest

from molyneux.core import Cell, Gallery, Scatter, Score
from molyneux.report import StudyRun, write_run, write_study
from molyneux.report.wording import identifier

SCRIPT = 'x"><script>alert(1)</script><img src=x onerror=alert(1)>'
NAMES = (
    SCRIPT,
    "a/../../x",
    "BRK.B",
    "image+text",
    "$x_{1$",
    "_hidden",
    "[a](javascript:alert(1))",
    "a|b\\",
    "\u5f62",
    "n" * 100,
)
TAGS = {
    *(
        "html",
        "head",
        "meta",
        "title",
        "link",
        "style",
        "body",
        "header",
        "p",
        "h1",
        "span",
        "nav",
        "a",
        "main",
        "div",
        "ul",
        "li",
    ),
    *("b", "section", "h2", "h3", "table", "thead", "tbody", "tr", "th", "td", "i", "figure", "figcaption", "svg", "g", "path"),
    *(
        "defs",
        "use",
        "text",
        "img",
        "details",
        "summary",
        "dl",
        "dt",
        "dd",
        "pre",
        "code",
        "footer",
        "clippath",
        "rect",
        "circle",
    ),
}
ATTRIBUTES = {
    *(
        "aria-hidden",
        "aria-label",
        "aria-labelledby",
        "charset",
        "class",
        "clip-path",
        "content",
        "d",
        "data-title",
        "height",
        "href",
        "id",
    ),
    *(
        "lang",
        "name",
        "rel",
        "role",
        "scope",
        "src",
        "style",
        "tabindex",
        "title",
        "transform",
        "version",
        "viewbox",
        "width",
        "x",
        "y",
        "alt",
    ),
    *("cx", "cy", "data-title", "r"),
}


class Checked(HTMLParser):
    """Fails at every element and attribute that pages do not have, and gathers the text."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.text = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        assert tag in TAGS
        assert {name for name, _ in attrs} <= ATTRIBUTES
        for name, value in attrs:
            if name in ("href", "src"):
                assert value.startswith(("#", "data:"))
            if name == "id":
                assert re.fullmatch(r"[\w.-]+", value, re.ASCII)

    def handle_data(self, data):
        self.text += data


def scores():
    found = []
    for name in NAMES:
        about = {"source": (name, "image"), "target": name}
        found += [Score("coherence.strict", 50.0, about, unit="%", bounds=(0, 100), chance=3.0, note=name)]
        found += [Score("coherence.accuracy", 50.0, {**about, "factor": factor}, unit="%", bounds=(0, 100)) for factor in NAMES]
        found += [
            Score("latent.mig", 0.5, {"factor": name}),
            Score("downstream.few_shot", 5.0, {"label": name, "per_class": "3"}),
        ]
        found += [
            Score("prediction.accuracy", 0.5, {"target": name}),
            Score("prediction.f1", 0.5, {"target": "t", "label": name}),
        ]
        found += [Score("coherence.strict", 40.0, {**about, "corruption": name, "strength": name}, unit="%")]
        found += [Score("coherence.strict", 40.0, {**about, "missing": (name, "image")}, unit="%", controls={name: 3.0})]
    return found


@pytest.fixture(scope="module")
def written(made, tmp_path_factory):
    """A run and a study whose every name is hostile."""
    root = tmp_path_factory.mktemp("root") / "a" / "b"
    view = np.zeros((3, 8, 8), np.uint8)
    cells = tuple(Cell(view, text=name, reading=name, correct=False) for name in NAMES)
    codes = {name: np.arange(20) % 2 for name in NAMES}
    scatter = Scatter(SCRIPT, SCRIPT, SCRIPT, np.zeros((20, 2), np.float32), codes, dict.fromkeys(NAMES, NAMES[:2]))
    config = {
        "seed": 1,
        "name": SCRIPT,
        "note": "```\n# x",
        "data": {"world": {"class_path": SCRIPT, "init_args": {"level": SCRIPT}}},
    }
    folder = made.folder(root / "run", scores(), [Gallery("a/../../x", SCRIPT, SCRIPT, NAMES, (cells,)), scatter], config)
    history = folder / "model" / "history.csv"
    history.write_text(
        "epoch," + ",".join('"train/{}"'.format(name.replace('"', '""')) for name in NAMES) + "\n1" + ",2" * len(NAMES)
    )
    (folder / "samples" / "spec.json").unlink()
    files = write_run(folder, ("html", "markdown", "csv", "latex"))
    runs = [
        StudyRun({"seed": seed, "learn.x": name, "data.level": name}, tuple(scores())) for name in NAMES[:3] for seed in (1, 2)
    ]
    return root, files, write_study(runs, root / "study", name=SCRIPT)


def test_pages_hold_names_as_text_and_nothing_that_runs(written):
    for path in (path for files in written[1:] for path in files if path.suffix == ".html"):
        page = Checked(path.read_text())
        assert all(name in page.text for name in NAMES[:3])


def test_no_file_leaves_its_folder_and_none_is_lost(written):
    root, *written_files = written
    made = {path for path in root.parents[1].rglob("*") if path.is_file()}
    assert {path.relative_to(root).parts[0] for path in made} == {"run", "study"}
    assert {path for files in written_files for path in files} <= made
    reported = [path for path in made if "report" in path.parts or "study" in path.parts]
    assert all(re.fullmatch(r"[a-z0-9_-]{1,80}\.(html|md|csv|tex|svg)", path.name) for path in reported)
    figures = [path for path in made if path.suffix == ".svg" and "run" in path.parts]
    assert len(figures) == 4 * len(NAMES)  # curves, bars, few-shot curves, projections
    for path in figures:
        ET.fromstring(path.read_text().partition("\n")[2])
    drawn = "".join(path.read_text() for path in figures)
    assert "_hidden" in drawn
    assert "$x_{1$" in drawn


def test_markdown_has_no_markup_of_names(written):
    for path in (path for files in written[1:] for path in files if path.suffix == ".md"):
        text = re.sub(r"^(````*)\n.*?^\1$", "", path.read_text(), flags=re.MULTILINE | re.DOTALL)
        assert "<" not in text
        for link in re.findall(r"(?<!\\)\]\(([^)]*)\)", text):
            assert (path.parent / link).is_file()
        for block in re.split(r"\n\s*\n", text):
            rows = [re.sub(r"\\.", "", line).count("|") for line in block.splitlines() if line.startswith("|")]
            assert len(set(rows)) <= 1


def test_latex_and_csv_hold_names_literally(written):
    for path in (path for files in written[1:] for path in files if path.suffix == ".tex"):
        text = path.read_text()
        bare = re.sub(r"\\[{}&%$#_\\]", "", text)
        assert bare.count("{") == bare.count("}")
        assert bare.count("$") % 2 == 0
        assert re.fullmatch(r"tab:[a-z0-9_-]+", re.search(r"\\label\{(.*)\}", text)[1])
    for path in (path for files in written[1:] for path in files if path.suffix == ".csv"):
        rows = list(csv.reader(io.StringIO(path.read_text())))
        assert len({len(row) for row in rows}) == 1
    assert SCRIPT in {
        row["factor"] for row in csv.DictReader(io.StringIO((written[0] / "run/report/tables/scores.csv").read_text()))
    }


def test_identifiers_are_short_safe_and_different():
    names = [*NAMES, "a b", "a-b", "a_b", "A b", "a.b", "a to b", "a \u2192 b", "", "n" * 99]
    found = [identifier(name) for name in names]
    assert len({text.casefold() for text in found}) == len(names)
    assert all(re.fullmatch(r"[a-z0-9_-]{1,80}", text) for text in found)
    assert identifier("text \u2192 image") == "text-to-image"
