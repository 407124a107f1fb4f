import math
from itertools import product

import pytest
import torch
from scipy import stats
from torch.distributions import Categorical as Reference

from molyneux.core import Modality, SpecError
from molyneux.learn.likelihoods import Categorical

LETTERS = tuple(" abcdefghijklmnopqrstuvwxyz")
TEXT = Modality("text", "text", (45,), "uint8", LETTERS, 0)
CLOSED = Modality("text", "text", (5,), "uint8", ("<pad>", "<bos>", "<eos>", "so", "be", "it"), 0, 1, 2)
LABEL = Modality("digit", "label", (), "int64", tuple("0123456789"))


def test_uniform_logits_over_letters():
    views = Categorical().head(TEXT)(torch.zeros(3, 27, 45), torch.Size((3,)))
    caption = torch.randint(0, 27, (3, 45), dtype=torch.uint8)
    assert views.log_prob(caption).tolist() == [pytest.approx(-148.3127, abs=1e-4)] * 3
    assert 45 * math.log(27) == pytest.approx(148.3127, abs=1e-4)


def test_a_text_with_an_end_costs_its_words_and_the_end():
    views = Categorical().head(CLOSED)(torch.zeros(2, 6, 5), torch.Size((2,)))
    texts = torch.tensor([[3, 4, 5, 2, 0], [2, 0, 0, 0, 0], [3, 4, 5, 3, 4]])
    costs = torch.stack([-views.log_prob(text.expand(2, 5))[0] for text in texts])
    torch.testing.assert_close(costs, math.log(6) * torch.tensor([4.0, 1.0, 5.0]))


POS_LENGTHS = (12,) * 313 + (11,) * 9687
"""Ten thousand sentences with the mean length of POS, 12.0313 with the end."""


@pytest.mark.parametrize(
    ("symbols", "words", "nats"), [(109, (10, 10, 9), 50.041), (83, (4,), 22.094), (38, POS_LENGTHS, 43.765)]
)
def test_uniform_logits_over_words(symbols, words, nats):
    length = max(words) + 1
    modality = Modality("text", "text", (length,), "uint8", tuple(str(number) for number in range(symbols)), 0, 1, 2)
    texts = torch.full((len(words), length), 7)
    for row, count in zip(texts, words, strict=True):
        row[count], row[count + 1 :] = 2, 0
    views = Categorical().head(modality)(torch.zeros(len(words), symbols, length), torch.Size((len(words),)))
    assert -views.log_prob(texts).mean().item() == pytest.approx(nats, abs=1e-3)


def test_what_comes_after_the_end_is_neither_counted_nor_taught():
    raw = torch.randn(1, 6, 5, requires_grad=True)
    views = Categorical().head(CLOSED)(raw, torch.Size((1,)))
    cost = [-views.log_prob(torch.tensor([text])) for text in ([4, 2, 0, 0, 0], [4, 2, 3, 2, 5])]
    assert torch.equal(cost[0], cost[1])
    cost[0].sum().backward()
    assert raw.grad[..., 2:].abs().max() == 0
    assert raw.grad[..., :2].abs().min() > 0


def test_probabilities_of_all_texts_with_an_end_add_up_to_one():
    tiny = Modality("text", "text", (3,), "uint8", ("<pad>", "<eos>", "a"), 0, None, 1)
    views = Categorical().head(tiny)(torch.randn(1, 3, 3), torch.Size((1,)))
    texts = {tuple(text) for text in views.sample((500,), torch.Generator().manual_seed(0))[:, 0].tolist()}
    closed = [(*text, 1, *[0] * (2 - len(text))) for size in range(3) for text in product((0, 2), repeat=size)]
    every = closed + list(product((0, 2), repeat=3))
    assert texts <= set(every)
    total = sum(views.log_prob(torch.tensor([text])).exp().item() for text in every)
    assert total == pytest.approx(1, abs=1e-5)


def test_padding_is_written_after_the_end():
    raw = torch.full((1, 6, 5), -9.0)
    for position, symbol in enumerate([3, 2, 4, 2, 5]):
        raw[0, symbol, position] = 9.0
    views = Categorical().head(CLOSED)(raw, torch.Size((1,)))
    assert views.mode.tolist() == views.view.tolist() == views.sample().tolist() == [[3, 2, 0, 0, 0]]
    bare = Modality("text", "text", (5,), "uint8", CLOSED.symbols, None, None, 2)
    assert Categorical().head(bare)(raw, torch.Size((1,))).mode.tolist() == [[3, 2, 2, 2, 2]]


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
