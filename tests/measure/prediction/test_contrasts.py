"""Contrast sets against a brute-force reading of the equations, chance in closed form, and what blind models can know."""

from dataclasses import dataclass, replace
from itertools import product

import numpy as np
import pytest
import torch
from torch.distributions import Bernoulli

from molyneux.core import Batch, DataError, Factor, Modality, NotApplicableError, Spec, SpecError, Target
from molyneux.core.intervals import share_interval
from molyneux.measure import Contrasts, Evaluation, evaluate
from molyneux.measure.prediction.contrasts import chance, image_right, pairs_right, text_right

KIND, SIZE = Factor("kind", ("swap", "replace", "rare")), Factor("size", ("one", "two"))


def spec_of(contrast):
    views = (Modality("image", "tabular", (1,)), Modality("text", "tabular", (1,)))
    return Spec(views, (KIND, SIZE), (Target("fits", "agreement", contrast=contrast),))


@dataclass
class Sets:
    """Every view holds the number of its picture or text, which occur in no other set."""

    contrast: tuple[int, int]
    kinds: np.ndarray
    extra: int = 0
    known: np.ndarray | None = None
    missing: np.ndarray | None = None
    flipped: int = -1
    turned: bool = False

    @property
    def spec(self):
        return spec_of(self.contrast)

    def __len__(self):
        return len(self.kinds) * self.contrast[0] * self.contrast[1] + self.extra

    def batch(self, indices):
        pictures, texts = self.contrast
        number, member = np.divmod(np.asarray(indices), pictures * texts)
        picture, text = np.divmod(member, texts)
        text = (text + self.turned * number) % texts
        truth = (picture == text) ^ (np.asarray(indices) == self.flipped)
        codes = np.stack([np.append(self.kinds, 0)[number], picture % 2], 1)
        views = {"image": number * pictures + picture, "text": number * texts + text}
        return Batch(
            {name: torch.from_numpy(view.astype(np.float32)[:, None]) for name, view in views.items()},
            present={} if self.missing is None else {"image": torch.from_numpy(~np.isin(indices, self.missing))},
            factors=torch.from_numpy(codes),
            targets={"fits": torch.from_numpy(truth.astype(np.int64))},
            known={} if self.known is None else {"fits": torch.from_numpy(self.known[np.asarray(indices)])},
        )


class Looks:
    """Log-odds from a table of pictures and texts; what is not observed is averaged over."""

    def __init__(self, table):
        self.table = table

    def predict(self, batch, observed):
        places = [batch.views[name][:, 0].long().numpy() for name in ("image", "text")]
        table = self.table.copy()
        for axis, name in enumerate(("image", "text")):
            if name not in observed:
                table[:] = table.mean(axis, keepdims=True)
        return {"fits": Bernoulli(logits=torch.from_numpy(table[places[0], places[1]]), validate_args=False)}


def random_table(sets, seed=0):
    pictures, texts = sets.contrast
    return np.random.default_rng(seed).normal(size=((len(sets.kinds) + 1) * pictures, (len(sets.kinds) + 1) * texts))


def logits_of(sets, table):
    pictures, texts = sets.contrast
    blocks = [table[pictures * n : pictures * (n + 1), texts * n : texts * (n + 1)] for n in range(len(sets.kinds))]
    return np.stack(blocks)


def scores_of(sets, table, **settings):
    return Contrasts(**settings)(Evaluation(Looks(table), sets, batch_size=7)).scores


def brute(logits):
    """Text, image and group score and the mean of pairs of one set (p, t), read off the equations."""
    pictures, texts = logits.shape
    pairs = range(min(pictures, texts))
    text = all(logits[k, k] > logits[k, j] for k in pairs for j in range(texts) if j != k)
    image = all(logits[k, k] > logits[i, k] for k in pairs for i in range(pictures) if i != k)
    right = [logits[i, j] for i, j in product(range(pictures), range(texts)) if i == j]
    wrong = [logits[i, j] for i, j in product(range(pictures), range(texts)) if i != j]
    return text, image, text and image, float(np.mean(right) > np.mean(wrong))


