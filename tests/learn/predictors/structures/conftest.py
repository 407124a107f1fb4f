"""Small samples of two to four modalities with every kind of target, and sources of them."""

import pytest
import torch

from molyneux.core import Batch, Modality, Spec, Target
from molyneux.learn.encoders import MLP, RecurrentSteps

MODALITIES = (
    Modality("force.1", "series", (6, 3)),
    Modality("table", "tabular", (5,)),
    Modality("position", "series", (6, 2)),
    Modality("values", "tabular", (4,)),
)
TARGETS = (
    Target("y", "class", ("a", "b", "c")),
    Target("agree", "agreement"),
    Target("labels", "multilabel", ("p", "q")),
    Target("size", "number"),
    Target("place", "number", shape=(2,), bounds=(-3.0, 3.0)),
)


class MemorySource:
    """The samples of one batch."""

    def __init__(self, spec, batch):
        self.spec, self.whole = spec, batch

    def __len__(self):
        return len(self.whole)

    def batch(self, indices):
        return self.whole[torch.as_tensor(indices)]


class DiedError(Exception):
    pass


class DyingSource:
    """A source that dies after so many batches."""

    error = DiedError

    def __init__(self, source, batches):
        self.source, self.spec, self.left = source, source.spec, batches

    def __len__(self):
        return len(self.source)

    def batch(self, indices):
        self.left -= 1
        if self.left < 0:
            raise DiedError
        return self.source.batch(indices)


@pytest.fixture
def source_of():
    return MemorySource


@pytest.fixture
def dying():
    return DyingSource


@pytest.fixture
def spec_of():
    """Makes specs of the first so many modalities and targets."""
    return lambda count=3, tasks=1: Spec(MODALITIES[:count], targets=TARGETS[:tasks])


@pytest.fixture
def encoders():
    """Small encoders of all kinds."""
    return {"series": RecurrentSteps("gru", 5), "tabular": MLP((6,), 4, last=True)}


@pytest.fixture
def batch_of():
    """Makes random samples of a spec; sequences have all lengths, from 1."""

    def make(spec, size=12, *, seed=0):
        random = torch.Generator().manual_seed(seed)
        views = {item.name: torch.randn(size, *item.shape, generator=random) for item in spec.modalities}
        lengths = {item.name: torch.arange(size) % 6 + 1 for item in spec.modalities if item.kind == "series"}
        targets = {}
        for target in spec.targets:
            high = len(target.symbols) if target.task == "class" else 2
            whole = torch.randint(0, high, (size, *target.stored_shape), generator=random)
            number = torch.randn(size, *target.shape, generator=random).clamp(-3, 3)
            targets[target.name] = number if target.task == "number" else whole
            if target.task == "multilabel":
                targets[target.name] = whole.to(torch.uint8)
        return Batch(views, lengths=lengths, targets=targets)

    return make
