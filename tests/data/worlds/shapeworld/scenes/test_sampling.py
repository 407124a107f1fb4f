"""Drawing of scenes: by number alone, with all that the settings ask for."""

import numpy as np
import pytest

from molyneux.core import ConfigError
from molyneux.data.worlds.shapeworld.scenes.geometry import distance, draw, half_extents
from molyneux.data.worlds.shapeworld.scenes.sampling import sample_scenes, stream_of
from molyneux.data.worlds.shapeworld.scenes.scenes import COLOURS, SHAPES
from molyneux.data.worlds.shapeworld.scenes.settings import PAPER_SCENES, TEST_COMBINATIONS, SceneSettings

STREAM = stream_of(3, "train")
KINDS = {
    **PAPER_SCENES,
    "usual": SceneSettings(),
    "reinforced": SceneSettings(counts=(5, 8), attributes="reinforced"),
    "framed": SceneSettings(counts=(6,), attributes="framed"),
    "clustered": SceneSettings(counts=(4,), attributes="clustered", size=(0.08, 0.12)),
    "outside": SceneSettings(counts=(4,), outside=0.25),
}


def covered(scenes, row, e, side=200):
    """Points of a fine grid that an entity covers."""
    x, y = (np.linspace(-0.3, 1.3, side) for _ in range(2))
    shape = scenes.shape[row, e]
    width, height = half_extents(shape, scenes.size[row, e], scenes.distortion[row, e])
    cos, sin = np.cos(2 * np.pi * scenes.rotation[row, e]), np.sin(2 * np.pi * scenes.rotation[row, e])
    cx, cy = scenes.centre[row, e]
    frame = [[(cos * (a - cx) + sin * (b - cy), cos * (b - cy) - sin * (a - cx)) for a in x] for b in y]
    return np.array([[distance(shape, *point, width, height) <= 0 for point in line] for line in frame])


@pytest.mark.parametrize("name", KINDS)
def test_scenes_keep_to_their_settings(name):
    settings = KINDS[name]
    scenes = sample_scenes(settings, STREAM, np.arange(600))
    assert settings.contains(scenes).all()
    numbers, frequencies = np.unique(scenes.present.sum(1), return_counts=True)
    assert numbers.tolist() == sorted(settings.counts)
    assert frequencies.min() > 0.5 * 600 / len(settings.counts)
    there = scenes.present
    assert not (there[:, 1:] & ~there[:, :-1]).any()  # absent entities come last
    low, high = settings.size
    assert ((scenes.size[there] >= low) & (scenes.size[there] <= high)).all()
    stretched = np.isin(scenes.shape, (1, 7)) & there
    assert ((scenes.distortion[stretched] >= 2) & (scenes.distortion[stretched] <= 3)).all()
    assert (scenes.distortion[there & ~stretched] == 1).all()
    assert np.abs(scenes.shade[there]).max() <= settings.shade
    if settings.outside == 0:
        assert ((scenes.centre[there] > 0) & (scenes.centre[there] < 1)).all()
        assert draw(scenes[np.arange(50)], size=64)[:, :, 0].max() == 0  # nothing touches the margin


@pytest.mark.parametrize("name", ["usual", "quantification", "clustered"])
def test_a_scene_depends_on_its_number_alone(name):
    whole = sample_scenes(KINDS[name], STREAM, np.arange(40))
    for rows in ([7], [31, 2, 2], range(10, 20)):
        part = sample_scenes(KINDS[name], STREAM, np.array(rows))
        for field, values in vars(part).items():
            assert np.array_equal(values, getattr(whole, field)[list(rows)]), field
    other = sample_scenes(KINDS[name], stream_of(3, "test"), np.arange(40))
    assert not np.array_equal(other.centre, whole.centre)


def test_overlaps_are_those_of_the_pictures():
    settings = SceneSettings(counts=(5,), size=(0.2, 0.3), provoked=1.0)
    scenes = sample_scenes(settings, STREAM, np.arange(12))
    assert (scenes.overlap > 0.05).any()
    for row in range(12):
        masks = [covered(scenes, row, e) for e in range(5)]
        for e in range(5):
            for o in range(5):
                share = (masks[e] & masks[o]).sum() / masks[e].sum() if e != o else 0.0
                assert scenes.overlap[row, e, o] == pytest.approx(share, abs=0.06)


def test_of_two_that_overlap_the_more_covered_one_is_drawn_later():
    scenes = sample_scenes(SceneSettings(counts=(2,), size=(0.1, 0.5), provoked=1.0), STREAM, np.arange(2000))
    touching = scenes.overlap[:, 0, 1] > 0
    assert touching.mean() > 0.2
    assert (scenes.overlap[touching, 1, 0] >= scenes.overlap[touching, 0, 1]).all()
    assert (np.minimum(scenes.overlap[:, 0, 1], scenes.overlap[:, 1, 0]) <= 0.25).all()


