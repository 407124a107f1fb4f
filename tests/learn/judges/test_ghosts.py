import numpy as np
import torch

from molyneux.core import Batch, Factor, Modality, Spec
from molyneux.learn.judges.ghosts import UNREADABLE, Ghosts, make_ghosts, spread


class Codes:
    """Series of one number that says all: a + 10 turn + 100 x, and the factors a, turn, x and quadrant (x // 3)."""

    def __init__(self, size):
        random = np.random.default_rng(0)
        a, turn, x = (random.integers(0, values, size) for values in (2, 10, 6))
        self.codes = torch.from_numpy(np.stack([a, x // 3, turn, x], 1))
        self.values = torch.from_numpy((a + 10 * turn + 100 * x).astype(np.float32))[:, None, None]
        names = {"a": 2, "quadrant": 2, "turn": 10, "x": 6}
        factors = tuple(Factor(name, tuple(map(str, range(values)))) for name, values in names.items())
        self.spec = Spec((Modality("touch", "series", (1, 1)),), factors)

    def __len__(self):
        return len(self.codes)

    def batch(self, indices):
        return Batch({"touch": self.values[indices]}, factors=self.codes[indices])


def test_members_agree_and_are_spread():
    random = np.random.default_rng(1)
    alike, other, over = (random.integers(0, values, 2000) for values in (3, 2, 12))
    members = spread([alike, other], over)
    assert members.shape == (2000, 12)
    assert (alike[members] == alike[members][:, :1]).all()
    assert (other[members] == other[members][:, :1]).all()
    # of about 330 in a group, sorted by twelve codes, every 28th: nearly one of each code
    assert min(len(set(row)) for row in over[members].tolist()) >= 9
    assert np.array_equal(np.sort(members[:, 0]), np.arange(2000))


def test_small_groups_are_left_out():
    alike = np.r_[np.zeros(11), np.ones(12)].astype(int)
    assert set(spread([alike], np.arange(23)).ravel().tolist()) == set(range(11, 23))
    assert len(spread([], np.arange(12))) == 12


def test_a_ghost_is_the_mean_of_its_members():
    source = Codes(50)
    members = np.array([[0, 1, 2, 3], [4, 5, 6, 7]])
    ghosts = Ghosts(source, "touch", "a", members)
    batch = ghosts.batch(np.array([1, 0])).check(ghosts.spec)
    assert torch.allclose(batch.views["touch"].flatten(), torch.stack([source.values[4:8].mean(), source.values[:4].mean()]))
    assert ghosts.spec.factors == (Factor("a", (UNREADABLE,)),)
    assert batch.factors.tolist() == [[0], [0]]


def test_kinds_of_ghosts():
    source = Codes(6000)
    ghosts = make_ghosts(source, "touch", ("a", "quadrant", "absent"), {"a": ("turn",)})
    over_a, over_turn, over_quadrant = ghosts
    assert [ghost.spec.factors[0].name for ghost in ghosts] == ["a", "a", "quadrant"]
    a, quadrant, turn, x = source.codes.T.numpy()

    def shares(codes, members):
        return np.abs(codes[members].mean(1) - codes.mean())

    assert shares(a, over_a._members).max() <= 1 / 6 + 0.05  # both values of a ...
    assert (quadrant[over_a._members].std(1) == 0).all()  # ... in one quadrant
    assert (a[over_turn._members].std(1) == 0).all()  # one value of a ...
    assert min(len(set(row)) for row in turn[over_turn._members].tolist()) >= 8  # ... in all rotations ...
    assert np.ptp(x[over_turn._members], axis=1).max() <= 2  # ... in nearly one place
    assert shares(quadrant, over_quadrant._members).max() <= 1 / 6 + 0.05  # which is given up where it tells the factor
