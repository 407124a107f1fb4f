"""Every benchmark runs and writes a record of which the documentation makes a table; what is compared does the same."""

import json
import math
import os
import platform
import re
import subprocess
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import numpy as np
import pytest
import torch

from molyneux.core import Batch, Modality, Progress, Spec
from molyneux.core.config import read_document
from molyneux.learn import MVAE
from molyneux.learn.encoders.nets import Dense
from molyneux.learn.training.hardware import has_bf16
from molyneux.run import read_experiment, run_experiment
from molyneux.run.studies.launch import LocalLauncher

ROOT = Path(__file__).parents[2]
BENCHMARKS = ROOT / "benchmarks"
SCRIPTS = sorted(path for path in BENCHMARKS.glob("*.py") if "def main()" in path.read_text(encoding="utf-8"))
CONTRASTS = {
    "accelerator": "times plain",
    "arithmetic": "times as fast as 32 bits",
    "commands": "import of torch, s",
    "digits": "times plain",
    "disentanglement": "naive, s",
    "evaluation": "one at a time, s",
    "generation": "times plain",
    "imperfections": "times plain",
    "judging": "views/s, one at a time",
    "likelihood": "loop, ms a sample",
    "modalities": "decoder calls a modality",
    "predictors": "times plain",
    "processes": "times less processor time in each",
    "products": "step / products",
    "scale": "times as fast as an order in memory",
    "scheduling": "plain: each read alone, ms a run",
    "sentences": "times plain",
    "stacked": "times as fast",
    "studio": "after / before",
    "sweep": "times as fast as one",
    "texts": "plain, ms",
    "trained": "times bare",
    "trainer": "bare loop, ms",
    "training": "times as fast as plain",
    "workers": "times as fast as one each",
}


AS_COMMAND = ("scale", "sentences")
"""Benchmarks that are run as a command; the others are called, which saves each of them the import of torch."""


def trained_here(script, monkeypatch):
    """One of the processes that the benchmark of the trainer starts is one of its own; the others are called."""
    whole, begun = script.ask, []

    def ask(sources, *arguments):
        begun.append(arguments)
        if len(begun) == 1:
            return whole(sources, *arguments)
        assert (sources, arguments[0]) == (ROOT / "src", "--child")
        return script.streamed(0.01, 3) if arguments[1] == "stream" else script.child(arguments[1], quick=True)

    monkeypatch.setattr(script, "ask", ask)


def swept_here(script, monkeypatch):
    """A sweep's runs need no processes of their own; those have tests of their own."""

    def run(launcher, job, report):
        run_experiment(read_experiment(read_document(job.config)), job.folder)
        return ""

    monkeypatch.setattr(LocalLauncher, "run", run)


IN_THIS_PROCESS = {"trainer": trained_here, "sweep": swept_here, "workers": swept_here}
"""What spares a benchmark most of its processes, which take longer to import all they need than to do it."""


@pytest.fixture
def imported(monkeypatch):
    """Import a file of the benchmarks; they import each other by plain names, which are forgotten in the end."""
    before = set(sys.modules)
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    yield lambda name: __import__(name)
    for name in set(sys.modules) - before:
        if str(getattr(sys.modules[name], "__file__", "")).startswith(str(BENCHMARKS)):
            del sys.modules[name]


@pytest.fixture
def tables(monkeypatch, tmp_path):
    monkeypatch.syspath_prepend(str(ROOT / "docs"))
    description = spec_from_file_location("tables", ROOT / "docs" / "tables.py")
    module = module_from_spec(description)
    description.loader.exec_module(module)
    monkeypatch.setattr(module, "ROOT", tmp_path)
    return module


IN_BF16 = ("arithmetic", "predictors")
"""Benchmarks of arithmetic in bf16, which say nothing without it: they run with the kernels of a processor that has it."""


