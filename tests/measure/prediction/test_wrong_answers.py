"""The gallery of wrong answers, against a model whose answers are read from its samples."""

from dataclasses import dataclass

import numpy as np
import pytest
import torch
from torch.distributions import Bernoulli, Categorical

from molyneux.core import Batch, ConfigError, Factor, Modality, Spec, SpecError, Target, load_exhibits, save_exhibits
from molyneux.measure import Evaluation, WrongAnswers, evaluate

SPEC = Spec(
    (Modality("image", "image", (1, 2, 2), "uint8"), Modality("text", "text", (2,), "uint8", (" ", "a", "b"), 0)),
    (Factor("kind", ("plain", "odd")), Factor("always", ("so",))),
    (Target("fits", "agreement"), Target("colour", "class", ("red", "green", "blue"))),
)
SIZE = 30


@dataclass
class Samples:
    """The first pixel is the number of the sample."""

    known: np.ndarray
    spec: Spec = SPEC

    def __len__(self):
        return SIZE

    def batch(self, indices):
        rows = np.asarray(indices)
        image = torch.zeros(len(rows), 1, 2, 2, dtype=torch.uint8)
        image[:, 0, 0, 0] = torch.from_numpy(rows)
        text = torch.from_numpy(np.stack([1 + rows % 2, np.ones_like(rows)], 1).astype(np.uint8))
        return Batch(
            {"image": image, "text": text},
            factors=torch.from_numpy(np.stack([rows % 3 - 1, 0 * rows], 1)),
            targets={"fits": torch.from_numpy(rows % 2), "colour": torch.from_numpy(rows % 3)},
            known={"fits": torch.from_numpy(self.known[rows])},
        )


class Numbered(torch.nn.Module):
    """Says that samples agree with a probability that rises with their number, and that everything is green."""

    def predict(self, batch, observed):
        number = batch.views["image"][:, 0, 0, 0].float()
        weights = torch.stack([torch.ones_like(number), 2 + number, torch.ones_like(number)], 1)
        return {"fits": Bernoulli(probs=0.5 + 0.01 * (number + 1)), "colour": Categorical(probs=weights)}


def exhibits(known=None, **settings):
    samples = Samples(np.ones(SIZE, bool) if known is None else known)
    return WrongAnswers(**settings)(Evaluation(Numbered(), samples, seed=1, batch_size=7)).exhibits


def numbers(gallery):
    return [int(row[0].view[0, 0, 0]) for row in gallery.rows]


def test_the_most_confident_wrong_answers_come_first():
    fits, colour = exhibits(rows=4)
    assert (fits.name, fits.columns) == ("wrong_fits", ("image", "text", "true", "answered", "factors"))
    assert numbers(fits) == [28, 26, 24, 22]  # even ones do not agree, and the answer is always that they do
    assert [cell.text or cell.reading for cell in fits.rows[0][1:]] == ["aa", "does not agree", "agrees, 79.0 %", "kind plain"]
    assert fits.rows[0][3].correct is False
    assert fits.rows[1][4].reading == "kind odd"
    assert fits.rows[2][4].reading == ""  # absent
    assert "50.0 % of 30 samples" in fits.note
    assert numbers(colour) == [29, 27, 26, 24]
    assert [row[2].text for row in colour.rows] == ["blue", "red", "blue", "red"]


def test_samples_whose_target_is_unknown_are_left_out():
    known = np.ones(SIZE, bool)
    known[[28, 24, 3]] = False
    (gallery,) = exhibits(known, rows=3, targets=("fits",))
    assert numbers(gallery) == [26, 22, 20]


def test_no_gallery_where_nothing_is_wrong():
    known = np.arange(SIZE) % 2 == 1
    (gallery,) = exhibits(known)
    assert gallery.name == "wrong_colour"
    assert len(gallery.rows) == 12


def test_it_is_an_exhibit_of_the_first_condition_that_can_be_stored(tmp_path):
    samples = Samples(np.ones(SIZE, bool))
    given = [Evaluation(Numbered(), samples), Evaluation(Numbered(), samples, about={"split": "iid"})]
    found = evaluate([WrongAnswers(rows=2)], given)
    assert found.scores == ()
    save_exhibits(tmp_path, found.exhibits)
    assert [numbers(gallery) for gallery in load_exhibits(tmp_path)] == [numbers(gallery) for gallery in found.exhibits]
    assert len(found.exhibits) == 2


def test_settings_that_cannot_be_used():
    with pytest.raises(ConfigError, match="rows of at least 1"):
        WrongAnswers(rows=0)
    with pytest.raises(SpecError, match="colours"):
        WrongAnswers(targets=("colours",)).check(SPEC)
