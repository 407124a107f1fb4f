"""A cluster of three machines, one of which is lost while shards, runs or blocks of an evaluation are computed on it."""

import os
import shutil
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
import torch

from molyneux.core import ConfigError, DataError, Source
from molyneux.data import store_shards
from molyneux.report import load_records, save_records, study_tables, to_markdown
from molyneux.run import Study, open_workers, read_experiment, run_experiment, run_study
from molyneux.run.studies.launch import Job, LocalLauncher, Report
from molyneux.run.studies.worker import ProgressLines, _compute

HERE = Path(__file__).parents[1]
pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore"),  # of Ray
    pytest.mark.skipif(find_spec("ray") is None, reason="needs the extra ray"),
]

LOST = """
import os, time
from pathlib import Path
from toy import Toy

PLACE = Path({place!r})

class Lost(Toy):
    '''Notes what it is asked for. The first process of the cluster that gets as far as `armed` says waits to be lost.'''

    name = "lost-v1"

    def batch(self, indices, *, split, seed):
        if os.getpid() != {driver} and len(indices):
            with (PLACE / "asked").open("a") as stream:
                stream.write(f"{{os.getpid()}} {{seed}} {{split}} {{indices[0]}}\\n")
            armed = (PLACE / "armed").read_text().split()
            if armed[0] == split and indices[0] >= int(armed[1]):
                self._wait()
        return super().batch(indices, split=split, seed=seed)

    def _wait(self):
        import ray
        try:
            with (PLACE / "waiting").open("x") as stream:
                stream.write(ray.get_runtime_context().get_node_id())
        except FileExistsError:
            return
        time.sleep(10_000)
"""


RAY = {
    "ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
    "USAGE_STATS_ENABLED": "0",
    "worker_register_timeout_seconds": "600",
}
"""Settings of Ray, under which processes that are slow because other work runs here are not taken for lost."""


TRIES = 6


@dataclass
class Machines:
    """A Ray cluster, of which machines can be lost; its head computes nothing."""

    cluster: Any
    place: Path
    others: list[Any] = field(default_factory=list)

    @property
    def asked(self) -> list[tuple[int, int, str, int]]:
        """What the processes of the cluster were asked for: process, seed, split and first sample."""
        rows = [line.split() for line in (self.place / "asked").read_text().splitlines()]
        return [(int(row[0]), int(row[1]), row[2], int(row[3])) for row in rows]

    @contextmanager
    def losing(self, split: str, first: int) -> Iterator[None]:
        """Two machines compute, and the first that is asked for this sample or a later one is lost."""
        while len(self.others) < 2:
            self.others.append(started(lambda: self.cluster.add_node(num_cpus=1, object_store_memory=80 << 20)))
        (self.place / "waiting").unlink(missing_ok=True)
        (self.place / "asked").write_text("")
        (self.place / "armed").write_text(f"{split} {first}")
        over = threading.Event()
        watch = threading.Thread(target=self._lose, args=(over,))
        watch.start()
        try:
            yield
        finally:
            over.set()
            watch.join()
        assert len(self.others) == 1, "no machine was lost"

    def _lose(self, over: threading.Event) -> None:
        while not over.wait(0.05):
            waiting = self.place / "waiting"
            if len(self.others) == 2 and waiting.exists() and (name := waiting.read_text()):
                lost = next(node for node in self.others if node.node_id == name)
                self.others.remove(lost)
                self.cluster.remove_node(lost, allow_graceful=False)


def started(start: Callable[[], Any]) -> Any:
    """A machine. It ends itself where its agents need more than 15 seconds to start: on a busy computer it is tried again."""
    for _ in range(TRIES):
        try:
            return start()
        except Exception as error:
            if "timed out" not in str(error).lower():
                raise
    pytest.skip("this computer is too busy for Ray, which wants to start in 15 seconds")


@pytest.fixture(scope="module")
def machines(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machines]:
    place = tmp_path_factory.mktemp("lost")
    (place / "lost.py").write_text(LOST.format(place=str(place), driver=os.getpid()))
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(place))
        patch.setenv("PYTHONPATH", os.pathsep.join([str(HERE), str(place), os.environ.get("PYTHONPATH", "")]))
        for name, value in RAY.items():
            patch.setenv(f"RAY_{name}", value)
        from ray.cluster_utils import Cluster

        head = {"num_cpus": 0, "include_dashboard": False, "object_store_memory": 80 << 20}
        cluster = started(lambda: Cluster(True, head_node_args=head))
        try:
            yield Machines(cluster, place)
        finally:
            cluster.shutdown()


