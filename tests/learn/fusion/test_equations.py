"""The equations of the fusions: closed forms, check values of the published system, and independent computations."""

import math
from fractions import Fraction

import numpy as np
import pytest
import torch
from torch import nn

from molyneux.core import ConfigError, Modality, SpecError
from molyneux.learn.encoders import MLP, Encoding, EncodingSpec, Identity
from molyneux.learn.encoders.general import MaxoutUnits
from molyneux.learn.fusion import (
    MFAS,
    BottleneckAttention,
    Concatenation,
    DynamicFusion,
    FiLMFusion,
    KalmanFilter,
    LayerSearch,
    LowRank,
    MulT,
    MultiplicativeInteractions,
    NLGate,
    Perceiver,
    Pooling,
    ProductOfExperts,
    TensorFusion,
)
from molyneux.learn.fusion.kalman import KalmanPrediction, update

A, B = torch.tensor([[1.0, 2.0]]), torch.tensor([[3.0, 4.0]])


def whole(vector, present=True):
    """The encoding of vectors whose only part is the whole."""
    here = torch.full((len(vector),), present)
    return Encoding(vector * present, (vector * present).unsqueeze(1), here.unsqueeze(1), present=here)


def spec_of(encoding, name="x"):
    count, width = encoding.parts.shape[1:]
    layers = tuple(layer.shape[1] for layer in encoding.hidden)
    return EncodingSpec(name, "series", encoding.vector.shape[1], count, width, layers, count > 1)


def built(settings, **encodings):
    torch.manual_seed(0)
    return settings.build({name: spec_of(encoding, name) for name, encoding in encodings.items()}).eval()


def fused(settings, **encodings):
    return built(settings, **encodings)(encodings)


def steps(size=3, count=4, width=2, *, lengths=None, seed=0):
    """Sequences of random numbers, with lengths."""
    parts = torch.randn(size, count, width, generator=torch.Generator().manual_seed(seed))
    mask = torch.arange(count) < (torch.full((size,), count) if lengths is None else torch.tensor(lengths)).unsqueeze(1)
    parts = parts * mask.unsqueeze(2)
    return Encoding(parts.flatten(1), parts, mask, present=mask.any(1))


def test_tensor_fusion_is_the_outer_product_with_ones():
    found = fused(TensorFusion(None), a=whole(A), b=whole(B))
    assert found.tolist() == [[1, 3, 4, 1, 3, 4, 2, 6, 8]]
    assert fused(TensorFusion(None), a=whole(A), b=whole(B, False)).tolist() == [[1, 0, 0, 1, 0, 0, 2, 0, 0]]
    with pytest.raises(SpecError, match="lower its width, or choose LowRank"):
        fused(TensorFusion(None), **{name: whole(torch.zeros(1, 800)) for name in "abc"})


def test_low_rank_is_tensor_fusion_with_a_tensor_of_low_rank():
    """Equations 5 and 6: the weight tensor is the sum over r of outer products of the factors."""
    layer = built(LowRank(features=3, rank=2), a=whole(A), b=whole(B))
    found = layer({"a": whole(A), "b": whole(B)})
    factors = []
    for factor in layer.factors.values():
        weight = torch.cat([factor.bias.unsqueeze(1), factor.weight], 1).unflatten(0, (2, 3))
        factors.append(weight.permute(0, 2, 1))  # (rank, 1 + D, features)
    tensor = torch.einsum("r,rif,rjf->ijf", layer.weights, *factors)
    product = torch.einsum("bi,bj->bij", *(torch.cat([torch.ones(1, 1), z], 1) for z in (A, B)))
    torch.testing.assert_close(found, torch.einsum("bij,ijf->bf", product, tensor) + layer.bias)
    assert all(parameter.requires_grad for parameter in layer.parameters())
    assert {"weights", "bias", "factors.a.weight", "factors.b.bias"} < set(layer.state_dict())


