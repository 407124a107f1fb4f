"""README and pages are as short and plain as the check of prose asks, and the check finds what is not."""

import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CHECK = runpy.run_path(str(ROOT / "docs" / "prose.py"))
LONG = " ".join(["word"] * 31)


def test_readme_and_pages_are_plain() -> None:
    assert list(CHECK["problems"]()) == []


@pytest.fixture
def site(tmp_path: Path) -> Path:
    for folder in ("docs/how-to", "docs/results"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "README.md").write_text("# A name\n\nShort.\n")
    return tmp_path


@pytest.mark.parametrize(
    ("page", "text", "told"),
    [
        ("README.md", f"{LONG}.\n", "a sentence of 31 words, at most 30"),
        ("README.md", "line\n" * 121, "121 lines"),
        ("README.md", "| a table that goes on |\n" * 10 + "x" * 6000 + "\n", "characters; at most 120 and 6000"),
        ("docs/how-to/a.md", f"{LONG} {LONG}.\n", "a sentence of 62 words, at most 40"),
        ("docs/how-to/a.md", "We leverage it.\n", "'leverage': write use"),
        ("docs/results/a.md", "# A study\n\nIt began long ago.\n", "it does not open with its answer"),
        (
            "docs/results/a.md",
            "# A\n\n<!-- begin: answer-a -->\n<!-- end: answer-a -->\n" + "Word. " * 1501,
            "1502 words, at most 1500",
        ),
    ],
)
def test_what_is_wrong_is_told(site: Path, page: str, text: str, told: str) -> None:
    (site / page).write_text(text)
    assert told in "\n".join(CHECK["problems"](site))


def test_tables_and_code_are_not_prose(site: Path) -> None:
    (site / "docs/how-to/a.md").write_text(f"```bash\n{LONG} {LONG}\n```\n\n| {LONG} {LONG} |\n")
    assert list(CHECK["problems"](site)) == []
