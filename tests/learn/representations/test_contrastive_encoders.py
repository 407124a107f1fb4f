"""Contrastive encoders: their loss by brute force, what is missing, and that they learn what belongs together."""

import math
from dataclasses import replace

import numpy as np
import pytest
import torch

from molyneux.core import (
    Batch,
    ConfigError,
    DataError,
    Decodes,
    Encodes,
    Factor,
    Modality,
    NotApplicableError,
    Progress,
    Representation,
    Spec,
    Trainable,
)
from molyneux.learn import ContrastiveEncoders
from molyneux.learn.encoders.nets import Dense, NormalisedConvolutional, PooledSeries

START = Progress(0, 1)
SPEC = Spec((Modality("left", "tabular", (3,)), Modality("right", "tabular", (5,)), Modality("touch", "series", (9, 2))))


def model_of(spec=SPEC, **settings):
    torch.manual_seed(0)
    return ContrastiveEncoders(spec, latent_dim=4, **settings)


def batch_of(size=12, missing=0.0, seed=0):
    generator = torch.Generator().manual_seed(seed)
    views = {item.name: torch.randn(size, *item.shape, generator=generator) for item in SPEC.modalities}
    if not missing:
        return Batch(views)
    return Batch(views, {name: torch.rand(size, generator=generator) >= missing for name in views})


def test_the_loss_is_that_of_every_pair_of_modalities_by_brute_force():
    model, batch = model_of(temperature=0.5), batch_of(missing=0.4)
    codes = {name: model.represent(batch, [name])["shared"].detach().numpy() for name in SPEC.names}
    there = {name: batch.mask(name).numpy() for name in SPEC.names}
    parts = {}
    for first, second in (("left", "right"), ("left", "touch"), ("right", "touch")):
        rows = np.flatnonzero(there[first] & there[second])
        total = 0.0
        for one, other in ((first, second), (second, first)):
            for row in rows:
                scores = [2.0 * codes[one][row] @ codes[other][column] for column in rows]
                total += math.log(sum(map(math.exp, scores))) - 2.0 * codes[one][row] @ codes[other][row]
        parts[f"contrast.{first}.{second}"] = total / (2 * len(rows))
    found = model.loss(batch, START)
    assert found.total.item() == pytest.approx(np.mean(list(parts.values())), rel=1e-5)
    assert {name: term.item() for name, term in found.terms.items()} == pytest.approx({**parts, "temperature": 0.5}, rel=1e-5)


def test_samples_of_one_kind_are_not_compared_by_brute_force():
    spec = replace(SPEC, factors=(Factor("size", ("small", "big")), Factor("kind", ("a", "b", "c"))))
    model, plain = model_of(spec, temperature=0.5, negatives_differ_in="kind"), batch_of(missing=0.3)
    kinds = torch.tensor([0, 0, 1, 2, -1, -1, 1, 2, 0, 1, 1, 2])
    batch = replace(plain, factors=torch.stack([torch.zeros_like(kinds), kinds], 1))
    codes = {name: model.represent(batch, [name])["shared"].detach().numpy() for name in spec.names}
    there = {name: batch.mask(name).numpy() for name in spec.names}
    parts = []
    for first, second in (("left", "right"), ("left", "touch"), ("right", "touch")):
        rows, total = np.flatnonzero(there[first] & there[second]), 0.0
        for one, other in ((first, second), (second, first)):
            for row in rows:
                others = [column for column in rows if column == row or kinds[column] != kinds[row] or kinds[row] < 0]
                scores = [2.0 * codes[one][row] @ codes[other][column] for column in others]
                total += math.log(sum(map(math.exp, scores))) - 2.0 * codes[one][row] @ codes[other][row]
        parts.append(total / (2 * len(rows)))
    found = model.loss(batch, START).total
    assert found.item() == pytest.approx(np.mean(parts), rel=1e-5)
    all_of_one = replace(plain, factors=torch.zeros(12, 2, dtype=torch.long))
    loss = model.loss(all_of_one, START).total
    loss.backward()
    assert loss == 0
    assert all(part.grad is None or part.grad.isfinite().all() for part in model.parameters())
    with pytest.raises(ConfigError, match="no factor 'kinds'; did you mean \"kind\""):
        model_of(spec, negatives_differ_in="kinds")
    with pytest.raises(DataError, match="expected a batch with the factor kind"):
        model.loss(plain, START)


def test_what_is_absent_and_samples_of_one_modality_are_not_read():
    model, batch = model_of(), batch_of(missing=0.5)
    views = {
        name: view.where(batch.mask(name).reshape(-1, *[1] * (view.dim() - 1)), float("nan"))
        for name, view in batch.views.items()
    }
    spoiled = replace(batch, views=views)
    assert torch.equal(model.loss(batch, START).total, model.loss(spoiled, START).total)
    alone = torch.stack([batch.mask(name) for name in SPEC.names]).sum(0) < 2
    assert alone.any()
    torch.testing.assert_close(model.loss(batch[~alone], START).total, model.loss(batch, START).total)


