"""GradientBlending: losses of each modality and of all, weighed by how much they generalise and how much they over-fit."""

from __future__ import annotations

import copy
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
import torch
from torch import Tensor, nn
from torch.distributions import Bernoulli, Categorical, Distribution, Independent, Normal

from molyneux.core import Batch, ConfigError, Epoch, Loss, Progress, Spec, choice_problems, nearest, seeds
from molyneux.core.tooling.moved import moved
from molyneux.learn.checks import levels_below_zero, refuse, shares_out_of_range, too_small
from molyneux.learn.encoders.by_modality import ModalityDict
from molyneux.learn.encoders.encoding import Encoding, EncodingSpec, ViewEncoder
from molyneux.learn.fusion.early import EarlyFusion
from molyneux.learn.fusion.fusion import Fusion, FusionLayer
from molyneux.learn.fusion.pooled import Concatenation
from molyneux.learn.predictors.fusion_predictor import FUSION, HEAD, FusionPredictor
from molyneux.learn.predictors.head import Head, TargetHeads
from molyneux.learn.predictors.objectives.auxiliary import AuxiliaryObjective, known_where
from molyneux.learn.predictors.predictor import target_loss

Formula = Literal["improvement", "published"]


@dataclass(frozen=True)
class Blending:
    """How the weights of the losses are estimated; Wang, Tran and Feiszli (CVPR 2020), section 3, algorithms 1 and 2.

    Before every `every`-th epoch a copy of the model is trained for `window` epochs with each loss alone, on a part of the
    training samples; the other samples of these are held out. With `G`, how much the held-out loss falls, and `O`, how much the
    gap between held-out and training loss grows, a loss has a weight proportional to `G / O^2`; the weights sum to 1.

    The paper does not say what to do where a loss does not over-fit. Here `O` is at least `floor` times the largest fall of a
    training loss (of a held-out one, where no training loss falls), so no weight is without bound; a loss whose held-out value
    rises has `G = 0`; where that is true of all losses, the weights stay as they are. Of all weight, `least` is shared equally,
    so no head stops learning. MultiBench's published code, formula "published", takes for `G` the held-out loss itself, and for
    `O` at least 1e-4, so that a loss without over-fitting has all the weight.

    Args:
        every: epochs between two estimates; the first is made before the first epoch.
        window: epochs for which copies are trained. (MultiBench: 25, for `every` 10 or 20; Wang et al.: as many as `every`.)
        share: of the training samples, those that copies are trained on.
        floor: see above.
        least: see above.
        formula: "improvement" or "published".
    """

    every: int = 10
    window: int = 10
    share: float = 0.8
    floor: float = 0.1
    least: float = 0.1
    formula: Formula = "improvement"

    def __post_init__(self) -> None:
        problems = too_small(self, "every", "window") + shares_out_of_range("the training samples", share=self.share)
        problems += levels_below_zero(floor=self.floor, least=self.least)
        if not problems and (not self.floor or self.least > 1 or self.share == 1):
            problems.append(
                f"share, floor, least: expected a share below 1, a floor above 0 and at most 1 in least, "
                f"got {self.share}, {self.floor} and {self.least}"
            )
        refuse(problems + choice_problems(formula=(self.formula, get_args(Formula))))

    def weights(self, before: Tensor, after: Tensor) -> Tensor | None:
        """The weights (K,) of K losses; None where no held-out loss falls.

        Args:
            before: training and held-out loss of each, (K, 2).
            after: the same of copies that were trained with each loss alone.
        """
        gain, overfitting = before[:, 1] - after[:, 1], (after - before).diff(dim=1).squeeze(1)
        if self.formula == "published":
            raw = after[:, 1].clamp(min=0) / overfitting.clamp(min=1e-4).square()
            return raw / raw.sum().clamp(min=torch.finfo(raw.dtype).tiny)
        gain = gain.clamp(min=0)
        if not bool((gain > 0).any()):
            return None
        fall = (before - after)[:, 0].max()
        scale = fall if fall > 0 else gain.max()
        raw = gain / scale / (overfitting / scale).clamp(min=self.floor).square()
        return self.least / len(raw) + (1 - self.least) * raw / raw.sum()

    def split(self, epoch: Epoch) -> tuple[np.ndarray, np.ndarray]:
        """Positions of the training samples that copies are trained on, and of those held out; contrast sets stay whole."""
        together = epoch.train.spec.row_size
        sets = seeds.generator(epoch.seed, "blending").permutation(len(epoch.train) // together)
        count = min(max(round(self.share * len(sets)), 1), len(sets) - 1)
        rows = [(part[:, None] * together + np.arange(together)).ravel() for part in (sets[:count], sets[count:])]
        return rows[0], rows[1]


BLENDING = Blending()


@dataclass(frozen=True)
class UnimodalBranches:
    """The predictions of each modality alone.

    Args:
        heads: by the name of a modality or by a kind; the others have one like the joint head.
        fusion: what makes the features of one modality alone; by default its vector, and in early fusion a model of the kind
            that joins them all.
        pooled: whether predictions are those of all heads: the logarithmic opinion pool with the weights of the losses, without
            the heads of what a sample lacks.
    """

    heads: Mapping[str, Head] | None = None
    fusion: Fusion | None = None
    pooled: bool = False


class GradientBlending(FusionPredictor):
    """Gradient blending (GradBlend), online: heads for each modality and for all of them, and a weighted sum of their losses.

    Wang, Tran and Feiszli, What Makes Training Multi-Modal Classification Networks Hard? (CVPR 2020); see `Blending`. Encoders,
    fusion and all heads train together and are what is saved; copies serve the estimates alone. Predictions are those of the
    joint head. The loss in evaluation mode is that of the predictions, without weights, so that epochs can be compared.

    A loss of a modality counts the samples that have it. Terms: those of the joint head; `<modality>/nll.<target>` and
    `<modality>/accuracy.<target>`; the weights, `weight` of the joint loss and `<modality>/weight`.

    Args:
        spec: see `Predictor`.
        encoders: see `FusionPredictor`.
        fusion: see `FusionPredictor`.
        head: see `Head`.
        objectives: see `FusionPredictor`; they are not weighed.
        modalities: see `FusionPredictor`.
        branches: the predictions of each modality alone.
        blending: how the weights are estimated.
    """

    weights: Tensor
    """Of the losses of the modalities in the order of `reads`, and of the joint one, (M + 1,)."""

    @moved(heads="branches.heads", branch="branches.fusion", blended="branches.pooled")
    def __init__(
        self,
        spec: Spec,
        *,
        encoders: Mapping[str, ViewEncoder] | None = None,
        fusion: Fusion = FUSION,
        head: Head = HEAD,
        objectives: tuple[AuxiliaryObjective, ...] = (),
        modalities: tuple[str, ...] = (),
        branches: UnimodalBranches = UnimodalBranches(),
        blending: Blending = BLENDING,
    ) -> None:
        super().__init__(spec, encoders=encoders, fusion=fusion, head=head, objectives=objectives, modalities=modalities)
        heads = branches.heads or {}
        known = {*self.reads, *(spec.modality(name).kind for name in self.reads)}
        if problems := [
            f"branches.heads: no modality or kind {name!r}; {nearest(name, known)}" for name in heads if name not in known
        ]:
            raise ConfigError(problems)
        self.branches = ModalityDict[Branch]()
        for name, item in self.encoding_specs.items():
            chosen = heads.get(name) or heads.get(item.kind) or head
            layer = (branches.fusion or self._usual_branch(fusion, item)).build({name: item})
            self.branches[name] = Branch(layer, chosen.build(layer.features, spec.targets, steps=layer.steps))
        count = len(self.reads) + 1
        self.register_buffer("weights", torch.full((count,), 1 / count))
        self.blending, self.pooled = blending, branches.pooled
        self.part: int | None = None
        """The only loss of a copy that serves an estimate, by its position in `weights`."""

    def _usual_branch(self, fusion: Fusion, item: EncodingSpec) -> Fusion:
        """What makes the features of one modality alone where no setting says it."""
        if not isinstance(fusion, EarlyFusion):
            return Concatenation()
        sequences = any(other.sequence for other in self.encoding_specs.values())
        return fusion if item.sequence or not sequences else EarlyFusion()

    def start_epoch(self, epoch: Epoch) -> None:
        """Estimate the weights, before every `Blending.every`-th epoch; see `core.EpochStart`."""
        if epoch.number % self.blending.every:
            return
        if len(epoch.train) < 2 * epoch.train.spec.row_size:
            raise ConfigError("blending: expected at least two training samples, of which one is held out, got one: set more")
        rows = self.blending.split(epoch)
        losses = torch.zeros(2, len(self.weights), 2, dtype=torch.float64)
        for part in range(len(self.weights)):
            branch = copy.deepcopy(self)
            branch.part = part
            losses[0, part] = torch.tensor([epoch.loss(branch, some) for some in rows])
            if any(parameter.requires_grad for module in self._modules_of(part) for parameter in module.parameters()):
                epoch.fit(branch, rows[0], self.blending.window)  # else a stage holds all of them fixed
            losses[1, part] = torch.tensor([epoch.loss(branch, some) for some in rows])
        found = self.blending.weights(losses[0], losses[1])
        if found is not None:
            self.weights.copy_(found)

    def _modules_of(self, part: int) -> list[nn.Module]:
        """What learns from the loss at a position in `weights`."""
        if part == len(self.reads):
            return [self.encoders, self.fusion, self.answers]
        return [self.encoders[self.reads[part]], self.branches[self.reads[part]]]

    def loss(self, batch: Batch, progress: Progress, generator: torch.Generator | None = None) -> Loss:
        """See `Predictor` and above."""
        self.check_targets(batch)
        if self.part is not None:
            return self._part_loss(self.part, batch, generator)
        step = self.training_step(batch, progress, generator)
        joint = target_loss(step.found, batch, self.spec)
        parts = {name: self._branch_loss(name, step.encodings, batch, generator) for name in self.reads}
        terms = {**joint.terms, "weight": self.weights[-1]}
        for name, part, weight in zip(parts, parts.values(), self.weights, strict=False):
            terms |= {f"{name}/{term}": value for term, value in (*part.terms.items(), ("weight", weight))}
        total = joint.total
        if self.training:
            total = torch.stack([*(part.total for part in parts.values()), joint.total]) @ self.weights
        elif self.pooled:
            total = target_loss(self._pool(step.encodings, step.found), batch, self.spec).total
        return self.with_objectives(Loss(total, terms), step)

    def predict(self, batch: Batch, observed: Collection[str] | None = None) -> dict[str, Distribution]:
        """See `Predictor`."""
        if not self.pooled or not len(batch):
            return super().predict(batch, observed)
        encodings = self.encodings(batch, observed)
        return self._pool(encodings, self.distributions(encodings))

    def _part_loss(self, part: int, batch: Batch, generator: torch.Generator | None) -> Loss:
        """The loss at a position in `weights`, alone."""
        if part == len(self.reads):
            return target_loss(self.answers(self.fuse(self.encodings(batch), generator)), batch, self.spec)
        name = self.reads[part]
        return self._branch_loss(name, self.encodings(batch, [name]), batch, generator)

    def _branch_loss(self, name: str, encodings: Mapping[str, Encoding], batch: Batch, generator: torch.Generator | None) -> Loss:
        """The loss of the head of one modality."""
        found = self.branches[name](name, encodings[name], generator)
        return target_loss(found, known_where(batch, self.spec, encodings[name].present), self.spec)

    def _pool(self, encodings: Mapping[str, Encoding], joint: Mapping[str, Distribution]) -> dict[str, Distribution]:
        """The predictions of all heads as one, by the weights of those whose modality a sample has."""
        present = torch.stack(
            [*(encodings[name].present for name in self.reads), torch.ones_like(encodings[self.reads[0]].present)]
        )
        weights = self.weights.clamp(min=1e-9).unsqueeze(1) * present
        weights = weights / weights.sum(0)
        found = [*(self.branches[name](name, encodings[name]) for name in self.reads), joint]
        return {target.name: opinion_pool([one[target.name] for one in found], weights) for target in self.spec.targets}


class Branch(nn.Module):
    """Features and head of one modality alone."""

    def __init__(self, layer: FusionLayer, answers: TargetHeads) -> None:
        super().__init__()
        self.layer, self.answers = layer, answers

    def forward(self, name: str, encoding: Encoding, generator: torch.Generator | None = None) -> dict[str, Distribution]:
        """A distribution for each target, from the encoding of the modality of that name."""
        found: dict[str, Distribution] = self.answers(self.layer({name: encoding}, generator))
        return found


def opinion_pool(parts: Sequence[Distribution], weights: Tensor) -> Distribution:
    """The logarithmic opinion pool of K distributions (B,) of one kind, proportional to the product of their powers.

    Args:
        parts: of the kinds that heads give.
        weights: the powers, (K, B), which sum to 1.
    """
    first = parts[0]
    if isinstance(first, Independent):
        inner = opinion_pool([part.base_dist for part in parts if isinstance(part, Independent)], weights)
        return Independent(inner, first.reinterpreted_batch_ndims, validate_args=False)
    if isinstance(first, Normal):
        means, scales = (torch.stack([getattr(part, name) for part in parts]) for name in ("loc", "scale"))
        powers = weights.reshape(*weights.shape, *[1] * (means.dim() - 2)) / scales.square()
        precision = powers.sum(0)
        return Normal((powers * means).sum(0) / precision, precision.rsqrt(), validate_args=False)
    logits = torch.stack([part.logits for part in parts if isinstance(part, Categorical | Bernoulli)])
    pooled = (weights.reshape(*weights.shape, *[1] * (logits.dim() - 2)) * logits).sum(0)
    kind = Categorical if isinstance(first, Categorical) else Bernoulli
    return kind(logits=pooled, validate_args=False)
