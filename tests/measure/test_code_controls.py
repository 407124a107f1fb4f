"""What an untrained net and the raw input have stands beside measures of codes."""

import numpy as np
import pytest
import torch
from torch import nn

from molyneux.core import Posterior
from molyneux.measure import Clustering, CodeUse, Disentanglement, Downstream
from molyneux.measure.code_controls import RAW, UNTRAINED, control_codes


class Fixed:
    """A posterior at one place."""

    def __init__(self, mean):
        self.mean = mean

    def rsample(self, sample_shape=(), generator=None):
        return self.mean.expand(*sample_shape, *self.mean.shape)

    def log_prob(self, value):
        return torch.zeros(value.shape[:-1])


class Known(nn.Module):
    """Codes that are the factors where it is trained, and noise where it is not."""

    def __init__(self, trained):
        super().__init__()
        self.trained = trained

    def encode(self, batch, observed=None):
        codes = batch.factors.float()
        noise = torch.from_numpy(np.random.default_rng(len(batch)).normal(size=codes.shape)).float()
        return Posterior(Fixed(codes if self.trained else noise), {})


def evaluation(tiny, **given):
    return tiny.evaluation(Known(True), n=600, untrained=lambda: Known(False), **given)


def test_a_metric_stands_beside_an_untrained_net_and_the_input(tiny):
    measured = Disentanglement(metrics=("mig", "dci"), resamples=0, permutations=1)(evaluation(tiny))
    score = tiny.find(measured, "disentanglement.mig", source="image", code="shared", variant="recommended", factor="shape")
    assert score.value > 0.9
    assert score.controls[UNTRAINED] < 0.1
    assert 0.0 <= score.controls[RAW] <= 1.0
    assert all({UNTRAINED, RAW} <= set(score.controls) for score in measured.scores if score.value is not None)


@pytest.mark.parametrize(
    ("measure", "name"),
    [
        (Clustering(), "clustering.nmi"),
        (CodeUse(), "code_use.total_correlation"),
        (Downstream(shots=(1,)), "downstream.accuracy"),
    ],
)
def test_others_too(tiny, measure, name):
    found = [score for score in measure(evaluation(tiny)).scores if score.name == name and score.value is not None]
    assert found
    assert all(UNTRAINED in score.controls for score in found)


def test_nothing_without_a_net_or_under_a_condition(tiny):
    plain = tiny.evaluation(Known(True), n=600)
    table = plain.tables()[("image",)]
    assert set(control_codes(plain, ("image",), table, "mean")["shared"]) == {RAW}
    assert control_codes(evaluation(tiny, about={"split": "heldout"}), ("image",), table, "mean") == {}


def test_principal_components_keep_distances_of_the_input_and_the_order_of_the_table(tiny):
    plain = evaluation(tiny)
    table = plain.tables()[("image",)]
    wide = type(table)({"shared": np.zeros((len(table), 40))}, {}, {}, table.factors, {}, {}, table.rows)
    raw = control_codes(plain, ("image",), wide, "mean")["shared"][RAW]
    pixels = plain.source.batch(table.rows).views["image"].double().flatten(1).numpy() / 255
    assert raw.shape[1] <= 40
    one, other = np.array([0, 5, 9]), np.array([50, 70, 200])
    assert np.allclose(
        np.linalg.norm(raw[one] - raw[other], axis=1), np.linalg.norm(pixels[one] - pixels[other], axis=1), atol=1e-4
    )
