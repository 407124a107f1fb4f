import pytest

from molyneux.core import Score
from molyneux.report.settings import flatten, model_of, short, world_of


def test_world_and_model_are_read_from_the_configuration(made):
    settings = flatten(made.config)
    assert world_of(settings) == ("cdsprites", "3")
    assert model_of(settings) == "MVAE"


def test_imbalanced_levels_have_no_level():
    settings = {"data.world.class_path": "CdSprites", "data.world.init_args.level": 3, "data.world.init_args.caption_level": 1}
    assert world_of(settings) == ("cdsprites", "")
    same = {**settings, "data.world.init_args.caption_level": None}
    assert world_of(same) == ("cdsprites", "3")


def test_world_and_model_are_read_from_the_scores_otherwise():
    origin = {"world": "cdsprites-v1", "settings": {"level": 2}, "model": "DMVAE"}
    score = Score("coherence.strict", 1.0, origin=origin)
    assert world_of({}, [score]) == ("cdsprites", "2")
    assert model_of({}, [score]) == "DMVAE"
    assert world_of({}) == ("", "")
    assert model_of({}) == ""


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ({"a": 1, "b": True}, "a 1, b yes"),
        ({}, "none"),
        ([1, 2], "1, 2"),
        ("2.13.0", "2.13.0"),
        ("a.b.Class", "Class"),
        ("two words.", "two words."),
    ],
)
def test_values_in_few_words(value, words):
    assert short(value) == words
