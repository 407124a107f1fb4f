"""Who reads the views of a world: its exact readers, and judges for what it cannot read itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from molyneux.core import Reader, Spec
from molyneux.data import World


@dataclass(frozen=True)
class Readers:
    """Readers by modality."""

    exact: Mapping[str, Reader] = field(default_factory=dict)
    judges: Mapping[str, Reader] = field(default_factory=dict)


def find_readers(world: World | None, spec: Spec) -> Readers:
    """The readers of the modalities in `spec`; none without a world."""
    if world is None:
        return Readers()
    exact = {name: reader for name, reader in world.readers().items() if name in spec.names}
    return Readers(exact)
