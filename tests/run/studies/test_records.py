"""Records of a study: one sweep at a time adds to them, and none is lost."""

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from molyneux.core import ConflictError, store
from molyneux.report import StudyRun, append_records, load_records, save_records, study_run
from molyneux.report.records import RecordsFile
from molyneux.run import Experiment, Outcome, Study, load_study, parse_experiment, run_study
from molyneux.run.studies import records
from molyneux.run.studies.records import Records
from molyneux.run.studies.study import check_points

TOP = Path(__file__).parents[3]
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


@pytest.fixture
def runs(finished: Outcome) -> list[StudyRun]:
    """The finished run and what it would be with other seeds."""
    run = study_run(finished.folder)
    return [replace(run, settings={**run.settings, "seed": seed}) for seed in (10, 2, 9)]


def content(runs: list[StudyRun]) -> list[str]:
    return [json.dumps([dict(run.settings), [score.to_json() for score in run.scores]], sort_keys=True) for run in runs]


def test_a_run_that_is_added_appends_lines_and_changes_none(runs: list[StudyRun], tmp_path: Path) -> None:
    path, written = tmp_path / "records.jsonl", [b""]
    for number, run in enumerate(runs, start=1):
        append_records(path, run)
        written.append(path.read_bytes())
        assert written[-1].startswith(written[-2])
        assert len(load_records(path)) == number
        append_records(path, run)  # again, and nothing is new
        assert path.read_bytes() == written[-1]
    added = written[-1].removeprefix(written[1]).decode().splitlines()
    assert [next(iter(json.loads(line))) for line in added] == ["run", "run"]  # what runs have in common is there
    save_records(tmp_path / "again.jsonl", runs)
    assert content(load_records(path)) == content(load_records(tmp_path / "again.jsonl"))
    save_records(path, load_records(path))
    assert path.read_bytes() == (tmp_path / "again.jsonl").read_bytes()


