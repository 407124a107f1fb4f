"""What every measure takes and gives, and the loop that runs a list of them.

A `Measure` takes an `Evaluation` (a model, samples, readers, a seed) and gives a `Measurement` (scores and exhibits).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, ClassVar, final

import numpy as np
import torch
from torch import nn

from molyneux.core import Batch, ConfigError, Exhibit, NotApplicableError, Reader, Score, Source, Spec, SpecError, seeds
from molyneux.core.reader import LearnedReader


@dataclass(frozen=True)
class Evaluation:
    """A model, the samples it is measured on, and who reads what it makes.

    Args:
        model: any object; a measure checks the protocols it needs.
        source: test samples; the first `samples` of them are used, all if there are fewer.
        readers: learned readers (judges) by modality.
        exact: exact readers by modality; preferred to `readers`.
        seed: every random number of a measure comes from named streams of this seed. Noise is drawn batch by batch, so
            the same seed with the same batch size gives the same numbers.
        samples: how many test samples at most.
        batch_size: samples per call of the model.
        origin: recorded with every score: world, version, split, model, ...

    Raises:
        ConfigError: sizes below 1. SpecError: a reader of another modality or of unknown factors.
    """

    model: Any
    source: Source
    readers: Mapping[str, Reader] = field(default_factory=dict)
    exact: Mapping[str, Reader] = field(default_factory=dict)
    seed: int = 0
    samples: int = 10_000
    batch_size: int = 500
    origin: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for what, value in (("samples", self.samples), ("batch_size", self.batch_size), ("len(source)", len(self.source))):
            if value < 1:
                raise ConfigError(f"expected {what} of at least 1, got {value}")
        for name, reader in (*self.readers.items(), *self.exact.items()):
            if reader.modality != name:
                raise SpecError(f"expected a reader of {name}, got one of {reader.modality}")
            self.spec.modality(name)
            for factor in reader.factors:
                self.spec.factor(factor)

    @property
    def spec(self) -> Spec:
        """What a batch looks like."""
        return self.source.spec

    @property
    def size(self) -> int:
        """Number of samples that are measured on."""
        return min(self.samples, len(self.source))

    @property
    def device(self) -> torch.device:
        """Where the model is; batches are moved there."""
        parameters = self.model.parameters() if isinstance(self.model, nn.Module) else iter(())
        parameter = next(parameters, None)
        return torch.device("cpu") if parameter is None else parameter.device

    def batches(self, samples: int | None = None) -> Iterator[tuple[int, Batch]]:
        """The position of the first sample and the batch, for the first `samples` samples (all by default)."""
        size = self.size if samples is None else min(samples, self.size)
        for start in range(0, size, self.batch_size):
            yield start, self.source.batch(np.arange(start, min(start + self.batch_size, size))).to(self.device)

    def generator(self, *names: str | int) -> torch.Generator:
        """A torch stream on the model's device."""
        return seeds.torch_generator(self.seed, "measure", *names, device=self.device.type)

    def rng(self, *names: str | int) -> np.random.Generator:
        """A NumPy stream."""
        return seeds.generator(self.seed, "measure", *names)

    def reader(self, modality: str) -> Reader | None:
        """Who reads a modality: the exact reader where there is one, else the judge, else None."""
        return self.exact.get(modality, self.readers.get(modality))

    def provenance(self, modalities: Sequence[str] = ()) -> dict[str, Any]:
        """The origin of a score in which these modalities were read."""
        read = {
            name: {"exact": name in self.exact, "accuracy": dict(reader.accuracy), **_judge(reader)}
            for name in modalities
            if (reader := self.reader(name)) is not None
        }
        head = {**self.origin, "seed": self.seed, "samples": self.size, "batch_size": self.batch_size}
        return {**head, "readers": read} if read else head


def _judge(reader: Reader) -> dict[str, Any]:
    return dict(reader.origin) if isinstance(reader, LearnedReader) else {}


@dataclass(frozen=True)
class Measurement:
    """What a measure gives."""

    scores: tuple[Score, ...] = ()
    exhibits: tuple[Exhibit, ...] = ()

    def __add__(self, other: Measurement) -> Measurement:
        return Measurement(self.scores + other.scores, self.exhibits + other.exhibits)


class Measure(ABC):
    """Something that can be measured. Settings are checked at construction; a call changes nothing.

    Attributes:
        name: family of its scores, such as `coherence`.
        needs: the protocols a model must satisfy.
    """

    name: ClassVar[str]
    needs: ClassVar[tuple[type, ...]] = ()

    @final
    def __call__(self, evaluation: Evaluation) -> Measurement:
        """Measure, with the model in evaluation mode and without gradients.

        Raises:
            NotApplicableError: the model or the source lacks what this measure needs.
        """
        missing = [protocol.__name__ for protocol in self.needs if not isinstance(evaluation.model, protocol)]
        if missing:
            model = type(evaluation.model).__name__
            raise NotApplicableError(f"{self.name} needs a model that satisfies {' and '.join(missing)}; {model} does not")
        with _evaluating(evaluation.model), torch.inference_mode():
            return self.measure(evaluation)

    @abstractmethod
    def measure(self, evaluation: Evaluation) -> Measurement:
        """What `__call__` does once the protocols are checked."""


def evaluate(
    measures: Sequence[Measure], evaluation: Evaluation, *, progress: Callable[[int, int, str], None] | None = None
) -> Measurement:
    """Run measures one after the other.

    A measure that does not apply leaves a score without a value whose note says why.

    Args:
        measures: what to measure.
        evaluation: on what.
        progress: told (done, total, name of the next measure; "" at the end).
    """
    total = Measurement()
    for done, measure in enumerate(measures):
        if progress is not None:
            progress(done, len(measures), measure.name)
        try:
            total += measure(evaluation)
        except NotApplicableError as error:
            score = Score(measure.name, None, origin=evaluation.provenance(), note=f"not applicable: {error}")
            total += Measurement((score,))
    if progress is not None:
        progress(len(measures), len(measures), "")
    return total


@contextmanager
def _evaluating(model: Any) -> Iterator[None]:
    """Put a module into evaluation mode and back."""
    if not isinstance(model, nn.Module):
        yield
        return
    modes = [(module, module.training) for module in model.modules()]
    model.eval()
    try:
        yield
    finally:
        for module, training in modes:
            module.training = training
