"""Decoding against brute force, in languages so small that every text can be listed."""

from itertools import product

import pytest
import torch
from scipy import stats

from molyneux.core import ConfigError, Modality
from molyneux.learn.likelihoods import AutoregressiveTexts

ENDED = Modality("text", "text", (4,), "uint8", ("<pad>", "<bos>", "<eos>", "a"), 0, 1, 2)
OPEN = Modality("text", "text", (3,), "uint8", tuple(" abc"), 0)


class Chances:
    """A writer whose next symbol depends on everything before it, by a table of random logits."""

    def __init__(self, modality, *, seed=0, texts=3):
        count = len(modality.symbols)
        self.modality, self.first = modality, 1
        shape = (texts, (count + 1) ** modality.shape[0], count)
        self.table = 1.5 * torch.randn(shape, generator=torch.Generator().manual_seed(seed))

    def begin(self, codes):
        return codes.long().squeeze(-1), torch.zeros(len(codes), dtype=torch.long), torch.zeros(len(codes), dtype=torch.bool)

    def step(self, symbols, state):
        row, place, begun = state
        place = torch.where(begun, place * (len(self.modality.symbols) + 1) + symbols + 1, 0)
        return self.table[row, place], (row, place, torch.ones_like(begun))

    def forced(self, codes, ids):
        state, symbols, logits = self.begin(codes), torch.full((len(codes),), self.first), []
        for position in range(ids.shape[1]):
            each, state = self.step(symbols, state)
            logits.append(each)
            symbols = ids[:, position]
        return torch.stack(logits)


def texts_of(modality):
    """Every text, as it is written."""
    symbols, length = range(len(modality.symbols)), modality.shape[0]
    if modality.end is None:
        return torch.tensor(list(product(symbols, repeat=length)))
    words = [symbol for symbol in symbols if symbol != modality.end]
    closed = [(*text, modality.end) for size in range(length) for text in product(words, repeat=size)]
    return torch.tensor([(*text, *[0] * (length - len(text))) for text in (*closed, *product(words, repeat=length))])


def texts(modality, seed=0, **settings):
    return AutoregressiveTexts(Chances(modality, seed=seed), torch.arange(3.0).unsqueeze(-1), torch.Size((3,)), **settings)


def table_of(distribution, modality):
    """Log-probability of every text for each code, (texts, 3)."""
    return torch.stack([distribution.log_prob(text.expand(3, -1)) for text in texts_of(modality)])


@pytest.mark.parametrize("modality", [ENDED, OPEN])
def test_probabilities_of_all_texts_add_up_to_one(modality):
    total = table_of(texts(modality), modality).exp().sum(0)
    torch.testing.assert_close(total, torch.ones(3))


@pytest.mark.parametrize("modality", [ENDED, OPEN])
@pytest.mark.parametrize("seed", range(5))
def test_as_many_beams_as_texts_find_the_most_probable(modality, seed):
    distribution, every = texts(modality, seed), texts_of(modality)
    best = every[table_of(distribution, modality).argmax(0)]
    assert torch.equal(distribution.best(len(every)), best)
    assert torch.equal(texts(modality, seed, beams=len(every)).mode, best)


@pytest.mark.parametrize("modality", [ENDED, OPEN])
def test_one_beam_is_greedy_and_more_are_no_worse_in_all(modality):
    greedy, found = [], []
    for seed in range(20):
        distribution = texts(modality, seed)
        assert torch.equal(distribution.best(1), distribution.greedy())
        assert torch.equal(distribution.mode, distribution.view)
        greedy.append(distribution.log_prob(distribution.greedy()))
        found.append(distribution.log_prob(distribution.best(6)))
    gained = torch.stack(found) - torch.stack(greedy)
    assert gained.sum() > 1.0
    assert (gained > 1e-3).any(0).all()


@pytest.mark.parametrize("modality", [ENDED, OPEN])
def test_greedy_texts_take_the_best_symbol_at_each_position(modality):
    distribution = texts(modality)
    ids = distribution.greedy()
    best = distribution.decoder.forced(distribution.codes, ids).argmax(-1).t()
    counted = torch.tensor([[2 not in row[:position] for position in range(len(row))] for row in ids.tolist()])
    counted = counted if modality is ENDED else torch.ones_like(counted)
    assert torch.equal(best[counted], ids[counted])
    assert ids[~counted].tolist() == [0] * int((~counted).sum())


@pytest.mark.parametrize("modality", [ENDED, OPEN])
def test_samples_have_the_probabilities_of_log_prob(modality):
    distribution, every = texts(modality), texts_of(modality)
    drawn = distribution.sample((4000,), torch.Generator().manual_seed(5))
    assert drawn.shape == (4000, 3, *modality.shape)
    known = table_of(distribution, modality).exp().double()
    for code in range(3):
        counts = (drawn[:, code].unsqueeze(1) == every).all(-1).sum(0).double()
        assert counts.sum() == 4000  # nothing else is written
        usual = known[:, code] * 4000 >= 5
        seen = torch.cat([counts[usual], counts[~usual].sum().reshape(1)])
        expected = torch.cat([known[usual, code], known[~usual, code].sum().reshape(1)])
        assert stats.chisquare(seen, expected / expected.sum() * 4000).pvalue > 1e-3


def test_texts_broadcast_over_stacked_codes():
    stacked = AutoregressiveTexts(Chances(ENDED), torch.tensor([0.0, 1, 2, 2, 1, 0]).unsqueeze(-1), torch.Size((2, 3)))
    value = texts(ENDED).greedy()
    both = stacked.log_prob(value)
    torch.testing.assert_close(both[0], texts(ENDED).log_prob(value))
    torch.testing.assert_close(both[1].flip(0), texts(ENDED).log_prob(value.flip(0)))
    assert torch.equal(stacked.view[1], stacked.view[0].flip(0))
    assert stacked.sample((5,)).shape == (5, 2, 3, 4)


def test_the_same_generator_draws_the_same_texts():
    first, again, other = (texts(OPEN).sample((50,), torch.Generator().manual_seed(seed)) for seed in (1, 1, 2))
    assert torch.equal(first, again)
    assert not torch.equal(first, other)


@pytest.mark.parametrize("beams", [0, -1])
def test_a_search_needs_a_beam(beams):
    with pytest.raises(ConfigError, match=f"beams: expected at least 1, got {beams}"):
        texts(ENDED).best(beams)
