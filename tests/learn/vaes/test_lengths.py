"""Samples of different lengths: what lies beyond them means nothing to any model."""

from dataclasses import replace

import pytest
import torch

from molyneux.core import Batch, Modality, Progress, Spec
from molyneux.learn.vaes import DMVAE, MVAE, VAE, MoPoE

SERIES = Modality("touch", "series", (9, 2))
TEXT = Modality("text", "text", (6,), "uint8", tuple(" abc$"), 0)
ENDED = Modality("ended", "text", (6,), "uint8", tuple(" abc$"), 0, end=4)
SOUND = Modality("sound", "audio", (1, 12))
POINTS = Modality("points", "set", (5, 2))
LENGTHS = {"touch": [9, 4, 1, 0], "text": [6, 3, 1, 0], "ended": [6, 3, 1, 0], "sound": [12, 5, 1, 0], "points": [5, 2, 1, 0]}
CASES = [(VAE, (item,)) for item in (SERIES, TEXT, ENDED, SOUND, POINTS)]
CASES += [(kind, (SERIES, TEXT, POINTS)) for kind in (DMVAE, MVAE, MoPoE)]


def noise():
    return torch.Generator().manual_seed(1)


def batch_of(spec, seed, worst=False):
    """Samples whose content beyond the lengths is drawn with the seed, or the worst there is."""
    views = {}
    for modality in spec.modalities:
        first, second = (torch.Generator().manual_seed(number) for number in (0, seed))
        lengths = torch.tensor(LENGTHS[modality.name])
        kept, other = (
            torch.randint(0, 4, (4, *modality.shape), generator=item).byte()
            if modality.symbols
            else torch.randn(4, *modality.shape, generator=item)
            for item in (first, second)
        )
        if worst and not modality.symbols:
            other = torch.full_like(other, torch.nan)
        within = Batch({modality.name: kept}, lengths={modality.name: lengths}).positions(modality.name, spec)
        shape = [4, *[1] * len(modality.shape)]
        shape[1 + modality.length_axis] = -1
        views[modality.name] = kept.where(within.reshape(shape), other)
    return Batch(views, lengths={name: torch.tensor(LENGTHS[name]) for name in views})


@pytest.mark.parametrize(("kind", "modalities"), CASES, ids=lambda item: getattr(item, "__name__", ""))
def test_what_lies_beyond_lengths_is_never_read(kind, modalities):
    torch.manual_seed(0)
    model = kind(Spec(modalities), latent_dim=3).eval()
    batches = [batch_of(model.spec, 5), batch_of(model.spec, 6, worst=True)]
    losses = [model.loss(batch, Progress(0, 1), noise()) for batch in batches]
    assert losses[0].total.isfinite()
    assert torch.equal(losses[0].total, losses[1].total)
    codes = [model.represent(batch)["shared"] for batch in batches]
    assert torch.equal(*codes)
    assert torch.equal(*[model.log_likelihood(batch, 3, noise()) for batch in batches])
    model.train().loss(batches[1], Progress(0, 1), noise()).total.backward()
    assert all(parameter.grad is None or parameter.grad.isfinite().all() for parameter in model.parameters())


@pytest.mark.parametrize("modality", [SERIES, TEXT, ENDED, SOUND, POINTS], ids=lambda item: item.name)
def test_whole_samples_are_as_without_lengths_and_short_ones_cost_less(modality):
    torch.manual_seed(0)
    model = VAE(Spec((modality,)), latent_dim=3).eval()
    batch = batch_of(model.spec, 5)
    whole = replace(batch, lengths={modality.name: torch.full((4,), modality.max_length)})
    plain = replace(batch, lengths={})
    losses = [
        model.loss(item, Progress(0, 1), noise()).terms[f"distortion.{modality.name}"].item() for item in (plain, whole, batch)
    ]
    assert losses[0] == pytest.approx(losses[1], rel=1e-5)
    assert losses[2] < losses[1]
