"""What every source promises, whatever it is made of."""

import json
import pickle

import numpy as np
import pytest
import torch

from molyneux.core import DataError, Source
from molyneux.data import ArraySource, Missing, StoredSource, Subset, Views, generate


@pytest.fixture(params=["arrays", "missing", "stored", "subset", "views"])
def source(request, tmp_path, make):
    whole = make(30, masks=True)[0]
    generate(whole, tmp_path / "samples")
    return {
        "arrays": lambda: whole,
        "missing": lambda: Missing(whole, {"text": 0.5, "touch": 0.5}, seed=1),
        "stored": lambda: StoredSource(tmp_path / "samples"),
        "subset": lambda: Subset(whole, np.arange(29, -1, -1)),
        "views": lambda: Views(whole, ("touch", "image")),
    }[request.param]()


def test_any_rows_in_any_order(source, same):
    assert isinstance(source, Source)
    whole = source.batch(np.arange(len(source))).check(source.spec)
    for rows in (np.array([3, 29, 3]), np.arange(0), np.arange(30)[::-1], np.array([7], dtype=np.uint8)):
        assert same(source.batch(rows).check(source.spec), whole[torch.from_numpy(rows.astype(np.int64))])


def test_travels_to_other_processes(source, same):
    rows = np.arange(len(source))
    assert same(pickle.loads(pickle.dumps(source)).batch(rows), source.batch(rows))


def test_rows_outside_are_refused(source):
    for rows in ([len(source)], [-1], [0.5]):
        with pytest.raises(DataError, match="expected positions"):
            source.batch(np.array(rows))


def test_origin_is_plain(source):
    if not isinstance(source, ArraySource):
        origin = source.origin
        assert json.loads(json.dumps(origin)) == origin
