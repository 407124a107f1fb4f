"""What a measure is given: a model, the samples of a condition, their codes, readers and random streams."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any, TypeVar, cast

import numpy as np
import torch
from torch import nn

from molyneux.core import (
    About,
    Batch,
    Codes,
    ConfigError,
    Features,
    NotApplicableError,
    Reader,
    Source,
    Spec,
    SpecError,
    TrainingStep,
    seeds,
)
from molyneux.core.reader import LearnedReader, identity, read_by
from molyneux.measure.codes import CodeStore, CodeTable, EncodedBatch, tabulate_codes
from molyneux.measure.generation import Draw
from molyneux.measure.sharing import Sharing, Span
from molyneux.measure.trained_control import TrainedControl

T = TypeVar("T")


@dataclass(frozen=True)
class Evaluation:
    """A model, the samples of one condition that it is measured on, and the readers of what it generates.

    Args:
        model: any object; a measure checks the protocols it needs.
        source: test samples; the first `samples` of them are used, all if there are fewer.
        about: what tells this condition from others (`core.Condition`), merged into every score.
        train: training samples. Probes are fitted on them; without them, on a random half of the test samples.
        reference: the same samples without the corruption of this condition: what is generated from the corrupted samples is
            compared with the true views. None where `source` holds them.
        readers: learned readers (judges) by modality.
        exact: exact readers by modality; preferred to `readers`, whose judges then read too (`judge`).
        features: networks by modality whose features are compared; where there is none, those of the judge.
        seed: every random number of a measure comes from named streams of this seed. Noise is drawn batch by batch, so
            the same seed with the same batch size gives the same numbers.
        samples: how many test samples at most.
        batch_size: samples per call of the model.
        origin: recorded with every score: world, version, split, model, ...
        controls: trained controls of targets by name, each a model that is told less (`TrainedControl`): what they reach stands
            in the controls of the scores of the target.
        trained: of the training of the model, as far as it is recorded: its `seconds`, `samples` and `batch_size`.
        step: what a step of the training of the model was; None where it is not known.
        stream: part of the names of all streams; `train` for the training samples.
        untrained: makes the same model with the weights it starts with, for controls; None where there is none.
        sharing: who computes what measures make of its batches (`by_batch`); None for this process.

    Raises:
        ConfigError: sizes below 1. SpecError: a reader or features of another modality, or a reader of unknown factors.
    """

    model: Any
    source: Source
    about: About = field(default_factory=dict)
    train: Source | None = None
    reference: Source | None = None
    readers: Mapping[str, Reader] = field(default_factory=dict)
    exact: Mapping[str, Reader] = field(default_factory=dict)
    features: Mapping[str, Features] = field(default_factory=dict)
    seed: int = 0
    samples: int = 10_000
    batch_size: int = 500
    origin: Mapping[str, Any] = field(default_factory=dict)
    controls: Mapping[str, TrainedControl] = field(default_factory=dict)
    trained: Mapping[str, float] = field(default_factory=dict)
    step: TrainingStep | None = None
    stream: str = "measure"
    untrained: Callable[[], Any] | None = None
    sharing: Sharing | None = None

    def __post_init__(self) -> None:
        for what, value in (("samples", self.samples), ("batch_size", self.batch_size), ("len(source)", len(self.source))):
            if value < 1:
                raise ConfigError(f"expected {what} of at least 1, got {value}")
        for name, reader in (*self.readers.items(), *self.exact.items()):
            if reader.modality != name:
                raise SpecError(f"expected a reader of {name}, got one of {reader.modality}")
            identity(reader)  # refuses one without a version
            self.spec.modality(name)
            for factor in reader.factors:
                self.spec.factor(factor)
        for name, network in self.features.items():
            if network.modality != self.spec.modality(name).name:
                raise SpecError(f"expected features of {name}, got those of {network.modality}")

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
        """The sets of modalities that are observed by default: each available modality alone, then all together."""
        return tuple(dict.fromkeys([*((name,) for name in self.available), self.available]))

    @cached_property
    def training(self) -> Evaluation | None:
        """The same model on all training samples; None without them."""
        if self.train is None:
            return None
        made = replace(
            self, source=self.train, train=None, reference=None, about={}, samples=max(1, len(self.train)), stream="train"
        )
        if self.sharing is None or not self._shared:
            return made
        return replace(made, sharing=replace(self.sharing, marks=made.marks, training=True))

    @cached_property
    def before_training(self) -> Evaluation | None:
        """The model with the weights it starts with, ready to encode the same samples; None where it cannot be made."""
        if self.untrained is None:
            return None
        model = self.untrained()
        return replace(self, model=model.to(self.device).eval() if isinstance(model, nn.Module) else model, untrained=None)

    def controls_of(self, target: str) -> dict[str, TrainedControl]:
        """The trained controls of a target; none if some modality is in no sample, because controls would then know more."""
        if self.available != self.spec.names:
            return {}
        return {name: control for name, control in self.controls.items() if control.target == target}

    def batches(self, samples: int | None = None) -> Iterator[tuple[int, Batch]]:
        """The position of the first sample and the batch, for the first `samples` samples (all by default)."""
        for start, end in self._spans(samples):
            yield start, self.batch(start, end)

    def batch(self, start: int, end: int) -> Batch:
        """The samples from one position on, before another one."""
        return self.source.batch(np.arange(start, end)).to(self.device)

    def by_batch(self, work: Callable[[Evaluation, int, int], T], samples: int | None = None) -> Iterator[T]:
        """What is made of each batch, in their order: by this process, or by the workers that share them (`sharing`).

        Args:
            work: gets an evaluation like this one, the position of the first sample of a batch and that after its last one. What
                it draws comes from streams that name this position. It can be pickled, and so can what it returns: arrays, and
                tensors on the CPU.
            samples: of the first ones; all by default.
        """
        return self._over(work, self._spans(samples))

    def true_batch(self, start: int, batch: Batch) -> Batch:
        """The batch that begins at `start` with the true views: those of `reference`, where the samples are corrupted."""
        if self.reference is None:
            return batch
        place = (start, len(batch))
        if place not in self._true:  # several sets of observed modalities ask for the same batch, one after the other
            self._true.clear()
            self._true[place] = self.reference.batch(np.arange(start, start + len(batch))).to(self.device)
        true = self._true[place]
        return replace(batch, views=true.views, lengths=true.lengths)

    def true_batches(self) -> Iterator[tuple[int, Batch]]:
        """As `batches`, with the true views."""
        return ((start, self.true_batch(start, batch)) for start, batch in self.batches())

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
        return self._codes.get(observed, start, lambda: self.batch(start, end) if whole is None else whole)

    def generated_from(
        self, observed: Sequence[str], start: int, batch: Batch, *, draw: Draw = "sample"
    ) -> tuple[Batch, Codes] | None:
        """The samples of a batch that have all observed modalities, with their true views, and their codes.

        None where no sample has them all.
        """
        found = self.encoded(observed, start, batch)
        if found is None:
            return None
        batch = self.true_batch(start, batch)
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
        if self._shared:
            new = [start for start in starts if not self._codes.has(observed, start)]
            spans = [(start, min(start + self.batch_size, self.size)) for start in new]
            for start, part in zip(new, self._over(partial(_encoded, tuple(observed)), spans), strict=True):
                self._codes.put(observed, start, part)
        encoded = [(start, part) for start in starts if (part := self.encoded(observed, start)) is not None]
        if not encoded:
            raise NotApplicableError(f"no sample has {' and '.join(observed)}: measure on another source")
        return tabulate_codes(encoded, observed, size)

    def tables(self, samples: int | None = None) -> dict[tuple[str, ...], CodeTable]:
        """The codes given each available modality alone and given all of them, where any sample has them; by what is observed.

        Each table is in the order of its content (`CodeTable.by_content`); its `rows` say where the samples stand in the source.

        Raises:
            NotApplicableError: no sample has any modality. DataError: see `table`.
        """
        found = {}
        for observed in self.observed_sets:
            try:
                found[observed] = self.table(observed, samples).by_content()
            except NotApplicableError:
                continue
        return found

    def once(self, name: str, make: Callable[[], T]) -> T:
        """The result of the first call of `make` for a name, which several measures share."""
        if name not in self._made:
            self._made[name] = make()
        return cast(T, self._made[name])

    def generator(self, *names: str | int) -> torch.Generator:
        """A torch stream on the model's device."""
        return seeds.torch_generator(self.seed, self.stream, *names, device=self.device.type)

    def rng(self, *names: str | int) -> np.random.Generator:
        """A NumPy stream."""
        return seeds.generator(self.seed, self.stream, *names)

    def reader(self, modality: str) -> Reader | None:
        """The reader of a modality: the exact reader if there is one, otherwise the judge, otherwise None."""
        return self.exact.get(modality, self.readers.get(modality))

    def judge(self, modality: str) -> Reader | None:
        """The judge of a modality that an exact reader reads too; else None."""
        return self.readers.get(modality) if modality in self.exact else None

    def network(self, modality: str) -> Features | None:
        """The network whose features of a modality are compared: the given one, otherwise the judge, otherwise None."""
        judge = self.readers.get(modality)
        return self.features.get(modality, judge if isinstance(judge, Features) else None)

    def provenance(self, modalities: Sequence[str] = (), *, judged: bool = False) -> dict[str, Any]:
        """The origin of a score that rests on readings of these modalities: what their readers are called, version and digest.

        With `judged`, of the judges beside exact readers too.
        """
        read = {
            name: {"exact": name in self.exact, "accuracy": dict(reader.accuracy), **_reader(reader)}
            for name in modalities
            if (reader := self.reader(name)) is not None
        }
        judges = {name: _reader(judge) for name in modalities if judged and (judge := self.judge(name)) is not None}
        head = {**self.origin, "seed": self.seed, "samples": self.size, "batch_size": self.batch_size}
        return {**head, **({"readers": read} if read else {}), **({"second_readers": judges} if judges else {})}

    def read_by(self, modalities: Sequence[str]) -> str:
        """A sentence for what shows readings of these modalities: `Read by RenderingReader 2 (image).`; empty without readers."""
        found = read_by(self.provenance(modalities))
        return f"Read by {', '.join(f'{name} ({modality})' for modality, name in found.items())}." if found else ""

    @cached_property
    def _made(self) -> dict[str, Any]:
        return {}

    @cached_property
    def _true(self) -> dict[tuple[int, int], Batch]:
        return {}

    @cached_property
    def _codes(self) -> CodeStore:
        return CodeStore(self.model, self.generator)

    @property
    def marks(self) -> tuple[Any, ...]:
        """What tells an evaluation from one of another model, of other samples, or with other readers or random numbers."""
        parts = (self.model, self.source, self.reference, self.train, *self.readers.values(), *self.exact.values())
        return (*map(id, parts), self.seed, self.stream, self.batch_size)

    @property
    def _shared(self) -> bool:
        return self.sharing is not None and self.sharing.marks == self.marks

    def _spans(self, samples: int | None) -> list[Span]:
        size = self.size if samples is None else min(samples, self.size)
        return [(start, min(start + self.batch_size, size)) for start in range(0, size, self.batch_size)]

    def _over(self, work: Callable[[Evaluation, int, int], T], spans: Sequence[Span]) -> Iterator[T]:
        if self.sharing is None or not self._shared:
            return (work(self, start, end) for start, end in spans)
        return self.sharing.map(work, spans, samples=self.samples)


def _encoded(observed: tuple[str, ...], evaluation: Evaluation, start: int, end: int) -> EncodedBatch | None:
    return evaluation.encoded(observed, start)


def _reader(reader: Reader) -> dict[str, Any]:
    """Name, version and digest of a reader, and how a judge was validated."""
    return {**(dict(reader.origin) if isinstance(reader, LearnedReader) else {}), **identity(reader)}
