"""A process of a sweep computes many runs, each as if it were alone: the launcher with a stand-in, then real workers."""

import os
import random
import signal
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from molyneux.core import StoreError, store
from molyneux.core.config import dump_document
from molyneux.run import read_experiment
from molyneux.run.studies import worker
from molyneux.run.studies.launch import Job, LocalLauncher, Pool
from molyneux.run.studies.process_state import as_in_new_process, resident_bytes
from molyneux.run.studies.records import Records

KIND = (1, "cpu")
STAND_IN = """
import json, os, sys, time
for line in sys.stdin:
    asked = json.loads(line)
    print(json.dumps({"begun": True}), flush=True)
    what = open(asked["config"]).read()
    print("not for this stream", json.dumps({"step": what, "done": 1, "total": 2}), sep=chr(10), flush=True)
    if what == "leave":
        os._exit(7)
    if what == "die":
        os.kill(os.getpid(), 9)
    if what == "stay":
        time.sleep(600)
    with open(asked["folder"], "a") as stream:
        stream.write(f"{os.getpid()} ")
    print(json.dumps({"ended": "wrong" if what == "fail" else ""}), flush=True)
    if what == "last":
        break
"""


class StandIns(LocalLauncher):
    """Starts a small process in place of a worker; it does what the file of settings says and writes its number."""

    def __init__(self, jobs: int) -> None:
        super().__init__(jobs)
        self.begun = list[subprocess.Popen[str]]()
        self.most = 0

    def _start(self, log: Path) -> subprocess.Popen[str]:
        command, pipe = [sys.executable, "-I", "-S", "-c", STAND_IN], subprocess.PIPE
        process = subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True)
        self.begun.append(process)
        self.most = max(self.most, sum(each.poll() is None for each in self.begun))
        return process


class Ask:
    """Asks for runs that do what a word says."""

    def __init__(self, folder: Path, launcher: LocalLauncher) -> None:
        self.folder, self.launcher, self.told = folder, launcher, list[tuple[str, int, int]]()

    def __call__(self, what: str, kind: tuple[int | None, str] | None = KIND) -> str:
        config = self.folder / f"{what}.yaml"
        config.write_text(what)
        job = Job(what, config, self.folder / "numbers", self.folder / f"{what}.log", None, kind)
        return self.launcher.run(job, lambda *report: self.told.append(report))

    @property
    def numbers(self) -> list[int]:
        """Of the processes that computed the runs so far."""
        return [int(number) for number in (self.folder / "numbers").read_text().split()]


@pytest.fixture
def ask(tmp_path: Path) -> Iterator[Ask]:
    with StandIns(1) as launcher:
        yield Ask(tmp_path, launcher)
    assert all(process.returncode is not None for process in launcher.begun)
    assert not launcher._processes


def test_a_process_computes_runs_of_its_kind_one_after_the_other(ask: Ask) -> None:
    assert [ask("one"), ask("fail"), ask("two")] == ["", "wrong", ""]
    assert len(set(ask.numbers)) == 1
    assert ask.told == [("one", 1, 2), ("fail", 1, 2), ("two", 1, 2)]
    assert not (ask.folder / "one.log").exists()
    assert (ask.folder / "fail.log").exists()


def test_runs_of_other_kinds_get_other_processes_and_no_more_than_there_are_jobs(ask: Ask) -> None:
    for kind in (KIND, (2, "cpu"), (2, "cpu"), KIND, None, None):
        assert ask("one", kind) == ""
    first, second, again, third, alone, apart = ask.numbers
    assert second == again
    assert len({first, second, third, alone, apart}) == 5
    assert ask.launcher.most == 1  # type: ignore[attr-defined]


def test_a_process_that_ends_while_idle_is_no_failure(ask: Ask) -> None:
    assert ask("one") == ""
    os.kill(ask.numbers[0], signal.SIGKILL)
    assert ask("last") == ""  # also where it ends of its own accord
    assert ask("two") == ""
    assert len(set(ask.numbers)) == 3


def test_a_process_of_a_cluster_leaves_settings_as_a_run_found_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = list[tuple[object, ...]]()

    def run(*_: object, **__: object) -> None:
        seen.append((torch.get_default_dtype(), os.environ.get("CHANGED"), Path.cwd(), np.geterr()["divide"]))
        torch.set_default_dtype(torch.float64)
        monkeypatch.setenv("CHANGED", "by a run")
        os.chdir("/")
        np.seterr(divide="raise")

    monkeypatch.setattr(worker, "run_experiment", run)
    monkeypatch.setattr(worker, "read_experiment", dict)
    (tmp_path / "config.yaml").write_text("seed: 1\n")
    words = (str(tmp_path / "config.yaml"), str(tmp_path / "folder"), "", str(tmp_path / "progress"))
    assert [worker.ray_run(words), worker.ray_run(words)] == ["", ""]
    assert seen[0] == seen[1] == (torch.float32, None, Path.cwd(), "warn")


