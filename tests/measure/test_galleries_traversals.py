import numpy as np
import pytest
import torch

from molyneux.core import Codes, ConfigError, Posterior
from molyneux.measure import Traversals


class Fixed:
    def __init__(self, mean):
        self.mean = mean

    def rsample(self, sample_shape=(), generator=None):
        return self.mean.expand(*sample_shape, *self.mean.shape)

    def log_prob(self, value):
        return torch.zeros(value.shape[:-1])


class Dial:
    """Three shared dimensions of variance 0, large and small; the private one of the image. Remembers what it decodes."""

    def __init__(self, tiny):
        self.tiny = tiny
        self.decoded = []

    def encode(self, batch, observed=None):
        size = batch.factors[:, 1:2].float()
        shared = torch.cat([torch.full_like(size, 0.25), 2 * size, 0.1 * size], 1)
        return Posterior(Fixed(shared), {"image": Fixed(5 * size)})

    def prior(self, size):
        return Posterior(Fixed(torch.zeros(size, 3)), {"image": Fixed(torch.zeros(size, 1))})

    def decode(self, codes: Codes, only=None):
        self.decoded.append((tuple(only), codes))
        rows = torch.zeros(len(codes.shared), dtype=torch.long)
        return {name: self.tiny.distribution(name, rows) for name in only}


def test_one_dimension_moves_and_the_others_stay(tiny):
    model = Dial(tiny)
    measured = Traversals(steps=5, limit=2.0)(tiny.evaluation(model, source=tiny.Source(np.array([4, 0, 4, 8]))))
    image, text = measured.exhibits
    assert image.columns == ("", "-2.0", "-1.0", "+0.0", "+1.0", "+2.0")
    assert [row[0].text for row in image.rows] == ["private.image 1", "shared 2", "shared 3", "shared 1"]
    assert [row[0].text for row in text.rows] == ["shared 2", "shared 3", "shared 1"]
    assert {len(row) for row in image.rows} == {6}
    only, codes = model.decoded[1]
    assert only == ("image",)
    assert codes.shared[:, 1].tolist() == [-2.0, -1.0, 0.0, 1.0, 2.0]
    assert codes.shared[:, [0, 2]].unique(dim=0).tolist() == [[0.25, pytest.approx(0.1)]]
    assert codes.private["image"].unique().tolist() == [5.0]
    assert model.decoded[0][1].private["image"][:, 0].tolist() == [-2.0, -1.0, 0.0, 1.0, 2.0]


def test_only_the_most_telling_dimensions_are_shown(tiny):
    measured = Traversals(dimensions=1, sample=1)(tiny.evaluation(Dial(tiny)))
    assert [row[0].text for item in measured.exhibits for row in item.rows] == ["private.image 1", "shared 2"]


def test_bad_settings_are_refused():
    with pytest.raises(ConfigError, match="steps of at least 2"):
        Traversals(steps=1)
    with pytest.raises(ConfigError, match="a positive limit"):
        Traversals(limit=0.0)
