import json
import pickle

import numpy as np
import pytest
import torch

from molyneux.core import CorruptFileError, DataError, Source, StoreError, store
from molyneux.data import StoredSource, generate


@pytest.fixture
def folder(tmp_path, make):
    generate(make(40, masks=True)[0], tmp_path / "samples")
    return tmp_path / "samples"


def test_any_order_with_repeats(folder, make, same):
    stored = StoredSource(folder)
    assert isinstance(stored, Source)
    rows = np.array([7, 3, 3, 39, 0], dtype=np.int32)
    assert same(stored.batch(rows), make(40, masks=True)[1][torch.from_numpy(rows.astype(np.int64))])


def test_reading_does_not_change_what_is_stored(folder, same):
    stored = StoredSource(folder)
    first = stored.batch(np.arange(5))
    first.views["image"].fill_(0)
    assert not same(first, stored.batch(np.arange(5)))


@pytest.mark.parametrize("rows", [[40], [-1], [[0, 1]], [0.5]])
def test_positions_outside(folder, rows):
    with pytest.raises(DataError, match="expected positions"):
        StoredSource(folder).batch(np.array(rows))


@pytest.mark.parametrize("name", ["image.npy", "factors.npy", "image.present.npy", "spec.json"])
@pytest.mark.parametrize("damage", ["cut", "flip", "gone"])
def test_damage_is_named(folder, name, damage):
    content = bytearray((folder / name).read_bytes())
    if damage == "gone":
        (folder / name).unlink()
    else:
        content[-3] ^= 1
        (folder / name).write_bytes(content[:-5] if damage == "cut" else content)
    with pytest.raises(CorruptFileError, match=name):
        StoredSource(folder)


def test_truncation_is_noticed_without_verification(folder):
    path = folder / "touch.npy"
    path.write_bytes(path.read_bytes()[:-4])
    with pytest.raises(CorruptFileError, match=r"touch\.npy is truncated"):
        StoredSource(folder, verify=False)


def test_an_array_of_another_shape_is_refused(folder):
    store.write_array(folder / "text.npy", np.zeros((40, 8), dtype=np.uint8))
    with pytest.raises(CorruptFileError, match=r"text\.npy: expected uint8 \(40, 9\), got uint8 \(40, 8\)"):
        StoredSource(folder, verify=False)


def test_not_verified_is_not_read(folder):
    path = folder / "image.npy"
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)
    StoredSource(folder, verify=False)


def test_records_that_are_damaged(folder):
    record = json.loads((folder / "stage.json").read_text())
    del record["details"]["size"]
    (folder / "stage.json").write_text(json.dumps(record))
    with pytest.raises(CorruptFileError, match=r"records in .* are damaged"):
        StoredSource(folder)
    with pytest.raises(StoreError, match=r"no stage\.json"):
        StoredSource(folder.parent)


def test_travels_as_a_path(folder, same):
    stored = StoredSource(folder)
    sent = pickle.dumps(stored)
    assert len(sent) < 1000
    assert same(pickle.loads(sent).batch(np.arange(40)), stored.batch(np.arange(40)))