def test_a_process_that_ends_in_a_run_is_replaced(ask: Ask) -> None:
    assert ask("one") == ""
    assert ask("leave") == f"its process ended with status 7; see {ask.folder / 'leave.log'}"
    assert len(ask.launcher.begun) == 1  # type: ignore[attr-defined]
    assert ask("die") == f"its process ended with status -9; see {ask.folder / 'die.log'}"
    assert len(ask.launcher.begun) == 4  # type: ignore[attr-defined]
    assert ask("two") == ""
    assert len(set(ask.numbers)) == 2


def test_runs_are_shared_out_among_as_many_processes_as_there_are_jobs(tmp_path: Path) -> None:
    with StandIns(2) as launcher:
        asks = [Ask(tmp_path, launcher) for _ in range(2)]
        threads = [threading.Thread(target=lambda ask=ask: [ask(f"run{number}") for number in range(20)]) for ask in asks]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(asks[0].numbers) == 40
        assert len(launcher.begun) == 2


def test_a_launcher_that_is_stopped_ends_its_processes_and_begins_no_run(tmp_path: Path) -> None:
    launcher = StandIns(2)
    ask, found = Ask(tmp_path, launcher), list[str]()
    assert ask("one", KIND) == ""
    thread = threading.Thread(target=lambda: found.append(ask("stay", (2, "cpu"))))
    thread.start()
    while ("stay", 1, 2) not in ask.told:
        time.sleep(0.002)
    launcher.stop()
    thread.join()
    assert found == [f"its process ended with status -15; see {tmp_path / 'stay.log'}"]
    assert [process.returncode for process in launcher.begun].count(-15) == 2
    with pytest.raises(StoreError, match="the study was stopped"):
        ask("two")


def test_runs_with_classes_of_others_have_a_process_of_their_own(settings: dict[str, Any], tmp_path: Path) -> None:
    kinds = list[Any]()

    class Asked(LocalLauncher):
        def run(self, job: Job, report: Any) -> str:
            kinds.append(job.kind)
            return "not run"

    class Told:
        def plan(self, runs: int) -> None:
            """Nobody reads it."""

        def run(self, *step: Any) -> None:
            """Nobody reads it."""

    world = {"data": {**settings["data"], "world": "Letters"}, "measure": ["reconstruction"], "name": "letters"}
    learn = {**settings["learn"], "threads": 2, "device": "cpu"}
    ours = [read_experiment({**settings, **world, "learn": each}) for each in (settings["learn"], learn)]
    Pool(tmp_path, Asked(1), Told(), Records(tmp_path / "records.jsonl")).run([*ours, read_experiment(settings)])
    assert kinds == [(None, "auto"), (2, "cpu"), None]


def test_settings_of_the_process_are_put_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def state() -> list[Any]:
        numbers = [signal.getsignal(number) for number in signal.valid_signals()]
        torch_state = [torch.get_default_dtype(), torch.get_default_device(), torch.get_num_threads(), torch.is_grad_enabled()]
        kernels = [torch.backends.mkldnn.enabled, torch.backends.cudnn.benchmark, torch.get_float32_matmul_precision()]
        return [dict(os.environ), Path.cwd(), list(sys.path), numbers, np.geterr(), list(warnings.filters), torch_state, kernels]

    monkeypatch.setenv("DISTURBED", "before")
    before, switches = state(), (torch.are_deterministic_algorithms_enabled(), torch.is_anomaly_enabled())
    drawn = set[float]()
    for _ in range(2):
        with as_in_new_process():
            drawn |= {torch.rand(()).item(), float(np.random.rand()), random.random()}  # noqa: NPY002
            os.environ.update(DISTURBED="1", ANOTHER="2")
            os.chdir(tmp_path)
            sys.path.insert(0, str(tmp_path))
            signal.signal(signal.SIGUSR1, signal.SIG_IGN)
            np.seterr(all="raise")
            warnings.simplefilter("ignore")
            torch.set_default_dtype(torch.float64)
            torch.set_default_device("meta")
            torch.set_num_threads(3)
            torch.set_grad_enabled(False)
            torch.set_float32_matmul_precision("medium")
            torch.use_deterministic_algorithms(True)
            torch.autograd.set_detect_anomaly(True)
            torch.backends.mkldnn.enabled = False
            torch.backends.cudnn.benchmark = True
            np.random.seed(1)  # noqa: NPY002
            torch.manual_seed(1)
        assert state() == before
        assert switches == (torch.are_deterministic_algorithms_enabled(), torch.is_anomaly_enabled())
    assert len(drawn) == 6


def test_a_warning_that_was_shown_once_is_shown_again() -> None:
    def shown() -> int:
        with as_in_new_process(), warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("default")
            for _ in range(3):
                warnings.warn("of a library", UserWarning, stacklevel=1)
        return len(found)

    assert [shown(), shown()] == [1, 1]


