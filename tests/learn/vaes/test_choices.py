"""Settings of the models: what they change, and what is refused."""

import pytest
import torch

from molyneux.core import ConfigError, Progress
from molyneux.learn.likelihoods import Normal
from molyneux.learn.objectives import CCI, IWAE, Warmup
from molyneux.learn.posteriors import DiagonalLaplace, DiagonalNormal
from molyneux.learn.vaes import DMVAE, HSVAE, MMVAE, MVAE, VAE, MoPoE


def test_family_of_mmvae(build):
    assert isinstance(build(MMVAE).prior(3).shared, DiagonalLaplace)
    assert isinstance(build(MMVAE, family="normal").prior(3).shared, DiagonalNormal)


def test_components_of_mmvae_and_mopoe(build, batch_of):
    for model, count in ((MMVAE, 3), (MoPoE, 7)):
        one = build(model, 3)
        assert one.encode(batch_of(one.spec)).shared.weights.shape == (count, 10)


def test_private_codes_by_modality(build, batch_of):
    model = build(DMVAE, 3, private_dim={"touch": 2, "image": 0})
    assert set(model.represent(batch_of(model.spec))) == {"shared", "private.touch"}


@pytest.mark.parametrize(
    ("model", "settings", "message"),
    [
        (MMVAE, {"family": "cauchy"}, "family: expected one of laplace, normal, got 'cauchy'"),
        (MMVAE, {"divergence": "exact"}, "divergence"),
        (MoPoE, {"samples": "sliced"}, "samples"),
        (DMVAE, {"private_dim": 0}, "use MVAE"),
        (DMVAE, {"private_dim": {"image": -1}}, "private_dim.image: expected at least 0, got -1"),
        (MVAE, {"drawn": ["sound"]}, "drawn: no modality 'sound'"),
        (VAE, {"scales": {"image": 0.0}}, r"scales.image"),
        (VAE, {"beta": "a"}, "beta: expected a number of at least 0 or a schedule .*, got 'a'"),
        (VAE, {"beta": Warmup}, "beta: expected a number of at least 0 or a schedule .*, got <class"),
        (MVAE, {"beta": "a"}, "beta: expected a number of at least 0 or a schedule .*, got 'a'"),
        (MVAE, {"beta": 1.0, "objective": IWAE()}, "beta: the objective IWAE has its own weights"),
        (MoPoE, {"objective": CCI()}, r"objective: expected a bound, such as ELBO\(\) or IWAE\(\), got CCI"),
        (MMVAE, {"drawn": ["image"], "objective": IWAE()}, "drawn: only the objective ELBO"),
        (HSVAE, {"psi": "a"}, "psi: expected a number of at least 0 or a schedule .*, got 'a'"),
        (VAE, {"objective": CCI}, r"objective: expected an Objective, such as BetaVAE\(\), got <class .*CCI"),
        (VAE, {"objective": "CCI", "beta": 1.0}, "objective: expected an Objective, .* got 'CCI'"),
    ],
)
def test_choices_that_do_not_exist(build, model, settings, message):
    with pytest.raises(ConfigError, match=message):
        build(model, **settings)


def test_beta_rises(build, batch_of):
    model = build(VAE, beta=Warmup(4.0, fraction=0.5))
    batch = batch_of(model.spec)
    losses = [model.loss(batch, Progress(step, 100), torch.Generator().manual_seed(0)) for step in (0, 25, 100)]
    rate = losses[0].terms["rate.shared"].item()
    distortion = losses[0].terms["distortion.image"].item()
    for loss, beta in zip(losses, (0.0, 2.0, 4.0), strict=True):
        assert loss.total.item() == pytest.approx(distortion + beta * rate, rel=1e-5)


def test_drawn_modalities_are_decoded_from_one_code(build, batch_of):
    model, rows = build(MVAE, 3, subsets="all", drawn=["image"]), {}
    for name, net in model.decoders.items():
        net.register_forward_pre_hook(lambda _, codes, key=name: rows.update({key: len(codes[0])}))
    model.loss(batch_of(model.spec), Progress(0, 1))
    assert rows == {"image": 1, "text": 4, "touch": 4}


def test_the_optimal_scale_ignores_what_is_absent(build, batch_of):
    model = build(VAE, likelihoods={"image": Normal(scale="optimal")}).train()
    batch = batch_of(model.spec, missing=0.5)
    whole = batch[batch.present["image"]]
    scales = []
    for one in (batch, whole):
        model.decoders["image"].head.log_scale.fill_(0.0)
        torch.manual_seed(0)
        with torch.no_grad():
            for parameter in model.encoders.parameters():
                parameter.zero_()
            for parameter in model.decoders["image"].body.parameters():
                parameter.zero_()
        model.loss(one, Progress(0, 1))
        scales.append(model.decoders["image"].head.log_scale.item())
    assert scales[0] == pytest.approx(scales[1], rel=1e-5)
    assert scales[0] != 0.0
