"""The prose of README and site: lengths of sentences and pages, plain words, British spelling, answers first.

python docs/prose.py

says what is wrong, one line each, and exits with 1; run by `make lint`.
"""

from __future__ import annotations

import re
import runpy
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
LINES, CHARACTERS = 120, 6000
"""The most of the README."""
SENTENCE = {"README.md": 30, "docs/how-to": 40}
"""The most words of a sentence, by file or folder."""
STUDY = 1500
"""The most words of a page of results, without tables, code and what is generated."""
NO_STUDIES = ("benchmarks", "index", "leaderboard")
PLAIN = {
    "utilise": "use",
    "leverage": "use",
    "in order to": "to",
    "prior to": "before",
    "facilitate": "help",
    "state-of-the-art": "the best published",
    "cutting-edge": "new",
    "seamless": "",
    "seamlessly": "",
    "robustly": "",
    "plethora": "many",
    "myriad": "many",
    "holistic": "whole",
    "delve": "look",
    "due to the fact that": "because",
    "it should be noted that": "",
    "note that": "",
    "very": "",
    "simply": "",
}
"""Words that a shorter one says, or none."""
_GENERATED = re.compile(r"<!-- begin: (?P<name>[\w.+-]+) -->\n.*?<!-- end: (?P=name) -->", re.DOTALL)
_CODE = re.compile(r"^```.*?^```", re.DOTALL | re.MULTILINE)
_HEAD = re.compile(r"\A---\n.*?\n---\n", re.DOTALL)


def prose(text: str, *, generated: bool = False) -> str:
    """A page without code, tables, comments and, unless asked for, what is generated."""
    text = _CODE.sub("", _HEAD.sub("", text))
    if not generated:
        text = _GENERATED.sub("", text)
    text = re.sub(r"<!--.*?-->", "", text)
    text = re.sub(r"^(\||:::|    ).*$", "", text, flags=re.MULTILINE)
    text = re.sub(r"!?\[([^\]]*)\](?:\([^)]*\)|\[[^\]]*\])", r"\1", text)
    return re.sub(r"<[^>]+>", "", text)


def sentences(text: str) -> Iterator[str]:
    """The sentences of a page: list items, headings and paragraphs end one."""
    blocks = re.split(r"\n\s*\n|\n(?=\s*(?:[-*>] |\d+\. |#))", text)
    for block in blocks:
        words = " ".join(block.split())
        yield from (part for part in re.split(r"(?<=[.!?:])\**\s+(?=[\"'(*`A-Z])", words) if part)


def words(text: str) -> list[str]:
    """Words of a text; marks and numbers between them count as none, code in it as one."""
    return re.findall(r"[^\W\d_][\w'’.-]*", re.sub(r"`[^`]*`", "code", text))  # noqa: RUF001


def problems(root: Path = ROOT) -> Iterator[str]:
    """What is wrong, one line each."""
    readme = (root / "README.md").read_text(encoding="utf-8")
    if readme.count("\n") > LINES or len(readme) > CHARACTERS:
        yield f"README.md: {readme.count(chr(10))} lines, {len(readme)} characters; at most {LINES} and {CHARACTERS}"
    for path in [root / "README.md", *sorted((root / "docs").rglob("*.md"))]:
        name = str(path.relative_to(root))
        text = path.read_text(encoding="utf-8")
        most = next((count for place, count in SENTENCE.items() if name.startswith(place)), None)
        for sentence in sentences(prose(text, generated=True)) if most else ():
            if len(words(sentence)) > most:
                yield f"{name}: a sentence of {len(words(sentence))} words, at most {most}: {sentence[:70]} ..."
        plain = prose(text).lower()
        for word, instead in PLAIN.items():
            if re.search(rf"\b{word}\b", plain):
                yield f"{name}: {word!r}: write {instead or 'nothing'}"
        if name.startswith("docs/results/") and path.stem not in NO_STUDIES:
            if (count := len(words(prose(text)))) > STUDY:
                yield f"{name}: {count} words, at most {STUDY}"
            if not re.match(rf"# .+\n\n<!-- begin: answer-{re.escape(path.stem)} -->\n", _HEAD.sub("", text).lstrip("\n")):
                yield f"{name}: it does not open with its answer"
    spelling = runpy.run_path(str(ROOT / "tests" / "house" / "test_spelling.py"))
    for path in [root / "README.md", *sorted((root / "docs").rglob("*.md"))]:
        for number, line in spelling["prose"](path):
            if found := spelling["american"](line):
                yield f"{path.relative_to(root)}:{number}: {', '.join(found)}: British spelling"


if __name__ == "__main__":
    wrong = list(problems())
    print("\n".join(wrong), end="\n" if wrong else "")
    sys.exit(1 if wrong else 0)
