"""A search with pruning that is interrupted, twice and by more than one means, ends with the table of one that was not."""

import importlib
import multiprocessing
import os
import signal
import time
from pathlib import Path
from typing import Any

import pytest

from molyneux.report import load_records, save_records, study_tables, to_markdown


@pytest.mark.slow
@pytest.mark.kernels
@pytest.mark.usefixtures("_toy_on_the_path")
def test_a_search_interrupted_twice_ends_with_the_same_table(
    settings: dict[str, Any], tmp_path: Path, all_modules: list[str]
) -> None:
    settings["learn"] |= {"epochs": 4, "threads": 1, "tensorboard": False, "checkpoint_seconds": 0.001}
    settings["data"] |= {"train": 200, "validation": 50, "test": 100}
    settings["report"] = {"formats": ["markdown"]}
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([*all_modules, "optuna", "sqlalchemy.dialects.sqlite"])
    sweeper = importlib.import_module("sweeper")

    def begin(place: str) -> Any:
        process = context.Process(target=sweeper.sweep, args=(settings, str(tmp_path / place)))
        process.start()
        return process

    def begun(place: str) -> int:
        return len(list((tmp_path / place / "runs").glob("toy-seed*/model/history.csv")))

    (tmp_path / "whole").mkdir()
    (tmp_path / "whole" / "worker-killed").touch()  # nobody is killed here
    whole = begin("whole")
    whole.join()
    assert whole.exitcode == 0
    for number, (sign, status) in enumerate(((signal.SIGINT, 130), (signal.SIGKILL, -9)), start=1):
        process = begin("cut")
        while process.is_alive() and begun("cut") < 4 * number:
            time.sleep(0.002)
        os.kill(process.pid, sign)
        process.join()
        assert process.exitcode == status
        assert begun("cut") < 12
    last = begin("cut")
    last.join()
    assert last.exitcode == 0
    assert (tmp_path / "cut" / "worker-killed").exists()
    results = [tmp_path / place / "results" for place in ("whole", "cut")]
    assert (results[0] / "trials.jsonl").read_bytes() == (results[1] / "trials.jsonl").read_bytes()
    for place in results:  # in the order of settings, for records stand in that in which the runs ended
        save_records(place / "sorted.jsonl", load_records(place))
    assert (results[0] / "sorted.jsonl").read_bytes() == (results[1] / "sorted.jsonl").read_bytes()
    assert b'"pruned"' in (results[0] / "trials.jsonl").read_bytes()
    whole_tables, cut_tables = ([*map(to_markdown, study_tables(load_records(place / "sorted.jsonl")))] for place in results)
    assert whole_tables == cut_tables
