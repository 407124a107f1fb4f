"""The paper's samplers: what their captions give away, as measured on the published code (reference sheet, 2.4)."""

from dataclasses import replace

import numpy as np
import pytest

from molyneux.core import seeds
from molyneux.data.worlds.shapeworld.meaning.captioners import PublishedExistential, PublishedQuantification, PublishedSpatial
from molyneux.data.worlds.shapeworld.meaning.captioners.captioner import filled
from molyneux.data.worlds.shapeworld.meaning.captioners.standard import BARE_QUANTIFIERS
from molyneux.data.worlds.shapeworld.meaning.trees.programs import structures
from molyneux.data.worlds.shapeworld.meaning.trees.trees import CODES
from molyneux.data.worlds.shapeworld.scenes.sampling import sample_scenes, stream_of
from molyneux.data.worlds.shapeworld.scenes.settings import PAPER_HELD_OUT, PAPER_SCENES

CAPTIONERS = {
    "oneshape": PublishedExistential(),
    "multishape": PublishedExistential(),
    "spatial": PublishedSpatial(),
    "quantification": PublishedQuantification(),
}
PUBLISHED = {
    "oneshape": (0.50,),
    "multishape": (0.611, 0.658, 0.668),
    "spatial": (0.548,),
    "quantification": (0.753, 0.771, 0.765),
}
DIRECTIONS = [CODES[name] for name in ("left", "right", "above", "below")]


def draw(name, count, counts=None, seed=0, captioner=None):
    settings = PAPER_SCENES[name] if counts is None else replace(PAPER_SCENES[name], counts=counts)
    indices, wanted = np.arange(count), np.arange(count) % 2 == 0
    captioner = captioner or CAPTIONERS[name]

    def captions(pending, attempts):
        numbers = indices[pending] + (attempts << 40)
        scenes = sample_scenes(settings, stream_of(seed, "train"), numbers)
        found = captioner.draw(scenes, wanted[pending], seeds.key(seed, name), numbers)
        return (found.programs, found.kind), found.ok

    (programs, kind), _ = filled(captions, count, tries=10, what="caption")
    return programs, kind, wanted


def structures_of(programs):
    """Which kinds of attributes are mentioned, and the quantifier; directions make no difference."""
    return structures(np.where(np.isin(programs, DIRECTIONS), DIRECTIONS[0], programs))


@pytest.mark.parametrize("name", CAPTIONERS)
def test_the_structure_alone_tells_as_much_as_in_the_published_data(name):
    programs, _, wanted = draw(name, 24000)
    found, rows = np.unique(structures_of(programs[:12000]), return_inverse=True)
    says = dict(zip(found, np.bincount(rows, wanted[:12000]) * 2 >= np.bincount(rows), strict=True))

    def accuracy(captions, truth_values):
        guessed = np.array([says.get(structure, True) for structure in structures_of(captions)])
        return (guessed == truth_values).mean()

    scores = [accuracy(programs[12000:], wanted[12000:])]
    for seed, counts in enumerate([one.counts for one in PAPER_HELD_OUT[name] if one.counts], 1):
        others, _, truth_values = draw(name, 12000, counts, seed)
        scores.append(accuracy(others, truth_values))
    assert scores == pytest.approx(PUBLISHED[name], abs=0.02)


def test_share_of_correct_captions_of_each_quantifier():
    programs, _, wanted = draw("quantification", 16000)
    shares = [wanted[programs[:, 0] == CODES[name]].mean() for name in BARE_QUANTIFIERS]
    published = {"ratio-eq-0": 0.35, "bare-the": 0.48, "exists": 0.95, "bare-two": 0.56, "bare-most": 0.39, "ratio-eq-1": 0.12}
    assert shares == pytest.approx([published[name] for name in BARE_QUANTIFIERS], abs=0.05)


def test_partitions_of_figure_6_can_be_drawn_alone():
    directions, kinds, wanted = draw("spatial", 600, captioner=PublishedSpatial(modes=(1, 0, 0, 0, 0)))
    assert set(kinds[~wanted]) == {1}
    whole, _, _ = draw("multishape", 600, captioner=PublishedExistential(hypernyms=0.0))
    assert (whole[:, 1] == CODES["both"]).all()
    general, _, wanted = draw("oneshape", 600, captioner=PublishedExistential(hypernyms=1.0))
    assert (general[:, 1] != CODES["both"]).all()
    only, _, _ = draw("quantification", 600, captioner=PublishedQuantification(quantifiers=("bare-most",)))
    assert (only[:, 0] == CODES["bare-most"]).all()
    assert len(np.unique(directions[:, 0])) == 1


def test_captions_have_the_colours_of_the_paper():
    programs, _, _ = draw("multishape", 4000)
    assert not (programs == CODES["gray"]).any()
    assert (programs == CODES["white"]).any()
