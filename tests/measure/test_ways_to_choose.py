"""Choices by likelihood and by drawing against a linear-Gaussian model; choices after examples against brute force."""

import itertools
from dataclasses import dataclass, replace

import numpy as np
import pytest
import torch
from torch.distributions import Independent, MultivariateNormal, Normal

from molyneux.core import Batch, ConfigError, Factor, Modality, NotApplicableError, Posterior, Spec
from molyneux.data import ArraySource
from molyneux.learn import MLD, Training, fit
from molyneux.learn.diffusion import CodeDiffusion, ExPostDiffusion
from molyneux.measure import Evaluation, TwoWayChoice
from molyneux.measure.two_way_choice.choices import Side, distances, two_way_choices
from molyneux.measure.two_way_choice.shown import examples, shown_choices
from molyneux.measure.two_way_choice.ways import drawn_codes, log_ratios

NOISE = 0.7
GAINS = {"felt": torch.tensor([[1.0, 0.2], [0.3, -1.0], [0.5, 0.5]]), "seen": torch.tensor([[0.8, 0.1], [-0.4, 1.2]])}
PRIVATE = torch.tensor([[0.6], [0.3]])
"""Of the private code of what is seen."""


@dataclass
class Gaussian:
    """A normal distribution of codes (B, D) with one covariance (D, D) for all."""

    mean: torch.Tensor
    covariance: torch.Tensor

    def rsample(self, sample_shape=(), generator=None):
        noise = torch.randn(*sample_shape, *self.mean.shape, generator=generator, dtype=self.mean.dtype)
        return self.mean + noise @ torch.linalg.cholesky(self.covariance).mT

    def log_prob(self, value):
        return MultivariateNormal(self.mean, self.covariance).log_prob(value)


class LinearGaussian:
    """`z ~ N(0, 1)`, `felt = A z + noise`, `seen = B z + c w + noise`, with exact posteriors of `z`."""

    def posterior(self, name):
        gain = GAINS[name]
        extra = PRIVATE @ PRIVATE.mT if name == "seen" else 0.0
        inverse = torch.linalg.inv(NOISE**2 * torch.eye(len(gain)) + extra)
        covariance = torch.linalg.inv(torch.eye(2) + gain.mT @ inverse @ gain)
        return covariance @ gain.mT @ inverse, covariance

    def encode(self, batch, observed=None):
        (name,) = observed
        weights, covariance = self.posterior(name)
        return Posterior(Gaussian(batch.views[name] @ weights.mT, covariance), self.prior(len(batch)).private)

    def prior(self, size):
        return Posterior(Gaussian(torch.zeros(size, 2), torch.eye(2)), {"seen": Gaussian(torch.zeros(size, 1), torch.eye(1))})

    def decode(self, codes, only=None):
        means = {name: codes.shared @ gain.mT for name, gain in GAINS.items()}
        means["seen"] = means["seen"] + codes.private["seen"] @ PRIVATE.mT
        return {name: Independent(Normal(means[name], NOISE, validate_args=False), 1, validate_args=False) for name in only}


class Flat(LinearGaussian):
    """Decodes nothing."""

    decode = prior = None

    def encode(self, batch, observed=None):
        weights, covariance = self.posterior(*observed)
        return Posterior(Gaussian(batch.views[observed[0]] @ weights.mT, covariance))


