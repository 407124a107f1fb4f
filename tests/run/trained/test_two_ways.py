"""Two-way questions, one by one: what is asked, against counts by hand, and what a model and geometry choose."""

from types import SimpleNamespace

import numpy as np
import pytest
import torch

from molyneux.core import Batch, ConfigError, DataError, Factor, Modality, NotApplicableError, Spec, SpecError
from molyneux.data import Bridging, MolyneuxShapes
from molyneux.measure.two_way_choice import two_way_choices
from molyneux.run import (
    RightShare,
    TwoWayAnswers,
    TwoWayQuestions,
    answer_by_codes,
    answer_by_outlines,
    open_model,
    two_way_questions,
)

SENSES = {"source": "touch", "target": "image"}


@pytest.fixture(scope="module")
def world():
    return MolyneuxShapes(level=2, image_size=32, modalities=["image", "touch"], bridging=Bridging(bridged=128, share=0.5))


@pytest.fixture(scope="module")
def samples(world):
    return world.batch(np.arange(1200), split="test", seed=5)


def codes_of(questions, name):
    """The codes of a factor of what is given and of both choices, (N,) and (N, 2)."""
    column = questions.samples.factors[:, questions.spec.factor_index(name)].numpy()
    return column[questions.given], column[questions.choices]


@pytest.mark.parametrize("alike", ["", "pair"])
def test_one_of_two_things_is_of_the_same_shape_and_another_sample(world, samples, alike):
    asked = two_way_questions(samples, world.spec, 300, **SENSES, where={"role": "new"}, alike=alike, seed=3)
    rows = np.arange(len(asked))
    given, choices = codes_of(asked, "shape")
    assert (choices[rows, asked.right] == given).all()
    assert (choices[rows, 1 - asked.right] != given).all()
    assert (asked.choices[rows, asked.right] != asked.given).all()
    assert all((part == 4).all() for part in codes_of(asked, "role"))  # new
    pairs = codes_of(asked, "pair")[1]
    same = pairs[:, 0] == pairs[:, 1]
    assert same.all() if alike else same.mean() < 0.1
    assert 100 < asked.right.sum() < 200
    assert len(np.unique(given)) > 40
    assert asked.values(0)[asked.right[0]] == world.spec.factor("shape").values[given[0]]
    assert torch.equal(asked.given_view(7), samples.views["touch"][int(asked.given[7])])
    assert torch.equal(asked.choice_views(7)[1], samples.views["image"][int(asked.choices[7, 1])])


def test_the_first_questions_are_the_same_for_any_count(world, samples):
    few, many, other = (two_way_questions(samples, world.spec, n, **SENSES, seed=seed) for n, seed in ((5, 0), (50, 0), (50, 1)))
    assert (few.given == many.given[:5]).all()
    assert (few.choices == many.choices[:5]).all()
    assert (many.given != other.given).any()


def test_answers_are_counted():
    away, compared = np.array([[1.0, 2.0], [2.0, 1.0], [3.0, 3.0], [0.0, 1.0]]), np.array([[0, 1], [1, 2], [2, 0], [0, 2]])
    found = TwoWayAnswers(away, np.array([0, 0, 1, 0]), compared)
    assert found.chosen.tolist() == [0, 1, -1, 0]
    assert found.points.tolist() == [1.0, 0.0, 0.5, 1.0]
    assert found.share.share == 0.625
    assert found.share.samples == 4
    low, high = found.share.interval
    assert 0 <= low < 0.625 < high <= 1
    assert repr(found) == f"TwoWayAnswers(62.5 % of 4 right, {100 * low:.1f} to {100 * high:.1f})"


def test_distances_of_a_chooser_are_answers():
    asked, _ = toy({})
    found = asked.answer([[1, 2], [1, 2]])  # the first question's right choice is the first thing, the second's is the second
    assert found.points.tolist() == [1.0, 0.0]
    assert found.compared.tolist() == [[0, 1], [1, 0]]


def test_questions_tell_what_they_are_about_in_a_line(world, samples):
    asked = two_way_questions(samples, world.spec, 300, **SENSES, where={"role": "new"}, seed=3)
    given, choices = codes_of(asked, "shape")
    assert (asked.compared[:, 0] == given).all()
    assert (np.sort(asked.compared, 1) == np.sort(choices, 1)).all()
    values = len(np.unique(choices))
    assert repr(asked) == f"TwoWayQuestions(300 from touch to image about {values} values of shape)"


def test_the_interval_of_a_model_that_fails_on_some_shapes_is_wider_than_one_over_questions(world, samples):
    asked = two_way_questions(samples, world.spec, 2000, **SENSES, where={"role": "new"}, seed=3)
    hard = asked.compared[:, 0] % 4 == 0  # a quarter of the shapes is never known
    away = np.where((np.arange(2) == asked.right[:, None]) == hard[:, None], 1.0, 0.0)
    share = TwoWayAnswers(away, asked.right, asked.compared).share
    low, high = share.interval
    plain = RightShare(share.share, share.samples).interval
    assert high - low > 4 * (plain[1] - plain[0])


