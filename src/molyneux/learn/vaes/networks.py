"""What all models with codes share: encoders, decoders, likelihoods, scales and latent groups; presence masks and lengths."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace

import torch
from torch import Tensor, nn

from molyneux.core import Batch, Spec, SpecError, nearest
from molyneux.learn.encoders.by_modality import ModalityDict
from molyneux.learn.encoders.encoding import read_view
from molyneux.learn.encoders.nets import Net, default_net
from molyneux.learn.likelihoods import Scales, ViewDistribution, ViewLikelihood, likelihood_scales
from molyneux.learn.posteriors import Diagonal
from molyneux.learn.priors import LatentDims


@dataclass(frozen=True)
class Observation:
    """The observed modalities of a batch, each encoded once.

    Args:
        names: the M observed modalities; the order of `experts` and `present`.
        views: per modality (B, *shape), in the form models compute with; 0 where absent and padding beyond the lengths.
        lengths: of the modalities of which the batch has them, (B,) int64.
        present: (M, B) bool.
        experts: posteriors of the shared codes given each modality alone, loc (M, B, D); meaningless where absent.
        private: posteriors of private codes, (B, P), of the modalities that have any; the prior where absent.
    """

    names: tuple[str, ...]
    views: Mapping[str, Tensor]
    lengths: Mapping[str, Tensor]
    present: Tensor
    experts: Diagonal
    private: Mapping[str, Diagonal]

    def mask(self, name: str) -> Tensor:
        """Presence of a modality, (B,) bool."""
        return self.present[self.names.index(name)]

    def restrict(self, names: Collection[str]) -> Observation:
        """What was observed of some of these modalities."""
        kept = tuple(name for name in self.names if name in names)
        rows = [self.names.index(name) for name in kept]
        private = {name: part for name, part in self.private.items() if name in kept}
        return replace(self, names=kept, present=self.present[rows], experts=self.experts[torch.tensor(rows)], private=private)


class Networks(nn.Module):
    """An encoder, a decoder and a scale of the likelihood for each modality, and the latent groups between them.

    In a training step every modality is encoded once and decoded once, all posterior samples stacked along the batch.

    Args:
        spec: what the batches look like.
        dims: the latent groups. An encoder gives the parameters of the shared code first, then those of the private one.
        numbers: outputs of an encoder for each dimension of a code.
        nets: see `Autoencoder`.
        likelihoods: see `Autoencoder`.
        scales: see `Autoencoder`.
    """

    def __init__(
        self,
        spec: Spec,
        dims: LatentDims,
        *,
        numbers: int,
        nets: Mapping[str, Net],
        likelihoods: Mapping[str, ViewLikelihood],
        scales: Scales,
    ) -> None:
        super().__init__()
        self.spec, self.dims, self.numbers = spec, dims, numbers
        self.scales = likelihood_scales(spec, scales)
        self.encoders, self.decoders = ModalityDict[nn.Module](), ModalityDict[nn.Module]()
        for modality in spec.modalities:
            net = nets.get(modality.name) or default_net(modality)
            likelihood = likelihoods.get(modality.name) or net.likelihood(modality)
            own = dims.private.get(modality.name, 0)
            net.check_code(modality, one_random=numbers == 2 and not (dims.shared and own))
            code = dims.shared + own
            pair = net.pair(modality, outputs=numbers * code, inputs=code, likelihood=likelihood)
            self.encoders[modality.name], self.decoders[modality.name] = pair

    @property
    def fits_batches(self) -> bool:
        """Whether some likelihood is fitted to the codes of a batch, which must then be decoded together."""
        return self.training and any(getattr(module, "optimal", False) for module in self.decoders.modules())

    def observed(self, batch: Batch, observed: Collection[str] | None) -> tuple[str, ...]:
        """The modalities that are to be encoded, in the order of the spec: those `observed`, or all of the batch's.

        Raises:
            SpecError: a name that the spec lacks.
        """
        chosen = set(batch.views if observed is None else self.known(observed))
        return tuple(name for name in self.spec.names if name in chosen and (observed is not None or name in batch.views))

    def known(self, names: Collection[str]) -> tuple[str, ...]:
        """The same names; raises SpecError for one that the spec lacks."""
        return tuple(self.spec.modality(name).name for name in names)

    def observe(self, batch: Batch, names: tuple[str, ...], experts: Callable[[Tensor], Diagonal]) -> Observation:
        """Check, read and encode the modalities `names` (at least one) of a batch.

        Args:
            batch: the samples; raises SpecError if they do not fit the spec of the model.
            names: which modalities.
            experts: the posterior given one modality, from outputs of its encoder for a code, (..., numbers * D).
        """
        views, lengths, present = self.read(batch, names)
        parts = [self.encode(name, views[name], lengths.get(name)) for name in names]
        shared = self.numbers * self.dims.shared
        joint = experts(torch.stack([part[:, :shared] for part in parts]))
        private = {
            name: experts(part[:, shared:]).where(mask)
            for name, part, mask in zip(names, parts, present, strict=True)
            if name in self.dims.private
        }
        return Observation(names, views, lengths, present, joint, private)

    def read(self, batch: Batch, names: tuple[str, ...]) -> tuple[dict[str, Tensor], dict[str, Tensor], Tensor]:
        """Views, lengths and presence (M, B) of the modalities `names`, as in `Observation`; errors as `observe`."""
        batch.check(self.spec.restrict(names))
        views = {name: read_view(batch, self.spec, name) for name in names}
        lengths = {name: batch.lengths[name] for name in names if name in batch.lengths}
        return views, lengths, torch.stack([batch.mask(name) for name in names])

    def encode(self, name: str, view: Tensor, lengths: Tensor | None = None) -> Tensor:
        """What the encoder of a modality gives for views in model form, (B, numbers * D): the shared code first, then its own."""
        encoder = self.encoders[name]
        raw: Tensor = encoder(view) if lengths is None else encoder(view, lengths)
        return raw.float()

    def decode(self, name: str, shared: Tensor, private: Tensor | None = None, lengths: Tensor | None = None) -> ViewDistribution:
        """The distribution of one modality given shared codes (..., B, D) and private codes that broadcast to (..., B, P).

        Positions of views beyond `lengths` (B,) count nothing. Raises SpecError if codes do not have the model's dimensions.
        """
        wanted = self.dims.private.get(name, 0)
        got = 0 if private is None or not wanted else private.shape[-1]
        if shared.shape[-1] != self.dims.shared or got != wanted:
            raise SpecError(
                f"decoding {name}: expected codes of {self.dims.shared} shared and {wanted} private dimensions, "
                f"got {shared.shape[-1]} and {got}"
            )
        if private is not None and wanted:
            shared = torch.cat([shared, private.expand(*shared.shape[:-1], wanted)], dim=-1)
        distribution: ViewDistribution = self.decoders[name](shared)
        return distribution if lengths is None else distribution.masked(lengths)

    def log_likelihood(
        self,
        observation: Observation,
        name: str,
        shared: Tensor,
        private: Tensor | None = None,
        *,
        weight: Tensor | None = None,
    ) -> Tensor:
        """Log-likelihood of one modality given codes, (..., B) nats, unscaled; 0 where it is absent.

        With a `weight` (..., B), parameters that are fitted to the batch count each code by it; None fits none.
        """
        target, present = observation.views[name], observation.mask(name)
        distribution = self.decode(name, shared, private, observation.lengths.get(name))
        if weight is not None:
            distribution = distribution.fitted(target, weight * present)
        return distribution.log_prob(target) * present


def unknown_names(spec: Spec, by_modality: Mapping[str, Collection[str]]) -> list[str]:
    """A problem for each modality that a setting names and the spec lacks."""
    return [
        f"{what}: no modality {name!r}; {nearest(name, spec.names)}"
        for what, settings in by_modality.items()
        for name in settings
        if name not in spec.names
    ]
