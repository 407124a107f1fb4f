import numpy as np
import pytest
import torch

from molyneux.core import ConfigError, DataError, SpecError
from molyneux.data import Subset, Views


def test_subset_of_a_subset(make, same):
    source, batch = make(20)
    inner = Subset(source, np.array([4, 9, 19, 2]))
    outer = Subset(inner, np.array([3, 1]))
    assert len(outer) == 2
    assert same(outer.batch(np.array([1, 0])), batch[torch.tensor([9, 2])])
    with pytest.raises(DataError, match="from 0 to 3, got 4"):
        Subset(inner, np.array([4]))
    with pytest.raises(DataError, match="from 0 to 1"):
        outer.batch(np.array([2]))


def test_views(make):
    source, batch = make(20, masks=True)
    views = Views(source, ("touch", "text"))
    assert views.spec.names == ("touch", "text")
    found = views.batch(np.arange(20)).check(views.spec)
    assert list(found.views) == ["touch", "text"]
    assert found.present == {}
    assert torch.equal(found.factors, batch.factors)
    with pytest.raises(SpecError, match='did you mean "text"'):
        Views(source, ("tekst",))
    with pytest.raises(ConfigError, match="got none"):
        Views(source, ())