@pytest.fixture
def tiny(settings: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """The settings of a small run that draws, fits and probes; workers find its world."""
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[1]))
    settings["data"] |= {"train": 100, "validation": 50, "test": 50}
    settings["learn"] |= {"epochs": 2, "threads": 1, "tensorboard": False}
    settings["measure"] = ["coherence", "latent_probe", "galleries"]
    settings["report"] = {"formats": ["markdown"]}
    return settings


class Runs:
    """Runs of models in a folder, by one launcher."""

    def __init__(self, folder: Path, base: dict[str, Any], launcher: LocalLauncher) -> None:
        self.folder, self.base, self.launcher = folder, base, launcher
        self.look = lambda: None

    def __call__(self, name: str, model: str = "MVAE", **learn: Any) -> str:
        place = {"class_path": model, "init_args": {"latent_dim": 4}}
        tree = {**self.base, "learn": {**self.base["learn"], "model": place, **learn}}
        config = self.folder / f"{name}.yaml"
        config.write_text(dump_document(read_experiment(tree).resolved))
        job = Job(name, config, self.folder / name, self.folder / f"{name}.log", None, KIND)
        return self.launcher.run(job, lambda *_: self.look())

    def log(self, name: str) -> str:
        """What was printed in a run that failed."""
        return (self.folder / f"{name}.log").read_text()

    def content(self, name: str) -> dict[str, Any]:
        """All files of a run by name, without what tells of time."""
        folder = self.folder / name
        timed = ("machine.json", "stage.json", "history.csv", "post-fit.json", "report.md", ".lock")
        files = [path for path in folder.rglob("*") if path.is_file() and path.name not in timed]
        found: dict[str, Any] = {str(path.relative_to(folder)): path.read_bytes() for path in files}
        rows = [line.split(",") for line in (folder / "model" / "history.csv").read_text().splitlines()]
        kept = [at for at, column in enumerate(rows[0]) if "second" not in column]
        found["history"] = [[row[at] for at in kept] for row in rows]
        return found


def number_of(launcher: LocalLauncher) -> int:
    (process,) = launcher._processes
    return process.pid


@pytest.mark.slow
def test_a_run_is_the_same_whatever_its_process_computed_before(tiny: dict[str, Any], tmp_path: Path) -> None:
    (tmp_path / "fresh").mkdir()
    (tmp_path / "used").mkdir()
    with LocalLauncher(1) as launcher:
        alone = Runs(tmp_path / "fresh", tiny, launcher)
        assert alone("run") == ""
    with LocalLauncher(1) as launcher:
        runs = Runs(tmp_path / "used", tiny, launcher)
        assert runs("other", "MMVAE") == ""
        number = number_of(launcher)
        assert runs("disturbing", "disturbing.Disturbing") == "", runs.log("disturbing")
        assert runs("run") == ""
        assert "expected finite numbers" in runs("failed", "disturbing.Disturbing", learning_rate=1e38)
        assert runs("again") == ""
        assert "expected finite numbers" in runs("plain", learning_rate=1e38)
        assert number_of(launcher) == number
    whole = alone.content("run")
    assert {"model/weights.safetensors", "measure/scores.jsonl", "samples/contact_sheet.png"} <= whole.keys()
    assert runs.content("run") == whole
    assert runs.content("again") == whole
    assert sorted(set(runs.log("failed").splitlines())) == ["printed by a model", "put by a model", "told by a model"]
    assert runs.log("plain") == ""
    assert not list((tmp_path / "used").glob("run.log"))


@pytest.mark.slow
def test_memory_does_not_grow_from_run_to_run(tiny: dict[str, Any], tmp_path: Path) -> None:
    held = list[int]()
    with LocalLauncher(1) as launcher:
        runs = Runs(tmp_path, tiny, launcher)
        for number in range(20):
            assert runs(f"run{number}", ("MVAE", "MMVAE")[number % 2]) == ""
            pages = int(Path(f"/proc/{number_of(launcher)}/statm").read_text().split()[1])
            held.append(pages * os.sysconf("SC_PAGE_SIZE"))
    assert held[-1] - held[3] < 2**24, [each // 2**20 for each in held]
    assert resident_bytes() > 2**24


@pytest.mark.slow
def test_a_process_whose_parent_is_gone_ends_in_the_midst_of_a_run(
    tiny: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "waiting"
    monkeypatch.setenv("WAITING", str(place))
    with LocalLauncher(1) as launcher:
        runs = Runs(tmp_path, tiny, launcher)
        assert runs("one") == ""
        number = number_of(launcher)
        found = list[str]()
        thread = threading.Thread(target=lambda: found.append(runs("waiting", "disturbing.Waiting")))
        thread.start()
        while not place.exists():
            time.sleep(0.01)
        (process,) = launcher._processes
        assert process.pid == number
        assert process.stdin is not None
        process.stdin.close()  # as the system does where this process is gone
        thread.join(20)
        assert found == [f"its process ended with status 1; see {tmp_path / 'waiting.log'}"]
        assert not launcher._processes
        assert runs("two") == ""
    assert store.is_file(tmp_path / "two" / "report" / "stage.json")
