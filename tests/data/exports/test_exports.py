"""Every export holds what the source holds, and appears whole or not at all."""

import io
import json
import sys
from dataclasses import replace

import h5py
import numpy as np
import pyarrow.parquet as pq
import pytest
import torch
from PIL import Image

from molyneux.core import Batch, ConfigError, ConflictError, DataError, Factor, Modality, Spec, SpecError, StoreError
from molyneux.data import ArraySource
from molyneux.data.exports import export_hdf5, export_parquet, export_png

EXPORTS = {"hdf5": export_hdf5, "parquet": export_parquet, "png": export_png}
SIZE = 13


@pytest.fixture
def source(make):
    return make(SIZE, masks=True)[0]


@pytest.fixture
def batch(source):
    return source.batch(np.arange(SIZE))


@pytest.fixture(params=EXPORTS)
def export(request):
    return EXPORTS[request.param]


def captions(batch):
    return [("red", "blue")[code] for code in batch.factors[:, 0].tolist()]


def pixels(batch):
    return batch.views["image"].permute(0, 2, 3, 1).numpy()


@pytest.mark.parametrize("order", ["rgb", "bgr"])
def test_hdf5(tmp_path, source, batch, order):
    export_hdf5(source, tmp_path / "a.h5", channel_order=order, chunk=5)
    with h5py.File(tmp_path / "a.h5") as file:
        assert file["image"].dtype == np.uint8
        np.testing.assert_array_equal(file["image"][:], pixels(batch)[..., :: -1 if order == "bgr" else 1])
        assert h5py.check_string_dtype(file["text"].dtype).length is None
        assert [text.decode() for text in file["text"][:]] == captions(batch)
        np.testing.assert_array_equal(file["factors"][:], batch.factors)
        assert list(file["factors"].attrs["names"]) == ["colour", "place"]
        np.testing.assert_array_equal(file["touch"][:], batch.views["touch"])
        np.testing.assert_array_equal(file["present.image"][:], batch.present["image"])
        np.testing.assert_array_equal(file["length.touch"][:], batch.lengths["touch"])
        np.testing.assert_array_equal(file["quantities"][:], batch.quantities)
        np.testing.assert_array_equal(file["target.agrees"][:], batch.targets["agrees"])
        np.testing.assert_array_equal(file["known.BRK.B~101f1962feea"][:], batch.known["BRK.B"])
        assert file.attrs["channel_order"] == order


def test_parquet(tmp_path, source, batch):
    export_parquet(source, tmp_path / "a.parquet", chunk=5)
    table = pq.read_table(tmp_path / "a.parquet")
    assert pq.ParquetFile(tmp_path / "a.parquet").num_row_groups == 3
    rows = table.to_pylist()
    for row, picture, here in zip(rows, pixels(batch), batch.present["image"].tolist(), strict=True):
        assert (row["image"] is None) != here
        if here:
            np.testing.assert_array_equal(np.asarray(Image.open(io.BytesIO(row["image"]["bytes"]))), picture)
    assert [row["text"] for row in rows] == captions(batch)
    assert [row["place"] for row in rows] == batch.factors[:, 1].tolist()
    assert [row["agrees"] for row in rows] == batch.targets["agrees"].tolist()
    assert [row["tags"] for row in rows] == batch.targets["tags"].tolist()
    numbers = zip(batch.targets["BRK.B"].tolist(), batch.known["BRK.B"].tolist(), strict=True)
    assert [row["BRK.B"] for row in rows] == [number if here else None for number, here in numbers]
    assert [row["angle"] is None for row in rows] == batch.quantities.isnan()[:, 0].tolist()
    assert [row["length.touch"] for row in rows] == batch.lengths["touch"].tolist()
    np.testing.assert_array_equal(np.array([row["touch"] for row in rows], dtype=np.float32), batch.views["touch"])
    features = json.loads(table.schema.metadata[b"huggingface"])["info"]["features"]
    assert features["colour"] == {"names": ["red", "blue"], "_type": "ClassLabel"}
    assert features["image"] == {"_type": "Image"}
    number = {"dtype": "float32", "_type": "Value"}
    assert features["touch"] == {"feature": {"feature": number, "_type": "Sequence"}, "_type": "Sequence"}
    assert list(features) == table.column_names


def test_png(tmp_path, source, batch):
    export_png(source, tmp_path / "a", chunk=5)
    lines = [json.loads(line) for line in (tmp_path / "a" / "samples.jsonl").read_text().splitlines()]
    assert len(lines) == SIZE
    for row, line in enumerate(lines):
        picture = line["views"]["image"]
        assert (picture is None) != bool(batch.present["image"][row])
        if picture is not None:
            assert picture == f"image/{row:02d}.png"
            np.testing.assert_array_equal(np.asarray(Image.open(tmp_path / "a" / picture)), pixels(batch)[row])
        code = int(batch.factors[row, 1])
        assert line["factors"]["place"] == (None if code < 0 else ("left", "right", "top")[code])
        assert line["targets"]["agrees"] == ("no", "yes")[int(batch.targets["agrees"][row])]
        assert (line["targets"]["BRK.B"] is None) != bool(batch.known["BRK.B"][row])
        assert line["lengths"] == {"touch": int(batch.lengths["touch"][row])}
        assert (line["quantities"]["angle"] is None) == bool(batch.quantities[row].isnan())
    assert [line["views"]["text"] for line in lines] == captions(batch)
    np.testing.assert_allclose(np.array([line["views"]["touch"] for line in lines]), batch.views["touch"], atol=6e-7)
    assert len(list((tmp_path / "a" / "image").iterdir())) == int(batch.present["image"].sum())
    assert Spec.from_json(json.loads((tmp_path / "a" / "spec.json").read_text())) == source.spec


