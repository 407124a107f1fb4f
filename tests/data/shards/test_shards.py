import json
import os
import pickle
import threading
from concurrent.futures import ThreadPoolExecutor

import fsspec
import numpy as np
import pytest
import safetensors.numpy
import torch

from molyneux.core import ConfigError, ConflictError, CorruptFileError, DataError, Source, StoreError
from molyneux.core.sources import Span
from molyneux.data import ArraySource, CdSprites, ShardedSource, StoredSource, Subset, open_stored, store_samples, store_shards
from molyneux.data.shards import writing
from molyneux.data.shards.manifest import Manifest
from molyneux.data.shards.places import FarFolder, NearFolder

WORLD = CdSprites(level=2)


def samples(size=100, seed=3):
    return WORLD.source("train", size, seed=seed)


@pytest.fixture
def folder(tmp_path):
    store_shards(samples(), tmp_path / "samples", shard=30)
    return tmp_path / "samples"


@pytest.fixture
def far():
    address = f"memory://molyneux-tests/{os.urandom(4).hex()}"
    yield address
    fsspec.filesystem("memory").rm(address.removeprefix("memory:/"), recursive=True)


def content(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_any_order_with_repeats(folder, same):
    stored, rows = ShardedSource(folder), np.array([7, 99, 30, 29, 7, 0], dtype=np.int32)
    assert isinstance(stored, Source)
    assert len(stored) == 100
    assert same(stored.batch(rows), samples().batch(rows))
    assert same(stored.batch(np.arange(30, 40)), samples().batch(np.arange(30, 40)))
    assert len(stored.batch(np.empty(0, np.int64))) == 0


def test_presence_masks_and_lengths_are_kept(tmp_path, make, same):
    source = make(40, masks=True)[0]
    source.origin = {"made": "by hand"}
    rows = np.array([39, 3, 17])
    assert same(store_shards(source, tmp_path / "samples", shard=16).batch(rows), source.batch(rows))


def test_a_shard_is_a_plain_safetensors_file(folder):
    arrays = safetensors.numpy.load_file(folder / "000000000030-000000000060.safetensors")
    batch = samples().batch(np.arange(30, 60))
    assert np.array_equal(arrays["view.image"], batch.views["image"].numpy())
    assert np.array_equal(arrays["factors"], batch.factors.numpy())


def test_the_same_origin_as_in_memory(folder):
    assert ShardedSource(folder).origin == samples().origin


@pytest.mark.parametrize("parts", [2, 3, 7])
def test_parts_give_the_bytes_of_one_process(folder, tmp_path, parts):
    other = tmp_path / "parts"
    for number in reversed(range(1, parts + 1)):
        found = store_shards(samples(), other, shard=30, part=(number, parts), chunk=7, threads=2)
        assert (found is None) == (number > 1 and parts <= 4) or parts > 4
    assert content(other) == content(folder)


def test_parts_at_the_same_time(folder, tmp_path):
    other = tmp_path / "parts"
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda number: store_shards(samples(), other, shard=30, part=(number, 4)), range(1, 5)))
    assert any(each is not None for each in found)
    assert content(other) == content(folder)


def test_a_stopped_command_makes_what_is_missing(folder, tmp_path, monkeypatch):
    other, made = tmp_path / "stopped", []
    arrays = writing._arrays

    def counted(source, columns, span, *rest):
        made.append(span)
        if len(made) == 3:
            raise KeyboardInterrupt
        return arrays(source, columns, span, *rest)

    monkeypatch.setattr(writing, "_arrays", counted)
    with pytest.raises(KeyboardInterrupt):
        store_shards(samples(), other, shard=30)
    with pytest.raises(StoreError, match="2 shards, but not all of them: run the same command again"):
        ShardedSource(other)
    told = []
    assert len(store_shards(samples(), other, shard=30, progress=told.append)) == 100
    assert made == [(0, 30), (30, 60), (60, 90), (60, 90), (90, 100)]
    assert told == [60, 30, 10]
    assert content(other) == content(folder)


