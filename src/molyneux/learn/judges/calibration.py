"""How sure a judge has to be that it cannot read: set after the training, by the true views that it would refuse."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch

from molyneux.core import Source, Spec, seeds, views
from molyneux.learn.judges.augmentation import jitter, soften
from molyneux.learn.judges.labels import codes_of, recode
from molyneux.learn.judges.net import JudgeNet

REFUSED = 0.01
"""Share of true views of each level, put through what they are trained with, of which each factor is refused."""

_MOST = 3.0
"""By how much the logit of "unreadable" is changed at most."""

_BATCH = 500


@torch.no_grad()
def calibrate(net: JudgeNet, spec: Spec, sources: Sequence[Source], *, seed: int, samples: int = 4000) -> dict[str, float]:
    """Change the bias of "unreadable", the last value of each factor, so that `REFUSED` of true views are refused.

    The level of which most would be refused decides. A judge that refuses fewer true views than it may refuses more of
    everything.

    Args:
        net: the trained network; its biases are changed.
        spec: the modality, and the factors that it reads.
        sources: true views of each level.
        seed: of what they are put through.
        samples: how many views of each level are read, at most.

    Returns:
        What was added to the bias, by factor.
    """
    net.eval()
    generator = torch.Generator().manual_seed(int(seeds.key(seed, "judge", "calibration")[0] >> 1))
    margins: dict[str, list[torch.Tensor]] = {name: [] for name in net.names}
    for source in sources:
        found = _margins(net, spec, source, min(samples, len(source)), generator)
        for name, margin in found.items():
            if len(margin):
                margins[name].append(margin.quantile(1 - REFUSED))
    added = {name: float(-torch.stack(limits).max().clamp(-_MOST, _MOST)) for name, limits in margins.items() if limits}
    for name, head in zip(net.names, net.heads.values(), strict=True):
        head.bias[-1] += added.get(name, 0.0)  # type: ignore[operator,index]
    return added


def _margins(net: JudgeNet, spec: Spec, source: Source, samples: int, generator: torch.Generator) -> dict[str, torch.Tensor]:
    """By factor that a source has, by how much the logit of "unreadable" exceeds the largest of the values."""
    modality = spec.modalities[0]
    found: dict[str, list[torch.Tensor]] = {name: [] for name in net.names}
    for start in range(0, samples, _BATCH):
        batch = source.batch(np.arange(start, min(start + _BATCH, samples)))
        codes = recode(codes_of(batch), source.spec, spec.factors)
        view = views.to_model(modality, batch.views[modality.name])
        logits = net(soften(view, generator) if modality.kind == "image" else jitter(view, generator))
        for column, name in enumerate(net.names):
            shown = codes[:, column] >= 0
            found[name].append(logits[name][shown, -1] - logits[name][shown, :-1].max(1).values)
    return {name: torch.cat(parts) for name, parts in found.items()}
