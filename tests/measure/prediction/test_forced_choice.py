"""Forced choice among the texts of contrast sets, with models whose answers are known."""

from dataclasses import dataclass, field

import numpy as np
import pytest
import torch
from torch.distributions import Categorical

from molyneux.core import Batch, Modality, NotApplicableError, Spec, SpecError, Target
from molyneux.measure import Evaluation, ForcedChoice, evaluate
from molyneux.measure.prediction.forced_choice import right_shares

MODALITIES = (Modality("image", "image", (1, 2, 2), "uint8"), Modality("text", "text", (1,), "uint8", ("a", "b", "c")))


def spec_of(*contrast):
    return Spec(MODALITIES, targets=(Target("fits", "agreement", contrast=contrast), Target("other", "agreement")))


@dataclass
class Sets:
    """Contrast sets in a row; the first pixel of a picture is the number of its set."""

    count: int
    spec: Spec
    known: dict = field(default_factory=dict)
    present: dict = field(default_factory=dict)

    @property
    def size(self):
        return int(np.prod(self.spec.targets[0].contrast))

    def __len__(self):
        return self.count * self.size

    def batch(self, indices):
        rows = torch.as_tensor(np.asarray(indices))
        image = (rows // self.size).to(torch.uint8)[:, None, None, None].expand(-1, 1, 2, 2)
        texts = self.spec.targets[0].contrast[1]
        fits = (rows % self.size // texts == (rows % texts)).long() if self.size > 1 else torch.ones_like(rows)
        targets = {"fits": fits, "other": torch.zeros(len(rows), dtype=torch.int64)}
        known, present = ({name: mask[rows] for name, mask in part.items()} for part in (self.known, self.present))
        return Batch(
            {"image": image, "text": torch.zeros(len(rows), 1, dtype=torch.uint8)}, present, targets=targets, known=known
        )


class Chooses:
    """Gives each set the log-probabilities of a table; without pictures, those of its first picture."""

    def __init__(self, table):
        self.table, self.sizes = torch.tensor(table), []

    def compare(self, batch, observed=None):
        size = self.table.shape[1] * self.table.shape[2]
        self.sizes.append(len(batch))
        found = self.table[batch.views["image"][::size, 0, 0, 0].long()]
        return {"fits": Categorical(logits=found if "image" in observed else found[:, :1].expand_as(found))}


TABLE = [[[2.0, 1.0], [0.0, 1.0]], [[2.0, 1.0], [2.0, 1.0]], [[1.0, 1.0], [1.0, 1.0]], [[0.0, 1.0], [1.0, 0.0]]]
"""Both right; one right; neither told apart; both wrong."""


def scores_of(model, source, measure=None, **settings):
    found = evaluate([measure or ForcedChoice()], Evaluation(model, source, seed=1, **settings)).scores
    return {(score.name, score.about.get("source")): score for score in found}


def test_right_texts_are_counted_and_ties_are_shared():
    found = scores_of(Chooses(TABLE), Sets(4, spec_of(2, 2)))
    both = ("image", "text")
    accuracy, sets = found["forced_choice.accuracy", both], found["forced_choice.set_accuracy", both]
    assert accuracy.value == pytest.approx(100 * (1 + 0.5 + 0.5 + 0) / 4)
    assert sets.value == pytest.approx(100 * (1 + 0 + 0.25 + 0) / 4)
    assert (accuracy.chance, sets.chance, accuracy.n) == (50.0, 25.0, 4)
    blind = found["forced_choice.set_accuracy", "text"]
    assert found["forced_choice.accuracy", "text"].value == pytest.approx(50.0)
    assert blind.value == pytest.approx(100 * 0.25 / 4)  # only where the texts are not told apart


def test_the_right_text_is_the_one_that_the_targets_name():
    """Sets whose texts stand in the other order: who chooses by place is wrong where the targets say so."""
    agrees = np.array([[[True, False], [False, True]], [[False, True], [True, False]]])
    chosen = torch.tensor([[[1.0, 0.0], [0.0, 1.0]]] * 2)
    assert right_shares(chosen, agrees).tolist() == [[1.0, 1.0], [0.0, 0.0]]


def test_guesses_score_chance():
    rng = np.random.default_rng(0)
    given = torch.from_numpy(rng.normal(size=(20_000, 2, 3)))
    found = right_shares(given, np.eye(*given.shape[1:], dtype=bool)[None].repeat(len(given), 0))
    assert found.mean() == pytest.approx(1 / 3, abs=0.01)
    assert found.prod(1).mean() == pytest.approx(1 / 9, abs=0.01)
    assert right_shares(torch.zeros(1, 2, 3), np.eye(2, 3, dtype=bool)[None]).tolist() == [[pytest.approx(1 / 3)] * 2]
    assert right_shares(torch.eye(3)[None, :, :2], np.eye(3, 2, dtype=bool)[None]).tolist() == [
        [1.0, 1.0]
    ]  # the third picture has no text


def test_only_whole_sets_count():
    source = Sets(4, spec_of(2, 2), known={"fits": torch.arange(16) != 5}, present={"image": torch.arange(16) != 8})
    model = Chooses(TABLE)
    found = scores_of(model, source, ForcedChoice(alone=False), batch_size=7, samples=15)
    assert set(model.sizes) == {4}  # of 15 samples, 12 are whole sets; a batch of 7 holds one
    assert list(found) == [("forced_choice.accuracy", ("image", "text")), ("forced_choice.set_accuracy", ("image", "text"))]
    assert found["forced_choice.accuracy", ("image", "text")].value == 100.0
    assert found["forced_choice.accuracy", ("image", "text")].n == 1


def test_what_does_not_apply_says_why():
    (score,) = scores_of(Chooses(TABLE), Sets(2, spec_of(1, 1))).values()
    assert score.note == "not applicable: forced_choice needs contrast sets of several texts: choose a source that has them"
    (score,) = scores_of(torch.nn.Identity(), Sets(2, spec_of(2, 2))).values()
    assert (
        score.note == "not applicable: forced_choice needs a model that chooses among texts (method `compare`); Identity does not"
    )
    with pytest.raises(NotApplicableError, match="no contrast set of fits is whole"):
        ForcedChoice()(Evaluation(Chooses(TABLE), Sets(1, spec_of(2, 2)), samples=3))
    with pytest.raises(SpecError, match="no target 'fit'"):
        scores_of(Chooses(TABLE), Sets(2, spec_of(2, 2)), ForcedChoice(targets=("fit",)))