@pytest.fixture
def lost_settings(settings: dict[str, Any]) -> dict[str, Any]:
    settings["data"] |= {"world": "lost.Lost", "train": 200, "validation": 50, "test": 100}
    settings["learn"] |= {"threads": 1, "tensorboard": False, "checkpoint_seconds": 0.001}
    settings["measure"] = {"measures": ["coherence"], "batch_size": 20}
    settings["report"] = {"formats": ["markdown"]}
    return settings


def content(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_shards(machines: Machines, tmp_path: Path) -> None:
    source: Source = import_module("lost").Lost().source("train", 450, seed=1)
    store_shards(source, tmp_path / "alone", shard=50)
    told: list[int] = []
    with machines.losing("train", 150), open_workers(machines.cluster.address, 2) as workers:
        found = store_shards(source, tmp_path / "shared", shard=50, workers=workers, progress=told.append)
        assert found is not None
        assert len(found) == sum(told) == 450
        with pytest.raises(DataError, match=r"NaN|finite"):  # an error comes as it is
            bad = import_module("lost").Lost(nan_at=3).source("train", 9, seed=2)
            store_shards(bad, tmp_path / "nan", shard=5, workers=workers)
    assert content(tmp_path / "shared") == content(tmp_path / "alone")
    made = Counter(first for _, seed, _, first in machines.asked if first and seed == 1)
    assert made.keys() == set(range(50, 450, 50))
    assert sorted(made.values()) == [1] * 7 + [2]  # the machine that was lost had not written one


def test_a_sweep(machines: Machines, lost_settings: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    study = Study(name="mine", base=lost_settings, seeds=(1, 2, 3, 4))
    sweeper = import_module("sweeper")

    def run(launcher: LocalLauncher, job: Job, report: Report) -> str:
        with Path(os.devnull).open("w") as stream:
            _compute(*job.words, ProgressLines(stream))
        return ""

    monkeypatch.setattr(LocalLauncher, "run", run)
    run_study(study, tmp_path / "alone", tmp_path / "table", progress=sweeper.Quiet())
    with machines.losing("validation", 0):
        there = {"on": machines.cluster.address, "jobs": 2}
        outcome = run_study(study, tmp_path / "runs", tmp_path / "results", progress=sweeper.Quiet(), **there)
    assert [item.error for item in outcome.finished] == [""] * 4
    assert len({process for process, *_ in machines.asked}) == 2  # each of which computed many runs
    records = [load_records(tmp_path / name) for name in ("table", "results")]
    for name, runs in zip(("table", "results"), records, strict=True):
        save_records(tmp_path / f"{name}.jsonl", sorted(runs, key=lambda run: str(run.settings["seed"])))
    assert (tmp_path / "table.jsonl").read_bytes() == (tmp_path / "results.jsonl").read_bytes()
    alone, shared = ([*map(to_markdown, study_tables(load_records(tmp_path / f"{name}.jsonl")))] for name in ("table", "results"))
    assert alone == shared


def test_a_measurement(machines: Machines, lost_settings: dict[str, Any], tmp_path: Path) -> None:
    experiment, threads = read_experiment(lost_settings), torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        run_experiment(experiment, tmp_path / "alone")
    finally:
        torch.set_num_threads(threads)
    shutil.copytree(tmp_path / "alone", tmp_path / "shared")
    shutil.rmtree(tmp_path / "shared" / "measure")
    with machines.losing("test", 40), open_workers(machines.cluster.address, 2, threads=1) as workers:
        run_experiment(experiment, tmp_path / "shared", steps=["measure"], workers=workers)
    alone, shared = ((tmp_path / name / "measure" / "scores.jsonl").read_bytes() for name in ("alone", "shared"))
    assert alone == shared


def test_a_machine_that_the_cluster_does_not_have(machines: Machines) -> None:
    with (
        pytest.raises(ConfigError, match="a machine with 64 processors for each process, the largest of the cluster has 1"),
        open_workers(machines.cluster.address, threads=64),
    ):
        pass