def toy(codes):
    """Questions about four samples of two values, and a model whose codes are given by modality."""
    spec = Spec((Modality("a", "tabular", (1,)), Modality("b", "tabular", (1,))), (Factor("shape", ("x", "y")),))
    view = torch.arange(4.0)[:, None]
    batch = Batch({"a": view, "b": view}, factors=torch.tensor([[0], [0], [1], [1]]))
    asked = TwoWayQuestions(spec, batch, "a", "b", "shape", np.array([0, 2]), np.array([[1, 3], [1, 3]]), np.array([0, 1]))

    def encode(*, raw, inputs):
        ((name, given),) = inputs.items()
        return SimpleNamespace(shared=torch.tensor([codes[name][int(value[0])] for value in given.values]))

    return asked, SimpleNamespace(name="toy", encode=encode)


def test_a_model_chooses_the_nearer_code():
    codes = {"a": [[1.0, 0.0], [9.0, 9.0], [0.0, 1.0], [9.0, 9.0]], "b": [[9.0, 9.0], [5.0, 0.1], [9.0, 9.0], [0.9, 0.3]]}
    asked, model = toy(codes)
    assert answer_by_codes(model, asked).chosen.tolist() == [0, 1]  # by the angle
    assert answer_by_codes(model, asked, distance="euclidean").chosen.tolist() == [1, 1]
    with pytest.raises(ConfigError, match="distance"):
        answer_by_codes(model, asked, distance="far")
    codes["b"][1] = [float("nan"), 0.0]
    with pytest.raises(DataError, match="finite"):
        answer_by_codes(model, asked)


def test_geometry_is_right_and_elongation_only_where_shapes_are_not_alike(world, samples):
    shares = {
        (alike, statistics): answer_by_outlines(
            world, two_way_questions(samples, world.spec, 200, **SENSES, alike=alike, seed=1), statistics=statistics
        ).share.share
        for alike in ("", "pair")
        for statistics in ((), ("elongation",), ("area", "perimeter"), ("farthest point",), ("skewness",), ("kurtosis",))
    }
    assert shares["", ()] == shares["pair", ()] == 1.0
    assert shares["", ("elongation",)] > 0.9
    assert abs(shares["pair", ("elongation",)] - 0.5) < 0.12
    assert all(shares["pair", (name,)] > 0.8 for name in ("farthest point", "skewness", "kurtosis"))
    assert abs(shares["", ("area", "perimeter")] - 0.5) < 0.12


def test_the_shipped_model_chooses_as_the_measure_counts():
    """Drawn questions have the share of right choices that all questions have, within their interval."""
    model = open_model("molyneux-shapes")
    samples = model.dataset().source("test", 1000, seed=9).batch(np.arange(1000))
    asked = two_way_questions(samples, model.spec, 600, **SENSES, where={"role": "new"}, seed=2)
    share = answer_by_codes(model, asked).share
    rows = np.flatnonzero(samples.factors[:, model.spec.factor_index("role")].numpy() == 4)
    new = samples[torch.from_numpy(rows)]
    one, other = (
        model.encode(inputs={name: list(new.views[name].numpy())}).shared.double().numpy() for name in ("touch", "image")
    )
    away = ((one[:, None] - other[None]) ** 2).sum(2)  # codes have length 1
    shapes = new.factors[:, 0].numpy()
    right = two_way_choices(away, shapes, shapes, same=np.eye(len(shapes), dtype=bool))
    low, high = share.interval
    assert low - 0.02 <= np.nanmean(right) <= high + 0.02
    assert share.share > 0.8


def test_what_cannot_be_asked_is_refused(world, samples):
    with pytest.raises(ConfigError, match="at least one question"):
        two_way_questions(samples, world.spec, 0, **SENSES)
    with pytest.raises(SpecError, match="touch"):
        two_way_questions(samples, world.spec, 5, source="tuch", target="image")
    with pytest.raises(SpecError, match="new"):
        two_way_questions(samples, world.spec, 5, **SENSES, where={"role": "neww"})
    with pytest.raises(DataError, match="give more samples"):
        two_way_questions(samples[slice(0, 2)], world.spec, 5, **SENSES)
    with pytest.raises(DataError, match="factors"):
        two_way_questions(Batch(samples.views), world.spec, 5, **SENSES)
    asked = two_way_questions(samples, world.spec, 5, **SENSES)
    for away, told in ((np.zeros(5), r"shape \(5,\)"), (np.zeros((4, 2)), r"\(5, 2\)"), (np.full((5, 2), np.nan), "finite")):
        with pytest.raises(DataError, match=told):
            asked.answer(away)
    with pytest.raises(ConfigError, match="elongation"):
        answer_by_outlines(world, asked, statistics=["elongatio"])
    with pytest.raises(NotApplicableError, match="outlines"):
        answer_by_outlines(world, toy({})[0])
