"""The measure of what a model costs."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
import tempfile
from collections.abc import Collection, Mapping
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import Any, ClassVar, final

import torch
from torch import nn

from molyneux.core import ConfigError, NotApplicableError, Score, Trainable
from molyneux.measure.complexity.process import AdamStep, MeasuredProcess, inference_of
from molyneux.measure.evaluation import Evaluation
from molyneux.measure.measures import Measure, Measurement
from molyneux.measure.scores import Recorder

_BITS = {"float32": 32, "int64": 64, "uint8": 8}
_LOWER: dict[str, Any] = {"bounds": (0.0, None), "higher_is_better": False}


@final
class Complexity(Measure):
    """What a model costs, measured in processes of their own that do nothing else, on the samples as they are.

    Scores, after MultiBench (Liang et al., NeurIPS 2021, appendix D.2):

    - `complexity.data` in bits: what a sample takes as it is stored, and of each modality; of those that inference reads.
    - `complexity.parameters` and `complexity.inference_parameters`: those of the model, and those that inference reads, without
      what only training needs, such as decoders.
    - `complexity.operations`: floating-point operations of inference for a sample, by torch's own counter.
    - `complexity.inference_time` in s and `complexity.inference_memory` in MiB: all test samples once through the model, in the
      batches of the evaluation; the median of several times. Making the samples is not counted in the time.
    - `complexity.training_step` in ms and `complexity.training_memory` in MiB: a step of the training, with its batch size,
      optimiser, clipping, precision and memory layout, where these are known (`Evaluation.step`); else of Adam in 32 bits with a
      batch of the evaluation, which a note says. The median.
    - `complexity.training_time` in s: of the training of the run, with its validation, where it is recorded.
    - `complexity.energy` in J: of the processors during `inference_time`, where Linux lets their counters be read.

    Memory is the most that the process had, with Python and torch; the control `idle process` is what it had before the job.
    On a GPU, `..._device_memory` is the most that tensors took there. Inference is `predict`, or `represent`, or `encode`. Times
    and memory belong to the machine, which the run describes; `origin` has all repeats.

    Args:
        repeats: how often inference goes through all samples.
        steps: training steps that are timed; 0 for none.

    Raises:
        ConfigError: no repeats, or fewer than no steps.
    """

    name: ClassVar[str] = "complexity"

    def __init__(self, *, repeats: int = 3, steps: int = 20) -> None:
        self.repeats, self.steps = repeats, steps
        least = {"repeats": (repeats, 1), "steps": (steps, 0)}
        if problems := [f"{name}: expected at least {low}, got {given}" for name, (given, low) in least.items() if given < low]:
            raise ConfigError(problems)

    def measure(self, evaluation: Evaluation) -> Measurement:
        """All of it, of the samples as they are; nothing under other conditions, which cost the same."""
        if evaluation.about:
            return Measurement()
        model = evaluation.model
        if inference_of(model) is None:
            what = "predicts, represents or encodes (method `predict`, `represent` or `encode`)"
            raise NotApplicableError(f"complexity needs a model that {what}; {type(model).__name__} does not")
        recorder = Recorder(self.name, evaluation.rng(self.name), {}, evaluation.provenance())
        parameters = sum(item.numel() for item in model.parameters()) if isinstance(model, nn.Module) else 0
        found = in_process(self._job(evaluation))
        scores = [
            *_sizes(evaluation, found.get("views", evaluation.spec.names), recorder),
            recorder.score("parameters", float(parameters), n=evaluation.size, **_LOWER),
            *self._inference(evaluation, found, recorder),
        ]
        scores += self._training(evaluation, recorder) if self.steps else []
        if seconds := evaluation.trained.get("seconds"):
            fields = {"unit": "s", "n": _trained_on(evaluation), **_LOWER}
            scores.append(recorder.score("training_time", float(seconds), **fields))
        return Measurement(tuple(scores))

    def _inference(self, evaluation: Evaluation, found: Mapping[str, Any], recorder: Recorder) -> list[Score]:
        """Scores of inference."""
        if "problem" in found:
            return [_failed(recorder, "inference_time", found["problem"])]
        n = evaluation.size
        scores = [
            recorder.score("inference_parameters", float(found["inference_parameters"]), n=n, **_LOWER),
            recorder.score("operations", float(found["operations"]), n=n, **_LOWER),
            _timed(recorder, "inference_time", found["seconds"], "s", n),
            *_memory(recorder, "inference", found, n),
        ]
        return scores + ([_timed(recorder, "energy", found["joules"], "J", n)] if found["joules"] else [])

    def _training(self, evaluation: Evaluation, recorder: Recorder) -> list[Score]:
        """Scores of training steps; none where a model cannot be trained or there are no training samples."""
        if evaluation.train is None or not isinstance(evaluation.model, Trainable) or not isinstance(evaluation.model, nn.Module):
            return []
        step = evaluation.step or AdamStep(int(evaluation.trained.get("batch_size") or evaluation.batch_size))
        size = min(step.batch_size, len(evaluation.train))
        found = in_process(replace(self._job(evaluation, batch_size=size), source=evaluation.train, steps=self.steps, step=step))
        if "problem" in found:
            return [_failed(recorder, "training_step", found["problem"])]
        note = "" if evaluation.step else "how the model was trained is not known: a step of Adam in 32 bits"
        timed = _timed(recorder, "training_step", [1000 * second for second in found["seconds"]], "ms", size, note=note)
        return [timed, *_memory(recorder, "training", found, size)]

    def _job(self, evaluation: Evaluation, *, batch_size: int = 0) -> MeasuredProcess:
        return MeasuredProcess(
            model=evaluation.model,
            source=evaluation.source,
            samples=batch_size or evaluation.size,
            batch_size=batch_size or evaluation.batch_size,
            observed=evaluation.available,
            repeats=self.repeats,
            steps=0,
            threads=torch.get_num_threads(),
            seed=evaluation.seed,
        )


def in_process(job: MeasuredProcess) -> dict[str, Any]:
    """The numbers of a job from a process of its own, or its `problem` as a sentence."""
    with tempfile.TemporaryDirectory() as folder:
        path, result = Path(folder) / "job.pt", Path(folder) / "result.json"
        try:
            torch.save(job, path)
        except Exception as error:  # whatever a model from outside holds may refuse to be written
            return {"problem": f"{type(job.model).__name__} cannot be sent to another process: {error}"}
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(place for place in sys.path if place)}
        command = [sys.executable, "-P", "-m", "molyneux.measure.complexity.process", str(path), str(result)]
        done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
        if not result.exists():
            last = (done.stderr.strip().splitlines() or [f"it ended with status {done.returncode}"])[-1]
            return {"problem": last}
        found: dict[str, Any] = json.loads(result.read_text(encoding="utf-8"))
        return found


def _failed(recorder: Recorder, name: str, problem: str) -> Score:
    """A score without a value that says why there is none."""
    return recorder.score(name, None, note=f"not applicable: could not be measured in a process of its own: {problem}", **_LOWER)


def _trained_on(evaluation: Evaluation) -> int:
    """How many samples the model learned from; 0 where nobody knows."""
    return int(evaluation.trained.get("samples") or (0 if evaluation.train is None else len(evaluation.train)))


def _sizes(evaluation: Evaluation, read: Collection[str], recorder: Recorder) -> list[Score]:
    """The size of what is read of a sample and of each of its modalities in bits."""
    modalities = [item for item in evaluation.spec.modalities if item.name in read]
    bits = {item.name: float(_BITS[item.dtype] * math.prod(item.shape)) for item in modalities}
    fields: dict[str, Any] = {"unit": "bits", "n": evaluation.size, **_LOWER}
    each = [recorder.on(modality=name).score("data", size, **fields) for name, size in bits.items()]
    return [recorder.score("data", sum(bits.values()), **fields), *each]


def _timed(recorder: Recorder, name: str, values: list[float], unit: str, n: int, *, note: str = "") -> Score:
    """The median of several measurements, all of which are in the origin."""
    told = replace(recorder, origin={**recorder.origin, "repeats": values})
    return told.score(name, median(values), unit=unit, n=n, note=note, **_LOWER)


def _memory(recorder: Recorder, of: str, found: Mapping[str, Any], n: int) -> list[Score]:
    """The most memory of a process, and on its GPU."""
    fields: dict[str, Any] = {"unit": "MiB", "n": n, **_LOWER}
    idle = {"idle process": float(found["idle_memory"])}
    scores = [recorder.score(f"{of}_memory", float(found["memory"]), controls=idle, **fields)]
    if "device_memory" in found:
        scores.append(recorder.score(f"{of}_device_memory", float(found["device_memory"]), **fields))
    return scores
