"""A tiny world with exact readers for both senses, and models whose scores are known beforehand."""

from dataclasses import dataclass, field, replace
from itertools import product

import numpy as np
import pytest
import torch
from torch.distributions import Categorical, Independent, Normal

from molyneux.core import Batch, Codes, Factor, Modality, Posterior, Reading, Spec
from molyneux.measure import Evaluation

LETTERS = " abcdefghijklmnopqrstuvwxyz"
FACTORS = (
    Factor("shape", ("square", "ellipse", "heart")),
    Factor("size", ("small", "big")),
    Factor("tilt", ("left", "right", "up", "down")),
)
COMBINATIONS = np.array(list(product(range(3), range(2), range(4))))
SAID = [f"{FACTORS[1].values[b]} {FACTORS[0].values[a]}" for a, b, _ in COMBINATIONS]
LENGTH = max(map(len, SAID))
SPEC = Spec(
    (
        Modality("image", "image", (3, 8, 8), "uint8"),
        Modality("text", "text", (LENGTH,), "uint8", tuple(LETTERS), 0),
    ),
    FACTORS,
)
VIEWS = {
    "image": torch.from_numpy(np.random.default_rng(5).integers(0, 256, (len(COMBINATIONS), 3, 8, 8), dtype=np.uint8)),
    "text": torch.tensor([[LETTERS.index(letter) for letter in said.ljust(LENGTH)] for said in SAID], dtype=torch.uint8),
}
VIEWS["echo"] = VIEWS["text"]


def lookup(name, view):
    """Number of the first combination with this view, -1 if there is none; (B,)."""
    equal = (view.flatten(1)[:, None] == VIEWS[name].flatten(1)[None]).all(-1)
    return torch.where(equal.any(1), equal.int().argmax(1), -1)


@dataclass
class TinyReader:
    """Reads views by looking them up; forgets the true reading in a share of views where asked to."""

    modality: str
    factors: tuple = ("shape", "size")
    accuracy: dict = field(default_factory=dict)
    version: str = "1"

    def read(self, view):
        assert view.dtype == torch.uint8
        rows = lookup(self.modality, view)
        columns = [SPEC.factor_index(name) for name in self.factors]
        codes = torch.from_numpy(COMBINATIONS[:, columns])[rows.clamp(min=0)]
        codes = torch.where((rows < 0)[:, None], -1, codes)
        return Reading(codes, self.factors, {int(row): "never seen" for row in torch.nonzero(rows < 0).flatten()})


@dataclass
class TinyFeatures:
    """Features of views: the codes of the combination that was looked up, with some noise of the sum of the view."""

    modality: str
    origin: dict = field(default_factory=lambda: {"network": "tiny"})

    def features(self, view):
        rows = lookup(self.modality, view)
        codes = torch.from_numpy(COMBINATIONS)[rows.clamp(min=0)].float() + 10 * (rows < 0)[:, None]
        return codes + torch.linspace(-0.1, 0.1, len(view))[:, None]


@dataclass
class TinySource:
    """Samples of given combinations."""

    rows: np.ndarray
    spec: Spec = SPEC
    present: dict = field(default_factory=dict)
    factors: np.ndarray = None
    known: np.ndarray = None

    def __len__(self):
        return len(self.rows)

    def batch(self, indices):
        rows = torch.from_numpy(self.rows[indices])
        factors = COMBINATIONS[self.rows[indices]] if self.factors is None else self.factors[indices]
        return Batch(
            {name: VIEWS[name][rows] for name in self.spec.names},
            {name: torch.from_numpy(mask[indices]) for name, mask in self.present.items()},
            torch.from_numpy(factors),
            targets={
                target.name: torch.from_numpy(factors[:, self.spec.factor_index(target.name)]) for target in self.spec.targets
            },
            known={}
            if self.known is None
            else {target.name: torch.from_numpy(self.known[indices]) for target in self.spec.targets},
        )


