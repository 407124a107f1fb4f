"""Balanced data: four instances of two scenes and two captions, which neither text nor picture gives away."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from molyneux.core import ConfigError, DataError, seeds
from molyneux.data.worlds.shapeworld.meaning import captioners
from molyneux.data.worlds.shapeworld.meaning.foils.foils import TWO_SIDED
from molyneux.data.worlds.shapeworld.meaning.foils.quadruples import DIFFERENCES, Quadruples, quadruples
from molyneux.data.worlds.shapeworld.meaning.trees.programs import structures
from molyneux.data.worlds.shapeworld.meaning.trees.trees import CODES
from molyneux.data.worlds.shapeworld.meaning.truth.truth import truth
from molyneux.data.worlds.shapeworld.minimal_pairs import INDEPENDENT, balanced, contrasted
from molyneux.data.worlds.shapeworld.scenes.edits import EDITS, differing, edited
from molyneux.data.worlds.shapeworld.scenes.geometry import draw
from molyneux.data.worlds.shapeworld.scenes.sampling import sample_scenes, stream_of
from molyneux.data.worlds.shapeworld.scenes.scenes import COLOURS, SHAPES
from molyneux.data.worlds.shapeworld.scenes.settings import PAPER_SCENES, TEST_COMBINATIONS, SceneSettings

STREAM = stream_of(8, "train")
CROWDED = SceneSettings(counts=range(4, 9), attributes="reinforced", size=(0.1, 0.22))
CLAUSES = captioners.MixedCaptioner([captioners.existential(), captioners.relational(), captioners.quantification()])
KINDS = {
    "oneshape": (PAPER_SCENES["oneshape"], captioners.existential(colours=PAPER_SCENES["oneshape"].colours)),
    "spatial": (PAPER_SCENES["spatial"], captioners.relational(families=("x", "y"), negated=0)),
    "bare": (PAPER_SCENES["quantification"], captioners.quantification(kinds=("bare",))),
    "existential": (SceneSettings(), captioners.existential()),
    "relational": (CROWDED, captioners.relational()),
    "selection": (CROWDED, captioners.selection()),
    "quantification": (CROWDED, captioners.quantification()),
    "number bound": (CROWDED, captioners.number_bound()),
    "comparison": (CROWDED, captioners.comparison()),
    "logical": (CROWDED, captioners.Logical(CLAUSES)),
}


@pytest.mark.parametrize("name", KINDS)
def test_each_caption_is_true_of_one_scene_and_false_of_the_other(name):
    settings, captioner = KINDS[name]
    pairs = balanced(settings, captioner, STREAM, np.arange(60))
    scenes, programs, agrees = pairs.instances()
    assert np.array_equal(truth(programs, scenes, captioner.semantics), np.where(agrees, 1, -1))
    assert agrees.reshape(-1, 4).tolist() == [[True, False, False, True]] * 60
    assert settings.contains(scenes).all()
    assert pairs.kinds == (INDEPENDENT, *captioner.edits)
    near = pairs.kind > 0
    assert near.sum() > 10
    assert (pairs.programs[:, 0] != pairs.programs[:, 1]).any(1).all()


@pytest.mark.parametrize("name", ["spatial", "relational", "logical"])
def test_a_quadruple_depends_on_its_number_alone(name):
    settings, captioner = KINDS[name]
    whole, rows = balanced(settings, captioner, STREAM, np.arange(40)), np.array([31, 4, 4])
    part = balanced(settings, captioner, STREAM, rows)
    assert np.array_equal(part.programs, whole.programs[rows])
    assert np.array_equal(part.kind, whole.kind[rows])
    for mine, all_of_them in zip(part.scenes, whole.scenes, strict=True):
        for field, values in vars(mine).items():
            assert np.array_equal(values, getattr(all_of_them, field)[rows]), field


def features(programs):
    """Symbols, and pairs of neighbours in 2048 buckets."""
    out = np.zeros((len(programs), len(CODES) + 1 + 2048), np.float32)
    for place in range(programs.shape[1]):
        out[np.arange(len(programs)), programs[:, place]] += 1
        if place:
            bucket = (programs[:, place - 1].astype(int) * 191 + programs[:, place]) % 2048
            out[np.arange(len(programs)), len(CODES) + 1 + bucket] += 1
    return out


@pytest.mark.parametrize("name", ["oneshape", "spatial", "bare", "quantification"])
def test_text_alone_tells_nothing(name):
    settings, captioner = KINDS[name]
    _, programs, agrees = balanced(settings, captioner, STREAM, np.arange(1500)).instances()
    half = len(agrees) // 2
    found, rows = np.unique(structures(programs[:half]), return_inverse=True)
    says = dict(zip(found, np.bincount(rows, agrees[:half]) * 2 > np.bincount(rows), strict=True))
    guessed = np.array([says.get(structure, True) for structure in structures(programs[half:])])
    assert (guessed == agrees[half:]).mean() == pytest.approx(0.5, abs=0.015)
    model = LogisticRegression(max_iter=50).fit(features(programs[:half]), agrees[:half])
    assert model.score(features(programs[half:]), agrees[half:]) == pytest.approx(0.5, abs=0.015)


def test_a_text_model_can_tell_captions_that_are_not_balanced():
    """The test above can fail: true and false captions of one scene each are told apart by their structure."""
    settings, captioner = KINDS["quantification"]
    scenes, wanted = sample_scenes(settings, STREAM, np.arange(4000)), np.arange(4000) % 2 == 0
    captions = captioner.draw(scenes, wanted, STREAM, np.arange(4000))
    half = captions.programs[:2000], captions.programs[2000:]
    model = LogisticRegression(C=0.1, max_iter=300).fit(features(half[0]), wanted[:2000])
    assert model.score(features(half[1]), wanted[2000:]) > 0.56


@pytest.mark.parametrize("kind", TWO_SIDED)
def test_foils_are_true_of_the_second_scene(kind):
    captioner = captioners.Logical(CLAUSES) if kind in ("clauses exchanged", "connective replaced") else CLAUSES
    captioner = captioners.selection() if "selector" in kind else captioner
    pairs = contrasted(CROWDED, captioner, STREAM, np.arange(6), kinds=(kind,))
    scenes, programs, agrees = pairs.instances()
    assert np.array_equal(truth(programs, scenes), np.where(agrees, 1, -1))
    if kind.endswith("exchanged"):
        assert np.array_equal(np.sort(pairs.programs[:, 0]), np.sort(pairs.programs[:, 1])[:, : pairs.programs.shape[2]])


@pytest.mark.parametrize("name", EDITS)
def test_edits_differ_in_one_thing_and_keep_to_the_settings(name):
    settings = replace(CROWDED, excluded=TEST_COMBINATIONS)
    scenes = sample_scenes(settings, STREAM, np.arange(400))
    others, which, usable = edited(scenes, settings, (name,), seeds.key(1, "edit"), np.arange(400))
    assert (which == 0).all()
    assert usable.sum() > 60
    mine, yours = scenes[usable], others[usable]
    assert settings.contains(yours).all()
    assert differing(mine, yours).any(1).all()
    combination = [scene.shape * 8 + scene.colour + 100 * ~scene.present for scene in (mine, yours)]
    if name in ("mirrored", "flipped"):
        axis = 0 if name == "mirrored" else 1
        assert mine.centre[..., axis][mine.present] == pytest.approx(1 - yours.centre[..., axis][mine.present])
        assert np.array_equal(mine.overlap, yours.overlap)
    elif name == "removed":
        assert (yours.present.sum(1) == mine.present.sum(1) - 1).all()
    elif name == "places":
        assert np.array_equal(*(np.sort(one, 1) for one in combination))
    elif name in ("colours", "shapes"):
        attribute = "colour" if name == "colours" else "shape"
        bags = [np.sort(np.where(scene.present, getattr(scene, attribute), 99), 1) for scene in (mine, yours)]
        assert np.array_equal(*bags)
    else:
        bags = [[Counter(row[row < 100].tolist()) for row in one] for one in combination]
        assert all((a - b).total() == (b - a).total() == 1 for a, b in zip(*bags, strict=True))


def test_a_reflected_scene_looks_reflected():
    settings = SceneSettings(counts=(5,))
    scenes = sample_scenes(settings, STREAM, np.arange(20))
    for name, axis in (("mirrored", 3), ("flipped", 2)):
        others, _, usable = edited(scenes, settings, (name,), seeds.key(1, "edit"), np.arange(20))
        assert usable.all()
        assert np.abs(draw(scenes).astype(int) - np.flip(draw(others), axis)).max() <= 1


def test_what_the_captions_of_a_quadruple_differ_in():
    codes = [["there-is", "both", "red", name] for name in ("square", "circle", "square", "square")]
    other = [
        *[["there-is", "both", "red", "cross"]] * 2,
        ["there-is", "both", "blue", "square"],
        ["there-is", "both", "blue", "cross"],
    ]
    programs = np.array([[[CODES[name] for name in row] for row in pair] for pair in zip(codes, other, strict=True)], np.int16)
    kinds = Quadruples(programs, np.ones(4, bool)).kind
    assert [DIFFERENCES[kind] for kind in kinds] == ["shapes", "shapes", "colours", "shapes and colours"]


def test_settings_that_leave_no_pairs():
    alike = SceneSettings(counts=(2,), shapes=SHAPES[:1], colours=COLOURS[:1], overlap=0.0, provoked=0.0)
    with pytest.raises(
        ConfigError, match="no pair of scenes with two captions that tell them apart was found for at least 1 of 3"
    ):
        balanced(alike, captioners.existential(), STREAM, np.arange(3))
    with pytest.raises(ConfigError, match="edited_share"):
        balanced(CROWDED, captioners.existential(), STREAM, np.arange(3), edited_share=2)
    with pytest.raises(ConfigError, match="edits: "):
        balanced(CROWDED, captioners.existential(), STREAM, np.arange(3), edits=("turned",), edited_share=1)
    with pytest.raises(ConfigError, match="kinds: "):
        contrasted(CROWDED, captioners.existential(), STREAM, np.arange(3), kinds=("object added",))
    scenes = sample_scenes(CROWDED, STREAM, np.arange(3))
    with pytest.raises(DataError, match="pairs of scenes"):
        quadruples(scenes, scenes[:2], captioners.existential(), STREAM, np.arange(3))
