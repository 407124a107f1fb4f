"""One contract for every format of shards: what was stored is read back, by this package and by other tools."""

import io
import json
import os
import tarfile
import zlib
from dataclasses import replace
from importlib import import_module
from pathlib import Path

import fsspec
import numpy as np
import pyarrow.dataset
import pyarrow.parquet as pq
import pytest
import torch
from PIL import Image

from molyneux.core import Batch, ConfigError, ConflictError, CorruptFileError, DataError, Modality, Spec, SpecError, StoreError
from molyneux.core.shuffled import BlockOrder
from molyneux.data import ArraySource, CdSprites, GeBiD, ShapeWorld, ShardedSource, export_webdataset, open_stored, store_shards
from molyneux.data.shards import writing
from molyneux.data.shards.formats import FORMATS
from molyneux.data.shards.manifest import Manifest
from molyneux.data.shards.places import NearFolder

ENDINGS = dict(FORMATS)
FOREIGN = [name for name in FORMATS if name != "native"]
WORLD = CdSprites(level=3)


@pytest.fixture(params=FORMATS)
def kind(request):
    return request.param


def samples(size=100, seed=3):
    return WORLD.source("train", size, seed=seed)


def content(folder):
    return {path.name: path.read_bytes() for path in Path(folder).iterdir()}


def counted(batch, spec):
    """A batch with zeros where a view is missing or a target is not known, which mean nothing."""
    views = {name: view * batch.mask(name).view(-1, *[1] * (view.ndim - 1)).to(view.dtype) for name, view in batch.views.items()}
    targets = {
        name: value * batch.known_mask(name).view(-1, *[1] * (value.ndim - 1)).to(value.dtype)
        for name, value in batch.targets.items()
    }
    return replace(batch, views=views, targets=targets)


def test_any_order_with_repeats(tmp_path, kind, same):
    stored = store_shards(samples(), tmp_path / "a", shard=30, file_format=kind)
    rows = np.array([7, 99, 30, 29, 7, 0], dtype=np.int32)
    assert same(stored.batch(rows), samples().batch(rows))
    assert len(stored.batch(np.empty(0, np.int64))) == 0
    opened = open_stored(tmp_path / "a")
    assert (opened.origin, opened.spec, opened.block_size) == (samples().origin, samples().spec, 30)
    order = BlockOrder(100, 30, 2, (1, 2)).positions(0, 100)
    assert same(opened.batch(order), samples().batch(order))
    assert {Path(name).suffix for name in content(tmp_path / "a")} == {ENDINGS[kind], ".json"}


@pytest.mark.parametrize("world", [GeBiD(level=4), ShapeWorld(kind="spatial"), CdSprites(level=5)])
def test_samples_of_several_worlds(tmp_path, kind, world, same):
    source = world.source("test", 24, seed=2)
    stored = store_shards(source, tmp_path / "a", shard=10, file_format=kind)
    assert same(stored.batch(np.arange(24)), source.batch(np.arange(24)))


def test_masks_lengths_targets_and_numbers_are_kept(tmp_path, kind, make, same):
    source, _ = make(40, masks=True)
    source.origin = {"made": "by hand"}
    rows = np.array([39, 3, 17, 1, 5])
    found = store_shards(source, tmp_path / "a", shard=16, file_format=kind).batch(rows)
    assert same(counted(found, source.spec), counted(source.batch(rows), source.spec))
    assert found.quantities.isnan().any()


def test_labels_and_a_missing_text(tmp_path, kind, same):
    spec = Spec(
        (
            Modality("word", "label", (), "uint8", ("ja", "nein", "")),
            Modality("grey", "image", (1, 5, 4), "uint8"),
            Modality("said", "text", (4,), "int64", ("<pad>", "<end>", "a", "cat"), 0, end=1),
        )
    )
    views = {
        "word": torch.tensor([2, 0, 1], dtype=torch.uint8),
        "grey": torch.arange(60, dtype=torch.uint8).view(3, 1, 5, 4),
        "said": torch.tensor([[2, 3, 2, 3], [2, 1, 0, 0], [1, 0, 0, 0]]),
    }
    source = ArraySource(spec, Batch(views, {"said": torch.tensor([True, False, True])}))
    source.origin = {"made": "by hand"}
    found = store_shards(source, tmp_path / "a", shard=2, file_format=kind).batch(np.arange(3))
    assert same(counted(found, spec), counted(source.batch(np.arange(3)), spec))


