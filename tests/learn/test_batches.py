import numpy as np
import pytest
import torch

from molyneux.core import Batch, DataError, Modality, Spec, SpecError
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


class SymbolSource:
    """Texts and labels from arrays."""

    def __init__(self, ids, labels, present=None, dtype="uint8", symbols="abcd"):
        self.views = {"text": torch.as_tensor(ids), "digit": torch.as_tensor(labels)}
        self.present = present or {}
        self.spec = Spec(
            (
                Modality("text", "text", (3,), dtype, tuple(symbols), 0),
                Modality("digit", "label", (), "int64", tuple("0123456789")),
            )
        )

    def __len__(self):
        return len(self.views["text"])

    def batch(self, indices):
        return Batch(self.views, self.present)[torch.as_tensor(np.asarray(indices))]


def texts(*changes, dtype=torch.uint8):
    ids = torch.zeros(6, 3, dtype=dtype)
    for sample, place, value in changes:
        ids[sample, place] = value
    return ids


LABELS = torch.arange(6)


@pytest.mark.parametrize(
    ("dtype", "value"), [("uint8", 4), ("uint8", 255), ("int64", 7), ("int64", -1), ("float32", -1.0), ("float32", float("nan"))]
)
def test_ids_of_no_symbol_are_named(dtype, value):
    ids = texts((4, 0, 3), (4, 1, value), (5, 0, value), dtype=getattr(torch, dtype))
    source = SymbolSource(ids, LABELS, dtype=dtype)
    message = rf"modality text: expected ids 0\.\.3 of its 4 symbols, got {value} in sample 4: correct the data or mark"
    with pytest.raises(DataError, match=message):
        list(EvaluationBatches(source, 4))
    with pytest.raises(DataError, match=r"sample [45]"):
        list(TrainingBatches(source, 6, seed=0, steps=1))


@pytest.mark.parametrize("value", [10, -1])
def test_labels_of_no_symbol_are_named(value):
    labels = LABELS.clone()
    labels[2] = value
    with pytest.raises(DataError, match=rf"modality digit: expected ids 0\.\.9 of its 10 symbols, got {value} in sample 2"):
        list(EvaluationBatches(SymbolSource(texts(), labels), 6))


def test_ids_behind_a_presence_mask_are_not_read():
    present = {"text": torch.tensor([True, True, False, True, True, True])}
    source = SymbolSource(texts((2, 1, 7)), LABELS, present)
    assert len(list(EvaluationBatches(source, 6))) == 1
    source.views["text"][1, 0] = 9
    with pytest.raises(DataError, match="got 9 in sample 1"):
        list(EvaluationBatches(source, 6))


def test_all_ids_of_a_vocabulary_are_taken():
    ids = texts((0, 0, 3), (1, 1, 2))
    assert len(list(EvaluationBatches(SymbolSource(ids, LABELS), 6))) == 1
    many = [f"word {number}" for number in range(300)]  # more than a byte can say
    assert len(list(EvaluationBatches(SymbolSource(texts((0, 0, 255)), LABELS, symbols=many), 6))) == 1
