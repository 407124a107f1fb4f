"""A template: copy this file, let `my_data` give your own data set, and run it with pytest.

What it asks is what training, measures and judges rely on. Here it runs on small files: arrays, a folder of images, and a table
as the library `datasets` of Hugging Face saves it.
"""

import io
import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import torch
from PIL import Image

from molyneux.core import Dataset
from molyneux.data import ArrayDataset, ImageFolder, TableDataset

NAMES = ("cat", "dog", "owl")
RNG = np.random.default_rng(0)
KIND = RNG.permutation(np.arange(90) % 3)
PIXELS = (RNG.integers(0, 100, (90, 12, 10, 3)) + 60 * KIND[:, None, None, None] // 2).astype(np.uint8)


def arrays(folder):
    """Arrays in a file of NumPy, one row a sample in each."""
    np.savez(folder / "mine.npz", image=PIXELS, text=np.array(NAMES)[KIND], kind=KIND)
    return ArrayDataset(path=folder / "mine.npz", labels=("kind",))


def images(folder):
    """A folder for each class."""
    for number, (pixels, kind) in enumerate(zip(PIXELS, KIND, strict=True)):
        (folder / NAMES[kind]).mkdir(exist_ok=True)
        Image.fromarray(pixels).save(folder / NAMES[kind] / f"{number:03}.png")
    return ImageFolder(path=folder)


def table(folder):
    """A file of Parquet with images, texts and classes with names, as `Dataset.to_parquet` writes it."""
    files = []
    for pixels in PIXELS:
        content = io.BytesIO()
        Image.fromarray(pixels).save(content, "PNG")
        files.append({"bytes": content.getvalue(), "path": None})
    columns = {"image": files, "note": [f"a {NAMES[kind]}" for kind in KIND], "kind": KIND}
    features = {
        "image": {"_type": "Image"},
        "note": {"dtype": "string", "_type": "Value"},
        "kind": {"names": list(NAMES), "_type": "ClassLabel"},
    }
    made = pa.table(columns).replace_schema_metadata({"huggingface": json.dumps({"info": {"features": features}})})
    pq.write_table(made, folder / "train-00000-of-00001.parquet")
    return TableDataset(path=folder, images=("image",), texts=("note",), labels=("kind",))


@pytest.fixture(params=[arrays, images, table], ids=lambda make: make.__name__)
def my_data(request, tmp_path):
    """Your data set: `return TableDataset(path=Path("mine"), ...)`."""
    return request.param(tmp_path)


def whole(dataset, split, seed=0):
    source = dataset.source(split, seed=seed)
    return source.batch(np.arange(len(source)))


def test_every_sample_fits_the_spec(my_data):
    assert isinstance(my_data, Dataset)
    for split, size in my_data.splits.items():
        assert len(whole(my_data, split).check_values(my_data.spec, np.arange(size))) == size > 0


def test_any_order_gives_the_same_bytes(my_data):
    batch, order = whole(my_data, "train", seed=2), RNG.permutation(my_data.splits["train"])
    again = my_data.source("train", seed=2).batch(order).tensors()
    assert all(torch.equal(tensor[torch.from_numpy(order)], again[name]) for name, tensor in batch.tensors().items())


def test_every_label_occurs_in_training(my_data):
    codes = {split: whole(my_data, split).factors for split in my_data.splits}
    for place in range(len(my_data.spec.factors)):
        known = set(codes["train"][:, place].tolist())
        assert all(set(found[:, place].tolist()) <= known | {-1} for found in codes.values())


def test_what_is_read_exactly_is_the_label(my_data):
    for name, reader in my_data.readers().items():
        batch = whole(my_data, "test")
        columns = [my_data.spec.factor_index(factor) for factor in reader.factors]
        assert torch.equal(reader.read(batch.views[name]).codes, batch.factors[:, columns])


def test_no_image_is_in_two_splits(my_data):
    """Where an image may rightly occur twice, such as photographs of one object, divide the samples yourself (`split`)."""
    if "image" not in my_data.spec.names:
        pytest.skip("no modality of this name")
    seen = {split: {view.numpy().tobytes() for view in whole(my_data, split).views["image"]} for split in my_data.splits}
    assert not seen["train"] & seen["test"]
    assert not seen["train"] & seen["validation"]
