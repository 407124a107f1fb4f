"""One spelling, the British one, in prose and in names; what libraries and papers call things keeps their spelling."""

import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
STEMS = (
    r"(?:ini?tial|normal|standard|regular|maxim|minim|general|summar|visual|organ|recogn|parameter|parametr|random|synthes|optim|"
    r"util|emphas|raster|discret|categor|quant|real|stabil|serial|linear|local|final|equal)iz(?:e[drs]?|ing|ation)"
)
AMERICAN = re.compile(
    rf"\b(?:re|de|un)?(?:{STEMS}|(?:un|re|multi|dis)?colou?r(?<!our)(?:s|ed|ing)?|centers?|centered|centering|neighbors?|neighboring|"
    r"behaviors?|model(?:ed|ing)|label(?:ed|ing)|analyz(?:e[drs]?|ing)|favor(?:s|ed|ite|able)?|honor(?:s|ed)?|catalogs?|"
    r"cancel(?:ed|ing)|fulfill|traveled|artifacts?)\b",
    re.IGNORECASE,
)
PUBLISHED = (
    *("Generative Modeling", "image synthesizer", "colormap", "grayscale", "Normalizing Flows", "Batch Normalization"),
    *(
        "Layer Normalization",
        "Group Normalization",
        "Normalization in the Transformer",
        "Reparameterized",
        "Generalized",
        "Unlabeled",
        "Utilizing",
    ),
)
"""Parts of the titles of papers."""
LANGUAGE = ROOT / "src/molyneux/data/worlds/shapeworld/meaning/language"
WORDS_OF_PEOPLE = {
    *(LANGUAGE / f"{name}.py" for name in ("english", "english_of_people", "spelling", "synonyms", "fillers", "suggestions")),
    *(LANGUAGE / "of_people").glob("*.py"),
}
"""Read captions as people write them."""
PLACES = [
    *(path for path in sorted((ROOT / "src").rglob("*.py")) if path not in WORDS_OF_PEOPLE),
    *sorted((ROOT / "docs").rglob("*.md")),
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")),
]


def prose(path: Path) -> Iterator[tuple[int, str]]:
    """The lines of a page without code, or the docstrings and comments of a module."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".md":
        text = re.sub(r"```.*?```", lambda found: "\n" * found[0].count("\n"), text, flags=re.DOTALL)
        yield from enumerate(text.splitlines(), 1)
        return
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT or (token.type == tokenize.STRING and token.string.lstrip("rf").startswith('"""')):
            for number, line in enumerate(token.string.splitlines()):
                yield token.start[0] + number, line


def american(line: str) -> list[str]:
    """Words of the other spelling, outside of code, addresses and what is published under them."""
    plain = re.sub(r"^\s*\w+: |`[^`]*`|https?://\S+|\]\([^)]*\)|<[^>]*>|\$[^$]*\$|\w+=\S+|[\w.]+\.\w+", " ", line)
    for known in PUBLISHED:
        plain = plain.replace(known, " ")
    return AMERICAN.findall(plain)


@pytest.mark.parametrize("line", ["the color of a figure", "Normalized by the center", "# labeled samples"])
def test_the_other_spelling_is_found(line: str) -> None:
    assert american(line)


@pytest.mark.parametrize(
    "line", ["the colour, `color`", "`normalize` of torch", "size, raise, promise, noise, precise, four hours"]
)
def test_one_spelling_and_code_are_not(line: str) -> None:
    assert not american(line)


def test_prose_has_one_spelling() -> None:
    found = [
        f"{path.relative_to(ROOT)}:{number}: {words}"
        for path in PLACES
        for number, line in prose(path)
        if (words := american(line))
    ]
    assert not found, "\n".join(found)
