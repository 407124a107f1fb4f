"""Training of judges."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import torch
from torch import Tensor, nn
from torch.nn import functional

from molyneux.core import Batch, Factor, Loss, Progress, Source, Spec, seeds, views
from molyneux.learn.judges.augment import jitter, soften
from molyneux.learn.judges.examination import doubt, examine
from molyneux.learn.judges.ghosts import UNREADABLE, codes_by_name, make_ghosts
from molyneux.learn.judges.judge import Judge, Record
from molyneux.learn.judges.legibility import Blur
from molyneux.learn.judges.lesson import Lesson, codes_of, union
from molyneux.learn.judges.members import RECIPES
from molyneux.learn.judges.net import JudgeNet
from molyneux.learn.judges.recast import make_recast
from molyneux.learn.judges.wreckage import Material, Wreckage
from molyneux.learn.trainer import FitProgress, fit
from molyneux.learn.training import Training

TRAINING = Training(
    epochs=1, batch_size=128, optimizer="adamw", learning_rate=2e-3, weight_decay=0.01, warmup_steps=200, tensorboard=False
)
"""One pass over fresh samples."""


_TRUE, _MEANS, _RECAST = 8, 1, 4
"""Samples of a level in a round: true views, ghosts of each recipe, recast ones."""

_COMPOSED = {"pale": 1, "shapeless": 2, "smooth": 1}
"""Of each kind of wreckage."""


class Pupil(nn.Module):
    """A judge's net while it learns; satisfies `core.Trainable`.

    Args:
        spec: one modality, and the factors to read in it.
        seed: of the weights it starts with.
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
        spoiled = soften(view, generator) if modality.kind == "image" else jitter(view, generator)
        logits = self.net(spoiled)
        codes = codes_of(batch)
        terms = {name: _cross_entropy(logits[name], codes[:, i]) for i, name in enumerate(logits)}
        return Loss(torch.stack(list(terms.values())).sum(), {name: term.detach() for name, term in terms.items()})


def train_judge(
    material: Mapping[str, Material],
    held_out: Mapping[str, Material],
    folder: Path,
    *,
    world: str,
    modality: str,
    factors: Sequence[str],
    blurs: Mapping[str, Sequence[Blur]] | None = None,
    seed: int = 0,
    training: Training = TRAINING,
    examined: int = 10_000,
    command: str = "",
    progress: FitProgress | None = None,
) -> Judge:
    """Train one judge for all levels of a world together and examine it on fresh samples.

    Args:
        material: per level, what to learn from; a level teaches the factors it has.
        held_out: per level, the same of another split for the examination, with as many samples: ghosts need several of
            each kind.
        folder: of the training; called again with the same folder, it goes on where it stopped.
        world: name and version of the world.
        modality: name of the modality to read.
        factors: names of the factors to read.
        blurs: per factor, the nuisances without which it cannot be told (a shape, without its rotation).
        seed: root seed.
        training: settings.
        examined: number of true samples of each level that are read in the examination, all that there are at most.
        command: what rebuilds the judge, for its record.
        progress: is told how it goes.

    Raises:
        SpecError: the sources do not fit each other. See also `fit`.
    """
    blurs = blurs or {}
    shares = [share for level in material.values() for share in _lessons(level, modality, factors, blurs, seed)]
    known = _with_doubt(union([level.true.spec for level in material.values()], factors))
    lesson = Lesson(shares, modality, known)
    pupil = Pupil(lesson.spec, seed=seed)
    fit(pupil, lesson, None, training, folder, seed=seed, progress=progress)
    draft = Judge(pupil.net, Record(world, lesson.spec.modalities[0], known, {}, {}, 0, command))
    draft.save(folder / "draft.safetensors")
    rounded = Judge.load(folder / "draft.safetensors")  # examined with the weights that are shipped
    record = replace(
        rounded.record,
        accuracy={level: examine(rounded, held.true, examined) for level, held in held_out.items()},
        doubts={level: doubt(rounded, held, blurs, seed=seed, examined=examined) for level, held in held_out.items()},
        samples=min(examined, *(len(held.true) for held in held_out.values())),
    )
    return Judge(rounded.net, record)


def _lessons(
    material: Material, modality: str, factors: Sequence[str], blurs: Mapping[str, Sequence[Blur]], seed: int
) -> list[tuple[Source, int]]:
    """What a level teaches, and how often in a round: true views half of the time."""
    count = len(material.true) * _MEANS // _TRUE
    codes = codes_by_name(material.silhouette or material.true)  # silhouettes are drawn fastest
    means = [
        make_ghosts(material.true, modality, factors, recipe=recipe, count=count, blurs=blurs, seed=seed, codes=codes)
        for recipe in RECIPES
    ]
    lessons: list[tuple[Source, int]] = [(material.true, _TRUE)]
    lessons += [(ghosts, _MEANS) for ghosts in means if len(ghosts) == count > 0]
    if material.silhouette is not None:
        count = len(material.true) * _RECAST // _TRUE
        lessons.append((make_recast(material, modality, factors, count=count, blurs=blurs, seed=seed, codes=codes), _RECAST))
    lessons += [(Wreckage(material, modality, factors, kind=kind, seed=seed), _COMPOSED[kind]) for kind in material.kinds]
    return lessons


def _with_doubt(factors: Sequence[Factor]) -> tuple[Factor, ...]:
    return tuple(Factor(factor.name, (*factor.values, UNREADABLE)) for factor in factors)


def _cross_entropy(logits: Tensor, codes: Tensor) -> Tensor:
    """Mean over the whole batch; samples without the factor count as zero."""
    return functional.cross_entropy(logits.float(), codes, ignore_index=-1, reduction="sum") / len(codes)
