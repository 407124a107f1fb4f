import json

import pytest

from molyneux.core import ConfigError
from molyneux.data.worlds import CdSprites, Noise


def problems(**arguments):
    with pytest.raises(ConfigError) as caught:
        CdSprites(**arguments)
    return caught.value.problems


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"level": 6}, "expected level from 1 to 5, got 6"),
        ({"level": 3, "caption_level": 0}, "expected caption_level from 1 to 5, got 0"),
        ({"image_size": 16}, "expected an image_size from 28 to 256 pixels, got 16"),
        ({"threads": 0}, "expected threads of at least 1, got 0"),
        ({"modalities": ("image", "txet")}, "unknown modality 'txet'; did you mean \"text\"?"),
        ({"modalities": ()}, "expected at least one modality and no repeats, got []"),
        ({"colours": ("red", "gren")}, "colours: unknown 'gren'; did you mean \"green\"?"),
        ({"colours": ()}, "expected at least one of colours, got none"),
        ({"colours": ("red", "red")}, "expected colours that differ, got red, red"),
        (
            {"colours": {"night": (0, 0, 0)}},
            "colours: cannot use (0, 0, 0) for 'night'; expected three whole numbers from 0 to 255, not all 0",
        ),
        ({"colours": {"Night": (0, 0, 9)}}, "expected colours named in letters a to z and single spaces, got 'Night': rename it"),
        ({"sizes": ("bgi",)}, "sizes: unknown 'bgi'; did you mean \"big\"?"),
        (
            {"sizes": {"giant": 5}},
            "sizes: cannot use 5 for 'giant'; expected a number from 0.25 to 1.25, where 1 is the published big",
        ),
        ({"shapes": ("hart",)}, "shapes: unknown 'hart'; did you mean \"heart\"?"),
        ({"shapes": {"x": "hexagon"}}, "shapes: cannot use 'hexagon' for 'x'; expected the name of a shape that can be drawn"),
        ({"noise": Noise(size=0.9)}, "expected noise.size from 0 to 0.5, got 0.9"),
        ({"noise": Noise(rotation=float("nan"))}, "expected noise.rotation from 0 to 180, got nan"),
        ({"dark_background": "clear"}, "unknown dark_background 'clear'; did you mean \"clean\"?"),
        (
            {"textures": "no/such/folder"},
            "expected textures to be \"procedural\", a folder of pictures, or null, got 'no/such/folder'",
        ),
        (
            {"level": 1, "held_out": [{"shape": ["square", "ellipse", "heart"]}]},
            "held_out takes all 3 combinations: leave some to train on",
        ),
        (
            {"level": 2, "held_out": [{"colour": "red"}]},
            "the combination {'colour': 'red'} names the factor 'colour', which is not drawn here; known: shape, size",
        ),
    ],
)
def test_each_bad_setting_has_one_clear_sentence(arguments, sentence):
    assert problems(**arguments) == (sentence,)


def test_all_problems_are_told_at_once():
    found = problems(level=6, image_size=9, colours=("gren",), noise=Noise(shade=-1), threads=0)
    assert len(found) == 5


def test_settings_are_plain_and_complete():
    world = CdSprites(level=4, colours={"teal": (0, 128, 128)}, held_out=[{"shape": ("heart",), "size": "small"}], threads=2)
    record = json.loads(json.dumps(world.settings))
    assert record == world.settings
    assert record["level"] == record["caption_level"] == 4
    assert record["choices"]["colours"] == {"teal": [0, 128, 128]}
    assert record["held_out"] == [{"shape": ["heart"], "size": "small"}]
    assert "threads" not in record