def test_what_is_there_is_read_once_however_many_runs_are_added(
    runs: list[StudyRun], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, other, read = tmp_path / "one.jsonl", tmp_path / "other.jsonl", list[Path]()
    monkeypatch.setattr(store, "read_text", lambda path, real=store.read_text, **most: read.append(path) or real(path, **most))
    append_records(one, runs[0])
    file = RecordsFile(one)
    read.clear()
    for run in runs[1:]:
        file.add(run)
    assert read == [one]  # whether its last line is whole
    file.add(runs[1])
    for run in runs:
        append_records(other, run)
    assert one.read_bytes() == other.read_bytes()


@pytest.mark.parametrize("cut", [1, 30])
def test_a_line_that_was_not_written_to_its_end_is_written_again(runs: list[StudyRun], tmp_path: Path, cut: int) -> None:
    path = tmp_path / "records.jsonl"
    for run in runs:
        append_records(path, run)
    whole = path.read_bytes()
    path.write_bytes(whole[:-cut])
    file = RecordsFile(path)
    assert len(file.runs) == (3 if cut == 1 else 2)  # of the line break alone
    assert path.read_bytes() == whole[:-cut]
    file.add(runs[-1])
    file.add(replace(runs[0], settings={**runs[0].settings, "seed": 77}))
    assert path.read_bytes().startswith(whole)
    assert len(load_records(path)) == 4


def test_a_run_that_was_measured_again_takes_the_place_of_its_record(
    finished: Outcome, experiment: Experiment, runs: list[StudyRun], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "records.jsonl"
    for run in (study_run(finished.folder), *runs):
        append_records(path, run)
    changed = study_run(finished.folder)
    changed = replace(changed, scores=changed.scores[1:])
    monkeypatch.setattr(records, "study_run", lambda folder, known: changed)
    Records(path).add(finished.folder, experiment)
    found = load_records(path)
    assert len(found) == 4
    (again,) = [run for run in found if run.seed == str(changed.settings["seed"])]
    assert len(again.scores) == len(changed.scores)


ADD = """
import sys
from dataclasses import replace
from pathlib import Path
from molyneux.core import store
from molyneux.report import append_records, load_records
from molyneux.core import ConflictError, store
(run,) = load_records(Path(sys.argv[1]))
for seed in range(int(sys.argv[3]), int(sys.argv[3]) + 10):
    while True:
        try:
            with store.locked(Path(sys.argv[2])):
                append_records(Path(sys.argv[2], "records.jsonl"), replace(run, settings={**run.settings, "seed": seed}))
            break
        except ConflictError:
            continue
    print(seed, flush=True)
"""


def adding(finished: Outcome, place: Path, first: int) -> "subprocess.Popen[str]":
    """A process that adds ten runs."""
    save_records(place / "one.jsonl", [study_run(finished.folder)])
    command = [sys.executable, "-c", ADD, str(place / "one.jsonl"), str(place / "results"), str(first)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def test_two_processes_that_hold_the_folder_lose_no_run(finished: Outcome, tmp_path: Path) -> None:
    both = [adding(finished, tmp_path, first) for first in (100, 200)]
    assert [process.wait() for process in both] == [0, 0]
    for process in both:
        process.communicate()
    found = [int(run.seed) for run in load_records(tmp_path / "results")]
    assert found == [*range(100, 110), *range(200, 210)]


def test_a_process_that_is_killed_while_it_appends_leaves_what_was_there(finished: Outcome, tmp_path: Path) -> None:
    process = adding(finished, tmp_path, 100)
    assert process.stdout is not None
    for _ in range(3):
        process.stdout.readline()
    process.kill()
    process.communicate()
    found = [int(run.seed) for run in load_records(tmp_path / "results")]
    assert found == [*range(100, 100 + len(found))]
    assert len(found) >= 3


EARLIER_READERS = ("cdsprites", "cdsprites-codes", "limits")
"""Studies whose pictures were read by readers that accepted more: their records are shown and no run is added to them."""

EARLIER_JUDGE = (
    *("broken-senses", "generative", "generative-4-5", "generative-convolutional", "generative-search", "image-nets"),
    *("incomplete", "molyneux-question", "generative-gebid"),
)
"""Studies whose pictures of CdSprites+ or GeBiD were read by the judge before today's."""

REFUSED = {
    **dict.fromkeys(EARLIER_READERS, r"origin.judges: None -> .*--results"),
    **dict.fromkeys(EARLIER_JUDGE, r"origin.judges.image: .*--results"),
    "polymnist": r"origin.judges.m0: .*--results",
    "spoken-digits": r"origin.judges.(audio|image): .*--results",
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


@pytest.mark.slow
@pytest.mark.parametrize("name", SHIPPED)
def test_a_shipped_study_is_not_refused_by_its_own_records(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    study = load_study(TOP / "configs" / "studies" / f"{name}.yaml")
    if any(read in str(study.base_settings) for read in READ_FROM_FILES) and "MOLYNEUX_DATA" not in os.environ:
        pytest.skip("needs files in the folder that MOLYNEUX_DATA names")
    if (
        "HanziStrokes" in str(study.base_settings)
        and not (Path(os.environ.get("MOLYNEUX_DATA", "")) / "hanzi-writer-data").is_dir()
    ):
        pytest.skip("needs the package hanzi-writer-data in the folder that MOLYNEUX_DATA names")
    if study.search == "grid":
        monkeypatch.setattr("molyneux.run.studies.study.read_experiment", parse_experiment)  # models that fit: see the files
        experiments = [experiment for same in check_points(study) for experiment in same]
        found = Records(TOP / "studies" / "results" / name / "records.jsonl")
        if name in REFUSED:
            with pytest.raises(ConflictError, match=REFUSED[name]):
                found.require_all_of(experiments)
        else:
            found.require_all_of(experiments)
