"""Training: a model and samples become a trained model."""

from __future__ import annotations

import contextlib
import json
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, TypeVar

import torch
from torch import nn

from molyneux.core import (
    ConfigError,
    Dataset,
    History,
    NamesStages,
    PostFit,
    Source,
    instance_problems,
    nearest,
    store,
)
from molyneux.learn.training.checkpoints import Checkpoints, State
from molyneux.learn.training.fit_progress import FitProgress, tell_note
from molyneux.learn.training.fitting import Fitting
from molyneux.learn.training.hardware import (
    bf16_note,
    choose_device,
    keep_freed_memory,
    precision_of,
    threads,
    use_channels_last,
)
from molyneux.learn.training.logs import require_packages
from molyneux.learn.training.post_fit import post_fit, post_fit_note, require_post_fit
from molyneux.learn.training.processes import Processes, process_count, several
from molyneux.learn.training.settings import Training
from molyneux.learn.training.stage_sources import Sources, StageSources
from molyneux.learn.training.steps import trained_names
from molyneux.learn.training.timed_steps import FitStep

F = TypeVar("F", bound=Fitting)

_FREE = ("checkpoint_seconds", "device", "memory", "mlflow", "prefetch", "tensorboard", "threads", "wandb")
"""Settings that may change between a training and its continuation; `keep` may too where there is one stage."""


def fit(
    model: nn.Module,
    train: Source | Dataset,
    validation: Source | None = None,
    training: Training | None = None,
    folder: Path | str | None = None,
    *,
    seed: int = 0,
    progress: FitProgress | None = None,
    others: Mapping[str, Sources] | None = None,
    processes: Processes = 1,
) -> History:
    """Train a model, or go on where an earlier call with the same folder stopped.

    `folder` gets the history (`history.csv`) and the logs that `training` asks for after each epoch, and a checkpoint
    (`checkpoints/`) every `training.checkpoint_seconds` seconds, at the end of each stage, and before Ctrl-C or SIGTERM takes
    effect; a second one takes effect at once. A call after a crash, a kill or Ctrl-C goes on from the last checkpoint, with as
    many threads as before unless `training` says how many, and gives, on the same machine, bit for bit what an uninterrupted
    call gives. A call after the end trains no more. In the end a model that satisfies `PostFit` is post-fitted; a long fit goes
    on where it was stopped, too. One call at a time in a process: torch's own generator, its number of threads, the settings of
    the allocator (`keep_freed_memory`) and, in the main thread, the handlers of these signals belong to the process.

    Args:
        model: satisfies `core.Trainable`; in the end it holds the weights that `training.keep` names, on the CPU, in eval mode.
        train: the samples to learn from, loaded or streamed as `training.memory` says. Of a data set with an end, its splits
            `train` and, where no other samples are given, `validation`, in the order of `seed`.
        validation: the samples that choose the best epoch; with a source and None, nothing is validated.
        training: the settings; those of `Training()` by default.
        folder: belongs to this training alone. None keeps nothing beside the trained model and the history that is returned:
            no log, and no checkpoint from which the training could go on.
        seed: root seed of the order of the samples and of all noise. The weights a model starts with are not drawn here.
        progress: receives the progress, and where it takes notes (`fit_progress.TakesNotes`) the line about bf16 that the device
            does not have, and the lines in `training_notes` of a model that has these; without it, a line is a warning.
        others: the samples of stages that do not learn from `train` and `validation`, by the name of the stage, such as simpler
            ones for the first; their specs are the same.
        processes: how many train together, each on its part of every batch, on a processor or each on a CUDA device; `auto`: one
            for each CUDA device. Losses are those of one process but for rounding, and another number may go on with a
            training. The others are begun here (`multiprocessing`, spawned): a script of yours begins with
            `if __name__ == "__main__":`. Where nothing says how many threads, they share the cores.

    Returns:
        The history of all epochs, of earlier calls too.

    Raises:
        ConfigError: the settings do not fit the sources or the machine, a package for a log is not installed, `others` or
            the model (`core.NamesStages`) names a stage that there is not, learns its targets in none, or has a `post_fit`
            that cannot be called; the data set has no end, a log has no folder, or model and samples are none; there are fewer
            devices than processes, model or samples cannot be sent to another process, or a loss is no mean over samples.
        SpecError: samples of a stage have another spec.
        ConflictError: `folder` was made by other settings, in another precision, with another number of threads, or is in use.
        CorruptFileError: a checkpoint was truncated or altered.
        DataError: samples hold NaN, infinity or numbers out of range, or one has no modality at all and the model needs one
            (`needs_views`). TrainingError: the loss or its gradient do.
        StoreError: `folder` cannot be written.
    """
    folder = None if folder is None else Path(folder)
    training = training or Training()
    problems = instance_problems(nn.Module, model=model)
    if problems := problems if isinstance(train, Dataset) else problems + instance_problems(Source, train=train):
        raise ConfigError(problems)
    if isinstance(train, Dataset):
        validation = train.source("validation", seed=seed) if validation is None else validation
        train = train.source("train", seed=seed)
    if folder is None:
        if training.mlflow is True:
            raise ConfigError("folder: is missing: mlflow: true writes its log there; name a folder, or the address of a server")
        with tempfile.TemporaryDirectory() as place:
            unlogged = replace(training, tensorboard=False)
            rest: Any = {"seed": seed, "progress": progress, "others": others, "processes": processes}
            return fit(model, train, validation, unlogged, Path(place), **rest)
    sources, rest = (train, validation), {"seed": seed, "progress": progress, "others": others or {}, "processes": processes}
    with begun(model, sources, training, folder, **rest) as fitting:
        if not fitting.complete():
            count, device = process_count(processes, choose_device(training)), choose_device(training)
            with several(fitting.helped(), count, device) as fitting.group:
                fitting.run()
        return finished(fitting)