def test_a_shard_that_was_cut_before_its_end_is_made_again(folder, tmp_path):
    other = tmp_path / "cut"
    store_shards(samples(), other, shard=30, part=(1, 2))
    shard = sorted(other.glob("*.safetensors"))[0]
    shard.write_bytes(shard.read_bytes()[:-1])
    store_shards(samples(), other, shard=30, part=(1, 2))
    store_shards(samples(), other, shard=30, part=(2, 2))
    assert content(other) == content(folder)


def test_more_samples_are_added(folder, tmp_path):
    before = {name: data for name, data in content(folder).items() if name < "000000000090"}
    assert len(store_shards(samples(140), folder, shard=30)) == 140
    store_shards(samples(140), tmp_path / "whole", shard=30)
    assert content(folder) == content(tmp_path / "whole")
    assert before.items() <= content(folder).items()


def test_fewer_samples_are_the_first_ones(folder, same):
    before = content(folder)
    found = store_shards(samples(50), folder, shard=30)
    assert isinstance(found, Span)
    assert len(found) == 50
    assert same(found.batch(np.array([49, 2])), samples().batch(np.array([49, 2])))
    with pytest.raises(DataError, match="expected positions from 0 to 49, got 50"):
        found.batch(np.array([50]))
    assert content(folder) == before


@pytest.mark.parametrize(
    ("wanted", "shard", "message"),
    [
        (samples(seed=4), 30, r"of another origin \(seed: 3 -> 4\)"),
        (samples(), 40, "shards of 30 samples, not of 40"),
        (CdSprites(level=1).source("train", 100, seed=3), 30, "of another origin"),
    ],
)
@pytest.mark.parametrize("whole", [True, False])
def test_other_samples_are_not_mixed_in(tmp_path, wanted, shard, message, whole):
    store_shards(samples(), tmp_path / "samples", shard=30, part=(1, 1 if whole else 2))
    before = content(tmp_path / "samples")
    with pytest.raises(ConflictError, match=message):
        store_shards(wanted, tmp_path / "samples", shard=shard)
    assert content(tmp_path / "samples") == before


def test_a_folder_of_other_files_is_left_alone(tmp_path):
    (tmp_path / "photo.png").write_bytes(b"x")
    with pytest.raises(ConflictError, match=r"holds photo\.png, which is no part of samples in shards"):
        store_shards(samples(), tmp_path, shard=30)
    assert content(tmp_path) == {"photo.png": b"x"}


def test_what_cannot_be_stored(tmp_path, make):
    with pytest.raises(ConfigError, match="expected a part from 1"):
        store_shards(samples(), tmp_path / "x", shard=30, part=(3, 2))
    with pytest.raises(ConfigError, match="expected shard of at least 1"):
        store_shards(samples(), tmp_path / "x", shard=0)
    source = make(10)[0]
    with pytest.raises(ConfigError, match="say what made them"):
        store_shards(ArraySource(source.spec, source.batch(np.arange(10))), tmp_path / "x", shard=5)
    assert not (tmp_path / "x").exists()


@pytest.mark.parametrize("damage", ["flip", "cut", "gone", "swap"])
def test_a_damaged_shard_is_named_when_it_is_needed(folder, damage, same):
    first, second = sorted(folder.glob("*.safetensors"))[:2]
    data = bytearray(second.read_bytes())
    data[-2] ^= 1
    if damage == "gone":
        second.unlink()
    else:
        second.write_bytes({"flip": data, "cut": data[:-1], "swap": first.read_bytes()}[damage])
    stored = ShardedSource(folder)
    assert same(stored.batch(np.arange(5)), samples().batch(np.arange(5)))
    with pytest.raises(CorruptFileError, match=second.name):
        stored.batch(np.array([31]))


@pytest.mark.parametrize(
    "change",
    [
        lambda record: record | {"shard": 20},
        lambda record: record | {"shards": record["shards"][:-1]},
        lambda record: [record],
        lambda record: {},
        lambda record: record | {"shards": "none"},
    ],
)
def test_an_altered_manifest_is_refused(folder, change):
    path = folder / "manifest.json"
    path.write_text(json.dumps(change(json.loads(path.read_text()))))
    with pytest.raises(CorruptFileError, match=r"manifest\.json is damaged"):
        ShardedSource(folder)


