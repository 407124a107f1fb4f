"""Searches: the storage that processes share and that Optuna's dashboard opens, and runs that are pruned."""

import shutil
import sys
import threading
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import optuna
import pytest
from optuna.trial import TrialState

from molyneux.core import ConfigError, History, store
from molyneux.core.config import read_document
from molyneux.report import load_records
from molyneux.run import Experiment, Finished, Goal, Range, Study, SweepOutcome, read_experiment, run_study
from molyneux.run.run.report import Silent
from molyneux.run.studies.launch import Job, LocalLauncher, Report
from molyneux.run.studies.pruning import Earlier, PrunedError, PruningRule, Watched, stopped_at
from molyneux.run.studies.search import search
from molyneux.run.studies.study import run_name
from molyneux.run.studies.trials import Trials
from molyneux.run.studies.worker import ProgressLines, _compute

GOAL = Goal(score="coherence.strict", about={"source": "word", "target": "point"})


class Quiet:
    """Progress of a sweep that nobody reads."""

    def plan(self, runs: int) -> None:
        pass

    def run(self, name: str, step: str, done: int, total: int) -> None:
        pass


class Noted:
    """A pool whose runs are not run; it notes their names."""

    jobs = 1

    def __init__(self, folder: Path) -> None:
        self.folder, self.asked, self.launcher = folder, list[str](), self

    def run(self, experiments: Sequence[Experiment], rules: Sequence[PruningRule | None] = ()) -> list[Finished]:
        self.asked += map(run_name, experiments)
        return [Finished(self.folder / run_name(experiment), experiment) for experiment in experiments]