def test_missing_text_and_series_are_null(tmp_path, source, batch):
    absent = ArraySource(source.spec, batch.observe(["image"]))
    export_parquet(absent, tmp_path / "a.parquet")
    assert pq.read_table(tmp_path / "a.parquet").column("touch").null_count == SIZE
    assert pq.read_table(tmp_path / "a.parquet").column("text").null_count == SIZE
    export_png(absent, tmp_path / "a")
    line = json.loads((tmp_path / "a" / "samples.jsonl").read_text().splitlines()[0])
    assert line["views"] == {"image": "image/00.png", "text": None, "touch": None}


def test_without_factors_and_targets(tmp_path, source, batch, export):
    bare = replace(batch, factors=None, quantities=None, targets={}, known={}, lengths={})
    export(ArraySource(source.spec, bare), tmp_path / "a")
    if export is export_parquet:
        assert pq.read_table(tmp_path / "a").column_names == ["image", "text", "touch"]


def test_same_source_same_bytes(tmp_path, source, export):
    for name in ("a", "b"):
        export(source, tmp_path / name)

    def content(path):
        files = sorted(item for item in path.rglob("*") if item.is_file()) if path.is_dir() else [path]
        return [file.read_bytes() for file in files]

    assert content(tmp_path / "a") == content(tmp_path / "b")


def test_nothing_is_overwritten(tmp_path, source, export):
    (tmp_path / "a").write_text("dear")
    with pytest.raises(ConflictError, match="exists: choose"):
        export(source, tmp_path / "a")
    assert (tmp_path / "a").read_text() == "dear"


def test_a_failure_leaves_nothing(tmp_path, source, batch, export):
    touch = batch.views["touch"].clone()
    touch[9, 3, 0] = torch.nan
    with pytest.raises(DataError, match="touch: expected finite numbers, got NaN or infinity in sample 9"):
        export(ArraySource(source.spec, replace(batch, views={**batch.views, "touch": touch})), tmp_path / "a", chunk=4)
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(ConfigError, match="chunk"):
        export(source, tmp_path / "a", chunk=0)
    (tmp_path / "file").write_text("x")
    with pytest.raises(StoreError, match="a file stands where a folder is needed"):
        export(source, tmp_path / "file" / "a")


def test_progress_counts_samples(tmp_path, source, export):
    counted = []
    export(source, tmp_path / "a", chunk=6, progress=counted.append)
    assert counted == [6, 6, 1]


def test_hdf5_without_h5py(tmp_path, source, monkeypatch):
    monkeypatch.setitem(sys.modules, "h5py", None)
    with pytest.raises(ConfigError, match=r"pip install 'h5py>=3\.11,<4'"):
        export_hdf5(source, tmp_path / "a.h5")
    with pytest.raises(ConfigError, match='did you mean "rgb"'):
        export_hdf5(source, tmp_path / "a.h5", channel_order="rgba")


@pytest.mark.parametrize(("channels", "dtype"), [(2, "uint8"), (3, "float32")])
def test_pictures_that_png_cannot_hold(tmp_path, channels, dtype):
    odd = Spec((Modality("image", "image", (channels, 4, 4), dtype),))
    source = ArraySource(odd, Batch({"image": torch.zeros(2, channels, 4, 4, dtype=getattr(torch, dtype))}))
    for export in (export_parquet, export_png):
        with pytest.raises(SpecError, match="PNG holds uint8 images with 1, 3 or 4 channels"):
            export(source, tmp_path / "a")


def test_grey_pictures(tmp_path):
    grey = torch.randint(0, 256, (2, 1, 4, 4), dtype=torch.uint8, generator=torch.Generator().manual_seed(0))
    export_png(ArraySource(Spec((Modality("image", "image", (1, 4, 4), "uint8"),)), Batch({"image": grey})), tmp_path / "a")
    np.testing.assert_array_equal(np.asarray(Image.open(tmp_path / "a" / "image" / "1.png")), grey[1, 0])


def test_names_that_are_no_file_names_and_names_that_occur_twice(tmp_path, export):
    names = ("a/../../x", "factors", "BRK.B", "brk.b")
    image = Modality(names[0], "image", (1, 4, 4), "uint8")
    spec = Spec((image, *(Modality(name, "tabular", (2,)) for name in names[1:])), (Factor("BRK.B", ("up", "down")),))
    views = {name: torch.full((3, 2), float(number)) for number, name in enumerate(names)}
    views[names[0]] = torch.zeros(3, 1, 4, 4, dtype=torch.uint8)
    export(ArraySource(spec, Batch(views, factors=torch.zeros(3, 1, dtype=torch.int64))), tmp_path / "a")
    assert [path.name for path in tmp_path.iterdir()] == ["a"]
    if export is export_parquet:
        columns = ["a/../../x", "factors", "view.BRK.B", "brk.b", "factor.BRK.B"]
        assert pq.read_table(tmp_path / "a").column_names == columns
    if export is export_hdf5:
        with h5py.File(tmp_path / "a") as file:
            assert set(file) == {"a%2f..%2f..%2fx", "view.factors", "factors", "BRK.B~101f1962feea", "brk.b"}
    if export is export_png:
        assert (tmp_path / "a" / "a%2f..%2f..%2fx" / "2.png").is_file()
