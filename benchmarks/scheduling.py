"""What a study costs beside its runs: planning, launching and recording each, and the page.

    python benchmarks/scheduling.py [--quick] [--out FOLDER]

The runs are empty: in place of each, a launcher writes the folder of a finished run, whose scores are those of one real run, each
with a shift of its own. What that takes is left out. A study varies the learning rate, beside two widths of the code, with five
seeds of each. All times are of the processor, in one process. For comparison: settings of runs read and checked one at a time,
and all records written anew, as would be done after every run without appending.
"""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from record import Record, Value, options

from molyneux.core import Score, store
from molyneux.core.config import read_document
from molyneux.report import StudyRun, save_records, write_study
from molyneux.run import Experiment, Study, read_experiment, run_experiment
from molyneux.run.run.folder import RunFolder
from molyneux.run.studies.launch import Job, Launcher, Pool, Report
from molyneux.run.studies.records import Records
from molyneux.run.studies.study import check_points, run_name

QUICKSTART = Path(__file__).parents[1] / "configs" / "quickstart.yaml"
WHAT = (
    "A study of empty runs with 49 scores, five seeds of each setting: processor time to plan a run, to launch and record it "
    "without the run itself, and to write the page; beside it, settings that are read one at a time, and all records written anew"
)
SEEDS, PLAIN = 5, 20


class Quiet:
    """Progress that nobody reads."""

    def plan(self, runs: int) -> None:
        """Nothing."""

    def run(self, name: str, step: str, done: int, total: int) -> None:
        """Nothing."""


class Empty(Launcher):
    """Writes the folder of a finished run in place of computing it.

    Args:
        experiments: those that are run.
        model: the folder of the model of a real run, whose history is copied.
        scores: of the real run.
    """

    def __init__(self, experiments: Sequence[Experiment], model: Path, scores: Sequence[Score]) -> None:
        super().__init__(jobs=1)
        self._experiments = {run_name(experiment): experiment for experiment in experiments}
        self._model, self._scores, self.took = model, scores, 0.0

    def run(self, job: Job, report: Report) -> str:
        """See `Launcher`."""
        began = time.thread_time()
        experiment, text = self._experiments[job.name], job.config.read_text(encoding="utf-8")
        job.folder.mkdir()
        (job.folder / "config.yaml").write_text(f"{text}# checksum {store.fingerprint(text)}\n", encoding="utf-8")
        folder = RunFolder(job.folder, experiment)
        for stage in (folder.samples, folder.model, folder.measure):
            stage.folder.mkdir()
        shutil.copy(self._model / "history.csv", folder.model.folder)
        own = {"experiment": store.fingerprint(experiment.identity)}
        shift = int(own["experiment"], 16) % 1000 / 500
        scores = [replace(score, value=_moved(score, shift), origin={**score.origin, **own}) for score in self._scores]
        store.write_lines(folder.measure.folder / "scores.jsonl", [score.to_json() for score in scores])
        details = {"machine": store.read_stage(self._model)["details"]["machine"]}
        for stage in (folder.samples, folder.model, folder.measure):
            stage.finish(details)
        self.took += time.thread_time() - began
        return ""

    def stop(self) -> None:
        """Nothing is under way."""


def _moved(score: Score, shift: float) -> float | None:
    if score.value is None:
        return None
    low, high = score.bounds
    return min(max(score.value + shift, score.value if low is None else low), score.value + shift if high is None else high)


def study_of(runs: int) -> Study:
    """A grid of so many runs."""
    base = read_document(QUICKSTART) | {"report": ["markdown"], "measure": ["coherence", "reconstruction"]}
    base["learn"] = {**base["learn"], "tensorboard": False}
    rates = tuple(round(1e-4 * (1 + place), 4) for place in range(runs // (2 * SEEDS)))
    grid = {"learn.model.latent_dim": (4, 8), "learn.learning_rate": rates}
    return Study(name="scheduling", base=base, seeds=tuple(range(1, SEEDS + 1)), grid=grid)


def real_run(study: Study, place: Path) -> tuple[Path, list[Score]]:
    """The model and the scores of a run of few samples and steps."""
    sizes = dict.fromkeys(("train", "validation", "test"), 64)
    few = [*((f"data.{name}", size) for name, size in sizes.items()), ("learn.steps", 2), ("learn.model.prior", None)]
    outcome = run_experiment(read_experiment(study.base_settings, few), place, steps=("data", "learn", "measure"))
    return outcome.folder / "model", list(outcome.scores)


def took(work: Callable[[], Any]) -> tuple[Any, float]:
    """What it gives, and its processor time in seconds."""
    began = time.process_time()
    found = work()
    return found, time.process_time() - began


def launched(grid: Sequence[Experiment], launcher: Empty, place: Path) -> list[StudyRun]:
    """What a sweep of a grid does between its planning and its page."""
    with Records.held(place / "results") as records:
        records.require_all_of(grid)
        finished = Pool(place / "runs", launcher, Quiet(), records).run(grid)
        assert not any(item.error for item in finished), next(item.error for item in finished if item.error)
        return records.of(grid)


def measured(runs: int, model: Path, scores: Sequence[Score], place: Path) -> dict[str, Value]:
    """The row of a study of so many runs."""
    study = study_of(runs)
    check_points(study)  # what is made once in a process, such as compiled functions
    planned, planning = took(lambda: check_points(study))
    grid = [experiment for same in zip(*planned, strict=True) for experiment in same]
    assert len(grid) == runs
    _, alone = took(lambda: [read_experiment(experiment.resolved) for experiment in grid[:PLAIN]])
    launcher = Empty(grid, model, scores)
    found, launching = took(lambda: launched(grid, launcher, place))
    _, anew = took(lambda: save_records(place / "anew.jsonl", found))
    pages, writing = took(lambda: write_study(found, place / "results"))
    size = next(path.stat().st_size for path in pages if path.suffix == ".html")
    return {
        "runs": runs,
        "planning, ms a run": 1000 * planning / runs,
        "plain: each read alone, ms a run": 1000 * alone / min(runs, PLAIN),
        "launching and recording, ms a run": 1000 * (launching - launcher.took) / runs,
        "plain: all records written anew for the last run, ms": 1000 * anew,
        "page, s": writing,
        "page, ms a run": 1000 * writing / runs,
        "page, MB": size / 1e6,
    }


def main() -> None:
    parser = options(__doc__ or "")
    parser.add_argument(
        "--runs", type=int, nargs="+", default=[300, 3000, 10_000], help="sizes of the study (default: %(default)s)"
    )
    arguments = parser.parse_args()
    record = Record("scheduling", WHAT, arguments.out)
    with tempfile.TemporaryDirectory() as name:
        model, scores = real_run(study_of(2 * SEEDS), Path(name) / "real")
        for runs in [2 * SEEDS, 4 * SEEDS] if arguments.quick else arguments.runs:
            place = Path(name) / str(runs)
            record.add(measured(runs, model, scores, place))
            shutil.rmtree(place)
    record.write()


if __name__ == "__main__":
    main()
