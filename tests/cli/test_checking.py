"""`molyneux check` of experiments and studies: what a run would refuse is told before it begins, and nothing is written."""

import json
from pathlib import Path

import pytest
import yaml

from molyneux.cli import main

WORLD = {"world": {"class_path": "CdSprites", "init_args": {"level": 1}}, "train": 32, "validation": 8, "test": 8}
LEARN = {"model": {"class_path": "MVAE", "init_args": {"latent_dim": 4}}, "steps": 2, "batch_size": 8}
EXPERIMENT = {"data": WORLD, "learn": LEARN, "measure": ["coherence"]}
ROWS = "width,kind\n" + "".join(f"{row}.5,{('big', 'small')[row % 2]}\n" for row in range(40))


def checked(tmp_path: Path, settings: dict, *words: str, capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    path = tmp_path / "settings.yaml"
    path.write_text(yaml.safe_dump(settings))
    before = sorted(tmp_path.rglob("*"))
    status = main(["check", str(path), *words])
    assert sorted(tmp_path.rglob("*")) == before
    told = capsys.readouterr()
    return status, told.out + told.err


def test_an_experiment_that_runs_is_right(tmp_path, capsys):
    status, told = checked(tmp_path, EXPERIMENT, capsys=capsys)
    assert (status, "nothing wrong was found" in told, "the model and what is measured fit" in told) == (0, True, True)
    assert json.loads(checked(tmp_path, EXPERIMENT, "--json", capsys=capsys)[1]) == {"clean": True, "name": "settings.yaml"}


@pytest.mark.parametrize(
    ("part", "value", "told"),
    [
        ("learn", {**LEARN, "model": {"class_path": "MVAE", "init_args": {"latent_dim": "x"}}}, "expected an integer, got 'x'"),
        ("learn", {**LEARN, "model": "NoSuchModel"}, "NoSuchModel"),
        ("measure", ["no_such_measure"], "no_such_measure"),
        ("measure", [{"class_path": "TwoWayChoice", "init_args": {"by": "role"}}], "role"),
        ("data", {**WORLD, "train": -1}, "train"),
    ],
)
def test_what_a_run_refuses_is_told(part, value, told, tmp_path, capsys):
    status, said = checked(tmp_path, {**EXPERIMENT, part: value}, capsys=capsys)
    assert status == 2
    assert told in said


def test_settings_of_the_command_line_count(tmp_path, capsys):
    status, told = checked(tmp_path, EXPERIMENT, "--learn.model.latent_dim", "x", capsys=capsys)
    assert status == 2
    assert "latent_dim: expected an integer" in told


def test_data_alone_and_data_with_a_model(tmp_path, capsys):
    (tmp_path / "items.csv").write_text(ROWS)
    own = {"data": {"table": {"path": "items.csv", "tabular": ["width"], "labels": ["kind"]}}}
    assert checked(tmp_path, own, capsys=capsys)[0] == 0
    status, told = checked(tmp_path, {**own, "learn": LEARN, "measure": ["latent_probe"]}, capsys=capsys)
    assert status == 0
    assert "The model and what is measured fit the data." in told
    unfit = [{"class_path": "TwoWayChoice", "init_args": {"by": "role"}}]
    status, told = checked(tmp_path, {**own, "learn": LEARN, "measure": unfit}, capsys=capsys)
    assert (status, "role" in told) == (2, True)
    (tmp_path / "items.csv").write_text(ROWS.replace("2.5,big", "2.5,big,5"))
    status, told = checked(tmp_path, {**own, "learn": LEARN, "measure": ["latent_probe"]}, capsys=capsys)
    assert status == 1
    assert "line" in told


def test_all_runs_of_a_study(tmp_path, capsys):
    study = {"base": EXPERIMENT, "seeds": [1, 2], "grid": {"learn.steps": [2, 3, 4]}}
    status, told = checked(tmp_path, study, capsys=capsys)
    assert (status, "a study of 6 runs" in told) == (0, True)
    study["grid"] = {"learn.steps": [2, -3]}
    status, told = checked(tmp_path, study, capsys=capsys)
    assert (status, "steps" in told) == (2, True)
    status, told = checked(tmp_path, study, "--learn.steps", "2", capsys=capsys)
    assert (status, "in its file" in told) == (2, True)
