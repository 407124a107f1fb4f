"""Models with linear decoders and normal noise, whose exact likelihood is known, and whose posterior may be exact."""

from dataclasses import dataclass

import torch
from torch import nn
from torch.distributions import MultivariateNormal

from molyneux.core import Modality, Spec
from molyneux.learn.encoders.nets import Net
from molyneux.learn.encoders.nets.net import Reshape
from molyneux.learn.likelihoods import Normal

SCALE, DIM, SIZES = 0.7, 2, (3, 4, 5, 3, 4)


@dataclass(frozen=True)
class LinearNet(Net):
    kinds = frozenset({"tabular"})

    def encoder(self, modality, outputs):
        return nn.Linear(modality.size, outputs)

    def body(self, modality, inputs, parameters):
        return nn.Sequential(nn.Linear(inputs, modality.size), Reshape(parameters, *modality.shape))


def build(kind, count=2, *, seed=3, **settings):
    """A model of `count` modalities of 3 to 5 numbers, with 2 dimensions of the shared code."""
    torch.manual_seed(seed)
    spec = Spec(tuple(Modality(f"m{i}", "tabular", (SIZES[i],)) for i in range(count)))
    nets = dict.fromkeys(spec.names, LinearNet())
    likelihoods = dict.fromkeys(spec.names, Normal(scale=SCALE))
    return kind(spec, latent_dim=DIM, nets=nets, likelihoods=likelihoods, **settings)


def views_of(model, size=1, seed=4):
    generator = torch.Generator().manual_seed(seed)
    return {m.name: torch.randn(size, *m.shape, generator=generator) for m in model.spec.modalities}


def weights(model, name):
    layer = model.decoders[name].body[0]
    return layer.weight.detach(), layer.bias.detach()


def make_exact(model):
    """Give a model whose posterior is the product of experts and prior the encoders that make it exact.

    The columns of each decoder are made orthogonal, so that the posterior has independent dimensions.
    """
    for name, size in zip(model.spec.names, SIZES, strict=False):
        layer, encoder = model.decoders[name].body[0], model.encoders[name]
        columns = torch.linalg.qr(torch.randn(size, DIM))[0] * torch.tensor([1.5, 0.6])
        precision = columns.square().sum(0) / SCALE**2
        with torch.no_grad():
            layer.weight.copy_(columns)
            encoder.weight.zero_()
            encoder.weight[:DIM] = columns.T / SCALE**2 / precision.unsqueeze(-1)
            encoder.bias[:DIM] = -encoder.weight[:DIM] @ layer.bias
            encoder.bias[DIM : 2 * DIM] = 10 * torch.atanh(-precision.log() / 10)


def evidence(model, views, names=None, *, mean=None, variance=None):
    """Exact log-likelihood of views, (B,) nats, with the prior N(mean, variance) of the shared code, standard by default."""
    names = model.spec.names if names is None else names
    shared = torch.cat([weights(model, name)[0][:, :DIM] for name in names])
    bias = torch.cat([weights(model, name)[1] for name in names])
    private = torch.block_diag(*[weights(model, name)[0][:, DIM:] for name in names])
    mean, variance = torch.zeros(DIM) if mean is None else mean, torch.ones(DIM) if variance is None else variance
    covariance = shared @ variance.diag() @ shared.T + private @ private.T + SCALE**2 * torch.eye(len(bias))
    return MultivariateNormal(bias + shared @ mean, covariance).log_prob(torch.cat([views[name] for name in names], -1))
