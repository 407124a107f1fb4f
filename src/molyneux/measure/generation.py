"""Generation: which modalities are generated from which, codes from a posterior or the prior, and views from codes."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Literal, get_args

import torch
from torch import Tensor, nn
from torch.distributions import Distribution

from molyneux.core import (
    Batch,
    Codes,
    ConfigError,
    Decodes,
    Modality,
    NotApplicableError,
    Posterior,
    Priors,
    Spec,
    about_names,
    nearest,
    views,
)

Draw = Literal["mean", "sample"]
"""Which code stands for a posterior: one sample of it (as published), or its mean."""

NamedDirections = Literal["all", "leave-one-out", "singles"]
"""`singles`: each modality from each other one; `leave-one-out`: these, and each from all others; `all`: each from every subset
of the others."""

Directions = NamedDirections | Sequence[Mapping[str, str | Sequence[str]]]
"""Named directions, or a list such as `[{"source": ["image", "touch"], "target": "text"}]`."""

MOST_DIRECTIONS = 200
"""Directions beyond this number are refused: each costs a decoding of every sample and gives a dozen scores."""


_ROWS = {"cpu": 160}
_MANY = 2048


def codes_at_once(device: torch.device) -> int:
    """How many codes are decoded at once. More of them make a processor wait for memory: 160 go twice as fast as 1024."""
    return _ROWS.get(device.type, _MANY)


def within_lengths(made: Distribution, lengths: Tensor | None) -> Distribution:
    """A decoded distribution of which the first `lengths` (B,) positions count; whole where the model's cannot leave any out."""
    masked = getattr(made, "masked", None)
    return made if lengths is None or masked is None else masked(lengths)


@dataclass(frozen=True)
class Direction:
    """Generation of one modality from others.

    Args:
        observed: the modalities that are encoded, in the order of the Spec.
        target: the modality that is decoded.
    """

    observed: tuple[str, ...]
    target: str

    @property
    def about(self) -> dict[str, str | tuple[str, ...]]:
        """How scores say it: `{"source": ("image", "text"), "target": "touch"}`."""
        return {"source": about_names(self.observed), "target": self.target}


def check_draw(draw: Draw) -> Draw:
    """The setting `draw`; raises ConfigError for anything but `mean` and `sample`."""
    if draw not in get_args(Draw):
        raise ConfigError(f"unknown draw {draw!r}; {nearest(str(draw), get_args(Draw))}")
    return draw


def check_directions(choice: Directions) -> Directions:
    """The setting `directions`.

    Raises:
        ConfigError: an unknown name, or an entry of a list that is no source and target.
    """
    if isinstance(choice, str):
        if choice not in get_args(NamedDirections):
            raise ConfigError(f"unknown directions {choice!r}; {nearest(choice, get_args(NamedDirections))}")
        return choice
    for item in choice:
        if not isinstance(item, Mapping) or set(item) != {"source", "target"} or not isinstance(item["target"], str):
            raise ConfigError(f"directions: expected entries such as {{source: [image, touch], target: text}}, got {item!r}")
        if not item["source"] or item["target"] in _source(item):
            raise ConfigError(f"directions: expected a source of other modalities than the target, got {dict(item)}")
    return choice


def subsets(names: Sequence[str], sizes: Collection[int] | None = None) -> list[tuple[str, ...]]:
    """The proper, non-empty subsets of modalities, small ones first.

    Args:
        names: of the modalities.
        sizes: of the subsets; all by default.

    >>> subsets(("image", "text", "touch"), (2,))
    [('image', 'text'), ('image', 'touch'), ('text', 'touch')]
    """
    wanted = range(1, len(names)) if sizes is None else sorted(size for size in set(sizes) if 0 < size < len(names))
    return [observed for size in wanted for observed in combinations(names, size)]


def directions(spec: Spec, choice: Directions, *, available: Sequence[str] | None = None) -> list[Direction]:
    """The directions in which modalities are generated.

    Args:
        spec: names the modalities.
        choice: see `Directions`.
        available: modalities that some sample has; nothing is generated from others.

    Raises:
        ConfigError: more than `MOST_DIRECTIONS`, or a modality that does not exist.
    """
    if not isinstance(choice, str):
        return [item for item in _listed(spec, choice) if available is None or set(item.observed) <= set(available)]
    _require_few(spec, choice)
    given = tuple(spec.names if available is None else available)
    found = []
    for target in spec.names:
        others = tuple(name for name in given if name != target)
        sizes = {"singles": {1}, "leave-one-out": {1, len(others)}, "all": set(range(1, len(others) + 1))}[choice]
        found += [Direction(observed, target) for size in sizes for observed in combinations(others, size) if observed]
    return sorted(found, key=lambda item: (len(item.observed), [spec.names.index(name) for name in item.observed]))


def targets_by_source(chosen: Sequence[Direction]) -> dict[tuple[str, ...], list[str]]:
    """What is generated from the same modalities, which are encoded once."""
    found: dict[tuple[str, ...], list[str]] = {}
    for direction in chosen:
        found.setdefault(direction.observed, []).append(direction.target)
    return found