def test_a_text_that_its_string_does_not_tell_is_refused(tmp_path):
    modality = Modality("said", "text", (3,), "int64", ("a", "b c", "b", "c", "<end>"), end=4)
    source = ArraySource(Spec((modality,)), Batch({"said": torch.tensor([[0, 1, 4], [0, 2, 3]])}))
    source.origin = {"made": "by hand"}
    for kind in FOREIGN:
        with pytest.raises(DataError, match="the text a b c is not read back as the symbols"):
            store_shards(source, tmp_path / kind, shard=2, file_format=kind)
        assert not (tmp_path / kind).exists()
    assert len(store_shards(source, tmp_path / "native", shard=2)) == 2


def test_what_a_format_cannot_hold_is_told_before_anything_is_made(tmp_path):
    source = ArraySource(Spec((Modality("image", "image", (3, 4, 4)),)), Batch({"image": torch.zeros(2, 3, 4, 4)}))
    source.origin = {"made": "by hand"}
    for kind in FOREIGN:
        with pytest.raises(SpecError, match="PNG holds uint8 images"):
            store_shards(source, tmp_path / kind, shard=2, file_format=kind)
        assert not (tmp_path / kind).exists()
    label = Modality("word", "label", (), "uint8", ("yes", "yes"))
    source = ArraySource(Spec((label,)), Batch({"word": torch.tensor([0, 1], dtype=torch.uint8)}))
    source.origin = {"made": "by hand"}
    with pytest.raises(SpecError, match="word: expected symbols that differ"):
        store_shards(source, tmp_path / "x", shard=2, file_format="webdataset")
    with pytest.raises(ConfigError, match='did you mean "webdataset"'):
        store_shards(samples(), tmp_path / "x", shard=50, file_format="webdatasets")
    assert not (tmp_path / "x").exists()


def test_parts_in_any_order_give_the_bytes_of_one_process(tmp_path, kind):
    store_shards(samples(), tmp_path / "whole", shard=30, file_format=kind)
    for number in (2, 1):
        found = store_shards(samples(), tmp_path / "parts", shard=30, file_format=kind, part=(number, 2), chunk=7, threads=2)
        assert (found is None) == (number == 2)
    assert content(tmp_path / "parts") == content(tmp_path / "whole")


def test_a_stopped_command_goes_on_and_more_samples_are_added(tmp_path, kind, monkeypatch):
    made, arrays = [], writing._arrays

    def counted_arrays(source, columns, span, *rest):
        made.append(span)
        if len(made) == 2:
            raise KeyboardInterrupt
        return arrays(source, columns, span, *rest)

    monkeypatch.setattr(writing, "_arrays", counted_arrays)
    with pytest.raises(KeyboardInterrupt):
        store_shards(samples(60), tmp_path / "a", shard=30, file_format=kind)
    with pytest.raises(StoreError, match="1 shards, but not all of them: run the same command again"):
        open_stored(tmp_path / "a")
    store_shards(samples(60), tmp_path / "a", shard=30, file_format=kind)
    store_shards(samples(100), tmp_path / "a", shard=30, file_format=kind)
    assert made == [(0, 30), (30, 60), (30, 60), (60, 90), (90, 100)]
    store_shards(samples(100), tmp_path / "b", shard=30, file_format=kind)
    assert content(tmp_path / "a") == content(tmp_path / "b")


