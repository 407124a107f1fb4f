"""Paths of models whose codes are known: each letter in a dimension of its own, all in one, or nothing at all."""

import itertools
from dataclasses import dataclass

import numpy as np
import pytest
import torch
from torch.distributions import Categorical, Independent

from molyneux.core import Codes, ConfigError, DataError, Factor, Posterior, load_exhibits, save_exhibits
from molyneux.data import Letters, ideal_codes
from molyneux.measure import Evaluation, Homotopy, Traversals
from molyneux.measure.galleries import ReadSequence
from molyneux.measure.homotopy import dimensionwise_codes, homotopy_codes, leg_scores, path_scores
from molyneux.measure.scores import Recorder

LETTERS = Letters()
TEXT = LETTERS.spec.modality("text")
VALUES = ideal_codes(np.repeat(np.arange(20)[:, None], 4, 1), 1)
"""(20, 4): the number of each value of each letter."""


@dataclass
class Fixed:
    mean: torch.Tensor

    def rsample(self, sample_shape=(), generator=None):
        return self.mean.expand(*sample_shape, *self.mean.shape)

    def log_prob(self, value):
        return torch.zeros(value.shape[:-1])


class Ideal:
    """Encodes each letter as its ideal number and decodes the letter whose number is nearest."""

    def encode(self, batch, observed=None):
        return Posterior(Fixed(torch.from_numpy(ideal_codes(batch.factors.numpy(), 1)).float()))

    def prior(self, size):
        return Posterior(Fixed(torch.zeros(size, 4)))

    def decode(self, codes: Codes, only=None):
        return {"text": self.text(self.letters(codes.shared))}

    def letters(self, codes):
        return (codes[:, None] - torch.from_numpy(VALUES).float()).abs().argmin(1)

    def text(self, letters):
        ids = torch.cat([letters + 3 + 20 * torch.arange(4), torch.full((len(letters), 1), TEXT.end)], 1)
        return Independent(Categorical(logits=100.0 * torch.nn.functional.one_hot(ids, 83)), 1)


class Turned(Ideal):
    """The same code, turned: every dimension has a part of every letter."""

    turn = torch.linalg.qr(torch.from_numpy(np.random.default_rng(0).normal(size=(4, 4))))[0].float()

    def encode(self, batch, observed=None):
        return Posterior(Fixed(super().encode(batch).mean.shared @ self.turn))

    def decode(self, codes, only=None):
        return super().decode(Codes(codes.shared @ self.turn.T), only)


class Collapsed(Ideal):
    """Says the same whatever the code."""

    def letters(self, codes):
        return torch.zeros(len(codes), 4, dtype=torch.long)


class Hesitant(Turned):
    """Writes sentences at the codes of samples alone, and something else on the way."""

    def decode(self, codes, only=None):
        straight = codes.shared @ self.turn.T
        far = (straight - torch.from_numpy(VALUES).float()[self.letters(straight), torch.arange(4)]).abs().amax(1) > 1e-3
        ids = torch.cat([self.letters(straight) + 3 + 20 * torch.arange(4), torch.full((len(far), 1), TEXT.end)], 1)
        ids[far] = 3
        return {"text": Independent(Categorical(logits=100.0 * torch.nn.functional.one_hot(ids, 83)), 1)}


class Lost(Ideal):
    """Has no code of the samples that begin with A1."""

    def encode(self, batch, observed=None):
        codes = super().encode(batch).shared.mean
        return Posterior(Fixed(torch.where(batch.factors[:, :1] == 0, torch.nan, codes)))


class Mute(Ideal):
    """Never ends its sentences."""

    def text(self, letters):
        return Independent(Categorical(logits=100.0 * torch.nn.functional.one_hot(torch.full((len(letters), 5), 3), 83)), 1)


def measured(model, world=LETTERS, **settings):
    evaluation = Evaluation(model, world.source("test", 500, seed=1), exact=world.readers(), seed=2, origin={"world": world.name})
    return Homotopy(**{"pairs": 40, **settings})(evaluation)


def values(measurement):
    return {(score.name.partition(".")[2], score.about.get("path")): score for score in measurement.scores}


def said(row):
    return [cell.text.split() for cell in row[1:]]


def test_the_ideal_code_changes_one_letter_at_a_time():
    found = measured(Ideal(), shown=5)
    scores = values(found)
    assert scores["single_change", "dimension-wise"].value == 100
    assert scores["factors_per_moving_leg", "dimension-wise"].value == 1
    assert scores["ends", None].value == scores["readable", "normal"].value == scores["readable", "dimension-wise"].value == 100
    assert scores["single_change", "normal"].value < 60
    assert scores["single_change", "dimension-wise"].interval[0] < 100
    (gallery,) = found.exhibits
    rows = [row for row in gallery.rows if row[0].text.startswith("shared")]
    assert len(rows) == 20
    for number, row in enumerate(rows):
        letters = np.array(said(row))
        changed = (letters[1:] != letters[:-1]).any(0)
        assert not np.delete(changed, number % 4).any(), "leg i changes factor i alone"
        for cell, old, new in zip(row[2:], letters[:-1], letters[1:], strict=True):
            step = "{}: {} → {}".format("ABCD"[number % 4], old[number % 4], new[number % 4])
            assert cell.reading == (cell.text if (old == new).all() else step)


