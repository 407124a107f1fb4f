"""A run does what is missing, and refuses what is not its own."""

import getpass
import json
import shutil
import socket
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from molyneux.core import ConfigError, ConflictError, CorruptFileError, DataError, MolyneuxError, StoreError, store
from molyneux.data import StoredSource, store_samples, store_shards
from molyneux.measure import evaluate
from molyneux.run import (
    Experiment,
    Outcome,
    Silent,
    measure_again,
    open_evaluation,
    open_experiment,
    read_experiment,
    run_experiment,
)
from molyneux.run.run.folder import RunFolder


class Steps(Silent):
    """Remembers what was begun."""

    def __init__(self) -> None:
        self.notes: list[tuple[str, str]] = []

    def begin(self, step: str, note: str) -> None:
        self.notes.append((step, note))


@pytest.fixture
def copy(finished: Outcome, tmp_path: Path) -> Path:
    """A finished run that a test may damage."""
    return Path(shutil.copytree(finished.folder, tmp_path / "copy"))


def test_a_run_leaves_four_stages_and_a_report(finished: Outcome, experiment: Experiment) -> None:
    names = {str(path.relative_to(finished.folder)) for path in finished.folder.rglob("*") if path.is_file()}
    assert {
        "config.yaml",
        "machine.json",
        "samples/spec.json",
        "samples/recipe.json",
        "model/config.yaml",
        "model/weights.safetensors",
        "model/history.csv",
        "measure/scores.jsonl",
        "measure/exhibits.json",
        "report/report.html",
        "report/report.md",
    } <= names
    assert {f"{stage}/stage.json" for stage in ("samples", "model", "measure", "report")} <= names
    assert {score.name for score in finished.scores} >= {"coherence.strict", "coherence.features"}
    assert [page.name for page in finished.pages] == ["report.html", "report.md"]
    assert open_experiment(finished.folder, trust=True).identity == experiment.identity


def test_the_arithmetic_of_the_training_is_in_the_records(finished: Outcome) -> None:
    used = store.read_stage(finished.folder / "model")["details"]["precision"]
    assert used in ("32", "bf16")
    assert {score.origin["precision"] for score in finished.scores} == {used}


def test_a_run_is_taken_up_again(finished: Outcome, copy: Path, tmp_path: Path) -> None:
    opened = open_evaluation(finished.folder, trust=True)
    assert not opened.model.training
    assert opened.model.encode(opened.source.batch(np.arange(5)), ["word"]).mean.shared.shape == (5, 4)
    again = evaluate(open_experiment(finished.folder, trust=True).measure.measures, opened)
    assert again.scores == finished.scores
    (copy / "model" / "weights.safetensors").write_bytes(b"")
    with pytest.raises(CorruptFileError, match="weights"):
        open_evaluation(copy, trust=True)
    with pytest.raises(StoreError, match=r"which has no config\.yaml"):
        open_evaluation(tmp_path)
    (copy / "model" / "stage.json").unlink()
    with pytest.raises(StoreError, match=r"expected a trained model .* run molyneux learn"):
        open_evaluation(copy, trust=True)


