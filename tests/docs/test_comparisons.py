"""What pages compare: methods that differ in nothing else, measures of the published system, authors' code that exists."""

import re
from pathlib import Path

import pytest

from molyneux.report import load_records
from molyneux.run import load_study as load_settings

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
RECIPE = ("optimizer", "learning_rate", "clip", "epochs", "batch_size", "weight_decay", "schedule", "warmup_steps")


def page_of(name: str) -> str:
    """A page, with the minus signs of numbers as Python reads them."""
    return (DOCS / name).read_text(encoding="utf-8").replace("\N{MINUS SIGN}", "-")


def settings_of(name: str) -> dict[int, dict[str, object]]:
    """By seed, how a method of the study of digits was trained."""
    runs = load_records(ROOT / "studies" / "results" / "av-mnist")
    return {run.seed: {key: run.settings[f"learn.{key}"] for key in RECIPE} for run in runs if run.settings["name"] == name}


def test_the_page_of_digits_compares_gradient_blending_with_late_fusion_of_the_same_optimiser() -> None:
    page = page_of("results/av-mnist.md")
    compared = re.search(r"^\| GradBlend less (\S+) \| ([-\d.]+) \| ([-\d.]+) to ([-\d.]+) \|", page, re.MULTILINE)
    assert compared, "the first comparison of GradBlend"
    other, difference, low, high = compared.groups()
    assert settings_of("GradBlend") == settings_of(other)
    assert len(settings_of(other)) == 3
    apart = float(low) > 0 or float(high) < 0
    assert float(difference) > 0
    assert apart or "**GradBlend and late fusion with the same optimiser are not apart.**" in page


def test_the_search_of_recipes_gives_every_method_both_optimisers_and_the_same_rest() -> None:
    study = load_settings(ROOT / "configs" / "studies" / "av-mnist-recipes.yaml")
    methods: dict[str, dict[str, dict[str, object]]] = {}
    for name, values in study.variants.items():
        method, _, optimiser = name.rpartition("-")
        changed = dict(values)
        assert str(changed.pop("learn.optimizer")) == optimiser.lower()
        methods.setdefault(method, {})[optimiser] = changed
    assert len(methods) >= 5
    for found in methods.values():
        assert set(found) == {"Adam", "SGD"}
        assert found["Adam"] == found["SGD"]
        assert not [path for path in found["Adam"] if path.startswith("learn.") and not path.startswith("learn.model.")]


@pytest.mark.parametrize(("study", "baseline"), [("av-mnist", "LF"), ("stocks", "LF-LSTM")])
def test_the_page_of_robustness_has_relative_and_effective_robustness_of_every_method_on_record(
    study: str, baseline: str
) -> None:
    page = page_of("understand/robustness.md")
    names = {run.settings["name"] for run in load_records(ROOT / "studies" / "results" / study)}
    tables = re.findall(rf"<!-- begin: robust-{study}\S* -->(.*?)<!-- end", page, re.DOTALL)
    assert tables
    for table in tables:
        head = next(line for line in table.splitlines() if line.startswith("| method"))
        assert "relative, " in head
        assert "effective, " in head
        rows = {line.split("|")[1].strip(): line for line in table.splitlines() if line.startswith("| ")}
        numbers = re.findall(r"-?\d+\.\d+", rows[baseline])
        assert numbers
        assert {float(number) for number in numbers} == {0.0}
    found = {row for table in tables for row in re.findall(r"^\| (\S[^|]*?) \|", table, re.MULTILINE)}
    assert names <= found


def test_the_page_of_robustness_has_the_aggregate_over_tasks_of_the_published_system() -> None:
    page = page_of("understand/robustness.md")
    (table,) = re.findall(r"<!-- begin: methods-\S+ -->(.*?)<!-- end", page, re.DOTALL)
    assert re.search(r"^\| \S[^|]* \| -?\d", table, re.MULTILINE)


def test_no_description_denies_code_that_its_authors_published() -> None:
    """A sentence that something was never published is not one that stays true: say what was followed instead."""
    denial = re.compile(
        r"(authors|they|paper)\s+(have\s+)?(published|released)\s+(none|no\s+code|nothing)|never\s+(published|released)"
    )
    files = [*(ROOT / "src").rglob("*.py"), *DOCS.rglob("*.md"), ROOT / "README.md"]
    found = [str(path.relative_to(ROOT)) for path in files if denial.search(" ".join(path.read_text(encoding="utf-8").split()))]
    assert not found
    assert "https://github.com/epalu/CMVAE" in (ROOT / "src/molyneux/learn/vaes/cmvae.py").read_text(encoding="utf-8")
