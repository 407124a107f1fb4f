"""IDMVAE: MMVAE+ with terms that say what the shared code and the private codes are to tell."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Unpack

import torch
from torch import Tensor
from torch.nn import functional

from molyneux.core import Batch, Loss, Progress, Spec
from molyneux.learn.checks import levels_below_zero, not_positive
from molyneux.learn.vaes.autoencoder import reporting
from molyneux.learn.vaes.mmvae_plus import Family, MMVAEPlus
from molyneux.learn.vaes.multimodal import MultimodalSettings
from molyneux.learn.vaes.networks import Observation


class IDMVAE(MMVAEPlus):
    """Zhang, Shen & Wang, Disentanglement of Variations with Multimodal Generative Modeling (ICLR 2026).

    The bound of MMVAE+, and two terms with InfoNCE `N(a, b)` between two sets of codes of the same samples (`nt_xent`), which is
    low where the two codes of a sample are more alike than those of different samples:

    - `cross`: shared codes of a sample agree whatever modality they are of, `1/(M - 1) sum_{m != n} N(z_m, z_n)`.
    - `augmentation`: a view that is generated of the shared code of one sample and the private code of another is encoded again,
      and each of its two codes is to be that of the sample it came from, `1/2 sum_m [N(z_m, z'_m) + N(w_m, w'_m)]`.

    Codes in `N` are means of posteriors; views are generated of codes that are drawn. The terms compare the samples of a
    batch, so that the loss depends on which are in it.

    Follows the authors' code, https://github.com/chatzikon/IDMVAE (`compute_idmvae_loss`); the paper was not at hand.
    Deviations from it: those of `MMVAEPlus`; generated symbols, such as captions, are encoded as the most probable ones, so that
    their gradient does not reach the decoder; both halves of `augmentation` mix the same codes; the diffusion models of codes
    that are trained along are not here (a `prior` is fitted in the end).

    Where modalities are missing, codes are compared among the samples that have both, and each term counts them by their share.

    Args:
        spec: see `MultimodalVAE`, as the settings in `**shared`.
        private_dim: see `MMVAEPlus`.
        family: see `MMVAEPlus`; "normal" is the authors' choice.
        cross: weight of the agreement of shared codes. 80 and 20 for the next are the authors' for PolyMNIST in quadrants.
        augmentation: weight of the codes of generated views.
        temperature: of `N`.
    """

    def __init__(
        self,
        spec: Spec,
        *,
        private_dim: int | Mapping[str, int] = 10,
        family: Family = "normal",
        cross: float = 80.0,
        augmentation: float = 20.0,
        temperature: float = 1.0,
        **shared: Unpack[MultimodalSettings],
    ) -> None:
        with reporting(levels_below_zero(cross=cross, augmentation=augmentation) + not_positive(temperature=temperature)):
            super().__init__(spec, private_dim=private_dim, family=family, **shared)
        self.cross, self.augmentation, self.temperature = cross, augmentation, temperature

    @property
    def whole_batch(self) -> str:
        """What of the loss is no mean over samples: see `objectives.Criterion`."""
        return "contrastive terms" if self.cross or self.augmentation else ""

    def loss(self, batch: Batch, progress: Progress, generator: torch.Generator | None = None) -> Loss:
        """The negative bound of MMVAE+ and the two terms; see `core.Trainable`."""
        observation = self.observe_samples(batch)
        found = self.bound(observation, self.stacked(observation, generator), progress, generator)
        total, terms = found.total, dict(found.terms)
        if self.cross:
            agreement = self._cross(observation)
            total, terms["cross"] = total + self.cross * agreement, agreement.detach()
        if self.augmentation:
            mixed = self._augmentation(observation, generator)
            total, terms["augmentation"] = total + self.augmentation * mixed, mixed.detach()
        return Loss(total, terms)

    def _cross(self, observation: Observation) -> Tensor:
        """The agreement of shared codes of different modalities; `N` is symmetric, so that each pair stands for two."""
        loc, present = observation.experts.loc, observation.present
        count, total = len(observation.names), loc.new_zeros(())
        for first in range(count):
            for second in range(first):
                both = present[first] & present[second]
                total = total + 2 * self._compared(loc[first][both], loc[second][both], len(both))
        return total / max(1, count - 1)

    def _augmentation(self, observation: Observation, generator: torch.Generator | None) -> Tensor:
        """What encoders read of views that mix the codes of two samples, each the next one's that has the modality."""
        total = observation.experts.loc.new_zeros(())
        for number, name in enumerate(observation.names):
            rows = observation.present[number].nonzero().squeeze(1)
            if len(rows):
                total = total + self._mixed(observation, number, name, rows, generator)
        return total / 2

    def _mixed(self, observation: Observation, number: int, name: str, rows: Tensor, generator: torch.Generator | None) -> Tensor:
        """The part of one modality, over the samples that have it; all views of it are decoded, and encoded, in one call."""
        size, private = observation.present.shape[1], observation.private.get(name)
        shared = observation.experts[number].rsample((), generator)[rows]
        own = None if private is None else private.rsample((), generator)[rows]
        mixed = None if own is None else torch.cat([own.roll(1, 0), own])
        view = self.networks.decode(name, torch.cat([shared, shared.roll(1, 0)]), mixed).view
        lengths = observation.lengths.get(name)
        raw = self.networks.encode(name, view, None if lengths is None else lengths[rows].repeat(2))
        split = self.numbers * self.networks.dims.shared
        found = self._compared(observation.experts.loc[number][rows], self.experts(raw[: len(rows), :split]).mean, size)
        if private is not None:
            found = found + self._compared(private.mean[rows], self.experts(raw[len(rows) :, split:]).mean, size)
        return found

    def _compared(self, first: Tensor, second: Tensor, size: int) -> Tensor:
        """`N` of codes (n, D) of the same samples, times their share of a batch of `size`."""
        return nt_xent(first, second, self.temperature) * (len(first) / size) if len(first) else first.sum()


def nt_xent(first: Tensor, second: Tensor, temperature: float = 1.0) -> Tensor:
    """InfoNCE between codes (N, D) of the same N samples, with all 2 N - 1 other codes to compare with; a mean over the 2 N.

    Chen et al., A Simple Framework for Contrastive Learning of Visual Representations (ICML 2020), equation 1, by the cosine.
    """
    codes = functional.normalize(torch.cat([first, second]), dim=1)
    alike = (codes @ codes.T / temperature).fill_diagonal_(-torch.inf)
    others = torch.arange(len(codes), device=codes.device).roll(len(first))
    return functional.cross_entropy(alike, others)
