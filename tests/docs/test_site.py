"""The site: figures are those of the records, pictures exist, formulas become MathML, the order of the reference."""

import re
import runpy
from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = sorted(DOCS.rglob("*.md"))


@pytest.fixture
def script(monkeypatch):
    monkeypatch.syspath_prepend(DOCS)
    return lambda name: runpy.run_path(str(DOCS / f"{name}.py"))


def test_figures_are_those_of_the_records(script):
    figures = script("figures")
    stored = {path.stem: path.read_text(encoding="utf-8") for path in sorted(figures["FOLDER"].glob("*.svg"))}
    drawn = figures["drawings"]()
    assert sorted(stored) == sorted(drawn)
    for name, figure in drawn.items():
        assert stored[name] == figure, f"{name}.svg differs from the records: run make tables"


def test_pictures_of_pages_exist_and_are_small():
    used = set()
    for page in PAGES:
        for target in re.findall(r"!\[[^\]]+\]\(([^)#]+)\)", page.read_text(encoding="utf-8")):
            path = (page.parent / target).resolve()
            assert path.stat().st_size < 150_000, target
            used.add(path)
    assert {path for path in (DOCS / "assets").rglob("*.*") if path.suffix not in (".css", ".js")} == used, (
        "a picture that no page shows"
    )


def test_every_page_is_in_the_navigation():
    text = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    assert {str(page.relative_to(DOCS)) for page in PAGES} == set(re.findall(r"[:-] ([\w/-]+\.md)$", text, re.MULTILINE))


def test_nothing_is_fetched_when_a_page_is_viewed():
    text = (ROOT / "mkdocs.yml").read_text(encoding="utf-8") + (DOCS / "assets" / "site.css").read_text(encoding="utf-8")
    text += (DOCS / "assets" / "site.js").read_text(encoding="utf-8")
    assert "://" not in text
    assert re.search(r"^  font: false$", text, re.MULTILINE)


def test_formulas_become_mathml(script):
    pytest.importorskip("latex2mathml", reason="part of the extra docs")
    hooks = script("hooks")
    shown = hooks["on_page_content"](
        r'<p>a <span class="arithmatex">\(x &lt; y_m\)</span></p><div class="arithmatex">\[\frac{1}{2}\]</div>'
    )
    assert 'display="inline"' in shown
    assert "<msub><mi>y</mi><mi>m</mi></msub>" in shown
    assert re.search(r'<div class="formula" tabindex="0"><math [^>]*display="block">.*<mfrac>', shown)
    assert "arithmatex" not in shown
    page = shown_page(hooks, "understand/formulas.md")
    page += shown_page(hooks, "understand/formulas-of-measures.md")
    assert "## Metrics" in page
    assert page.count("## Models") == 1
    for block in re.findall(r"^\$\$$(.*?)^\$\$$", page, re.MULTILINE | re.DOTALL):
        assert "\\" not in hooks["convert"](block.strip()), block


def test_files_from_elsewhere_are_put_in_with_links_that_work(script):
    pytest.importorskip("latex2mathml", reason="part of the extra docs")
    page = shown_page(script("hooks"), "project/contributing.md")
    assert page.startswith("# Contributing\n")
    targets = re.findall(r"\]\(([\w/.-]+\.md)\)", page)
    assert targets
    for target in targets:
        assert (DOCS / "project" / target).exists(), target


def shown_page(hooks, name):
    """The text of a page with the files that it names."""
    page = SimpleNamespace(file=SimpleNamespace(src_uri=name), meta={})
    return hooks["on_page_markdown"]((DOCS / name).read_text(encoding="utf-8"), page=page)


def test_every_section_of_the_formulas_is_on_a_page(script):
    pytest.importorskip("latex2mathml", reason="part of the extra docs")
    hooks = script("hooks")
    shown = "".join(shown_page(hooks, f"understand/{name}.md") for name in ("formulas", "formulas-of-measures"))
    text = (ROOT / "src" / "molyneux" / "cli" / "formulas.md").read_text(encoding="utf-8")
    for heading in re.findall(r"^## .+$", text, re.MULTILINE):
        assert shown.count(f"{heading}\n") == 1, heading


