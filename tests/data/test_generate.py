import errno
import hashlib
import json
import os
import signal
import subprocess
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import torch

from molyneux.core import Batch, ConfigError, ConflictError, DataError, Modality, Spec, StoreError, store
from molyneux.data import ArraySource, StoredSource, Views, export_png, store_samples

SOURCE = """
import sys, time
import numpy as np, torch
from pathlib import Path
from molyneux.core import Batch, Modality, Spec
from molyneux.data import store_samples

class Slow:
    spec = Spec((Modality("number", "tabular", (1000,)),))
    origin = {"world": "slow"}
    def __len__(self): return 200
    def batch(self, indices):
        time.sleep(PAUSE)
        return Batch({"number": torch.from_numpy(np.repeat(indices[:, None], 1000, 1).astype(np.float32))})

store_samples(Slow(), Path(sys.argv[1]), chunk=10, progress=lambda n: print(n, flush=True))
print("done", flush=True)
"""


def digests(folder):
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.iterdir()}


def numbers(size, values=None):
    content = np.arange(size, dtype=np.float32)[:, None] if values is None else values
    return ArraySource(Spec((Modality("number", "tabular", (1,)),)), Batch({"number": torch.from_numpy(content)}))


def test_what_is_stored_is_what_was_made(tmp_path, make, same):
    source, batch = make(23, masks=True)
    counted = []
    stored = store_samples(source, tmp_path / "samples", chunk=5, progress=counted.append)
    assert counted == [5, 5, 5, 5, 3]
    assert stored.spec == source.spec
    assert same(stored.batch(np.arange(23)), batch)
    files = {"factors", "quantities", "view.image", "view.text", "view.touch", "present.image", "length.touch", "target.agrees"}
    files |= {"target.tags", *(f"{part}.{store.file_name('BRK.B')}" for part in ("target", "known"))}
    assert {path.name for path in (tmp_path / "samples").iterdir()} == {"spec.json", "stage.json", *(f"{n}.npy" for n in files)}
    np.testing.assert_array_equal(np.load(tmp_path / "samples" / "view.image.npy"), batch.views["image"].numpy())


def test_same_bytes_for_any_chunk_and_number_of_threads(tmp_path):
    size = 2 * store.BLOCK // (3 * 64 * 64) + 11  # more than two blocks of checksum, not aligned with the chunks
    pictures = np.random.default_rng(0).integers(0, 256, (size, 3, 64, 64), dtype=np.uint8)
    source = ArraySource(Spec((Modality("image", "image", (3, 64, 64), "uint8"),)), Batch({"image": torch.from_numpy(pictures)}))
    for name, chunk, threads in (("a", 400, 1), ("b", 10_000, 1), ("c", 171, 3)):
        store_samples(source, tmp_path / name, chunk=chunk, threads=threads)
        StoredSource(tmp_path / name)  # verifies
    assert digests(tmp_path / "a") == digests(tmp_path / "b") == digests(tmp_path / "c")


def test_stored_again_is_skipped_and_another_origin_refused(tmp_path):
    class Known:
        spec = numbers(3).spec

        def __init__(self, seed):
            self.origin = {"world": "known", "seed": seed}
            self.asked = 0

        def __len__(self):
            return 3

        def batch(self, indices):
            self.asked += 1
            return numbers(3).batch(indices)

    store_samples(Known(1), tmp_path / "samples")
    again = Known(1)
    assert len(store_samples(again, tmp_path / "samples")) == 3
    assert again.asked == 0
    with pytest.raises(ConflictError, match=r"seed: 1 -> 2"):
        store_samples(Known(2), tmp_path / "samples")
    with pytest.raises(ConflictError, match="exists: choose"):
        store_samples(numbers(3), tmp_path / "samples")


def test_nothing_of_somebody_else_is_touched(tmp_path):
    (tmp_path / "samples").mkdir()
    (tmp_path / "samples" / "letter.txt").write_text("dear")
    with pytest.raises(ConflictError, match="exists: choose"):
        store_samples(numbers(3), tmp_path / "samples")
    assert (tmp_path / "samples" / "letter.txt").read_text() == "dear"
    (tmp_path / "file").write_text("x")
    with pytest.raises(ConflictError, match="exists: choose"):
        store_samples(numbers(3), tmp_path / "file")


@pytest.mark.parametrize(("value", "threads"), [(np.nan, 1), (np.inf, 2)])
def test_nan_is_named_with_its_sample(tmp_path, value, threads):
    values = np.zeros((20, 1), dtype=np.float32)
    values[13] = value
    with pytest.raises(DataError, match="modality number: expected finite numbers, got NaN or infinity in sample 13"):
        store_samples(numbers(20, values), tmp_path / "samples", chunk=4, threads=threads)
    assert list(tmp_path.iterdir()) == []


