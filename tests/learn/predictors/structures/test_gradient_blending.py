"""GradientBlending: weights by hand, the loss they give, a modality that over-fits, and a training that is interrupted."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from torch.distributions import Bernoulli, Categorical, Independent, Normal

from molyneux.core import Batch, ConfigError, EpochStart, Modality, Progress, Spec, Target
from molyneux.learn import GradientBlending, Stage, Training, fit
from molyneux.learn.encoders import MLP, RecurrentSteps
from molyneux.learn.fusion import EarlyFusion, LowRank
from molyneux.learn.predictors import Blending, Head, UnimodalHeads
from molyneux.learn.predictors.structures.gradient_blending import opinion_pool

START = Progress(0, 10)
BEFORE = torch.tensor([[1.0, 1.0], [1.0, 1.1], [1.0, 1.0]], dtype=torch.float64)


@pytest.fixture
def build(spec_of, encoders):
    """Builds a small model of several modalities."""

    def make(count=3, tasks=1, **settings):
        torch.manual_seed(0)
        return GradientBlending(spec_of(count, tasks), **{"encoders": encoders, "head": Head(7), **settings})

    return make


def test_weights_by_hand():
    """Gains 0.4, 0.3 and 0.2; gaps grow by 0.2, 0.6 and 0.1: weights in the ratios 0.4/0.04, 0.3/0.36, 0.2/0.01."""
    after = torch.tensor([[0.4, 0.6], [0.1, 0.8], [0.7, 0.8]], dtype=torch.float64)
    raw = torch.tensor([10.0, 0.3 / 0.36, 20.0], dtype=torch.float64)
    found = Blending(floor=0.01, least=0.0).weights(BEFORE, after)
    torch.testing.assert_close(found, raw / raw.sum())
    shared = Blending(floor=0.01, least=0.3).weights(BEFORE, after)
    torch.testing.assert_close(shared, 0.1 + 0.7 * raw / raw.sum())
    # the largest fall of a training loss is 0.9: with the floor 0.5 no gap counts less than 0.45
    raised = torch.tensor([0.4 / 0.45**2, 0.3 / 0.6**2, 0.2 / 0.45**2], dtype=torch.float64)
    torch.testing.assert_close(Blending(floor=0.5, least=0.0).weights(BEFORE, after), raised / raised.sum())


def test_without_over_fitting_no_weight_takes_all():
    """The gap of the first shrinks. Published: clipped at 1e-4, its weight is all but 1."""
    after = torch.tensor([[0.9, 0.8], [0.1, 0.8], [0.7, 0.8]], dtype=torch.float64)
    found = Blending(least=0.0).weights(BEFORE, after)
    raw = torch.tensor([0.2 / 0.09**2, 0.3 / 0.6**2, 0.2 / 0.1**2], dtype=torch.float64)
    torch.testing.assert_close(found, raw / raw.sum())
    published = Blending(formula="published").weights(BEFORE, after)
    assert published[0] > 0.99999
    torch.testing.assert_close(published[1] / published[0], torch.tensor((0.8 / 0.36) / (0.8 / 1e-8), dtype=torch.float64))


def test_a_loss_whose_held_out_value_rises_has_the_least_weight_and_without_any_gain_nothing_changes():
    after = torch.tensor([[0.1, 1.4], [0.5, 0.6], [0.5, 0.6]], dtype=torch.float64)
    found = Blending(least=0.15).weights(BEFORE, after)
    assert found[0] == pytest.approx(0.05)
    assert found.sum() == pytest.approx(1)
    assert Blending().weights(BEFORE, BEFORE + 0.1) is None


def test_over_fitting_counts_as_at_least_a_share_of_the_largest_fall_of_a_training_loss():
    """Training losses fall by 0.1, 0.35 and 0.5; gains 0.1, 0.2 and 0; gaps grow by 0 (so 0.05), 0.15 and 2."""
    before = torch.ones(3, 2, dtype=torch.float64)
    after = torch.tensor([[0.9, 0.9], [0.65, 0.8], [0.5, 2.5]], dtype=torch.float64)
    raw = torch.tensor([0.1 / 0.05**2, 0.2 / 0.15**2, 0.0], dtype=torch.float64)
    found = Blending(floor=0.1, least=0.0).weights(before, after)
    torch.testing.assert_close(found, raw / raw.sum())
    assert found.tolist() == pytest.approx([0.82, 0.18, 0], abs=0.005)
    rising = torch.tensor([[1.1, 0.9], [1.0, 0.6]], dtype=torch.float64)  # no training loss falls: 0.1 times the gain of 0.4
    found = Blending(floor=0.1, least=0.0).weights(before[:2], rising)
    torch.testing.assert_close(found, torch.tensor([0.2, 0.8], dtype=torch.float64))


@pytest.mark.parametrize("count", [2, 3, 4])
def test_the_loss_is_the_weighted_sum_and_its_gradient_reaches_every_parameter(build, batch_of, count):
    model = build(count, tasks=5, fusion=LowRank(6, 3)).train()
    assert isinstance(model, EpochStart)
    weights = torch.arange(1, count + 2) / sum(range(1, count + 2))
    model.weights.copy_(weights)
    loss = model.loss(batch_of(model.spec, 16), START)
    names = [*(f"{name}/" for name in model.spec.names), ""]
    parts = [sum(loss.terms[f"{name}nll.{target.name}"] for target in model.spec.targets) for name in names]
    torch.testing.assert_close(loss.total.detach(), weights @ torch.stack(parts))
    assert [loss.terms[f"{name}weight"].item() for name in names] == pytest.approx(weights.tolist())
    loss.total.backward()
    for name, parameter in model.named_parameters():
        assert parameter.grad is not None, name
        assert parameter.grad.abs().max() > 0, name
    model.eval()
    torch.testing.assert_close(model.loss(batch_of(model.spec, 16), START).total, parts[-1], rtol=1e-4, atol=1e-4)


def test_samples_without_a_modality_count_nothing_in_its_loss(build, batch_of):
    model = build().eval()
    batch, mask = batch_of(model.spec), torch.arange(12) < 5
    views = {**batch.views, "table": batch.views["table"].where(mask.unsqueeze(1), torch.nan)}
    damaged = replace(batch, views=views, present={"table": mask})
    alone = model.loss(batch[mask], START).terms["table/nll.y"]
    torch.testing.assert_close(model.loss(damaged, START).terms["table/nll.y"], alone)
    model.train()
    loss = model.loss(damaged[:1], START)
    loss.total.backward()
    assert loss.total.isfinite()
    assert all(parameter.grad is None or parameter.grad.isfinite().all() for parameter in model.parameters())


def test_objectives_are_added_without_a_weight(build, batch_of):
    model = build(objectives=(UnimodalHeads(Head(layers=0), weight=0.5),)).train()
    loss = model.loss(batch_of(model.spec), START)
    encodings = model.encodings(batch_of(model.spec))
    heads = model.unimodal_heads.predict(encodings).values()
    added = sum(-found["y"].log_prob(batch_of(model.spec).targets["y"]).mean() for found in heads)
    model.objectives = torch.nn.ModuleList()
    torch.testing.assert_close(loss.total, model.loss(batch_of(model.spec), START).total + 0.5 * added)


def test_heads_of_their_own_and_early_fusion(build):
    model = build(heads={"table": Head(3), "series": Head(layers=0)})
    widths = {name: branch.answers.outputs["y"].last.in_features for name, branch in model.branches.items()}
    assert widths == {"force.1": 5, "table": 3, "position": 5}
    early = build(fusion=EarlyFusion(RecurrentSteps(width=9)), encoders={}, head=Head(layers=0))
    assert {name: branch.layer.features for name, branch in early.branches.items()} == {"force.1": 9, "table": 128, "position": 9}
    with pytest.raises(ConfigError, match="heads: no modality or kind 'tables'; did you mean"):
        build(heads={"tables": Head(3)})
    with pytest.raises(ConfigError, match="share, floor, least: expected a share below 1"):
        Blending(share=1.0)


def test_blended_predictions_are_those_of_all_heads(build, batch_of):
    joint, blended = build(tasks=2), build(tasks=2, blended=True)
    joint.eval()
    blended.eval()
    for model in (joint, blended):
        model.weights.copy_(torch.tensor([0.1, 0.2, 0.3, 0.4]))
    batch = replace(batch_of(joint.spec), present={"table": torch.arange(12) > 0})
    encodings = joint.encodings(batch)
    heads = [joint.branches[name](name, encodings[name])["y"].logits for name in joint.spec.names]
    heads.append(joint.predict(batch)["y"].logits)
    weights = torch.tensor([0.1, 0.2, 0.3, 0.4]).repeat(12, 1)
    weights[0] = torch.tensor([0.125, 0.0, 0.375, 0.5])
    expected = (torch.stack(heads, 1) * weights.unsqueeze(2)).sum(1).log_softmax(1)
    found = blended.predict(batch)
    torch.testing.assert_close(found["y"].logits, expected)
    values = sum(-found[name].log_prob(batch.targets[name].float()).mean() for name in ("y", "agree"))
    torch.testing.assert_close(blended.loss(batch, START).total, values)
    assert blended.predict(batch[:0])["y"].logits.shape == (0, 3)


def test_the_pool_is_the_product_of_powers():
    weights = torch.tensor([[0.25], [0.75]])
    normals = [Normal(torch.tensor([[1.0, 2.0]]), torch.tensor([[0.5, 1.0]])), Normal(torch.zeros(1, 2), torch.ones(1, 2))]
    pooled = opinion_pool([Independent(one, 1) for one in normals], weights)
    grid = torch.linspace(-8, 8, 4001).unsqueeze(1).expand(-1, 2)
    powers = sum(weight * one.log_prob(grid) for weight, one in zip((0.25, 0.75), normals, strict=True)).exp()
    means = (grid * powers).sum(0) / powers.sum(0)
    torch.testing.assert_close(pooled.mean[0], means, rtol=1e-4, atol=1e-4)
    torch.testing.assert_close(
        pooled.variance[0], (grid.square() * powers).sum(0) / powers.sum(0) - means**2, rtol=1e-3, atol=1e-4
    )
    coins = opinion_pool([Bernoulli(probs=torch.tensor([0.9])), Bernoulli(probs=torch.tensor([0.2]))], weights)
    classes = opinion_pool([Categorical(torch.tensor([[0.1, 0.9]])), Categorical(torch.tensor([[0.8, 0.2]]))], weights)
    torch.testing.assert_close(coins.probs, classes.probs[:, 1])


def overfitting(source_of, size=120):
    """One modality says the class with some noise; the other is noise of so many numbers that it can be learned by heart."""
    random = torch.Generator().manual_seed(1)
    y = torch.arange(size) % 2
    views = {
        "signal": torch.randn(size, 3, generator=random) + 1.5 * y.unsqueeze(1),
        "noise": torch.randn(size, 80, generator=random),
    }
    spec = Spec(
        (Modality("signal", "tabular", (3,)), Modality("noise", "tabular", (80,))), targets=(Target("y", "class", ("a", "b")),)
    )
    return source_of(spec, Batch(views, targets={"y": y}))


def blended_model(spec, seed=3, **settings):
    torch.manual_seed(seed)
    return GradientBlending(
        spec,
        encoders={"tabular": MLP((16,), 8, last=True)},
        head=Head(layers=0),
        blending=Blending(**{"every": 2, "window": 4, **settings}),
    )


TRAINING = Training(
    epochs=3, batch_size=24, learning_rate=0.01, schedule="constant", tensorboard=False, keep="last", precision="32"
)


def test_a_modality_that_over_fits_gets_less_weight_and_what_is_saved_was_trained(source_of, for_some_seed):
    for_some_seed(lambda seed: gets_less_weight(overfitting(source_of), seed))


def gets_less_weight(source, seed):
    model = blended_model(source.spec, seed)
    before = {name: value.clone() for name, value in model.state_dict().items()}
    history = fit(model, source, source, TRAINING, seed=seed)
    signal, noise, joint = model.weights.tolist()
    assert noise < 0.07 < joint
    assert signal > 0.6
    assert signal + noise + joint == pytest.approx(1)
    rows = [{name: row[f"train/{name}weight"] for name in ("signal/", "noise/", "")} for row in history.rows]
    assert rows[0] == pytest.approx(rows[1])  # estimated before the first and the third epoch
    assert rows[2]["signal/"] == pytest.approx(signal)
    assert rows[2] != pytest.approx(rows[1])
    for name, value in model.state_dict().items():
        assert not torch.equal(value, before[name]), name
    assert history.rows[-1]["validation/loss"] == pytest.approx(history.rows[-1]["validation/nll.y"])


def test_in_a_stage_that_trains_the_joint_head_alone_the_other_losses_have_the_least_weight(source_of):
    source = overfitting(source_of)
    model = blended_model(source.spec, least=0.3)
    fixed = {name: value.clone() for name, value in model.state_dict().items() if name.startswith(("encoders", "branches"))}
    fit(model, source, source, replace(TRAINING, stages=(Stage(name="head", parameters=("answers.*",), epochs=1),)), seed=1)
    assert model.weights.tolist() == pytest.approx([0.1, 0.1, 0.8])
    assert all(torch.equal(model.state_dict()[name], value) for name, value in fixed.items())
    assert all(parameter.requires_grad for parameter in model.parameters())


@pytest.mark.kernels
@pytest.mark.parametrize("batches", [40, 80, 100])
def test_an_interrupted_training_gives_bit_for_bit_what_another_gives(source_of, dying, tmp_path, batches):
    """The first estimate reads 78 batches: the source dies in it, in the first epoch, in the second estimate."""
    source = overfitting(source_of)
    whole, broken = blended_model(source.spec), blended_model(source.spec)
    training = replace(TRAINING, memory="stream", prefetch=0)
    fit(whole, source, source, training, tmp_path / "whole", seed=1)
    often = replace(training, checkpoint_seconds=0.0)
    with pytest.raises(dying.error):
        fit(blended_model(source.spec), dying(source, batches), source, often, tmp_path / "broken", seed=1)
    fit(broken, source, source, training, tmp_path / "broken", seed=1)
    for name, value in whole.state_dict().items():
        assert torch.equal(broken.state_dict()[name], value), name


def test_the_split_keeps_contrast_sets_whole():
    class Source:
        spec = Spec((Modality("x", "tabular", (2,)),), targets=(Target("true", "agreement", contrast=(2, 2)),))

        def __len__(self):
            return 44

    from molyneux.core import Epoch

    epoch = Epoch(0, START, Source(), None, 5, lambda *_: None, lambda *_: 0.0)
    part, rest = Blending(share=0.7).split(epoch)
    assert len(part) == 32
    assert sorted(np.concatenate([part, rest])) == list(range(44))
    assert all(len(set(rows.reshape(-1, 4)[:, 0] // 4 * 4 - rows.reshape(-1, 4)[:, 0])) == 1 for rows in (part, rest))
