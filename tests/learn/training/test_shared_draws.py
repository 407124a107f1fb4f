import pytest
import torch

from molyneux.learn.posteriors import DiagonalNormal
from molyneux.learn.training.shared_draws import Share, SharedDraws

SHARES = [Share(0, 4, 11), Share(4, 7, 11)]
DRAWS = {
    "randn": lambda rows, generator: torch.randn((3, rows, 5), generator=generator),
    "rand of lengths": lambda rows, generator: torch.rand(2, rows, generator=generator),
    "randint": lambda rows, generator: torch.randint(1, 9, (rows,), generator=generator),
    "exponential_": lambda rows, generator: torch.empty((2, rows, 5)).exponential_(generator=generator),
    "posterior": lambda rows, generator: DiagonalNormal.standard((rows, 5), torch.zeros(())).rsample((2,), generator),
}


@pytest.mark.parametrize("name", DRAWS)
def test_parts_draw_what_the_whole_draws(name):
    draw, axis = DRAWS[name], 0 if name == "randint" else 1
    whole = draw(11, torch.Generator().manual_seed(1))
    parts = []
    for share in SHARES:
        generator = torch.Generator().manual_seed(1)
        with SharedDraws(generator, share):
            parts.append(draw(share.length, generator))
            after = torch.rand(3, generator=generator)
    assert torch.equal(torch.cat(parts, axis), whole)
    generator = torch.Generator().manual_seed(1)
    draw(11, generator)
    assert torch.equal(after, torch.rand(3, generator=generator))  # what follows is the same for all


def test_what_is_not_of_samples_is_the_same_for_all_parts():
    found = []
    for share in SHARES:
        generator = torch.Generator().manual_seed(1)
        with SharedDraws(generator, share):
            found.append(torch.cat([torch.rand(3, 2, generator=generator).flatten(), torch.randperm(6, generator=generator)]))
    assert torch.equal(*found)


def test_axes_of_one_length():
    """Codes have their samples on the last axis but one, choices on the last."""
    generator = torch.Generator().manual_seed(1)
    with SharedDraws(generator, Share(2, 4, 8)):
        codes, choices = torch.randn(4, 4, generator=generator), torch.rand(4, 4, generator=generator)
    generator.manual_seed(1)
    assert torch.equal(codes, torch.randn(8, 4, generator=generator)[2:6])
    assert torch.equal(choices, torch.rand(4, 8, generator=generator)[:, 2:6])


def test_other_generators_draw_as_they_do():
    other = torch.Generator().manual_seed(2)
    with SharedDraws(torch.Generator(), Share(0, 4, 8)):
        found = torch.randn(4, generator=other)
    assert torch.equal(found, torch.randn(4, generator=other.manual_seed(2)))
