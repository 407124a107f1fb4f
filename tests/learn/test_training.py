import math

import pytest

from molyneux.core import ConfigError
from molyneux.learn import Training


def test_all_problems_at_once():
    with pytest.raises(ConfigError) as caught:
        Training(
            epochs=0,
            optimizer="adm",
            learning_rate=-1,
            clip=0.0,
            schedule="cosin",
            threads=0,
            channels_last="yes",
            betas=(0.9, 1),
        )
    assert len(caught.value.problems) == 8
    assert 'did you mean "adam"?' in str(caught.value)


@pytest.mark.parametrize("name", ["learning_rate", "weight_decay", "clip"])
@pytest.mark.parametrize("value", [math.nan, math.inf, -1.0])
def test_numbers_that_are_none(name, value):
    with pytest.raises(ConfigError, match=name):
        Training(**{name: value})


def test_schedules():
    steps = 100
    rates = {
        name: [Training(schedule=name, learning_rate=2.0, warmup_steps=10).rate(step, steps) for step in range(steps + 1)]
        for name in ("constant", "linear", "cosine")
    }
    for values in rates.values():
        assert values[:10] == pytest.approx([0.2 * (step + 1) for step in range(10)])
    assert rates["constant"][10:] == [2.0] * 91
    assert rates["linear"][10::45] == pytest.approx([2.0, 1.0, 0.0])
    assert rates["cosine"][10:] == pytest.approx([1.0 + math.cos(math.pi * step / 90) for step in range(91)])


def test_steps_or_epochs():
    assert Training(epochs=3, batch_size=10).total_steps(25) == 6
    assert Training(epochs=3, batch_size=10, steps=5).total_steps(25) == 5
    with pytest.raises(ConfigError, match="at most the 9 samples"):
        Training(batch_size=10).total_steps(9)