@contextlib.contextmanager
def begun(
    model: nn.Module,
    sources: Sources,
    training: Training,
    folder: Path,
    *,
    seed: int = 0,
    progress: FitProgress | None = None,
    others: Mapping[str, Sources],
    processes: Processes = 1,
    kind: type[F] = Fitting,  # type: ignore[assignment]
) -> Iterator[F]:
    """A training that was checked, and stands where an earlier one in its folder stopped; within, the folder is locked.

    Arguments and errors as those of `fit`.
    """
    require_packages(training)
    samples, count = StageSources(training, sources, others), process_count(processes, choose_device(training))
    samples.require_parts(count)
    for stage in training.stages:
        trained_names(model, stage.parameters)
    _require_named_stages(model, training)
    require_post_fit(model)
    if use_channels_last(training, model):
        model.to(memory_format=torch.channels_last)  # type: ignore[call-overload]
    keep_freed_memory()
    with store.locked(folder), threads(_thread_count(training, folder, count)):
        identity = _identity(model, samples, training, seed)
        checkpoints = Checkpoints(folder / "checkpoints", identity if count == 1 else {**identity, **_begun_threads(folder)})
        state = checkpoints.resume(model) or State()
        checkpoints.begin()
        fitting = kind(model, training, samples, folder, checkpoints, state, seed, progress, torch.get_num_threads())
        left = not fitting.complete()
        notes = [bf16_note(training, model), *getattr(model, "training_notes", ())] if left else []
        notes += [post_fit_note(model, training)] if left or training.steps == 0 else []
        for line in filter(None, notes):
            tell_note(progress, line)
        yield fitting


def finished(fitting: Fitting) -> History:
    """What comes after the last step: the weights that are kept, the fit after a training, the history."""
    model, training, state = fitting.model, fitting.training, fitting.state
    train = fitting.samples.loaded or fitting.samples.usual[0]
    history = state.history
    if training.keep == "best" and state.best is not None:
        model.load_state_dict(state.best)
    model.eval()
    if isinstance(model, PostFit):
        kept, seed, progress = fitting.checkpoints.folder, fitting.seed, fitting.progress
        history = history.prolonged(post_fit(model, train, kept, training, seed=seed, progress=progress))
    history.write_csv(fitting.folder / "history.csv")
    return replace(history, step=FitStep(training.batch_size, training), samples=len(train))


def _require_named_stages(model: nn.Module, training: Training) -> None:
    """Raise ConfigError if the loss of a module depends on a stage that the training lacks."""
    known = [stage.name for stage in training.stages]
    parts = [part for part in model.modules() if isinstance(part, NamesStages)]
    missing = {(type(part).__name__, name) for part in parts for name in part.named_stages if name not in (known or [""])}
    if missing:
        nothing = "the training has no stages: name it in learn.stages"
        found = sorted(missing)
        raise ConfigError([f"{part}: no stage {name!r}; {nearest(name, known) if known else nothing}" for part, name in found])


def _begun_threads(folder: Path) -> dict[str, Any]:
    """The threads that a training was begun with, for several processes, by whose number the last digits differ anyway."""
    begun = Checkpoints.settings_in(folder / "checkpoints")
    return {name: value for name, value in begun.items() if name == "threads"}


def _thread_count(training: Training, folder: Path, processes: int) -> int:
    """How many threads a process has: those asked for, else those that a training was begun with, else torch's own choice.

    Several processes share what torch would choose.
    """
    if processes > 1:
        return training.threads or max(1, torch.get_num_threads() // processes)
    begun = Checkpoints.settings_in(folder / "checkpoints").get("threads")
    return training.threads or begun or torch.get_num_threads()


def _identity(model: nn.Module, samples: StageSources, training: Training, seed: int) -> dict[str, Any]:
    """Everything the course of a training depends on that can be told from here."""
    free = _FREE if training.stages else (*_FREE, "keep")
    settings = {name: value for name, value in asdict(training).items() if name not in free}
    weights = {name: f"{tensor.dtype} {tuple(tensor.shape)}" for name, tensor in model.state_dict().items()}
    identity = {
        "training": settings,
        "precision": precision_of(training, model),
        "threads": torch.get_num_threads(),
        "seed": seed,
        "model": {"class": type(model).__name__, "weights": store.fingerprint(weights)},
        **samples.record(),
    }
    return dict(json.loads(json.dumps(identity)))  # lists for tuples, as they are read back