def test_multiplicative_interactions_of_the_reference_sheet():
    layer = built(MultiplicativeInteractions("matrix", 2), a=whole(A), b=whole(B))
    one = layer.interactions[0]
    one.tensor.data = torch.arange(8.0).reshape(2, 2, 2)
    one.first.weight.data, one.first.bias.data = torch.eye(2), torch.tensor([0.5, -0.5])
    one.second.weight.data = torch.tensor([[0.0, 1.0], [1.0, 0.0]])
    assert layer({"a": whole(A), "b": whole(B)}).tolist() == [[85.5, 105.5]]
    layer = built(MultiplicativeInteractions("vector"), a=whole(A), b=whole(B))
    one = layer.interactions[0]
    one.scale.weight.data, one.scale.bias.data = torch.tensor([[1.0, 2], [3, 4]]).t(), torch.tensor([0.5, -0.5])
    one.shift.weight.data, one.shift.bias.data = torch.eye(2), torch.ones(2)
    assert layer({"a": whole(A), "b": whole(B)}).tolist() == [[24.5, 41.0]]
    layer = built(MultiplicativeInteractions("scalar"), a=whole(A), b=whole(B))
    one = layer.interactions[0]
    one.scale.weight.data, one.scale.bias.data = torch.tensor([[1.0, 2.0]]), torch.tensor([0.5])
    one.shift.weight.data, one.shift.bias.data = torch.tensor([[1.0, -1.0]]), torch.tensor([1.0])
    assert layer({"a": whole(A), "b": whole(B)}).tolist() == [[16.5, 22.0]]


def test_multiplicative_interactions_of_three_vectors_chain():
    views = {"a": whole(A), "b": whole(B), "c": whole(torch.tensor([[1.0, 0.0, 2.0]]))}
    layer = built(MultiplicativeInteractions("matrix", 4), **views)
    assert layer(views).shape == (1, 4)
    first, second = layer.interactions
    torch.testing.assert_close(layer(views), second(first(A, B), views["c"].vector))
    with pytest.raises(SpecError, match="joins at least 2 modalities, got a"):
        built(MultiplicativeInteractions(), a=whole(A))


def test_the_non_local_gate_of_the_reference_sheet():
    found = fused(NLGate("a", linear=False, scaled=False, readout="all"), a=whole(A), b=whole(B))
    assert found.tolist() == [[4.0, 6.0]]
    with pytest.raises(SpecError, match="expected parts of 2 numbers, as a has, without linear layers, got 3 of b"):
        fused(NLGate("a", linear=False), a=whole(A), b=whole(torch.zeros(1, 3)))


def test_the_non_local_gate_is_attention_with_a_residual():
    a, b = steps(lengths=[4, 2, 3]), steps(count=5, seed=1, lengths=[5, 0, 2])
    found = fused(NLGate("a", linear=False, readout="all"), a=a, b=b).unflatten(1, (4, 2))
    for row, (asks, answers) in enumerate(((4, 5), (2, 0), (3, 2))):
        q, k = a.parts[row, :asks], b.parts[row, :answers]
        expected = q + torch.softmax(q @ k.T / math.sqrt(2), 1) @ k if answers else q
        torch.testing.assert_close(found[row, :asks], expected)
        assert not found[row, asks:].any()


def test_late_fusion_and_pooling():
    assert fused(Concatenation(), a=whole(A), b=whole(B)).tolist() == [[1, 2, 3, 4]]
    views = {"a": whole(A), "b": whole(B), "c": whole(A, False)}
    for pool, expected in (("sum", [[4.0, 6.0]]), ("mean", [[2.0, 3.0]]), ("max", [[3.0, 4.0]])):
        layer = built(Pooling(pool, 2), **views)
        for projection in layer.projections.layers.values():
            projection.weight.data, projection.bias.data = torch.eye(2), torch.zeros(2)
        assert layer(views).tolist() == expected
        assert layer({name: whole(item.vector, False) for name, item in views.items()}).tolist() == [[0, 0]]


def test_film_scales_and_shifts():
    views = {"a": whole(A), "b": whole(B)}
    layer = built(FiLMFusion("a", width=2, blocks=1, hidden=2), **views)
    for linear in (layer.entry, layer.blocks[0]):
        linear.weight.data, linear.bias.data = torch.eye(2), torch.zeros(2)
    layer.condition[2].weight.data.zero_()
    layer.condition[2].bias.data = torch.tensor([1.0, -2.0, 0.5, 0.5])
    assert layer(views).tolist() == [[1 + 2 * 1 + 0.5, 2 + 0.0]]  # the second: relu((1 - 2) 2 + 0.5) = 0
    for linear in (layer.condition[0], layer.condition[2]):
        linear.weight.data, linear.bias.data = torch.ones_like(linear.weight), torch.zeros_like(linear.bias)
    assert layer(views).tolist() == [[1 + 15 * 1 + 14, 2 + 15 * 2 + 14]]  # gamma and beta are 2 (3 + 4)


