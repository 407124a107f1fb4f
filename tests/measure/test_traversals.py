import numpy as np
import pytest
import torch

from molyneux.core import Codes, ConfigError, Posterior
from molyneux.measure import Traversals
from molyneux.measure.galleries import ReadSequence
from molyneux.measure.traversals import changing, moved_codes


class Sliders:
    """Shared dimension 0 chooses the shape, 1 the size, 2 nothing; `mixed` turns the first two by 45 degrees."""

    def __init__(self, tiny, *, mixed=False):
        self.tiny, self.mixed = tiny, mixed

    def encode(self, batch, observed=None):
        noise = torch.linspace(-1, 1, 3 * len(batch)).reshape(-1, 3)
        prior = self.tiny.Oracle().prior(1).shared
        point = type(self.tiny.Oracle().encode(self.tiny.Source(self.tiny.rows(1)).batch([0]), ("image",)).shared)
        assert prior is not None
        return Posterior(point(noise))

    def prior(self, size):
        return self.encode([None] * size)

    def decode(self, codes: Codes, only=None):
        first, second = codes.shared[:, 0], codes.shared[:, 1]
        if self.mixed:
            first, second = (first + second) / 2**0.5, (first - second) / 2**0.5
        shape, size = (first > -1).long() + (first > 1).long(), (second > 0).long()
        return {name: self.tiny.distribution(name, 8 * shape + 4 * size) for name in only}


def test_dimensions_that_are_factors_change_one_each(tiny):
    measured = Traversals(scored_samples=20)(tiny.evaluation(Sliders(tiny), n=60))
    assert tiny.find(measured, "traversals.moving", modality="text").value == pytest.approx(200 / 3)
    for name, value in (("factors", 1), ("single", 100), ("readable", 100)):
        assert tiny.find(measured, f"traversals.{name}", modality="text").value == value
    factors = tiny.find(measured, "traversals.factors", modality="text")
    assert factors.n == 40
    assert factors.controls["random directions"] > 1.3
    assert {score.about["modality"] for score in measured.scores} == {"image", "text"}
    assert len(measured.exhibits) == 2


def test_dimensions_that_mix_factors_change_two(tiny):
    measured = Traversals(scored_samples=20)(tiny.evaluation(Sliders(tiny, mixed=True), n=60))
    assert tiny.find(measured, "traversals.factors", modality="image").value > 1.8
    assert tiny.find(measured, "traversals.single", modality="image").value < 20


def test_scores_are_asked_for(tiny):
    measured = Traversals()(tiny.evaluation(Sliders(tiny), n=60))
    assert not measured.scores
    assert (Traversals().scored, Traversals(scored_samples=1).scored) == (False, True)
    with pytest.raises(ConfigError, match="scored_samples: expected at least 0, got -1"):
        Traversals(scored_samples=-1)


def test_views_that_cannot_be_read_change_nothing():
    codes = np.array([[[0, 1], [5, 1], [0, 1]], [[0, 1], [0, 2], [1, 1]]])
    sequence = ReadSequence((), codes, np.array([[True, False, True], [True, True, True]]))
    assert changing(sequence).tolist() == [0, 2]
    assert changing(ReadSequence((), codes, np.zeros((2, 3), dtype=bool))).tolist() == [0, 0]


def test_codes_move_along_directions_only():
    rng = np.random.default_rng(0)
    means, directions = rng.normal(size=(4, 5)), rng.normal(size=(3, 5))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    found = moved_codes(means, directions, np.array([-2.0, 0.5]))
    assert found.shape == (4, 3, 2, 5)
    np.testing.assert_allclose(np.einsum("nrsd,rd->nrs", found, directions), np.broadcast_to([-2.0, 0.5], (4, 3, 2)))
    rest = found - np.einsum("nrsd,rd->nrs", found, directions)[..., None] * directions[:, None]
    np.testing.assert_allclose(rest[:, :, 0], rest[:, :, 1])
