import numpy as np
import pytest
import torch

from molyneux.core import Batch, SpecError
from molyneux.learn.batches import EvaluationBatches, TrainingBatches


def test_every_sample_once_an_epoch(source):
    batches = TrainingBatches(source, 10, seed=1, steps=18)
    assert (batches.per_epoch, batches.epochs) == (9, 2)
    epochs = [[batch.indices for batch in batches] for _ in range(2)]
    for epoch in epochs:
        seen = np.concatenate(epoch)
        assert len(seen) == len(set(seen)) == 90
    assert not np.array_equal(epochs[0][0], epochs[1][0])


def test_an_epoch_can_be_found_again(source):
    from_start = TrainingBatches(source, 16, seed=1, steps=18)
    list(from_start)
    later = TrainingBatches(source, 16, seed=1, steps=18, epoch=1)
    for a, b in zip(from_start, later, strict=True):
        assert a.number == b.number
        assert np.array_equal(a.indices, b.indices)
        assert torch.equal(a.batch.views["image"], b.batch.views["image"])


def test_steps_are_numbered_through(source):
    batches = TrainingBatches(source, 16, seed=1, steps=14)
    numbers = [batch.number for _ in range(batches.epochs) for batch in batches]
    assert numbers == list(range(14))


def test_evaluation_keeps_everything(source):
    batches = EvaluationBatches(source, 40)
    assert [len(batch) for batch in batches] == [40, 40, 16]
    assert np.array_equal(np.concatenate([batch.indices for batch in batches]), np.arange(96))


def test_batch_that_does_not_fit_its_spec(source):
    wrong = Batch({"image": torch.zeros(8, 3, 8, 8), "touch": torch.zeros(8, 4, 2)})
    source.batch = lambda indices: wrong
    with pytest.raises(SpecError, match="modality image: expected uint8"):
        next(iter(EvaluationBatches(source, 8)))