def test_paths_lead_from_one_test_sentence_to_another():
    (gallery,) = measured(Ideal(), shown=1).exhibits
    samples, line, *legs = gallery.rows
    assert gallery.columns == ("", "t = 0", "t = 0.2", "t = 0.4", "t = 0.6", "t = 0.8", "t = 1")
    assert [row[0].text for row in gallery.rows] == ["pair 1: samples", "all dimensions", *(f"shared {i}" for i in range(1, 5))]
    assert samples[1].text == line[1].text == legs[0][1].text
    assert samples[-1].text == line[-1].text == legs[-1][-1].text
    assert samples[1].text != samples[-1].text
    assert all(one[-1].text == next_[1].text for one, next_ in itertools.pairwise(legs))


def test_a_turned_code_changes_several_letters_at_a_time():
    scores = values(measured(Turned()))
    assert scores["ends", None].value == 100
    assert scores["single_change", "dimension-wise"].value < 80
    assert scores["factors_per_moving_leg", "dimension-wise"].value > 2


def test_one_leap_is_what_the_pairs_themselves_say():
    leap = values(measured(Ideal()))["factors_per_leg", "dimension-wise"].controls["one leap"]
    assert leap == pytest.approx(4 * 19 / 20, abs=0.2)


def test_a_collapsed_model_changes_nothing_and_knows_no_end():
    scores = values(measured(Collapsed()))
    assert scores["single_change", "normal"].value is None
    assert scores["single_change", "normal"].note == "no step changes anything"
    assert scores["factors_per_leg", "dimension-wise"].value == scores["ends", None].value == 0
    assert scores["readable", "normal"].value == 100


def test_what_cannot_be_read_changes_nothing():
    scores = values(measured(Mute()))
    assert scores["readable", "normal"].value == scores["readable", "dimension-wise"].value == 0
    assert scores["readable", "normal"].controls == {"judge ceiling": 100}
    assert scores["single_change", "dimension-wise"].value is None


def test_what_changes_behind_unreadable_outputs_is_counted():
    scores = values(measured(Hesitant()))
    assert scores["ends", None].value == 100
    assert 0 < scores["readable", "dimension-wise"].value < 20
    legs = [scores[name, "dimension-wise"] for name in ("single_change", "factors_per_leg", "factors_per_moving_leg")]
    assert legs[0].value == legs[0].controls["one leap"]
    assert [legs[1].value, legs[2].value] == [legs[1].controls["one leap"] / 4, legs[2].controls["one leap"]]
    assert scores["single_change", "normal"].value == scores["single_change", "normal"].controls["one leap"]


def walked(*legs, pairs=20):
    """Scores of walks of which each output is a pair of letters, or None where it cannot be read."""
    codes = np.array([[(-1, -1) if output is None else output for output in leg] for leg in legs])
    readable = np.array([[output is not None for output in leg] for leg in legs])
    walk = ReadSequence(
        (Factor("A", ("1", "2", "3")), Factor("B", ("1", "2", "3"))), *(np.stack(pairs * [part]) for part in (codes, readable))
    )
    recorder = Recorder("homotopy", np.random.default_rng(0))
    found = [*path_scores(walk, recorder, leap=None, ceiling=100.0), *leg_scores(walk, recorder, leap=None)]
    return {score.name.partition(".")[2]: score.value for score in found}


def test_a_leg_over_an_unreadable_output_changes_what_it_changes():
    scores = walked([(0, 0), None, (1, 1)])
    assert (scores["single_change"], scores["factors_per_leg"], scores["factors_per_moving_leg"]) == (0, 2, 2)
    assert scores["readable"] == pytest.approx(200 / 3)
    assert walked([(0, 0), None, None, (1, 0)])["single_change"] == 100
    assert walked([(0, 0), None, (0, 0)])["single_change"] is None
    assert walked([None, None, (1, 1)])["factors_per_leg"] == 0


def test_a_leg_that_begins_unreadably_goes_on_from_the_legs_before_it():
    scores = walked([(0, 0), (0, 0), None], [None, None, None], [None, (1, 1), (1, 2)])
    assert scores["factors_per_leg"] == pytest.approx(2 / 3)
    assert scores["factors_per_moving_leg"] == 2
    assert scores["single_change"] == 50
    apart = walked([(0, 0), (1, 0)], [(2, 2), (2, 1)])
    assert (apart["factors_per_leg"], apart["single_change"]) == (1, 100), "legs that begin readably are told by themselves"


def test_codes_that_are_not_finite_are_refused():
    for measure in (Homotopy(pairs=100), Traversals()):
        evaluation = Evaluation(Lost(), LETTERS.source("test", 500, seed=1), exact=LETTERS.readers())
        with pytest.raises(DataError, match=r"^codes shared given text: expected finite numbers, got .* in row \d+, dimension 0"):
            measure(evaluation)


