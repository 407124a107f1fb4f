"""Searches that share their trials through a real PostgreSQL server, which is started for these tests alone."""

import importlib
import multiprocessing
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from molyneux.core import ConfigError, store
from molyneux.report import load_records
from molyneux.run import Experiment, Finished, Range, Study
from molyneux.run.studies.pruning import PruningRule
from molyneux.run.studies.search import search
from molyneux.run.studies.study import run_name
from molyneux.run.studies.trials import Trials

psycopg = pytest.importorskip("psycopg", reason="needs the extra postgresql")


def program(name: str) -> str:
    """A program of PostgreSQL, which Debian does not put on the path; empty where there is none."""
    installed = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"))
    return shutil.which(name) or (str(installed[-1]) if installed else "")


def unprivileged() -> dict[str, Any]:
    """How a process is started by another user where this one is root, whom PostgreSQL refuses."""
    if os.getuid():
        return {}
    user = next((user for user in pwd.getpwall() if user.pw_name == "postgres"), pwd.getpwnam("nobody"))
    return {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    """The URL of a database on a server of its own, which listens on a socket in its folder and on no port."""
    if not program("initdb") or not program("postgres"):
        pytest.skip("needs initdb and postgres (in Debian, the package postgresql)")
    how = unprivileged()
    with tempfile.TemporaryDirectory() as name:  # sockets have short paths, and the folders of pytest are closed to other users
        place = Path(name)
        if how:
            os.chown(place, how["user"], how["group"])
        command = [
            program("initdb"),
            "-D",
            name + "/data",
            "-U",
            "molyneux",
            "-A",
            "trust",
            "-E",
            "UTF8",
            "--locale=C",
            "--no-sync",
        ]
        subprocess.run(command, check=True, capture_output=True, cwd="/", **how)
        command = [program("postgres"), "-D", name + "/data", "-k", name, "-c", "listen_addresses=", "-c", "fsync=off"]
        with (place / "log").open("w") as log, subprocess.Popen(command, stdout=log, stderr=log, cwd="/", **how) as process:
            try:
                wait_until_ready(name, process)
                yield f"postgresql://molyneux@/postgres?host={name}"
            finally:
                process.send_signal(signal.SIGINT)  # does not wait for clients
                process.wait(60)


def wait_until_ready(host: str, process: subprocess.Popen[bytes]) -> None:
    end = time.monotonic() + 120
    while True:
        try:
            psycopg.connect(host=host, user="molyneux", dbname="postgres").close()
        except psycopg.OperationalError:
            assert process.poll() is None, (Path(host) / "log").read_text()
            assert time.monotonic() < end
            time.sleep(0.05)
        else:
            return


class Noted:
    """A pool whose runs are not run; it notes their names."""

    jobs = 1

    def __init__(self, folder: Path) -> None:
        folder.mkdir()
        self.folder, self.asked, self.launcher = folder, list[str](), self

    def run(self, experiments: Sequence[Experiment], rules: Sequence[PruningRule | None] = ()) -> list[Finished]:
        self.asked += map(run_name, experiments)
        return [Finished(self.folder / run_name(experiment), experiment) for experiment in experiments]


def drawn_together(settings: dict[str, Any], place: Path, url: str) -> list[str]:
    study = Study(
        base=settings,
        name=place.name,
        search="random",
        trials=12,
        ranges={"learn.learning_rate": Range(low=1e-4, high=1e-1, log=True)},
    )
    pools = [Noted(place / name) for name in "ab"]
    Trials(study, place / "a", url).close()  # its tables
    threads = [threading.Thread(target=search, args=(study, pool.folder, pool), kwargs={"storage": url}) for pool in pools]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return [name for pool in pools for name in pool.asked]


def test_two_searches_on_one_server_draw_every_trial_once(settings: dict[str, Any], tmp_path: Path, server: str) -> None:
    asked = drawn_together(settings, tmp_path, server)
    assert len(asked) == len(set(asked)) == 12


def test_a_server_that_does_not_answer_is_told(settings: dict[str, Any], tmp_path: Path) -> None:
    study = Study(base=settings, name="mine", search="random", grid={"learn.batch_size": (20, 50)})
    with pytest.raises(ConfigError, match=r"storage: cannot use postgresql://me@/name\?host=.*: connection ") as caught:
        Trials(study, tmp_path, f"postgresql://me:secret@/name?host={tmp_path}")
    assert "secret" not in str(caught.value)


@pytest.mark.slow
@pytest.mark.usefixtures("_toy_on_the_path")
def test_two_sweeps_share_a_search_and_one_is_killed_and_begun_again(
    settings: dict[str, Any], tmp_path: Path, all_modules: list[str], server: str
) -> None:
    settings["learn"] |= {"epochs": 3, "threads": 1, "tensorboard": False, "checkpoint_seconds": 0.001}
    settings["data"] |= {"train": 200, "validation": 50, "test": 100}
    settings["report"] = {"formats": ["markdown"]}
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([*all_modules, "optuna", "psycopg", "sqlalchemy.dialects.postgresql.psycopg"])
    sweeper = importlib.import_module("sweeper")

    def begin(name: str) -> Any:
        (tmp_path / name).mkdir(exist_ok=True)
        (tmp_path / name / "worker-killed").touch()  # no worker is killed here, only a sweep
        process = context.Process(target=sweeper.sweep, args=(settings, str(tmp_path / name), server))
        process.start()
        return process

    first, second = begin("a"), begin("b")
    while first.is_alive() and not list((tmp_path / "a" / "runs").glob("toy-seed*/model/history.csv")):
        time.sleep(0.002)
    os.kill(first.pid, signal.SIGKILL)
    first.join()
    assert first.exitcode == -signal.SIGKILL
    first = begin("a")
    for process in (first, second):
        process.join()
        assert process.exitcode == 0
    shared = Trials(sweeper.study_of(settings), tmp_path, server)
    trials = shared._all()
    shared.close()
    counted = [trial for trial in trials if trial.user_attrs["number"] == trial.number]
    assert len(counted) == 12
    assert all(trial.state.is_finished() for trial in trials)
    owners = {place: (tmp_path / place / "runs" / "search-owner.txt").read_text().strip() for place in "ab"}
    runs = {place: {path.name for path in (tmp_path / place / "runs").glob("toy-seed*")} for place in "ab"}
    assert runs["a"].isdisjoint(runs["b"])  # nothing is done twice
    for place, owner in owners.items():
        own = [trial for trial in counted if trial.user_attrs["owner"] == owner]
        assert len(own) == len(runs[place]) > 0
        complete = [trial for trial in own if trial.state.name == "COMPLETE"]
        assert len(load_records(tmp_path / place / "results")) == len(complete)  # nothing is lost
    told = [store.read_lines(tmp_path / place / "results" / "trials.jsonl")[1:] for place in "ab"]
    whole = next(rows for rows in told if all(row["state"] in ("complete", "pruned") for row in rows))
    assert [row["settings"] for row in whole] == [trial.params for trial in counted]