@pytest.mark.parametrize("contrast", [(2, 2), (1, 2), (2, 1), (3, 2), (1, 6), (3, 3)])
def test_scores_are_those_of_the_equations(contrast):
    sets = Sets(contrast, np.arange(200) % 2)
    table = random_table(sets)
    expected = np.array([brute(block) for block in logits_of(sets, table)])
    found = {score.name: score for score in scores_of(sets, table) if "value" not in score.about and "factor" not in score.about}
    names = ["text"] * (contrast[1] > 1) + ["image"] * (contrast[0] > 1) + ["group"] * (min(contrast) > 1) + ["pairs"]
    assert list(found) == [f"contrasts.{name}" for name in names]
    for name, counted in zip(("text", "image", "group", "pairs"), expected.T, strict=True):
        if name in names:
            score = found[f"contrasts.{name}"]
            assert (score.value, score.n, score.about) == (pytest.approx(100 * counted.mean()), 200, {"target": "fits"})
            if name != "pairs":
                assert score.interval == pytest.approx(tuple(100 * np.array(share_interval(int(counted.sum()), 200))))
                assert score.chance == pytest.approx(chance(*contrast)[name])


@pytest.mark.parametrize("contrast", [(2, 2), (1, 2), (3, 2), (2, 4), (3, 3), (1, 6)])
def test_chance_is_what_independent_numbers_give(contrast):
    logits = np.random.default_rng(1).gumbel(size=(40_000, *contrast))
    text, image = text_right(logits), image_right(logits)
    for name, right in (("text", text), ("image", image), ("group", text & image)):
        if contrast[0] > 1 or name == "text":
            assert 100 * right.mean() == pytest.approx(chance(*contrast)[name], abs=0.8)


def test_chance_of_two_of_each_and_of_a_foil():
    assert chance(2, 2) == {"text": 25.0, "image": 25.0, "group": pytest.approx(100 / 6)}
    assert chance(1, 2)["text"] == 50.0


def test_ties_are_wrong_and_half_a_pair_and_rounding_makes_none():
    even = np.zeros((1, 2, 2))
    assert not text_right(even)[0]
    assert not image_right(even)[0]
    assert pairs_right(even)[0] == 0.5
    assert not text_right(even + 1e-6 * np.eye(2)).any()
    assert text_right(even + 1e-3 * np.eye(2)).all()
    large = np.full((1, 2, 2), 1e9)
    assert pairs_right(large)[0] == 0.5


def test_no_blind_model_gets_a_set_of_two_and_two():
    sets = Sets((2, 2), np.zeros(60, int))
    for score in scores_of(sets, random_table(sets)):
        if "factor" not in score.about:
            expected = 50.0 if score.name == "contrasts.pairs" else 0.0
            assert score.controls == {"image only": expected, "text only": expected}
            assert score.chance is not None


def test_the_control_shows_what_the_texts_alone_give_away():
    sets = Sets((1, 2), np.zeros(50, int))
    table = np.zeros_like(random_table(sets))
    table[:, 0:60:2] = 1.0  # the first thirty captions read better than their foils
    (score,) = [item for item in scores_of(sets, table, factors=("kind",)) if item.name == "contrasts.text"][:1]
    assert (score.value, score.controls) == (60.0, {"image only": 0.0, "text only": 60.0})
    pairs = next(item for item in scores_of(sets, table) if item.name == "contrasts.pairs")
    assert pairs.controls == {"image only": 50.0, "text only": 80.0}  # a tie counts half
    assert pairs.interval[0] < 80 < pairs.interval[1]


