"""What lies beyond the lengths of samples reaches no score, of any measure that reads such samples."""

import numpy as np
import pytest
import torch

from molyneux import measure
from molyneux.core import Batch, Modality, Spec
from molyneux.learn import MVAE
from molyneux.learn.encoders.nets import Dense
from molyneux.measure.evaluation import Evaluation

SPEC = Spec((Modality("a", "series", (6, 3)), Modality("b", "tabular", (4,))))
SIZE = 160
MEASURES = {
    "Reconstruction": {},
    "Likelihood": {"k": 4, "conditionals": "both"},
    "Synergy": {},
    "PosteriorGap": {},
    "CodeUse": {},
}


class Padded:
    """Series of several lengths, filled up with a number."""

    spec = SPEC

    def __init__(self, padding):
        noise = torch.Generator().manual_seed(0)
        shared = torch.randn(SIZE, 1, generator=noise)
        self.lengths = torch.randint(2, 7, (SIZE,), generator=noise)
        a = shared.unsqueeze(-1) + 0.3 * torch.randn(SIZE, 6, 3, generator=noise)
        a[torch.arange(6) >= self.lengths.unsqueeze(1)] = padding
        self.views = {"a": a, "b": shared + 0.3 * torch.randn(SIZE, 4, generator=noise)}

    def __len__(self):
        return SIZE

    def batch(self, positions):
        rows = torch.as_tensor(np.asarray(positions))
        return Batch({name: view[rows] for name, view in self.views.items()}, lengths={"a": self.lengths[rows]})


def numbers(name, padding):
    torch.manual_seed(0)
    model = MVAE(SPEC, latent_dim=2, nets={"a": Dense(8, 1), "b": Dense(8, 1)}).eval()
    found = getattr(measure, name)(**MEASURES[name])(Evaluation(model, Padded(padding), samples=SIZE)).scores
    return {(score.name, str(sorted(score.about.items()))): (score.value, dict(score.controls)) for score in found}


@pytest.mark.parametrize("name", MEASURES)
def test_padding_reaches_no_score(name):
    plain, filled = (numbers(name, padding) for padding in (0.0, 5.0))
    assert plain
    assert plain == filled


def test_the_best_constant_is_the_mean_of_what_counts():
    """The constant of a series is, at each position, the mean over the samples that have it."""
    source = Padded(7.0)
    (score,) = [
        s
        for s in measure.Reconstruction()(Evaluation(MVAE(SPEC, latent_dim=2).eval(), source, samples=SIZE)).scores
        if s.name == "reconstruction.mse" and s.about == {"source": "a", "target": "a"}
    ]
    within = torch.arange(6) < source.lengths.unsqueeze(1)
    a = source.views["a"].double()
    mean = (a * within.unsqueeze(-1)).sum(0) / within.sum(0).unsqueeze(-1)
    each = ((a - mean).square().mean(-1) * within).sum(1) / within.sum(1)
    assert score.controls["constant"] == pytest.approx(each.mean().item(), rel=1e-5)
