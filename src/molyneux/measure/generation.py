"""How a model is asked to generate: codes from a posterior or the prior, and views from codes."""

from __future__ import annotations

from collections.abc import Collection
from typing import Literal, Protocol, get_args

import torch
from torch import Tensor
from torch.distributions import Distribution

from molyneux.core import Batch, Codes, ConfigError, Decodes, Encodes, Modality, Posterior, Spec, nearest, views

Draw = Literal["mean", "sample"]
"""Which codes stand for a posterior: one sample of it (as published), or its mean."""


class Generates(Encodes, Decodes, Protocol):
    """A model that encodes and decodes."""


def check_draw(draw: Draw) -> Draw:
    """The setting `draw`; raises ConfigError for anything but `mean` and `sample`."""
    if draw not in get_args(Draw):
        raise ConfigError(f"unknown draw {draw!r}; {nearest(str(draw), get_args(Draw))}")
    return draw


def having(batch: Batch, names: Collection[str]) -> Batch:
    """The samples of a batch in which all these modalities are present."""
    masks = torch.stack([batch.mask(name) for name in names])
    return batch if bool(masks.all()) else batch[masks.all(0)]


def posterior_codes(posterior: Posterior, draw: Draw, generator: torch.Generator) -> Codes:
    """One code for each sample, (B, D)."""
    return posterior.mean if draw == "mean" else posterior.rsample(1, generator)[0]


def prior_codes(model: Decodes, size: int, generator: torch.Generator) -> Codes:
    """One draw of the prior for each of `size` samples: the same shared code for every modality, (B, D)."""
    return model.prior(size).rsample(1, generator)[0]


def decoded(model: Decodes, codes: Codes, spec: Spec, *, only: Collection[str]) -> dict[str, Tensor]:
    """The views a model makes of codes, as they would be stored, on the CPU: (B, *modality.shape)."""
    distributions = model.decode(codes, tuple(only))
    return {name: stored_view(spec.modality(name), distributions[name]) for name in only}


def stored_view(modality: Modality, distribution: Distribution) -> Tensor:
    """The view that stands for a distribution, in its stored form, on the CPU.

    Pictures, series and other numbers: the mean of the likelihood; text and labels: the most probable symbols, written one after
    the other where the distribution can say (`view`). What stands after the end of a text says nothing and becomes padding.
    """
    view = getattr(distribution, "view", None)
    if view is None:
        view = distribution.mode if modality.symbols else distribution.mean
    return views.to_stored(modality, views.padded(modality, view)).cpu()
