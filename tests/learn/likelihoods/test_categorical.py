import math

import pytest
import torch
from scipy import stats
from torch.distributions import Categorical as Reference

from molyneux.core import Modality, SpecError
from molyneux.learn.likelihoods import Categorical

LETTERS = tuple(" abcdefghijklmnopqrstuvwxyz")
TEXT = Modality("text", "text", (45,), "uint8", LETTERS, 0)
LABEL = Modality("digit", "label", (), "int64", tuple("0123456789"))


def test_uniform_logits_over_letters():
    views = Categorical().head(TEXT)(torch.zeros(3, 27, 45), torch.Size((3,)))
    caption = torch.randint(0, 27, (3, 45), dtype=torch.uint8)
    assert views.log_prob(caption).tolist() == [pytest.approx(-148.3127, abs=1e-4)] * 3
    assert 45 * math.log(27) == pytest.approx(148.3127, abs=1e-4)


def test_log_probability_agrees_with_torch():
    raw = torch.randn(2 * 4, 27, 45)
    ours = Categorical().head(TEXT)(raw, torch.Size((2, 4)))
    target = torch.randint(0, 27, (4, 45))
    theirs = Reference(logits=raw.reshape(2, 4, 27, 45).movedim(2, -1)).log_prob(target).sum(-1)
    torch.testing.assert_close(ours.log_prob(target), theirs)
    assert torch.equal(ours.mode, raw.argmax(1).reshape(2, 4, 45))
    assert torch.equal(ours.view, ours.mode)


def test_the_end_of_a_text_is_predicted():
    raw = torch.zeros(1, 27, 45)
    raw[:, 5, 10:] = 9.0  # after ten letters the model goes on with "e"
    caption = torch.ones(1, 45, dtype=torch.long)
    ended = caption.clone()
    ended[:, 10:] = 0
    views = Categorical().head(TEXT)(raw, torch.Size((1,)))
    assert views.log_prob(ended).item() < -300


def test_labels():
    raw = torch.randn(6, 10)
    views = Categorical().head(LABEL)(raw, torch.Size((2, 3)))
    target = torch.tensor([3, 1, 4])
    theirs = raw.log_softmax(-1).reshape(2, 3, 10)[:, torch.arange(3), target]
    torch.testing.assert_close(views.log_prob(target), theirs)
    assert views.mode.shape == (2, 3)
    assert Categorical().parameters(LABEL) == 10


@pytest.mark.parametrize("modality", [TEXT, LABEL])
def test_samples_follow_the_probabilities(modality):
    raw = torch.randn(1, len(modality.symbols), *modality.shape, generator=torch.Generator().manual_seed(0))
    views = Categorical().head(modality)(raw, torch.Size((1,)))
    drawn = views.sample((5000,), torch.Generator().manual_seed(1))
    assert drawn.shape == (5000, 1, *modality.shape)
    counts = torch.bincount(drawn.flatten(1)[:, 0], minlength=len(modality.symbols))
    known = views.probs.reshape(len(modality.symbols), -1)[:, 0].double()
    assert stats.chisquare(counts, known / known.sum() * 5000).pvalue > 1e-3


def test_it_describes_symbols_only():
    with pytest.raises(SpecError, match="label, text"):
        Categorical().head(Modality("touch", "series", (8, 2)))
