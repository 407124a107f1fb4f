"""The sections of an experiment file. Their fields are its settings; their docstrings are its reference."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field, fields
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field

from molyneux.core import ConfigError, Dataset, Trainable, store
from molyneux.core.config import Built, Factory, Named, Supplied, build
from molyneux.data import Separation, World
from molyneux.data.imperfections import Corruption
from molyneux.learn import Training
from molyneux.measure import Measure
from molyneux.run.run.parent import Parent

if TYPE_CHECKING:
    from molyneux.data import OwnDataset

Count = Annotated[int, Field(ge=1, le=10**12)]
"""A number of samples."""
EvaluationSplit = Literal["heldout", "test", "validation"]
ConditionSplit = Literal["heldout", "test", "train", "validation"]


@dataclass(frozen=True, kw_only=True)
class DataSettings:
    """Which samples, and how many. One of `world`, `benchmark`, `arrays`, `table` and `folder` is needed.

    Args:
        world: the generator of the samples; with `folder` it only supplies the readers.
        benchmark: a published data set, read from its files.
        arrays: your own arrays in files.
        table: your own table in files.
        folder: stored samples instead: sub-folders `train`, `validation` and `test` in the native format; or, with the settings
            of `ImageFolder` such as `{path: photos}`, your own images in folders.
        modalities: the modalities that are used, in this order; all of them by default.
        missing: share of the training samples that lack a modality, by its name; of the validation samples too, unless
            `missing_validation` has theirs.
        stages: worlds of stages of the training (`learn.stages`) by the name of the stage, such as a simpler partition to begin
            with; they draw as many samples as `world` does, of the same modalities, factors and targets.
        missing_where: which of these samples may lack modalities, by the name of a factor or of a target of task class: those
            with one of these values. By default all.
        missing_by: what the rates of samples with some values are multiplied by, by the name of a factor or of a target of task
            class, such as `{label: {"0": 0.5, "1": 2}}`.
        missing_validation: share of the validation samples that lack a modality, where it is another than in training; `{}` for
            complete ones.
        apart: modalities that some training and validation samples never have together.
        train: samples to train on; null for all there are, where the data set has an end. In a file, that is the default for your
            own data; so with `validation` and `test`.
        validation: samples that choose the best epoch; null for all.
        test: samples to measure on; null for all.
        keep: whether to store the samples in the folder of the run; a world can make them again at any time.
    """

    world: Annotated[Factory[World], Supplied(package="molyneux.data")] | None = None
    benchmark: Annotated[Factory[Dataset], Supplied(package="molyneux.data.benchmarks")] | None = None
    arrays: Annotated[Any, Named("molyneux.data.ArrayDataset")] | None = None
    table: Annotated[Any, Named("molyneux.data.TableDataset")] | None = None
    folder: Path | Annotated[Any, Named("molyneux.data.ImageFolder")] | None = None
    modalities: tuple[str, ...] | None = None
    missing: Mapping[str, float] = field(default_factory=dict)
    stages: Mapping[str, Annotated[Factory[World], Supplied(package="molyneux.data")]] = field(default_factory=dict)
    missing_where: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    missing_by: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    missing_validation: Mapping[str, float] | None = None
    apart: Separation | None = None
    train: Count | None = 30_000
    validation: Count | None = 2_000
    test: Count | None = 10_000
    keep: bool = False

    def __post_init__(self) -> None:
        problems = []
        given = [name for name in ("benchmark", "arrays", "table", "world", "folder") if getattr(self, name) is not None]
        if not given:
            problems.append("world: is missing: name a world such as CdSprites, a benchmark, or a folder of stored samples")
        if len(given) > 1 and (given != ["world", "folder"] or self.stored is None):
            problems.append(f"{given[0]}: expected no {given[1]} beside it: leave one of them out")
        if self.keep and self.stored is not None:
            problems.append("keep: these samples are stored already: leave it out")
        if self.world is not None and self.stored is None:
            endless = [name for name in ("train", "validation", "test") if getattr(self, name) is None]
            problems += [f"{name}: expected a number, for a world is endless, got null" for name in endless]
        for name in ("missing_where", "missing_by"):
            if getattr(self, name) and not self.missing and not self.missing_validation:
                problems.append(f"{name}: expected the rates of missing modalities beside it, got none: set missing")
        if problems:
            raise ConfigError(problems)

    @property
    def rates(self) -> Mapping[str, Mapping[str, float]]:
        """At which rates training and validation samples lack modalities."""
        return {"train": self.missing, "validation": self.missing if self.missing_validation is None else self.missing_validation}

    @property
    def own(self) -> OwnDataset | None:
        """The user's own data; None where there are none."""
        found: OwnDataset | None = self.arrays or self.table or (None if isinstance(self.folder, Path) else self.folder)
        return found

    @property
    def stored(self) -> Path | None:
        """The folder of stored samples; None where there is none."""
        return self.folder if isinstance(self.folder, Path) else None

    @cached_property
    def dataset(self) -> Dataset | None:
        """The world, the benchmark or the user's own data, made when it is first asked for; None where there is only a folder.

        Raises:
            ConfigError: it refuses its settings.
        """
        if self.own is not None:
            return self.own
        factory: Factory[Any] | None = self.benchmark or self.world
        place = "data.world" if self.benchmark is None else "data.benchmark"
        made: Dataset | None = None if factory is None else factory.make(place)
        return made


