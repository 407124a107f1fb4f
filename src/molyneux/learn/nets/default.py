"""The net of each kind of modality, where none is chosen."""

from __future__ import annotations

from types import MappingProxyType

from molyneux.core import Modality
from molyneux.learn.nets.dense import Dense
from molyneux.learn.nets.net import Net
from molyneux.learn.nets.patches import Patches
from molyneux.learn.nets.series import Series

_BY_KIND: MappingProxyType[str, Net] = MappingProxyType(
    {
        "audio": Dense(),
        "image": Patches(),
        "label": Dense(),
        "series": Series(),
        "set": Dense(),
        "tabular": Dense(),
        "text": Dense(),
    }
)


def default_net(modality: Modality) -> Net:
    """The fast net of a modality's kind."""
    return _BY_KIND[modality.kind]
