import os
import pickle
import time
from pathlib import Path

import numpy as np
import pytest
import torch

from molyneux.core import Batch, CorruptFileError, DataError, Factor, Modality, Source, Spec, StoreError, Target, store
from molyneux.data import ArraySource, StoredSource, store_samples
from molyneux.data.layout import Limits, to_arrays, to_batch


@pytest.fixture
def folder(tmp_path, make):
    store_samples(make(40, masks=True)[0], tmp_path / "samples")
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


@pytest.mark.parametrize("name", ["view.image.npy", "factors.npy", "present.image.npy", "spec.json"])
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
    path = folder / "view.touch.npy"
    path.write_bytes(path.read_bytes()[:-4])
    with pytest.raises(CorruptFileError, match=r"touch\.npy is damaged"):
        StoredSource(folder, verify=False)


def test_an_array_of_another_shape_is_refused(folder):
    store.write_array(folder / "view.text.npy", np.zeros((40, 8), dtype=np.uint8))
    with pytest.raises(CorruptFileError, match=r"text\.npy: expected uint8 \(40, 9\), got uint8 \(40, 8\)"):
        StoredSource(folder, verify=False)


def test_a_change_is_noticed_by_a_process_that_has_verified_before(folder):
    StoredSource(folder)
    path = folder / "view.image.npy"
    past = time.time_ns() - 10**10
    os.utime(path, ns=(past, past))
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    for _ in range(2):
        path.write_bytes(content)
        with pytest.raises(CorruptFileError, match=r"view\.image\.npy was truncated or altered"):
            StoredSource(folder)


def test_files_that_stay_the_same_are_read_once(folder, monkeypatch):
    monkeypatch.setattr("molyneux.core.store._SETTLED", -1)
    StoredSource(folder)
    monkeypatch.setattr(store, "checksum", None)
    StoredSource(folder)


@pytest.mark.parametrize(
    ("column", "value", "problem"),
    [
        ("view.text", 27, "modality text: expected ids 0..26 of its 27 symbols, got 27 in sample 3"),
        ("view.touch", np.nan, "modality touch: expected finite numbers, got NaN or infinity in sample 3"),
        ("length.touch", 65, "lengths of touch: expected 0..64, got 65 in sample 3"),
        ("factors", 3, "factor colour: expected codes 0..1, or -1 where it is absent, got 3 in sample 3"),
        ("quantities", 360.5, "quantity angle: expected numbers from 0 to 360, or NaN where it is absent, got 360.5 in sample 3"),
        ("target.agrees", 2, "target agrees: expected codes 0..1, got 2 in sample 3"),
        ("target.BRK.B", 9.5, "target BRK.B: expected numbers within the bounds"),
        ("target.tags", 2, "target tags: expected codes 0..1, got 2 in sample 3"),
    ],
)
def test_values_out_of_bounds_are_named_when_they_are_stored_and_read(folder, tmp_path, make, column, value, problem):
    source, batch = make(40, masks=True)
    tensors = {name: tensor.clone() for name, tensor in batch.tensors().items()}
    tensors[column][3] = value
    with pytest.raises(DataError, match=problem):
        store_samples(ArraySource(source.spec, Batch.from_tensors(tensors)), tmp_path / "other")
    part, _, name = column.partition(".")
    path = folder / (f"{part}.{store.file_name(name)}.npy" if name else f"{part}.npy")
    array = store.read_array(path).copy()
    array[3] = value
    store.write_array(path, array)
    with pytest.raises(DataError, match=problem):
        StoredSource(folder, verify=False).batch(np.arange(10))


def test_what_is_masked_means_nothing(folder, tmp_path, make, same):
    source, batch = make(40, masks=True)
    batch.targets["BRK.B"][~batch.known["BRK.B"]] = torch.nan
    batch.views["touch"][~batch.positions("touch", source.spec)] = torch.nan
    stored = store_samples(ArraySource(source.spec, batch), tmp_path / "other")
    assert same(stored.batch(np.arange(40)), batch)


@pytest.mark.parametrize(
    "names", [("BRK.B", "brk.b"), ("factors", "stage"), ("a/../../x", 'x"><script>'), ("x" * 100, "X" * 100), ("présent", ".")]
)
def test_any_printable_name_can_be_stored(tmp_path, same, names):
    spec = Spec(
        tuple(Modality(name, "tabular", (1,)) for name in names),
        tuple(Factor(name, ("a", "b")) for name in names),
        tuple(Target(name, "number") for name in names),
    )
    values = {name: torch.full((2, 1), float(number)) for number, name in enumerate(names)}
    batch = Batch(values, factors=torch.zeros(2, 2, dtype=torch.int64), targets={name: values[name][:, 0] for name in names})
    stored = store_samples(ArraySource(spec, batch), tmp_path / "samples")
    assert same(stored.batch(np.arange(2)), batch)
    files = [path.name for path in (tmp_path / "samples").iterdir()]
    assert len({name.lower() for name in files}) == len(files) == 7
    assert [path.name for path in tmp_path.iterdir()] == ["samples"]