def test_a_product_of_experts_is_the_normalised_product_of_densities():
    torch.manual_seed(0)
    raw = {name: torch.randn(1, 2) for name in "ab"}
    layer = built(ProductOfExperts(1, linear=False), **{name: whole(value) for name, value in raw.items()})
    found = layer.posterior({name: whole(value) for name, value in raw.items()})
    grid = torch.linspace(-12, 12, 20001, dtype=torch.float64)
    density = torch.exp(-grid.square() / 2)
    for value in raw.values():
        mean, log_variance = value[0].double()
        density *= torch.exp(-((grid - mean) ** 2) / (2 * log_variance.exp()))
    density /= density.sum()
    assert found.mean.item() == pytest.approx((density * grid).sum().item(), abs=1e-5)
    variance = (density * grid.square()).sum() - (density * grid).sum() ** 2
    assert found.variance.item() == pytest.approx(variance.item(), rel=1e-4)
    alone = layer.posterior({"a": whole(raw["a"], False), "b": whole(raw["b"], False)})
    assert (alone.mean.item(), alone.variance.item()) == (0, 1)


def test_without_linear_layers_vectors_are_the_log_variances_themselves():
    """Two experts of 4 with log-variances -6 and 6: mean 4 (e^6 + e^-6) / (1 + e^6 + e^-6); extreme ones stay finite."""
    layer = built(ProductOfExperts(1, linear=False), a=whole(torch.zeros(1, 2)), b=whole(torch.zeros(1, 2)))
    total = math.exp(6) + math.exp(-6)
    found = layer.posterior({"a": whole(torch.tensor([[4.0, -6.0]])), "b": whole(torch.tensor([[4.0, 6.0]]))})
    assert found.mean.item() == pytest.approx(4 * total / (1 + total), rel=1e-5)
    assert found.variance.item() == pytest.approx(1 / (1 + total), rel=1e-5)
    extreme = layer.posterior({"a": whole(torch.tensor([[4.0, -900.0]])), "b": whole(torch.tensor([[0.0, 900.0]]))})
    assert extreme.mean.item() == pytest.approx(4)
    assert extreme.variance.isfinite().all()


def test_a_product_of_experts_is_no_sum_over_modalities():
    """Experts of mean 1 / t with precision t, 1 or 10: the product has the mean 2 / (1 + t_a + t_b)."""

    def expert(precision):
        return whole(torch.tensor([[1 / precision, -math.log(precision)]]))

    layer = built(ProductOfExperts(1, linear=False), a=expert(1), b=expert(1))
    found = {(a, b): layer({"a": expert(a), "b": expert(b)}).item() for a in (1, 10) for b in (1, 10)}
    assert found == pytest.approx({(a, b): 2 / (1 + a + b) for a in (1, 10) for b in (1, 10)}, rel=0.02)
    assert found[1, 1] - found[1, 10] - found[10, 1] + found[10, 10] > 0.4


def test_sensor_fusion_draws_in_training_alone_and_by_its_generator():
    views = {"a": whole(A), "b": whole(B)}
    layer = built(ProductOfExperts(3), **views).train()
    draws = [layer(views, torch.Generator().manual_seed(seed)) for seed in (0, 0, 1)]
    assert torch.equal(draws[0], draws[1])
    assert not torch.equal(draws[0], draws[2])
    assert torch.equal(layer(views), layer.eval()(views, torch.Generator().manual_seed(0)))


def test_the_update_of_the_kalman_filter():
    """Of one dimension: means by precision; of several, the formula of the textbook in NumPy."""
    mean, variance = update(torch.tensor([[1.0]]), torch.tensor([[[4.0]]]), torch.tensor([[3.0]]), torch.tensor([[1.0]]))
    assert mean.item() == pytest.approx((1 / 4 + 3) / (1 / 4 + 1))
    assert variance.item() == pytest.approx(1 / (1 / 4 + 1))
    random = np.random.default_rng(0)
    root = random.normal(size=(3, 3))
    p, x, z, r = root @ root.T + np.eye(3), random.normal(size=3), random.normal(size=3), random.uniform(0.5, 2, 3)
    gain = p @ np.linalg.inv(p + np.diag(r))
    found = update(*(torch.tensor(value[None]) for value in (x, p, z, r)))
    np.testing.assert_allclose(found[0][0], x + gain @ (z - x))
    np.testing.assert_allclose(found[1][0], (np.eye(3) - gain) @ p, atol=1e-12)


