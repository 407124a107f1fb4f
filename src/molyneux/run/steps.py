"""The four steps of a run. Each looks at its stage first, and does nothing where that is complete and unharmed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from molyneux.core import ConflictError, Score, Source, StoreError, save_exhibits, store
from molyneux.data import StoredSource, contact_sheet, generate, load
from molyneux.learn import fit, load_weights, save_model
from molyneux.measure import Evaluation, evaluate
from molyneux.run.checksums import checksum
from molyneux.run.experiment import Experiment, make_model
from molyneux.run.folder import RunFolder
from molyneux.run.progress import RunProgress
from molyneux.run.provenance import provenance
from molyneux.run.readers import Readers, find_readers
from molyneux.run.samples import SPLITS, Split
from molyneux.run.seen import remember, seen

Step = Literal["data", "learn", "measure", "report"]
"""The rooms, in the order of the way the data goes."""


@dataclass(frozen=True)
class Work:
    """A run under way."""

    folder: RunFolder
    progress: RunProgress

    @property
    def experiment(self) -> Experiment:
        """What is run."""
        return self.folder.experiment

    def whole(self, split: Split) -> Source:
        """The samples of a split: the kept ones where they are kept."""
        kept = self.folder.samples.folder / split
        return StoredSource(kept, verify=False) if kept.is_dir() else self.experiment.samples.whole(split)

    def source(self, split: Split) -> Source:
        """The samples of a split as the model sees them."""
        return self.experiment.samples.seen(self.whole(split), split)


def make_samples(work: Work) -> None:
    """Step `data`: look at the samples, and keep them if that is wanted.

    Raises:
        ConflictError: samples are no longer what they were when this folder was made.
        CorruptFileError: stored samples were truncated or altered.
    """
    stage, data = work.folder.samples, work.experiment.data
    if data.folder is not None:
        for split in SPLITS:
            store.verify(data.folder / split)
    if _done(stage, work, "data"):
        _require_same(stage, work)
        return
    work.progress.begin("data", "making the samples" if data.keep else "looking at the samples")
    for split in SPLITS if data.keep else ():
        _keep(work, split)
    recipe = {"checksums": _checksums(work), "settings": work.experiment.resolved["data"], "seed": work.experiment.seed}
    contact_sheet(work.source("train"), stage.folder / "contact_sheet.png")
    store.write_json(stage.folder / "spec.json", work.source("test").spec.to_json())
    store.write_json(stage.folder / "recipe.json", recipe)
    stage.finish(recipe["checksums"])


def _keep(work: Work, split: Split) -> None:
    """Store a split, if an earlier attempt did not get as far."""
    source, done = work.experiment.samples.whole(split), 0

    def tell(count: int) -> None:
        nonlocal done
        done += count
        work.progress.advance(done, len(source), split)

    generate(source, work.folder.samples.folder / split, progress=tell)


def learn(work: Work) -> None:
    """Step `learn`: train, or go on training."""
    stage, experiment = work.folder.model, work.experiment
    if _done(stage, work, "learn"):
        return
    _require(work.folder.samples, "learn", "data")
    work.progress.begin("learn", "loading the samples")
    train, validation = load(work.source("train")), load(work.source("validation"))
    model = make_model(experiment.learn, train.spec, experiment.seed)
    work.progress.begin("learn", "training")
    history = fit(model, train, validation, experiment.learn.training, stage.folder, seed=experiment.seed, progress=work.progress)
    save_model(model, stage.folder, experiment.resolved["learn"]["model"])
    remember(train, stage.folder)
    parameters = sum(parameter.numel() for parameter in model.parameters())
    stage.finish({"parameters": parameters, "epochs": history.epochs, "steps": history.steps})


def measure(work: Work) -> None:
    """Step `measure`: scores and exhibits of the trained model."""
    stage, experiment = work.folder.measure, work.experiment
    if _done(stage, work, "measure", again=True):
        return
    _require(work.folder.model, "measure", "learn")
    stage.clear()
    work.progress.begin("measure", "measuring")
    measurement = evaluate(experiment.measure.measures, evaluation(work), progress=work.progress.advance)
    save_exhibits(stage.folder, measurement.exhibits)
    store.write_lines(stage.folder / "scores.jsonl", [score.to_json() for score in measurement.scores])
    stage.finish({"scores": len(measurement.scores)})


def evaluation(work: Work) -> Evaluation:
    """The trained model of a run with the samples and readers it is measured with.

    Raises:
        CorruptFileError, StoreError: the weights are damaged or not there.
    """
    experiment, settings = work.experiment, work.experiment.measure
    source = experiment.samples.measured(work.whole(settings.split))
    model = make_model(experiment.learn, source.spec, experiment.seed)
    load_weights(model, work.folder.model.folder)
    readers = find_readers(experiment.data.dataset, source.spec, settings.judges)
    return Evaluation(
        model,
        source,
        readers=readers.judges,
        exact=readers.exact,
        seed=experiment.seed,
        samples=settings.samples,
        batch_size=settings.batch_size,
        origin={**_origin(experiment, readers), "seen": seen(source, work.folder.model.folder, settings.samples)},
    )


def report(work: Work) -> None:
    """Step `report`: tables and pages from the scores."""
    stage = work.folder.report
    if _done(stage, work, "report", again=True):
        return
    _require(work.folder.measure, "report", "measure", again=True)
    stage.clear()
    work.progress.begin("report", "writing the report")
    from molyneux.report import write_run  # draws: takes a second to import, which only this step needs

    write_run(work.folder.path, work.experiment.report.formats)
    stage.finish()


STEPS: dict[Step, Callable[[Work], None]] = {"data": make_samples, "learn": learn, "measure": measure, "report": report}
"""What is done in each step, in order."""


def read_scores(folder: Path) -> list[Score]:
    """The scores of a run.

    Raises:
        StoreError: it has none yet. CorruptFileError, DataError: they cannot be read.
    """
    return [Score.from_json(record) for record in store.read_lines(folder / "measure" / "scores.jsonl")]


def _origin(experiment: Experiment, readers: Readers) -> dict[str, Any]:
    return {
        **provenance(experiment),
        "split": experiment.measure.split,
        "model": experiment.learn.model.target.__name__,
        "experiment": store.fingerprint(experiment.identity),
        **({"unread": dict(readers.unread)} if readers.unread else {}),
    }


def _done(stage: store.Stage, work: Work, step: str, *, again: bool = False) -> bool:
    """Whether a stage is complete; its files are checked then.

    What other settings made is refused, or counts for nothing where it can be made `again` in seconds.
    """
    if not (stage.current if again else stage.complete):
        return False
    work.progress.begin(step, "done before: checking its files")
    stage.verify()
    return True


def _require(stage: store.Stage, step: str, before: str, *, again: bool = False) -> None:
    if not (stage.current if again else stage.complete):
        run = stage.folder.parent
        raise StoreError(f"expected {stage.folder} to be complete before step {step}: run molyneux {before} {run} first")
    stage.verify()


def _checksums(work: Work) -> dict[str, str]:
    return {split: checksum(work.source(split)) for split in SPLITS}


def _require_same(stage: store.Stage, work: Work) -> None:
    for split, found in _checksums(work).items():
        if stage.verify().get(split) != found:
            raise ConflictError(
                f"the {split} samples are no longer those that {work.folder.path} was made with: restore the version of the "
                f"package or the files it was made with, or choose another folder with --out"
            )
