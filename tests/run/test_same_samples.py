"""Data that were altered after a run was made are not exported or measured as if they were those of the run."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from molyneux.core import ConflictError, CorruptFileError, store
from molyneux.data import store_samples
from molyneux.run import ExportSettings, Outcome, export_run, measure_again, read_experiment, run_experiment

ROWS = 60


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """A table of which two columns are used."""
    rng = np.random.default_rng(0)
    lines = [f"{rng.normal():.3f},{'ab'[row % 2]},x{row}" for row in range(ROWS)]
    (tmp_path / "items.csv").write_text("\n".join(["weight,kind,unused", *lines]) + "\n")
    return tmp_path / "items.csv"


def made(path: Path, folder: Path) -> Outcome:
    learn = {"model": {"class_path": "FusionPredictor"}, "steps": 2, "batch_size": 20, "threads": 1, "tensorboard": False}
    data = {"table": {"path": str(path), "tabular": ["weight"], "targets": ["kind"]}}
    tree: dict[str, Any] = {"name": "a", "seed": 1, "data": data, "learn": learn, "measure": ["prediction"], "report": []}
    return run_experiment(read_experiment(tree), folder)


@pytest.mark.parametrize("what", ["a value", "what is not used"])
def test_an_altered_table_is_refused(table: Path, what: str, tmp_path: Path) -> None:
    folder = made(table, tmp_path / "run").folder
    export_run(folder, tmp_path / "before", ExportSettings(include_data=True))
    assert not measure_again(folder).changed
    lines = table.read_text().splitlines()
    lines[5] = f"7.5,{lines[5].partition(',')[2]}" if what == "a value" else f"{lines[5]}y"
    table.write_text("\n".join(lines) + "\n")
    with pytest.raises(ConflictError, match="are no longer those that"):
        export_run(folder, tmp_path / "after", ExportSettings(include_data=True))
    with pytest.raises(ConflictError, match="are no longer those that"):
        measure_again(folder)
    assert not (tmp_path / "after").exists()
    export_run(folder, tmp_path / "without")


def test_files_are_compared_whole(table: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("molyneux.run.run.same_samples.digest", lambda source: "the first samples alone")
    made(table, tmp_path / "run")
    made(table, tmp_path / "run")
    table.write_text(table.read_text().replace(f"x{ROWS - 1}", "y"))
    with pytest.raises(ConflictError, match="the files of the data are no longer those that"):
        made(table, tmp_path / "run")


def test_a_record_without_a_digest_of_files_is_compared_by_samples(table: Path, tmp_path: Path) -> None:
    folder = made(table, tmp_path / "run").folder
    record = store.read_stage(folder / "samples")
    del record["details"]["checksums"]["files"]
    store.write_json(folder / "samples" / "stage.json", {**record, "checksum": store.fingerprint(record)})
    table.write_text(table.read_text().replace(f"x{ROWS - 1}", "y"))
    export_run(folder, tmp_path / "out", ExportSettings(include_data=True))


def test_kept_samples_that_were_exchanged_are_refused(finished: Outcome, settings: dict[str, Any], tmp_path: Path) -> None:
    tree = {**settings, "data": {**settings["data"], "keep": True}}
    experiment = read_experiment(tree)
    folder = run_experiment(experiment, tmp_path / "run").folder
    for path in (folder / "samples" / "test").iterdir():
        path.unlink()
    (folder / "samples" / "test").rmdir()
    store_samples(experiment.data.dataset.source("test", 300, seed=99), folder / "samples" / "test")
    with pytest.raises(CorruptFileError, match=r"samples.test.* was truncated or altered"):
        export_run(folder, tmp_path / "out", ExportSettings(include_data=True))


@pytest.mark.parametrize("odd", [np.zeros((3, 2), np.uint64), np.zeros(3), np.array(["x"])])
def test_digests_of_views_of_another_kind_are_named(table: Path, odd: np.ndarray, tmp_path: Path) -> None:
    folder = made(table, tmp_path / "run").folder
    path = folder / "model" / "train_views.tabular.npy"
    store.write_array(path, odd)
    record = json.loads((folder / "model" / "stage.json").read_text())
    record["files"][path.name] = store.checksum(path)
    record.pop("checksum")
    store.write_json(folder / "model" / "stage.json", {**record, "checksum": store.fingerprint(record)})
    with pytest.raises(CorruptFileError, match="expected digests of views"):
        measure_again(folder)
