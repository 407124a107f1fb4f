import pytest
import torch
from torch import nn

from molyneux.core import ConfigError, Loss
from molyneux.learn.training.steps import Meter, broken_term, flatten, trained_names


def test_means_weigh_samples_and_survive_a_checkpoint():
    meter, again = Meter(), Meter()
    meter.add(("loss", "a"), torch.tensor([1.0, 4.0], dtype=torch.float64), 2)
    again.restore(meter.to_json(), torch.zeros((), dtype=torch.float64))
    for each in (meter, again):
        each.add(("loss", "a"), torch.tensor([4.0, 1.0], dtype=torch.float64), 1)
        each.add(("loss",), torch.tensor([5.0], dtype=torch.float64), 1)
    assert meter.means() == again.means() == pytest.approx({"loss": (2 + 4 + 5) / 4, "a": 3.0})
    assert meter.samples == again.samples == 4
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
    names, values = flatten(loss)
    assert broken_term(names, values.tolist()) == expected


def test_patterns_of_parameters():
    model = nn.ModuleDict({"encoder": nn.Linear(2, 2), "decoder": nn.Linear(2, 2)})
    model["decoder"].bias.requires_grad_(False)
    assert trained_names(model, ("*",)) == {"encoder.weight", "encoder.bias", "decoder.weight"}
    assert trained_names(model, ("encoder.*", "*.weight")) == {"encoder.weight", "encoder.bias", "decoder.weight"}
    with pytest.raises(ConfigError, match=r"got 'decoder\.bias', which none matches"):
        trained_names(model, ("decoder.bias",))
