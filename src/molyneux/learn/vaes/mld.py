"""MLD: autoencoders of single modalities, and a diffusion model of their codes."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import fields
from typing import ClassVar

import numpy as np
import torch
from torch import Tensor, nn
from torch.distributions import Distribution

from molyneux.core import (
    Batch,
    Codes,
    ConfigError,
    DataError,
    Epoch,
    FitStore,
    Loss,
    Posterior,
    Progress,
    Source,
    Spec,
    SpecError,
    seeds,
)
from molyneux.core.tooling.moved import moved
from molyneux.learn.checks import levels_below_zero, refuse
from molyneux.learn.diffusion.code_diffusion import CodeDiffusion
from molyneux.learn.diffusion.fit import CodePosteriors, fit_denoiser
from molyneux.learn.diffusion.multitime import DiffusedCodes, Drawing, multitime_loss
from molyneux.learn.encoders.nets import Net
from molyneux.learn.likelihoods import Scales, ViewLikelihood
from molyneux.learn.posteriors import Diagonal, DiagonalNormal, Point, expert_parameters
from molyneux.learn.priors import ExPostMixture, FittedPrior, LatentDims
from molyneux.learn.priors.fitted_flow import ExPostFlow
from molyneux.learn.vaes.joint_encoder import stage_of
from molyneux.learn.vaes.networks import Networks, Observation, unknown_names

_MOST, _CHUNK = 4096, 512
"""Samples whose codes are standardised by, and how many are encoded at once."""


class MLD(nn.Module):
    """Bounoua, Franzese & Michiardi, Multi-Modal Latent Diffusion (Entropy 26(4), 2024; arXiv 2306.04445).

    First a deterministic autoencoder of each modality, `-sum_m log p(x_m|z_m)`. Then, with these fixed, a diffusion model of
    their codes side by side and standardised, in which each modality has a time of its own (`multitime_loss`): those that are
    observed stay at time 0 while the others are drawn, so that any modalities are generated from any others. The training names
    the stages:

        stages: [{name: autoencoders, epochs: 20}, {name: diffusion, epochs: 50}]

    In a training without stages both losses are minimised at once, the second with codes as constants. With `after` the training
    is that of the autoencoders alone, and the diffusion model is fitted in the end (`post_fit`), to codes that are computed once.

    The shared code is that of all modalities side by side, in the order of the spec. Satisfies `core.Trainable`, `Encodes`,
    `Decodes`, `Priors`, `Representation`, `EpochStart` and `PostFit`. It has no likelihood: neither codes nor what is drawn have
    a known density.

    Deviations from the paper: the net predicts velocities instead of scores; it is a multilayer perceptron with residual blocks
    and not in the form of a U-net, but for codes on a grid; each modality counts the same in its loss; the parts that are given
    are drawn for each sample; codes are drawn along the probability flow, in fewer steps, without the repeated noise of RePaint;
    a running mean of the weights with `after` alone.

    A `rate` makes the autoencoders variational: `-sum_m log p(x_m|z_m) + rate sum_m KL(q(z_m|x_m) || N(0, I))`, as in Rombach et
    al., High-Resolution Image Synthesis with Latent Diffusion Models (CVPR 2022), section 3.1, where the rate is very small.
    Codes near each other then decode alike. The diffusion model learns from codes that are drawn, or with `after: {spread: 0}`
    from their means; those given are means.

    Where modalities are missing, they have no distortion, and are noise to the diffusion model, which learns nothing of them.

    Args:
        spec: what the batches look like.
        latent_dim: dimensions of the codes, one number for all modalities or numbers by modality.
        rate: weight of the divergence of codes from the standard normal distribution; 0 has deterministic autoencoders.
        diffusion: settings of the diffusion model; its `redrawn` are modalities of the spec.
        prior: a density that is fitted to the same codes in the end, to be compared with the diffusion model (`priors`).
        nets: by modality; the default of its kind for what is not named.
        likelihoods: by modality; the default of its kind for what is not named.
        scales: weights of the modalities' log-likelihoods in the loss.

    Raises:
        ConfigError: settings that cannot be used, all problems at once.
        SpecError: a net or likelihood that does not fit its modality.
    """

    needs_views: ClassVar[bool] = True
    """Training refuses a sample without any modality; see `Autoencoder`."""

    centre: Tensor
    spread: Tensor

    @moved(**{item.name: f"diffusion.{item.name}" for item in fields(CodeDiffusion)})
    def __init__(
        self,
        spec: Spec,
        *,
        latent_dim: int | Mapping[str, int] = 16,
        rate: float = 0.0,
        diffusion: CodeDiffusion = CodeDiffusion(),  # noqa: B008 - frozen
        prior: ExPostMixture | ExPostFlow | None = None,
        nets: Mapping[str, Net] | None = None,
        likelihoods: Mapping[str, ViewLikelihood] | None = None,
        scales: Scales = "none",
    ) -> None:
        super().__init__()
        nets, likelihoods = nets or {}, likelihoods or {}
        sizes = dict.fromkeys(spec.names, latent_dim) if isinstance(latent_dim, int) else dict(latent_dim)
        problems = [
            f"latent_dim.{name}: expected at least 1, got {sizes.get(name, 0)}" for name in spec.names if sizes.get(name, 0) < 1
        ]
        problems += levels_below_zero(rate=rate)
        if strangers := [name for name in diffusion.redrawn if name not in spec.names]:
            problems.append(f"diffusion.redrawn: expected names among {', '.join(spec.names)}, got {', '.join(strangers)}")
        refuse([*problems, *unknown_names(spec, {"nets": nets, "likelihoods": likelihoods, "latent_dim": sizes})])
        self.spec, self.rate, self.diffusion, self.after = spec, rate, diffusion, diffusion.after
        self.redrawn = tuple(spec.names.index(name) for name in diffusion.redrawn)
        self.sizes = {name: sizes[name] for name in spec.names}
        dims = LatentDims(0, self.sizes)
        self.networks = Networks(spec, dims, numbers=2 if rate else 1, nets=nets, likelihoods=likelihoods, scales=scales)
        on_grid = {name: grid for name, net in nets.items() if (grid := net.code_grid(spec.modality(name)))}
        self.denoiser = diffusion.net(self.sizes, on_grid)
        self.fitted = None if prior is None else FittedPrior(prior, LatentDims(sum(self.sizes.values())))
        self.register_buffer("centre", torch.zeros(sum(self.sizes.values())))
        self.register_buffer("spread", torch.ones(sum(self.sizes.values())))

    def loss(self, batch: Batch, progress: Progress, generator: torch.Generator | None = None) -> Loss:
        """The distortions and the error of the diffusion model, or one of them, by stage; see `core.Trainable`.

        Raises:
            ConfigError: the training has a stage of another name.
        """
        stage = self._stage(progress)
        if not len(batch):
            raise DataError("expected at least one sample in a batch for its loss, a mean over them, got none: leave it out")
        with torch.set_grad_enabled(torch.is_grad_enabled() and stage != "diffusion"):
            observation = self._observe(batch, self.spec.names)
            codes = {name: observation.private[name].rsample((), generator) for name in observation.names}
            terms = {} if stage == "diffusion" else self._distortions(observation, codes)
            weights = {name: self.networks.scales[name.removeprefix("distortion.")] for name in terms}
            if self.rate and terms:
                terms |= self._rates(observation)
        costs = [weights.get(name, self.rate) * term for name, term in terms.items()]
        if stage != "autoencoders":
            scaled = (torch.cat(list(codes.values()), -1).detach() - self.centre) / self.spread
            sizes = tuple(self.sizes.values())
            drawn = (sizes, self.diffusion.given_share, generator, self.diffusion.schedule)
            each = multitime_loss(self.denoiser, scaled, observation.present.T, *drawn, alone=self.diffusion.alone_share)
            terms["diffusion"] = each.mean()
            costs.append(terms["diffusion"])
        return Loss(torch.stack(costs).sum(), {name: term.detach() for name, term in terms.items()})

    @torch.no_grad()
    def post_fit(self, source: Source, *, seed: int, kept: FitStore | None = None) -> None:
        """Fit what is fitted to codes of training samples: the diffusion model with `after`, and `prior`; see `core.PostFit`."""
        if self.fitted is not None:
            self._fit_prior(self.fitted, source, seed)
        if self.after is None:
            return
        rng = seeds.generator(seed, "diffusion", "positions")
        mean, variance, present, shown = self._codes_of(source, self.after.samples, rng)
        self._standardise(mean.where(shown, torch.nan), variance)
        codes = CodePosteriors((mean - self.centre) / self.spread, variance.sqrt() / self.spread, present)
        start = int(seeds.key(seed, "diffusion", "fit")[0] >> 1)
        shares, schedule = {"share": self.diffusion.given_share, "alone": self.diffusion.alone_share}, self.diffusion.schedule
        fit_denoiser(self.denoiser, codes, **shares, settings=self.after, seed=start, schedule=schedule, kept=kept)

    @property
    def post_fit_weights(self) -> tuple[str, ...]:
        """Those of `prior`, and with `after` those of the diffusion model; see `core.PostFitWeights`."""
        return ("fitted.*", *(() if self.after is None else ("denoiser.*", "centre", "spread")))

    def post_fit_precision(self, device: str) -> tuple[str, str] | None:
        """What `after` asks for and what the fit uses on a device of this type; None without `after`."""
        if self.after is None:
            return None
        return self.after.precision, "bf16" if self.after.uses_bf16(self.denoiser.width, device) else "32"

    @torch.no_grad()
    def start_epoch(self, epoch: Epoch) -> None:
        """Find the means and standard deviations that codes are standardised by; see `core.EpochStart`."""
        if epoch.progress.stage == "autoencoders" or self.after is not None:
            return
        size = min(len(epoch.train), _MOST)
        positions = np.linspace(0, len(epoch.train) - 1, size).round().astype(np.int64)
        device, found = self.centre.device, []
        for start in range(0, size, _CHUNK):
            observation = self._observe(epoch.train.batch(positions[start : start + _CHUNK]).to(device), self.spec.names)
            masked = [
                observation.private[name].mean.where(observation.mask(name).unsqueeze(-1), torch.nan) for name in self.spec.names
            ]
            found.append(torch.cat(masked, -1))
        self._standardise(torch.cat(found))

    def encode(self, batch: Batch, observed: Collection[str] | None = None) -> Posterior:
        """The codes of what is observed, and a distribution of those of the other modalities given these; see `core.Encodes`."""
        names = self.networks.observed(batch, observed)
        if not names:
            return self.prior(len(batch))
        observation = self._observe(batch, names)
        empty = self.centre.new_zeros(len(batch), 1)
        codes = torch.cat(
            [observation.private[n].mean if n in names else empty.expand(-1, size) for n, size in self.sizes.items()], -1
        )
        known = torch.stack([observation.mask(n) if n in names else empty[:, 0] > 0 for n in self.sizes], -1)
        return self._posterior((codes - self.centre) / self.spread, known, self.redrawn)

    def decode(self, codes: Codes, only: Collection[str] | None = None) -> dict[str, Distribution]:
        """A distribution over views per modality; see `core.Decodes`."""
        total = len(self.centre)
        if codes.shared.shape[-1] != total:
            raise SpecError(f"decoding: expected codes of {total} shared dimensions, got {codes.shared.shape[-1]}")
        parts = dict(zip(self.sizes, torch.split(codes.shared, list(self.sizes.values()), -1), strict=True))
        names = self.spec.names if only is None else self.networks.known(only)
        return {name: self.networks.decode(name, codes.shared[..., :0], parts[name]) for name in names}

    def prior(self, size: int) -> Posterior:
        """What the diffusion model draws where nothing is observed; see `core.Decodes`."""
        return self._unconditional(size, self.redrawn)

    @property
    def priors(self) -> Mapping[str, Callable[[int], Posterior]]:
        """What codes can be drawn from without observations; see `core.Priors`.

        `loss`: that of the autoencoders' rate, N(0, I), where they have one. `diffusion`: the diffusion model, all modalities
        drawn together. `redrawn`: the same, and then those of `redrawn` anew, which is what `prior` draws. `fitted`: the density
        of the setting `prior`.
        """
        total = len(self.centre)
        found: dict[str, Callable[[int], Posterior]] = {}
        if self.rate:
            found["loss"] = lambda size: Posterior(DiagonalNormal.standard((size, total), self.centre))
        found["diffusion"] = lambda size: self._unconditional(size, ())
        if self.redrawn:
            found["redrawn"] = self.prior
        return found if self.fitted is None else {**found, "fitted": self.fitted.of}

    def represent(self, batch: Batch, observed: Collection[str] | None = None) -> dict[str, Tensor]:
        """The codes of what is observed, and the means of those of the other modalities; see `core.Representation`."""
        return {"shared": self.encode(batch, observed).shared.mean}

    def _observe(self, batch: Batch, names: tuple[str, ...]) -> Observation:
        return self.networks.observe(batch, names, self._posteriors)

    def _posteriors(self, raw: Tensor) -> Diagonal:
        return DiagonalNormal(*expert_parameters(raw)) if self.rate else Point(raw.float())

    def _codes_of(self, source: Source, samples: int, rng: np.random.Generator) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """Means and variances of codes of random samples, (N, D), and what is present, (N, M), and by dimension, (N, D)."""
        positions = np.sort(rng.permutation(len(source))[:samples])
        parts = np.split(positions, range(_CHUNK, len(positions), _CHUNK))
        found = [self._code_posteriors(source.batch(part).to(self.centre.device)) for part in parts]
        mean, variance, present = (torch.cat(part) for part in zip(*found, strict=True))
        return mean, variance, present, present.repeat_interleave(torch.tensor(tuple(self.sizes.values()), device=mean.device), 1)

    def _fit_prior(self, prior: FittedPrior, source: Source, seed: int) -> None:
        """Fit a density to codes that are drawn, of samples of which nothing is missing."""
        rng = seeds.generator(seed, "prior", "positions")
        mean, variance, _, shown = self._codes_of(source, prior.settings.samples, rng)
        noise = seeds.generator(seed, "prior", "codes").standard_normal(mean.shape)
        codes = (mean.double() + variance.double().sqrt() * torch.from_numpy(noise).to(mean.device)).where(shown, torch.nan)
        prior.shared.fit(codes.cpu().numpy(), int(seeds.key(seed, "prior", "fit")[0] % 2**32))

    def _code_posteriors(self, batch: Batch) -> tuple[Tensor, Tensor, Tensor]:
        """Means and variances of the codes of a batch, (B, D) each, and what is present, (B, M)."""
        observation = self._observe(batch, self.spec.names)
        posteriors = [observation.private[name] for name in self.sizes]
        means, variances = ([getattr(each, what) for each in posteriors] for what in ("mean", "variance"))
        return torch.cat(means, -1), torch.cat(variances, -1), observation.present.T

    def _stage(self, progress: Progress) -> str:
        """The stage of the training; with `after` there is one alone."""
        stage = stage_of(progress, "autoencoders", "diffusion")
        if self.after is None:
            return stage
        if stage == "diffusion":
            raise ConfigError("stages: expected autoencoders alone, got diffusion: with `after` the diffusion model has no stage")
        return "autoencoders"

    def _standardise(self, codes: Tensor, variance: Tensor | float = 0.0) -> None:
        """Set centre and spread by codes (N, D), NaN where absent, or by their means and variances."""
        centre = codes.nanmean(0).nan_to_num(0.0)
        spread = ((codes - centre).square() + variance).nanmean(0).nan_to_num(1.0).sqrt()
        self.centre.copy_(centre)
        self.spread.copy_(spread.clamp_min(1e-6))

    def _rates(self, observation: Observation) -> dict[str, Tensor]:
        """Mean divergence of the codes of each modality from the standard normal distribution, nats; 0 where it is absent."""
        divergences = {name: observation.private[name].kl_per_dimension().sum(-1) for name in observation.names}
        return {f"rate.{name}": (each * observation.mask(name)).mean() for name, each in divergences.items()}

    def _distortions(self, observation: Observation, codes: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """Mean negative log-likelihood of each modality given its own code, nats."""
        found = {}
        for name, code in codes.items():
            each = self.networks.log_likelihood(observation, name, code[:, :0], code, weight=torch.ones_like(code[:, 0]))
            found[f"distortion.{name}"] = -each.mean()
        return found

    def _unconditional(self, size: int, redrawn: tuple[int, ...]) -> Posterior:
        codes = self.centre.new_zeros(size, len(self.centre))
        return self._posterior(codes, torch.zeros(size, len(self.sizes), dtype=torch.bool, device=codes.device), redrawn)

    def _posterior(self, codes: Tensor, known: Tensor, redrawn: tuple[int, ...]) -> Posterior:
        settings, sizes = self.diffusion, tuple(self.sizes.values())
        drawing = Drawing(settings.steps, settings.schedule, settings.solver, redrawn, alone=settings.alone_share > 0)
        return Posterior(DiffusedCodes(self.denoiser, codes, known, sizes, drawing, centre=self.centre, spread=self.spread))