def _listed(spec: Spec, choice: Sequence[Mapping[str, str | Sequence[str]]]) -> list[Direction]:
    for item in choice:
        for name in (*_source(item), str(item["target"])):
            if name not in spec.names:
                raise ConfigError(f"directions: no modality {name!r}; {nearest(name, spec.names)}")
    ordered = [(tuple(sorted(_source(item), key=spec.names.index)), str(item["target"])) for item in choice]
    found = [Direction(*item) for item in dict.fromkeys(ordered)]
    if len(found) > MOST_DIRECTIONS:
        raise ConfigError(f"directions: expected at most {MOST_DIRECTIONS}, got {len(found)}: list fewer")
    return found


def _require_few(spec: Spec, choice: str) -> None:
    count = len(spec.names)
    number = {"singles": count * (count - 1), "leave-one-out": count**2, "all": count * (2 ** (count - 1) - 1)}[choice]
    if number > MOST_DIRECTIONS:
        raise ConfigError(
            f"directions: {choice} of {count} modalities are {number:,}, at most {MOST_DIRECTIONS} are generated: choose fewer, "
            "such as `directions: [{source: [image, touch], target: text}]`"
        )


def _source(item: Mapping[str, str | Sequence[str]]) -> tuple[str, ...]:
    source = item["source"]
    return (source,) if isinstance(source, str) else tuple(source)


def having(batch: Batch, names: Collection[str]) -> Batch:
    """The samples of a batch in which all these modalities are present."""
    masks = torch.stack([batch.mask(name) for name in names])
    return batch if bool(masks.all()) else batch[masks.all(0)]


def prior_codes(model: Decodes, size: int, generator: torch.Generator) -> Codes:
    """One draw of the prior for each of `size` samples: the same shared code for every modality, (B, D)."""
    return model.prior(size).rsample(1, generator)[0]


def decoded(model: Decodes, codes: Codes, spec: Spec, *, only: Collection[str]) -> dict[str, Tensor]:
    """The views that a model decodes from codes, as they would be stored, on the CPU: (B, *modality.shape)."""
    distributions = model.decode(codes, tuple(only))
    return {name: stored_view(spec.modality(name), distributions[name]) for name in only}


def generated_batch(model: Decodes, codes: Codes, spec: Spec, name: str, *, lengths: bool) -> Batch:
    """The views of one modality that a model decodes from codes (B, D), as samples that can be encoded, on the CPU.

    With `lengths`, a text without an `end` symbol is as long as it is without padding.
    """
    modality, view = spec.modality(name), decoded(model, codes, spec, only=(name,))[name]
    written = lengths and modality.kind == "text" and modality.end is None
    return Batch({name: view}, lengths={name: views.text_lengths(modality, view)} if written else {})


def stored_view(modality: Modality, distribution: Distribution) -> Tensor:
    """The view that stands for a distribution, in its stored form, on the CPU.

    Images, series and other numbers: the mean of the likelihood; text and labels: the most probable symbols, decoded one after
    the other where the distribution can (`view`). What follows the end of a text means nothing and becomes padding.
    """
    view = getattr(distribution, "view", None)
    if view is None:
        view = distribution.mode if modality.symbols else distribution.mean
    return views.to_stored(modality, views.padded(modality, view)).cpu()


def priors_of(model: Any) -> Mapping[str, Callable[[int], Posterior]]:
    """The priors of a model by name; `prior`, where it has one that it does not name.

    Raises:
        NotApplicableError: it has none.
    """
    found: Mapping[str, Callable[[int], Posterior]] = model.priors if isinstance(model, Priors) else {"prior": model.prior}
    if not found:
        wanted = "have one fitted to its codes, `prior: {components: 64}`"
        raise NotApplicableError(f"expected a model with a prior, got one without: {wanted}")
    return found


class WithPrior(nn.Module):
    """A model with one of its priors.

    Args:
        model: satisfies `core.Decodes`; `core.Encodes` too, if it is to encode.
        prior: gives the distribution of the codes of so many samples.
    """

    def __init__(self, model: Any, prior: Callable[[int], Posterior]) -> None:
        super().__init__()
        self.model, self._prior = model, prior

    def encode(self, batch: Batch, observed: Collection[str] | None = None) -> Posterior:
        """See `core.Encodes`; private codes of what is not observed follow this prior."""
        posterior: Posterior = self.model.encode(batch, observed)
        seen = batch.views if observed is None else observed
        private = {name: part for name, part in self._prior(len(batch)).private.items() if name not in seen}
        return Posterior(posterior.shared, {**posterior.private, **private})

    def decode(self, codes: Codes, only: Collection[str] | None = None) -> dict[str, Distribution]:
        """See `core.Decodes`."""
        views: dict[str, Distribution] = self.model.decode(codes, only)
        return views

    def prior(self, size: int) -> Posterior:
        """See `core.Decodes`."""
        return self._prior(size)
