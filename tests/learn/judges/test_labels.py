import pytest
import torch

from molyneux.core import Factor, Modality, Spec, SpecError
from molyneux.learn.judges.labels import recode, union


def test_union_keeps_every_value_once(blobs):
    specs = [blobs(2, factors=("side",)).spec, blobs(2).spec, blobs(2, colours=("blue", "green")).spec]
    assert union(specs, ("colour", "side")) == (Factor("colour", ("red", "green", "blue")), Factor("side", ("left", "right")))
    with pytest.raises(SpecError, match="'shape'"):
        union(specs, ("shape",))


def test_recode_by_name():
    spec = Spec((Modality("image", "image", (3, 64, 64), "uint8"),), (Factor("a", ("x", "y")), Factor("b", ("p", "q", "r"))))
    factors = (Factor("b", ("r", "p", "q")), Factor("c", ("1",)))
    codes = torch.tensor([[0, 0], [1, 2], [0, -1]])
    assert recode(codes, spec, factors).tolist() == [[1, -1], [0, -1], [-1, -1]]