def test_every_kind_has_its_scores_and_the_lowest_stands_beside():
    sets = Sets((2, 2), np.array([0] * 40 + [1] * 30 + [2] * 3))
    table = random_table(sets, seed=4)
    found = scores_of(sets, table)
    kinds = {
        (score.name, score.about["value"]): score
        for score in found
        if score.about.get("factor") == "kind" and "value" in score.about
    }
    assert {value for _, value in kinds} == {"swap", "replace"}  # three are too few
    right = text_right(logits_of(sets, table))
    assert kinds["contrasts.text", "swap"].value == pytest.approx(100 * right[:40].mean())
    assert kinds["contrasts.text", "replace"].n == 30
    lowest = next(score for score in found if score.name == "contrasts.group_lowest")
    groups = {value: score.value for (name, value), score in kinds.items() if name == "contrasts.group"}
    assert (lowest.value, lowest.note) == (min(groups.values()), f"of the value {min(groups, key=groups.get)}")
    assert not any(score.about.get("factor") == "size" for score in found)  # it differs within every set


def test_sets_that_are_not_whole_are_left_out():
    sets = Sets((2, 2), np.zeros(30, int), extra=3)
    assert {score.n for score in scores_of(sets, random_table(sets))} == {30}
    known = np.ones(120, bool)
    known[[5, 6, 90]] = False
    sets = Sets((2, 2), np.zeros(30, int), known=known, missing=np.array([119]))
    table = random_table(sets)
    kept = np.delete(np.arange(30), [1, 22, 29])
    score = scores_of(sets, table)[0]
    assert (score.n, score.value) == (27, pytest.approx(100 * text_right(logits_of(sets, table)[kept]).mean()))


@pytest.mark.parametrize("contrast", [(2, 2), (3, 3), (1, 3), (2, 3), (3, 2)])
def test_the_order_of_the_texts_of_a_set_changes_nothing(contrast):
    """The targets say which text goes with which picture; every second set stands in another order."""
    sets = Sets(contrast, np.arange(30) % 3)
    plain, turned = (scores_of(one, random_table(sets)) for one in (sets, replace(sets, turned=True)))
    assert [(score.name, score.value, dict(score.controls)) for score in plain] == [
        (score.name, score.value, dict(score.controls)) for score in turned
    ]


def test_what_cannot_be_measured():
    sets = Sets((2, 2), np.zeros(30, int))
    with pytest.raises(SpecError, match="kindd"):
        scores_of(sets, random_table(sets), factors=("kindd",))
    with pytest.raises(NotApplicableError, match=r"got 1 0 1 1 as target fits in set 3"):
        scores_of(replace(sets, flipped=10), random_table(sets))
    with pytest.raises(NotApplicableError, match="rows of 4 samples, and there are only 3"):
        Contrasts()(Evaluation(Looks(random_table(sets)), sets, samples=3))
    with pytest.raises(NotApplicableError, match="a target of agreement with contrast sets, got none"):
        scores_of(Sets((1, 1), np.zeros(30, int)), random_table(sets))
    with pytest.raises(NotApplicableError, match="no contrast set of the target fits has all its views"):
        scores_of(replace(sets, known=np.zeros(120, bool)), random_table(sets))
    with pytest.raises(NotApplicableError, match="about image and text, and no sample has image"):
        scores_of(replace(sets, missing=np.arange(120)), random_table(sets))
    with pytest.raises(DataError, match="got NaN for sample 0 given image and text"):
        scores_of(sets, np.full_like(random_table(sets), np.nan))
    (score, *_) = evaluate([Contrasts()], Evaluation(Looks(random_table(sets)), sets, samples=3)).scores
    assert (score.name, score.value) == ("contrasts", None)


def test_a_model_that_needs_both_has_no_blind_controls():
    class Needs(Looks):
        def predict(self, batch, observed):
            if len(observed) < 2:
                raise NotApplicableError("it compares two views")
            return super().predict(batch, observed)

    sets = Sets((2, 2), np.zeros(30, int))
    found = Contrasts()(Evaluation(Needs(random_table(sets)), sets)).scores
    assert {tuple(score.controls) for score in found} == {()}
    assert found[0].value == scores_of(sets, random_table(sets))[0].value