@pytest.mark.slow
def test_a_model_learns_and_is_measured_under_every_condition(settings: dict[str, Any], tmp_path: Path) -> None:
    noise = {"corruption": "GaussianNoise", "strengths": [0.0, 1.0]}
    training = [("learn.epochs", 20), ("learn.model.reconstruct", "all"), ("learn.model.beta", 0.01)]
    conditions = ("measure.conditions", [noise, {"missing": ["word"]}, {"split": "validation"}, {"split": "train"}])
    longer = read_experiment(settings, [*training, conditions])
    scores = run_experiment(longer, tmp_path / "run", steps=("data", "learn", "measure")).scores
    values: dict[str, list[tuple[str, float]]] = {}
    for score in scores:
        if score.name == "coherence.strict" and score.about["source"] != "prior":
            about = {name: score.about[name] for name in ("corruption", "strength", "missing", "split") if name in score.about}
            values.setdefault(str(about), []).append((score.origin["split"], score.value or 0.0))
    name = next(score.about["corruption"] for score in scores if "corruption" in score.about)
    corrupted = [{"corruption": name, "strength": strength} for strength in ("0", "1")]
    assert list(values) == [
        str(about) for about in ({}, *corrupted, {"missing": ("word",)}, {"split": "validation"}, {"split": "train"})
    ]
    plain, none, noisy, lacking, validation, train = values.values()
    assert min(value for _, value in plain) > 90
    assert plain == none
    assert min(value for _, value in noisy) < 90
    assert lacking == plain[:1]  # nothing is generated from words that are not there
    assert [{split for split, _ in found} for found in (validation, train)] == [{"validation"}, {"train"}]
    with pytest.raises(ConfigError, match=r"measure\.conditions\.0: unknown modality 'sound'"):
        read_experiment(settings, [("measure.conditions", [{"missing": ["sound"]}])])


def test_the_machine_is_described_without_names(finished: Outcome) -> None:
    text = (finished.folder / "machine.json").read_text()
    assert json.loads(text)["versions"]["torch"]
    assert json.loads(text)["instructions"] == torch.backends.cpu.get_cpu_capability()
    for name in (socket.gethostname(), getpass.getuser(), str(Path.home()), str(finished.folder)):
        assert f'"{name}"' not in text
        assert len(name) < 6 or name not in text


def test_what_is_complete_is_not_done_again(copy: Path, experiment: Experiment) -> None:
    times = {path: path.stat().st_mtime_ns for path in copy.rglob("*") if path.is_file()}
    steps = Steps()
    run_experiment(experiment, copy, progress=steps)
    assert {path: path.stat().st_mtime_ns for path in copy.rglob("*") if path.is_file()} == times
    assert steps.notes == [(step, "done before: checking its files") for step in ("data", "learn", "measure", "report")]


def test_a_lost_stage_is_made_again_with_the_same_scores(copy: Path, experiment: Experiment, finished: Outcome) -> None:
    shutil.rmtree(copy / "measure")
    shutil.rmtree(copy / "report")
    (copy / "model" / ".weights.safetensors.x.part").write_bytes(b"left behind")
    assert run_experiment(experiment, copy).scores == finished.scores
    assert not list(copy.rglob("*.part"))


