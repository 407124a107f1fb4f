import pytest
import torch
from molyneux.learn.meter import Meter, broken_term, flatten

from molyneux.core import Loss


def test_means_weigh_samples():
    meter = Meter()
    meter.add(("loss", "a"), torch.tensor([1.0, 4.0]), 2)
    meter.add(("loss", "a"), torch.tensor([4.0, 1.0]), 1)
    meter.add(("loss",), torch.tensor([5.0]), 1)
    assert meter.means() == pytest.approx({"loss": (2 + 4 + 5) / 4, "a": 3.0})
    assert meter.samples == 4
    meter.reset()
    assert meter.means() == {}


@pytest.mark.parametrize(
    ("total", "terms", "expected"),
    [
        (1.0, {"a": 1.0}, None),
        (float("nan"), {"a": 1.0, "b": float("inf")}, "b"),
        (float("nan"), {"a": 1.0}, "loss"),
        (1.0, {"a": float("nan")}, "a"),
    ],
)
def test_broken_term(total, terms, expected):
    loss = Loss(torch.tensor(total), {name: torch.tensor(value) for name, value in terms.items()})
    assert broken_term(*flatten(loss)) == expected
