import pytest

from molyneux.core import CorruptFileError, Score, StoreError, store
from molyneux.report import StudyRun, load_records, read_run
from molyneux.report.records import by_seed, save_records


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
    store.StageFolder(run_folder / "model", {}).finish({"parameters": 412345})
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


GOOD = '{"format":3}'


@pytest.mark.parametrize(
    ("content", "error", "sentence"),
    [
        ("", StoreError, "expected records of runs in .*, which is empty: run the sweep"),
        (GOOD, StoreError, "expected records of runs in .*, which is empty: run the sweep"),
        (f"{GOOD}\n{GOOD[:8]}", CorruptFileError, "is damaged .line 2 is no JSON"),
        (f"{GOOD}\n[1, 2]", CorruptFileError, r"is damaged .line 2: expected a JSON object, got \[1, 2\]"),
        (f"{GOOD}\n{{}}", CorruptFileError, "line 2 of .* is no record of a run .it tells neither a run nor settings"),
        ("{}", CorruptFileError, r"line 1 of .* is no record of a run .expected .\"format\":3..: name a file"),
        ("name: generative", CorruptFileError, "is damaged .line 1 is no JSON"),
    ],
)
def test_what_is_no_record_of_a_study_is_named_with_its_line(tmp_path, content, error, sentence):
    path = tmp_path / "records.jsonl"
    path.write_text(content)
    with pytest.raises(error, match=sentence):
        load_records(path)


def test_seeds_are_read_in_the_order_of_their_numbers_whatever_else_their_records_hold(tmp_path):
    def run(seed, name, digest):
        return StudyRun({"name": name, "seed": seed}, (Score("a.b", float(seed), {}, origin={"experiment": digest}),))

    runs = [run(10, "LF", "a"), run(2, "LF", "b"), run(1, "EF", "c"), run(1, "LF", "d"), run(3, "EF", "e")]
    save_records(tmp_path / "records.jsonl", runs)
    found = [(one.settings["name"], one.seed) for one in load_records(tmp_path)]
    assert found == [("EF", "1"), ("EF", "3"), ("LF", "1"), ("LF", "2"), ("LF", "10")]
    assert [(one.settings["name"], one.seed) for one in by_seed(runs)] == [*found[2:], *found[:2]]
