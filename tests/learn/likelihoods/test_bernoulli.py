import pytest
import torch
from torch.distributions import Bernoulli as Reference

from molyneux.core import Modality, SpecError
from molyneux.learn.likelihoods import Bernoulli

IMAGE = Modality("image", "image", (2, 3, 4), "uint8")
BATCH = torch.Size((5, 6))


def views(seed=0):
    raw = 3 * torch.randn(30, 1, 2, 3, 4, generator=torch.Generator().manual_seed(seed))
    return raw, Bernoulli().head(IMAGE)(raw, BATCH)


def test_log_probability_of_binary_views():
    raw, ours = views()
    target = (torch.rand(6, 2, 3, 4) < 0.5).float()
    theirs = Reference(logits=raw.reshape(5, 6, 2, 3, 4)).log_prob(target).sum((-1, -2, -3))
    assert ours.batch_shape == BATCH
    assert ours.event_shape == (2, 3, 4)
    torch.testing.assert_close(ours.log_prob(target), theirs)


def test_grey_targets_are_best_met_by_themselves():
    target = torch.full((1, 2, 3, 4), 0.3)
    logits = torch.tensor(0.3).logit().expand(3, 1, 2, 3, 4).clone()
    logits[1] += 0.1
    logits[2] -= 0.1
    at, above, below = Bernoulli().head(IMAGE)(logits, torch.Size((3, 1))).log_prob(target).flatten().tolist()
    assert at > above
    assert at > below


def test_mean_mode_and_samples():
    raw, ours = views()
    assert torch.equal(ours.view, ours.mean)
    torch.testing.assert_close(ours.mean, raw.sigmoid().reshape(5, 6, 2, 3, 4))
    assert set(ours.mode.unique().tolist()) == {0.0, 1.0}
    sample = ours.sample((4000,), torch.Generator().manual_seed(0))
    torch.testing.assert_close(sample.mean(0), ours.mean, atol=0.05, rtol=0)
    assert torch.equal(sample, ours.sample((4000,), torch.Generator().manual_seed(0)))


def test_half_precision_is_not_summed():
    raw, ours = views()
    half = Bernoulli().head(IMAGE)(raw.bfloat16(), BATCH)
    assert half.log_prob(torch.rand(6, 2, 3, 4)).dtype == torch.float32
    assert ours.mean.dtype == torch.float32


def test_it_describes_images_and_videos_only():
    with pytest.raises(SpecError, match="Bernoulli describes image, video, but modality touch is series"):
        Bernoulli().head(Modality("touch", "series", (8, 2)))