@dataclass
class Point:
    """All mass at one place."""

    mean: torch.Tensor

    def rsample(self, sample_shape=(), generator=None):
        return self.mean.expand(*sample_shape, *self.mean.shape)

    def log_prob(self, value):
        return torch.zeros(value.shape[:-1])


@dataclass
class Scenes:
    """A uniformly drawn combination, as a float code (B, 1)."""

    size: int

    @property
    def mean(self):
        return torch.zeros(self.size, 1)

    def rsample(self, sample_shape=(), generator=None):
        return torch.randint(len(COMBINATIONS), (*sample_shape, self.size, 1), generator=generator).float()

    def log_prob(self, value):
        return torch.full(value.shape[:-1], -float(np.log(len(COMBINATIONS))))


class Oracle:
    """Its code is the number of the combination; `change` says what it decodes instead, by modality."""

    def __init__(self, change=lambda name, rows: rows):
        self.change = change
        self.calls = []

    def encode(self, batch, observed=None):
        self.calls.append((tuple(observed), len(batch)))
        rows = torch.stack([lookup(name, batch.views[name]) for name in observed])
        return Posterior(Point(rows.amax(0)[:, None].float()))

    def prior(self, size):
        return Posterior(Scenes(size))

    def decode(self, codes, only=None):
        return {name: distribution(name, self.change(name, codes.shared[..., 0].long())) for name in only}


class Independent2(Oracle):
    """Every modality is decoded from a private code of its own."""

    def prior(self, size):
        return Posterior(Scenes(size), {name: Scenes(size) for name in SPEC.names})

    def encode(self, batch, observed=None):
        return Posterior(super().encode(batch, observed).shared, self.prior(len(batch)).private)

    def decode(self, codes, only=None):
        return {name: super(Independent2, self).decode(Codes(codes.private[name]), (name,))[name] for name in only}


def distribution(name, rows):
    view = VIEWS[name][rows]
    if name == "image":
        return Independent(Normal(view / 255, 0.1, validate_args=False), 3, validate_args=False)
    logits = 50.0 * torch.nn.functional.one_hot(view.long(), len(LETTERS))
    return Independent(Categorical(logits=logits, validate_args=False), 1, validate_args=False)


def shifted(name):
    """A change that makes one factor wrong and keeps the others."""
    column = SPEC.factor_index(name)
    codes = COMBINATIONS.copy()
    codes[:, column] = (codes[:, column] + 1) % len(FACTORS[column].values)
    table = torch.tensor([(row == COMBINATIONS).all(1).argmax() for row in codes])
    return lambda modality, rows: table[rows]


class Tiny:
    """What a test needs of the tiny world."""

    spec = SPEC
    triple = Spec((*SPEC.modalities, replace(SPEC.modality("text"), name="echo")), FACTORS)
    combinations = COMBINATIONS
    captions = SAID
    views = VIEWS
    Oracle = Oracle
    Independent = Independent2
    Source = TinySource
    Reader = TinyReader
    Features = TinyFeatures
    distribution = staticmethod(distribution)
    shifted = staticmethod(shifted)

    @staticmethod
    def rows(n, seed=0, weights=None):
        return np.random.default_rng(seed).choice(len(COMBINATIONS), n, p=weights)

    @staticmethod
    def evaluation(model, n=600, **changes):
        exact = {"text": TinyReader("text", accuracy={"shape": 1.0, "size": 1.0})}
        judges = {"image": TinyReader("image", accuracy={"shape": 0.999, "size": 0.998})}
        source = changes.pop("source", None) or TinySource(Tiny.rows(n))
        settings = {"readers": judges, "exact": exact, "seed": 3, "batch_size": 128, "origin": {"world": "tiny-v1"}}
        return Evaluation(model, source, **{**settings, **changes})

    @staticmethod
    def find(measurement, name, **about):
        found = [
            score
            for score in measurement.scores
            if score.name == name and all(score.about.get(key) == value for key, value in about.items())
        ]
        assert len(found) == 1, [(score.name, score.about) for score in found or measurement.scores]
        return found[0]


@pytest.fixture
def tiny():
    return Tiny
