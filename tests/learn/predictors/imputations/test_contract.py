"""The contract of every method for missing modalities; above all, that what is masked reaches no weight and no number."""

from dataclasses import replace

import pytest
import torch

from molyneux.core import Batch, Progress, Trainable
from molyneux.learn import SubsetPredictors, load_weights, save_model

START = Progress(0, 10)


def noise(seed=0):
    return torch.Generator().manual_seed(seed)


def trained(model, batches, seed=0):
    """Losses of some steps of Adam, the last step with terms."""
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    found = []
    for number, batch in enumerate(batches):
        torch.manual_seed(number)
        optimizer.zero_grad()
        loss = model.train().loss(batch, START, noise(seed + number))
        loss.total.backward()
        optimizer.step()
        found.append({"loss": loss.total.detach(), **loss.terms})
    return found


def logits_of(model, batch, observed=None):
    return model.predict(batch, observed)["y"].logits


@pytest.mark.parametrize("count", [2, 4])
def test_what_is_masked_reaches_no_weight_no_prediction_and_no_loss(method, build, spec_of, batch_of, refill, count):
    """Several steps with other content behind the masks, and lengths: bit for bit the same."""
    spec = spec_of(count, tasks=5)
    clean = [batch_of(spec, 12, seed=seed) for seed in range(3)]
    assert all(not mask.all() for batch in clean for mask in batch.present.values())
    outcomes = []
    for fill in (None, 1, 2):
        batches = clean if fill is None else [refill(batch, spec, fill) for batch in clean]
        model = build(method, spec)
        losses = trained(model, batches)
        with torch.no_grad():
            evaluated = model.eval().loss(batches[0], START, noise())
            predicted = model.predict(batches[1])
        outcomes.append((model.state_dict(), losses, evaluated, predicted))
    first, *others = outcomes
    for weights, losses, evaluated, predicted in others:
        assert all(torch.equal(weights[name], value) for name, value in first[0].items())
        for now, before in zip(losses, first[1], strict=True):
            assert now.keys() == before.keys()
            assert all(torch.equal(now[name], value) for name, value in before.items())
        assert torch.equal(evaluated.total, first[2].total)
        assert torch.equal(predicted["y"].logits, first[3]["y"].logits)
        assert torch.equal(predicted["where"].mean, first[3]["where"].mean)
    start = build(method, spec).state_dict()
    assert all(value.isfinite().all() for value in first[0].values() if value.is_floating_point())
    assert any(not torch.equal(start[name], value) for name, value in first[0].items())


@pytest.mark.parametrize("count", [2, 3, 4])
def test_the_gradient_reaches_every_parameter(method, build, spec_of, batch_of, count):
    spec = spec_of(count, tasks=5)
    model = build(method, spec)
    assert isinstance(model, Trainable)
    batches = [batch_of(spec, 16, seed=seed) for seed in range(2)]
    trained(model, batches[:1])  # statistics of what is present are then there
    model.zero_grad()
    loss = model.train().loss(batches[1], START, noise())
    loss.total.backward()
    assert loss.total.isfinite()
    for name, parameter in model.named_parameters():
        assert parameter.grad is not None, name
        assert parameter.grad.isfinite().all(), name
        assert parameter.grad.abs().max() > 0, name


@pytest.mark.parametrize("count", [2, 3])
def test_samples_of_a_batch_do_not_see_each_other(method, build, spec_of, batch_of, count):
    spec = spec_of(count)
    model = build(method, spec)
    trained(model, [batch_of(spec, 12, seed=5)])
    model.eval()
    batch, order = batch_of(spec, 10), torch.randperm(10, generator=noise())
    whole = logits_of(model, batch)
    torch.testing.assert_close(logits_of(model, batch[order]), whole[order], rtol=1e-4, atol=1e-5)
    for row in range(4):
        torch.testing.assert_close(logits_of(model, batch[row : row + 1])[0], whole[row], rtol=1e-4, atol=1e-5)
    assert logits_of(model, batch[:0]).shape == (0, 3)
    assert model.represent(batch)["shared"].shape[0] == 10


