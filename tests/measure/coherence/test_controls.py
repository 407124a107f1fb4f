"""Controls of generation that need no model, against brute force and on the pictures of CdSprites+."""

from types import SimpleNamespace

import numpy as np
import pytest
import torch

from molyneux.core import Batch, Factor, Modality, Reading, Spec
from molyneux.data import CdSprites
from molyneux.measure import Coherence
from molyneux.measure.coherence.answers import true_answers
from molyneux.measure.coherence.controls import CONSTANT, MEAN, OTHER, view_controls
from molyneux.measure.evaluation import Evaluation
from molyneux.run.run.readers import find_readers

FACTORS = Factor("kind", ("a", "b", "c")), Factor("place", ("here", "there"))
MODALITIES = {
    "image": Modality("image", "image", (1, 4, 4), "uint8"),
    "word": Modality("word", "text", (5,), "uint8", ("_", "p", "q", "r"), padding=0),
    "touch": Modality("touch", "series", (6, 2), "float32"),
    "sound": Modality("sound", "audio", (1, 12), "float32"),
}
SPEC = Spec(tuple(MODALITIES.values()), FACTORS)


class Noisy:
    """Samples whose views are noise around a centre of each combination of factors; numbers from `first` on."""

    spec = SPEC

    def __init__(self, size, first=0):
        rng = np.random.default_rng(7)
        self.size, self.first = size, first
        self.factors = np.stack([rng.integers(0, len(factor.values), 4000) for factor in FACTORS], 1)
        number = self.factors[:, 0] * 2 + self.factors[:, 1]
        noise = np.random.default_rng(8)
        self.views = {
            "image": np.clip(40 * number[:, None, None, None] + noise.normal(0, 20, (4000, 1, 4, 4)), 0, 255).astype(np.uint8),
            "word": np.where(noise.random((4000, 5)) < 0.6, (number % 3 + 1)[:, None], noise.integers(0, 4, (4000, 5))),
            "touch": (number[:, None, None] + noise.normal(size=(4000, 6, 2))).astype(np.float32),
            "sound": (number[:, None, None] + noise.normal(size=(4000, 1, 12))).astype(np.float32),
        }
        self.views["word"] = self.views["word"].astype(np.uint8)

    def __len__(self):
        return self.size

    def batch(self, indices):
        rows = np.asarray(indices) + self.first
        views = {name: torch.from_numpy(view[rows]) for name, view in self.views.items()}
        return Batch(views, factors=torch.from_numpy(self.factors[rows]))


class Remembering:
    """Reads codes from what it is shown: the views are kept, the codes are the sum of the values."""

    factors, accuracy, version = ("kind", "place"), {"kind": 1.0, "place": 1.0}, "1"

    def __init__(self, modality):
        self.modality, self.shown = modality, []

    def read(self, view):
        self.shown.append(view.clone())
        total = view.double().flatten(1).sum(1).round().long()
        codes = torch.stack([total % 3, total % 2], 1)
        return Reading(torch.where(total[:, None] % 5 == 0, -1, codes), self.factors, forced=codes)


@pytest.fixture(scope="module")
def samples():
    return SimpleNamespace(train=Noisy(1500), test=Noisy(700, first=2000))


def controls_of(samples, name, asked):
    reader = Remembering(name)
    evaluation = Evaluation(None, samples.test, train=samples.train, exact={name: reader}, batch_size=256)
    ceiling = true_answers(evaluation)[name].select(asked)
    return reader, ceiling, view_controls(evaluation, name, reader, ceiling)


@pytest.mark.parametrize("name", MODALITIES)
@pytest.mark.parametrize("asked", [("kind", "place"), ("kind",)])
def test_the_views_of_the_controls_against_brute_force(samples, name, asked):
    reader, ceiling, controls = controls_of(samples, name, asked)
    assert set(controls) == {MEAN, CONSTANT, OTHER}
    columns = [SPEC.factor_index(factor) for factor in asked]
    known, codes = samples.train.views[name][:1500], samples.train.factors[:1500][:, columns]

    def mean(rows):
        if name == "word":
            counts = (rows[..., None] == np.arange(4)).sum(0)
            return counts.argmax(-1)
        return np.rint(rows.mean(0)) if name == "image" else rows.astype(np.float64).mean(0)

    combinations = np.unique(codes, axis=0)
    expected = [mean(known[(codes == row).all(1)]) for row in combinations] + [mean(known)]
    shown = reader.shown[-2]
    assert len(shown) == len(combinations) + 1
    np.testing.assert_allclose(shown.numpy(), np.stack(expected), rtol=1e-6, atol=1e-6)

    true = samples.test.views[name][2000:2700]
    scale = 255.0 if name == "image" else 1.0
    for row in range(0, 700, 37):
        others = np.flatnonzero((codes != ceiling.truth[row]).any(1))
        if name == "word":
            distances = (known[others] != true[row]).sum(1)
        else:
            distances = np.square((known[others].astype(np.float64) - true[row]) / scale).reshape(len(others), -1).sum(1)
        chosen = reader.shown[-1][row].numpy()
        own = (chosen != true[row]).sum() if name == "word" else np.square((chosen.astype(np.float64) - true[row]) / scale).sum()
        assert own == pytest.approx(distances.min(), rel=1e-4)


