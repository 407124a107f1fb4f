"""The sections of an experiment file. Their fields are its settings; their docstrings are its reference."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Annotated, Literal

from molyneux.core import ConfigError, Trainable
from molyneux.core.config import Later, Recipe
from molyneux.data import World
from molyneux.learn import Training
from molyneux.measure import Measure


@dataclass(frozen=True, kw_only=True)
class DataSettings:
    """Which samples, and how many.

    Args:
        world: what they are drawn from; with `folder` it only lends its readers.
        folder: stored samples instead: sub-folders `train`, `validation` and `test` in the native format.
        modalities: the senses that are used, in this order; all of them by default.
        missing: share of the training and validation samples that lack a modality, by its name.
        train: samples to learn from.
        validation: samples that choose the best epoch.
        test: samples to measure on.
        keep: whether to store the samples in the run's folder; a world can make them again at any time.
    """

    world: World | None = None
    folder: Path | None = None
    modalities: tuple[str, ...] | None = None
    missing: Mapping[str, float] = field(default_factory=dict)
    train: int = 30_000
    validation: int = 2_000
    test: int = 10_000
    keep: bool = False

    def __post_init__(self) -> None:
        problems = _below_one(self, "train", "validation", "test")
        if self.world is None and self.folder is None:
            problems.append("world: is missing: name a world such as CdSprites, or a folder of stored samples")
        if self.keep and self.folder is not None:
            problems.append("keep: these samples are stored already: leave it out")
        if problems:
            raise ConfigError(problems)


@dataclass(frozen=True, kw_only=True)
class LearnSettings(Training):
    """Which model learns, and how; the settings of `Training` stand beside it.

    Args:
        model: class and settings; it is made when the samples are known.
    """

    model: Annotated[Recipe[Trainable], Later(arguments=("spec",), room="molyneux.learn")]

    @property
    def training(self) -> Training:
        """The settings of the training alone."""
        return Training(**{item.name: getattr(self, item.name) for item in fields(Training)})


@dataclass(frozen=True, kw_only=True)
class MeasureSettings:
    """What is measured, and on what.

    Args:
        measures: in a file, the section may be just this list.
        split: of which split. `validation` is for choosing settings, so that the test split stays unseen until the choice is
            made; `heldout` has the combinations of factors that the world was told to hold out.
        samples: at most so many.
        batch_size: samples per call of the model.
        judges: files of judges by modality, made by `molyneux judge`; by default those that come with the package.
    """

    measures: tuple[Measure, ...]
    split: Literal["heldout", "test", "validation"] = "test"
    samples: int = 10_000
    batch_size: int = 500
    judges: Mapping[str, Path] = field(default_factory=dict)

    def __post_init__(self) -> None:
        problems = _below_one(self, "samples", "batch_size")
        if not self.measures:
            problems.append("measures: expected at least one, got none: name one, such as coherence")
        if problems:
            raise ConfigError(problems)


@dataclass(frozen=True, kw_only=True)
class ReportSettings:
    """What the scores become.

    Args:
        formats: in a file, the section may be just this list.
    """

    formats: tuple[Literal["csv", "html", "latex", "markdown"], ...] = ("markdown", "html")


def _below_one(section: object, *names: str) -> list[str]:
    values = {name: getattr(section, name) for name in names}
    return [f"{name}: expected at least 1, got {value}" for name, value in values.items() if value < 1]