@pytest.fixture
def base(settings: dict[str, Any]) -> dict[str, Any]:
    settings["learn"] |= {"epochs": 4, "threads": 1, "tensorboard": False}
    settings["data"] |= {"train": 200, "validation": 50, "test": 100}
    settings["measure"] = ["coherence"]
    settings["report"] = {"formats": ["markdown"]}
    return settings


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs are computed in this process, one at a time, as a worker computes them."""
    one = threading.Lock()

    def run(launcher: LocalLauncher, job: Job, report: Report) -> str:
        with one, (job.folder.parent / "progress").open("a") as stream:
            _compute(*job.words, ProgressLines(stream))
        return ""

    monkeypatch.setattr(LocalLauncher, "run", run)


def study_of(base: dict[str, Any], **changed: Any) -> Study:
    return Study(
        name="mine",
        base=base,
        search="tpe",
        trials=8,
        goal=GOAL,
        ranges={"learn.learning_rate": Range(low=1e-6, high=1e-1, log=True)},
        **changed,
    )


def test_the_storage_is_that_of_optuna_with_readable_values(base: dict[str, Any], tmp_path: Path) -> None:
    study = Study(
        name="mine",
        base=base,
        search="random",
        trials=6,
        variants={"small": {"learn.model.latent_dim": 2}, "large": {"learn.model.latent_dim": 8}},
        grid={
            "learn.batch_size": (20, 50),
            "learn.model": ("MVAE", {"class_path": "MVAE", "init_args": {"beta": 2.0}}),
            "data.world.nan_at": (None, 3),
        },
        ranges={"learn.learning_rate": Range(low=0.1, high=0.2)},
    )
    trials = Trials(study, tmp_path)
    drawn = [trial for _ in range(6) for trial in trials.draw(1)]
    url = f"sqlite:///{tmp_path / 'search.sqlite3'}"
    (name,) = optuna.get_all_study_names(url)
    assert name.startswith("mine-")
    loaded = optuna.load_study(study_name=name, storage=url).trials
    assert [trial.params for trial in loaded] == [trial.params for trial in drawn]
    assert {trial.params["learn.batch_size"] for trial in loaded} == {20, 50}
    assert {trial.params["variant"] for trial in loaded} == {"small", "large"}
    assert {trial.params["data.world.nan_at"] for trial in loaded} == {None, 3}
    assert {trial.params["learn.model"] for trial in loaded} <= {
        '"MVAE"',
        '{"class_path": "MVAE", "init_args": {"beta": 2.0}}',
    }
    for trial in loaded:
        point = trials.point(trial)
        assert point["learn.model"] in study.grid["learn.model"]
        assert point["learn.batch_size"] == trial.params["learn.batch_size"]
        assert point["learn.model.latent_dim"] == {"small": 2, "large": 8}[trial.params["variant"]]


def drawn_apart(base: dict[str, Any], folder: Path, *, other: float) -> dict[str, list[float]]:
    """The rates that a search drew for each of two variants; one reaches its rate, the other a number that this names."""
    variants = {"small": {"learn.model.latent_dim": 2}, "large": {"learn.model.latent_dim": 8}}
    trials = Trials(study_of(base, variants=variants, apart=True), folder)
    found: dict[str, list[float]] = {name: [] for name in variants}
    while drawn := trials.draw(1):
        (trial,) = drawn
        rate, name = trial.params["learn.learning_rate"], trial.params["variant"]
        found[name].append(rate)
        trials.tell(trial, TrialState.COMPLETE, rate if name == "small" else other * rate)
    return found


def test_variants_that_are_searched_apart_have_as_many_trials_each_and_learn_from_their_own(
    base: dict[str, Any], tmp_path: Path
) -> None:
    found = drawn_apart(base, tmp_path / "one", other=1.0)
    opposite = drawn_apart(base, tmp_path / "two", other=-1.0)
    assert {name: len(rates) for name, rates in found.items()} == {"small": 8, "large": 8}
    assert found["small"] == opposite["small"]
    assert found["large"] != opposite["large"]


def test_the_goal_may_be_a_mean_of_several_scores(base: dict[str, Any], tmp_path: Path, here: None) -> None:
    back = Goal(score="coherence.strict", about={"source": "point", "target": "word"})
    study = replace(study_of(base), goal=(GOAL, back), trials=1)
    swept(study, tmp_path, 1)
    (run,) = load_records(tmp_path / "results")
    strict = {
        (score.about["source"], score.about["target"]): score.value for score in run.scores if score.name == "coherence.strict"
    }
    (trial,) = Trials(study, tmp_path / "runs").counted()
    assert trial.value == pytest.approx(((strict["word", "point"] or 0) + (strict["point", "word"] or 0)) / 2)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"apart": True}, "apart: there are no variants to search apart"),
        ({"goal": (GOAL, replace(GOAL, direction="minimize"))}, "goal: expected one direction of all scores"),
    ],
)
def test_a_search_that_cannot_be_meant_is_refused(base: dict[str, Any], changed: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        replace(study_of(base), **changed)


def test_several_processes_on_one_storage_run_no_trial_twice(base: dict[str, Any], tmp_path: Path) -> None:
    study = Study(
        base=base, name="mine", search="random", trials=12, ranges={"learn.learning_rate": Range(low=1e-4, high=1e-1, log=True)}
    )
    url = f"sqlite:///{tmp_path / 'shared.sqlite3'}"
    pools = [Noted(tmp_path / name) for name in "ab"]
    for pool in pools:
        pool.folder.mkdir()
    Trials(study, tmp_path / "a", url)  # its tables
    threads = [threading.Thread(target=search, args=(study, pool.folder, pool), kwargs={"storage": url}) for pool in pools]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    asked = [name for pool in pools for name in pool.asked]
    assert len(asked) == len(set(asked)) == 12
    alone = Noted(tmp_path / "alone")
    alone.folder.mkdir()
    search(study, alone.folder, alone)  # type: ignore[arg-type]
    if len(optuna.load_study(study_name=optuna.get_all_study_names(url)[0], storage=url).trials) == 12:
        assert set(alone.asked) == set(asked)  # no two of them drew at the same time


def test_a_trial_that_another_process_was_faster_with_does_not_count(base: dict[str, Any], tmp_path: Path) -> None:
    study = Study(base=base, name="mine", search="random", trials=3, ranges={"learn.learning_rate": Range(low=0.1, high=0.2)})
    url = f"sqlite:///{tmp_path / 'shared.sqlite3'}"
    for name in "ab":
        (tmp_path / name).mkdir()
    first, second = (Trials(study, tmp_path / name, url) for name in "ab")
    (late,) = [second._drawn(0, 0)]
    (own,) = first.draw(1)
    second._trials.add_trial(late)  # drawn for number 0, and now the trial of number 1
    assert [trial.number for trial in first.counted()] == [0]
    assert second.own() == []
    assert [trial.number for _ in range(3) for trial in second.draw(1)] == [2, 3]
    assert [trial.number for trial in first.own()] == [own.number]


def test_a_trial_is_gone_on_with_by_its_owner_alone(base: dict[str, Any], tmp_path: Path) -> None:
    study = Study(base=base, name="mine", search="random", trials=4, ranges={"learn.learning_rate": Range(low=0.1, high=0.2)})
    url = f"sqlite:///{tmp_path / 'shared.sqlite3'}"
    for name in "ab":
        (tmp_path / name).mkdir()
    (drawn,) = Trials(study, tmp_path / "a", url).draw(1)
    assert [trial.number for trial in Trials(study, tmp_path / "a", url).own()] == [drawn.number]
    assert Trials(study, tmp_path / "b", url).own() == []


@pytest.mark.parametrize(
    ("url", "problem"),
    [
        ("postgresql://me:secret@host/name", r"the driver of postgresql://me@host/name is not installed: pip install"),
        ("no url", "expected a URL such as postgresql://user@host/name, got the storage that is named"),
        ("sqlite:////nowhere/at/all/x.sqlite3", "cannot use sqlite:////nowhere/at/all/x.sqlite3: unable to open"),
    ],
)
def test_a_storage_that_cannot_be_used(
    base: dict[str, Any], tmp_path: Path, url: str, problem: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(ConfigError, match=problem) as caught:
        Trials(study_of(base), tmp_path, url)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("changed", [{"pruning": "median"}, {"storage": "sqlite:///x"}])
def test_a_grid_has_no_trials(base: dict[str, Any], changed: dict[str, Any], tmp_path: Path) -> None:
    (what,) = changed
    with pytest.raises(ConfigError, match=f"{what}: a grid has no trials"):
        Study(base=base, **changed)
    with pytest.raises(ConfigError, match="--storage: a grid has no trials"):
        run_study(Study(base=base), tmp_path / "runs", tmp_path / "results", storage="sqlite:///x", progress=Quiet())


LOSSES = [5.0, 4.0, 3.0]


def earlier(*levels: float) -> tuple[Earlier, ...]:
    return tuple(Earlier(tuple((epoch, loss + level) for epoch, loss in enumerate(LOSSES, 1)), complete=True) for level in levels)


def test_the_median_stops_a_run_that_is_worse_than_half_of_those_before() -> None:
    rule = PruningRule("median", 2, earlier(0.0, 1.0, 2.0))
    assert stopped_at(rule, ((1, 5.5), (2, 4.5), (3, 3.5))) is None
    assert stopped_at(rule, ((1, 5.5), (2, 5.4), (3, 3.5))) == 2
    assert stopped_at(rule, ((1, 6.5),)) == 1
    assert stopped_at(replace(rule, startup=4), ((1, 9.0), (2, 9.0))) is None
    pruned = tuple(replace(item, complete=False) for item in rule.earlier)
    assert stopped_at(replace(rule, earlier=pruned), ((1, 9.0),)) is None  # no complete trial to compare with


def test_halving_keeps_the_best_quarter_at_each_rung() -> None:
    rule = PruningRule("halving", 0, earlier(0.0, 1.0, 2.0, 3.0))
    assert stopped_at(rule, ((1, 4.9), (2, 4.0))) is None
    assert stopped_at(rule, ((1, 5.1),)) == 1
    assert stopped_at(PruningRule("halving", 0, ()), ((1, 5.1), (2, 3.0))) is None


def test_a_run_that_goes_on_is_judged_by_its_whole_history(tmp_path: Path) -> None:
    rule = PruningRule("median", 2, earlier(0.0, 1.0, 2.0))
    for losses in (((1, 5.5), (2, 4.5), (3, 4.6)), ((1, 5.5), (2, 5.4)), ((1, 5.5), (2, 4.5), (3, 3.5))):
        for resumed in range(len(losses)):  # an interruption after so many epochs
            found = None
            watched = Watched(Silent(), rule, tmp_path / "history.csv")
            for epoch in range(resumed + 1, len(losses) + 1):
                rows = tuple({"epoch": number, "step": number, "validation/loss": loss} for number, loss in losses[:epoch])
                History(rows).write_csv(tmp_path / "history.csv")
                try:
                    watched.epoch(rows[-1])
                except PrunedError as stop:
                    found = stop.epoch
                    break
            assert found == stopped_at(rule, losses)


def test_a_training_without_validation_cannot_be_pruned(tmp_path: Path) -> None:
    History(({"epoch": 1, "step": 1, "train/loss": 1.0},)).write_csv(tmp_path / "history.csv")
    with pytest.raises(ConfigError, match="pruning: the training has no validation loss"):
        Watched(Silent(), PruningRule("median", 2, ()), tmp_path / "history.csv").epoch({})


def swept(study: Study, place: Path, jobs: int = 1) -> SweepOutcome:
    return run_study(study, place / "runs", place / "results", jobs=jobs, progress=Quiet())


@pytest.mark.slow
@pytest.mark.usefixtures("here")
@pytest.mark.parametrize("jobs", [1, 2])
def test_pruned_runs_are_on_record_and_no_results(base: dict[str, Any], tmp_path: Path, jobs: int) -> None:
    study = study_of(base, pruning="median", seeds=(3, 4))
    outcome = swept(study, tmp_path, jobs)
    assert not outcome.failed
    assert outcome.pruned
    rows = store.read_lines(tmp_path / "results" / "trials.jsonl")[1:]
    states = [row["state"] for row in rows]
    assert sorted(set(states)) == ["complete", "pruned"]
    assert len(rows) == 8
    complete = states.count("complete")
    assert len(outcome.pruned) == states.count("pruned")
    assert len(load_records(tmp_path / "results")) == 2 * complete  # both seeds; a trial that was stopped begins no second
    costs = store.read_lines(tmp_path / "results" / "costs.jsonl")
    assert len(costs) == 2 * complete + states.count("pruned")
    stopped = {cost["run"]: cost for cost in costs if "pruned" in cost}
    assert set(stopped) == {item.folder.name for item in outcome.pruned}
    for item in outcome.pruned:
        assert item.pruned < 4
        assert stopped[item.folder.name]["steps"] == 4 * item.pruned
        assert not (item.folder / "measure").exists()
    for number, row in enumerate(rows):
        before = number - number % jobs
        seen = tuple(
            Earlier(tuple((step, loss) for step, loss in other["losses"]), other["state"] == "complete")
            for other in rows[:before]
        )
        losses = tuple((step, loss) for step, loss in row["losses"])
        assert stopped_at(PruningRule("median", 2, seen), losses) == (len(losses) if row["state"] == "pruned" else None)
        assert (row["value"] is None) == (row["state"] == "pruned")
    written = {path: path.read_bytes() for path in (tmp_path / "results").glob("*.jsonl")}
    again = swept(study, tmp_path, jobs)
    assert [item.folder for item in again.pruned] == [item.folder for item in outcome.pruned]
    assert {path: path.read_bytes() for path in written} == written


@pytest.mark.slow
@pytest.mark.usefixtures("here")
def test_what_was_pruned_stays_so_where_only_the_storage_is_left(base: dict[str, Any], tmp_path: Path) -> None:
    outcome = swept(study_of(base, pruning="halving"), tmp_path)
    assert outcome.pruned
    for item in outcome.pruned:
        shutil.rmtree(item.folder)
        for left in (tmp_path / "runs" / "experiments").glob(f"{item.folder.name}*"):
            left.unlink()
    again = swept(study_of(base, pruning="halving"), tmp_path)
    assert [item.folder for item in again.pruned] == [item.folder for item in outcome.pruned]
    assert not any(item.folder.exists() for item in again.pruned)


def test_losses_stand_in_the_storage_in_the_direction_of_the_goal(base: dict[str, Any], tmp_path: Path) -> None:
    for direction, sign in (("maximize", -1), ("minimize", 1)):
        (tmp_path / direction).mkdir()
        trials = Trials(
            study_of(base, pruning="median")
            if sign < 0
            else replace(study_of(base, pruning="median"), goal=replace(GOAL, direction=direction)),
            tmp_path / direction,
        )
        (trial,) = trials.draw(1)
        trials.tell(trial, TrialState.PRUNED, losses=((1, 5.0), (2, 4.0)))
        (told,) = trials.counted()
        assert told.intermediate_values == {1: sign * 5.0, 2: sign * 4.0}
        assert trials.rows()[0]["losses"] == [[1, 5.0], [2, 4.0]]


def test_settings_of_the_run_are_those_of_the_file(base: dict[str, Any], tmp_path: Path) -> None:
    path = tmp_path / "study.yaml"
    from molyneux.core.config import dump_document
    from molyneux.run import load_study

    path.write_text(
        dump_document({"base": base, "search": "random", "pruning": "median", "storage": "sqlite:///shared.sqlite3", "trials": 2})
    )
    study = load_study(path)
    assert (study.pruning, study.storage) == ("median", "sqlite:///shared.sqlite3")
    assert read_experiment(read_document(path)["base"]).learn.training.threads == 1


def test_a_trial_of_another_process_between_two_looks_makes_none_too_many(
    base: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whenever this process has looked at the trials, another one draws one."""
    study = Study(
        base=base, name="mine", search="random", trials=5, ranges={"learn.learning_rate": Range(low=1e-4, high=1e-1, log=True)}
    )
    url = f"sqlite:///{tmp_path / 'shared.sqlite3'}"
    for name in "ab":
        (tmp_path / name).mkdir()
    mine, other = (Trials(study, tmp_path / name, url) for name in "ab")
    look, theirs = mine._all, list[Any]()

    def looked() -> Any:
        found = look()
        monkeypatch.setattr(mine, "_all", look)
        theirs.extend(other.draw(1))
        monkeypatch.setattr(mine, "_all", looked)
        return found

    monkeypatch.setattr(mine, "_all", looked)
    drawn = [trial for _ in range(8) for trial in mine.draw(1)]
    assert len(drawn) + len(theirs) == 5