def test_the_jacobian_of_the_prediction():
    torch.manual_seed(0)
    prediction, mean = KalmanPrediction(3, 5).double(), torch.randn(2, 3, dtype=torch.float64)
    nn.init.constant_(prediction.log_noise, -100.0)
    prediction.float()
    covariance = torch.eye(3).expand(2, -1, -1)
    after, spread = prediction(mean.float(), covariance)
    for row in range(2):
        jacobian = torch.autograd.functional.jacobian(lambda x: prediction(x[None], covariance[:1])[0][0], mean[row].float())
        torch.testing.assert_close(spread[row], jacobian @ jacobian.T)
    assert after.shape == (2, 3)


def test_the_filter_of_one_sensor_and_a_still_state_averages_what_it_saw():
    """Without motion and noise of it, n observations with variance r and a prior N(0, 1) have the mean sum z / (n + r)."""
    views = {"a": steps(2, 5, 1, lengths=[5, 3])}
    layer = built(KalmanFilter(1, 4), **views)
    nn.init.zeros_(layer.prediction.change.weight)
    nn.init.zeros_(layer.prediction.change.bias)
    nn.init.constant_(layer.prediction.log_noise, -100.0)
    sensor = layer.sensors["a"]
    sensor.weight.data, sensor.bias.data = torch.tensor([[1.0], [0.0]]), torch.tensor([0.0, 0.0])
    variance = math.log(2) + 1e-3  # softplus(0)
    for row, count in enumerate((5, 3)):
        expected = views["a"].parts[row, :count].sum() / (count + variance)
        assert layer(views)[row].item() == pytest.approx(expected.item(), rel=1e-4)


def test_the_crossmodal_filter_listens_to_those_that_are_there():
    views = {"a": steps(2, 4, 2, lengths=[4, 4]), "b": steps(2, 4, 2, lengths=[0, 4], seed=1)}
    layer = built(KalmanFilter(3, 4), **views)
    observed, noise, weights, there = layer._observations(views)
    torch.testing.assert_close(weights.sum(2), torch.ones(2, 4, 3))
    assert torch.equal(weights[0, :, 0], torch.ones(4, 3))
    garbage = observed.clone()
    garbage[0, :, 1] = 99.0
    total = torch.tensor([4, 4])
    torch.testing.assert_close(
        layer.filter(garbage, noise, weights, there, total), layer.filter(observed, noise, weights, there, total)
    )


def test_crossmodal_attention_reads_sequences_of_unequal_lengths_and_no_padding():
    a, b = steps(3, 4, 2, lengths=[4, 2, 1]), steps(3, 9, 3, lengths=[9, 5, 0], seed=1)
    layer = built(MulT(8, 2, 1, self_layers=1, dropout=0.0), a=a, b=b)
    found = layer({"a": a, "b": b})
    assert found.shape == (3, 16)
    for row, (first, second) in enumerate(((4, 9), (2, 5))):
        short = {"a": cut(a, row, first), "b": cut(b, row, second)}
        torch.testing.assert_close(layer(short)[0], found[row], rtol=1e-4, atol=1e-5)


def cut(encoding, row, count):
    """One sample up to its length."""
    parts = encoding.parts[row : row + 1, :count]
    return Encoding(encoding.vector[row : row + 1], parts, encoding.mask[row : row + 1, :count])


@pytest.mark.parametrize(("asking", "heard"), [(10, 6), (6, 10), (5, 5), (7, 2)])
def test_causal_crossmodal_attention_follows_the_time_of_sequences_of_other_lengths(asking, heard):
    layer = built(MulT(8, 2, 1, dropout=0.0, causal=True), a=steps(1, asking), b=steps(1, heard)).crossmodal["a"]["b"]
    noise = torch.Generator().manual_seed(1)
    a, b = (torch.randn(2, count, 8, generator=noise) for count in (asking, heard))
    mask = torch.ones(2, heard, dtype=torch.bool)
    before = layer(a, b, mask)
    for part in range(heard):
        other = b.clone()
        other[:, part] *= -1
        changed = (layer(a, other, mask) != before).any(2)
        expected = torch.tensor([Fraction(part, heard - 1) <= Fraction(place, asking - 1) for place in range(asking)])
        assert torch.equal(changed, expected.expand(2, -1)), part
    assert changed.sum(1).tolist() == [1, 1]  # the last part of one is for the last part of the other alone


