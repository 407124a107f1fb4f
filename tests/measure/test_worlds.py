"""True pictures and captions of the real worlds, through the code path that scores models."""

import numpy as np
import pytest
import torch
from torch.distributions import Categorical, Independent, Normal

from molyneux.core import Posterior, Reading
from molyneux.data import CdSprites, GeBiD
from molyneux.measure import Coherence, Evaluation

N = 240
LEVELS = [(world, level) for world in (CdSprites, GeBiD) for level in range(1, 6)]


class Known:
    """Knows the samples by the bytes of their views: an exact reader of pictures, and a model that gives true views back."""

    modality = "image"
    version = "1"

    def __init__(self, source, factors, spoil=False):
        self.spec, self.factors, self.spoil = source.spec, factors, spoil
        self.batch = source.batch(np.arange(len(source)))
        self.places = {name: {} for name in self.spec.names}
        for name, places in self.places.items():
            for place, view in enumerate(self.batch.views[name].numpy()):
                places.setdefault(view.tobytes(), place)

    @property
    def accuracy(self):
        return dict.fromkeys(self.factors, 1.0)

    def rows(self, name, view):
        return torch.tensor([self.places[name][row.tobytes()] for row in view.numpy()])

    def read(self, view):
        columns = [self.spec.factor_index(name) for name in self.factors]
        return Reading(self.batch.factors[self.rows("image", view)][:, columns], self.factors)

    def encode(self, batch, observed=None):
        return Posterior(Place(self.rows(observed[0], batch.views[observed[0]])[:, None].float()))

    def prior(self, size):
        return Posterior(Place(torch.arange(size)[:, None].float() % N))

    def decode(self, codes, only=None):
        rows = codes.shared[:, 0].long()
        made = {}
        for name in only:
            view = self.batch.views[name][rows]
            if name == "image":
                made[name] = Independent(Normal(view / 255, 0.1, validate_args=False), 3, validate_args=False)
            else:
                ids = spoiled(view, rows) if self.spoil else view
                made[name] = Independent(Categorical(logits=99.0 * torch.nn.functional.one_hot(ids.long(), 27)), 1)
        return made


class Place:
    def __init__(self, mean):
        self.mean = mean

    def rsample(self, sample_shape=(), generator=None):
        return self.mean.expand(*sample_shape, *self.mean.shape)

    def log_prob(self, value):
        return torch.zeros(value.shape[:-1])


def spoiled(ids, rows):
    """One letter of each caption is another one."""
    ids = ids.clone()
    row = torch.arange(len(ids))
    position = rows % (ids != 0).sum(1)
    ids[row, position] = (ids[row, position] + 1 + rows.to(torch.uint8) % 25) % 27
    return ids


def measured(source, text, **changes):
    model = Known(source, text.factors, **changes)
    evaluation = Evaluation(model, source, readers={"image": model}, exact={"text": text}, batch_size=100)
    return Coherence()(evaluation).scores


@pytest.mark.parametrize(("world", "level"), LEVELS)
def test_true_views_score_everything_and_one_wrong_letter_is_noticed_in_every_caption(world, level):
    made = world(level=level)
    source, text = made.source("test", N, seed=1), made.readers()["text"]
    scores = measured(source, text)
    for name, best in (
        ("strict", 100.0),
        ("features", len(text.factors)),
        ("letters", 100.0),
        ("letters_padded", 100.0),
        ("accuracy", 100.0),
    ):
        found = [score for score in scores if score.name == f"coherence.{name}"]
        assert found
        assert {score.value for score in found} == {best}
        assert all(score.controls.get("judge ceiling", best) == best for score in found)
    strict = next(score for score in scores if score.name == "coherence.strict")
    assert strict.controls["constant"] < 60
    assert {score.value for score in scores if score.name == "coherence.unreadable"} == {0.0}
    scores = measured(source, text, spoil=True)
    targets = ("text", ("image", "text"))
    cross = [score for score in scores if score.name == "coherence.strict" and score.about["target"] in targets]
    assert [score.value for score in cross] == [0.0, 0.0]
    letters = next(score for score in scores if score.name == "coherence.letters")
    assert 80 < letters.value < 100 or level == 1
