import math

import pytest

from molyneux.core import ConfigError, Progress
from molyneux.learn.objectives import Warmup, weight_at


@pytest.mark.parametrize(("step", "weight"), [(0, 0.5), (10, 1.25), (20, 2.0), (50, 2.0), (100, 2.0)])
def test_it_rises_linearly_and_stays(step, weight):
    assert weight_at(Warmup(2.0, fraction=0.2, start=0.5), Progress(step, 100)) == pytest.approx(weight)


def test_a_number_is_constant():
    assert weight_at(3, Progress(7, 10)) == 3.0


def test_all_problems_at_once():
    with pytest.raises(ConfigError) as caught:
        Warmup(-1.0, fraction=0.0, start=math.inf)
    assert len(caught.value.problems) == 3