def test_every_sample_gets_the_reading_of_the_mean_of_its_own_factors(samples):
    reader, ceiling, controls = controls_of(samples, "image", ("kind", "place"))
    mean = reader.read(reader.shown[-2])
    places = ceiling.truth[:, 0] * 2 + ceiling.truth[:, 1]
    assert (controls[MEAN].read == mean.codes.numpy()[places]).all()
    assert (controls[MEAN].forced == mean.forced.numpy()[places]).all()
    assert (controls[MEAN].truth == ceiling.truth).all()
    assert (controls[CONSTANT].read == mean.codes.numpy()[-1]).all()


def test_what_no_training_sample_shows_gets_the_mean_of_all(samples):
    class Without(Noisy):
        def batch(self, indices):
            batch = super().batch(indices)
            return batch[torch.nonzero(batch.factors[:, 0] != 2).flatten()]

    reader, ceiling, controls = controls_of(SimpleNamespace(train=Without(1500), test=samples.test), "touch", ("kind",))
    held = ceiling.truth[:, 0] == 2
    assert held.any()
    assert (controls[MEAN].read[held] == controls[CONSTANT].read[held]).all()
    assert len(reader.shown[-2]) == 3


def test_without_training_samples_there_are_no_controls(samples):
    reader = Remembering("image")
    evaluation = Evaluation(None, samples.test, exact={"image": reader})
    assert view_controls(evaluation, "image", reader, true_answers(evaluation)["image"]) == {}


def test_means_are_made_once_for_all_conditions(samples):
    reader = Remembering("image")
    first = Evaluation(None, samples.test, train=samples.train, exact={"image": reader})
    second = Evaluation(None, samples.test, train=samples.train, exact={"image": reader}, about={"missing": "touch"})
    second.__dict__["training"] = first.training  # as `evaluate` shares it
    before = len(reader.shown)
    for evaluation in (first, second):
        view_controls(evaluation, "image", reader, true_answers(evaluation)["image"])
    assert sum(len(view) == 7 for view in reader.shown[before:]) == 1


@pytest.mark.parametrize(("level", "forced"), [(1, 34.8), (2, 16.9), (3, 15.9)])
def test_mean_pictures_of_cdsprites_are_not_read_unless_a_reader_is_forced(level, forced):
    """What a reader takes the mean picture of a caption for where it has to choose, with no model at all."""
    world = CdSprites(level=level)
    readers = find_readers(world, world.spec, {})
    sources = {split: world.source(split, size, seed=1) for split, size in (("train", 10_000), ("test", 2000))}
    evaluation = Evaluation(None, sources["test"], train=sources["train"], exact=readers.exact, samples=2000)
    found = view_controls(evaluation, "image", readers.exact["image"], true_answers(evaluation)["image"])
    assert found[MEAN].strict.mean() == 0
    assert 100 * found[MEAN].without_abstaining.strict.mean() == pytest.approx(forced, abs=2.5)
    assert found[OTHER].strict.mean() == 0  # another caption's picture is read as what it is


def test_every_coherence_score_has_them(tiny):
    measured = Coherence()(tiny.evaluation(tiny.Oracle(), train=tiny.Source(tiny.rows(500))))
    rests = [score for score in measured.scores if "letters" not in score.name and score.about["source"] != "prior"]
    assert {score.name.partition(".")[2] for score in rests} >= {"strict", "features", "accuracy", "unreadable", "value_accuracy"}
    assert all({MEAN, OTHER, CONSTANT} <= set(score.controls) for score in rests)
    assert MEAN in tiny.find(measured, "coherence.strict", source="prior").controls
