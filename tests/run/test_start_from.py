"""A training that starts from the weights of a finished run: a new run that names its parent."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest
import torch
from safetensors.torch import load_file

from molyneux.core import ConfigError, ConflictError, StoreError, store
from molyneux.core.config import read_document
from molyneux.report import load_records
from molyneux.run import (
    Experiment,
    ExportSettings,
    Outcome,
    Study,
    default_folder,
    export_run,
    measure_again,
    open_evaluation,
    open_experiment,
    opened_export,
    read_experiment,
    report_run,
    run_experiment,
    run_study,
)
from molyneux.run.run.parent import parent_of
from molyneux.run.trained.shipped import shipped_folder, shipped_names

Start = Callable[..., Experiment]


@pytest.fixture
def start(settings: dict[str, Any], finished: Outcome) -> Start:
    """Experiments that start from the finished run, or another folder."""

    def made(*overrides: tuple[str, Any], parent: Path | None = None) -> Experiment:
        return read_experiment(settings, [("learn.start_from", str(parent or finished.folder)), *overrides])

    return made


def weights(folder: Path) -> dict[str, torch.Tensor]:
    return load_file(folder / "model" / "weights.safetensors")


def tree_of(folder: Path) -> dict[str, str]:
    """The content of a folder."""
    return {str(path): store.checksum(path) for path in folder.rglob("*") if path.is_file() and path.name != ".lock"}


def test_it_starts_from_these_weights_and_names_its_parent(start: Start, finished: Outcome, tmp_path: Path) -> None:
    before = tree_of(finished.folder)
    outcome = run_experiment(start(("learn.steps", 1), ("learn.learning_rate", 1e-9), ("name", "more")), tmp_path / "run")
    old, new = weights(finished.folder), weights(outcome.folder)
    assert all(torch.allclose(old[name], new[name], atol=1e-7) for name in old)
    assert tree_of(finished.folder) == before
    parent = store.read_stage(outcome.folder / "model")["details"]["parent"]
    record = store.read_stage(finished.folder / "model")
    assert parent == {"name": "toy", "run": record["key"], "weights": record["files"]["weights.safetensors"]}
    texts = [
        path.read_text() for path in outcome.folder.rglob("*") if path.suffix in (".yaml", ".json", ".jsonl", ".md", ".html")
    ]
    assert not any(str(finished.folder) in text for text in texts)
    page = (outcome.folder / "report" / "report.md").read_text()
    assert "started from the weights of toy" in page
    assert parent["weights"] in page
    assert "--continue-from" in page


def test_a_run_without_a_parent_is_as_it_was(experiment: Experiment, finished: Outcome) -> None:
    assert "start_from" not in experiment.resolved["learn"]
    assert experiment.document == experiment.resolved
    assert "parent" not in store.read_stage(finished.folder / "model")["details"]
    assert "--continue-from" not in (finished.folder / "report" / "report.md").read_text()


def test_the_key_depends_on_the_weights_and_not_on_the_place(
    start: Start, experiment: Experiment, finished: Outcome, tmp_path: Path
) -> None:
    copy = Path(shutil.copytree(finished.folder, tmp_path / "copy"))
    one, other = start(), start(parent=copy)
    assert one.identity == other.identity
    assert default_folder(one) == default_folder(other) != default_folder(experiment)
    again = run_experiment(start(("seed", 4), ("learn.steps", 3)), tmp_path / "again")
    assert default_folder(start(parent=again.folder)) != default_folder(one)


def test_all_goes_on_where_the_parent_is_gone(start: Start, finished: Outcome, tmp_path: Path) -> None:
    copy = Path(shutil.copytree(finished.folder, tmp_path / "copy"))
    outcome = run_experiment(start(("learn.steps", 5), parent=copy), tmp_path / "run")
    shutil.rmtree(copy)
    shutil.rmtree(tmp_path / "run" / "report")
    assert report_run(outcome.folder).scores == outcome.scores
    assert measure_again(outcome.folder, trust=True).changed == ()
    assert open_evaluation(outcome.folder, trust=True).model
    export_run(outcome.folder, tmp_path / "export")
    assert store.read_stage(tmp_path / "export" / "model")["details"]["parent"]["name"] == "toy"
    assert "started from the weights of the run `toy`" in (tmp_path / "export" / "README.md").read_text()
    with opened_export(tmp_path / "export") as folder:
        assert measure_again(folder, trust=True).changed == ()
    assert run_experiment(open_experiment(outcome.folder, trust=True), outcome.folder).scores == outcome.scores


def test_an_export_is_a_parent_too_and_a_run_with_a_parent(start: Start, finished: Outcome, tmp_path: Path) -> None:
    export_run(finished.folder, tmp_path / "export")
    first = run_experiment(start(("learn.steps", 4), parent=tmp_path / "export"), tmp_path / "first")
    second = run_experiment(start(("learn.steps", 4), parent=first.folder), tmp_path / "second")
    named = store.read_stage(second.folder / "model")["details"]["parent"]
    assert named["weights"] == store.read_stage(first.folder / "model")["files"]["weights.safetensors"]


def test_other_data_other_steps_and_rates(start: Start, finished: Outcome, tmp_path: Path) -> None:
    changes = (("data.world", {"class_path": "toy.Toy", "init_args": {"spread": 0.5}}), ("learn.epochs", 1), ("seed", 9))
    outcome = run_experiment(start(*changes, ("learn.learning_rate", 1e-4), ("learn.optimizer", "sgd")), tmp_path / "run")
    assert outcome.scores
    assert store.read_stage(outcome.folder / "model")["details"]["epochs"] == 1


@pytest.mark.parametrize("bits", [8, 16])
def test_weights_that_were_exported_in_fewer_bits(start: Start, finished: Outcome, tmp_path: Path, bits: Literal[8, 16]) -> None:
    export_run(finished.folder, tmp_path / "export", ExportSettings(bits=bits))
    outcome = run_experiment(start(("learn.steps", 0), parent=tmp_path / "export"), tmp_path / "run", steps=["data", "learn"])
    old, new = weights(finished.folder), weights(outcome.folder)
    assert {name: tensor.dtype for name, tensor in old.items()} == {name: tensor.dtype for name, tensor in new.items()}
    assert all(torch.allclose(old[name], new[name], atol=0.02) for name in old)


@pytest.mark.parametrize("name", shipped_names())
def test_a_model_that_comes_with_the_package_is_a_parent_by_its_name(name: str) -> None:
    folder = shipped_folder(name)
    assert folder is not None
    assert parent_of(folder).name


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (("learn.model.init_args.latent_dim", 5), r"latent_dim.*expected \S+ of the shape .*\(and \d+ others\)"),
        (("learn.model", {"class_path": "MMVAE", "init_args": {"latent_dim": 4}}), "expected a run of the model MMVAE.*got MVAE"),
        (("learn.model", {"class_path": "DMVAE", "init_args": {"latent_dim": 4, "private_dim": 2}}), "got MVAE"),
        (("data.modalities", ["point"]), "expected no weights beside those of the model, got"),
    ],
)
def test_what_does_not_fit_is_told_before_anything_is_written(
    start: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: tuple[str, Any], told: str
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ConfigError, match=told) as caught:
        start(change)
    assert all(problem.startswith("learn.start_from: ") for problem in caught.value.problems)
    assert not list(tmp_path.iterdir())


def test_symbols_that_mean_something_else_do_not_fit(start: Start, finished: Outcome, tmp_path: Path) -> None:
    copy = Path(shutil.copytree(finished.folder, tmp_path / "copy"))
    path = copy / "model" / "spec.json"
    path.write_text(path.read_text().replace('"a",\n        "b"', '"b",\n        "a"').replace('["a", "b"]', '["b", "a"]'))
    assert path.read_text() != (finished.folder / "model" / "spec.json").read_text()
    record = store.read_stage(copy / "model")
    store.StageFolder(copy / "model", record["settings"]).finish(record["details"])
    with pytest.raises(ConfigError, match="expected word as the samples have it"):
        start(parent=copy)


def test_what_is_no_parent(start: Start, finished: Outcome, settings: dict[str, Any], tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"learn.start_from: expected the folder of a run, got"):
        start(parent=tmp_path / "nothing")
    untrained = run_experiment(read_experiment(settings), tmp_path / "untrained", steps=["data"]).folder
    with pytest.raises(ConfigError, match=r"learn.start_from: expected a trained model in"):
        start(parent=untrained)
    copy = Path(shutil.copytree(finished.folder, tmp_path / "copy"))
    content = bytearray((copy / "model" / "weights.safetensors").read_bytes())
    content[-1] ^= 1
    (copy / "model" / "weights.safetensors").write_bytes(bytes(content))
    with pytest.raises(ConfigError, match=r"learn.start_from: .*weights.safetensors was truncated or altered"):
        start(parent=copy)


def test_weights_that_change_between_the_check_and_the_start(start: Start, finished: Outcome, tmp_path: Path) -> None:
    copy = Path(shutil.copytree(finished.folder, tmp_path / "copy"))
    chosen = start(("learn.steps", 2), parent=copy)
    other = run_experiment(start(("learn.steps", 2), ("seed", 8)), tmp_path / "other")
    shutil.rmtree(copy)
    shutil.copytree(other.folder, copy)
    with pytest.raises(ConflictError, match="are no longer those that"):
        run_experiment(chosen, tmp_path / "run")
    assert not (tmp_path / "run" / "model" / "stage.json").exists()


@pytest.mark.slow
def test_a_training_that_was_cut_goes_on_without_its_parent_from_its_checkpoint(
    start: Start, finished: Outcome, tmp_path: Path
) -> None:
    class StoppedError(Exception):
        pass

    class Cut:
        def begin(self, step: str, note: str) -> None: ...
        def advance(self, done: int, total: int, note: str = "") -> None: ...
        def step(self, done: int, total: int, samples_per_second: float, seconds_left: float) -> None: ...
        def note(self, text: str) -> None: ...
        def epoch(self, row: Any) -> None:
            if row["epoch"] == 2:
                raise StoppedError

    copy = Path(shutil.copytree(finished.folder, tmp_path / "copy"))
    setting = ("learn.checkpoint_seconds", 0.0)
    whole = run_experiment(start(setting), tmp_path / "whole")
    with pytest.raises(StoppedError):
        run_experiment(start(setting, parent=copy), tmp_path / "run", progress=Cut())
    begun = run_experiment(start(setting, parent=copy), tmp_path / "begun", steps=["data"]).folder
    shutil.rmtree(copy)
    outcome = run_experiment(open_experiment(tmp_path / "run", trust=True), tmp_path / "run")
    assert outcome.scores == whole.scores
    with pytest.raises(StoreError, match="name it with --continue-from"):  # nothing to go on from
        run_experiment(open_experiment(begun, trust=True), begun)


def test_a_prior_is_fitted_to_a_finished_run_without_a_training(start: Start, finished: Outcome, tmp_path: Path) -> None:
    prior = ("learn.model.init_args.prior", {"class_path": "ExPostMixture", "init_args": {"components": 3}})
    outcome = run_experiment(start(("learn.steps", 0), prior), tmp_path / "run")
    old, new = weights(finished.folder), weights(outcome.folder)
    assert all(torch.equal(old[name], new[name]) for name in old)
    assert {name.partition(".")[0] for name in new.keys() - old.keys()} == {"fitted"}
    details = store.read_stage(outcome.folder / "model")["details"]
    assert (details["epochs"], details["steps"]) == (0, 0)
    assert details["fit_seconds"] > 0
    assert "fitted" in open_evaluation(outcome.folder, trust=True).model.priors  # type: ignore[attr-defined]
    back = run_experiment(start(("learn.steps", 0), parent=outcome.folder), tmp_path / "back")
    assert all(torch.equal(old[name], tensor) for name, tensor in weights(back.folder).items())
    export_run(outcome.folder, tmp_path / "export")
    with opened_export(tmp_path / "export") as folder:
        assert measure_again(folder, trust=True).changed == ()


def test_no_steps_need_a_run_to_start_from(settings: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match=r"steps: expected at least 1, got 0: .* needs start_from"):
        read_experiment(settings, [("learn.steps", 0)])


AUTOENCODERS = {"name": "autoencoders", "epochs": 1}
FIT = {"steps": 4, "batch_size": 16, "samples": 100}


def mld(**settings: Any) -> tuple[str, Any]:
    return ("learn.model", {"class_path": "MLD", "init_args": {"latent_dim": 2, **settings}})


@pytest.mark.parametrize("width", [16, 24])
def test_stages_and_the_diffusion_model_that_is_fitted_after_them(settings: dict[str, Any], tmp_path: Path, width: int) -> None:
    net = {"width": 16, "blocks": 1}
    first = run_experiment(
        read_experiment(settings, [mld(diffusion=net), ("learn.stages", [AUTOENCODERS, {"name": "diffusion", "epochs": 1}])]),
        tmp_path / "first",
    )
    begin = ("learn.start_from", str(first.folder))
    more = run_experiment(
        read_experiment(settings, [mld(diffusion=net), ("learn.stages", [{"name": "diffusion", "epochs": 1}]), begin]),
        tmp_path / "more",
    )
    anew = run_experiment(
        read_experiment(
            settings,
            [mld(diffusion={**net, "width": width, "after": FIT}), ("learn.stages", [AUTOENCODERS]), ("learn.steps", 0), begin],
        ),
        tmp_path / "anew",
    )
    old = weights(first.folder)
    for outcome in (more, anew):
        new = weights(outcome.folder)
        kept = [name for name in old if name.startswith("networks.")]
        assert kept
        assert all(torch.equal(old[name], new[name]) for name in kept)
        assert any(old[name].shape != new[name].shape or not torch.equal(old[name], new[name]) for name in old)
    assert store.read_stage(anew.folder / "model")["details"]["steps"] == 0


@pytest.mark.slow
def test_a_study_varies_the_parent(
    settings: dict[str, Any], finished: Outcome, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Quiet:
        def plan(self, runs: int) -> None: ...
        def run(self, name: str, step: str, done: int, total: int) -> None: ...

    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parent))
    settings["learn"] |= {"start_from": str(finished.folder), "steps": 0, "epochs": 1}
    settings["report"] = ["markdown"]
    prior = {"class_path": "ExPostMixture", "init_args": {"components": 2}}
    study = Study(name="priors", base=settings, grid={"learn.model.init_args.prior": [None, prior]})
    outcome = run_study(study, tmp_path / "runs", tmp_path / "results", progress=Quiet())
    assert [item.error for item in outcome.finished] == ["", ""]
    costs = store.read_lines(tmp_path / "results" / "costs.jsonl")
    assert [(each["steps"], each["seconds"] >= 0) for each in costs] == [(0, True)] * 2
    records = (tmp_path / "results" / "records.jsonl").read_text()
    assert str(finished.folder) not in records
    assert load_records(tmp_path / "results")[0].settings["learn.start_from.name"] == "toy"
    assert np.isfinite(costs[0]["seconds"])
    assert read_document(next((tmp_path / "runs" / "experiments").glob("*.yaml")))["learn"]["start_from"] == str(finished.folder)
