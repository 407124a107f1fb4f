"""A trained model in use: what people have goes in, views, answers, codes and likelihoods come out."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from molyneux.core import (
    Batch,
    Codes,
    ConfigError,
    DataError,
    Dataset,
    Decodes,
    Encodes,
    EstimatesLikelihood,
    Modality,
    NotApplicableError,
    Posterior,
    Predicts,
    Reader,
    Spec,
    SpecError,
    nearest,
    seeds,
)
from molyneux.measure.generation import WithPrior, decoded, prior_codes, priors_of, subsets
from molyneux.run.trained.generated import Generated, Origin
from molyneux.run.trained.given import MOST, Given, GivenInput, GivenViews, given_modality, given_views
from molyneux.run.trained.noise import FEW_ROWS, RowNoise, by_rows
from molyneux.run.trained.predicted import Predicted, answer
from molyneux.run.trained.readers import Readings, ReadValue, first_readers, model_readers, read_value, read_views


class UnreadTextWarning(UserWarning):
    """A text that the world of a model does not read was given to the model as it is."""


@dataclass(frozen=True, repr=False)
class TrainedModel:
    """A trained model with the description of its samples. Made by `open_model`.

    What is given are views as people have them, by the name of the modality: texts, pictures as PIL images, paths or arrays,
    sounds as paths or arrays, numbers as arrays (`core.views_of`); one, or a list of as many as are wanted. A model with one
    modality of kind text takes it as `text` too, whatever its name. None stands for what is not there. A modality whose
    name is no word of Python, or that of another argument, is given in `inputs`: `inputs={"left-camera": image}`.

    The same seed gives the same views, whatever else is asked for in the same call: noise belongs to an input and a number of a
    draw, not to a place in a batch.

    Args:
        name: what it is called in results.
        module: the network, in evaluation mode.
        spec: of the samples it was trained on.
        world: name and version of the data set it was trained on; empty where there is none.
        dataset: makes that data set, which knows how people write its texts and which readers there are; it is
            called when that is asked for.
        judges: files of the judges that its run was measured with, by modality.
    """

    name: str
    module: nn.Module
    spec: Spec
    world: str = ""
    dataset: Callable[[], Dataset | None] = field(default=lambda: None, repr=False)
    judges: Mapping[str, Path] = field(default_factory=dict, repr=False)

    def __repr__(self) -> str:
        kind, senses = type(self.module).__name__, ", ".join(self.modalities)
        return f"TrainedModel({self.name}: a {kind} of {senses}; can {', '.join(self.abilities) or 'nothing of this kind'})"

    @property
    def modalities(self) -> tuple[str, ...]:
        """Names of the modalities."""
        return self.spec.names

    @property
    def device(self) -> torch.device:
        """Where the network is; what is given is moved there, and what it makes comes back."""
        parameter = next(self.module.parameters(), None)
        return torch.device("cpu") if parameter is None else parameter.device

    @property
    def abilities(self) -> tuple[str, ...]:
        """Which of `generate`, `predict`, `encode`, `decode` and `score` the model can do."""
        does = {
            "generate": Decodes,
            "predict": Predicts,
            "encode": Encodes,
            "decode": Decodes,
            "score": EstimatesLikelihood,
        }
        return tuple(name for name, protocol in does.items() if isinstance(self.module, protocol))

    @property
    def priors(self) -> tuple[str, ...]:
        """Names of the priors that codes can be drawn from where nothing is given; without a name, that of `Decodes.prior` is."""
        try:
            return tuple(priors_of(self.module)) if isinstance(self.module, Decodes) else ()
        except NotApplicableError:
            return ()

    @cached_property
    def readers(self) -> Mapping[str, tuple[Reader, ...]]:
        """By modality, the exact reader of the world and the judge, loaded when they are first used."""
        return model_readers(self.spec, self.world, self.dataset(), self.judges)

    def modality(self, name: str) -> Modality:
        """The modality that is given under a name: its own, also as an argument spells it, or that of its kind.

        Raises:
            ConfigError: there is none, or there are several of that kind.
        """
        return given_modality(self.spec, name, self.name)

    def generate(
        self,
        targets: str | Sequence[str] = (),
        *,
        count: int = 1,
        seed: int = 0,
        prior: str = "",
        raw: bool = False,
        inputs: Mapping[str, Any] | None = None,
        **views: Any,
    ) -> Generated:
        """Views of modalities, given others, or drawn from a prior where nothing is given.

        Args:
            targets: the modality, or modalities, that are generated; by default all that are not given. Those of one sample come
                from the same code.
            count: of samples for each input; from a prior, in all.
            seed: of the noise.
            prior: which one codes come from where nothing is given, and private codes of what is not given; see `priors`.
            raw: take texts as they are, symbol by symbol, also where the world understands other wordings.
            inputs: what is given, by modality.
            **views: the same.

        Returns:
            `count` samples of the first input, then of the second and so on.

        Raises:
            ConfigError: an unknown modality or prior, or a count that is none. DataError: inputs that cannot be used.
            NotApplicableError: the model cannot generate, or not this from that.
        """
        _check_numbers(seed=seed, count=count)
        seed, count = int(seed), int(count)
        model = self._able(Decodes, "generate")
        if prior:
            known = priors_of(model)
            if prior not in known:
                raise ConfigError(f"{self.name} has no prior {prior!r}; {nearest(prior, known)}")
            model = WithPrior(model, known[prior])
        items = self._items(inputs, views, raw=raw)
        others = [name for name in self.modalities if name not in {item.modality.name for item in items}]
        names = self._targets(targets or others or self.modalities)
        if not items:
            rows = np.array([seeds.key(seed, "prior", number)[0] for number in range(count)])

            def draw_alone(places: np.ndarray, noise: RowNoise) -> dict[str, Tensor]:
                with noise:
                    codes = prior_codes(model, len(places), noise.generator)
                return decoded(model, codes, self.spec, only=names)

            made = by_rows(draw_alone, rows, seed, self.device)
            return self._generated(names, made, (), Origin(self.name, seed, count, prior or self._first_prior()))
        self._able(Encodes, "generate from other modalities")
        given = Given.drawn(self.spec, items, count, seed)

        def draw(places: np.ndarray, noise: RowNoise) -> dict[str, Tensor]:
            posterior: Posterior = model.encode(self._part(given, places), given.names)
            with noise:
                codes = posterior.rsample(1, noise.generator)[0]
            return decoded(model, codes, self.spec, only=names)

        made = by_rows(draw, given.rows, seed, self.device)
        return self._generated(names, made, given.samples, Origin(self.name, seed, count, prior), given.notes)

    def read(self, *, inputs: Mapping[str, Any] | None = None, first: bool = False, **views: Any) -> list[Readings]:
        """What the readers of the world read in what is given, sample by sample; see `Generated.readings`.

        A picture that they do not read is none of the world, and what the model says of it means little.

        Raises:
            ConfigError, DataError: as `predict`.
        """
        items = self._items(inputs, views, raw=False)
        if not items:
            raise ConfigError(f"expected at least one of the modalities {', '.join(self.modalities)}, got none")
        batch = Given.drawn(self.spec, items, 1, 0).batch
        return read_views(first_readers(self.readers) if first else self.readers, self.spec, batch.views)

    def read_value(self, value: Any, *, modality: str = "") -> ReadValue:
        """What the readers of the model's world read in a picture, a sound or a caption; see `run.read_value`.

        Raises:
            ConfigError: the model has no world, or one without such a reader. DataError: a value that is no view.
        """
        dataset = self.dataset()
        if dataset is None:
            raise ConfigError(f"expected a model with a world that has readers, got {self.name}, whose data set is not here")
        return read_value(dataset, value, modality=modality)

    def predict(
        self, *, apart: bool = False, raw: bool = False, inputs: Mapping[str, Any] | None = None, **views: Any
    ) -> Predicted:
        """What the model says of its targets: probabilities of classes and labels, agreement of picture and text, numbers.

        Args:
            apart: also what it says given each smaller set of the same modalities.
            raw: as in `generate`.
            inputs: what is given, by modality; the others are missing.
            **views: the same.

        Raises:
            ConfigError: an unknown modality, or none. DataError: inputs that cannot be used.
            NotApplicableError: the model has no targets.
        """
        model = self._able(Predicts, "predict")
        items = self._items(inputs, views, raw=raw)
        if not items:
            raise ConfigError(f"expected at least one of the modalities {', '.join(self.modalities)}, got none")
        given = Given.drawn(self.spec, items, 1, 0)
        whole = self._answers(model, given, given.names)
        parts = {names: self._answers(model, given, names) for names in subsets(given.names)} if apart else {}
        return Predicted(self.spec.targets, whole, parts, given.samples, self.name, given.notes)

    def encode(self, *, raw: bool = False, inputs: Mapping[str, Any] | None = None, **views: Any) -> Codes:
        """The mean codes of what is given: `shared` (N, D) and `private` (N, P) by modality.

        Raises:
            ConfigError, DataError: as `predict`. NotApplicableError: the model has no codes.
        """
        model = self._able(Encodes, "encode")
        items = self._items(inputs, views, raw=raw, whole=True)
        if not items:
            raise ConfigError(f"expected at least one of the modalities {', '.join(self.modalities)}, got none")
        given = Given.drawn(self.spec, items, 1, 0)

        def draw(places: np.ndarray, _: RowNoise) -> dict[str, Tensor]:
            posterior: Posterior = model.encode(self._part(given, places), given.names)
            codes = posterior.mean
            return {"shared": codes.shared, **{f"private.{name}": part for name, part in codes.private.items()}}

        made = by_rows(draw, given.rows, 0, self.device)
        private = {name.removeprefix("private."): part for name, part in made.items() if name != "shared"}
        return Codes(made["shared"], private)

    def decode(self, codes: Codes, targets: str | Sequence[str] = ()) -> Generated:
        """Views of codes, as `encode` gives them.

        Args:
            codes: `shared` (N, D), and `private` (N, P) of each modality that has private codes.
            targets: the modalities that are decoded; all by default.

        Raises:
            ConfigError: an unknown modality, or private codes that the model does not have. SpecError: codes of another size.
            NotApplicableError: the model does not decode.
        """
        names = self._targets(targets) if targets else self.modalities
        model = self._able(Decodes, "decode")
        if not isinstance(codes, Codes) or codes.shared.ndim != 2:
            got = tuple(codes.shared.shape) if isinstance(codes, Codes) else type(codes).__name__
            raise SpecError(f"expected codes (N, D) as encode gives them, got {got}")
        _check_codes(codes)
        known = self._private(model)
        if unknown := [name for name in codes.private if name not in known]:
            has = f"it has those of {', '.join(known)}" if known else "it has none: leave private out"
            raise ConfigError(f"{self.name} has no private codes of {', '.join(unknown)}; {has}")
        rows = np.arange(len(codes.shared), dtype=np.uint64)
        placed = Codes(codes.shared.to(self.device), {name: part.to(self.device) for name, part in codes.private.items()})

        def draw(places: np.ndarray, _: RowNoise) -> dict[str, Tensor]:
            return decoded(model, placed[torch.from_numpy(places)], self.spec, only=names)

        made = by_rows(draw, rows, 0, self.device)
        return self._generated(names, made, (), Origin(self.name, 0, 1, ""))

    def score(
        self, *, k: int = 100, seed: int = 0, raw: bool = False, inputs: Mapping[str, Any] | None = None, **views: Any
    ) -> np.ndarray:
        """The log-likelihood of what is given, (N,) nats: a lower bound with `k` importance samples (Burda et al., 2016).

        Raises:
            ConfigError, DataError: as `predict`. NotApplicableError: the model has no likelihood.
        """
        _check_numbers(seed=seed, k=k)
        seed, k = int(seed), int(k)
        model = self._able(EstimatesLikelihood, "score")
        items = self._items(inputs, views, raw=raw, whole=True)
        if not items:
            raise ConfigError(f"expected at least one of the modalities {', '.join(self.modalities)}, got none")
        given = Given.drawn(self.spec, items, 1, seed)

        def draw(places: np.ndarray, noise: RowNoise) -> dict[str, Tensor]:
            with noise:
                return {"": model.log_likelihood(self._part(given, places), k, noise.generator)}

        found: np.ndarray = by_rows(draw, given.rows, seed, self.device, size=FEW_ROWS)[""].numpy()
        return found

    def _generated(
        self,
        names: tuple[str, ...],
        views: Mapping[str, Tensor],
        inputs: tuple[GivenInput, ...],
        origin: Origin,
        notes: tuple[str, ...] = (),
    ) -> Generated:
        return Generated(names, views, inputs, origin, self.spec, lambda: self.readers, notes)

    def _part(self, given: Given, places: np.ndarray) -> Batch:
        return given.batch[torch.from_numpy(places)].to(self.device)

    def _targets(self, targets: str | Sequence[str]) -> tuple[str, ...]:
        if not isinstance(targets, str | list | tuple):
            raise ConfigError(f"expected the modalities to generate by their names, got a {type(targets).__name__}")
        names = (targets,) if isinstance(targets, str) else tuple(targets)
        if not names or len(set(names)) < len(names):
            raise ConfigError(f"expected different modalities to generate, got {', '.join(names) or 'none'}")
        for name in names:
            if name not in self.modalities:
                raise ConfigError(f"{self.name} has no modality {name!r}; {nearest(str(name), self.modalities)}")
        return names

    def _able(self, protocol: type, what: str) -> Any:
        """The network, if it has this ability."""
        if isinstance(self.module, protocol):
            return self.module
        able = ", ".join(self.abilities) or "nothing of this kind"
        raise NotApplicableError(f"{self.name} cannot {what}: its {type(self.module).__name__} can {able}")

    def _private(self, model: Decodes) -> tuple[str, ...]:
        """The modalities that have private codes."""
        try:
            return tuple(model.prior(1).private)
        except NotApplicableError:  # it has no prior
            return self.modalities

    def _first_prior(self) -> str:
        return self.priors[0] if len(self.priors) == 1 else ""

    def _items(
        self, inputs: Mapping[str, Any] | None, named: Mapping[str, Any], *, raw: bool, whole: bool = False
    ) -> list[GivenViews]:
        if inputs is not None and not isinstance(inputs, Mapping):
            raise ConfigError(f"expected inputs by modality, such as {{'image': ...}}, got a {type(inputs).__name__}")
        if twice := sorted(set(inputs or {}) & set(named)):
            raise ConfigError(f"expected each modality once, got {', '.join(twice)} twice: as an argument and in inputs")
        items = given_views(self.spec, {**(inputs or {}), **named}, self.dataset, name=self.name, raw=raw)
        for found in (wording for item in items for wording in item.wordings.values() if whole and wording.open):
            left = f"{', '.join(found.open)} open; the nearest whole caption is {found.nearest!r}"
            raise DataError(f"expected a whole caption, got {found.text!r}, which leaves {left}: write one, or give raw=True")
        for told in dict.fromkeys(text for item in items for text in item.unread.values()):
            warnings.warn(told, UnreadTextWarning, stacklevel=4)
        return items

    def _answers(self, model: Any, given: Given, names: Collection[str]) -> dict[str, np.ndarray]:
        def draw(places: np.ndarray, _: RowNoise) -> dict[str, Tensor]:
            found = model.predict(self._part(given, places), tuple(names))
            return {name: answer(distribution) for name, distribution in found.items()}

        return {name: made.numpy() for name, made in by_rows(draw, given.rows, 0, self.device).items()}


def _check_codes(codes: Codes) -> None:
    for name, part in {"shared": codes.shared, **codes.private}.items():
        if len(part) != len(codes.shared) or not len(part):
            raise SpecError(f"expected as many codes of each part, and at least one, got {len(part)} of {name}")
        if part.dtype != torch.float32 or not bool(part.isfinite().all()):
            raise SpecError(f"expected codes of finite float32 numbers as encode gives them, got {part.dtype} in {name}")


def _check_numbers(*, seed: int, **counts: int) -> None:
    for name, count in counts.items():
        if isinstance(count, bool) or not isinstance(count, int | np.integer) or not 1 <= count <= MOST:
            raise ConfigError(f"expected a {name} of 1 to {MOST:,}, got {count!r}")
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer):
        raise ConfigError(f"expected a whole number as seed, got {seed!r}")
