"""VAEAgreement: a multimodal VAE says how much more probable a text is given the picture than without it."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from typing import Annotated

import numpy as np
import torch
from torch import Tensor, nn

from molyneux.core import (
    Batch,
    CodeDistribution,
    ConditionalCode,
    ConfigError,
    FitStore,
    Loss,
    NotApplicableError,
    Progress,
    Source,
    Spec,
    SpecError,
    seeds,
)
from molyneux.core.config import Factory, Supplied
from molyneux.learn.checks import refuse
from molyneux.learn.encoders.encoding import read_view
from molyneux.learn.posteriors import Diagonal, MixturePosterior
from molyneux.learn.predictors.head import Head
from molyneux.learn.predictors.predictor import Predictor, modality_names
from molyneux.learn.vaes import MultimodalVAE

HEAD = Head(layers=0)
ROWS = 1024
"""Codes that are decoded at once."""
NEWTON_STEPS = 30
"""Steps of the logistic regression."""


class VAEAgreement(Predictor):
    """Whether a text fits a picture by the likelihoods of a multimodal VAE that has learned pairs which agree.

    The score of a pair is `log p(text | picture) - log p(text)`, the pointwise mutual information of its two sides. The first
    term is the logarithm of the mean of `p(text | z)` over codes z of the posterior given the picture, the second the
    importance-weighted bound of Burda et al. (ICLR 2016, equation 8) with codes of the posterior given the text and of the
    prior; both with the same noise for all samples. The VAE trains on the pairs of a batch that are known to agree, by its own
    loss. After training, the probability of agreement is fitted to scores of training samples by logistic regression, so its
    threshold is not a setting.

    Args:
        spec: of the samples; their one target is of the task agreement.
        vae: class and settings of the VAE; without a prior that is fitted after training.
        k: codes of each estimate.
        calibration: training samples that the probability is fitted to, at most.
        image: name of the modality of kind image; needed only where the samples have several.
        text: name of the modality of kind text, as `image`.

    Raises:
        ConfigError: settings that cannot be used. SpecError: another target.
    """

    def __init__(
        self,
        spec: Spec,
        *,
        vae: Annotated[Factory[MultimodalVAE], Supplied(("spec",), "molyneux.learn")],
        k: int = 16,
        calibration: int = 2000,
        image: str = "",
        text: str = "",
    ) -> None:
        super().__init__(spec)
        sizes = {"k": k, "calibration": calibration}
        refuse(f"{name}: expected at least 1, got {value}" for name, value in sizes.items() if value < 1)
        if [target.task for target in spec.targets] != ["agreement"]:
            found = ", ".join(f"{target.name} ({target.task})" for target in spec.targets)
            raise SpecError(f"VAEAgreement predicts one target of the task agreement, but the samples have {found}")
        self.image, self.text = modality_names(spec, image=image, text=text)
        self.k, self.calibration = k, calibration
        self.vae = vae.make("vae", spec=spec.restrict([self.image, self.text]))
        if self.vae.replaces_prior:
            raise ConfigError("vae.init_args.prior: expected none, since scores need the prior of the loss: leave it out")
        self.answer_from(1, HEAD)
        self.answers.requires_grad_(False)  # fitted after training
        self._calibrate(1.0, 0.0)

    def loss(self, batch: Batch, progress: Progress, generator: torch.Generator | None = None) -> Loss:
        """The loss of the VAE on the pairs that agree; 0 where there are none."""
        self.check_targets(batch)
        name = self.spec.targets[0].name
        agree = batch.known_mask(name) & (batch.targets[name] == 1)
        if bool(agree.any()):
            return self.vae.loss(batch[agree], progress, generator)
        return Loss(torch.stack([parameter.sum() for parameter in self.vae.parameters()]).sum() * 0)

    def features(self, batch: Batch, observed: Collection[str] | None = None) -> Tensor:
        """The score of each pair in nats, (B, 1); 0 where picture or text is missing, which tells nothing."""
        names = set(batch.views if observed is None else (self.spec.modality(name).name for name in observed))
        like = next(self.parameters())
        if not {self.image, self.text} <= names or not len(batch):
            return torch.zeros(len(batch), 1, device=like.device)
        both = batch.mask(self.image) & batch.mask(self.text)
        return self.scores(batch).masked_fill(~both, 0.0).unsqueeze(1)

    @torch.no_grad()
    def scores(self, batch: Batch) -> Tensor:
        """`log p(text | picture) - log p(text)` of each pair, (B,) nats."""
        return self._estimate(batch, self.image) - self._estimate(batch, self.text)

    def _estimate(self, batch: Batch, source: str) -> Tensor:
        """Log-likelihood of the texts, (B,) nats, by codes of the posterior given `source`.

        Given the text itself, codes are weighed by `p(z) / q(z)`, where q is half the posterior, half the prior, so that no
        weight is above 2 (the defensive mixture of Hesterberg, Technometrics 1995).
        """
        posterior = self.vae.encode(batch, [source])
        private = [part for name, part in posterior.private.items() if name == self.text]
        parts = [_diagonal(part) for part in (posterior.shared, *private)]
        noise = seeds.torch_generator(0, "learn", "agreement", source, device=batch.views[source].device.type)
        own = self.k if source == self.image else -(-self.k // 2)
        codes = [_drawn(part, own, noise) for part in parts]
        weight = torch.zeros_like(codes[0][..., 0])
        if source == self.text:
            priors = [part.standard(tuple(part.loc.shape), part.loc) for part in parts]
            more = [_drawn(prior, self.k - own, noise) for prior in priors]
            codes = [torch.cat(pair) for pair in zip(codes, more, strict=True)]
            weight = _log_weights(parts, priors, codes, own / self.k)
        view, lengths = read_view(batch, self.vae.spec, self.text), batch.lengths.get(self.text)
        found = []
        for rows in torch.split(torch.arange(self.k), max(1, ROWS // len(batch))):
            own_code = codes[1][rows] if len(codes) > 1 else None
            texts = self.vae.networks.decode(self.text, codes[0][rows], own_code, lengths)
            found.append(texts.log_prob(view) + weight[rows])
        return torch.cat(found).logsumexp(0) - math.log(self.k)

    def post_fit(self, source: Source, *, seed: int, kept: FitStore | None = None) -> None:
        """Fit the probability of agreement to scores of training samples; see `core.PostFit`."""
        rows = seeds.generator(seed, "learn", "agreement").permutation(len(source))[: self.calibration]
        scores, truth, name = list[Tensor](), list[Tensor](), self.spec.targets[0].name
        device = next(self.parameters()).device
        for part in np.array_split(np.sort(rows), -(-len(rows) // 256)):
            batch = source.batch(part).to(device)
            known = batch.known_mask(name)
            scores.append(self.features(batch)[known, 0])
            truth.append(batch.targets[name][known])
        self._calibrate(*logistic_fit(torch.cat(scores).double().cpu(), torch.cat(truth).double().cpu()))

    @property
    def post_fit_weights(self) -> tuple[str, ...]:
        """Those of the answer; see `core.PostFitWeights`."""
        return ("answers.*",)

    def _calibrate(self, slope: float, offset: float) -> None:
        last = self.answers.outputs[self.spec.targets[0].name].last
        nn.init.constant_(last.weight, slope)
        nn.init.constant_(last.bias, offset)


def logistic_fit(scores: Tensor, truth: Tensor) -> tuple[float, float]:
    """Slope and offset of the logistic regression of `truth` (N,) 0 or 1 on scores (N,), by Newton's method.

    A slight penalty of the slope keeps it finite where scores separate the two. Without both answers among at least two different
    scores there is nothing to fit, and it is 1 and 0.
    """
    if len(truth) < 2 or truth.min() == truth.max() or scores.min() == scores.max():
        return 1.0, 0.0
    centre, spread = scores.mean(), scores.std()
    inputs = torch.stack([(scores - centre) / spread, torch.ones_like(scores)], 1)
    weight, penalty = torch.zeros(2, dtype=scores.dtype), torch.tensor([1e-3, 0.0], dtype=scores.dtype) * len(truth)
    for _ in range(NEWTON_STEPS):
        probability = (inputs @ weight).sigmoid()
        gradient = inputs.t() @ (probability - truth) + penalty * weight
        curvature = inputs.t() @ (inputs * (probability * (1 - probability)).unsqueeze(1)) + torch.diag(penalty + 1e-9)
        weight = weight - torch.linalg.solve(curvature, gradient)
    slope = float(weight[0] / spread)
    return slope, float(weight[1] - slope * centre)


def _diagonal(part: CodeDistribution | ConditionalCode) -> Diagonal:
    """The posterior given one modality, which may be a mixture of one component."""
    found = part.components[0] if isinstance(part, MixturePosterior) and len(part.weights) == 1 else part
    if not isinstance(found, Diagonal):
        kind = type(part).__name__
        raise NotApplicableError(f"VAEAgreement needs a normal or Laplace posterior given one modality, got {kind}: choose MVAE")
    return found


def _drawn(part: Diagonal, count: int, noise: torch.Generator) -> Tensor:
    """Codes (count, B, D), with the same noise for every sample, so that no sample's score depends on the others of its batch."""
    unit = type(part)(torch.zeros_like(part.loc[:1]), torch.zeros_like(part.loc[:1]))
    return part.loc + part.stddev * unit.rsample((count,), noise)


def _log_weights(parts: Sequence[Diagonal], priors: Sequence[Diagonal], codes: Sequence[Tensor], share: float) -> Tensor:
    """`log p(z) - log (share q(z) + (1 - share) p(z))` of the codes of all parts, (k, B, D) each, (k, B) nats."""
    own, prior = (
        torch.stack([one.log_prob(code) for one, code in zip(side, codes, strict=True)]).sum(0) for side in (parts, priors)
    )
    if share == 1:
        return prior - own
    return prior - torch.logaddexp(own + math.log(share), prior + math.log(1 - share))
