"""SMIL: missing embeddings are mixtures of centroids of their modality, with feature regularisation and a meta-learning step."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.func import functional_call
from torch.nn import functional

from molyneux.core import Batch, ConfigError, Loss, Spec
from molyneux.learn.checks import dropout_problems, levels_below_zero, refuse, too_small
from molyneux.learn.encoders.by_modality import ModalityDict
from molyneux.learn.encoders.encoding import Encoder, Encoding
from molyneux.learn.predictors.head import TargetHeads
from molyneux.learn.predictors.imputations.imputation import Imputation, Imputer, whole_view, whole_view_spec
from molyneux.learn.predictors.objectives.auxiliary import PredictorStep, known_where
from molyneux.learn.predictors.predictor import target_loss


@dataclass(frozen=True)
class SMIL(Imputation):
    """After Ma et al., SMIL: Multimodal Learning with Severely Missing Modality (AAAI 2021), section 3; simplified.

    - Reconstruction: a missing embedding is a sum of `centroids` of the embeddings of its modality, with weights that a linear
      layer of each present modality gives (added before the softmax).
    - Regularisation: an embedding h becomes h * softplus(r), r drawn in training from a normal distribution whose mean and
      deviation a linear layer of h gives; the mean in evaluation.
    - Meta-learning: one step of gradient descent on the loss of the incomplete samples of a batch changes the head; the loss of
      the complete samples with the changed head is added (`meta`), and its gradient goes through that step.

    Deviations: centroids are found while the encoders train, by k-means over batches whose older members fade, not beforehand
    with encoders pre-trained on complete samples; weights have no noise of their own, and are also fitted to the embeddings that
    are there (`reconstruction`); the inner step changes the head alone (as in ANIL: Raghu et al., ICLR 2020), and the loss of all
    samples with the head as it is trains the model too, so that batches without complete or incomplete samples teach something.
    A sample is complete if it has all modalities after modality dropout.

    Further deviations from the authors' code (of image and sound): complete samples are answered from their real views after the
    inner step, where the code reconstructs the sound of these too and adds 0.01 times the squared distances of the features from
    those of the real views; weights of centroids are a softmax, there softplus divided by its sum; embeddings are multiplied
    by the softplus of r, as in the code of its other data set, there it is added, at two layers and after concatenation; and the
    code's inner step changes everything but the sound encoder.

    Fusions get the embedding as the only part and layer of a modality. A sample without any modality has none here either.

    Terms: `meta.nll`, the loss of the complete samples after the inner step; `reconstruction`, the mean squared error of
    embeddings predicted from the others.

    Args:
        centroids: K, of each modality.
        rate: step size of the inner step.
        meta: what the loss after the inner step counts; 0 leaves out meta-learning.
        reconstruction: what the error of reconstruction counts; it trains the weights alone.
        decay: what older batches count for in the centroids, per step.
    """

    centroids: int = 10
    rate: float = 0.1
    meta: float = 1.0
    reconstruction: float = 1.0
    decay: float = 0.95

    def __post_init__(self) -> None:
        levels = {name: getattr(self, name) for name in ("rate", "meta", "reconstruction")}
        refuse(too_small(self, "centroids") + levels_below_zero(**levels) + dropout_problems(decay=self.decay))

    def build(self, spec: Spec, encoders: ModalityDict[Encoder]) -> Imputer:
        """See `Imputation`; raises ConfigError for fewer than two modalities."""
        if len(encoders) < 2:
            raise ConfigError(f"SMIL: expected at least two modalities, got {', '.join(encoders)}")
        return SMILEmbeddings(self, spec, encoders)


class Centroids(nn.Module):
    """K-means of vectors (N, D) that come in batches (Sculley, WWW 2010), older ones fading.

    The first K vectors are the first centroids. Each batch adds its vectors to the sums of their nearest centroids, which were
    multiplied by the decay. A centroid that has next to nothing left moves to the vector that is farthest from its own.
    """

    means: Tensor
    counts: Tensor

    def __init__(self, count: int, width: int, decay: float) -> None:
        super().__init__()
        self.decay = decay
        self.register_buffer("means", torch.zeros(count, width))
        self.register_buffer("counts", torch.zeros(count))

    @torch.no_grad()
    def add(self, vectors: Tensor) -> None:
        """Count vectors (N, D); N may be 0."""
        vectors, means, counts = vectors.float(), self.means.clone(), self.counts.clone()
        free = (counts == 0).nonzero()[:, 0][: len(vectors)]
        means[free], counts[free] = vectors[: len(free)], 1.0
        vectors = vectors[len(free) :]
        if len(vectors):
            used = counts > 0
            distance, nearest = torch.cdist(vectors, means).masked_fill(~used, torch.inf).min(1)
            chosen = functional.one_hot(nearest, len(counts)).to(vectors)
            faded = self.decay * counts
            counts = faded + chosen.sum(0)
            means = torch.where(used.unsqueeze(1), (faded.unsqueeze(1) * means + chosen.T @ vectors) / counts.unsqueeze(1), means)
            dead = (used & (counts < 0.01)).nonzero()[:, 0][: len(vectors)]
            means[dead], counts[dead] = vectors[distance.argsort(descending=True, stable=True)[: len(dead)]], 1.0
        self.means, self.counts = means, counts


class SMILEmbeddings(Imputer):
    """See `SMIL`."""

    def __init__(self, settings: SMIL, spec: Spec, encoders: ModalityDict[Encoder]) -> None:
        widths = {name: encoder.vector for name, encoder in encoders.items()}
        super().__init__({name: whole_view_spec(name, item.encoding_spec, widths[name]) for name, item in encoders.items()})
        self.settings, self.spec = settings, spec
        self.centroids, self.weights = ModalityDict[Centroids](), ModalityDict[ModalityDict[nn.Linear]]()
        self.regularisation = ModalityDict[nn.Linear]()
        for name, width in widths.items():
            self.centroids[name] = Centroids(settings.centroids, width, settings.decay)
            self.weights[name] = ModalityDict[nn.Linear]()
            for other in [other for other in widths if other != name]:
                self.weights[name][other] = nn.Linear(widths[other], settings.centroids)
            self.regularisation[name] = _near_one(nn.Linear(width, 2 * width))

    def forward(
        self,
        encodings: Mapping[str, Encoding],
        encoders: ModalityDict[Encoder],
        batch: Batch | None = None,
        generator: torch.Generator | None = None,
    ) -> dict[str, Encoding]:
        """See `Imputer`."""
        some = torch.stack([item.present for item in encodings.values()]).any(0)
        found = {}
        for name, item in encodings.items():
            predicted = self.predicted(name, encodings).to(item.vector.dtype)
            vector = item.vector.where(item.present.unsqueeze(1), predicted)
            found[name] = whole_view(self._regularised(name, vector, generator), some)
        return found

    def predicted(self, name: str, encodings: Mapping[str, Encoding]) -> Tensor:
        """The embeddings of a modality by its centroids, from the others that are present, (B, D)."""
        logits = torch.stack(
            [
                layer(encodings[other].vector) * encodings[other].present.unsqueeze(1)
                for other, layer in self.weights[name].items()
            ]
        )
        return logits.float().sum(0).softmax(1) @ self.centroids[name].means

    def observe(self, encodings: Mapping[str, Encoding], batch: Batch) -> None:
        """See `Imputer`."""
        for name, item in encodings.items():
            self.centroids[name].add(item.vector[item.present].detach())

    def loss(self, step: PredictorStep, answers: TargetHeads) -> Loss | None:
        """See `Imputer`."""
        reconstruction, meta = self._reconstruction(step.encodings), self._meta(step, answers)
        total = self.settings.reconstruction * reconstruction + self.settings.meta * meta
        return Loss(total, {"reconstruction": reconstruction.detach(), "meta.nll": meta.detach()})

    def _reconstruction(self, encodings: Mapping[str, Encoding]) -> Tensor:
        """The mean squared error over embeddings that are there, of samples that have another modality, ()."""
        fixed = {name: item.map(Tensor.detach) for name, item in encodings.items()}
        errors, counts = [], []
        for name, item in fixed.items():
            rows = item.present & torch.stack([other.present for key, other in fixed.items() if key != name]).any(0)
            error = (self.predicted(name, fixed) - item.vector.float()).square().mean(1)
            errors.append((error * rows).sum())
            counts.append(rows.sum())
        return torch.stack(errors).sum() / torch.stack(counts).sum().clamp(min=1)

    def _meta(self, step: PredictorStep, answers: TargetHeads) -> Tensor:
        """The loss of the complete samples after the inner step, (); 0 without complete or incomplete ones, or in evaluation."""
        complete = torch.stack([item.present for item in step.kept.values()]).all(0)  # what features were made of
        if not self.settings.meta or not torch.is_grad_enabled() or bool(complete.all()) or not bool(complete.any()):
            return torch.zeros((), device=complete.device)
        inner = target_loss(step.found, known_where(step.batch, self.spec, ~complete), self.spec).total
        weights = dict(answers.named_parameters())
        slopes = torch.autograd.grad(inner, list(weights.values()), create_graph=True, allow_unused=True)
        moved = {
            name: weight if slope is None else weight - self.settings.rate * slope
            for (name, weight), slope in zip(weights.items(), slopes, strict=True)
        }
        found = functional_call(answers, moved, (step.features,))
        return target_loss(found, known_where(step.batch, self.spec, complete), self.spec).total

    def _regularised(self, name: str, vector: Tensor, generator: torch.Generator | None) -> Tensor:
        mean, raw = self.regularisation[name](vector).chunk(2, 1)
        if self.training:
            noise = torch.randn(mean.shape, generator=generator, device=mean.device, dtype=mean.dtype)
            mean = mean + noise * functional.softplus(raw)
        return vector * functional.softplus(mean)


def _near_one(layer: nn.Linear) -> nn.Linear:
    """A layer whose first half of outputs begins at softplus(r) = 1, with a small deviation in the second."""
    half = layer.out_features // 2
    nn.init.normal_(layer.weight, std=0.01)
    nn.init.constant_(layer.bias[:half], math.log(math.e - 1))
    nn.init.constant_(layer.bias[half:], -2.0)
    return layer
