"""Records of a study: one sweep at a time writes them, and those of earlier versions stay valid."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from molyneux.core import ConflictError, store
from molyneux.core.config import read_document
from molyneux.run import Experiment, Outcome, Study, load_study, parse_experiment, read_experiment, records, run_study
from molyneux.run.records import Records, current_settings
from molyneux.run.study import check_points

TOP = Path(__file__).parents[2]
SHIPPED = sorted(
    path.parent.name
    for path in (TOP / "studies" / "results").glob("*/records.jsonl")
    if (TOP / "configs" / "studies" / f"{path.parent.name}.yaml").exists()
)


class Quiet:
    """Progress that nobody looks at."""

    def plan(self, runs: int) -> None: ...

    def run(self, name: str, step: str, done: int, total: int) -> None: ...


def test_two_sweeps_do_not_write_the_same_records(settings: dict[str, Any], tmp_path: Path) -> None:
    results = tmp_path / "results"
    with Records.held(results), pytest.raises(ConflictError, match=r"another process is working in .*results.* --results"):
        run_study(Study(base=settings), tmp_path / "other", results, progress=Quiet())
    assert not (results / "records.jsonl").exists()


def test_what_one_sweep_wrote_is_kept_by_the_next(finished: Outcome, experiment: Experiment, tmp_path: Path) -> None:
    with Records.held(tmp_path) as first:
        first.add(finished.folder, experiment)
    written = {path.name: path.read_bytes() for path in tmp_path.glob("*.jsonl")}
    assert written.keys() == {"costs.jsonl", "records.jsonl"}
    with Records.held(tmp_path) as second:
        assert experiment in second
        second.add(finished.folder, experiment)
    assert {path.name: path.read_bytes() for path in tmp_path.glob("*.jsonl")} == written


def test_records_of_earlier_versions_stand_for_their_runs(
    finished: Outcome, experiment: Experiment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A class had another name, a setting another place, one was not there yet and one has gone."""
    path = tmp_path / "records.jsonl"
    Records(path).add(finished.folder, experiment)
    (record,) = store.read_lines(path)
    settings = record["settings"]
    for name in ("class_path", "init_args.spread", "init_args.nan_at"):
        settings[f"data.generator.{name}"] = settings.pop(f"data.world.{name}")
    settings["learn.model.class_path"] = "molyneux.learn.OldName"
    settings["data.colour"] = "none"
    del settings["learn.batch_size"], record["checksum"]
    path.write_text(json.dumps(record) + "\n")
    assert experiment not in Records(path)
    monkeypatch.setattr(records, "RENAMED_CLASSES", {"molyneux.learn.OldName": "molyneux.learn.MVAE"})
    monkeypatch.setattr(records, "RENAMED_SETTINGS", {"data.generator": "data.world"})
    monkeypatch.setattr(records, "ADDED_SETTINGS", {"learn.batch_size": 50})
    monkeypatch.setattr(records, "REMOVED_SETTINGS", frozenset({"data.colour"}))
    assert experiment in Records(path)
    Records(path).require_all_of([experiment])
    assert not Records(path).of([read_experiment({**read_document(Path(__file__).parent / "toy.yaml"), "seed": 9})])


def test_classes_are_renamed_however_deep_they_stand() -> None:
    old, new = next(iter(records.RENAMED_CLASSES.items()))
    nested = {"measure.measures": [{"class_path": old, "init_args": {"of": [old, "x"]}}], "seed": 1}
    found = current_settings(nested)
    assert found["measure.measures"] == [{"class_path": new, "init_args": {"of": [new, "x"]}}]
    assert found["seed"] == 1


EARLIER_READERS = ("cdsprites", "cdsprites-codes", "limits")
"""Studies whose pictures were read by readers that accepted more: their records are shown and no run is added to them."""

REFUSED = {
    **dict.fromkeys(EARLIER_READERS, r"origin.judges: None -> .*--results"),
    **dict.fromkeys(
        ("latent-diffusion", "latent-diffusion-ablations", "latent-diffusion-levels", "latent-diffusion-touch"),
        r"precision: .*--results",
    ),
    "molyneux-question-diffusion": r"precision: .*--results",
    **dict.fromkeys(
        ("shapeworld-concepts", "shapeworld-concepts-ablations", "shapeworld-concepts-counts", "shapeworld-figure6"),
        r"shapeworld-v1.*shapeworld-v2.*--results",
    ),
}
"""Studies to whose records no run is added, and why: other readers, trained in bf16 where `auto` is asked for now, or samples of
another version of their world."""

READ_FROM_FILES = ("AGNews", "AVMNIST", "FashionMNIST", "PolyMNIST", "SpokenDigits", "Stocks")


@pytest.mark.parametrize("name", SHIPPED)
def test_a_shipped_study_is_not_refused_by_its_own_records(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    study = load_study(TOP / "configs" / "studies" / f"{name}.yaml")
    if any(read in str(study.base_settings) for read in READ_FROM_FILES) and "MOLYNEUX_DATA" not in os.environ:
        pytest.skip("needs files in the folder that MOLYNEUX_DATA names")
    if study.search == "grid":
        monkeypatch.setattr("molyneux.run.study.read_experiment", parse_experiment)  # that models fit is tested with the files
        experiments = [experiment for same in check_points(study) for experiment in same]
        found = Records(TOP / "studies" / "results" / name / "records.jsonl")
        if name in REFUSED:
            with pytest.raises(ConflictError, match=REFUSED[name]):
                found.require_all_of(experiments)
        else:
            found.require_all_of(experiments)
