"""Which samples each stage of a training learns from, and which choose its best epoch."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from molyneux.core import ConfigError, Source, SpecError, nearest
from molyneux.learn.training.batches import BatchReader, LoadedSource, readers
from molyneux.learn.training.settings import Stage, Training

Sources = tuple[Source, Source | None]
"""The samples that a stage learns from, and those that choose its best epoch."""


@dataclass
class StageSources:
    """The samples of each stage of a training; those of one stage at a time are held in memory, where they fit.

    Args:
        training: the settings.
        usual: the samples of the stages that have no others.
        others: those of the other stages, by name.

    Raises:
        ConfigError: there is no stage of a name, or too few samples of one. SpecError: samples have different specs.
    """

    training: Training
    usual: Sources
    others: Mapping[str, Sources]
    loaded: Source | None = field(default=None, init=False)
    """The usual samples to learn from, as they were last read."""
    loader: Callable[[Source], LoadedSource | None] | None = field(default=None, init=False)
    """What reads samples into memory, if not `batches.load`."""

    def __post_init__(self) -> None:
        names, spec = [stage.name for stage in self.training.stages], self.usual[0].spec
        if unknown := [name for name in self.others if name not in names]:
            raise ConfigError([f"stages: no stage {name!r} of the training; {nearest(name, names)}" for name in unknown])
        for name, sources in self.others.items():
            if any(source is not None and source.spec != spec for source in sources):
                raise SpecError(
                    f"stage {name}: expected samples of the same modalities, factors and targets as those of the training, got "
                    "others: choose a world that differs in what it draws alone, such as a partition"
                )
        for stage in self.stages:
            self.steps(stage)

    @property
    def stages(self) -> tuple[Stage, ...]:
        """The stages; a single one without a name where the training has none."""
        return self.training.stages or (Stage(name=""),)

    def settings(self, stage: Stage) -> Training:
        """The settings of a stage."""
        return self.training.of_stage(stage) if self.training.stages else self.training

    def of(self, stage: Stage) -> Sources:
        """The samples of a stage."""
        return self.others.get(stage.name, self.usual)

    def steps(self, stage: Stage) -> int:
        """The optimiser steps of a stage."""
        return self.settings(stage).total_steps(len(self.of(stage)[0]))

    def require_parts(self, processes: int) -> None:
        """Raise ConfigError if a batch is too small for so many processes: each compares two sets of samples of its part."""
        if processes == 1:
            return
        most = max(source.spec.row_size for stage in self.stages for source in self.of(stage) if source is not None)
        size, least = self.training.batch_size, 2 * most * processes
        if size < least:
            sets = f", two sets of {most} samples for each" if most > 1 else ", two samples for each"
            raise ConfigError(f"batch_size: expected at least {least} for {processes} processes{sets}, got {size}")

    def readers(self, stage: Stage, device: str) -> tuple[BatchReader, BatchReader | None]:
        """The readers of the samples of a stage."""
        made = readers(*self.of(stage), self.training, device=device, loader=self.loader)
        if stage.name not in self.others:
            self.loaded = made[0].source
        return made

    def record(self) -> dict[str, Any]:
        """What tells a training on other samples from this one, as far as it can be seen from here."""

        def of(source: Source | None) -> dict[str, Any] | None:
            return None if source is None else {"samples": len(source), "spec": source.spec.to_json()}

        record: dict[str, Any] = {"train": of(self.usual[0]), "validation": of(self.usual[1])}
        others = {name: [of(train), of(validation)] for name, (train, validation) in self.others.items()}
        return {**record, **({"others": others} if others else {})}