def test_what_is_not_observed_is_as_if_it_were_not_there(method, build, spec_of, batch_of):
    spec = spec_of(3)
    model = build(method, spec)
    trained(model, [batch_of(spec, 12, seed=5)])
    model.eval()
    batch = batch_of(spec, 8, complete=True)
    for names in ((spec.names[0],), spec.names[1:], spec.names):
        seen = logits_of(model, batch, names)
        masked = replace(batch, present={name: torch.full((8,), name in names) for name in spec.names})
        torch.testing.assert_close(logits_of(model, masked), seen, rtol=1e-5, atol=1e-6)
        only = Batch(
            {name: batch.views[name] for name in names}, lengths={n: batch.lengths[n] for n in names if n in batch.lengths}
        )
        torch.testing.assert_close(logits_of(model, only), seen, rtol=1e-5, atol=1e-6)
    nothing = logits_of(model, batch, [])
    torch.testing.assert_close(nothing, nothing[:1].expand(8, -1))


@pytest.mark.parametrize("size", [1, 2])
def test_a_batch_of_one_trains_whatever_it_lacks(method, build, spec_of, batch_of, size):
    spec = spec_of(2, tasks=5)
    model = build(method, spec)
    for row in range(3):
        batch = batch_of(spec, 6)[row : row + size]
        assert all(torch.isfinite(value) for losses in trained(model, [batch]) for value in losses.values())
    empty = replace(batch, present={name: torch.zeros(size, dtype=torch.bool) for name in spec.names})
    assert trained(model, [empty])[0]["loss"].isfinite()


def test_complete_samples_need_no_stand_in(method, build, spec_of, batch_of):
    """Masks that are all true give what no masks give."""
    spec = spec_of(2)
    model = build(method, spec).eval()
    batch = batch_of(spec, 6, complete=True)
    masked = replace(batch, present={name: torch.ones(6, dtype=torch.bool) for name in spec.names})
    assert torch.equal(logits_of(model, batch), logits_of(model, masked))


@pytest.mark.kernels
def test_half_precision_of_the_nets_gives_full_precision_of_the_loss(method, build, spec_of, batch_of):
    spec = spec_of(2)
    model, batch = build(method, spec), batch_of(spec)
    trained(model, [batch])
    full = model.eval().loss(batch, START, noise()).total
    with torch.autocast("cpu", torch.bfloat16):
        half = model.loss(batch, START, noise()).total
        assert model.train().loss(batch, START, noise()).total.isfinite()
    assert half.dtype == torch.float32
    assert half.item() == pytest.approx(full.item(), rel=0.1)


def test_weights_and_statistics_can_be_stored_and_loaded(method, build, spec_of, batch_of, tmp_path):
    spec = spec_of(2)
    model, other = build(method, spec), build(method, spec, seed=3)
    trained(model, [batch_of(spec, 12, seed=seed) for seed in range(2)])
    save_model(model, tmp_path, {})
    load_weights(other, tmp_path)
    batch = batch_of(spec)
    assert torch.equal(logits_of(model.eval(), batch), logits_of(other.eval(), batch))


def test_the_noise_of_a_step_is_that_of_its_generator(method, build, spec_of, batch_of):
    spec = spec_of(2)
    batch, model = batch_of(spec), build(method, spec).train()
    losses = []
    for _ in range(2):
        torch.manual_seed(4)
        state = {name: value.clone() for name, value in model.state_dict().items()}
        losses.append(model.loss(batch, START, noise(7)).total)
        model.load_state_dict(state)
    assert torch.equal(*losses)
    if isinstance(model, SubsetPredictors) or method in ("mean", "mean view", "token", "token of parts", "shaspec"):
        return
    torch.manual_seed(4)
    assert not torch.equal(model.loss(batch, START, noise(8)).total, losses[0])
