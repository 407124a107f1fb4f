import numpy as np
import pytest
import torch

from molyneux.core import Batch, ConfigError, DataError, Modality, Source, Spec, SpecError
from molyneux.data import ArraySource, Subset, generate, load


def test_reads_what_it_was_given(make, same):
    source, batch = make(11, masks=True)
    assert isinstance(source, Source)
    rows = np.array([10, 0, 0, 5])
    assert same(source.batch(rows), batch[torch.from_numpy(rows)])
    source.batch(rows).views["image"].fill_(0)
    assert same(source.batch(rows), batch[torch.from_numpy(rows)])


def test_a_batch_that_does_not_fit():
    with pytest.raises(SpecError, match=r"expected float32 \(2, 3\), got torch.float32 \(2, 4\)"):
        ArraySource(Spec((Modality("x", "tabular", (3,)),)), Batch({"x": torch.zeros(2, 4)}))


@pytest.mark.parametrize("threads", [1, 3])
def test_load_reads_everything(tmp_path, make, same, threads):
    source, batch = make(50, masks=True)
    stored = generate(source, tmp_path / "samples")
    assert same(load(stored, chunk=7, threads=threads).batch(np.arange(50)), batch)
    assert same(load(Subset(source, np.arange(5, 9))).batch(np.arange(4)), batch[5:9])
    assert load(source) is source


def test_load_refuses_what_cannot_be_used(make):
    source, _ = make(5)
    with pytest.raises(ConfigError, match="threads"):
        load(source, threads=0)
    with pytest.raises(DataError, match="at least one sample"):
        load(Subset(source, np.arange(0)))
