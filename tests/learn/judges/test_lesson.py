import numpy as np
import pytest
import torch

from molyneux.core import Factor, Spec, SpecError
from molyneux.learn.judges.lesson import Lesson, recode, union


def test_union_keeps_every_value_once(blobs):
    specs = [blobs(2, factors=("side",)).spec, blobs(2).spec, blobs(2, colours=("blue", "green")).spec]
    assert union(specs, ("colour", "side")) == (Factor("colour", ("red", "green", "blue")), Factor("side", ("left", "right")))
    with pytest.raises(SpecError, match="'shape'"):
        union(specs, ("shape",))


def test_recode_by_name():
    spec = Spec((), (Factor("a", ("x", "y")), Factor("b", ("p", "q", "r"))))
    factors = (Factor("b", ("r", "p", "q")), Factor("c", ("1",)))
    codes = torch.tensor([[0, 0], [1, 2], [0, -1]])
    assert recode(codes, spec, factors).tolist() == [[1, -1], [0, -1], [-1, -1]]


def test_samples_of_all_sources_and_what_they_lack(blobs):
    sources = {"1": blobs(6, factors=("side",), seed=1), "2": blobs(5, seed=2)}
    factors = union([source.spec for source in sources.values()], ("side", "colour"))
    lesson = Lesson([(source, 1) for source in sources.values()], "image", factors)
    assert len(lesson) == 10
    assert lesson.spec.factors == factors
    batch = lesson.batch(np.array([0, 3, 4, 9])).check(lesson.spec)
    pictures = [sources["1"].pictures[0], sources["1"].pictures[2], sources["2"].pictures[1], sources["2"].pictures[4]]
    assert torch.equal(batch.views["image"], torch.stack(pictures))
    assert batch.factors[:, 1].tolist() == [-1, -1, *sources["2"].codes[[1, 4], 1].tolist()]


def test_sources_of_different_form(blobs):
    with pytest.raises(SpecError, match="same image in all sources"):
        Lesson([(blobs(2), 1), (blobs(2, pixels=32), 1)], "image", ())


def test_some_sources_are_seen_more_often(blobs):
    """A round is three samples of both, then one of the third."""
    first, second, ghost = blobs(7, seed=1), blobs(9, seed=2), blobs(5, seed=3)
    lesson = Lesson([(first, 3), (second, 3), (ghost, 1)], "image", first.spec.factors)
    assert len(lesson) == 7 * 2
    rounds = [first.pictures[3], first.pictures[4], first.pictures[5], second.pictures[3], second.pictures[4], ghost.pictures[1]]
    for position, picture in zip((7, 8, 9, 10, 11, 13), rounds, strict=True):
        assert torch.equal(lesson.batch(np.array([position])).views["image"][0], picture)
    seen = lesson.batch(np.arange(len(lesson))).views["image"]
    assert len({picture.numpy().tobytes() for picture in seen}) == len(seen)
