"""Consistency against counting pairs one by one, and what constant and independent answers give."""

from dataclasses import dataclass, field

import numpy as np
import pytest
import torch
from torch.distributions import Bernoulli

from molyneux.core import Batch, DataError, Factor, Modality, NotApplicableError, Spec, Target
from molyneux.core.intervals import share_interval
from molyneux.measure import Consistency, Evaluation

FORM = Factor("form", ("existential", "relational"))


@dataclass
class Related:
    """Rows of a caption and related ones; the text of a sample is its number, the answers of a model are in a table."""

    first: np.ndarray  # (N,) whether the first caption of a row is true
    meanings: tuple[str, ...]
    unknown: np.ndarray = field(default_factory=lambda: np.array([], int))
    wrong: int = -1

    @property
    def spec(self):
        views = (Modality("image", "tabular", (1,)), Modality("text", "tabular", (1,)))
        return Spec(views, (FORM,), (Target("true", "agreement", meanings=self.meanings),))

    @property
    def truth(self):
        opposite = np.array([False, *(meaning == "opposite" for meaning in self.meanings)])
        return (self.first[:, None] ^ opposite).ravel()

    def __len__(self):
        return len(self.truth)

    def batch(self, indices):
        rows = np.asarray(indices)
        row = rows // (1 + len(self.meanings))
        return Batch(
            {name: torch.from_numpy(view.astype(np.float32)[:, None]) for name, view in (("image", row), ("text", rows))},
            factors=torch.from_numpy((row % 2)[:, None]),
            targets={"true": torch.from_numpy((self.truth[rows] ^ (rows == self.wrong)).astype(np.int64))},
            known={"true": torch.from_numpy(~np.isin(rows, self.unknown))},
        )


class Says:
    """Answers as a table has them, (N,) bool."""

    def __init__(self, answers):
        self.answers = answers

    def predict(self, batch, observed):
        said = self.answers[batch.views["text"][:, 0].long().numpy()]
        return {"true": Bernoulli(logits=torch.from_numpy(np.where(said, 2.0, -1.5)))}


def scores_of(related, answers, **settings):
    return Consistency(**settings)(Evaluation(Says(answers), related, batch_size=10)).scores


def whole(scores):
    return {score.name.partition(".")[2]: score for score in scores if "factor" not in score.about}


@pytest.fixture(scope="module")
def related():
    return Related(np.random.default_rng(0).random(300) < 0.5, ("same", "opposite"))


@pytest.fixture(scope="module")
def answers(related):
    flipped = np.random.default_rng(1).random(len(related)) < np.tile([0.1, 0.3, 0.4], 300)
    return related.truth ^ flipped


def test_scores_count_pairs(related, answers):
    found = whole(scores_of(related, answers))
    said, truth = answers.reshape(300, 3), related.truth.reshape(300, 3)
    expected = {
        "paraphrase": [row[0] == row[1] for row in said],
        "paraphrase_right": [row[0] == true[0] and row[1] == true[1] for row, true in zip(said, truth, strict=True)],
        "negation": [row[0] != row[2] for row in said],
        "negation_right": [row[0] == true[0] and row[2] == true[2] for row, true in zip(said, truth, strict=True)],
        "accepts_both": [row[0] and row[2] for row in said],
        "rejects_both": [not row[0] and not row[2] for row in said],
    }
    assert list(found) == list(expected)
    for name, counted in expected.items():
        score = found[name]
        assert (score.value, score.n) == (pytest.approx(100 * np.mean(counted)), 300)
        assert score.interval == pytest.approx(tuple(100 * np.array(share_interval(int(np.sum(counted)), 300))))
        assert score.chance == (50.0 if name in ("paraphrase", "negation") else 25.0)
        assert score.higher_is_better == (name not in ("accepts_both", "rejects_both"))
    assert found["negation"].value + found["accepts_both"].value + found["rejects_both"].value == pytest.approx(100)


def test_controls_are_those_of_constant_and_of_independent_answers(related, answers):
    found = whole(scores_of(related, answers))
    for name in ("always yes", "always no"):
        said = np.full(len(related), name == "always yes")
        for key, score in whole(scores_of(related, said)).items():
            assert score.value == pytest.approx(found[key].controls[name])
    right = (answers == related.truth).reshape(300, 3).mean(0)
    assert found["paraphrase"].controls["independent"] == pytest.approx(
        100 * (right[0] * right[1] + (1 - right[0]) * (1 - right[1]))
    )
    assert found["negation_right"].controls["independent"] == pytest.approx(100 * right[0] * right[2])
    true = related.first.mean()
    both = true * right[0] * (1 - right[2]) + (1 - true) * (1 - right[0]) * right[2]
    assert found["accepts_both"].controls["independent"] == pytest.approx(100 * both)


def test_independent_answers_are_at_their_control(related):
    many = Related(np.random.default_rng(3).random(20_000) < 0.5, ("same", "opposite"))
    flipped = np.random.default_rng(2).random(len(many)) < 0.2
    for score in whole(scores_of(many, many.truth ^ flipped)).values():
        assert score.value == pytest.approx(score.controls["independent"], abs=1.2)
    for name, score in whole(scores_of(related, related.truth)).items():
        assert score.value == (0.0 if name in ("accepts_both", "rejects_both") else 100.0)


def test_by_value_of_a_factor_with_the_worst_beside(related, answers):
    found = scores_of(related, answers, factors=("form",))
    accepted = {
        score.about["value"]: score.value
        for score in found
        if score.name == "consistency.accepts_both" and "value" in score.about
    }
    assert set(accepted) == set(FORM.values)
    worst = next(score for score in found if score.name == "consistency.accepts_both_lowest")
    assert (worst.value, worst.note) == (max(accepted.values()), f"of the value {max(accepted, key=accepted.get)}")


def test_several_paraphrases_of_a_row_are_averaged_before_they_are_counted():
    related = Related(np.ones(100, bool), ("same", "same"))
    said = np.random.default_rng(0).random((100, 3)) < 0.7
    found = whole(scores_of(related, said.ravel()))
    assert list(found) == ["paraphrase", "paraphrase_right"]
    assert found["paraphrase"].value == pytest.approx(100 * (said[:, :1] == said[:, 1:]).mean())
    assert (found["paraphrase"].n, found["paraphrase"].bounds) == (100, (0.0, 100.0))


def test_unknown_samples_are_left_out(related, answers):
    some = Related(related.first, related.meanings, unknown=np.array([0, 4, 8]))
    found = whole(scores_of(some, answers))
    assert (found["paraphrase"].n, found["negation"].n) == (298, 298)


def test_what_cannot_be_measured(related, answers):
    with pytest.raises(NotApplicableError, match="texts that mean the same or the opposite"):
        scores_of(Related(related.first, ()), answers)
    wrong = Related(related.first, related.meanings, wrong=5)
    with pytest.raises(DataError, match="text 3 of every row to mean the opposite as the first, got another truth in row 2"):
        scores_of(wrong, answers)
