"""A search goes on from its records: the trials in `trials.jsonl` stand for a storage that is gone."""

import json
import shutil
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from optuna.trial import TrialState

from molyneux.core import ConflictError, CorruptFileError, store
from molyneux.core.config import dump_document
from molyneux.report import load_records, save_records
from molyneux.run import Goal, Range, Study, SweepOutcome, load_study, run_study
from molyneux.run.studies.launch import Job, LocalLauncher, Report
from molyneux.run.studies.trials import Trials
from molyneux.run.studies.trials_file import TrialsFile
from molyneux.run.studies.worker import ProgressLines, _compute

GOAL = Goal(score="coherence.strict", about={"source": "word", "target": "point"})
FILE = "trials.jsonl"
SHIPPED = Path(__file__).parents[3]


class Quiet:
    """Progress of a sweep that nobody reads."""

    def plan(self, runs: int) -> None:
        pass

    def run(self, name: str, step: str, done: int, total: int) -> None:
        pass


@pytest.fixture
def computed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Runs are computed in this process, one at a time, as a worker computes them; their names, in the order of their ends."""
    one, names = threading.Lock(), list[str]()

    def run(launcher: LocalLauncher, job: Job, report: Report) -> str:
        with one, (job.folder.parent / "progress").open("a") as stream:
            names.append(job.name)
            try:
                _compute(*job.words, ProgressLines(stream))
            except Exception as error:
                return str(error)
        return ""

    monkeypatch.setattr(LocalLauncher, "run", run)
    return names


@pytest.fixture
def study(settings: dict[str, Any]) -> Study:
    settings["learn"] |= {"epochs": 3, "threads": 1, "tensorboard": False}
    settings["data"] |= {"train": 100, "validation": 50, "test": 50}
    settings["measure"] = ["coherence"]
    settings["report"] = {"formats": ["markdown"]}
    return Study(
        name="mine",
        base=settings,
        search="tpe",
        trials=6,
        goal=GOAL,
        variants={"MVAE": {}, "MoPoE": {"learn.model.class_path": "MoPoE"}},
        grid={"learn.batch_size": (20, 50), "measure": (["coherence"], {"measures": ["coherence"]})},
        ranges={
            "learn.learning_rate": Range(low=1e-6, high=1e-1, log=True),
            "learn.model.latent_dim": Range(low=2, high=6, whole=True),
        },
    )


def swept(study: Study, place: Path, jobs: int = 1, runs: str = "runs") -> SweepOutcome:
    return run_study(study, place / runs, place / "results", jobs=jobs, progress=Quiet())


def stored(study: Study, folder: Path) -> list[tuple[Any, ...]]:
    """What the storage has of every trial."""
    trials = Trials(study, folder).counted()
    return [(t.number, t.state, t.params, t.distributions, t.values, t.intermediate_values) for t in trials]


@pytest.mark.parametrize(
    ("jobs", "changed"),
    [(1, {}), (2, {"pruning": "median", "seeds": (3, 4)}), (1, {"search": "random", "apart": True, "trials": 3})],
)
def test_a_search_in_a_fresh_folder_goes_on_as_if_it_had_not_been_interrupted(
    study: Study, tmp_path: Path, computed: list[str], jobs: int, changed: dict[str, Any]
) -> None:
    study = replace(study, **changed)
    whole = swept(study, tmp_path / "whole", jobs)
    expected = set(computed)
    computed.clear()
    swept(replace(study, trials=study.trials // 2), tmp_path / "cut", jobs)
    before = set(computed)
    computed.clear()
    shutil.rmtree(tmp_path / "cut" / "runs")
    again = swept(study, tmp_path / "cut", jobs, runs="elsewhere")
    assert before < expected
    assert len(computed) == len(set(computed))
    assert set(computed) == expected - before  # no run is computed twice
    assert {item.folder.name for item in (*again.recorded, *again.pruned)} >= before
    assert [(item.folder.name, item.pruned) for item in again.finished] == [
        (item.folder.name, item.pruned) for item in whole.finished
    ]
    results = [tmp_path / place / "results" for place in ("whole", "cut")]
    assert (results[0] / FILE).read_bytes() == (results[1] / FILE).read_bytes()
    for place in results:
        save_records(place / "sorted.jsonl", load_records(place))
    assert (results[0] / "sorted.jsonl").read_bytes() == (results[1] / "sorted.jsonl").read_bytes()
    assert [page.name for page in again.pages] == [page.name for page in whole.pages]
    assert stored(study, tmp_path / "whole" / "runs") == stored(study, tmp_path / "cut" / "elsewhere")


def test_a_trial_that_failed_counts(study: Study, tmp_path: Path, computed: list[str]) -> None:
    failing = replace(study, search="random", grid={"data.world.nan_at": (3, None)}, pruning="none")
    whole, first = swept(failing, tmp_path / "whole"), swept(replace(failing, trials=3), tmp_path / "cut")
    assert 0 < len(first.failed) < 3
    again = swept(failing, tmp_path / "cut", runs="elsewhere")
    assert [item.folder.name for item in again.finished] == [item.folder.name for item in whole.finished]
    assert (tmp_path / "whole" / "results" / FILE).read_bytes() == (tmp_path / "cut" / "results" / FILE).read_bytes()


def told(study: Study, folder: Path, *states: TrialState) -> list[dict[str, Any]]:
    """Draws a trial for each state, and writes them down."""
    folder.mkdir(parents=True, exist_ok=True)
    trials = Trials(study, folder)
    for state in states:
        (trial,) = trials.draw(1)
        if state is not TrialState.RUNNING:
            losses = ((1, 5.5), (2, 0.1 + 0.2))
            trials.tell(trial, state, 1 / 3 if state is TrialState.COMPLETE else None, () if state is TrialState.FAIL else losses)
    TrialsFile(folder / FILE, study).write(trials.rows())
    return trials.rows()


ENDS = (TrialState.COMPLETE, TrialState.PRUNED, TrialState.FAIL, TrialState.COMPLETE, TrialState.RUNNING, TrialState.COMPLETE)


@pytest.mark.parametrize("there", [0, 2])
def test_trials_are_taken_in_until_the_first_that_did_not_end(study: Study, tmp_path: Path, there: int) -> None:
    rows = told(study, tmp_path / "first", *ENDS)
    told(study, tmp_path / "second", *ENDS[:there])
    ended = TrialsFile(tmp_path / "first" / FILE, study).ended
    assert ended == rows[:4]
    assert [list(row["settings"]) for row in ended] == [
        ["variant", "learn.batch_size", "measure", "learn.learning_rate", "learn.model.latent_dim"]
    ] * 4
    trials = Trials(study, tmp_path / "second")
    trials.take_in(ended)
    assert trials.rows() == rows[:4]
    assert stored(study, tmp_path / "second") == stored(study, tmp_path / "first")[:4]
    trials.take_in(ended)  # nothing is missing
    assert [trial.number for trial in trials.counted()] == [0, 1, 2, 3]
    assert [trial.params for trial in trials.draw(1)] == [rows[4]["settings"]]


def test_a_storage_with_trials_of_its_own_takes_none_in(study: Study, tmp_path: Path) -> None:
    told(study, tmp_path / "first", *ENDS[:3])
    own = told(study, tmp_path / "second", TrialState.COMPLETE, TrialState.RUNNING)
    trials = Trials(study, tmp_path / "second")
    trials.take_in(TrialsFile(tmp_path / "first" / FILE, study).ended)
    assert trials.rows() == own


def test_trials_taken_into_a_shared_storage_belong_to_those_who_have_their_records(study: Study, tmp_path: Path) -> None:
    rows = told(study, tmp_path / "first", *ENDS[:4])
    url, trials = f"sqlite:///{tmp_path / 'shared.sqlite3'}", list[Trials]()
    for name in "ab":
        (tmp_path / name).mkdir()
        trials.append(Trials(study, tmp_path / name, url))
        trials[-1].take_in(TrialsFile(tmp_path / "first" / FILE, study).ended)
    assert trials[0].rows() == trials[1].rows() == rows
    assert [trial.number for trial in trials[0].own(lambda trial: trial.number % 2 == 0)] == [0, 2]
    assert trials[1].own() == []


@pytest.mark.parametrize(
    "changed",
    [
        {"seeds": (1, 2)},
        {"ranges": {"learn.learning_rate": Range(low=1e-6, high=1e-1, log=True)}},
        {"grid": {"learn.batch_size": (20, 50)}},
        {"goal": replace(GOAL, direction="minimize")},
        {"variants": {"MVAE": {}, "MoPoE": {"learn.model.class_path": "MoPoE", "learn.epochs": 1}}},
    ],
)
def test_trials_of_another_search_are_refused_and_kept(
    study: Study, tmp_path: Path, changed: dict[str, Any], computed: list[str]
) -> None:
    told(study, tmp_path / "results", *ENDS)
    before = (tmp_path / "results" / FILE).read_bytes()
    with pytest.raises(
        ConflictError, match=r"holds 6 trials of another search \(their .*\): choose another folder with --results"
    ):
        swept(replace(study, **changed), tmp_path)
    assert (tmp_path / "results" / FILE).read_bytes() == before
    assert computed == []
    TrialsFile(tmp_path / "results" / FILE, replace(study, trials=50, name="other"))  # more of them may be asked for


def test_the_folders_of_a_machine_are_no_part_of_a_search(study: Study, tmp_path: Path) -> None:
    places, rows = [tmp_path / "here", tmp_path / "there" / "below"], list[dict[str, Any]]()
    for place in places:
        (place / "samples").mkdir(parents=True)
        (place / "base.yaml").write_text(dump_document({**study.base_settings, "data": {"folder": "samples", "train": 10}}))
        (place / "mine.yaml").write_text("base: base.yaml\nsearch: random\ngrid: {learn.batch_size: [20, 50]}\n")
    here, there = (load_study(place / "mine.yaml") for place in places)
    rows = told(here, tmp_path / "results", TrialState.COMPLETE)
    assert here.base_settings["data"]["folder"] != there.base_settings["data"]["folder"]
    assert TrialsFile(tmp_path / "results" / FILE, there).ended == rows


def without_first_line(path: Path) -> list[dict[str, Any]]:
    """Makes it a file as earlier versions wrote it."""
    rows = store.read_lines(path)[1:]
    store.write_lines(path, rows)
    return rows


def test_a_file_without_its_first_line_is_read_where_all_settings_are_of_the_study(study: Study, tmp_path: Path) -> None:
    told(study, tmp_path, *ENDS)
    rows = without_first_line(tmp_path / FILE)
    assert TrialsFile(tmp_path / FILE, study).ended == rows[:4]
    names = ["variant", "learn.batch_size", "measure", "learn.learning_rate", "learn.model.latent_dim"]
    for name, value, problem in (
        ("variant", "JMVAE", "variant: JMVAE is none of its values"),
        ("learn.batch_size", 20.0, "learn.batch_size: 20.0 is none of its values"),
        ("learn.learning_rate", 0.2, "learn.learning_rate: expected a number from 1e-06 to 0.1, got 0.2"),
        ("learn.model.latent_dim", 3.0, "learn.model.latent_dim: expected a whole number from 2 to 6, got 3.0"),
        ("learn.steps", 3, f"expected the settings {', '.join(names)}, got"),
    ):
        changed = [*rows[:3], {**rows[3], "settings": {**rows[3]["settings"], name: value}}, *rows[4:]]
        store.write_lines(tmp_path / FILE, changed)
        with pytest.raises(ConflictError, match=r"holds 6 trials of another search \(trial 3: ") as caught:
            TrialsFile(tmp_path / FILE, study)
        assert problem in str(caught.value)


@pytest.mark.parametrize("name", ["molyneux-v1-search-contrastive"])
def test_trials_that_an_earlier_version_wrote_are_read(name: str) -> None:
    study, path = load_study(SHIPPED / f"configs/studies/{name}.yaml"), SHIPPED / "studies/results" / name / FILE
    assert [row["value"] for row in TrialsFile(path, study).ended] == [
        json.loads(line)["value"] for line in path.read_text().splitlines() if '"trial"' in line
    ]


@pytest.mark.parametrize(
    ("changed", "problem"),
    [
        ({"trial": 3}, "expected trial 1 with"),
        ({"state": "done"}, "state: expected one of complete, pruned, fail and running, got 'done'"),
        ({"value": 0.5}, "value: expected a number for a complete trial and null for others, got 0.5"),
        ({"losses": [[1.5, 2.0]]}, "losses: expected pairs of an epoch and a number"),
        ({"settings": {}}, "expected the settings variant, "),
        ({"more": 1}, "expected trial 1 with losses, settings, state, trial, value, got"),
    ],
)
def test_a_line_that_is_no_trial_is_named(study: Study, tmp_path: Path, changed: dict[str, Any], problem: str) -> None:
    told(study, tmp_path, *ENDS)
    rows = store.read_lines(tmp_path / FILE)
    store.write_lines(tmp_path / FILE, [*rows[:2], {**rows[2], **changed}, *rows[3:]])
    with pytest.raises(CorruptFileError, match="the line of trial 1 cannot be used") as caught:
        TrialsFile(tmp_path / FILE, study)
    assert problem in str(caught.value)
