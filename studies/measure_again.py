"""Measure the trained models of a study again, with the measures that its file has now; nothing is trained.

    python studies/measure_again.py configs/studies/shapeworld-figure6.yaml runs/shapeworld-figure6

For every run of the study whose folder holds a trained model of the same samples and the same training, the measures and
conditions of the file are taken. Settings that are newer than a folder have their defaults there; a score that is stored in the
folder must come out the same, or the script stops. The folders are only read. Runs that are not finished are left out; called
again, it goes on with those that are new.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch

from molyneux.core import Score, store
from molyneux.core.errors import MolyneuxError
from molyneux.measure import evaluate
from molyneux.report import StudyRun, flatten, load_records, portable, save_records
from molyneux.run import Experiment
from molyneux.run import load_study as read_study
from molyneux.run.run.experiment import parse_experiment
from molyneux.run.run.folder import RunFolder
from molyneux.run.run.report import Silent, read_scores
from molyneux.run.run.steps import evaluations
from molyneux.run.run.stored import stored_settings
from molyneux.run.run.under_way import Run

_LASTING = ("data.", "learn.", "seed")
"""Beginnings of the dotted names of the settings of samples and training."""


def trained(settings: Mapping[str, Any]) -> str:
    """What identifies samples and training, of resolved settings."""
    return store.fingerprint({path: value for path, value in portable(flatten(settings)).items() if path.startswith(_LASTING)})


def identity(settings: Mapping[str, Any]) -> str:
    """What identifies a run with its measures, of resolved settings."""
    flat = portable(flatten(settings))
    return store.fingerprint({path: value for path, value in flat.items() if path not in ("name", "report.formats")})


def renewed(folder: Path, experiment: Experiment) -> Experiment:
    """The experiment of a folder with the measures of another, and the defaults of settings that are newer than it."""
    return parse_experiment({**stored_settings(folder), **{name: experiment.resolved[name] for name in ("name", "measure")}})


def measured(folder: Path, experiment: Experiment) -> StudyRun:
    """The record of an experiment, of the model in a folder.

    Raises:
        MolyneuxError: its files are damaged, or a score that is stored there comes out differently.
    """
    own = renewed(folder, experiment)
    store.verify(folder / "model")
    found = evaluate(own.measure.measures, evaluations(Run(RunFolder(folder, own), Silent()))).scores
    new = {_key(score): score.value for score in found}
    changed = [_key(score) for score in read_scores(folder) if _key(score) in new and new[_key(score)] != score.value]
    if changed:
        raise MolyneuxError(f"{folder}: {len(changed)} scores are not those on record, the first is {changed[0]}")
    scores = tuple(Score.from_json({**score.to_json(), "origin": portable(score.origin)}) for score in found)
    return StudyRun(portable(flatten(experiment.resolved)), scores)


def _key(score: Score) -> tuple[Any, ...]:
    return score.name, tuple(sorted(score.about.items()))


def main() -> int:
    """Measure every finished run; status 1 if there was none."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("study", type=Path, help="file of the study")
    parser.add_argument("runs", type=Path, help="folder with the folders of its runs")
    parser.add_argument("--results", type=Path, help="folder of the records (default: studies/results/STUDY)")
    options = parser.parse_args()
    torch.set_num_threads(1)
    out = (options.results or Path(__file__).parent / "results" / options.study.stem) / "records.jsonl"
    study = read_study(options.study)
    wanted = {trained(one.resolved): one for point in study.points() for one in study.experiments(point)}
    runs = {}
    for run in load_records(out) if out.is_file() else []:
        experiment = wanted.get(trained(run.settings))
        if experiment is not None and identity(run.settings) == identity(experiment.resolved):
            runs[trained(run.settings)] = run
    for folder in sorted(path.parent.parent for path in options.runs.glob("*/measure/stage.json")):
        key = trained(renewed(folder, next(iter(wanted.values()))).resolved)
        if key in wanted and key not in runs:
            runs[key] = measured(folder, wanted[key])
            save_records(out, list(runs.values()))
            print(f"{folder.name}: {len(runs[key].scores)} scores", flush=True)
    print(f"{len(runs)} of {len(wanted)} runs are on record in {out}")
    return 0 if runs else 1


if __name__ == "__main__":
    sys.exit(main())
