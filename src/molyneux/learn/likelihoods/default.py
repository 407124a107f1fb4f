"""The likelihood of each kind of modality, where none is chosen."""

from __future__ import annotations

from types import MappingProxyType

from molyneux.core import Modality
from molyneux.learn.likelihoods.bernoulli import Bernoulli
from molyneux.learn.likelihoods.categorical import Categorical
from molyneux.learn.likelihoods.likelihood import ViewLikelihood
from molyneux.learn.likelihoods.location_scale import Normal

_BY_KIND: MappingProxyType[str, ViewLikelihood] = MappingProxyType(
    {
        "audio": Normal(),
        "image": Bernoulli(),
        "label": Categorical(),
        "series": Normal(),
        "set": Normal(),
        "tabular": Normal(),
        "text": Categorical(),
    }
)


def default_likelihood(modality: Modality) -> ViewLikelihood:
    """The usual likelihood of a modality's kind: Bernoulli for images, categorical for symbols, normal for the rest."""
    return _BY_KIND[modality.kind]
