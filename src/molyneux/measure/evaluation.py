"""What a measure takes and gives, and `evaluate`, which runs a list of measures under a list of conditions."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar, final
from urllib.parse import quote

import numpy as np
import torch
from torch import nn

from molyneux.core import (
    About,
    Batch,
    Codes,
    ConfigError,
    Decodes,
    Encodes,
    Exhibit,
    Likelihood,
    NotApplicableError,
    Predicts,
    Reader,
    Representation,
    Score,
    Source,
    Spec,
    SpecError,
    seeds,
)
from molyneux.core.reader import LearnedReader
from molyneux.measure.codes import CodeStore, CodeTable, EncodedBatch, tabulate_codes
from molyneux.measure.generation import Draw

_ABILITIES: dict[type, str] = {
    Decodes: "decodes codes into views (methods `decode` and `prior`)",
    Encodes: "encodes samples into codes (method `encode`)",
    Likelihood: "estimates log-likelihoods (method `log_likelihood`)",
    Predicts: "predicts targets (method `predict`)",
    Representation: "gives representations (method `represent`)",
}
_LONGEST = 120


@dataclass(frozen=True)
class Evaluation:
    """A model, the samples of one condition that it is measured on, and the readers of what it generates.

    Args:
        model: any object; a measure checks the protocols it needs.
        source: test samples; the first `samples` of them are used, all if there are fewer.
        about: what tells this condition from others (`core.Condition`), merged into every score.
        train: training samples. Probes are fitted on them; without them, on a random half of the test samples.
        readers: learned readers (judges) by modality.
        exact: exact readers by modality; preferred to `readers`.
        seed: every random number of a measure comes from named streams of this seed. Noise is drawn batch by batch, so
            the same seed with the same batch size gives the same numbers.
        samples: how many test samples at most.
        batch_size: samples per call of the model.
        origin: recorded with every score: world, version, split, model, ...
        stream: part of the names of all streams; `train` for the training samples.

    Raises:
        ConfigError: sizes below 1. SpecError: a reader of another modality or of unknown factors.
    """

    model: Any
    source: Source
    about: About = field(default_factory=dict)
    train: Source | None = None
    readers: Mapping[str, Reader] = field(default_factory=dict)
    exact: Mapping[str, Reader] = field(default_factory=dict)
    seed: int = 0
    samples: int = 10_000
    batch_size: int = 500
    origin: Mapping[str, Any] = field(default_factory=dict)
    stream: str = "measure"

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

    @cached_property
    def device(self) -> torch.device:
        """Where the model is; batches are moved there."""
        parameters = self.model.parameters() if isinstance(self.model, nn.Module) else iter(())
        parameter = next(parameters, None)
        return torch.device("cpu") if parameter is None else parameter.device

    @cached_property
    def available(self) -> tuple[str, ...]:
        """The modalities that some sample has, in the order of the Spec.

        Raises:
            NotApplicableError: no sample has any modality.
        """
        found: set[str] = set()
        for _, batch in self.batches():
            found |= {name for name in self.spec.names if bool(batch.mask(name).any())}
            if len(found) == len(self.spec.names):
                break
        if not found:
            raise NotApplicableError("no sample has any modality: measure on another source")
        return tuple(name for name in self.spec.names if name in found)

    @property
    def observed_sets(self) -> tuple[tuple[str, ...], ...]:
        """What is observed where nothing else is asked for: each available modality alone, then all available ones together."""
        return tuple(dict.fromkeys([*((name,) for name in self.available), self.available]))

    @cached_property
    def training(self) -> Evaluation | None:
        """The same model on all training samples; None without them."""
        if self.train is None:
            return None
        return replace(self, source=self.train, train=None, about={}, samples=max(1, len(self.train)), stream="train")

    def batches(self, samples: int | None = None) -> Iterator[tuple[int, Batch]]:
        """The position of the first sample and the batch, for the first `samples` samples (all by default)."""
        size = self.size if samples is None else min(samples, self.size)
        for start in range(0, size, self.batch_size):
            yield start, self._batch(start, min(start + self.batch_size, size))

    def encoded(self, observed: Sequence[str], start: int, batch: Batch | None = None) -> EncodedBatch | None:
        """The codes of the batch that begins at `start`, given the modalities `observed`; encoded once and then kept.

        Args:
            observed: names, in the order of the Spec.
            start: a multiple of the batch size.
            batch: the batch, where it is at hand.

        Returns:
            None where no sample of the batch has all observed modalities.
        """
        end = min(start + self.batch_size, self.size)
        whole = batch if batch is not None and len(batch) == end - start else None
        return self._codes.get(observed, start, lambda: self._batch(start, end) if whole is None else whole)

    def generated_from(
        self, observed: Sequence[str], start: int, batch: Batch, *, draw: Draw = "sample"
    ) -> tuple[Batch, Codes] | None:
        """The samples of a batch that have all observed modalities, and their codes; None where no sample has."""
        found = self.encoded(observed, start, batch)
        if found is None:
            return None
        codes, inside = found.codes(draw, self.device), found.rows < len(batch)
        if not inside.all():  # the last batch of fewer samples than are kept
            codes = codes[inside.to(self.device)]
        rows = found.rows[inside].to(self.device)
        return (batch if len(rows) == len(batch) else batch[rows]), codes

    def table(self, observed: Sequence[str], samples: int | None = None) -> CodeTable:
        """The codes of the first `samples` samples (all by default), given the modalities `observed`.

        Raises:
            NotApplicableError: no sample has all of them. DataError: a code is not finite; names code, row and dimension.
        """
        size = self.size if samples is None else min(samples, self.size)
        starts = range(0, size, self.batch_size)
        encoded = [(start, part) for start in starts if (part := self.encoded(observed, start)) is not None]
        if not encoded:
            raise NotApplicableError(f"no sample has {' and '.join(observed)}: measure on another source")
        return tabulate_codes(encoded, observed, size)

    def tables(self, samples: int | None = None) -> dict[tuple[str, ...], CodeTable]:
        """The codes given each available modality alone and given all of them, where any sample has them; by what is observed.

        Raises:
            NotApplicableError: no sample has any modality. DataError: see `table`.
        """
        found = {}
        for observed in self.observed_sets:
            try:
                found[observed] = self.table(observed, samples)
            except NotApplicableError:
                continue
        return found

    def generator(self, *names: str | int) -> torch.Generator:
        """A torch stream on the model's device."""
        return seeds.torch_generator(self.seed, self.stream, *names, device=self.device.type)

    def rng(self, *names: str | int) -> np.random.Generator:
        """A NumPy stream."""
        return seeds.generator(self.seed, self.stream, *names)

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

    @cached_property
    def _codes(self) -> CodeStore:
        return CodeStore(self.model, self.generator)

    def _batch(self, start: int, end: int) -> Batch:
        return self.source.batch(np.arange(start, end)).to(self.device)


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
        scored: whether it gives scores; one that gives exhibits alone is left out under all conditions but the first.
        exhibits_each: whether its exhibits are made under every condition, and not only under the first.
    """

    name: ClassVar[str]
    needs: ClassVar[tuple[type, ...]] = ()
    scored: ClassVar[bool] = True
    exhibits_each: ClassVar[bool] = False

    @final
    def __call__(self, evaluation: Evaluation) -> Measurement:
        """Measure, with the model in evaluation mode and without gradients.

        Scores that a modality cannot have because no sample has it are recorded without a value, with the reason.

        Raises:
            NotApplicableError: the model or the source lacks what this measure needs. ConfigError: see `check`.
        """
        return self._measure(replace(evaluation))  # codes are encoded anew: the model may have been trained since

    @abstractmethod
    def measure(self, evaluation: Evaluation) -> Measurement:
        """What `__call__` does once the protocols are checked."""

    def check(self, spec: Spec) -> None:  # noqa: B027 (most measures suit every Spec)
        """Raise ConfigError where settings do not fit the samples; called before anything is measured."""

    def _measure(self, evaluation: Evaluation) -> Measurement:
        self.check(evaluation.spec)
        if not all(isinstance(evaluation.model, protocol) for protocol in self.needs):
            abilities = [_ABILITIES.get(protocol, f"satisfies {protocol.__name__}") for protocol in self.needs]
            model = type(evaluation.model).__name__
            raise NotApplicableError(f"{self.name} needs a model that {' and '.join(abilities)}; {model} does not")
        with _evaluating(evaluation.model), torch.inference_mode():
            absent = [name for name in evaluation.spec.names if name not in evaluation.available] if self.scored else []
            found = self.measure(evaluation)
        origin = evaluation.provenance()
        reasons = [not_applicable(self, f"no sample has {name}", origin=origin, about={"modality": name}) for name in absent]
        return found + Measurement(tuple(reasons))


def not_applicable(measure: Measure, reason: str, *, origin: Mapping[str, Any], about: About | None = None) -> Score:
    """A score without a value that says why there is none."""
    return Score(measure.name, None, about or {}, origin=origin, note=f"not applicable: {reason}")


def evaluate(
    measures: Sequence[Measure],
    evaluations: Evaluation | Sequence[Evaluation],
    *,
    progress: Callable[[int, int, str], None] | None = None,
) -> Measurement:
    """Run measures under each condition, one after the other.

    All measures share the codes of a condition, which are encoded once. `about` of a condition is merged into its scores.
    Exhibits are made under the first condition only, unless a measure says otherwise. A measure that does not apply leaves a
    score without a value whose note says why.

    Args:
        measures: what to measure.
        evaluations: one for each condition, the samples as they are first.
        progress: is called with (done, total, name of the next measure; "" at the end).

    Raises:
        ConfigError: no condition, conditions that are not told apart by `about`, or settings that do not fit the samples.
    """
    given = _sharing([evaluations] if isinstance(evaluations, Evaluation) else evaluations)
    for measure in measures:
        for evaluation in given:
            measure.check(evaluation.spec)
    work = [
        (number, evaluation, measure)
        for number, evaluation in enumerate(given)
        for measure in measures
        if number == 0 or measure.scored or measure.exhibits_each
    ]
    total = Measurement()
    for done, (number, evaluation, measure) in enumerate(work):
        if progress is not None:
            progress(done, len(work), measure.name)
        try:
            found = measure._measure(evaluation)
        except NotApplicableError as error:
            found = Measurement((not_applicable(measure, str(error), origin=evaluation.provenance()),))
        total += _under(found, evaluation.about, exhibits=number == 0 or measure.exhibits_each)
    if progress is not None:
        progress(len(work), len(work), "")
    return total


def exhibit_name(*parts: str | Sequence[str]) -> str:
    """The name of an exhibit, which is also that of its files: letters, digits, `-`, `.`, `%` and `_`.

    Other characters of modality names are percent-encoded, so different names stay different.

    >>> exhibit_name("projection", ("image", "a/b")), exhibit_name("projection", "image_a")
    ('projection_image_a%2Fb', 'projection_image%5Fa')
    """
    names = [name for part in parts for name in ((part,) if isinstance(part, str) else part)]
    whole = "_".join([names[0], *(quote(name, safe="").replace("_", "%5F") for name in names[1:])])
    if len(whole) <= _LONGEST:
        return whole
    return f"{whole[:_LONGEST]}-{int(seeds.key(0, whole)[0]):016x}"


def _sharing(evaluations: Sequence[Evaluation]) -> list[Evaluation]:
    """Evaluations whose codes are their own, and which share those of the same training samples."""
    if not evaluations:
        raise ConfigError("expected an evaluation for at least one condition, got none")
    abouts = [tuple(sorted(evaluation.about.items())) for evaluation in evaluations]
    if len(set(abouts)) < len(abouts):
        raise ConfigError(f"expected conditions that differ in `about`, got {[dict(about) for about in abouts]}")
    found, trained = [], dict[tuple[Any, ...], Evaluation | None]()
    for evaluation in evaluations:
        fresh = replace(evaluation)
        key = (id(fresh.model), id(fresh.train), fresh.seed, fresh.batch_size)
        fresh.__dict__["training"] = trained.setdefault(key, fresh.training)  # fills the cached property
        found.append(fresh)
    return found


def _under(found: Measurement, about: About, *, exhibits: bool) -> Measurement:
    """A measurement whose scores and exhibits say under which condition they were made."""
    if used := {name for score in found.scores for name in score.about if name in about}:
        raise ConfigError(f"condition {dict(about)}: scores say something else by {', '.join(sorted(used))}: rename it")
    scores = tuple(replace(score, about={**score.about, **about}) for score in found.scores) if about else found.scores
    kept = found.exhibits if exhibits else ()
    if about:
        words = [(value,) if isinstance(value, str) else value for value in about.values()]
        said = ", ".join(f"{key} {' and '.join(value)}" for key, value in zip(about, words, strict=True))
        flat = [name for value in words for name in value]
        kept = tuple(replace(item, name=exhibit_name(item.name, flat), title=f"{item.title} ({said})") for item in kept)
    return Measurement(scores, kept)


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