def test_without_overlap_entities_are_a_pixel_apart():
    scenes = sample_scenes(PAPER_SCENES["quantification"], STREAM, np.arange(300))
    assert (scenes.overlap == 0).all()
    for row in range(10):
        masks = [covered(scenes, row, e) for e in range(int(scenes.present[row].sum()))]
        assert np.sum(masks, axis=0).max() == 1


def test_held_out_combinations_never_occur_in_training_and_always_where_they_are_required():
    training = SceneSettings(counts=(1, 2), excluded=TEST_COMBINATIONS)
    pairs = [(SHAPES.index(shape), COLOURS.index(colour)) for shape, colour in TEST_COMBINATIONS]
    scenes = sample_scenes(training, STREAM, np.arange(200_000))
    for shape, colour in pairs:
        assert not (scenes.present & (scenes.shape == shape) & (scenes.colour == colour)).any()
    heldout = SceneSettings(counts=(1, 2), required=TEST_COMBINATIONS)
    scenes = sample_scenes(heldout, STREAM, np.arange(5000))
    has = [(scenes.present & (scenes.shape == shape) & (scenes.colour == colour)).any(1) for shape, colour in pairs]
    assert np.any(has, axis=0).all()
    assert min(np.mean(one) for one in has) > 0.25


def test_attributes_that_go_together():
    limited = sample_scenes(
        SceneSettings(counts=(8,), attributes="limited", limits=(2, 3), size=(0.08, 0.1)), STREAM, np.arange(300)
    )
    assert {len(set(row)) for row in limited.shape.tolist()} <= {1, 2, 3}
    assert {len(set(row)) for row in limited.colour.tolist()} <= {1, 2, 3}

    def alike(settings):
        scenes = sample_scenes(settings, STREAM, np.arange(1500))
        kinds = scenes.shape * 8 + scenes.colour
        return np.mean([max(np.bincount(row)) for row in kinds])

    small = {"counts": (6,), "size": (0.08, 0.1)}
    usual = alike(SceneSettings(**small))
    assert alike(SceneSettings(**small, attributes="reinforced")) > usual + 0.2
    assert alike(SceneSettings(**small, attributes="framed")) > usual + 1
    spread = [
        sample_scenes(SceneSettings(**small, attributes=kind), STREAM, np.arange(500)).centre.std(1).mean()
        for kind in ("random", "clustered")
    ]
    assert spread[1] < 0.8 * spread[0]


def test_sizes_are_uniform_in_area_or_in_width():
    for uniform_area in (True, False):
        scenes = sample_scenes(SceneSettings(counts=(1,), uniform_area=uniform_area), STREAM, np.arange(20_000))
        drawn = scenes.size[:, 0] ** (2 if uniform_area else 1)
        low, high = (end ** (2 if uniform_area else 1) for end in (0.1, 0.25))
        assert np.quantile(drawn, [0.25, 0.5, 0.75]) == pytest.approx(
            [low + q * (high - low) for q in (0.25, 0.5, 0.75)], rel=0.03
        )


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"counts": ()}, "counts: expected numbers of 1 to 40"),
        ({"shapes": ("sqare",)}, "unknown shape 'sqare'; did you mean \"square\""),
        (
            {"shapes": ("square",), "colours": ("red",), "excluded": (("square", "red"),)},
            "every combination of shape and colour is excluded",
        ),
        ({"required": (("square", "red"),), "excluded": (("square", "red"),)}, "every required combination is excluded too"),
        ({"excluded": (("square", "white"),)}, "expected a shape and a colour of the scenes"),
        ({"colours": ("red", "blue"), "attributes": "limited", "limits": (6, 6)}, "a scene cannot have 6 of 2"),
        ({"size": (0.3, 0.2), "overlap": 2}, "(?s)size: expected two rising numbers.*overlap: expected a number of 0 to 1"),
    ],
)
def test_settings_that_cannot_be_used(settings, message):
    with pytest.raises(ConfigError, match=message):
        SceneSettings(**settings)


def test_scenes_that_cannot_be_drawn_end_in_an_error():
    crowded = SceneSettings(counts=(30,), size=(0.4, 0.5), overlap=0.0)
    with pytest.raises(ConfigError, match=r"no scene of 30 entities was found .* tried 200 times, each entity 20 times"):
        sample_scenes(crowded, STREAM, np.arange(3))