@dataclass(frozen=True, kw_only=True)
class LearnSettings(Training):
    """Which model is trained, and how; the settings of `Training` stand beside it.

    Args:
        model: class and settings; it is made when the samples are known.
        start_from: the folder of a finished run, or of an export of one, whose weights the training begins with, under the
            settings that stand here, with a new state of the optimiser. Resolved settings name the run and its weights instead.
            What is fitted after the training (`core.PostFit`) is fitted anew; with `steps: 0` nothing else happens.

    Raises:
        ConfigError: as `Training`; or no steps, and no run to start from.
    """

    model: Annotated[Factory[Trainable], Supplied(("spec",), "molyneux.learn")]
    start_from: Path | Parent | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.steps == 0 and self.start_from is None:
            raise ConfigError("steps: expected at least 1, got 0: a model that is not trained needs start_from, a trained run")

    @property
    def training(self) -> Training:
        """The settings of the training alone."""
        return Training(**{item.name: getattr(self, item.name) for item in fields(Training)})


@dataclass(frozen=True, kw_only=True)
class ConditionSettings:
    """Under what the model is measured, beside the samples as they are: exactly one of the four.

    Args:
        corruption: what damages the samples, at each of the `strengths`.
        strengths: from 0 (nothing changes) to 1; needed with a corruption. With missing modalities, the rates at which samples
            lack each of them, independently of the others but never all.
        missing: the modalities that every sample lacks, or that are missing at rates.
        where: with rates, which samples may lack modalities, by the name of a factor or of a target of task class: those with
            one of these values. By default all.
        by: with rates, what those of samples with some values are multiplied by, by the name of a factor or of a target of task
            class.
        split: another split than that of the section. `train` has samples of the training split that were not trained on: those
            after the first `data.train`, as many as `data.test` says.
        world: another world with the same modalities, such as a partition of the one that the model was trained on.
        name: what the condition with another world is called.
    """

    corruption: Corruption | None = None
    strengths: tuple[Annotated[float, Field(ge=0)], ...] = ()
    missing: tuple[str, ...] = ()
    where: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    by: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    split: ConditionSplit | None = None
    world: Annotated[Factory[World], Supplied(package="molyneux.data")] | None = None
    name: str = ""

    def __post_init__(self) -> None:
        problems = []
        if (self.corruption is not None) + bool(self.missing) + (self.split is not None) + (self.world is not None) != 1:
            problems.append("expected exactly one of corruption, missing, split and world: make a condition of each")
        if (self.world is not None) != bool(self.name.strip()):
            problems.append("name: expected a name for a condition with another world, and only there")
        if self.corruption is not None and not self.strengths:
            problems.append("strengths: expected strengths with a corruption, got one without strengths")
        if self.strengths and self.corruption is None and not self.missing:
            problems.append("strengths: expected strengths with a corruption or missing modalities, got them without")
        for name in ("where", "by"):
            if getattr(self, name) and not (self.missing and self.strengths):
                problems.append(f"{name}: expected missing modalities and their rates (strengths) beside it, got it without")
        if len({*self.strengths}) < len(self.strengths) or len({*self.missing}) < len(self.missing):
            problems.append("expected strengths and missing modalities that differ, got one twice")
        if problems:
            raise ConfigError(problems)


@dataclass(frozen=True, kw_only=True)
class MeasureSettings:
    """What is measured, and on what.

    Args:
        measures: in a file, the section may be just this list.
        conditions: under which it is measured too, beside the samples as they are.
        split: of which split. `validation` is for choosing settings, so that the test split is not looked at until the choice
            is made; `heldout` has the combinations of factors that the world was told to hold out.
        samples: at most so many.
        batch_size: samples per call of the model.
        judges: files of judges by modality, made by `molyneux judge`; by default those that come with the package.
        features: files of networks by modality whose features are compared (`fidelity`): the weights of the Inception network of
            FID, in safetensors under torchvision's names, or a judge; by default the judge of the modality.
    """

    measures: tuple[Measure, ...]
    conditions: tuple[ConditionSettings, ...] = ()
    split: EvaluationSplit = "test"
    samples: Count = 10_000
    batch_size: Count = 500
    judges: Mapping[str, Path] = field(default_factory=dict)
    features: Mapping[str, Path] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.measures:
            raise ConfigError("measures: expected at least one, got none: name one, such as coherence")
        forms = [(type(measure), str(vars(measure))) for measure in self.measures]
        if repeated := [place for place, form in enumerate(forms) if form in forms[:place]]:
            name = self.measures[repeated[0]].name
            raise ConfigError(f"measures: expected different ones, got {name} twice with the same settings: remove one of them")


@dataclass(frozen=True, kw_only=True)
class ReportSettings:
    """What the scores become.

    Args:
        formats: in a file, the section may be just this list.
    """

    formats: tuple[Literal["csv", "html", "latex", "markdown"], ...] = ("markdown", "html")


class KnownParts:
    """Sections of settings that were built, and checks that were passed; what fails is not kept, and fails again.

    Experiments with the same section `data` get one object, so that their data set is made, and its files are read, once.
    """

    def __init__(self) -> None:
        self._sections: dict[tuple[str, str], Built] = {}
        self._data: dict[str, Built] = {}
        self._passed: set[Hashable] = set()

    def section(self, name: str, kind: type, settings: Any) -> Built:
        """A section that stands in a file as these settings do; ConfigError as `build`."""
        key = name, repr(settings)
        if key not in self._sections:
            built = build(kind, settings, name)
            same = self._data.setdefault(store.fingerprint(built.plain), built) if name == "data" else built
            self._sections[key] = same
        return self._sections[key]

    def once(self, check: Callable[[], Any], *about: Hashable) -> Any:
        """Do a check, unless it was passed before: what it gives, or None. `about` names it and all that it depends on."""
        if about in self._passed:
            return None
        found = check()
        self._passed.add(about)
        return found