def test_steps_alone(experiment: Experiment, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    with pytest.raises(StoreError, match=r"model to be complete before step measure: run molyneux learn .* first"):
        run_experiment(experiment, folder, steps=("measure",))
    with pytest.raises(StoreError, match=r"samples to be complete before step learn: run molyneux data"):
        run_experiment(experiment, folder, steps=("learn",))
    assert run_experiment(experiment, folder, steps=("data",)).scores == ()
    with pytest.raises(MolyneuxError, match=r"unknown step 'mesure'; did you mean"):
        run_experiment(experiment, folder, steps=("mesure",))  # type: ignore[arg-type]


def test_another_configuration_is_refused(copy: Path, settings: dict[str, Any]) -> None:
    other = read_experiment(settings, [("learn.epochs", 4)])
    with pytest.raises(ConflictError, match=r"made by another configuration \(learn\.epochs: 3 -> 4\): choose another folder"):
        run_experiment(other, copy)


def test_other_measures_of_the_same_model_need_no_other_folder(copy: Path, settings: dict[str, Any]) -> None:
    before = (copy / "model" / "stage.json").stat().st_mtime_ns
    other = read_experiment(settings, [("measure.samples", 50), ("measure.split", "validation")])
    with pytest.raises(StoreError, match=r"expected .*measure to be complete before step report: run molyneux measure"):
        run_experiment(other, copy, steps=("report",))
    told = Steps()
    measured = run_experiment(other, copy, progress=told)
    assert ("learn", "done before: checking its files") in told.notes
    assert ("measure", "measuring") in told.notes
    assert {score.n for score in measured.scores if score.name == "coherence.strict"} == {50}
    assert (copy / "model" / "stage.json").stat().st_mtime_ns == before
    assert open_experiment(copy, trust=True).identity == other.identity
    assert "measured on 50 validation samples" in (copy / "report" / "report.md").read_text()

    html = read_experiment(settings, [("measure.samples", 50), ("measure.split", "validation"), ("report", ["html"])])
    scores = (copy / "measure" / "scores.jsonl").stat().st_mtime_ns
    assert [page.name for page in run_experiment(html, copy).pages] == ["report.html"]
    assert (copy / "measure" / "scores.jsonl").stat().st_mtime_ns == scores
    assert not (copy / "report" / "report.md").exists()


def test_folders_of_others_are_left_alone(experiment: Experiment, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "letter.txt").write_text("dear")
    with pytest.raises(ConflictError, match="is no folder of a run, and is not empty"):
        run_experiment(experiment, tmp_path / "mine")
    assert [path.name for path in (tmp_path / "mine").iterdir()] == ["letter.txt"]
    with pytest.raises(StoreError, match="a file stands where a folder is needed"):
        run_experiment(experiment, tmp_path / "mine" / "letter.txt")
    with pytest.raises(StoreError, match="expected the folder of a run"):
        open_experiment(tmp_path)


def test_a_folder_in_use_is_refused(copy: Path, experiment: Experiment) -> None:
    with store.locked(copy), pytest.raises(ConflictError, match="another process is working in"):
        run_experiment(experiment, copy)


def test_kept_samples_are_what_is_learnt_from(settings: dict[str, Any], finished: Outcome, tmp_path: Path) -> None:
    kept = read_experiment(settings, [("data.keep", True)])
    outcome = run_experiment(kept, tmp_path / "run", steps=("data", "learn", "measure"))
    assert [score.value for score in outcome.scores] == [score.value for score in finished.scores]
    assert len(StoredSource(outcome.folder / "samples" / "train")) == 600
    array = outcome.folder / "samples" / "test" / "view.point.npy"
    array.write_bytes(array.read_bytes()[:-1])
    with pytest.raises(CorruptFileError, match=r"view\.point\.npy"):
        run_experiment(kept, outcome.folder)


def test_stored_samples_are_checked(settings: dict[str, Any], experiment: Experiment, tmp_path: Path) -> None:
    for split in ("train", "validation", "test"):
        store_samples(experiment.data.dataset.source(split, 100, seed=3), tmp_path / "stored" / split)
    sizes = {"train": 100, "validation": 100, "test": 100}
    stored = read_experiment({**settings, "data": {"world": "toy.Toy", "folder": str(tmp_path / "stored"), **sizes}})
    run_experiment(stored, tmp_path / "run", steps=("data",))
    array = tmp_path / "stored" / "validation" / "view.word.npy"
    content = bytearray(array.read_bytes())
    content[-1] ^= 1
    array.write_bytes(content)
    for folder in ("run", "other"):
        with pytest.raises(CorruptFileError, match=r"validation/view\.word\.npy was truncated or altered"):
            run_experiment(stored, tmp_path / folder)


def test_splits_of_the_same_samples_are_refused(settings: dict[str, Any], experiment: Experiment, tmp_path: Path) -> None:
    for split, content in (("train", "train"), ("validation", "validation"), ("test", "train")):
        store_samples(experiment.data.dataset.source(content, 100, seed=3), tmp_path / "stored" / split)
    sizes = {"train": 100, "validation": 100, "test": 100}
    with pytest.raises(ConfigError, match=r"data\.folder: expected other samples in test than in train, got the same"):
        read_experiment({**settings, "data": {"world": "toy.Toy", "folder": str(tmp_path / "stored"), **sizes}})


def test_a_run_on_samples_in_shards(settings: dict[str, Any], experiment: Experiment, tmp_path: Path) -> None:
    for split in ("train", "validation", "test"):
        store_shards(experiment.data.dataset.source(split, 110, seed=3), tmp_path / "stored" / split, shard=40)
    sizes = {"train": 100, "validation": 100, "test": 110}
    stored = read_experiment({**settings, "data": {"world": "toy.Toy", "folder": str(tmp_path / "stored"), **sizes}})
    first, second = (run_experiment(stored, tmp_path / name) for name in ("one", "other"))
    assert first.scores == second.scores
    assert measure_again(tmp_path / "one", trust=True).changed == ()
    shard = sorted((tmp_path / "stored" / "train").glob("*.safetensors"))[1]
    content = bytearray(shard.read_bytes())
    content[-1] ^= 1
    shard.write_bytes(content)
    with pytest.raises(CorruptFileError, match=r"000000000040-000000000080\.safetensors was truncated or altered"):
        run_experiment(stored, tmp_path / "third")


def test_samples_that_are_no_longer_the_same_are_noticed(
    copy: Path, experiment: Experiment, monkeypatch: pytest.MonkeyPatch
) -> None:
    original = type(experiment.data.dataset).batch

    def changed(world: Any, indices: Any, *, split: str, seed: int) -> Any:
        batch = original(world, indices, split=split, seed=seed)
        batch.views["point"][:, 0] += 1e-6
        return batch

    monkeypatch.setattr(type(experiment.data.dataset), "batch", changed)
    with pytest.raises(ConflictError, match="the train samples are no longer those that"):
        run_experiment(experiment, copy)


def test_nan_in_the_samples_stops_before_anything_is_learnt(settings: dict[str, Any], tmp_path: Path) -> None:
    broken = read_experiment(settings, [("data.world.nan_at", 17)])
    with pytest.raises(DataError, match="modality point: expected finite numbers, got NaN or infinity in sample 17"):
        run_experiment(broken, tmp_path / "run")
    assert not list((tmp_path / "run" / "model").rglob("*.safetensors"))


def test_missing_modalities_in_training(settings: dict[str, Any], tmp_path: Path) -> None:
    sparse = read_experiment(settings, [("data.missing", {"word": 0.5}), ("learn.epochs", 1)])
    batch = sparse.samples.source("train").batch(np.arange(600))
    assert 0.4 < batch.mask("word").float().mean() < 0.6
    assert sparse.samples.source("test").batch(np.arange(10)).present == {}
    assert run_experiment(sparse, tmp_path / "run", steps=("data", "learn", "measure")).scores


def test_settings_are_chosen_without_a_look_at_the_test_split(
    settings: dict[str, Any], finished: Outcome, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tuning = read_experiment(settings, [("measure.split", "validation"), ("data.missing", {"word": 0.5}), ("learn.epochs", 1)])
    run_experiment(tuning, tmp_path / "run", steps=("data", "learn"))
    original, read = type(tuning.data.dataset).batch, set[str]()

    def watched(world: Any, indices: Any, *, split: str, seed: int) -> Any:
        read.add(split)
        return original(world, indices, split=split, seed=seed)

    monkeypatch.setattr(type(tuning.data.dataset), "batch", watched)
    measured = run_experiment(tuning, tmp_path / "run", steps=("measure", "report"))
    assert read == {"train", "validation"}  # controls are made of training samples
    assert {score.origin["split"] for score in measured.scores} == {"validation"}
    assert {score.n for score in measured.scores if score.name == "coherence.strict"} == {100}  # none lacks a word
    assert "measured on 100 validation samples" in (tmp_path / "run" / "report" / "report.md").read_text()
    assert {score.origin["split"] for score in finished.scores} == {"test"}
    on_test = read_experiment(settings)
    on_validation = read_experiment(settings, [("measure.split", "validation")])
    assert RunFolder(tmp_path, on_test).measure.key != RunFolder(tmp_path, on_validation).measure.key
    assert RunFolder(tmp_path, on_test).model.key == RunFolder(tmp_path, on_validation).model.key
