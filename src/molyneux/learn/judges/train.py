"""Training of judges: on true views, altered ones, blends and noise of all levels of a world, interleaved."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from molyneux.core import (
    UNREADABLE,
    Batch,
    Factor,
    JudgeMaterial,
    Loss,
    Modality,
    Progress,
    Source,
    Spec,
    SpecError,
    seeds,
    views,
)
from molyneux.learn.judges.augmentation import jitter, soften
from molyneux.learn.judges.judge import Judge, Record
from molyneux.learn.judges.labels import codes_of, recode, union
from molyneux.learn.judges.negatives import Negatives
from molyneux.learn.judges.net import JudgeNet
from molyneux.learn.judges.validation import validate_abstention, validate_accuracy
from molyneux.learn.training.fit_progress import FitProgress
from molyneux.learn.training.settings import Training
from molyneux.learn.training.trainer import fit

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


TRAINING = Training(
    epochs=1, batch_size=64, optimizer="adamw", learning_rate=2e-3, weight_decay=0.01, warmup_steps=200, tensorboard=False
)
"""One pass over fresh samples."""


_TRUE, _ALTERED, _NEGATIVES = 4, 5, 1
"""Samples of the first level in a round: true views, altered ones, blends and noise. The second level has twice as many, ..."""


class JudgeTraining(nn.Module):
    """A judge's network with its loss; satisfies `core.Trainable`.

    Args:
        spec: one modality, and the factors to read in it.
        seed: of the initial weights.
    """

    def __init__(self, spec: Spec, *, seed: int) -> None:
        super().__init__()
        self.spec = spec
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(int(seeds.key(seed, "judge", "weights")[0] >> 1))
            self.net = JudgeNet(spec.modalities[0], {factor.name: len(factor.values) for factor in spec.factors})

    def loss(self, batch: Batch, progress: Progress, generator: torch.Generator | None = None) -> Loss:
        """Cross-entropy of every factor that a sample has, summed over factors, in nats per sample."""
        modality = self.spec.modalities[0]
        view = views.to_model(modality, batch.views[modality.name])
        augmented = soften(view, generator) if modality.kind == "image" else jitter(view, generator)
        logits = self.net(augmented)
        codes = codes_of(batch)
        terms = {name: _cross_entropy(logits[name], codes[:, i]) for i, name in enumerate(logits)}
        return Loss(torch.stack(list(terms.values())).sum(), {name: term.detach() for name, term in terms.items()})


def train_judge(
    material: Mapping[str, JudgeMaterial],
    held_out: Mapping[str, JudgeMaterial],
    folder: Path,
    *,
    world: str,
    modality: str,
    factors: Sequence[str],
    seed: int = 0,
    training: Training = TRAINING,
    validated: int = 10_000,
    command: str = "",
    progress: FitProgress | None = None,
) -> Judge:
    """Train one judge for all levels of a world together and validate it on fresh samples.

    Args:
        material: per level, the easiest first, what to train on; a level has labels of the factors it has.
        held_out: per level, the same of another split for the validation.
        folder: of the training; called again with the same folder, it goes on where it stopped.
        world: name and version of the world.
        modality: name of the modality to read.
        factors: names of the factors to read.
        seed: root seed.
        training: settings.
        validated: number of views of each kind and level that are read in the validation, at most.
        command: what trains the judge again, for its record.
        progress: receives the progress of the training.

    Raises:
        SpecError: the sources do not fit each other. See also `fit`.
    """
    sources = [
        (source, number * share)
        for number, level in enumerate(material.values(), 1)
        for source, share in _sources(level, modality, factors, seed)
    ]
    read = union([level.views.spec for level in material.values()], factors)
    known = tuple(Factor(factor.name, (*factor.values, UNREADABLE)) for factor in read)
    samples = Interleaved(sources, modality, known)
    model = JudgeTraining(samples.spec, seed=seed)
    fit(model, samples, None, training, folder, seed=seed, progress=progress)
    if training.epochs == 1:  # views that were seen several times say nothing of how sure it is of others
        calibrate(model.net, samples.spec, [level.views for level in material.values()], seed=seed)
    draft = Judge(model.net, Record(world, samples.spec.modalities[0], known, {}, {}, 0, command))
    draft.save(folder / "draft.safetensors")
    rounded = Judge.load(folder / "draft.safetensors")  # validated with the rounded weights of the file
    record = replace(
        rounded.record,
        accuracy={level: validate_accuracy(rounded, held.views, validated) for level, held in held_out.items()},
        abstention={level: validate_abstention(rounded, held, seed=seed, samples=validated) for level, held in held_out.items()},
        samples=min(validated, *(len(held.views) for held in held_out.values())),
    )
    return Judge(rounded.net, record)


def _sources(material: JudgeMaterial, modality: str, factors: Sequence[str], seed: int) -> list[tuple[Source, int]]:
    """What a judge is trained on at a level, and the samples of each in a round."""
    negatives = Negatives(material.views, modality, factors, seed=seed, cuts=material.altered is None)
    sources: list[tuple[Source, int]] = [(material.views, _TRUE), (negatives, _NEGATIVES)]
    return sources if material.altered is None else [*sources, (material.altered, _ALTERED)]


def _cross_entropy(logits: Tensor, codes: Tensor) -> Tensor:
    """Mean over the whole batch; samples without the factor count as zero."""
    return functional.cross_entropy(logits.float(), codes, ignore_index=-1, reduction="sum") / len(codes)


class Interleaved:
    """Several sources as one `Source` of one modality and the given factors.

    Samples come in rounds, in which each source has its share.

    Args:
        sources: at least one, all with the modality, and how many samples of it a round has; the last round is the last that
            all sources can fill.
        modality: name of the modality.
        factors: what the codes of a batch are about, in this order.
    """

    def __init__(self, sources: Sequence[tuple[Source, int]], modality: str, factors: Sequence[Factor]) -> None:
        self._modality, self._factors = _common([source for source, _ in sources], modality), tuple(factors)
        self._sources, self._shares = [source for source, _ in sources], np.array([share for _, share in sources])
        self._owner = np.repeat(np.arange(len(sources)), self._shares)  # the source of each place in a round
        self._turn = np.concatenate([np.arange(share) for share in self._shares])

    @property
    def spec(self) -> Spec:
        """The modality, and the factors."""
        return Spec((self._modality,), self._factors)

    def __len__(self) -> int:
        rounds = min(len(source) // int(share) for source, share in zip(self._sources, self._shares, strict=True))
        return len(self._owner) * rounds

    def batch(self, indices: np.ndarray) -> Batch:
        """The samples at these positions, grouped by source (their order carries no meaning)."""
        place, rounds, name = indices % len(self._owner), indices // len(self._owner), self._modality.name
        owner, numbers = self._owner[place], rounds * self._shares[self._owner[place]] + self._turn[place]
        batches = [
            (self._sources[number].spec, self._sources[number].batch(numbers[owner == number])) for number in np.unique(owner)
        ]
        views = torch.cat([batch.views[name] for _, batch in batches])
        codes = [recode(codes_of(batch), spec, self._factors) for spec, batch in batches]
        return Batch({name: views}, factors=torch.cat(codes))


def _common(sources: Sequence[Source], name: str) -> Modality:
    first, *others = [source.spec.modality(name) for source in sources]
    for modality in others:
        if modality != first:
            raise SpecError(f"expected the same {name} in all sources, got {first} and {modality}")
    return first
