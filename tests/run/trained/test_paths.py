"""Samples go a path of generation: what is read at its end, against counts by hand."""

import numpy as np
import pytest
import torch

from molyneux.core import ConfigError, Factor, NotApplicableError
from molyneux.run import PathWalk, open_model, walk_path
from molyneux.run.trained.paths import NOT_READ


@pytest.fixture(scope="module")
def model():
    return open_model("molyneux-touch")


@pytest.fixture(scope="module")
def hearts(model):
    samples = model.dataset().source("test", 60, seed=0).batch(np.arange(60))
    return samples[samples.factors[:, 1] == 2]


def test_what_was_kept_apart_is_known_through_the_name_alone(model, hearts):
    """The shipped model felt hearts and saw them, each with the name, and never both together."""
    named = walk_path(model, hearts, ("touch", "text"), "shape")
    texts = model.readers["text"][0].read(named.views[1]).codes[:, 1].numpy()
    assert named.read.tolist() == texts.tolist()
    assert named.share.share == (texts == 2).mean() > 0.9
    assert named.share.samples == len(hearts)
    assert named.guess == pytest.approx(1 / 3)
    assert walk_path(model, hearts, ("image", "touch"), "shape").share.share < 0.2
    through = walk_path(model, hearts, ("image", "text", "touch"), "shape")
    assert through.share.share > 0.8
    assert [len(views) for views in through.views] == [len(hearts)] * 3
    assert torch.equal(through.views[0], hearts.views["image"])


def test_the_same_seed_gives_the_same_views(model, hearts):
    few = hearts[slice(0, 4)]
    first, second, other = (walk_path(model, few, ("touch", "text", "image"), "shape", seed=seed) for seed in (3, 3, 4))
    assert torch.equal(first.views[-1], second.views[-1])
    assert not torch.equal(first.views[-1], other.views[-1])


def test_shares_count_what_is_not_read():
    factor = Factor("shape", ("square", "heart"))
    walk = PathWalk(("image", "text"), (), factor, np.array([1, 0, -1, 1]), np.array([1, 1, 1, 0]))
    assert walk.right.tolist() == [True, False, False, False]
    assert walk.shares() == (("square", 0.25), ("heart", 0.5), (NOT_READ, 0.25))
    assert walk.wrong_first().tolist() == [1, 2, 3, 0]
    assert [walk.said(row) for row in (0, 2)] == ["heart", NOT_READ]


def test_it_stops_where_it_is_told_to(model, hearts):
    class StopError(Exception):
        pass

    def told(share):
        raise StopError

    with pytest.raises(StopError):
        walk_path(model, hearts, ("touch", "text"), "shape", told=told)


@pytest.mark.parametrize(
    ("path", "factor", "error", "sentence"),
    [
        (("touch",), "shape", ConfigError, "at least two"),
        (("touch", "txet"), "shape", ConfigError, '"text"'),
        (("touch", "text"), "shpae", ConfigError, '"shape"'),
        (("touch", "text"), "rotation", NotApplicableError, "reader of rotation in text"),
    ],
)
def test_what_cannot_be_asked_is_said(model, hearts, path, factor, error, sentence):
    with pytest.raises(error, match=sentence):
        walk_path(model, hearts, path, factor)
