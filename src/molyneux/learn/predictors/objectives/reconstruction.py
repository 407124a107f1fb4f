"""Decoders of the modalities for auxiliary objectives, and what a reconstruction costs: nats, squared error or as published."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, get_args

from torch import Tensor, nn
from torch.nn import functional

from molyneux.core import Batch, Kind, Modality, Spec, nearest
from molyneux.learn.checks import refuse
from molyneux.learn.encoders.by_modality import ModalityDict
from molyneux.learn.encoders.encoding import read_view
from molyneux.learn.encoders.nets import Net, default_net
from molyneux.learn.likelihoods import default_likelihood
from molyneux.learn.predictors.objectives.auxiliary import PredictorStep

Reconstruction = Literal["likelihood", "mse", "sigmoid"]
"""What a reconstruction costs.

- "likelihood": its negative log-likelihood in nats, summed over a view, by the usual likelihood of the kind: Bernoulli for
  images and videos, whose numbers lie in 0..1, categorical for symbols, else normal.
- "mse": the mean squared error of the numbers.
- "sigmoid": the mean of `sigmoid_cross_entropy`. With both, symbols cost the mean nats of one.
"""


class Reconstructions(nn.Module):
    """A decoder for each modality, from codes to the cost of its views.

    Args:
        spec: of the samples.
        names: of the modalities.
        decoders: nets by the name of a modality or by a kind; a name wins, and what is in neither has the default of its kind.
        inputs: numbers of a code.
        kind: of the cost.

    Raises:
        ConfigError: a name of a decoder that is no modality or kind.
        SpecError: a net does not fit its modality.
    """

    def __init__(
        self, spec: Spec, names: tuple[str, ...], decoders: Mapping[str, Net], inputs: int, kind: Reconstruction
    ) -> None:
        super().__init__()
        known = {*names, *get_args(Kind)}
        unknown = [name for name in decoders if name not in known]
        refuse(f"decoders: no modality or kind {name!r}; {nearest(name, known)}" for name in unknown)
        self.decoders = ModalityDict[ViewReconstruction]()
        for name in names:
            modality = spec.modality(name)
            net = decoders.get(name) or decoders.get(modality.kind) or default_net(modality)
            self.decoders[name] = ViewReconstruction(modality, net, inputs, kind)

    def forward(self, name: str, codes: Tensor, step: PredictorStep) -> Tensor:
        """What the views of the samples that have a modality cost, (..., n), from codes (..., B, inputs) of all samples.

        Only the codes of these are decoded, so that nothing else enters a batch normalisation.
        """
        rows = step.encodings[name].present
        if not bool(rows.any()):
            return codes[..., rows, 0].float()
        batch = Batch({name: step.batch.views[name]}, lengths=lengths_of(step.batch, name))[rows]
        cost: Tensor = self.decoders[name](codes[..., rows, :], batch, step.spec)
        return cost


class ViewReconstruction(nn.Module):
    """The decoder of one modality, and what its reconstructions cost; see `Reconstructions`."""

    def __init__(self, modality: Modality, net: Net, inputs: int, kind: Reconstruction) -> None:
        super().__init__()
        self.modality, self.kind = modality, kind
        self.whole = kind == "likelihood" or bool(modality.symbols)
        likelihood = default_likelihood(modality)
        self.decoder = net.decoder(modality, inputs, likelihood) if self.whole else net.body(modality, inputs, 1)

    def forward(self, codes: Tensor, batch: Batch, spec: Spec) -> Tensor:
        """Costs (..., n) of the views of n samples, given codes (..., n, inputs)."""
        modality, name = self.modality, self.modality.name
        view, lengths = read_view(batch, spec, name), batch.lengths.get(name)
        share = 1.0 if lengths is None else lengths.clamp(min=1) / modality.max_length
        if self.whole:
            nats: Tensor = -self.decoder(codes).masked(lengths).log_prob(view)
            return nats if self.kind == "likelihood" else nats / (share * modality.size)
        raw = self.decoder(codes.flatten(0, -2)).float().reshape(*codes.shape[:-1], *modality.shape)
        each = (raw - view).square() if self.kind == "mse" else sigmoid_cross_entropy(raw, view.expand_as(raw))
        if lengths is not None:
            axis = modality.length_axis or 0
            shape = (len(view), *[1] * axis, -1, *[1] * (len(modality.shape) - axis - 1))
            each = each * batch.positions(name, spec).reshape(shape)
        return each.flatten(codes.dim() - 1).sum(-1) / (share * modality.size)


def sigmoid_cross_entropy(raw: Tensor, target: Tensor) -> Tensor:
    """The cross-entropy of `sigmoid(target)` by `sigmoid(raw)` of each number: the reconstruction of MultiBench's published code.

    It is least where both are equal, and is not 0 there: ln 2 for zeros.

    >>> round(float(sigmoid_cross_entropy(Tensor([1.0]), Tensor([1.0]))), 6)
    0.582203
    """
    return functional.binary_cross_entropy_with_logits(raw, target.sigmoid(), reduction="none")


def lengths_of(batch: Batch, name: str) -> dict[str, Tensor]:
    """The lengths of one modality, where it has any."""
    return {name: batch.lengths[name]} if name in batch.lengths else {}
