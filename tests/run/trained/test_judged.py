"""What a model gets right, what its codes carry, and what is left when a sense is broken: against counts by hand."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from molyneux.core import ConfigError, DataError, NotApplicableError, SpecError
from molyneux.data import GeBiD, Interactions
from molyneux.data.imperfections import GaussianNoise, Typos
from molyneux.measure.disentanglement import adjusted_information, tabulate
from molyneux.run import (
    JudgedSamples,
    RightShare,
    between_codes,
    break_sense,
    flat_code,
    open_model,
    parted_code,
    sample_judge,
    sense_curve,
    slices,
    survey_codes,
)


@pytest.fixture(scope="module")
def model():
    return open_model("gebid-level5")


@pytest.fixture(scope="module")
def samples():
    return GeBiD(level=5).source("test", 80, seed=0).batch(np.arange(80))


def test_a_share_has_an_interval_that_is_no_point_at_the_ends():
    low, high = RightShare(1.0, 40).interval
    assert low < 0.95
    assert high == 1.0


def test_what_is_drawn_is_read_and_counted(model, samples):
    judge = sample_judge(model, samples, source="image")
    assert judge.given == ("image",)
    judged = judge.judge(samples, judge.given)
    texts = model.generate("text", seed=0, raw=True, image=samples.views["image"].numpy()).texts()
    captions = GeBiD(level=5).readers()["text"].read(samples.views["text"]).codes
    read = (
        GeBiD(level=5)
        .readers()["text"]
        .read(model.generate("text", seed=0, raw=True, image=samples.views["image"].numpy()).views["text"])
    )
    assert judged.right.tolist() == (read.codes == captions).all(1).tolist()
    assert judged.share.samples == len(texts) == 80
    assert judged.share.share > 0.9
    named = [model.spec.factor(name) for name in GeBiD(level=5).readers()["text"].factors]
    assert judge.guess == pytest.approx(np.prod([1 / len(factor.values) for factor in named]))
    assert judge.guess < judge.constant < 0.1
    assert judged.truth[0].startswith("size ")
    drawn = model.generate("text", seed=0, raw=True, image=samples.views["image"].numpy()).views["text"]
    assert list(judged.drawn) == ["text"]
    assert judged.drawn["text"].equal(drawn)


def test_slices_are_those_of_brute_force(samples):
    spec = GeBiD(level=5).spec
    shapes = samples.factors[:, spec.factor_index("shape")].numpy()
    right = shapes != 0
    judged = JudgedSamples(np.arange(80), right, ("",) * 80, ("",) * 80)
    found = slices(judged, samples, spec)
    assert found == tuple(sorted(found, key=lambda item: item.right.share))
    for item in found:
        inside = samples.factors[:, spec.factor_index(item.factor)].numpy() == spec.factor(item.factor).values.index(item.value)
        assert item.right.samples == inside.sum() >= 5
        assert item.right.share == pytest.approx(right[inside].mean())
        assert item.others.share == pytest.approx(right[~inside].mean())
    worst = next(item for item in found if item.factor == "shape")
    assert worst.differs
    assert worst.right.share == 0.0


def test_predictions_are_counted_where_their_target_is_known():
    model = open_model("shapeworld-quantifiers")
    batch = model.dataset().source("test", 64, seed=0).batch(np.arange(64))
    judge = sample_judge(model, batch)
    judged = judge.judge(batch, judge.given)
    assert judge.guess == 0.5
    assert judge.constant == pytest.approx(0.5, abs=0.2)
    assert not judged.drawn
    assert set(judged.truth) == {"agree", "disagree"}
    views = {name: batch.views[name].numpy() for name in model.modalities}
    said = model.predict(inputs=views, raw=True).answers["agreement"] > 0.5
    assert judged.right.tolist() == (said == batch.targets["agreement"].numpy().astype(bool)).tolist()
    assert judged.share.share > 0.8


def test_what_cannot_be_counted_is_said():
    world = Interactions()
    with pytest.raises(NotApplicableError, match="nothing can be counted"):
        sample_judge(open_model("ynoc-slots"), world.source("test", 8, seed=0).batch(np.arange(8)))


def test_a_broken_sense_loses_and_a_whole_one_does_not(model, samples):
    told = []
    curve = sense_curve(model, samples, GaussianNoise(), "image", strengths=(0.0, 1.0), told=told.append)
    whole = sample_judge(model, samples, source="image")
    assert curve.shares[0] == whole.judge(samples, whole.given).share
    assert curve.shares[1].share < curve.shares[0].share
    assert curve.missing is None
    assert told == sorted(told)
    assert told[-1] == 1.0
    assert "strength 1" in curve.sentence(1.0)
    assert curve.at(0.4) == curve.shares[0]
    assert curve.at(0.9) == curve.shares[1]


def test_only_the_named_sense_is_broken(model, samples):
    numbers = np.arange(80)
    changed = break_sense(samples, model.spec, GaussianNoise(), "image", 0.5, numbers)
    assert changed.views["text"] is samples.views["text"]
    assert not np.array_equal(changed.views["image"], samples.views["image"])
    assert np.array_equal(
        break_sense(samples, model.spec, GaussianNoise(), "image", 0.0, numbers).views["image"], samples.views["image"]
    )
    part = break_sense(samples[slice(3, 4)], model.spec, GaussianNoise(), "image", 0.5, np.array([3]))
    assert np.array_equal(part.views["image"][0], changed.views["image"][3])


def test_a_sense_that_is_not_there_or_does_not_fit_is_refused(model, samples):
    with pytest.raises(ConfigError, match="no modality"):
        sense_curve(model, samples, GaussianNoise(), "sound")
    with pytest.raises(ConfigError, match="typos"):
        sense_curve(model, samples, Typos(), "image")


def test_codes_come_apart_and_together_again(model, samples):
    codes = model.encode(inputs={name: samples.views[name].numpy() for name in model.modalities}, raw=True)
    flat = flat_code(codes)
    parts = {"shared": 10, "image": 6}
    again = parted_code(flat, parts)
    assert np.array_equal(again.shared, codes.shared)
    assert np.array_equal(again.private["image"], codes.private["image"])
    assert np.array_equal(model.decode(again).arrays("image"), model.decode(codes).arrays("image"))
    with pytest.raises(SpecError, match="expected codes"):
        parted_code(flat[:, :3], parts)
    assert np.allclose(between_codes(flat[0], flat[1], 0.25), 0.75 * flat[0] + 0.25 * flat[1])


def test_what_numbers_carry_is_what_measures_say(model):
    batch = GeBiD(level=5).source("test", 600, seed=0).batch(np.arange(600))
    survey = survey_codes(model, batch)
    assert survey.parts == {"shared": 10, "image": 6}
    factors = [GeBiD(level=5).spec.factor_index(name) for name in survey.factors]
    table = tabulate(survey.codes, batch.factors.numpy()[:, factors], names=survey.factors)
    assert np.allclose(survey.information, adjusted_information(table))
    assert (survey.low <= survey.high).all()
    assert (survey.codes < survey.low).mean() == pytest.approx(0.01, abs=0.005)
    best = survey.about(13)
    assert best[0][0] == "background"
    assert best[0][1] > 0.8
    assert [share for _, share in best] == sorted((share for _, share in best), reverse=True)
    assert survey.neighbours(survey.codes[7], 3)[0] == 7


def test_what_samples_lack_is_missing_and_not_a_view_of_zeros():
    model, data = open_model("shapeworld-quantifiers"), open_model("shapeworld-quantifiers").dataset()
    samples = data.source("test", 40, seed=0).batch(np.arange(40))
    here = torch.arange(40) < 30
    part = replace(samples, present={"image": here})
    judge = sample_judge(model, part)
    judged = judge.judge(part, judge.given)
    views = {name: samples.views[name].numpy() for name in model.modalities}
    whole = model.predict(inputs=views, raw=True).answers["agreement"]
    without = model.predict(inputs={"meaning": views["meaning"]}, raw=True).answers["agreement"]
    said = np.where(here.numpy(), whole, without) > 0.5
    assert judged.right.tolist() == (said == samples.targets["agreement"].numpy().astype(bool)).tolist()
    alone = judge.judge(part, ("image",))
    assert alone.numbers.tolist() == list(range(30))


def test_nothing_to_count_other_samples_and_unknown_sources_are_refused(model, samples):
    with pytest.raises(ConfigError, match="no modality 'txt'"):
        sample_judge(model, samples, source="txt")
    with pytest.raises(NotApplicableError, match="got none"):
        sample_judge(model, samples[np.arange(0)])
    judge = sample_judge(model, samples)
    for wrong in (samples[np.arange(1)], samples[np.arange(5)]):
        with pytest.raises(DataError, match="expected the 80 samples"):
            judge.judge(wrong, judge.given)
    with pytest.raises(NotApplicableError, match="nothing can be counted"):
        judge.judge(samples, ())
    predictor = open_model("shapeworld-quantifiers")
    asked = predictor.dataset().source("test", 6, seed=0).batch(np.arange(6))
    with pytest.raises(NotApplicableError, match="known of none of the 6"):
        sample_judge(predictor, replace(asked, known={"agreement": torch.zeros(6, dtype=torch.bool)}))
    with pytest.raises(NotApplicableError, match="do not say what is true of agreement"):
        sample_judge(predictor, replace(asked, targets={}))


def test_a_curve_begins_whole_and_says_which_strength_was_measured(model, samples):
    curve = sense_curve(model, samples, Typos(), "text", strengths=(0.5,))
    judge = sample_judge(model, samples, source="text")
    assert curve.strengths == (0.0, 0.5)
    assert curve.shares[0] == judge.judge(samples, judge.given).share
    assert "at strength 0.5, gebid" in curve.sentence(0.5)
    assert "at strength 0.5 (the measured one nearest to 0.7)" in curve.sentence(0.7)


def test_codes_of_samples_with_constant_factors_are_surveyed(model, samples):
    assert samples.factors is not None
    survey = survey_codes(model, replace(samples, factors=torch.zeros_like(samples.factors)))
    assert survey.factors == ()
    assert survey.about(0) == ()


def test_the_first_source_is_one_from_which_something_readable_is_drawn(model, samples):
    only = SimpleNamespace(dataset=lambda: None, name="a", spec=model.spec, abilities=("generate",), modalities=("image", "text"))
    only.readers = {"image": model.readers["image"]}
    assert sample_judge(only, samples).given == ("text",)


def test_slices_are_only_of_factors_that_the_model_was_told(model, samples):
    spec, told = model.spec, sample_judge(model, samples, source="text")
    assert told.given == ("text",)
    assert "x" in [factor.name for factor in spec.factors]
    assert "x" not in told.factors
    assert "shape" in told.factors
    assert "colour" in sample_judge(model, samples, source="image").factors
    judged = JudgedSamples(np.arange(80), np.arange(80) % 2 == 0, ("",) * 80, ("",) * 80)
    assert {item.factor for item in slices(judged, samples, spec, factors=told.factors)} <= set(told.factors)


def test_chance_finds_no_slice_that_differs(model):
    """At a level of 0.05 for all slices together, random answers differ somewhere in few of 40 repetitions."""
    batch = GeBiD(level=5).source("test", 300, seed=0).batch(np.arange(300))
    stream, found = np.random.default_rng(1), 0
    for _ in range(40):
        judged = JudgedSamples(np.arange(300), stream.random(300) < 0.7, ("",) * 300, ("",) * 300)
        found += any(item.differs for item in slices(judged, batch, model.spec))
    assert found <= 5
