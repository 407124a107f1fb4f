import math

import pytest

from molyneux.core import ConfigError
from molyneux.learn import Stage, Training


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


def test_stages_take_what_they_lack_from_the_training():
    stages = (Stage(name="a", epochs=2, clip=0.5), Stage(name="b", steps=7), Stage(name="c"))
    training = Training(epochs=3, batch_size=10, learning_rate=0.5, stages=stages)
    assert [training.of_stage(stage).total_steps(45) for stage in stages] == [8, 7, 12]
    assert training.total_steps(45) == 27
    assert [(part.clip, part.learning_rate) for part in map(training.of_stage, stages)] == [(0.5, 0.5), (None, 0.5), (None, 0.5)]
    assert Training(steps=9, stages=stages).of_stage(stages[0]).steps is None


def test_problems_of_stages_are_named_with_their_place():
    stages = (Stage(name="a", learning_rate=-1.0), Stage(name="a", parameters=(), optimizer="adm"))
    with pytest.raises(ConfigError) as caught:
        Training(epochs=0, prefetch=-1, checkpoint_seconds=math.nan, memory="ram", stages=stages)
    problems = [problem.partition(":")[0] for problem in caught.value.problems]
    own = ["memory", "epochs", "prefetch", "checkpoint_seconds"]
    assert problems == [*own, "stages", "stages.0.learning_rate", "stages.1.parameters", "stages.1.optimizer"]


@pytest.mark.parametrize("settings", [{"epochs": True}, {"steps": 2.5}, {"batch_size": None}, {"prefetch": 1.0}])
def test_counts_that_are_no_integers(settings):
    with pytest.raises(ConfigError, match=f"{next(iter(settings))}: expected an integer"):
        Training(**settings)