@pytest.mark.parametrize(
    "head", [b"\xff" * 8, (20).to_bytes(8, "little") + b"[" * 20, (2).to_bytes(8, "little") + b"{}", b"abc", b""]
)
def test_a_strange_shard_is_a_sentence(folder, head):
    second = sorted(folder.glob("*.safetensors"))[1]
    data = head.ljust(second.stat().st_size if head else 0, b"\0")
    second.write_bytes(data)
    stored = ShardedSource(folder, verify=False)
    with pytest.raises((CorruptFileError, DataError)):
        stored.batch(np.array([31]))


def test_links_are_not_followed(folder, tmp_path):
    second = sorted(folder.glob("*.safetensors"))[1]
    second.rename(tmp_path / "elsewhere")
    second.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(StoreError, match="got a link, which is not followed"):
        ShardedSource(folder).batch(np.array([31]))


def test_many_threads_read_the_same(folder, same):
    stored, wanted, problems = ShardedSource(folder), samples().batch(np.arange(100)), []

    def read(seed):
        rows = np.random.default_rng(seed).permutation(100)
        if not same(stored.batch(rows), wanted[rows]):
            problems.append(seed)

    threads = [threading.Thread(target=read, args=(seed,)) for seed in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not problems


def test_it_travels_as_an_address(folder, same):
    data = pickle.dumps(ShardedSource(folder))
    assert len(data) < 1_000
    assert same(pickle.loads(data).batch(np.arange(3)), samples().batch(np.arange(3)))


def test_stored_samples_of_either_kind_are_opened(folder, tmp_path):
    store_samples(samples(), tmp_path / "one")
    assert isinstance(open_stored(folder), ShardedSource)
    assert isinstance(open_stored(str(tmp_path / "one")), StoredSource)
    with pytest.raises(StoreError, match=r"which has no stage\.json: store them there first"):
        open_stored(tmp_path)


def test_samples_at_an_address(far, folder, tmp_path, same):
    store_shards(samples(), far, shard=30, part=(1, 2))
    stored = store_shards(samples(), far, shard=30, part=(2, 2))
    place = FarFolder(far)
    assert {name: place.read(name) for name in place.names()} == content(folder)
    rows = np.random.default_rng(0).permutation(100)
    assert same(stored.batch(rows), samples().batch(rows))
    bounded = ShardedSource(far, cache=tmp_path / "cache", cached=2)
    for start in range(0, 100, 10):
        assert same(bounded.batch(np.arange(start, start + 10)), samples().batch(np.arange(start, start + 10)))
        assert len(list((tmp_path / "cache").glob("*/*.safetensors"))) <= 2
    assert same(bounded.batch(rows), samples().batch(rows))
    assert isinstance(open_stored(far), ShardedSource)


def test_a_damaged_shard_at_an_address_is_named(far):
    store_shards(samples(), far, shard=30)
    place = FarFolder(far)
    name = place.names()[0]
    place.write(name, place.read(name)[:-1] + b"x")
    with pytest.raises(CorruptFileError, match="altered"):
        ShardedSource(far).batch(np.array([0]))


def test_addresses_that_nothing_knows():
    with pytest.raises(ConfigError, match="expected a path, or an address"):
        open_stored("nothing-such://a/b")
    with pytest.raises(StoreError, match="found no samples in shards"):
        open_stored("memory://molyneux-tests/nothing-is-here")


def test_an_address_without_its_package(monkeypatch):
    def missing(_):
        raise ImportError("Install s3fs to access S3")

    monkeypatch.setattr(fsspec.core, "url_to_fs", missing)
    with pytest.raises(ConfigError, match="addresses of s3 need a package that is not installed: pip install s3fs"):
        open_stored("s3://bucket/name")


def test_errors_of_a_store_elsewhere_are_sentences(far, monkeypatch):
    store_shards(samples(), far, shard=30)
    place = FarFolder(far)

    def refused(*_, **__):
        raise RuntimeError("403 Forbidden\n" + "x" * 1_000)

    monkeypatch.setattr(type(place._system), "cat_file", refused)
    with pytest.raises(StoreError, match=r"cannot read .*manifest\.json: 403 Forbidden x+: check the address"):
        Manifest.read(place)


def test_a_place_near_and_far_behave_alike(far, tmp_path):
    for place in (FarFolder(far), NearFolder(tmp_path / "new")):
        assert place.names() == []
        place.write("b.json", b"22")
        place.write("a.bin", b"1")
        assert place.names() == ["a.bin", "b.json"]
        assert (place.size("b.json"), place.size("c"), place.read("a.bin")) == (2, None, b"1")
        with pytest.raises(StoreError):
            place.read("c")
        place.remove("a.bin")
        place.remove("a.bin")
        assert place.names() == ["b.json"]
        with place.local("b.json", lambda path: None) as path:
            assert path.read_bytes() == b"22"


def test_shards_of_an_address_are_fetched_at_the_same_time(far, same, monkeypatch, tmp_path):
    """A batch of five shards needs five fetches under way at once; with a cache of two, no file goes while it is opened."""
    store_shards(samples(), far, shard=20)
    stored, together = ShardedSource(far, cache=tmp_path, cached=2), threading.Barrier(5, timeout=60)
    plain = type(stored._place._system).get_file
    monkeypatch.setattr(
        type(stored._place._system), "get_file", lambda *given, **rest: (together.wait(), plain(*given, **rest))[1]
    )
    rows = np.random.default_rng(0).permutation(100)
    assert same(stored.batch(rows), samples().batch(rows))
    assert len(list(tmp_path.glob("*/*.safetensors"))) <= 2


def test_many_threads_read_from_a_small_cache(far, same, tmp_path):
    store_shards(samples(), far, shard=5)
    stored, wanted = ShardedSource(far, cache=tmp_path, cached=2), samples().batch(np.arange(100))
    stored._format.open_at_once = 3
    orders = [np.random.default_rng(seed).permutation(100) for seed in range(8)]
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(stored.batch, orders))
    assert all(same(batch, wanted[torch.from_numpy(order)]) for batch, order in zip(found, orders, strict=True))
    assert len(list(tmp_path.glob("*/*.safetensors"))) <= 2


