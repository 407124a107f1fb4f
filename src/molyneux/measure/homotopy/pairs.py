"""Pairs of test samples, and the paths of codes between them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from molyneux.core import Batch, Codes, NotApplicableError
from molyneux.measure.evaluation import Evaluation
from molyneux.measure.generation import decoded, having
from molyneux.measure.homotopy.paths import dimensionwise_codes, homotopy_codes
from molyneux.measure.latents.finite import require_finite


@dataclass(frozen=True)
class Pairs:
    """Samples two by two: sample p goes to sample P + p.

    Args:
        batch: 2P samples that differ, all modalities present.
        means: by code (`shared`, `private.image`) the posterior means given all modalities, (2P, D) float64.
    """

    batch: Batch
    means: Mapping[str, np.ndarray]

    def __len__(self) -> int:
        return len(self.batch) // 2

    def parts(self, modality: str) -> dict[str, int]:
        """The codes that reach a modality, with their numbers of dimensions."""
        return {code: self.means[code].shape[1] for code in ("shared", f"private.{modality}") if code in self.means}

    def paths(self, modality: str, chosen: np.ndarray, *, steps: int) -> np.ndarray:
        """The codes between the samples of P chosen pairs, (P, 1 + D, steps, D): the line, then a leg for each dimension."""
        means = np.concatenate([self.means[code] for code in self.parts(modality)], 1)
        first, second = means[chosen], means[chosen + len(self)]
        return np.concatenate([homotopy_codes(first, second, steps)[:, None], dimensionwise_codes(first, second, steps)], 1)


def draw_pairs(evaluation: Evaluation, pairs: int) -> Pairs:
    """Pairs of the evaluation's samples, drawn at random; fewer where there are not enough with all modalities.

    Raises:
        NotApplicableError: there are not two such samples. DataError: a code is not finite; names code, row and dimension.
    """
    names, wanted = evaluation.spec.names, 2 * pairs
    order = evaluation.rng("homotopy", "pairs").permutation(evaluation.size)
    kept, means = list[Batch](), list[Codes]()
    for start in range(0, len(order), evaluation.batch_size):
        part = having(evaluation.source.batch(order[start : start + evaluation.batch_size]), names)[:wanted]
        if len(part):
            kept.append(part)
            means.append(evaluation.model.encode(part.to(evaluation.device), names).mean)
            wanted -= len(part)
        if wanted == 0:
            break
    count = (2 * pairs - wanted) // 2 * 2
    if not count:
        raise NotApplicableError("homotopy needs two samples that have all modalities: measure on another source")
    found = {"shared": [code.shared for code in means]}
    found |= {f"private.{name}": [code.private[name] for code in means] for name in means[0].private}
    codes = {name: torch.cat(part)[:count].double().cpu().numpy() for name, part in found.items()}
    for name, values in codes.items():
        require_finite(f"codes {name} given {'+'.join(names)}", values)
    return Pairs(_joined(kept)[:count], codes)


def decode_paths(evaluation: Evaluation, pairs: Pairs, modality: str, *, chosen: np.ndarray, paths: np.ndarray) -> Tensor:
    """The stored views that the model makes of codes (P, ..., D) of a modality; other codes stay those of the first samples.

    Returns:
        (P, N, *shape) for the N codes of each chosen pair.
    """
    flat = torch.from_numpy(paths.reshape(-1, paths.shape[-1])).to(evaluation.device, torch.float32)
    each, sizes = len(flat) // len(chosen), pairs.parts(modality)
    moved = dict(zip(sizes, torch.split(flat, list(sizes.values()), dim=1), strict=True))
    still = {name: torch.from_numpy(mean[chosen]).to(flat).repeat_interleave(each, 0) for name, mean in pairs.means.items()}
    parts = {name.removeprefix("private."): code for name, code in {**still, **moved}.items()}
    codes = Codes(parts.pop("shared"), parts)
    portions = [
        decoded(evaluation.model, codes[start : start + evaluation.batch_size], evaluation.spec, only=[modality])[modality]
        for start in range(0, len(flat), evaluation.batch_size)
    ]
    made = torch.cat(portions)
    return made.reshape(len(chosen), each, *made.shape[1:])


def _joined(parts: list[Batch]) -> Batch:
    """Several batches as one, all of it present."""
    factors = [part.factors for part in parts if part.factors is not None]
    views = {name: torch.cat([part.views[name] for part in parts]) for name in parts[0].views}
    return Batch(views, factors=torch.cat(factors) if factors else None)