def test_a_single_part_is_heard_at_all_times_and_hears_everything():
    for asking, heard in ((4, 1), (1, 4)):
        layer = built(MulT(8, 2, 1, dropout=0.0, causal=True), a=steps(1, asking), b=steps(1, heard)).crossmodal["a"]["b"]
        a, b = torch.zeros(1, asking, 8), torch.randn(1, heard, 8)
        mask, other = torch.ones(1, heard, dtype=torch.bool), b.clone()
        other[:, -1] *= -1
        assert (layer(a, b, mask) != layer(a, other, mask)).any(2).all()


def test_causal_crossmodal_attention_sees_no_later_step():
    a, b = steps(1, 5, 2), steps(1, 5, 2, seed=1)
    layer = built(MulT(8, 2, 2, self_layers=1, dropout=0.0, causal=True, steps=True), a=a, b=b)
    before = layer({"a": a, "b": b})
    later = {name: Encoding(item.vector, item.parts.clone(), item.mask) for name, item in {"a": a, "b": b}.items()}
    for item in later.values():
        item.parts[:, 3:] += 1
    after = layer(later)
    torch.testing.assert_close(after[:, :3], before[:, :3])
    assert not torch.allclose(after[:, 3:], before[:, 3:])


def test_order_of_steps_matters_to_transformers():
    """MultiBench's transformers have no positions: permuting earlier steps changes nothing there."""
    views = {"a": steps(1, 5, 2), "b": steps(1, 5, 2, seed=1)}
    turned = {name: Encoding(item.vector, item.parts.flip(1), item.mask) for name, item in views.items()}
    for settings in (MulT(8, 2, 1, dropout=0.0), BottleneckAttention(8, 2), Perceiver(4, 8, 2)):
        layer = built(settings, **views)
        nudge_positions(layer)
        assert not torch.allclose(layer(views), layer(turned), atol=1e-4)


def nudge_positions(layer):
    for name, parameter in layer.named_parameters():
        if "positions" in name or "latents" in name:
            nn.init.normal_(parameter)


def test_modalities_exchange_through_the_bottleneck_alone():
    """Without a common layer the answer token of one does not depend on the other; with one it does."""
    a, b = steps(2, 3, 2), steps(2, 4, 2, seed=1)
    other = {"a": a, "b": steps(2, 4, 2, seed=2)}
    for fusion_from, exchanged in ((2, False), (1, True)):
        layer = built(BottleneckAttention(8, 2, layers=3, fusion_from=fusion_from), a=a, b=b)
        answers = [token_of(layer, views) for views in ({"a": a, "b": b}, other)]
        assert torch.allclose(*answers, atol=1e-6) is not exchanged


def token_of(layer, encodings):
    """The answer token of the first modality after the last layer."""
    caught = []
    handle = layer.layers["a"][-1].register_forward_hook(lambda *call: caught.append(call[2][:, 0].detach()))
    layer(encodings)
    handle.remove()
    return caught[0]


def test_the_gate_of_dynamic_fusion():
    views = {
        "a": whole(torch.cat([A, A])),
        "b": Encoding(B.repeat(2, 1), B.repeat(2, 1)[:, None], torch.tensor([[True], [False]])),
    }
    views["b"] = Encoding(views["b"].vector, views["b"].parts, views["b"].mask, present=torch.tensor([True, False]))
    layer = built(DynamicFusion(4, 4), **views)
    weights = layer.weights(views)
    torch.testing.assert_close(weights.sum(1), torch.ones(2))
    assert weights[1, 1] == 0
    assert (weights[0] > 0).all()
    hard = built(DynamicFusion(4, 4, hard=True), **views).train()
    drawn = hard.weights(views, torch.Generator().manual_seed(0))
    assert set(drawn.flatten().tolist()) == {0.0, 1.0}
    many = {name: Encoding(*(t[:1].expand(4000, *t.shape[1:]) for t in (v.vector, v.parts, v.mask))) for name, v in views.items()}
    shares = hard.weights(many, torch.Generator().manual_seed(0)).mean(0)
    torch.testing.assert_close(shares, layer.weights(views)[0], atol=0.04, rtol=0)


