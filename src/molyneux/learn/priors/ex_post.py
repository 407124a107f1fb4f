"""Fitting a prior after training: its settings, and the codes it is fitted to."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from molyneux.core import ConfigError, Encodes, Source, Spec, seeds

_CHUNK = 500


@dataclass(frozen=True)
class ExPostMixture:
    """Ghosh et al., From Variational to Deterministic Autoencoders (ICLR 2020), section 4: ex-post density estimation.

    A model decodes well what its posteriors hold, and these never cover the standard normal prior exactly: what is drawn
    from the prior may lie in a hole. So, when training is over, a mixture of normals with full covariances is fitted to the
    codes of training samples, and takes the place of the prior wherever codes are drawn or weighed. Here it is a density of
    shared and private codes together, so that private codes are drawn given the shared code: where a picture stands and how
    it is turned may depend on what it shows. Weights of nets do not change.

    Args:
        components: normals in the mixture.
        samples: training samples whose codes it is fitted to, at most.
    """

    components: int = 64
    samples: int = 20_000

    def __post_init__(self) -> None:
        bad = [name for name in ("components", "samples") if getattr(self, name) < 1]
        if bad:
            raise ConfigError([f"prior.{name}: expected at least 1, got {getattr(self, name)}" for name in bad])


@torch.no_grad()
def collect_codes(
    model: Encodes, spec: Spec, source: Source, samples: int, *, seed: int
) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """Posterior samples of training samples: shared codes (N, D), and private ones (N, P) by modality.

    Private codes are those of the whole sample. Shared codes come in turns from the posterior given everything and given
    each modality alone, as generation will meet them. What is missing is NaN.
    """
    generator = seeds.torch_generator(seed, "prior", "codes")
    positions = seeds.generator(seed, "prior", "positions").permutation(len(source))[:samples]
    turns = list(dict.fromkeys([spec.names, *((name,) for name in spec.names)]))
    shared: list[Tensor] = []
    private: dict[str, list[Tensor]] = {}
    for number, start in enumerate(range(0, len(positions), _CHUNK)):
        batch = source.batch(np.sort(positions[start : start + _CHUNK]))
        whole = model.encode(batch)
        codes = whole.rsample(1, generator)[0]
        observed = turns[number % len(turns)]
        posterior = whole if observed == spec.names else model.encode(batch, observed)
        code = posterior.rsample(1, generator)[0].shared
        shared.append(_keep(code, torch.stack([batch.mask(name) for name in observed]).any(0)))
        for name, part in codes.private.items():
            private.setdefault(name, []).append(_keep(part, batch.mask(name)))
    return _join(shared), {name: _join(parts) for name, parts in private.items()}


def _keep(codes: Tensor, there: Tensor) -> Tensor:
    return codes.where(there.unsqueeze(-1), torch.nan)


def _join(parts: list[Tensor]) -> np.ndarray:
    joined: np.ndarray = torch.cat(parts).double().cpu().numpy()
    return joined