def test_tables_of_results_say_how_to_cite_them(script):
    pytest.importorskip("latex2mathml", reason="part of the extra docs")
    page = shown_page(script("hooks"), "results/ynoc.md")
    assert "@misc{molyneux-chosen-ynoc-published," in page
    assert "molyneux sweep configs/studies/ynoc.yaml" in page
    assert page.count("Cite this table") == len(re.findall(r"<!-- end: (?:chosen|compared|leading)-", page))
    assert "Cite this table" not in shown_page(script("hooks"), "understand/robustness.md")


def test_old_addresses_lead_to_pages_that_exist(tmp_path, script):
    pytest.importorskip("latex2mathml", reason="part of the extra docs")
    script("hooks")["on_post_build"](config={"site_dir": str(tmp_path)})
    moved = yaml.safe_load((DOCS / "moved.yaml").read_text(encoding="utf-8"))
    assert moved["learn"].startswith("reference/learn")
    for old, new in moved.items():
        assert (DOCS / f"{new}.md").exists() or (DOCS / new / "index.md").exists(), new
        assert not (DOCS / f"{old}.md").exists(), f"{old} is a page again"
        leads = re.search(r'<a href="([^"]+)">', (tmp_path / old / "index.html").read_text(encoding="utf-8"))[1]
        assert (DOCS / old / leads).resolve() == DOCS / new


def test_the_reference_shows_the_classes_of_a_family_first(tmp_path, script):
    griffe = pytest.importorskip("griffe", reason="part of the extra docs")
    package = tmp_path / "pack"
    package.mkdir()
    (package / "__init__.py").write_text(
        "from pack.inner import BASE, Aside, Base, One, Two, helper\n"
        "__all__ = ['BASE', 'Aside', 'Base', 'One', 'Two', 'helper']\n"
    )
    (package / "inner.py").write_text(
        "from abc import ABC, abstractmethod\n"
        "BASE = 1\n"
        "class Aside: ...\n"
        "class Base(ABC):\n    @abstractmethod\n    def do(self): ...\n"
        "class One(Base):\n    def do(self): ...\n"
        "class Two(Base):\n    def do(self): ...\n"
        "def helper(): ...\n"
    )
    extensions = griffe.load_extensions(script("api")["FamiliesFirst"])
    module = griffe.GriffeLoader(search_paths=[tmp_path], extensions=extensions).load("pack")
    assert module.exports == ["One", "Two", "Base", "Aside", "helper", "BASE"]
    assert "__all__" not in module.members


def test_the_reference_knows_the_settings_of_dataclasses(tmp_path, monkeypatch):
    """What dataclasses are is found out before names of other projects, `dataclass` among them, are left out."""
    griffe = pytest.importorskip("griffe", reason="part of the extra docs")
    monkeypatch.chdir(ROOT)
    found = re.search(r"^            extensions: \[(.+)\]$", (ROOT / "mkdocs.yml").read_text(encoding="utf-8"), re.MULTILINE)
    extensions = griffe.load_extensions(*(name.strip() for name in found[1].split(",")))
    (tmp_path / "pack").mkdir()
    (tmp_path / "pack" / "__init__.py").write_text(
        "from dataclasses import dataclass\n__all__ = ['One']\n@dataclass(frozen=True)\nclass One:\n    width: int\n"
    )
    module = griffe.GriffeLoader(search_paths=[tmp_path], extensions=extensions).load("pack")
    assert [parameter.name for parameter in module["One"].parameters] == ["self", "width"]
    assert "dataclass" not in module.members


def test_warnings_of_the_site_are_counted():
    """With `--quiet`, mkdocs drops warnings before `--strict` counts them."""
    built = re.search(r"mkdocs build (.+)", (ROOT / "Makefile").read_text(encoding="utf-8"))[1].split()
    assert "--strict" in built
    assert not {"--quiet", "-q"} & set(built)


def test_the_citation_file_names_the_package():
    told = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert {"cff-version", "message", "title", "authors", "type", "license"} <= set(told)
    assert told["authors"] == [{"name": "The Molyneux developers"}]