def test_a_span_lies_in_blocks_and_a_subset_does_not(folder):
    stored = ShardedSource(folder)
    assert Span(stored, 0, 50).block_size == stored.block_size == 30
    assert Subset(stored, np.arange(50)).block_size is None
    with pytest.raises(DataError, match="expected positions from 0 to 100 with a sample between them"):
        Span(stored, 50, 50)


class Elsewhere:
    """Workers that get what they need by pickle, as other processes do; the last pieces come to them first."""

    def __init__(self):
        self.pieces = []

    def map(self, function, pieces):
        copy, pieces = pickle.loads(pickle.dumps(function)), list(pieces)
        self.pieces += pieces
        done = {piece: copy(piece) for piece in reversed(pieces)}
        return iter([done[piece] for piece in pieces])


def test_shards_that_workers_write_have_the_same_bytes(folder, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    workers, told = Elsewhere(), []
    found = store_shards(samples(), "elsewhere", shard=30, workers=workers, progress=told.append)
    assert len(found) == 100
    assert told == [30, 30, 30, 10]
    assert content(tmp_path / "elsewhere") == content(folder)
    again = Elsewhere()
    store_shards(samples(), "elsewhere", shard=30, workers=again)
    assert again.pieces == []


def test_a_worker_writes_no_shard_that_is_there(tmp_path, monkeypatch):
    place = tmp_path / "samples"
    store_shards(samples(), place, shard=30, part=(1, 2))
    left = place / ".000000000030-000000000060.safetensors.0a1b2c3d.part"
    left.write_bytes(b"of a process that was killed")
    before, written = {path.name: path.stat().st_mtime_ns for path in place.iterdir()}, []
    monkeypatch.setattr(writing, "_arrays", lambda *given, made=writing._arrays: written.append(1) or made(*given))

    class Twice(Elsewhere):
        def map(self, function, pieces):
            pieces = list(pieces)
            list(super().map(function, pieces))  # whose results are lost
            return super().map(function, pieces)

    assert len(store_shards(samples(), place, shard=30, part=(2, 2), workers=Twice())) == 100
    assert len(written) == 2
    after = {path.name: path.stat().st_mtime_ns for path in place.iterdir()}
    assert {name for name in before if after.get(name) == before[name]} == {
        "000000000000-000000000030.safetensors",
        "000000000060-000000000090.safetensors",
    }
    assert not left.exists()
