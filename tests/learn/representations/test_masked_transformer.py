"""The masked transformer: which tokens it reads, and that it learns to draw one sense from another."""

import pytest
import torch

from molyneux.core import Batch, ConfigError, Modality, NotApplicableError, Progress, Spec
from molyneux.learn import MaskedTransformer
from molyneux.learn.encoders.nets import Dense
from molyneux.learn.representations.masked_transformer import Tokens, some_tokens


def test_tokens_of_every_kind():
    for modality, view, count in (
        (Modality("image", "image", (3, 20, 12), "uint8"), torch.rand(2, 3, 20, 12), 3 * 2),
        (Modality("touch", "series", (9, 2)), torch.rand(2, 9, 2), 3),
        (Modality("sound", "audio", (1, 10)), torch.rand(2, 1, 10), 3),
        (Modality("text", "text", (6,), "uint8", tuple(" abc"), 0), torch.ones(2, 6, dtype=torch.int64), 6),
        (Modality("table", "tabular", (4,)), torch.rand(2, 4), 1),
        (Modality("digit", "label", (), "int64", tuple("0123")), torch.zeros(2, dtype=torch.int64), 1),
    ):
        tokens, there = Tokens(modality, 8, patch=8, stretch=4)(view)
        assert tokens.shape == (2, count, 8)
        assert there.all()


def test_tokens_end_where_a_series_ends():
    _, there = Tokens(Modality("touch", "series", (9, 2)), 8, patch=8, stretch=4)(torch.rand(3, 9, 2), torch.tensor([0, 4, 5]))
    assert there.tolist() == [[False] * 3, [True, False, False], [True, True, False]]


def test_shares_of_modalities_are_drawn_for_each_sample():
    tokens, of = torch.arange(40.0).reshape(1, 40, 1).expand(2000, -1, -1), torch.tensor([0] * 30 + [1] * 10)
    generator = torch.Generator().manual_seed(0)
    chosen, there = some_tokens(tokens, torch.ones(2000, 40, dtype=torch.bool), of, 0.25, generator)
    assert chosen.shape == (2000, 10, 1)
    assert there.all()
    assert all(len(set(row.tolist())) == 10 for row in chosen[:50, :, 0])
    first = (chosen[..., 0] < 30).float().mean(1)  # the share of the first modality among what is read
    assert (first == 1).float().mean() > 0.02
    assert (first <= 0.1).float().mean() > 0.02
    assert 0.3 < first.mean() < 0.7  # of two modalities each is read as much as the other, whatever its number of tokens


def test_what_is_not_there_is_chosen_last_and_marked():
    there = torch.zeros(50, 8, dtype=torch.bool)
    there[:, 3] = there[:, 6] = True
    tokens = torch.arange(8.0).reshape(1, 8, 1).expand(50, -1, -1)
    chosen, kept = some_tokens(tokens, there, torch.tensor([0] * 4 + [1] * 4), 0.5, torch.Generator().manual_seed(0))
    assert kept.sum(1).tolist() == [2] * 50
    assert set(chosen[kept].flatten().tolist()) == {3.0, 6.0}


def test_problems_are_told_and_there_is_no_prior_without_one():
    spec = Spec((Modality("table", "tabular", (4,)),))
    with pytest.raises(ConfigError) as caught:
        MaskedTransformer(spec, visible=0.0, layers=0)
    assert len(caught.value.problems) == 2
    with pytest.raises(ConfigError, match="a multiple of the 4 heads, got 10"):
        MaskedTransformer(spec, width=10)
    with pytest.raises(NotApplicableError, match="has no prior"):
        MaskedTransformer(spec).prior(2)


@pytest.mark.parametrize("seed", [0, 1])
def test_it_learns_to_draw_one_sense_from_the_other(seed):
    generator = torch.Generator().manual_seed(seed)
    hidden = torch.randn(512, 2, generator=generator)
    views = {"left": hidden @ torch.randn(2, 4, generator=generator), "right": hidden @ torch.randn(2, 6, generator=generator)}
    batch = Batch(views)
    torch.manual_seed(seed)
    spec = Spec((Modality("left", "tabular", (4,)), Modality("right", "tabular", (6,))))
    model = MaskedTransformer(spec, latent_dim=4, width=32, layers=1, nets=dict.fromkeys(spec.names, Dense(width=32)))
    optimiser = torch.optim.Adam(model.parameters(), 5e-3)
    for step in range(250):
        loss = model.loss(batch[torch.randperm(448, generator=generator)[:64]], Progress(step, 250), generator)
        optimiser.zero_grad()
        loss.total.backward()
        optimiser.step()
    model.eval()
    drawn = model.decode(model.encode(batch[448:], ["left"]).mean)["right"].mean
    truth = views["right"][448:]
    assert (drawn - truth).square().mean() < 0.35 * truth.var()