def listed(path):
    """A benchmark; those that need bf16 arithmetic are marked."""
    lacks = pytest.mark.skipif(not has_bf16(), reason="compares with bf16 arithmetic, which is not here")
    if path.stem == "accelerator":
        lacks = pytest.mark.skipif(not torch.cuda.is_available(), reason="measures a CUDA device, which is not here")
        return pytest.param(path, id=path.stem, marks=lacks)
    return pytest.param(path, id=path.stem, marks=(pytest.mark.kernels, lacks) if path.stem in IN_BF16 else ())


def test_a_device_that_is_not_there_is_told(tmp_path, imported, monkeypatch, capsys):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(sys, "argv", ["accelerator.py", "--out", str(tmp_path)])
    imported("accelerator").main()
    assert capsys.readouterr().out == "accelerator: expected a CUDA device, got none that torch can use: nothing is measured\n"
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("script", [listed(path) for path in SCRIPTS])
def test_a_quick_run_writes_a_record_that_makes_a_table(script, tmp_path, tables, imported, monkeypatch):
    results = tmp_path / "benchmarks" / "results"
    quick = ["--quick", "--out", str(results)]
    if script.stem in AS_COMMAND:
        run = [sys.executable, str(script), *quick]
        done = subprocess.run(run, capture_output=True, text=True, env={**os.environ, "OMP_NUM_THREADS": "1"}, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        assert "Warning" not in done.stderr
    else:  # in this process, which has imported everything already
        monkeypatch.setattr(sys, "argv", [str(script), *quick])
        monkeypatch.chdir(tmp_path)
        threads = torch.get_num_threads()
        module = imported(script.stem)
        IN_THIS_PROCESS.get(script.stem, lambda *_: None)(module, monkeypatch)
        module.main()
        torch.set_num_threads(threads)
    assert [path.name for path in results.iterdir()] == [f"{script.stem}.json"]
    text = (results / f"{script.stem}.json").read_text(encoding="utf-8")
    record = json.loads(text)
    check_form(record)
    private = (platform.node(), str(Path.home()), str(tmp_path), str(ROOT))
    assert not any(word in text for word in private if len(word) > 1)
    assert any(CONTRASTS[script.stem] in row for row in record["rows"]), "no row compares with the plain version"
    lines = tables.benchmark(script.stem).splitlines()
    assert lines[0] == record["what"] + "."
    assert len([line for line in lines if line.startswith("|")]) == len(record["rows"]) + 2
    assert len({line.count("|") for line in lines if line.startswith("|")}) == 1
    assert "cores" in lines[-1]


def check_form(record):
    assert set(record) == {"what", "machine", "rows"}
    assert isinstance(record["what"], str)
    assert all(isinstance(word, str) for word in record["machine"].values())
    assert record["rows"]
    for row in record["rows"]:
        for value in row.values():
            assert isinstance(value, str) or math.isfinite(value)


def test_every_benchmark_has_its_place_in_the_documentation():
    page = (ROOT / "docs" / "results" / "benchmarks.md").read_text(encoding="utf-8")
    places = re.findall(r"<!-- begin: benchmark-(\w+) -->", page)
    names = [path.stem for path in SCRIPTS]
    recorded = {path.stem for path in (ROOT / "benchmarks" / "results").glob("*.json")}
    assert names == sorted(CONTRASTS)
    assert all(f"`benchmarks/{name}.py`" in page for name in names)
    assert sorted(places) == sorted(recorded)  # what has no record yet says so
    assert page.count("There is no record of it yet.") == len(names) - len(places)
    assert all(f"`benchmarks/{name}.py`" in page for name in places)


def test_nothing_is_shown_of_a_benchmark_that_was_not_run(tables):
    assert tables.benchmark("training") == ""


@pytest.mark.parametrize("count", [1, 2, 3])
def test_the_plain_way_computes_the_same_loss_and_gradient_with_more_calls(imported, count):
    training = imported("training")
    spec = Spec(tuple(Modality(f"sense{number}", "tabular", (5,)) for number in range(count)))
    batch = Batch({name: torch.randn(8, 5, generator=torch.Generator().manual_seed(3)) for name in spec.names})
    scales = {name: 0.5 + index for index, name in enumerate(spec.names)}
    nets = dict.fromkeys(spec.names, Dense(width=16))
    model = MVAE(spec, latent_dim=16, nets=nets, scales=scales, subsets="all", reconstruct="all")
    losses, gradients = [], []
    for way in (model, training.Plain(model)):
        model.zero_grad()
        loss = way.loss(batch, Progress(0, 1), torch.Generator().manual_seed(4)).total
        loss.backward()
        losses.append(loss.detach())
        gradients.append(torch.cat([parameter.grad.flatten() for parameter in model.parameters()]))
    torch.testing.assert_close(*losses)
    torch.testing.assert_close(*gradients, rtol=1e-4, atol=1e-5)
    subsets = 2**count - 1
    assert training.calls(model, batch) == {"encoder calls": count, "decoder calls": count}
    plain = {"encoder calls": count * 2 ** (count - 1), "decoder calls": count * subsets}
    assert training.calls(training.Plain(model), batch) == plain


def test_the_plain_way_with_texts_computes_the_same_loss_and_gradient(imported):
    texts = imported("texts")
    case = texts.CASES[0]
    model, batch = case.lstm(), case.world.batch(np.arange(40), split="train", seed=1)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.1 * torch.randn_like(parameter))
    losses, gradients = [], []
    for way in (model, texts.Plain(model)):
        model.zero_grad()
        loss = way.loss(batch, Progress(0, 1), torch.Generator().manual_seed(4)).total
        loss.backward()
        losses.append(loss.detach())
        gradients.append(torch.cat([parameter.grad.flatten() for parameter in model.parameters()]))
    torch.testing.assert_close(*losses)
    torch.testing.assert_close(*gradients, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", ["CNN:LSTM", "relation network"])
def test_the_plain_predictors_compute_the_same(imported, name):
    predictors = imported("predictors")
    torch.manual_seed(0)
    model = predictors.MODELS[name](predictors.spec(16))
    batch = predictors.samples(4, 16)
    before = {key: answer.logits for key, answer in model.eval().predict(batch).items()}
    model.__class__ = predictors.MODELS[f"{name}, plain"]
    torch.testing.assert_close(model.predict(batch)["agree"].logits, before["agree"], rtol=1e-4, atol=1e-5)


def test_peak_memory_counts_what_is_alive_at_the_same_time(imported):
    timing = imported("timing")
    mebi = 2**18

    def work():
        first = torch.zeros(3 * mebi)
        del first
        second, third = torch.zeros(2 * mebi), torch.zeros(4 * mebi)
        return second, third

    (second, third), peak = timing.peak_memory(work)
    assert peak == pytest.approx(6, abs=0.01)
    assert len(second) + len(third) == 6 * mebi


def test_times_are_medians_without_the_first_call(imported):
    timing = imported("timing")
    calls = {"a": 0, "b": 0}

    def work(name):
        calls[name] += 1

    works = {name: lambda name=name: work(name) for name in calls}
    assert all(seconds >= 0 for seconds in timing.interleaved(works, rounds=3, seconds=0.0).values())
    assert calls == {"a": 4, "b": 4}
    timing.interleaved(works, rounds=2, seconds=0.0, warm=True)
    assert calls == {"a": 6, "b": 6}


@pytest.mark.parametrize(("value", "expected"), [(1234.5, 1234), (99.96, 100), (0.0123456, 0.0123), (0.0, 0), (7, 7), ("a", "a")])
def test_numbers_are_kept_with_three_digits(imported, value, expected):
    assert imported("record").rounded(value) == expected


def test_noise_on_series_is_compared_with_a_loop_over_samples(imported):
    imperfections = imported("imperfections")
    first = next(imperfections.series_rows(300, rounds=3, seconds=0.05))
    assert (first["corruption"], first["of"]) == ("gaussian-noise", "series")
    assert first["times plain"] > 0  # how many times is for the record of the benchmark: no test asserts a time
