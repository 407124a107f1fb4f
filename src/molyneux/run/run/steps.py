"""The four steps of a run: data, learn, measure and report; a complete step is checked against its checksums and skipped."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, get_args

import torch

from molyneux.core import (
    Condition,
    ConfigError,
    Exhibit,
    History,
    MolyneuxError,
    Source,
    StoreError,
    nearest,
    save_exhibits,
    store,
)
from molyneux.core.workers import Workers
from molyneux.data import Split, contact_sheet, store_samples
from molyneux.data.dataset import SPLITS
from molyneux.learn.training.hardware import device_after, on_device, threads
from molyneux.learn.training.processes import Processes
from molyneux.learn.training.timed_steps import FitStep
from molyneux.measure import Evaluation, Galleries, Measure, evaluate
from molyneux.run.run.experiment import Experiment
from molyneux.run.run.folder import RunFolder, held, open_experiment
from molyneux.run.run.learning import learn
from molyneux.run.run.making import make_model, stored_model
from molyneux.run.run.provenance import provenance
from molyneux.run.run.readers import Readers, find_controls, find_features, find_readers
from molyneux.run.run.report import Outcome, Silent, outcome_of, write_report
from molyneux.run.run.same_samples import require_same_samples, sample_digests
from molyneux.run.run.samples import conditions, train_overlap
from molyneux.run.run.stored import (
    RUN_FOLDER,
    given_folder,
    given_object,
    given_path,
    machine,
    record_machine,
    stored_settings,
)
from molyneux.run.run.under_way import Run, RunProgress, Step, require

_ALL: tuple[Step, ...] = get_args(Step)


def run_experiment(
    experiment: Experiment,
    folder: Path | str,
    *,
    steps: Sequence[Step] = _ALL,
    workers: Workers | None = None,
    processes: Processes = 1,
    progress: RunProgress | None = None,
) -> Outcome:
    """Run an experiment, or go on where an earlier call with the same folder stopped, also after a crash, a kill or Ctrl-C.

    What is complete is checked against its checksums and not done again.

    Args:
        experiment: what to run.
        folder: of this experiment, or of one with the same samples and training; what that one measured is made again.
        steps: which steps; they are done in the order of `Step`.
        workers: processes that reach `folder` too, and share what is measured; the scores are the same. See `open_workers`.
        processes: how many train together; see `molyneux.learn.fit`. Another number may go on with a run.
        progress: receives the progress.

    Raises:
        ConfigError: unknown steps.
        ConflictError: the folder was made by other settings of samples or training, holds something else or is in use.
        CorruptFileError: a file that a step uses was truncated, altered or removed.
        StoreError: the folder cannot be written, or a step is asked for whose samples, model or scores are not there.
        DataError, TrainingError: samples or losses hold NaN.
    """
    experiment = given_object(experiment, Experiment, path="load_experiment", settings="read_experiment")
    folder = given_path(folder, RUN_FOLDER)
    unknown = [f"unknown step {step!r}; {nearest(str(step), _ALL)}" for step in steps if step not in _ALL]
    if unknown:
        raise ConfigError(unknown)
    with held(folder, experiment) as ours:
        run = Run(ours, progress or Silent(), workers, processes)
        for name, do in STEPS.items():
            if name in steps:
                do(run)
        return outcome_of(folder, experiment.resolved)


def open_evaluation(folder: Path | str, *, trust: bool = False) -> Evaluation:
    """The trained model of a run in evaluation mode, with the samples and the readers: what its measures are given.

    `evaluate([...], open_evaluation(folder))` measures the model with anything; `.model.encode(batch)` gives its codes of the
    batches of `.source`. The files of the model are checked against their checksums; the folder is only read.

    Args:
        folder: of a run.
        trust: whether classes that are not of this package are imported, which runs their code.

    Raises:
        StoreError: it is no folder of a run, or its model is not trained yet. ConfigError: as `open_experiment`.
        CorruptFileError: a file of the model or the samples was truncated, altered or removed.
    """
    found = _open_evaluations(given_folder(folder, RUN_FOLDER), trust)[0]
    found.model.eval()
    return found


def _open_evaluations(folder: Path, trust: bool) -> list[Evaluation]:
    run = Run(RunFolder(folder, open_experiment(folder, trust=trust)), Silent())
    if not run.folder.model.complete:
        raise StoreError(f"expected a trained model in {folder}, got none: run molyneux learn {folder} first")
    run.folder.model.verify()
    return evaluations(run)


def make_samples(run: Run) -> None:
    """Step `data`: look at the samples, which must be those that the folder was made with; store them if `data.keep` is set."""
    stage, data = run.folder.samples, run.experiment.data
    if run.done(stage, "data"):
        require_same_samples(stage.verify(), data, run.source, run.folder.path)
        return
    run.progress.begin("data", "making the samples" if data.keep else "looking at the samples")
    if data.keep:
        left = {
            name: run.experiment.samples.whole(name) for name in SPLITS if not store.is_file(stage.folder / name / "stage.json")
        }
        store.require_space(stage.folder, sum(len(source) * source.spec.sample_bytes for source in left.values()))
        for split, source in left.items():
            _keep(run, split, source)
    sums = sample_digests(data, run.source)
    recipe = {"checksums": sums, "settings": run.experiment.resolved["data"], "seed": run.experiment.seed}
    if data.own is not None:
        from molyneux.data import check_data  # many files, which a run of a world does without

        checked = check_data(data.own)
        recipe |= {"notes": notes} if (notes := [*data.own.notes, *checked.summaries(checked.warnings)]) else {}
    contact_sheet(run.source("train"), stage.folder / "contact_sheet.png")
    store.write_json(stage.folder / "spec.json", run.source("test").spec.to_json())
    store.write_json(stage.folder / "recipe.json", recipe)
    stage.finish({"checksums": sums, "machine": machine()})
    record_machine(run.folder.path)


def measure(run: Run) -> None:
    """Step `measure`: scores and exhibits of the trained model, whose files are checked also where it was measured before."""
    stage, experiment = run.folder.measure, run.experiment
    if run.folder.model.complete:
        run.folder.model.verify()
    if run.done(stage, "measure", again=True):
        return
    require(run.folder.model, "measure", "learn")
    if run.folder.samples.complete:
        run.folder.samples.verify()
    stage.clear()
    run.progress.begin("measure", "measuring")
    device = device_after(experiment.learn.training) if run.workers is None else "cpu"
    with threads(None if run.workers is None else run.workers.threads):
        given = shared_evaluations(run)
        with on_device(given[0].model, device):  # all of them have the same model
            measurement = evaluate(experiment.measure.measures, given, progress=run.progress.advance)
            exhibits = (*measurement.exhibits, *usual_galleries(experiment.measure.measures, given[0]))
        save_exhibits(stage.folder, exhibits)
        store.write_lines(stage.folder / "scores.jsonl", [score.to_json() for score in measurement.scores])
        stage.finish({"scores": len(measurement.scores), "device": device, "machine": machine()})


def shared_evaluations(run: Run) -> list[Evaluation]:
    """The evaluations of a run, whose batches its workers compute, where it has some, with as many threads as there are here."""
    given = evaluations(run)
    if run.workers is None:
        return given
    from molyneux.measure.opened_evaluations import OpenedEvaluations, share_out  # a run without workers needs none

    opening = partial(_open_evaluations, run.folder.path.resolve(), run.experiment.trusted)
    return share_out(given, run.workers, OpenedEvaluations(opening, torch.get_num_threads()))


def usual_galleries(measures: Sequence[Measure], evaluation: Evaluation) -> tuple[Exhibit, ...]:
    """What a model generates, for its page, where no measure was asked for that shows it; nothing where it generates nothing.

    Scores do not depend on it: its random numbers are streams of their own.
    """
    if any(isinstance(item, Galleries) for item in measures):
        return ()
    with suppress(MolyneuxError):  # more modalities than a gallery has directions for, or views that cannot be drawn
        return evaluate([Galleries(rows=_SHOWN_ROWS, draws=0)], evaluation).exhibits
    return ()


_SHOWN_ROWS = 6


def evaluations(run: Run) -> list[Evaluation]:
    """The trained model of a run with the samples and readers it is measured with: one for each condition, the first without."""
    experiment, settings = run.experiment, run.experiment.measure
    measured_on = conditions(
        settings.split, settings.conditions, lambda split: experiment.samples.evaluated(split, run.whole), experiment.samples
    )
    source = measured_on[0].source
    model = stored_model(experiment.learn, source.spec, experiment.seed, run.folder.model.folder)
    readers = find_readers(experiment.data.dataset, source.spec, settings.judges)
    plain = Evaluation(
        model,
        source,
        train=run.source("train"),
        readers=readers.judges,
        exact=readers.exact,
        features=find_features(source.spec, settings.features),
        controls=find_controls(experiment.data.dataset, seed=experiment.seed),
        seed=experiment.seed,
        samples=settings.samples,
        batch_size=settings.batch_size,
        origin={**_origin(experiment, readers), **_precision(run)},
        trained=_trained(run),
        step=FitStep(experiment.learn.training.batch_size, experiment.learn.training),
        untrained=lambda: make_model(experiment.learn, source.spec, experiment.seed),
    )
    return [_under(condition, plain, run) for condition in measured_on]


def _trained(run: Run) -> dict[str, float]:
    """What is recorded of the training: its seconds, with validation, and what a step was."""
    path, training = run.folder.model.folder / "history.csv", run.experiment.learn.training
    seconds = History.read_csv(path).columns().get("seconds", ()) if store.is_file(path) else ()
    seconds = seconds or _fit_seconds(run)
    whole = {"samples": run.experiment.samples.size("train"), "batch_size": training.batch_size}
    return {**({"seconds": seconds[-1]} if seconds else {}), **whole}


def _fit_seconds(run: Run) -> tuple[float, ...]:
    """Of a training of no steps, whose history is empty."""
    found = run.folder.model.verify().get("fit_seconds") if run.folder.model.complete else None
    return () if found is None else (float(found),)


def _precision(run: Run) -> dict[str, str]:
    """In which arithmetic the model was trained, and fitted after that where it was; nothing of what was not recorded."""
    stage = run.folder.model
    details = stage.verify() if stage.complete else {}
    return {name: str(details[name]) for name in ("precision", "post_fit_precision") if details.get(name) is not None}


def _under(condition: Condition, plain: Evaluation, run: Run) -> Evaluation:
    """The evaluation under a condition; which views also occur in training is said of samples as they are."""
    origin = {**plain.origin, **({"split": condition.about["split"]} if "split" in condition.about else {})}
    if not condition.about.keys() - {"split"}:
        origin["train_overlap"] = train_overlap(condition.source, run.folder.model.folder, plain.samples)
    return replace(plain, source=condition.source, reference=condition.reference, about=condition.about, origin=origin)


STEPS: dict[Step, Callable[[Run], None]] = {
    "data": make_samples,
    "learn": learn,
    "measure": measure,
    "report": lambda run: write_report(run.folder.path, _stored_settings(run), run.progress),
}
"""What is done in each step, in order."""


def _stored_settings(run: Run) -> dict[str, Any]:
    """The settings of a run as they are in its folder, which an earlier version may have made, with its name of now."""
    return {**stored_settings(run.folder.path), "name": run.experiment.name}


def _keep(run: Run, split: Split, source: Source) -> None:
    """Store a split, if an earlier attempt did not get as far."""
    done = 0

    def advance(count: int) -> None:
        nonlocal done
        done += count
        run.progress.advance(done, len(source), split)

    store_samples(source, run.folder.samples.folder / split, progress=advance)


def _origin(experiment: Experiment, readers: Readers) -> dict[str, Any]:
    return {
        **provenance(experiment),
        "split": experiment.measure.split,
        "model": experiment.learn.model.target.__name__,
        "experiment": store.fingerprint(experiment.identity),
        **({"unread": dict(readers.unread)} if readers.unread else {}),
    }
