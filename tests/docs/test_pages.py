"""What the README and the documentation tell the reader to do is done: Python blocks run, commands run, make targets exist."""

import gzip
import importlib
import re
import runpy
import shlex
import struct
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import soundfile
import torch
from scipy.io import wavfile

from molyneux.core import Score
from molyneux.report import StudyRun
from molyneux.report.published import published

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
OWN = (
    "measure-your-own-model",
    "probe-your-vision-language-model",
    "your-own-data",
    "your-own-fusion-problem",
    "your-own-measure",
    "your-own-model",
    "your-own-training-loop",
)
"""Pages whose blocks need each other: see `test_own_pages`."""
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```", re.MULTILINE | re.DOTALL)
SMALL = shlex.split("--data.train 256 --data.validation 64 --data.test 64 --learn.steps 8 --learn.batch_size 32 --quiet")
SHORT_FIT = shlex.split("--learn.model.init_args.diffusion.after.steps 1")


def blocks(page, language):
    return [code for found, code in BLOCK.findall(page.read_text(encoding="utf-8")) if found == language]


def commands():
    """Every command of every page, those that several pages show once."""
    found = {}
    for page in PAGES:
        for block in () if page.stem in OWN else blocks(page, "bash"):
            for line in block.replace("\\\n", " ").splitlines():
                words = shlex.split(line, comments=True)
                if words:
                    found.setdefault(tuple(words), page.stem)
    return [pytest.param(list(words), id=f"{page}: {' '.join(words)}") for words, page in found.items()]


def with_blocks(language):
    return [pytest.param(page, id=page.stem) for page in PAGES if blocks(page, language) and page.stem not in OWN]


@pytest.fixture
def workplace(tmp_path, monkeypatch):
    for name in ("configs", "studies", "docs"):
        (tmp_path / name).symlink_to(ROOT / name)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def published_parts(tmp_path, monkeypatch):
    """Small twins of the files that AV-MNIST and spoken digits are built from, where `MOLYNEUX_DATA` names them."""
    from molyneux.data.benchmarks.av_mnist import pairs
    from molyneux.data.benchmarks.digits import images as digits

    root, rng = tmp_path / "parts", np.random.default_rng(0)
    for part in ("mnist", "fsdd/recordings", "esc-10/rain"):
        (root / part).mkdir(parents=True)
    for names, count in ((digits.FILES[:2], 260), (digits.FILES[2:], 40)):
        for name, shape in zip(names, ((count, 28, 28), (count,)), strict=True):
            array = rng.integers(0, 256 if len(shape) > 1 else 10, shape).astype(np.uint8)
            head = struct.pack(f">{1 + array.ndim}I", 0x0800 + array.ndim, *array.shape)
            (root / "mnist" / name).write_bytes(gzip.compress(head + array.tobytes()))
    for digit in range(10):
        for take in (0, 5, 40):
            sound = (3000 * np.sin(np.arange(3000) * (digit + 1) / 20)).astype(np.int16)
            wavfile.write(root / "fsdd/recordings" / f"{digit}_ann_{take}.wav", 8000, sound)
    for fold in range(1, 6):
        path = root / "esc-10/rain" / f"{fold}-{fold}00-A.ogg"
        soundfile.write(path, rng.normal(0, 0.1, 90_000), 44_100, format="OGG", subtype="VORBIS")
    monkeypatch.setattr(pairs, "_VALIDATION", 60)
    monkeypatch.setenv("MOLYNEUX_DATA", str(root))


@pytest.mark.slow
@pytest.mark.parametrize("page", with_blocks("python"))
def test_python_blocks_run_one_after_another(page, workplace, published_parts):
    namespace = {"__name__": "page"}
    for number, code in enumerate(blocks(page, "python")):
        exec(compile(code, f"{page.name}, block {number + 1}", "exec"), namespace)


@pytest.mark.slow
@pytest.mark.parametrize("words", commands())
def test_commands_run(words, workplace, monkeypatch, capsys):
    if words[0] == "make":
        subprocess.run(["make", "-n", "-C", str(ROOT), *words[1:]], check=True, capture_output=True)
        return
    monkeypatch.setattr(sys, "path", [*sys.path])
    if words[0] == "python":  # a script of a study trains for minutes: only its options are checked
        monkeypatch.setattr(sys, "argv", [words[1], "--help"])
        monkeypatch.syspath_prepend(str(Path(words[1]).resolve().parent))
        with pytest.raises(SystemExit, match="0"):
            runpy.run_path(words[1], run_name="__main__")
        told = capsys.readouterr().out
        assert all(word in told for word in words[2:] if word.startswith("--"))
        return
    assert words[0] == "molyneux", f"this test does not know how to run the command {words}"
    if words[1] == "sweep":  # every study of that folder is checked with the configurations
        assert words[2] in {str(path) for path in Path("configs/studies").glob("*.yaml")}
        return
    if words[1] == "judge":
        pytest.skip("trains for many minutes; the judges' own tests train a small one")
    small = [*SMALL, *(SHORT_FIT if "after:" in Path(words[2]).read_text(encoding="utf-8") else [])] if words[1] == "run" else []
    assert called([*words[1:], *small]) == 0, capsys.readouterr().err
    assert "Warning" not in capsys.readouterr().err


def called(words):
    """Exit status of a command, called in this process, which has imported everything already."""
    from molyneux.cli import main

    threads = torch.get_num_threads()
    try:
        return main(words)
    except SystemExit as stop:  # `--help`
        return stop.code or 0
    finally:
        torch.set_num_threads(threads)


@pytest.mark.parametrize("page", with_blocks("yaml"))
def test_yaml_blocks_are_experiments(page, workplace):
    from molyneux.run import load_experiment

    for number, code in enumerate(blocks(page, "yaml")):
        path = workplace / f"block{number}.yaml"
        path.write_text(code)
        assert load_experiment(path).name == f"block{number}"


def test_every_package_has_its_page():
    pages = "".join(page.read_text(encoding="utf-8") for page in PAGES)
    for package in ("core", "data", "learn", "measure", "report", "run"):
        assert f"::: molyneux.{package}\n" in pages


DIRECTIVE = re.compile(
    r"^::: (molyneux[\w.]*)\n(?:    options:\n)?(?:      (?!members)\S.*\n)*(?:      members: \[(.*)\])?", re.MULTILINE
)


def test_every_public_name_is_documented_once_in_its_package():
    text = "".join(page.read_text(encoding="utf-8") for page in PAGES)
    found = DIRECTIVE.findall(text)
    rooms = {f"molyneux.{room}" for room in ("core", "data", "learn", "measure", "report", "run")}
    shown = {name for module, members in found for name in (members.split(", ") if module in rooms else public_names(module))}
    for room in sorted(rooms):
        parts = [members.split(", ") for module, members in found if module == room]
        assert sorted(name for part in parts for name in part) == sorted(public_names(room)), room
    for init in sorted((ROOT / "src" / "molyneux").glob("*/**/__init__.py")):
        package = ".".join(init.parent.relative_to(ROOT / "src").parts)
        if not package.startswith("molyneux.cli"):
            assert set(public_names(package)) <= shown, package


def public_names(module):
    return getattr(importlib.import_module(module), "__all__", ())


@pytest.mark.slow
def test_tables_are_those_of_the_records(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "docs")
    tables = runpy.run_path(str(ROOT / "docs" / "tables.py"))
    assert [problem for page in tables["PAGES"] for problem in tables["problems"](page)] == []


def test_empty_tables_are_found(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "docs")
    tables = runpy.run_path(str(ROOT / "docs" / "tables.py"))
    page = tmp_path / "page.md"
    page.write_text("<!-- begin: study-nobody -->\n<!-- end: study-nobody -->\n")
    (problem,) = tables["problems"](page, tmp_path)
    assert problem == (
        "page.md: the table study-nobody is empty, it has no records: run molyneux sweep configs/studies/nobody.yaml"
    )


def test_measures_and_models_of_a_study_are_compared(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "docs")
    pages = runpy.run_path(str(ROOT / "docs" / "comparisons.py"))
    models, about = {"a": 3.0, "b": 2.0, "c": 1.0, "d": 0.0}, {"source": "text", "code": "shared"}

    def run(name, seed):
        level = models[name] + 0.1 * seed
        rows = [Score(f"disentanglement.{metric}", level, {**about, "variant": "published"}) for metric in pages["METRICS"]]
        rows += [Score(f"disentanglement.{metric}", -level, {**about, "variant": "recommended"}) for metric in pages["METRICS"]]
        return StudyRun({"name": name, "seed": seed}, (*rows, Score("code_use.distortion", level, dict(pages["USE"][1][1]))))

    runs = [run(name, seed) for name in models for seed in (1, 2)]
    assert pages["best_by"](runs, ("disentanglement.mig", {**about, "variant": "published"})) == "a"
    assert pages["best_by"](runs, ("disentanglement.mig", {**about, "variant": "recommended"})) == "d"
    counted = pages["top_three"](runs, None).splitlines()[2:]
    assert counted == ["| a |  | 6 | 0 |", "| b |  | 6 | 6 |", "| c |  | 6 | 6 |", "| d |  | 0 | 6 |"]
    names = {"a": "CCI-10", "b": "AE"}
    named = [StudyRun({**run.settings, "name": names.get(run.settings["name"], "mine")}, run.scores) for run in runs]
    counted = pages["top_three"](named, published("ynoc", "")).splitlines()[2:]
    assert counted == ["| CCI-10 | 2 | 6 | 6 |", "| AE | 1 | 6 | 6 |", "| mine |  | 6 | 6 |"]
    rows = {line.split(" | ")[0].strip("| "): line for line in pages["correlations"](runs).splitlines()[2:]}
    assert rows["Higgins"].count(" 1.00") == 5
    assert rows["Higgins"].count("-1.00") == 1  # with minus the distortion
    assert rows["-Distortion"].count(" 1.00") == 6
    assert "-1.00" not in rows["-Distortion"]


def test_the_parts_of_dci_are_one_number_that_is_low_where_one_of_them_is(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "docs")
    pages = runpy.run_path(str(ROOT / "docs" / "comparisons.py"))

    def run(name, seed, *parts):
        scores = (Score(part, value, dict(about), chance=0.25) for (part, about), value in zip(pages["DCI"], parts, strict=True))
        return StudyRun({"name": name, "seed": seed}, tuple(scores))

    runs = [run("a", 1, 1.0, 0.8, 0.1), run("a", 2, 1.0, 0.5, 1.0), run("b", 1, None, 0.0, 0.9), run("b", 2, 1.0, 0.0, 0.9)]
    found = [(1.0 * 0.8 * 0.1) ** (1 / 3), (1.0 * 0.5 * 1.0) ** (1 / 3)]
    assert found == pytest.approx([0.4309, 0.7937], abs=1e-4)
    assert pages["dci_together"](runs).splitlines()[2:5] == [
        "| a | 0.61 (0.00\N{EN DASH}1.00) |",
        "| b | 0.00 (0.00\N{EN DASH}0.00) |",
        "| chance | 0.25 |",
    ]


def test_costs_of_a_study_are_added_up(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "docs")
    cost_table = runpy.run_path(str(ROOT / "docs" / "costs.py"))["cost_table"]
    where = {"processor": "Abacus", "cores": 2, "gpu": None, "threads": 1}
    rows = [{"name": "a", "steps": 1000, "seconds": 60.0, **where}, {"name": "a", "steps": 1000, "seconds": 90.0, **where}]
    rows += [{"name": "b", "steps": 2000, "seconds": 30.0, **where}]
    lines = cost_table(rows).splitlines()
    assert lines[2:5] == [
        "| a | 2 | 1,000 | 1.0 to 1.5 | 2.5 |",
        "| b | 1 | 2,000 | 0.5 | 0.5 |",
        "| all | 3 | 1,000 to 2,000 | 0.5 to 1.5 | 3.0 |",
    ]
    assert lines[-1] == "Measured on Abacus, 2 cores; threads of a training: 1."
    assert cost_table(rows[:1]).splitlines()[2:] == ["| a | 1 | 1,000 | 1.0 | 1.0 |", "", lines[-1]]
    assert cost_table([]) == ""