@pytest.mark.parametrize("size", [0, 1, 3])
def test_a_batch_without_any_pair_costs_nothing_and_has_a_gradient(size):
    model, batch = model_of(), batch_of(size)
    only = replace(batch, present={name: torch.full((size,), name == "left") for name in SPEC.names})
    loss = model.loss(only, START)
    loss.total.backward()
    assert loss.total == 0
    assert all(part.grad is None or part.grad.abs().max() == 0 for part in model.parameters() if part.numel())


def test_a_single_pair_costs_nothing_with_nets_that_normalise_over_samples():
    nets = {"image": NormalisedConvolutional(channels=4), "touch": PooledSeries()}
    spec = Spec((Modality("image", "image", (3, 32, 32), "uint8"), Modality("touch", "series", (9, 2))))
    model = model_of(spec, nets=nets)
    views = {"image": torch.zeros(4, 3, 32, 32, dtype=torch.uint8), "touch": torch.randn(4, 9, 2)}
    one = {"image": torch.tensor([True, True, False, True]), "touch": torch.tensor([False, True, True, False])}
    loss = model.loss(Batch(views, one), START)
    loss.total.backward()
    assert loss.total == 0
    assert all(part.grad is None or part.grad.abs().max() == 0 for part in model.parameters())


def test_codes_have_length_1_and_those_of_several_modalities_are_their_mean():
    model, batch = model_of(), batch_of()
    batch = replace(batch, present={"right": torch.arange(12) < 6})
    each = [model.represent(batch, [name])["shared"] for name in ("left", "right")]
    torch.testing.assert_close(each[0].norm(dim=1), torch.ones(12))
    both = model.encode(batch, ["left", "right"]).mean.shared
    torch.testing.assert_close(both[:6], (each[0] + each[1])[:6] / 2)
    torch.testing.assert_close(both[6:], each[0][6:])
    assert torch.equal(model.encode(batch[:0]).mean.shared, torch.zeros(0, 4))


def test_abilities():
    model = model_of()
    assert all(isinstance(model, ability) for ability in (Trainable, Encodes, Representation))
    assert not isinstance(model, Decodes)
    with pytest.raises(NotApplicableError, match="no prior: observe at least one"):
        model.encode(batch_of(), [])


def test_problems_are_told_all_at_once():
    with pytest.raises(ConfigError) as caught:
        ContrastiveEncoders(Spec(SPEC.modalities[:1]), latent_dim=0, nets={"lefft": Dense()}, temperature=0.0)
    assert len(caught.value.problems) == 4
    assert "nets: no modality 'lefft'" in str(caught.value)


@pytest.mark.parametrize("seed", [0, 1])
def test_it_learns_which_views_belong_together(seed):
    generator = torch.Generator().manual_seed(seed)
    hidden = torch.randn(600, 2, generator=generator)
    turn = torch.randn(2, 5, generator=generator)
    noise = 0.05 * torch.randn(600, 1, generator=generator)
    views = {"left": torch.cat([hidden, noise], 1), "right": torch.tanh(hidden @ turn)}
    batch = Batch(views)
    torch.manual_seed(seed)
    model = ContrastiveEncoders(Spec(SPEC.modalities[:2]), latent_dim=8, nets=dict.fromkeys(("left", "right"), Dense(width=64)))
    optimiser = torch.optim.Adam(model.parameters(), 3e-3)
    for step in range(150):
        rows = torch.randperm(500, generator=generator)[:64]
        loss = model.loss(batch[rows], Progress(step, 150))
        optimiser.zero_grad()
        loss.total.backward()
        optimiser.step()
    model.eval()
    codes = [model.represent(batch[500:], [name])["shared"].detach() for name in ("left", "right")]
    alike = codes[0] @ codes[1].T
    nearer = (alike.diagonal().unsqueeze(1) > alike).float()
    assert nearer.sum() / (100 * 99) > 0.9


def test_what_happens_counts_the_same_wherever_in_a_series_it_is():
    torch.manual_seed(0)
    encoder = PooledSeries(channels=8, width=16).encoder(Modality("touch", "series", (128, 2)), 5)
    early = torch.zeros(1, 128, 2)
    early[:, 48:54] = torch.randn(6, 2)
    torch.testing.assert_close(encoder(early.roll(16, 1)), encoder(early))
    assert (encoder(early.flip(1)) - encoder(early)).abs().max() > 1e-3  # backwards is something else


def test_what_lies_beyond_the_length_of_a_series_changes_nothing():
    torch.manual_seed(0)
    encoder = PooledSeries(channels=8, width=16).encoder(Modality("touch", "series", (21, 2)), 5)
    series, lengths = torch.randn(6, 21, 2), torch.tensor([21, 20, 9, 4, 1, 0])
    other = series.clone()
    for row, length in enumerate(lengths):
        other[row, length:] = float("inf")
    assert torch.equal(encoder(series, lengths), encoder(other, lengths))
    torch.testing.assert_close(encoder(series, torch.full((6,), 21)), encoder(series))