def test_formats_are_not_mixed(tmp_path, kind):
    other = next(name for name in FORMATS if name != kind)
    for part in ((1, 2), (1, 1)):
        store_shards(samples(60), tmp_path / "a", shard=30, file_format=kind, part=part)
        before = content(tmp_path / "a")
        with pytest.raises(ConflictError, match=f"holds shards in the format {kind}, not {other}"):
            store_shards(samples(60), tmp_path / "a", shard=30, file_format=other)
        assert content(tmp_path / "a") == before


@pytest.mark.parametrize("damage", ["flip", "cut", "gone", "swap"])
def test_a_damaged_shard_is_named(tmp_path, kind, damage, same):
    store_shards(samples(), tmp_path / "a", shard=30, file_format=kind)
    first, second = sorted((tmp_path / "a").glob(f"*{ENDINGS[kind]}"))[:2]
    data = bytearray(second.read_bytes())
    data[len(data) // 2] ^= 1
    if damage == "gone":
        second.unlink()
    else:
        second.write_bytes({"flip": data, "cut": data[:-600], "swap": first.read_bytes()}[damage])
    stored = ShardedSource(tmp_path / "a")
    assert same(stored.batch(np.arange(5)), samples().batch(np.arange(5)))
    with pytest.raises(CorruptFileError, match=second.name):
        stored.batch(np.array([31]))


def rewritten(folder, change):
    """A folder one of whose shards was changed by somebody who also wrote its checksum and size into the manifest."""
    manifest = Manifest.read(place := NearFolder(folder))
    path = folder / manifest.shards[0].file
    path.write_bytes(change(path.read_bytes()))
    from molyneux.core import store

    shard = replace(manifest.shards[0], bytes=path.stat().st_size, checksum=store.checksum(path))
    replace(manifest, shards=(shard, *manifest.shards[1:])).write(place)
    return ShardedSource(folder)


def archive(files):
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w", format=tarfile.USTAR_FORMAT) as file:
        for name, data in files:
            entry = tarfile.TarInfo(name)
            entry.size = len(data)
            file.addfile(entry, io.BytesIO(data))
    return stream.getvalue()


def members(data):
    with tarfile.open(fileobj=io.BytesIO(data)) as file:
        return {entry.name: file.extractfile(entry).read() for entry in file}


def bomb(data):
    """A picture that says of itself that it is large."""
    stream = io.BytesIO()
    Image.new("RGB", (4000, 4000)).save(stream, "PNG")
    return stream.getvalue()


STRANGE = {
    "an absent file": lambda files: {name: data for name, data in files.items() if name != "000000003.image.png"},
    "another picture": lambda files: files | {"000000003.image.png": bomb(b"")},
    "no picture": lambda files: files | {"000000003.image.png": b"GIF89a" + bytes(30)},
    "a text of other symbols": lambda files: files | {"000000003.text.txt": "ß".encode()},
    "a text of other bytes": lambda files: files | {"000000003.text.txt": b"\xff"},
    "a long text": lambda files: files | {"000000003.text.txt": b"a" * 1000},
    "no record": lambda files: files | {"000000003.json": b"[]"},
    "a broken record": lambda files: files | {"000000003.json": b"{"},
    "another record": lambda files: files | {"000000003.json": b'{"factors": {"shape": "potato"}}'},
    "another file": lambda files: files | {"000000003.exe": b"x"},
    "another number": lambda files: files | {"000000099.json": b"{}"},
    "a name that is no number": lambda files: files | {"three.json": b"{}"},
}


@pytest.mark.parametrize("change", STRANGE)
def test_strange_archives_are_sentences(tmp_path, change):
    store_shards(samples(20), tmp_path / "a", shard=10, file_format="webdataset")
    stored = rewritten(tmp_path / "a", lambda data: archive(STRANGE[change](members(data)).items()))
    with pytest.raises(CorruptFileError, match=r"000000000000-000000000010\.tar is no shard of these samples"):
        stored.batch(np.array([3]))


@pytest.mark.parametrize("change", [lambda data: data[:512] + bytes(20000), lambda data: data[:5120], lambda data: b"x" * 2048])
def test_broken_archives_are_sentences(tmp_path, change):
    store_shards(samples(20), tmp_path / "a", shard=10, file_format="webdataset")
    with pytest.raises(CorruptFileError, match=r"\.tar is no shard of these samples"):
        rewritten(tmp_path / "a", change).batch(np.array([3]))


def changed_table(data, change):
    stream = io.BytesIO()
    pq.write_table(change(pq.read_table(io.BytesIO(data))), stream)
    return stream.getvalue()


@pytest.mark.parametrize(
    "change",
    [
        lambda table: table.slice(0, 9),
        lambda table: table.drop(["text"]),
        lambda table: table.set_column(1, table.field("text"), pyarrow.array(["ß"] * len(table))),
        lambda table: table.set_column(1, table.field("text"), pyarrow.array([None] * len(table), pyarrow.string())),
        lambda table: table.set_column(
            0, table.field("image"), pyarrow.array([{"bytes": b"x", "path": ""}] * len(table), table.field("image").type)
        ),
    ],
)
def test_strange_tables_are_sentences(tmp_path, change):
    store_shards(samples(20), tmp_path / "a", shard=10, file_format="parquet")
    with pytest.raises(CorruptFileError, match=r"\.parquet is no shard of these samples"):
        rewritten(tmp_path / "a", lambda data: changed_table(data, change)).batch(np.array([3]))


def test_lists_of_other_lengths_are_a_sentence(tmp_path, make):
    source, _ = make(6)
    source.origin = {"made": "by hand"}
    store_shards(source, tmp_path / "a", shard=3, file_format="parquet")

    def shorter(table):
        place = table.column_names.index("touch")
        return table.set_column(place, table.field("touch"), pyarrow.array([[[1.0]]] * 3, table.field("touch").type))

    with pytest.raises(CorruptFileError, match="expected lists of 64 numbers"):
        rewritten(tmp_path / "a", lambda data: changed_table(data, shorter)).batch(np.array([2]))


@pytest.mark.parametrize("change", [{"format": "zip"}, {"format": ["native"]}, {"arrays": 3}])
def test_a_manifest_of_another_format_is_refused(tmp_path, change):
    from molyneux.core import store

    store_shards(samples(20), tmp_path / "a", shard=10, file_format="parquet")
    path = tmp_path / "a" / "manifest.json"
    record = json.loads(path.read_text()) | change
    record.pop("checksum")
    path.write_text(json.dumps(record | {"checksum": store.fingerprint(record)}))
    with pytest.raises(CorruptFileError, match=r"manifest\.json is damaged"):
        open_stored(tmp_path / "a")


def test_at_an_address(kind, same):
    address = f"memory://molyneux-tests/{os.urandom(4).hex()}"
    stored = store_shards(samples(40), address, shard=15, file_format=kind)
    rows = np.random.default_rng(0).permutation(40)
    assert same(stored.batch(rows), samples(40).batch(rows))
    fsspec.filesystem("memory").rm(address.removeprefix("memory:/"), recursive=True)


def test_an_export_has_the_files_of_a_shard(tmp_path):
    store_shards(samples(20), tmp_path / "a", shard=20, file_format="webdataset")
    export_webdataset(samples(20), tmp_path / "b", chunk=7)
    assert (tmp_path / "b" / "samples-000000.tar").read_bytes() == (tmp_path / "a" / "000000000000-000000000020.tar").read_bytes()
    with pytest.raises(StoreError, match=r"has no stage\.json"):
        open_stored(tmp_path / "b")


def shape(row):
    return samples(100).spec.factors[0].values[int(samples(100).batch(np.array([row])).factors[0, 0])]


def test_tar_files_follow_the_convention_of_webdataset(tmp_path):
    store_shards(samples(), tmp_path / "a", shard=30, file_format="webdataset")
    groups = {}
    for path in sorted((tmp_path / "a").glob("*.tar")):
        with tarfile.open(path) as file:
            for entry in file:
                key, _, ending = entry.name.partition(".")
                groups.setdefault(key, {})[ending] = file.extractfile(entry).read()
    assert list(groups) == [f"{row:09d}" for row in range(100)]
    batch = samples().batch(np.array([64]))
    found = groups["000000064"]
    assert set(found) == {"image.png", "text.txt", "json"}
    assert np.array_equal(np.asarray(Image.open(io.BytesIO(found["image.png"]))).transpose(2, 0, 1), batch.views["image"][0])
    assert json.loads(found["json"])["factors"][samples().spec.factors[0].name] == shape(64)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # it leaves files open
def test_webdataset_reads_the_shards(tmp_path):
    webdataset = pytest.importorskip("webdataset")
    store_shards(samples(), tmp_path / "a", shard=30, file_format="webdataset")
    paths = [str(path) for path in sorted((tmp_path / "a").glob("*.tar"))]
    read = list(webdataset.WebDataset(paths, shardshuffle=False).decode("pil"))
    assert [sample["__key__"] for sample in read] == [f"{row:09d}" for row in range(100)]
    batch = samples().batch(np.arange(100))
    pictures = np.stack([np.asarray(sample["image.png"]) for sample in read]).transpose(0, 3, 1, 2)
    assert np.array_equal(pictures, batch.views["image"])
    assert read[64]["json"]["factors"][samples().spec.factors[0].name] == shape(64)


def checked_rows(rows):
    """Rows as other tools read them, against the samples."""
    batch = samples().batch(np.arange(100))
    pictures = [np.asarray(Image.open(io.BytesIO(row["image"]["bytes"]))).transpose(2, 0, 1) for row in rows]
    assert np.array_equal(np.stack(pictures), batch.views["image"])
    codes = [[row[factor.name] for factor in samples().spec.factors] for row in rows]
    assert np.array_equal(np.array(codes), batch.factors)


def test_pyarrow_reads_the_shards_as_one_table(tmp_path):
    store_shards(samples(), tmp_path / "a", shard=30, file_format="parquet")
    paths = sorted(map(str, (tmp_path / "a").glob("*.parquet")))
    checked_rows(pyarrow.dataset.dataset(paths).to_table().to_pylist())


def test_datasets_reads_the_shards(tmp_path):
    datasets = pytest.importorskip("datasets")
    store_shards(samples(), tmp_path / "a", shard=30, file_format="parquet")
    paths = sorted(map(str, (tmp_path / "a").glob("*.parquet")))
    read = datasets.load_dataset("parquet", data_files=paths, split="train", cache_dir=str(tmp_path / "cache"))
    factor = samples().spec.factors[0]
    assert read.features[factor.name].names == list(factor.values)
    assert np.array_equal(np.asarray(read[64]["image"]).transpose(2, 0, 1), samples().batch(np.array([64])).views["image"][0])


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # of Ray
def test_ray_data_reads_the_shards(tmp_path):
    ray = pytest.importorskip("ray")
    pytest.importorskip("pandas")  # Ray Data needs it, and nothing else here does
    store_shards(samples(), tmp_path / "a", shard=30, file_format="parquet")
    paths = sorted(map(str, (tmp_path / "a").glob("*.parquet")))
    ray.init(num_cpus=1, include_dashboard=False, logging_level="ERROR", log_to_driver=False)
    try:
        data = import_module("ray.data")
        data.DataContext.get_current().execution_options.preserve_order = True
        checked_rows(data.read_parquet(paths).take_all())
    finally:
        ray.shutdown()


def test_every_format_has_the_same_digests(tmp_path, kind):
    stored, wanted = store_shards(samples(), tmp_path / "a", shard=30, file_format=kind), samples().batch(np.arange(100))
    found = stored.batch(np.arange(100))
    for name in wanted.views:
        assert zlib.crc32(found.views[name].numpy().tobytes()) == zlib.crc32(wanted.views[name].numpy().tobytes())
