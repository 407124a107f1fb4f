"""The subsets of modalities whose bounds a model adds up: one choice for all models that sub-sample."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Literal

import torch
from torch import Tensor

from molyneux.core import choice_problems
from molyneux.learn.checks import levels_below_zero
from molyneux.learn.posteriors import Diagonal, sampled_subsets, subsets_of
from molyneux.learn.vaes.networks import Observation
from molyneux.learn.vaes.stacked import StackedPosteriors

Subsets = Literal["sampled", "singles", "all", "joint", "drawn"]
"""Which subsets of the modalities have a bound in the loss:

- `joint`: all modalities together;
- `singles`: all together, and each alone;
- `sampled`: these, and some others that are drawn at every step, the same for all samples;
- `all`: every non-empty subset; of more than 8 modalities, 255 drawn at every step, which count for all;
- `drawn`: each sample draws one non-empty subset at every step, which counts for all: the same loss in expectation as `all`,
  for as many decodings as there are modalities, and with more noise.
"""

CHOICES: tuple[Subsets, ...] = ("sampled", "singles", "all", "joint", "drawn")
_MOST_DRAWN = 62

Combine = Callable[[Diagonal, Tensor, Tensor | None], Diagonal]
"""The posterior given experts, which of them are present (M, B), and subsets (S, M), or None for all together."""


def subset_problems(subsets: Subsets, random_subsets: int, count: int) -> list[str]:
    """Problems of the setting `subsets` and of the number of further subsets, for so many modalities."""
    problems = choice_problems(subsets=(subsets, CHOICES)) + levels_below_zero(random_subsets=random_subsets)
    if subsets == "drawn" and count > _MOST_DRAWN:
        problems.append(f"subsets: expected at most {_MOST_DRAWN} modalities for drawn, got {count}: use sampled")
    return problems


def subset_members(subsets: Subsets, count: int, random_subsets: int, generator: torch.Generator | None) -> Tensor:
    """The subsets of this step as rows of membership, (S, M) bool, on the CPU; not for `drawn`."""
    if subsets in ("sampled", "singles"):
        return sampled_subsets(count, random_subsets if subsets == "sampled" else 0, generator)
    return subsets_of(count, generator) if subsets == "all" else torch.ones(1, count, dtype=torch.bool)


def drawn_members(count: int, size: int, generator: torch.Generator | None) -> Tensor:
    """A non-empty subset for each of `size` samples, each equally probable, (M, B) bool, on the CPU."""
    device = "cpu" if generator is None else generator.device
    numbers = torch.randint(1, 2**count, (size,), generator=generator, device=device).cpu()
    return (numbers >> torch.arange(count).unsqueeze(-1) & 1).bool()


def subset_bounds(
    combine: Combine,
    observation: Observation,
    subsets: Subsets,
    *,
    random_subsets: int,
    always: Collection[str],
    generator: torch.Generator | None,
) -> StackedPosteriors:
    """The posterior of each subset, which reconstructs its own members and what is in `always`."""
    if subsets == "drawn":
        return _drawn_bound(combine, observation, always, generator)
    present = observation.present
    members = subset_members(subsets, len(present), random_subsets, generator).to(present.device)
    posterior = combine(observation.experts, present, members)
    weight = (torch.tensordot(members.float(), present.float(), 1) > 0).float()
    if subsets == "all":
        weight = weight * (2 ** members.shape[1] - 1) / len(members)
    own = {name: members[:, i].nonzero().squeeze(-1) for i, name in enumerate(observation.names) if name not in always}
    return StackedPosteriors(posterior, weight, reconstructs=own)


def _drawn_bound(
    combine: Combine, observation: Observation, always: Collection[str], generator: torch.Generator | None
) -> StackedPosteriors:
    count, size = observation.present.shape
    chosen = drawn_members(count, size, generator).to(observation.present.device)
    kept = observation.present & chosen
    weight = kept.any(0, keepdim=True).float() * (2**count - 1)
    own = {name: chosen[i : i + 1] for i, name in enumerate(observation.names) if name not in always}
    return StackedPosteriors(combine(observation.experts, kept, None)[None], weight, members=own)