def test_mfas_reads_the_layers_it_is_told_to():
    encoder = MLP((5, 6), 4).build(Modality("x", "tabular", (3,)))
    found = encoder(torch.randn(2, 3))
    assert [layer.shape[1] for layer in found.hidden] == [5, 6, 4] == [*encoder.encoding_spec.layers]
    views = {"x": found, "y": whole(A.repeat(2, 1))}
    specs = {"x": encoder.encoding_spec, "y": spec_of(views["y"], "y")}
    layer = MFAS(((0, 0), (-1, 0)), ("sigmoid", "relu"), 7).build(specs)
    first, second = layer.layers
    hidden = first(torch.cat([found.hidden[0], views["y"].vector], 1))
    expected = second(torch.cat([found.vector, views["y"].vector, hidden], 1))
    torch.testing.assert_close(layer(views), expected)
    assert torch.equal(hidden, first[0](torch.cat([found.hidden[0], views["y"].vector], 1)).sigmoid())
    with pytest.raises(SpecError, match=r"layers\.0: expected one of the 3 hidden layers of x, got number 3"):
        MFAS(((3, 0),)).build(specs)


def test_the_search_of_layers_finds_the_best_choice():
    """The value of a candidate is known in closed form; the search evaluates a fraction of all and comes to the best."""
    layers = {name: EncodingSpec(name, "tabular", 4, 1, 4, (4,) * 4, False) for name in "ab"}

    def value(fusion):
        wanted = ((2, 1), (0, 3))
        return sum(
            (a == b) for got, want in zip(fusion.layers, wanted, strict=False) for a, b in zip(got, want, strict=True)
        ) + 0.5 * (fusion.nonlinearities[-1] == "relu")

    search = LayerSearch(depth=2, iterations=3, samples=20)
    found = search.run(layers, value, seed=0)
    assert found[0].value == 4.5
    assert found[0].fusion.layers == ((2, 1), (0, 3))
    assert len(found) < 2 * 3 * 20 < (4 * 4 * 3) ** 2
    assert [item.fusion for item in found] == [item.fusion for item in search.run(layers, value, seed=0)]


def test_the_temperatures_of_the_search_are_those_of_the_reference_sheet():
    published = (9.4062, 7.8322, 5.7839, 3.8052, 2.2542, 1.2329, 0.6584, 0.3795)
    assert [LayerSearch().temperature(step) for step in range(8)] == pytest.approx(published, abs=1e-4)


def test_maxout_of_the_reference_sheet():
    units = MaxoutUnits(1, 1, 2)
    units.linear.weight.data, units.linear.bias.data = torch.tensor([[3.0], [5.0]]), torch.zeros(2)
    assert units(torch.ones(1, 1)).item() == 5


def test_identity_gives_the_numbers_as_they_are():
    encoder = Identity().build(Modality("x", "series", (3, 2)))
    view = torch.arange(12.0).reshape(2, 3, 2)
    found = encoder(view, torch.tensor([3, 1]))
    assert found.parts[0].tolist() == view[0].tolist()
    assert found.parts[1].tolist() == [[6, 7], [0, 0], [0, 0]]
    assert found.vector.tolist() == found.parts.flatten(1).tolist()
    assert found.mask.sum(1).tolist() == [3, 1]


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: LowRank(rank=0), "rank: expected at least 1, got 0"),
        (lambda: MulT(width=10, heads=4), "width: expected a multiple of the 4 heads, got 10"),
        (lambda: MultiplicativeInteractions("tensor"), "form: expected one of matrix, vector, scalar"),
        (lambda: MFAS(nonlinearities=("gelu", "relu")), "nonlinearities: expected names out of relu, sigmoid, leaky_relu"),
        (lambda: BottleneckAttention(fusion_from=3), "fusion_from: expected less than the 3 layers, got 3"),
        (lambda: DynamicFusion(temperature=0), "temperature: expected a number above 0, got 0"),
    ],
)
def test_settings_that_cannot_be_used_are_refused(make, sentence):
    with pytest.raises(ConfigError, match=sentence):
        make()


def test_the_sources_of_a_product_of_experts_are_checked():
    views = {"a": whole(A), "b": whole(B)}
    with pytest.raises(SpecError, match="beside: expected names of modalities"):
        built(ProductOfExperts(beside=("c",)), **views)
    with pytest.raises(SpecError, match="expected vectors of 6 numbers without linear layers, got 2 of a"):
        built(ProductOfExperts(3, linear=False), **views)
    with pytest.raises(SpecError, match="expected at least one modality that is an expert"):
        built(ProductOfExperts(beside=("a", "b")), **views)
