import pytest

from molyneux.core import CorruptFileError, StoreError
from molyneux.report import read_run


def test_everything_recorded_is_read(run_folder):
    run = read_run(run_folder)
    assert run.name == "mvae-3"
    assert run.config["seed"] == 1
    assert run.config_text.startswith("seed: 1")
    assert len(run.scores) == 26
    assert len(run.exhibits) == 3
    assert run.history["epoch"][-1] == 20
    assert run.machine["versions"]["torch"] == "2.13.0"
    assert run.spec is not None
    assert run.contact_sheet == b""


def test_only_configuration_and_scores_are_needed(run_folder):
    for path in ("machine.json", "model/history.csv", "samples/spec.json", "measure/exhibits.json"):
        (run_folder / path).unlink()
    run = read_run(run_folder)
    assert (run.machine, run.history, run.spec, run.exhibits, run.parameters) == ({}, {}, None, (), 0)


def test_without_samples_the_model_tells_what_they_looked_like(run_folder):
    (run_folder / "samples" / "spec.json").rename(run_folder / "model" / "spec.json")
    assert read_run(run_folder).spec.names == ("image", "text", "touch")


def test_the_model_stage_tells_the_number_of_parameters(run_folder):
    (run_folder / "model" / "stage.json").write_text('{"details": {"parameters": 412345}}')
    assert read_run(run_folder).parameters == 412345


@pytest.mark.parametrize(
    ("path", "sentence"),
    [("config.yaml", "expected the configuration .*config.yaml"), ("measure/scores.jsonl", "run molyneux measure .* first")],
)
def test_missing_files_are_named(run_folder, path, sentence):
    (run_folder / path).unlink()
    with pytest.raises(StoreError, match=sentence):
        read_run(run_folder)


def test_a_missing_folder_is_named(tmp_path):
    with pytest.raises(StoreError, match=r"expected the folder of a run, got .*nowhere"):
        read_run(tmp_path / "nowhere")


@pytest.mark.parametrize(
    ("path", "content", "sentence"),
    [
        ("config.yaml", "a: [1", "is no YAML"),
        ("config.yaml", "- 1", r"expected settings as `name: value` lines, got a list: restore it"),
        ("measure/scores.jsonl", "{", "is damaged"),
        ("model/history.csv", "epoch,train/loss\n1,x\n", "is damaged"),
        ("model/history.csv", "epoch,train/loss\n1\n", "is damaged"),
        ("model/history.csv", "epoch,train/loss\n1,2\n2\n", "is damaged"),
    ],
)
def test_damaged_files_are_named(run_folder, path, content, sentence):
    (run_folder / path).write_text(content)
    with pytest.raises(CorruptFileError, match=sentence):
        read_run(run_folder)
