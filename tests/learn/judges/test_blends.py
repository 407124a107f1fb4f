import numpy as np
import pytest
import torch

from molyneux.core import SAMPLE, Batch, Factor, Modality, NuisanceWindow, Spec
from molyneux.learn.judges.blends import RECIPES, Blends, Recipe, draw_components, make_blends
from molyneux.learn.judges.labels import UNREADABLE

WINDOWS = {"a": (NuisanceWindow("turn", 2, 4, period=10),)}


class Codes:
    """Series of one number that says all: a + 10 turn + 100 x, and the factors a, quadrant (x // 3), turn and x."""

    def __init__(self, size):
        random = np.random.default_rng(0)
        a, turn, x = (random.integers(0, values, size) for values in (2, 10, 6))
        self.codes = torch.from_numpy(np.stack([a, x // 3, turn, x], 1))
        self.values = torch.from_numpy((a + 10 * turn + 100 * x).astype(np.float32))[:, None, None]
        names = {"a": 2, "quadrant": 2, "turn": 10, "x": 6}
        factors = tuple(Factor(name, tuple(map(str, range(values)))) for name, values in names.items())
        self.spec = Spec((Modality("touch", "series", (1, 1)),), factors)

    def __len__(self):
        return len(self.codes)

    def batch(self, indices):
        return Batch({"touch": self.values[indices]}, factors=self.codes[indices])


def by_name(source):
    return {factor.name: source.codes[:, i].numpy() for i, factor in enumerate(source.spec.factors)}


def draw(recipe, count=600, size=4000):
    codes = by_name(Codes(size))
    components, weights = draw_components(codes, ["a", "quadrant"], recipe=recipe, count=count, rng=np.random.default_rng(1))
    assert np.allclose(weights.sum(1), 1)
    counts = (weights > 0).sum(1)
    assert (counts.min(), counts.max() > 50) == (2, True)
    assert all((row[:count] > 0).all() for row, count in zip(weights, counts, strict=True))
    return {name: [code[row[:count]] for row, count in zip(components, counts, strict=True)] for name, code in codes.items()}


def agreeing(rows):
    return np.mean([len(set(row.tolist())) == 1 for row in rows])


def test_smeared_components_agree_in_all_factors():
    found = draw(Recipe("smeared", (0, 0), 1.0))
    assert agreeing(found["a"]) == agreeing(found["quadrant"]) == 1
    wide = np.array([np.ptp(row) for row in found["turn"]])
    assert (wide >= 7).mean() > 0.08  # half of the means have five components at most
    assert (wide <= 3).mean() > 0.1


def test_mixed_components_agree_in_all_but_one_factor_and_lie_near():
    found = draw(Recipe("mixed", (1, 1), 0.0))
    assert 0.3 < agreeing(found["a"]) < 0.8
    assert all(len(set(a)) == 1 or len(set(q)) == 1 for a, q in zip(found["a"], found["quadrant"], strict=True))
    few = [np.ptp(row) for row in found["turn"] if len(row) < 12]
    assert max(few) <= 2
    assert np.mean([len(set(row // 3)) > 1 for row in found["x"]]) > 0.2  # x is given up where it tells the factor


def test_components_are_different_samples():
    codes = by_name(Codes(2000))
    components, _ = draw_components(codes, ["a", "quadrant"], recipe=RECIPES[0], count=50, rng=np.random.default_rng(1))
    assert min(len(set(row.tolist())) for row in components) == 64


def test_a_blend_is_the_weighted_mean_of_its_components():
    source = Codes(50)
    components, weights = np.array([[0, 1, 2], [4, 5, 6]]), np.array([[0.25, 0.75, 0.0], [0.5, 0.25, 0.25]])
    answers = (Factor("a", ("0", "1", UNREADABLE)),)
    blends = Blends(source, "touch", components=components, weights=weights, factors=answers, codes=np.array([[2], [-1]]))
    batch = blends.batch(np.array([1, 0])).check(blends.spec)
    values = source.values.flatten()
    expected = [values[4] / 2 + values[5] / 4 + values[6] / 4, values[0] / 4 + values[1] * 3 / 4]
    assert torch.allclose(batch.views["touch"].flatten(), torch.stack(expected))
    assert batch.factors.tolist() == [[-1], [2]]


@pytest.mark.parametrize("recipe", RECIPES, ids=lambda recipe: recipe.name)
def test_blends_carry_the_true_codes_of_what_they_show(recipe):
    source = Codes(6000)
    blends = make_blends(source, "touch", ("a", "quadrant", "absent"), recipe=recipe, count=400, windows=WINDOWS)
    assert [factor.name for factor in blends.spec.factors] == ["a", "quadrant"]
    assert len(blends) == 400
    a, quadrant, turn, _ = source.codes.T.numpy()
    for components, weights, (label, place) in zip(blends.components, blends.weights, blends.codes, strict=True):
        shares = np.bincount(a[components], weights, minlength=2)
        around = [weights[(turn[components] - start) % 10 < 4].sum() for start in range(10)]
        if label == 2:
            assert min(shares.max(), *[max(around)]) <= 2 / 3 + 1e-6
        elif label >= 0:
            assert shares[label] >= 0.9 - 1e-6
        if recipe is RECIPES[0]:
            assert place == quadrant[components[0]]
    unreadable = blends.codes == 2
    assert (unreadable.any(1) | (blends.codes >= 0).all(1)).all()
    assert unreadable[:, 0].mean() > 0.15


def test_two_samples_are_never_one_where_they_differ_in_themselves():
    blurs = {"a": (NuisanceWindow(SAMPLE, 1, 1),)}
    blends = make_blends(Codes(3000), "touch", ("a", "quadrant"), recipe=RECIPES[0], count=300, windows=blurs)
    heaviest = blends.weights.max(1)
    assert (blends.codes[heaviest <= 2 / 3, 0] == 2).all()
    assert (blends.codes[heaviest >= 0.9, 0] == blends.codes[heaviest >= 0.9, 0] % 2).all()
    assert ((blends.codes[:, 0] >= 0) & (blends.codes[:, 0] < 2) == (heaviest >= 0.9)).all()