def test_what_lies_where_a_modality_is_missing_is_not_judged(tmp_path):
    values = np.full((4, 1), np.nan, dtype=np.float32)
    values[1] = 7
    spec = numbers(4).spec
    batch = Batch({"number": torch.from_numpy(values)}, {"number": torch.tensor([False, True, False, False])})
    stored = store_samples(ArraySource(spec, batch), tmp_path / "samples")
    assert stored.batch(np.arange(4)).present["number"].tolist() == [False, True, False, False]


def test_ids_and_codes_out_of_bounds_are_named(tmp_path, make):
    source, batch = make(6)
    text = batch.views["text"].clone()
    text[4, 2] = 27
    with pytest.raises(DataError, match=r"modality text: expected ids 0..26 of its 27 symbols, got .* in sample 4"):
        store_samples(ArraySource(source.spec, replace(batch, views={**batch.views, "text": text})), tmp_path / "a")
    codes = batch.factors.clone()
    codes[5, 1] = 3
    with pytest.raises(DataError, match=r"factor place: expected codes 0..2, or -1 where it is absent, got 3 in sample 5"):
        store_samples(ArraySource(source.spec, replace(batch, factors=codes)), tmp_path / "a")


def test_batches_that_disagree_about_masks_are_refused(tmp_path):
    class Moody:
        spec = numbers(4).spec

        def __len__(self):
            return 4

        def batch(self, indices):
            batch = numbers(4).batch(indices)
            return batch if indices[0] == 0 else batch.observe([])

    with pytest.raises(
        DataError, match=r"arrays view\.number in every batch, as in the first, got view\.number, present\.number"
    ):
        store_samples(Moody(), tmp_path / "samples", chunk=2)
    assert list(tmp_path.iterdir()) == []


def test_settings_that_cannot_be_used(tmp_path):
    for settings in ({"chunk": 0}, {"threads": 0}):
        with pytest.raises(ConfigError, match="at least 1, got 0"):
            store_samples(numbers(3), tmp_path / "samples", **settings)
    with pytest.raises(DataError, match="at least one sample"):
        store_samples(numbers(0), tmp_path / "samples")
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_is_one_clear_sentence(tmp_path, monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "posix_fallocate", full)
    with pytest.raises(StoreError, match="the disk is full: free some space"):
        store_samples(numbers(3), tmp_path / "samples")
    assert list(tmp_path.iterdir()) == []


def test_no_permission_is_one_clear_sentence(tmp_path, monkeypatch):
    def forbidden(*_, **__):
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(os, "open", forbidden)
    with pytest.raises(StoreError, match="no permission to write there"):
        store_samples(numbers(3), tmp_path / "samples")


def test_a_place_that_cannot_be_looked_at(tmp_path, monkeypatch, make):
    def forbidden(*_, **__):
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(Path, "stat", forbidden)
    with pytest.raises(StoreError, match="no permission"):
        store_samples(numbers(3), tmp_path / "samples")
    with pytest.raises(StoreError, match="no permission"):
        export_png(make(3)[0], tmp_path / "samples")


def test_a_second_process_is_kept_out(tmp_path):
    with store.locked(tmp_path / ".samples.part"), pytest.raises(ConflictError, match="another process is working"):
        store_samples(numbers(3), tmp_path / "samples")


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_killed_and_started_again(tmp_path, how):
    out = tmp_path / "samples"
    slow = [sys.executable, "-c", SOURCE.replace("PAUSE", "0.05"), str(out)]
    heard = partial(signal.signal, signal.SIGINT, signal.SIG_DFL)  # also where the tests themselves run in the background
    with subprocess.Popen(slow, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, preexec_fn=heard) as process:
        for _ in range(3):
            assert process.stdout.readline() == "10\n"
        process.send_signal(how)
        process.wait()
    assert not out.exists()
    assert (tmp_path / ".samples.part").exists() == (how == signal.SIGKILL)
    with pytest.raises(StoreError, match=r"which is not there"):
        StoredSource(out)
    store_samples(numbers(200), out, chunk=10)
    assert [path.name for path in tmp_path.iterdir()] == ["samples"]
    assert StoredSource(out).batch(np.array([199])).views["number"][0, 0] == 199


def test_the_record_says_where_the_samples_come_from(tmp_path, make):
    source, _ = make(4)
    store_samples(source, tmp_path / "a")
    assert json.loads((tmp_path / "a" / "stage.json").read_text())["settings"] == {"origin": None}
    stored = StoredSource(tmp_path / "a")
    narrowed = store_samples(Views(stored, ("text",)), tmp_path / "b")
    assert narrowed.origin == {"of": stored.origin, "views": ["text"]}
    assert narrowed.spec.names == ("text",)
