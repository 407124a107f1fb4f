"""Shapley values and additive projections of functions whose parts are known."""

from itertools import permutations

import numpy as np
import pytest
import torch
from torch.distributions import Bernoulli, Categorical, Independent, Normal

from molyneux.core import Batch, Modality, NotApplicableError, Spec, Target
from molyneux.data import ArraySource
from molyneux.measure import Emap, Evaluation, Shapley
from molyneux.measure.prediction.importance import additive_projection, shapley_values

NAMES = ("a", "b", "c")
SPEC = Spec(
    tuple(Modality(name, "tabular", (1,)) for name in NAMES),
    targets=(
        Target("kind", "class", ("no", "yes")),
        Target("fits", "agreement"),
        Target("tags", "multilabel", ("x", "y")),
        Target("size", "number"),
    ),
)


def source(n=60, names=NAMES, truth=lambda a, b: a > 0):
    rng = np.random.default_rng(1)
    values = {name: torch.from_numpy(rng.normal(size=(n, 1)).astype(np.float32)) for name in NAMES}
    kind = truth(values["a"][:, 0], values["b"][:, 0]).long()
    size = (values["a"] + values["b"])[:, 0]
    targets = {"kind": kind, "fits": kind, "tags": torch.stack([kind, 1 - kind], 1).to(torch.uint8), "size": size}
    spec = Spec(tuple(SPEC.modality(name) for name in names), targets=SPEC.targets)
    return ArraySource(spec, Batch({name: values[name] for name in names}, targets=targets))


class Model:
    """Answers from a number: a function of a and b, where they are observed, and 0 for others."""

    def __init__(self, answer):
        self.answer = answer

    def predict(self, batch, observed=None):
        read = [batch.views[name][:, 0] * (name in observed and name in batch.views) for name in ("a", "b")]
        said = self.answer(*read)
        labels = torch.stack([said, -said], 1)
        return {
            "kind": Categorical(logits=torch.stack([torch.zeros_like(said), said], 1), validate_args=False),
            "fits": Bernoulli(logits=said, validate_args=False),
            "tags": Independent(Bernoulli(logits=labels, validate_args=False), 1),
            "size": Normal(said, 1.0),
        }


def scores_of(measure, model, samples=None):
    found = measure(Evaluation(model, samples or source(), seed=1, batch_size=500)).scores
    return {(score.name, score.about["target"], score.about.get("modality", "")): score for score in found}


def test_shapley_values_are_the_mean_over_all_orders():
    rng = np.random.default_rng(0)
    names = ("a", "b", "c", "d")
    gains = {tuple(n for k, n in enumerate(names) if mask >> k & 1): rng.normal(size=5) for mask in range(1, 16)}
    found = shapley_values(names, gains)
    for name in names:
        each = []
        for order in permutations(names):
            before = tuple(n for n in names if n in order[: order.index(name)])
            each.append(gains[tuple(n for n in names if n in (*before, name))] - gains.get(before, 0.0))
        np.testing.assert_allclose(found[name], np.mean(each, 0))
    np.testing.assert_allclose(sum(found.values()), gains[names])


def test_a_model_of_one_modality_owes_everything_to_it():
    found = scores_of(Shapley(), Model(lambda a, b: 50 * a))
    for target in ("kind", "fits", "tags"):
        values = {name: found["shapley.value", target, name] for name in NAMES}
        kind = source().batch(np.arange(60)).targets["kind"].double().mean().item()
        total = sum(values[name].value for name in NAMES)
        assert total == pytest.approx(100 - 100 * max(kind, 1 - kind))  # over the best constant
        assert values["b"].value == values["c"].value <= 0  # without a it says the same of all, which may be the worse answer
        assert values["a"].value >= total
    summed = scores_of(Shapley(targets=["size"]), Model(lambda a, b: a + b))
    size = source().batch(np.arange(60)).targets["size"].double()
    total = sum(summed["shapley.value", "size", name].value for name in NAMES)
    assert total == pytest.approx(size.var(unbiased=False).item(), rel=1e-5)
    assert summed["shapley.value", "size", "a"].interval[0] > 0.3
    assert abs(summed["shapley.value", "size", "c"].value) < 0.1  # what saying 0 loses against the mean


def test_pure_interaction_is_shared_and_has_no_additive_part():
    samples = source(120, truth=lambda a, b: a * b > 0)
    model = Model(lambda a, b: 50 * a * b)
    shares = scores_of(Shapley(targets=["kind"]), model, samples)
    assert shares["shapley.value", "kind", "a"].value == pytest.approx(shares["shapley.value", "kind", "b"].value, abs=1)
    assert shares["shapley.value", "kind", "a"].value > 15
    found = scores_of(Emap(combinations=27_000), model, samples)
    accuracy = found["emap.accuracy", "fits", ""]
    assert accuracy.controls["whole model"] == 100
    assert accuracy.value < 75
    assert accuracy.n == 30
    assert found["emap.interaction", "fits", ""].value > 0.5


def test_the_projection_of_an_additive_model_is_the_model():
    found = scores_of(Emap(combinations=8000), Model(lambda a, b: 2 * a - b))
    for target, name in (("kind", "accuracy"), ("fits", "accuracy"), ("tags", "label_accuracy"), ("size", "mse")):
        score = found[f"emap.{name}", target, ""]
        assert score.value == pytest.approx(score.controls["whole model"], rel=1e-5)
        assert found["emap.interaction", target, ""].value == pytest.approx(0, abs=1e-6)
        assert score.n == 20


@pytest.mark.parametrize("axes", [2, 3, 4])
def test_the_projection_is_the_least_squares_fit_of_sums(axes):
    rng = np.random.default_rng(axes)
    n = 4
    whole = rng.normal(size=(*(n,) * axes, 2))
    columns = np.zeros((n**axes, axes * n))
    for row, place in enumerate(np.ndindex(*(n,) * axes)):
        for axis, value in enumerate(place):
            columns[row, axis * n + value] = 1
    flat = whole.reshape(-1, 2)
    best = columns @ np.linalg.lstsq(columns, flat, rcond=None)[0]
    np.testing.assert_allclose(additive_projection(whole, axes).reshape(-1, 2), best, atol=1e-9)


def test_too_few_modalities_are_told():
    with pytest.raises(NotApplicableError, match="emap needs at least two modalities"):
        scores_of(Emap(), Model(lambda a, b: a), source(names=("a",)))
    with pytest.raises(NotApplicableError, match="shapley needs 2 to 6 modalities, got 1"):
        scores_of(Shapley(), Model(lambda a, b: a), source(names=("a",)))
