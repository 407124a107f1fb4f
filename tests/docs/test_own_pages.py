"""The pages on what users bring run from their first block to their last, in an empty folder."""

import os
import re
import shlex
import sys
from pathlib import Path

import pytest
import torch

from molyneux.run.run.report import read_scores

ROOT = Path(__file__).parents[2]
PAGES = sorted(
    page
    for pattern in ("your-own-*.md", "measure-your-*.md", "probe-your-*.md")
    for page in (ROOT / "docs" / "how-to").glob(pattern)
)
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```", re.MULTILINE | re.DOTALL)
NAMED = re.compile(r"# ([\w-]+\.(?:py|yaml))( \(needs MOLYNEUX_DATA\))?\n")
SMALL = {
    "check": [],
    "run": shlex.split("--data.train 200 --data.validation 20 --data.test 24 --learn.steps 4 --learn.batch_size 16 --quiet"),
    "judge": shlex.split("--samples 64 --quiet"),
    "measure": [],
    "export": [],
}
MODEL = shlex.split("--data.train 300 --data.test 100 --quiet")
"""What makes the commands short."""


def test_there_are_seven() -> None:
    assert [page.stem for page in PAGES] == [
        "measure-your-own-model",
        "probe-your-vision-language-model",
        "your-own-data",
        "your-own-fusion-problem",
        "your-own-measure",
        "your-own-model",
        "your-own-training-loop",
    ]


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_blocks_run_in_order(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path, str(tmp_path)])
    before = set(sys.modules)
    namespace: dict[str, object] = {"__name__": "page"}
    ran = 0
    try:
        for number, (language, code) in enumerate(BLOCK.findall(page.read_text(encoding="utf-8"))):
            named = NAMED.match(code)
            if named:
                (tmp_path / named[1]).write_text(code, encoding="utf-8")
                if named[2] and "MOLYNEUX_DATA" not in os.environ:
                    continue
            if language == "python" and (named is None or named[1].startswith("make_")):
                exec(compile(code, f"{page.name}, block {number + 1}", "exec"), namespace)
            for line in code.splitlines() if language == "bash" else ():
                assert called(shlex.split(line)) == 0, capsys.readouterr().err
                ran += 1
    finally:
        for name in set(sys.modules) - before:
            if str(getattr(sys.modules[name], "__file__", "") or "").startswith(str(tmp_path)):
                del sys.modules[name]
    assert ran


@pytest.mark.slow
@pytest.mark.realdata
@pytest.mark.skipif("MOLYNEUX_DATA" not in os.environ, reason="needs MOLYNEUX_DATA")
def test_digits_of_mnist_with_words_get_a_strict_score(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The block that makes the data, the file and the two commands of the page, on a part of the samples and with few steps."""
    text = (ROOT / "docs" / "how-to" / "your-own-data.md").read_text(encoding="utf-8")
    blocks = {named[1]: code for _, code in BLOCK.findall(text) if (named := NAMED.match(code))}
    monkeypatch.chdir(tmp_path)
    exec(compile(blocks["make_mnist.py"], "make_mnist.py", "exec"), {"__name__": "page"})
    (tmp_path / "mnist.yaml").write_text(blocks["mnist.yaml"], encoding="utf-8")
    judge, run = re.findall(r"`(molyneux (?:judge|run) mnist\.yaml[^`]*)`", text)
    assert called(shlex.split(judge), [*shlex.split("--samples 4000 --quiet")]) == 0
    small = shlex.split("--data.train 2000 --data.validation 100 --data.test 400 --learn.steps 40 --quiet")
    assert called(shlex.split(run), small) == 0
    scores = {
        (score.name, score.about.get("source"), score.about.get("target")): score for score in read_scores(Path("runs/mnist"))
    }
    strict = scores["coherence.strict", "text", "image"]
    assert strict.value is not None
    assert 0 <= strict.value <= 100
    assert strict.chance == pytest.approx(10, abs=0.5)
    assert strict.controls["judge ceiling"] > 50
    assert scores["coherence.strict", "image", "text"].value is not None


def called(words: list[str], settings: list[str] | None = None) -> int:
    """Exit status of a command, made short, in this process."""
    from molyneux.cli import main

    assert words[0] == "molyneux"
    short = settings or (MODEL if "--model" in words else SMALL[words[1]])
    threads = torch.get_num_threads()
    try:
        return main([*words[1:], *short])
    finally:
        torch.set_num_threads(threads)