def test_not_verified_is_not_read(folder):
    path = folder / "view.image.npy"
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)
    StoredSource(folder, verify=False)


def test_records_that_are_damaged(folder):
    record = store.read_stage(folder)
    store.StageFolder(folder, record["settings"]).finish({}, known=record["files"])
    with pytest.raises(CorruptFileError, match=r"records in .* are damaged"):
        StoredSource(folder)
    with pytest.raises(StoreError, match=r"no stage\.json"):
        StoredSource(folder.parent)


def test_travels_as_a_path(folder, same):
    stored = StoredSource(folder)
    sent = pickle.dumps(stored)
    assert len(sent) < 1000
    assert same(pickle.loads(sent).batch(np.arange(40)), stored.batch(np.arange(40)))


def test_rows_of_large_files_do_not_stay_in_memory(tmp_path, monkeypatch):
    """While samples are streamed, memory does not grow by what was read of their files."""
    if not Path("/proc/self/smaps").exists():
        pytest.skip("the system does not tell which files are in memory")
    spec = Spec((Modality("image", "image", (3, 32, 32), "uint8"),))
    stored = store_samples(
        ArraySource(spec, Batch({"image": torch.ones(4000, 3, 32, 32, dtype=torch.uint8)})), tmp_path / "large"
    )
    monkeypatch.setattr("molyneux.data.formats.mapped_files._KEPT", 1 << 20)
    stored = StoredSource(tmp_path / "large")
    most = 0
    for start in range(0, len(stored), 400):
        stored.batch(np.arange(start, start + 400))
        most = max(most, mapped_memory(tmp_path / "large"))
    assert most < 1 << 20


@pytest.mark.parametrize("rows", [[3, 39, 3, 0], [7, 8, 9], [39], [], [9, 8, 7], [0, 2]])
def test_rows_are_the_same_mapped_and_read_by_calls(tmp_path, monkeypatch, make, same, rows):
    source, batch = make(40, masks=True)
    store_samples(source, tmp_path / "a")
    monkeypatch.setattr("molyneux.data.formats.mapped_files._KEPT", 1)
    stored = StoredSource(tmp_path / "a")
    assert same(stored.batch(np.array(rows, np.int64)), batch[torch.tensor(rows, dtype=torch.int64)])


def test_a_file_that_is_cut_while_it_is_read_is_a_sentence(tmp_path, monkeypatch, make):
    store_samples(make(40)[0], tmp_path / "a")
    monkeypatch.setattr("molyneux.data.formats.mapped_files._KEPT", 1)
    stored = StoredSource(tmp_path / "a")
    os.truncate(tmp_path / "a" / "view.image.npy", 1000)
    with pytest.raises(DataError, match=r"view\.image\.npy: expected more than .*: the file was cut"):
        stored.batch(np.array([39]))


CHANGES = {
    "view.text": 27, "view.touch": np.nan, "factors": 3, "length.touch": 65, "target.agrees": 2, "target.tags": 2,
    "view.image": None, "present.image": None, "known.BRK.B": None,
}  # fmt: skip


@pytest.mark.parametrize("name", CHANGES)
def test_limits_are_those_of_the_check_of_values(make, name):
    """What the quick question lets pass is right, and what is wrong it does not let pass; negative codes too."""
    source, batch = make(40, masks=True)
    whole = to_arrays(batch)
    arrays = {key: array for key, array in whole.items() if key not in ("quantities", "target.BRK.B")}
    limits = Limits(source.spec)
    assert limits.hold(arrays)
    for value in (CHANGES[name], -2 if arrays[name].dtype == np.int64 else None):
        if value is not None:
            changed = {key: array.copy() for key, array in arrays.items()}
            changed[name][(5,) + (0,) * (arrays[name].ndim - 1)] = value
            assert not limits.hold(changed)
            with pytest.raises(DataError):
                to_batch(whole | changed, source.spec).check_values(source.spec, np.arange(40))
    assert not limits.hold(arrays | {name: arrays[name][:-1]})
    assert not limits.hold(arrays | {name: arrays[name].astype(np.float64)})


def mapped_memory(folder):
    """Bytes of files of a folder that count as memory of this process."""
    total, inside = 0, False
    for line in Path("/proc/self/smaps").read_text().splitlines():
        first = line.split()[0]
        if not first.endswith(":"):
            inside = str(folder) in line
        elif inside and first == "Rss:":
            total += int(line.split()[1]) << 10
    return total
