import re
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

from molyneux.core import Cell, ConfigError, Gallery, Score, store
from molyneux.report import write_run

VOID = {"br", "img", "link", "meta", "hr", "input", "source"}


class Reader(HTMLParser):
    """Checks nesting and gathers ids, links and everything that a browser would fetch."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open, self.ids, self.links, self.fetched, self.tags = [], [], [], [], []
        self.words = ""
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        self.tags.append(tag)
        self.ids += [given["id"]] if "id" in given else []
        self.links += [given["href"]] if tag in ("a", "use") else []
        self.fetched += [given[name] for name in ("src", "srcset", "data", "poster") if name in given]
        self.fetched += [given["href"]] if tag == "link" else []
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.words += data


@pytest.fixture(scope="module")
def written(made, tmp_path_factory) -> Path:
    """The report of a whole run."""
    folder = made.folder(tmp_path_factory.mktemp("runs") / "mvae-3", made.coherence() + made.others(), made.exhibits())
    write_run(folder)
    return folder / "report"


@pytest.fixture(scope="module")
def page(written) -> Reader:
    return Reader((written / "report.html").read_text())


def test_the_page_is_well_formed_and_self_contained(page, written):
    text = (written / "report.html").read_text()
    assert text.startswith("<!doctype html>")
    assert all(address.startswith("data:") for address in page.fetched)
    assert all(address.startswith("#") for address in page.links)
    assert {address[1:] for address in page.links} <= set(page.ids)
    assert len(page.ids) == len(set(page.ids))
    assert "script" not in page.tags
    assert "http" not in re.sub(r"base64,[^\"]*", "", text)
    assert not re.search(r"url\((?!#)|@import", text)
    assert len(text) < 3_000_000


def test_the_page_says_everything_that_was_recorded(page):
    for words in (
        "MVAE on CdSprites level 3",
        "From a caption it draws the right picture",
        "published",
        "Strangeness index",
        "not applicable: the model gives no importance weights",
        "Codes in the plane",
        "dimension 3",
        "molyneux run config.yaml",
        "latent_dim: 24",
        "AMD EPYC, 2 cores",
        "2.13.0",
        "prefers-color-scheme: dark",
    ):
        assert words in page.words
    assert page.tags.count("img") == 3 * 4 + 6 * 4 + 8 * 7  # the first picture, the gallery and the traversal


def test_right_and_wrong_are_told_in_words_and_marks(page):
    assert "\u2713 right" in page.words
    assert "\u2717 wrong" in page.words


def test_markdown_has_tables_readings_figures_and_the_way_to_repeat_it(written):
    text = (written / "report.md").read_text()
    assert text.startswith("# MVAE on CdSprites level 3\n")
    assert "| text → image | Strict, % | **47.3 (46.3\u201348.3)** |" in text
    assert "picture \u2717 (big blue heart)" in text
    assert "```\nmolyneux run config.yaml\n```" in text
    figures = re.findall(r"\]\((figures/[^)]+)\)", text)
    assert len(figures) == 4 + 3 + 3
    assert all((written / figure).is_file() for figure in figures)
    for block in re.split(r"\n\s*\n", text):
        rows = [len(re.findall(r"(?<!\\)\|", line)) for line in block.splitlines() if line.startswith("|")]
        assert len(set(rows)) <= 1


def test_formats_are_chosen_and_tables_become_files(run_folder):
    written = write_run(run_folder, formats=("csv", "latex"))
    names = {path.name for path in written}
    assert {"coherence.csv", "coherence.tex", "factors.csv", "reconstruction.tex", "novelty.csv"} <= names
    assert all(path.is_file() for path in written)
    assert not (run_folder / "report" / "report.html").exists()


def test_unknown_formats_are_all_named_before_anything_is_read(run_folder):
    with pytest.raises(ConfigError) as error:
        write_run(run_folder, formats=("htlm", "pdf", "csv"))
    assert len(error.value.problems) == 2
    assert 'did you mean "html"?' in error.value.problems[0]
    assert not (run_folder / "report").exists()


def test_the_same_records_give_the_same_bytes(written, run_folder):
    write_run(run_folder)
    again = run_folder / "report"
    first, second = ({path.relative_to(root): path.read_bytes() for path in root.rglob("*.*")} for root in (written, again))
    assert len(first) == 12
    assert first == second


def test_a_run_with_nothing_but_one_score_has_a_page(made, tmp_path):
    folder = made.folder(tmp_path / "bare", [Score("coherence", None, note="not applicable: it cannot decode")], [], {"seed": 3})
    for path in ("machine.json", "model/history.csv", "samples/spec.json"):
        (folder / path).unlink()
    write_run(folder)
    page = Reader((folder / "report" / "report.html").read_text())
    assert "not applicable: it cannot decode" in page.words
    assert "bare" in page.words


def test_words_of_records_cannot_break_the_page(made, tmp_path):
    evil = "</td><script>alert(1)</script> & \"quoted\" 'x' | `y`"
    scores = [Score("a.b", 1.0, {"factor": evil}, note=evil)]
    folder = made.folder(tmp_path / "evil", scores, [], {"name": evil})
    store.write_json(folder / "machine.json", {"cpu": evil})
    write_run(folder)
    page = Reader((folder / "report" / "report.html").read_text())
    assert "script" not in page.tags
    assert page.words.count(evil) >= 3


def test_large_galleries_are_cut_to_fit(made, tmp_path):
    noise = np.random.default_rng(0).integers(0, 256, (64, 3, 3, 64, 64), dtype=np.uint8)
    rows = tuple(tuple(Cell(view) for view in row) for row in noise)
    folder = made.folder(tmp_path / "large", made.coherence(), [Gallery("cross", "Noise", "", ("a", "b", "c"), rows)])
    write_run(folder, formats=("html",))
    text = (folder / "report" / "report.html").read_text()
    assert 1_900_000 < len(text) < 3_000_000
    assert re.search(r"The first \d+ of 64 rows\.", text)


def test_the_contact_sheet_is_shown_if_it_is_small(run_folder):
    (run_folder / "measure" / "exhibits.json").unlink()
    (run_folder / "model" / "history.csv").unlink()
    sheet = run_folder / "samples" / "contact_sheet.png"
    sheet.write_bytes(b"\x89PNG small")
    write_run(run_folder)
    assert "Samples of the world with their captions" in (run_folder / "report" / "report.html").read_text()
    assert "## Samples" not in (run_folder / "report" / "report.md").read_text()  # a heading with nothing under it
    sheet.write_bytes(b"\x89PNG" + bytes(700_000))
    write_run(run_folder, formats=("html",))
    assert "Samples of the world with their captions" not in (run_folder / "report" / "report.html").read_text()
