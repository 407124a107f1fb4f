"""A study is one experiment with settings varied; each point and seed is a run."""

import os
import re
import shutil
import sys
import threading
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import optuna
import pytest

from molyneux.core import ConfigError, ConflictError, MolyneuxError, store
from molyneux.core.config import Factory, dump_document, dump_sections, override, read_document
from molyneux.data import store_samples
from molyneux.report import load_records
from molyneux.run import (
    Experiment,
    Finished,
    Goal,
    Range,
    Study,
    SweepOutcome,
    check_study,
    load_study,
    read_experiment,
    run_experiment,
    run_study,
)
from molyneux.run.run import experiment, provenance
from molyneux.run.studies.launch import Job, LocalLauncher, Report
from molyneux.run.studies.records import Records
from molyneux.run.studies.search import search
from molyneux.run.studies.study import check_points, run_name
from molyneux.run.studies.trials import sampler

HERE = Path(__file__).parents[1]


class Told:
    """Remembers what became of every run."""

    def __init__(self) -> None:
        self.planned, self.ended = 0, dict[str, str]()

    def plan(self, runs: int) -> None:
        self.planned += runs

    def run(self, name: str, step: str, done: int, total: int) -> None:
        if step in ("done", "failed"):
            self.ended[name] = step


@pytest.fixture
def base(settings: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """A tiny experiment whose world other processes find too."""
    monkeypatch.setenv("PYTHONPATH", str(HERE), prepend=os.pathsep)
    settings["learn"] |= {"steps": 2, "threads": 1, "tensorboard": False}
    return settings


def test_points_are_every_combination_in_the_order_of_the_file(base: dict[str, Any]) -> None:
    study = Study(
        base=base,
        seeds=(5, 6),
        variants={"small": {"learn.model.latent_dim": 2}, "large": {"learn.model.latent_dim": 8}},
        grid={"data.world.spread": (0.1, 0.2), "learn.batch_size": (50,)},
    )
    points = study.points()
    assert [(point["name"], point["data.world.spread"]) for point in points] == [
        ("small", 0.1),
        ("small", 0.2),
        ("large", 0.1),
        ("large", 0.2),
    ]
    first = study.experiments(points[0])
    assert [(item.seed, item.name, item.learn.model.settings["latent_dim"]) for item in first] == [
        (5, "small", 2),
        (6, "small", 2),
    ]


def test_a_setting_may_change_with_the_seed(base: dict[str, Any], tmp_path: Path) -> None:
    study = Study(
        name="mine",
        base=base,
        seeds=(5, 6),
        variants={"small": {"learn.model.latent_dim": 2}, "large": {"learn.model.latent_dim": 4}},
        by_seed={"data.world.spread": (0.1, 0.2)},
    )
    runs = [experiment for each in check_points(study) for experiment in each]
    told = [(run.name, run.seed, run.resolved["data"]["world"]["init_args"]["spread"]) for run in runs]
    assert told == [("small", 5, 0.1), ("small", 6, 0.2), ("large", 5, 0.1), ("large", 6, 0.2)]
    assert [run.identity for run in runs] == [
        run.identity
        for name, size in (("small", 2), ("large", 4))
        for seed, spread in ((5, 0.1), (6, 0.2))
        for run in Study(
            name="mine",
            base=base,
            seeds=(seed,),
            variants={name: {"learn.model.latent_dim": size}},
            grid={"data.world.spread": (spread,)},
        ).experiments({"name": name, "learn.model.latent_dim": size, "data.world.spread": spread})
    ]
    file = tmp_path / "mine.yaml"
    store.write_text(file, dump_document({"base": base, "seeds": [5, 6], "by_seed": {"data.world.spread": [0.1, 0.2]}}))
    assert check_study(file) == 2


@pytest.mark.parametrize(
    ("changed", "problem"),
    [
        (
            {"by_seed": {"data.world.spread": (0.1,)}},
            "by_seed.data.world.spread: expected a value for each of the 2 seeds, got 1",
        ),
        ({"by_seed": {"seed": (1, 2)}}, "by_seed.seed: seed is no setting that changes with the seed"),
        (
            {"by_seed": {"data.world.spread": (0.1, 0.2)}, "grid": {"data.world.spread": (0.3,)}},
            "by_seed.data.world.spread: the setting is also in grid.data.world.spread: leave it out of one",
        ),
    ],
)
def test_what_cannot_change_with_the_seed_is_refused(base: dict[str, Any], changed: dict[str, Any], problem: str) -> None:
    with pytest.raises(ConfigError, match=re.escape(problem)):
        Study(base=base, seeds=(5, 6), **changed)


def test_problems_of_every_point_are_told_before_anything_runs(base: dict[str, Any], tmp_path: Path) -> None:
    study = Study(base=base, grid={"data.world.spread": (0.1, 3.0), "learn.batch_size": (50, 0)})
    with pytest.raises(ConfigError) as caught:
        run_study(study, tmp_path / "runs", tmp_path / "results", progress=Told())
    assert caught.value.problems == (
        "spread 0.1, batch_size 0: learn.batch_size: expected at least 1, got 0",
        "spread 3.0, batch_size 50: data.world.init_args.spread: expected 0 to 1, got 3.0",
        "spread 3.0, batch_size 0: learn.batch_size: expected at least 1, got 0",
        "spread 3.0, batch_size 0: data.world.init_args.spread: expected 0 to 1, got 3.0",
    )
    assert not (tmp_path / "runs").exists()


@pytest.mark.parametrize(
    ("settings_", "problem"),
    [
        ({"seeds": []}, "seeds: expected at least one, got none"),
        ({"seeds": [1, 1]}, "seeds: expected different ones, got 1, 1"),
        ({"grid": {"seed": []}}, "grid.seed: expected at least one value, got none"),
        ({"search": "tpe"}, "goal: is missing: a tpe search needs the name of a score, such as coherence.strict"),
        ({"search": "best"}, "search: expected one of grid, random, tpe, got 'best'"),
        ({"ranges": {"x": {"low": 1, "high": 2}}}, "ranges: a grid needs lists of values"),
        ({"ranges": {"x": {"low": 2, "high": 2}}, "search": "random"}, "ranges.x: expected low below high, got 2.0 and 2.0"),
        ({"trails": 3}, 'trails: unknown setting; did you mean "trials"?'),
        (
            {"grid": {"measure": [[{"class_path": "Robustness", "init_args": {"baseline": "MVEA"}}]]}},
            "measure.measures.Robustness.baseline: no run or model 'MVEA' in the study",
        ),
        ({"base": "absent.yaml"}, "cannot read the settings file"),
    ],
)
def test_bad_studies(base: dict[str, Any], settings_: dict[str, Any], problem: str, tmp_path: Path) -> None:
    path = tmp_path / "study.yaml"
    path.write_text(dump_document({"base": base, **settings_}))
    with pytest.raises(ConfigError) as caught:
        check_study(path)
    assert any(found.startswith(problem) for found in caught.value.problems)


def test_the_base_is_found_beside_the_study(base: dict[str, Any], tmp_path: Path) -> None:
    (tmp_path / "base.yaml").write_text(dump_document(base))
    (tmp_path / "mine.yaml").write_text("base: base.yaml\nseeds: [1, 2, 3]\ngrid: {learn.epochs: [1, 2]}\n")
    assert load_study(tmp_path / "mine.yaml").name == "mine"
    assert check_study(tmp_path / "mine.yaml") == 6


def sweep(study: Study, folder: Path, told: Told | None = None, jobs: int = 2) -> SweepOutcome:
    return run_study(study, folder / "runs", folder / "results", jobs=jobs, progress=told or Told())


def test_experiments_on_the_same_samples_share_a_data_set(base: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    made = list[str]()
    make = Factory.make

    def counted(self: Factory[Any], at: str = "", /, **supplied: Any) -> Any:
        made.append(at)
        return make(self, at, **supplied)

    monkeypatch.setattr(Factory, "make", counted)
    found = check_points(Study(base=base, seeds=(4, 5), grid={"data.world.spread": (0.1, 0.3), "learn.batch_size": (50, 60)}))
    datasets = [experiment.data.dataset for same in found for experiment in same]
    assert made.count("data.world") == 3  # that of the base and two others
    assert all(dataset is datasets[0] for dataset in datasets[:4])
    assert all(dataset is datasets[4] for dataset in datasets[4:])
    assert [experiment.resolved["data"]["world"]["init_args"]["spread"] for same in found for experiment in same] == [
        *[0.1] * 4,
        *[0.3] * 4,
    ]


def test_experiments_that_share_their_parts_are_those_that_are_read_alone(
    base: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    made, check = list[Any](), experiment.check_model

    def counted(learn: Any, spec: Any) -> Any:
        made.append(learn.model)
        return check(learn, spec)

    monkeypatch.setattr(experiment, "check_model", counted)
    grid = {"learn.learning_rate": (1e-3, 1e-2, 0.1), "learn.model.latent_dim": (2, 3), "data.test": (100, 200)}
    study = Study(base=base, seeds=(4, 5, 6), grid=grid)
    found = check_points(study)
    assert len(made) == 5  # that of the base, and one for each pair of a width and a number of samples
    texts: dict[tuple[str, str], str] = {}
    for point, runs in zip(study.points(), found, strict=True):
        for seed, run in zip(study.seeds, runs, strict=True):
            tree = {"name": "study", **base, "seed": seed}
            for path, value in point.items():
                tree = override(tree, path, value)
            alone = read_experiment(tree)
            assert (run.resolved, run.seed, run.name) == (alone.resolved, alone.seed, alone.name)
            assert (run.learn, run.report) == (alone.learn, alone.report)
            assert run_name(run) == run_name(alone)
            assert dump_sections(run.document, texts) == dump_document(alone.document)
    assert {name: sum(key[0] == name for key in texts) for name, _ in texts} == {
        "name": 1,
        "seed": 3,
        "data": 2,
        "learn": 6,
        "measure": 1,
        "report": 1,
    }


def test_every_seed_is_checked(base: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match=r"seed: expected at least 0, got -2"):
        check_points(Study(base=base, seeds=(1, -2)))


@pytest.mark.slow
def test_a_grid_is_run_and_a_failing_run_stops_no_other(base: dict[str, Any], tmp_path: Path) -> None:
    study = Study(name="mine", base={**base, "name": "runs"}, seeds=(4,), grid={"data.world.nan_at": (None, 17)})
    told = Told()
    outcome = sweep(study, tmp_path, told)
    assert told.planned == 2
    assert sorted(told.ended.values()) == ["done", "failed"]
    assert [bool(item.error) for item in outcome.finished] == [False, True]
    assert "modality point: expected finite numbers, got NaN or infinity in sample 17" in outcome.failed[0].error
    records = load_records(tmp_path / "results")
    assert [record.settings["seed"] for record in records] == [4]
    assert str(tmp_path) not in (tmp_path / "results" / "records.jsonl").read_text()
    assert {page.name for page in outcome.pages} >= {"study.html", "study.md"}
    assert (tmp_path / "results" / "study.md").read_text().startswith("# mine\n")

    done = outcome.finished[0].folder / "measure" / "scores.jsonl"
    before, written = done.stat().st_mtime_ns, (tmp_path / "results" / "records.jsonl").read_bytes()
    again = sweep(replace(study, seeds=(4,), grid={}), tmp_path)  # all of it is there
    assert [item.folder for item in again.finished] == [outcome.finished[0].folder]
    assert done.stat().st_mtime_ns == before
    assert (tmp_path / "results" / "records.jsonl").read_bytes() == written

    shutil.rmtree(tmp_path / "runs")  # as in a fresh clone, where only the records are
    from_records = sweep(replace(study, seeds=(4,), grid={}, name="other"), tmp_path, told := Told())
    assert list(told.ended.values()) == ["done"]
    assert not from_records.finished[0].folder.exists()
    assert (tmp_path / "results" / "records.jsonl").read_bytes() == written
    assert [len(made.recorded) for made in (outcome, again, from_records)] == [0, 0, 1]


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs need no processes of their own; one at a time, because torch's own generator belongs to the process."""
    one = threading.Lock()

    def run(launcher: LocalLauncher, job: Job, report: Report) -> str:
        with one:
            try:
                run_experiment(read_experiment(read_document(job.config)), job.folder)
            except MolyneuxError as error:
                return str(error)
        return ""

    monkeypatch.setattr(LocalLauncher, "run", run)


@pytest.mark.usefixtures("quick")
def test_what_trainings_cost_is_kept_beside_the_records(base: dict[str, Any], tmp_path: Path) -> None:
    study = Study(base=base, seeds=(5, 6))
    results = tmp_path / "results"
    outcome = run_study(study, tmp_path / "runs", results, progress=Told())
    costs = store.read_lines(results / "costs.jsonl")
    assert [cost["run"] for cost in costs] == sorted(item.folder.name for item in outcome.finished)
    assert {cost["name"] for cost in costs} == {"toy"}
    for cost in costs:
        assert cost["steps"] == 2
        assert cost["seconds"] > 0
        assert cost["threads"] == 1
    before = (results / "costs.jsonl").read_bytes()
    for item in outcome.finished:
        shutil.rmtree(item.folder)
    run_study(study, tmp_path / "runs", results, progress=Told())  # from the records
    assert (results / "costs.jsonl").read_bytes() == before


@pytest.mark.slow
@pytest.mark.usefixtures("quick")
def test_parts_of_a_grid_are_taken_in(base: dict[str, Any], tmp_path: Path) -> None:
    study = Study(base=base, grid={"learn.batch_size": (40, 50, 60)}, seeds=(1,))
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    run_study(study, whole / "runs", whole / "results", progress=Told())
    for part in ((3, 3), (1, 3)):
        outcome = run_study(study, parts / "runs", parts / "results", part=part, progress=Told())
        assert (len(outcome.finished), outcome.results.name) == (1, f"part-{part[0]}-of-3")
    outcome = run_study(study, parts / "runs", parts / "results", progress=Told())
    assert [item.recorded for item in outcome.finished] == [True, False, True]
    found, expected = (load_records(folder / "results" / "records.jsonl") for folder in (parts, whole))
    scores = [
        {run.settings["learn.batch_size"]: [score.value for score in run.scores] for run in runs} for runs in (found, expected)
    ]
    assert scores[0] == scores[1]
    assert len(store.read_lines(parts / "results" / "costs.jsonl")) == 3
    with pytest.raises(ConfigError, match="expected a part from 1"):
        run_study(study, parts / "runs", parts / "results", part=(4, 3), progress=Told())


def test_a_search_has_no_parts(base: dict[str, Any], tmp_path: Path) -> None:
    study = Study(base=base, name="mine", search="random", trials=3, ranges={"learn.learning_rate": Range(low=0.1, high=0.2)})
    with pytest.raises(ConfigError, match="--part: the trials of a search depend on one another"):
        run_study(study, tmp_path / "runs", tmp_path / "results", part=(1, 2), progress=Told())
    assert not any(tmp_path.iterdir())


@pytest.mark.usefixtures("quick")
def test_records_of_other_runs_are_refused_and_kept(base: dict[str, Any], tmp_path: Path) -> None:
    study = Study(name="mine", base=base, seeds=(4,), grid={"learn.steps": (1, 2)})
    sweep(study, tmp_path)
    written = (tmp_path / "results" / "records.jsonl").read_bytes()
    for other in (replace(study, grid={"learn.steps": (1,)}), replace(study, grid={"learn.steps": (1, 2), "data.test": (200,)})):
        with pytest.raises(ConflictError, match=r"holds [12] records of runs that are no part .*: choose another folder"):
            sweep(other, tmp_path)
        assert (tmp_path / "results" / "records.jsonl").read_bytes() == written
    more = sweep(replace(study, seeds=(4, 5)), tmp_path)  # what only adds to a study goes on from its records
    assert (len(more.finished), len(more.recorded)) == (4, 0)
    assert len(load_records(tmp_path / "results")) == 4


@pytest.mark.usefixtures("quick")
def test_records_of_another_version_do_not_stand_for_a_run(
    base: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = Study(name="mine", base=base, seeds=(4,))
    (run,) = sweep(study, tmp_path).finished
    records = Records(tmp_path / "results" / "records.jsonl")
    assert run.experiment in records
    with monkeypatch.context() as patch:
        patch.setattr(provenance, "NUMBERS", "99.0")
        assert run.experiment not in records
        with pytest.raises(ConflictError, match=r"origin\.package: '.*' -> '99\.0'"):
            sweep(study, tmp_path)
        again = sweep(study, tmp_path / "other") if shutil.copytree(tmp_path / "runs", tmp_path / "other" / "runs") else None
        assert again is not None
        assert "was not made as it would be now (origin.package" in again.failed[0].error
    with monkeypatch.context() as patch:
        patch.setattr(provenance, "judge_digests", lambda world, judges: {"point": "another judge"})
        assert run.experiment not in records
    with monkeypatch.context() as patch:
        patch.setattr(type(run.experiment.data.dataset), "settings", {"spread": 0.2, "nan_at": None, "textures": "changed"})
        assert run.experiment not in records


@pytest.mark.usefixtures("quick")
def test_records_hold_no_folders(base: dict[str, Any], tmp_path: Path) -> None:
    for split in ("train", "validation", "test"):
        store_samples(read_experiment(base).data.dataset.source(split, 100, seed=1), tmp_path / "stored" / split)
    base["data"] |= {"folder": str(tmp_path / "stored"), "train": 100, "test": 100}
    study = Study(name="mine", base=base)
    assert not sweep(study, tmp_path).failed
    text = (tmp_path / "results" / "records.jsonl").read_text()
    assert str(tmp_path) not in text
    assert '"data.folder":"stored"' in text
    shutil.rmtree(tmp_path / "runs")
    assert len(sweep(study, tmp_path).recorded) == 1
    shutil.rmtree(tmp_path / "stored" / "test")
    store_samples(
        read_experiment(settings_without_folder(base)).data.dataset.source("test", 100, seed=2), tmp_path / "stored" / "test"
    )
    with pytest.raises(ConflictError, match=r"origin\.stored\.test"):
        sweep(study, tmp_path)


def settings_without_folder(settings: dict[str, Any]) -> dict[str, Any]:
    return {**settings, "data": {name: value for name, value in settings["data"].items() if name != "folder"}}


def test_a_grid_is_run_seed_by_seed(base: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    begun = list[tuple[int, int]]()

    def run(launcher: LocalLauncher, job: Job, report: Report) -> str:
        settings = read_document(job.config)
        begun.append((settings["seed"], settings["learn"]["steps"]))
        return "not run"

    monkeypatch.setattr(LocalLauncher, "run", run)
    sweep(Study(name="mine", base=base, seeds=(4, 5), grid={"learn.steps": (1, 2)}), tmp_path, jobs=1)
    assert begun == [(4, 1), (4, 2), (5, 1), (5, 2)]


@pytest.mark.slow
def test_what_a_world_prints_does_not_disturb_a_sweep(
    base: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "noise").mkdir()
    (tmp_path / "noise" / "loud.py").write_text(
        "import os, sys\nfrom toy import Toy as Quiet\nprint('[3', flush=True)\n"
        "class Loud(Quiet):\n"
        "    def batch(self, indices, **how):\n"
        "        os.write(1, b'{\\n\"step\"\\n7\\n') if sys.argv[0] == '-c' else None\n"
        "        return super().batch(indices, **how)\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path / "noise"))
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "noise"), prepend=os.pathsep)
    base["data"]["world"] = "loud.Loud"
    assert not sweep(Study(name="mine", base=base), tmp_path).failed


class InThisProcess:
    """A pool, and its launcher, that needs no processes."""

    jobs = 2

    def __init__(self, folder: Path) -> None:
        self.folder, self.asked, self.launcher = folder, list[int](), self

    def run(self, experiments: Sequence[Experiment]) -> list[Finished]:
        self.asked.append(len(experiments))
        return [self._run(experiment) for experiment in experiments]

    def _run(self, experiment: Experiment) -> Finished:
        folder = self.folder / run_name(experiment)
        return Finished(run_experiment(experiment, folder, steps=("data", "learn", "measure")).folder, experiment)


def test_tpe_learns_from_the_first_third_of_its_trials(base: dict[str, Any]) -> None:
    """A search of few trials would be random throughout with optuna's ten first ones."""
    random, tpe = (
        Study(base=base, search=kind, trials=6, goal=Goal(score="toy"), ranges={"learn.learning_rate": Range(low=0.0, high=1.0)})
        for kind in ("random", "tpe")
    )
    drawn = {kind: optuna.create_study(direction="maximize") for kind in ("random", "tpe")}
    same = []
    for seed in range(5):
        values = []
        for study in (random, tpe):
            trials = drawn[study.search]
            trials.sampler = sampler(study, seed)
            trial = trials.ask()
            values.append(trial.suggest_float("x", 0.0, 1.0))
            trials.tell(trial, values[-1])
        same.append(values[0] == values[1])
    assert same == [True, True, False, False, False]


@pytest.mark.parametrize("kind", ["random", "tpe"])
def test_a_search_remembers_its_trials(base: dict[str, Any], tmp_path: Path, kind: Literal["random", "tpe"]) -> None:
    three = Study(
        name="mine",
        base=base,
        search=kind,
        trials=3,
        variants={"MVAE": {}, "MoPoE": {"learn.model.class_path": "MoPoE"}},
        grid={"learn.batch_size": (20, 50)},
        ranges={
            "learn.model.latent_dim": Range(low=2, high=6, whole=True),
            "learn.learning_rate": Range(low=1e-4, high=1e-1, log=True),
        },
        goal=Goal(score="coherence.strict", about={"source": "word", "target": "point"}),
    )
    pool = InThisProcess(tmp_path)
    first = search(replace(three, trials=1), tmp_path, pool)  # type: ignore[arg-type]
    both = search(three, tmp_path, pool)  # type: ignore[arg-type]
    assert pool.asked == [0, 1, 2, 1]
    assert [item.folder for item in both[:1]] == [item.folder for item in first]
    assert len({item.folder for item in both}) == 3
    (tmp_path / "whole").mkdir()
    whole = search(three, tmp_path / "whole", InThisProcess(tmp_path / "whole"))  # type: ignore[arg-type]
    assert [item.folder.name for item in whole] == [item.folder.name for item in both]  # as if it had not been stopped
    for item in both:
        assert item.experiment.learn.model.settings["latent_dim"] in range(2, 7)
        assert 1e-4 <= item.experiment.learn.learning_rate <= 1e-1
        assert item.experiment.learn.batch_size in (20, 50)
        assert item.experiment.name == item.experiment.learn.model.target.__name__


@pytest.mark.parametrize(
    ("goal", "problem"),
    [
        (
            Goal(score="coherence.strikt"),
            "goal.score: no run has the score 'coherence.strikt'; did",
        ),
        (
            Goal(score="coherence.strict", about={"source": "x"}),
            "goal.about: no score coherence.strict is about {'source': 'x'}; ",
        ),
    ],
)
def test_a_goal_that_no_run_has(base: dict[str, Any], tmp_path: Path, goal: Goal, problem: str) -> None:
    study = Study(base=base, search="tpe", trials=1, grid={"learn.batch_size": (50,)}, goal=goal)
    with pytest.raises(ConfigError) as caught:
        search(study, tmp_path, InThisProcess(tmp_path))  # type: ignore[arg-type]
    assert str(caught.value).startswith(problem)


class Victim(LocalLauncher):
    """Kills its worker at the first progress of training, once."""

    def run(self, job: Job, report: Report) -> str:
        self.killed = 0

        def kill(step: str, done: int, total: int) -> None:
            if step == "learn" and not self.killed:
                self.killed += 1
                for process in self._processes:
                    process.kill()
            report(step, done, total)

        return super().run(job, kill)


@pytest.mark.slow
def test_a_killed_worker_is_replaced(base: dict[str, Any], tmp_path: Path) -> None:
    (tmp_path / "toy.yaml").write_text(dump_document(read_experiment(base).resolved))
    with Victim(1) as launcher:
        job = Job("toy", tmp_path / "toy.yaml", tmp_path / "run", tmp_path / "log")
        assert launcher.run(job, lambda *_: None) == ""
        assert launcher.killed == 1
    assert (tmp_path / "run" / "report" / "stage.json").exists()
    assert not (tmp_path / "log").exists()


def test_places_that_are_none(base: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ConfigError, match="expected local, ray or the address of a Ray cluster"):
        run_study(Study(base=base), tmp_path / "runs", tmp_path / "results", on="somewhere", progress=Told())
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(ConfigError, match=r"not installed: pip install 'molyneux\[ray\]'"):
        run_study(Study(base=base), tmp_path / "runs", tmp_path / "results", on="ray", progress=Told())


def test_a_search_without_optuna_says_what_to_install(
    base: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "optuna", None)
    study = Study(base=base, search="random", trials=2, grid={"seed": [1, 2]})
    with pytest.raises(ConfigError, match=r"search: random needs optuna, .*: pip install 'molyneux\[search\]'"):
        run_study(study, tmp_path / "runs", tmp_path / "results", progress=Told())


def test_a_study_in_use_is_refused(base: dict[str, Any], tmp_path: Path) -> None:
    (tmp_path / "runs").mkdir()
    with store.locked(tmp_path / "runs"), pytest.raises(ConflictError, match="another process is working in"):
        sweep(Study(base=base), tmp_path)