def samples(count, kinds=6, seed=0):
    """Samples of kinds of things that lie around a code each."""
    rng = torch.Generator().manual_seed(seed)
    kind = torch.arange(count) % kinds
    code = (torch.randn(kinds, 2, generator=rng) * 1.5)[kind] + 0.3 * torch.randn(count, 2, generator=rng)
    views = {name: code @ gain.mT + NOISE * torch.randn(count, len(gain), generator=rng) for name, gain in GAINS.items()}
    views["seen"] = views["seen"] + torch.randn(count, 1, generator=rng) @ PRIVATE.mT
    spec = Spec(
        tuple(Modality(name, "tabular", (len(gain),)) for name, gain in GAINS.items()),
        (Factor("shape", tuple(map(str, range(kinds)))), Factor("pair", ("a", "b", "c"))),
    )
    return ArraySource(spec, Batch(views, factors=torch.stack([kind, kind // 2], 1)))


def exact_ratios(views, given, choices):
    """`log p(seen | felt) - log p(seen)` in closed form, (n, m)."""
    weights, covariance = LinearGaussian().posterior("felt")
    gain, own = GAINS["seen"], NOISE**2 * torch.eye(2) + PRIVATE @ PRIVATE.mT
    means = views["felt"][given] @ weights.mT @ gain.mT
    known = MultivariateNormal(means[:, None], gain @ covariance @ gain.mT + own).log_prob(views["seen"][choices])
    return known - MultivariateNormal(torch.zeros(2), gain @ gain.mT + own).log_prob(views["seen"][choices])


def test_likelihood_ratios_of_a_linear_gaussian_model():
    source, given, choices = samples(40), np.arange(7), np.arange(5, 20)
    evaluation = Evaluation(LinearGaussian(), source, batch_size=3)
    found = log_ratios(
        evaluation, given, choices, source="felt", target="seen", draws=4000, generator=torch.Generator().manual_seed(1)
    )
    true = exact_ratios(source.batch(np.arange(40)).views, given, choices).numpy()
    assert np.abs(true).max() > 2
    probable = true > -3  # of the others few draws are near
    assert probable.sum() > 50
    assert np.abs(found - true)[probable].max() < 0.25
    assert np.abs(found - true)[probable].mean() < 0.06


def test_codes_of_drawings_of_a_linear_gaussian_model():
    source, given = samples(40), np.arange(11)
    evaluation = Evaluation(LinearGaussian(), source, batch_size=4)
    found = drawn_codes(evaluation, given, source="felt", target="seen", draws=4000, generator=torch.Generator().manual_seed(1))
    felt, seen = (LinearGaussian().posterior(name)[0] for name in ("felt", "seen"))
    true = source.batch(given).views["felt"] @ felt.mT @ GAINS["seen"].mT @ seen.mT
    assert np.allclose(found, true, atol=0.05)


def test_likelihood_decides_as_well_as_the_closed_form():
    """The measure's accuracy is that of exact likelihood ratios, and the likelihood alone is no better."""
    source = samples(120)
    views, kinds = source.batch(np.arange(120)).views, np.arange(120) % 6
    ratios = exact_ratios(views, np.arange(120), np.arange(120)).numpy()
    won = [
        float(np.mean(ratios[i, [j for j in np.flatnonzero(kinds == a) if j != i], None] > ratios[i, kinds == b]))
        for i, a in enumerate(kinds)
        for b in range(6)
        if b != a
    ]
    settings = {"pairs": [["felt", "seen"]], "ways": ["likelihood"]}
    (score,) = TwoWayChoice(**settings, draws=400)(Evaluation(LinearGaussian(), source)).scores
    assert score.about == {"source": "felt", "target": "seen", "way": "likelihood"}
    assert score.value == pytest.approx(100 * np.mean(won), abs=1.0)
    assert score.controls == {}
    (alone,) = TwoWayChoice(**settings, draws=400, relative=False)(Evaluation(LinearGaussian(), source)).scores
    assert alone.value < score.value + 0.5


def test_ways_leave_the_choice_by_codes_as_it_is():
    evaluation = Evaluation(LinearGaussian(), samples(60), untrained=LinearGaussian)
    every = TwoWayChoice(ways=["codes", "likelihood", "drawing"], alike="pair", draws=8, asked=40)(evaluation).scores
    assert every[:4] == TwoWayChoice(alike="pair")(evaluation).scores
    told = [(score.about["way"], score.about["source"], score.name.partition(".")[2]) for score in every[4:]]
    directions = [(sense, name) for sense in ("felt", "seen") for name in ("accuracy", "alike_accuracy")]
    assert told == [(way, *direction) for way in ("likelihood", "drawing") for direction in directions]
    assert all(score.n == 40 for score in every[4:])
    drawn = every[8]
    assert drawn.controls["untrained net"] == drawn.value > 55


def test_a_model_that_decodes_nothing_is_asked_by_codes_alone():
    found = TwoWayChoice(ways=["codes", "likelihood", "drawing"])(Evaluation(Flat(), samples(60))).scores
    assert [score.value is None for score in found] == [False, False, True, True]
    for way, score in zip(("likelihood", "drawing"), found[2:], strict=True):
        assert score.about == {"way": way}
        assert score.note == "not applicable: it needs a model that decodes; Flat does not"


def test_a_model_without_a_prior_is_asked_by_drawing():
    def nothing(self, size):
        raise NotApplicableError("no prior is fitted")

    class Fitted(LinearGaussian):
        def encode(self, batch, observed=None):
            private = LinearGaussian().prior(len(batch)).private
            return Posterior(Flat.encode(self, batch, observed).shared, private)

        prior = nothing

    found = TwoWayChoice(ways=["likelihood", "drawing"], pairs=[["felt", "seen"]])(Evaluation(Fitted(), samples(60))).scores
    assert [(score.about["way"], score.value is None) for score in found] == [("likelihood", True), ("drawing", False)]
    assert found[0].note == "not applicable: no prior is fitted"


def side(codes, values, numbers):
    return Side(values, values[:0], numbers, {"model": codes})


def test_a_memory_of_examples_is_that_of_brute_force():
    rng = np.random.default_rng(0)
    values = rng.integers(0, 5, 60)
    one = side(rng.normal(size=(60, 3)), values, np.arange(60))
    order = rng.permutation(60)[:55]
    other = side(rng.normal(size=(55, 4)), values[order], order)
    shown = examples(one, other, (0, 2, 4), rng)
    assert shown.counts == (0, 2, 4)
    assert (one.numbers[shown.given] == other.numbers[shown.choices]).all()
    assert (one.values[shown.given] == np.unique(values)[:, None]).all()
    assert not set(shown.given.ravel()) & set(shown.asked_given)
    assert not set(shown.choices.ravel()) & set(shown.asked_choices)
    assert len(shown.asked_given) == 60 - 5 * 4
    codes, answers = one.codes["model"], other.codes["model"]
    right: dict[tuple[int, int], list[bool]] = {}
    for i, (k, j) in itertools.product(shown.asked_given, itertools.permutations(shown.asked_choices, 2)):
        true, wrong = one.values[i], other.values[j]
        if other.values[k] == true and wrong != true:
            means = {v: codes[shown.given[v, :2]].mean(0) for v in (true, wrong)}
            taken = min(means, key=lambda v: np.sum((codes[i] - means[v]) ** 2))
            memory = answers[shown.choices[taken, :2]].mean(0)
            nearer = np.sum((answers[k] - memory) ** 2) < np.sum((answers[j] - memory) ** 2)
            right.setdefault((true, wrong), []).append(nearer)
    found = shown_choices(one, other, shown, 2, "model", "euclidean")
    assert len(right) == 20
    assert np.isnan(np.diag(found)).all()
    for pair, chosen in right.items():
        assert found[pair] == pytest.approx(np.mean(chosen))
    places = {"asked_given": one.values, "asked_choices": other.values}
    few = replace(shown, **{name: (part := getattr(shown, name))[values[part] < 3] for name, values in places.items()})
    part = shown_choices(one, other, few, 2, "model", "euclidean")  # not every value that is shown is asked about
    np.testing.assert_allclose(part, found[:3, :3])
    nothing = shown_choices(one, other, shown, 0, "model", "euclidean")
    asked, there = shown.asked_given, shown.asked_choices
    same = one.numbers[asked][:, None] == other.numbers[there]
    across = two_way_choices(distances(codes[asked], answers[there, :3]), one.values[asked], other.values[there], same=same)
    np.testing.assert_array_equal(nothing, across)


def test_a_memory_knows_what_codes_do_not_say():
    """A kind has in one sense the code that the next one has in the other: wrong before anything is shown, and not after."""
    rng = np.random.default_rng(0)
    kinds = np.arange(240) % 8
    places = {"felt": kinds, "seen": kinds // 4 * 4 + (kinds + 1) % 4}
    code = rng.normal(size=(8, 6))
    views = {name: code[place] + 0.1 * rng.normal(size=(240, 6)) for name, place in places.items()}
    spec = Spec(
        tuple(Modality(name, "tabular", (6,)) for name in views),
        (Factor("shape", tuple(map(str, range(8)))), Factor("pair", ("a", "b"))),
    )
    factors = torch.from_numpy(np.stack([kinds, kinds // 4], 1))
    source = ArraySource(spec, Batch({name: torch.from_numpy(view).float() for name, view in views.items()}, factors=factors))

    class Itself:
        def encode(self, batch, observed=None):
            return Posterior(Gaussian(batch.views[observed[0]], torch.eye(6)))

    found = TwoWayChoice(shown=[0, 1, 5, 40], alike="pair", by="pair", pairs=[["felt", "seen"]])(Evaluation(Itself(), source))
    shown = {
        (score.about["shown"], score.about["pair"]): score for score in found.scores if score.name.endswith(".shown_accuracy")
    }
    assert sorted(shown) == [(count, pair) for count in ("0", "1", "5") for pair in ("a", "b")]
    for pair in ("a", "b"):
        assert shown["0", pair].value < 50
        assert shown["1", pair].value == shown["5", pair].value == 100
        assert shown["5", pair].controls["raw input"] == 100
        assert shown["5", pair].n == shown["0", pair].n == 4 * 25
    (told,) = [score for score in found.scores if score.value is None]
    assert told.about == {"shown": "40"}
    assert "40 shown samples of each shape and 2 to ask need more samples of felt seen a, felt seen b" in told.note
    assert {score.name for score in found.scores if score.value is not None} == {
        f"two_way_choice.{name}" for name in ("accuracy", "alike_accuracy", "shown_accuracy", "shown_alike_accuracy")
    }


def test_one_sample_of_each_thing_is_no_choice():
    with pytest.raises(NotApplicableError, match="two_way_choice needs two samples of the same shape"):
        TwoWayChoice()(Evaluation(LinearGaussian(), samples(6)))


def test_settings_of_ways_that_cannot_be_used():
    with pytest.raises(ConfigError, match="ways: expected one of codes, likelihood, drawing, got 'code'"):
        TwoWayChoice(ways=["code"])
    with pytest.raises(ConfigError, match=r"ways: expected at least one and no repeats, got \[\]"):
        TwoWayChoice(ways=[])
    with pytest.raises(ConfigError, match=r"shown: expected different numbers from 0, got \[2, 2\]"):
        TwoWayChoice(shown=[2, 2])
    with pytest.raises(ConfigError, match=r"(?s)asked: expected at least 4, got 3.*draws: expected at least 1, got 0"):
        TwoWayChoice(asked=3, draws=0)


def test_latent_diffusion_answers_in_every_way_once_it_is_trained():
    """Its code is that of both senses: what is given, and what is expected of the other one."""
    spec, whole = samples(1).spec, samples(720).batch(np.arange(720))
    test, train = (ArraySource(spec, whole[part]) for part in (slice(0, 120), slice(120, 720)))
    after = ExPostDiffusion(steps=500, batch_size=128, learning_rate=3e-3, warmup_steps=20, spread=0.0)
    torch.manual_seed(0)
    model = MLD(
        spec, latent_dim=2, rate=0.01, diffusion=CodeDiffusion(width=64, blocks=1, steps=10, given_share=0.7, after=after)
    )
    measure = TwoWayChoice(
        pairs=[["felt", "seen"], ["seen", "felt"]], ways=["codes", "likelihood", "drawing"], draws=16, asked=120
    )

    def right():
        scores = measure(Evaluation(model.eval(), test)).scores
        return {(score.about["source"], score.about.get("way", "codes")): score.value for score in scores}

    before = right()
    fit(model, train, training=Training(steps=300, batch_size=64, learning_rate=5e-3, keep="last"), seed=1)
    found = right()
    assert len(before) == len(found) == 6
    assert all(abs(value - 50) < 20 for value in before.values()), before
    assert all(value > 65 for value in found.values()), found
    assert all(value > before[way] + 10 for way, value in found.items()), (before, found)
