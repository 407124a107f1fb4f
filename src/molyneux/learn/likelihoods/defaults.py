"""The likelihood of each kind of modality where none is chosen, and the weight of each modality in an objective."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Literal

from molyneux.core import ConfigError, Modality, Spec, nearest
from molyneux.learn.checks import refuse
from molyneux.learn.likelihoods.independent import Bernoulli, Normal
from molyneux.learn.likelihoods.likelihood import ViewLikelihood
from molyneux.learn.likelihoods.symbols import Categorical

Scales = Literal["auto", "none"] | Mapping[str, float]
"""Weights of the modalities' log-likelihoods: none, automatic by size, or numbers by name (1 for what is not named)."""


def likelihood_scales(spec: Spec, scales: Scales) -> dict[str, float]:
    """The weight of each modality's log-likelihood in an objective.

    "auto" gives the smallest dimension (symbols count as one-hot vectors) divided by the modality's own, so the smallest modality
    has weight 1 (Shi et al., NeurIPS 2019, likelihood scaling). Reported log-likelihoods are never scaled.

    Raises:
        ConfigError: an unknown word or modality, or a weight that is not a positive number.
    """
    if scales == "none":
        return dict.fromkeys(spec.names, 1.0)
    if scales == "auto":
        sizes = {modality.name: modality.size * max(1, len(modality.symbols)) for modality in spec.modalities}
        return {name: min(sizes.values()) / size for name, size in sizes.items()}
    if isinstance(scales, str):
        raise ConfigError(f'scales: expected "none", "auto" or numbers by modality, got {scales!r}')
    problems = [f"scales: no modality {name!r}; {nearest(name, spec.names)}" for name in scales if name not in spec.names]
    problems += [
        f"scales.{name}: expected a positive number, got {value}" for name, value in scales.items() if not 0 < value < math.inf
    ]
    refuse(problems)
    return {name: float(scales.get(name, 1.0)) for name in spec.names}


def default_likelihood(modality: Modality) -> ViewLikelihood:
    """The usual likelihood of a modality's kind: Bernoulli for images and videos, categorical for symbols, else normal."""
    return next((kind() for kind in (Bernoulli, Categorical) if modality.kind in kind.kinds), Normal())