def test_exhibits_are_stored_and_pairs_follow_the_seed(tmp_path):
    first, second = measured(Ideal()), measured(Ideal())
    assert first.scores == second.scores
    save_exhibits(tmp_path, first.exhibits)
    assert load_exhibits(tmp_path) == list(second.exhibits)
    other = Evaluation(Ideal(), LETTERS.source("test", 500, seed=1), exact=LETTERS.readers(), seed=3)
    assert Homotopy()(other).exhibits[0].rows[0] != first.exhibits[0].rows[0]


def test_only_the_dimensions_that_differ_most_are_shown_and_few_samples_make_few_pairs():
    evaluation = Evaluation(Ideal(), LETTERS.source("test", 5, seed=1), exact=LETTERS.readers())
    found = Homotopy(shown=3, dimensions=2)(evaluation)
    assert values(found)["ends", None].n == 4
    assert len(found.exhibits[0].rows) == 2 * (2 + 2)
    assert not Homotopy(shown=0)(evaluation).exhibits


def test_traversals_of_texts_say_which_letter_a_step_changed():
    evaluation = Evaluation(Ideal(), LETTERS.source("test", 50, seed=1), exact=LETTERS.readers())
    (gallery,) = Traversals(steps=5, limit=1.0)(evaluation).exhibits
    for row in gallery.rows:
        letter = int(row[0].text.removeprefix("shared ")) - 1
        letters = np.array(said(row))
        assert len(set(letters[:, letter])) > 1
        for cell, old, new in zip(row[2:], letters[:-1], letters[1:], strict=True):
            change = f"{'ABCD'[letter]}: {old[letter]} → {new[letter]}"
            assert cell.reading == (cell.text if (old == new).all() else change)


def test_pictures_have_paths_too(tiny):
    found = Homotopy(pairs=5, shown=1)(tiny.evaluation(tiny.Oracle(lambda name, rows: rows.clamp(0, 23))))
    assert {score.about["modality"] for score in found.scores} == {"image", "text"}
    assert tiny.find(found, "homotopy.ends", modality="image").value == 100
    image, _ = found.exhibits
    assert image.rows[1][1].view.shape == (3, 8, 8)


def test_bad_settings_are_refused():
    with pytest.raises(ConfigError, match="got 0, 2, 6 and 10"):
        Homotopy(pairs=0)


@pytest.fixture
def ends():
    return np.random.default_rng(0).normal(size=(2, 5, 3))


def test_the_line_has_its_ends_to_the_last_bit_and_even_steps(ends):
    path = homotopy_codes(*ends)
    assert path.shape == (5, 6, 3)
    assert np.array_equal(path[:, 0], ends[0])
    assert np.array_equal(path[:, -1], ends[1])
    assert np.allclose(path[:, 2], 0.6 * ends[0] + 0.4 * ends[1])


def test_one_dimension_moves_at_a_time_as_a_loop_would_do_it(ends):
    path = dimensionwise_codes(*ends, steps=4)
    assert path.shape == (5, 3, 4, 3)
    for pair in range(5):
        code = ends[0, pair].copy()
        for leg in range(3):
            for step, share in enumerate((0, 1 / 3, 2 / 3, 1)):
                code[leg] = (1 - share) * ends[0, pair, leg] + share * ends[1, pair, leg]
                assert np.allclose(path[pair, leg, step], code)
    assert np.array_equal(path[:, 1:, 0], path[:, :-1, -1])
    assert np.array_equal(path[:, -1, -1], ends[1])


def test_single_codes_have_paths_too(ends):
    first, second = ends[:, 0]
    assert np.array_equal(homotopy_codes(first, second), homotopy_codes(*ends)[0])
    assert np.array_equal(dimensionwise_codes(first, second), dimensionwise_codes(*ends)[0])


def test_codes_that_do_not_fit_are_refused(ends):
    with pytest.raises(ConfigError, match="at least 2"):
        homotopy_codes(*ends, steps=1)
    with pytest.raises(DataError, match=r"one shape, got \(5, 3\) and \(5, 2\)"):
        dimensionwise_codes(ends[0], ends[1, :, :2])


@pytest.mark.parametrize("path", [homotopy_codes, dimensionwise_codes])
def test_codes_that_are_not_finite_and_parts_of_steps_are_refused(ends, path):
    with pytest.raises(
        DataError, match=r"^z1: expected finite numbers, got 1 that are not, the first \(nan\) in row 0, dimension 0"
    ):
        path([np.nan], [0.0])
    ends[1, 4, 2] = np.inf
    with pytest.raises(
        DataError, match=r"^z2: expected finite numbers, got 1 that are not, the first \(inf\) in row 4, dimension 2"
    ):
        path(*ends)
    for steps in (2.5, "6", None):
        with pytest.raises(ConfigError, match="steps: expected a whole number of at least 2"):
            path([0.0], [1.0], steps=steps)
    assert path([0.0], [1.0], steps=np.int64(2)).ravel().tolist() == [0, 1]
