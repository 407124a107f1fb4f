"""PolyMNIST against a loop over samples that follows the published recipe, and the bytes of the real data."""

import gzip
import hashlib
import os

import numpy as np
import pytest
import torch
from PIL import Image

from molyneux.core import ConfigError, DataError, StoreError, seeds
from molyneux.data import PolyMNIST, PublishedPolyMNIST
from molyneux.data.benchmarks.digits.samples import dealt, matched
from molyneux.data.benchmarks.polymnist import procedural_backgrounds

REAL = {
    "plain train": "1126f8be064563f4",
    "plain validation": "6119eb3a02e44ff9",
    "plain test": "92017c7bb9f9962d",
    "small test": "4982f191932780f2",
}
"""Checksums of all tensors of 100 samples of the real data, as published and with small digits."""


def idx(path, axes):
    content = gzip.decompress(path.read_bytes())
    shape = [int.from_bytes(content[4 * axis : 4 * axis + 4], "big") for axis in range(1, 1 + axes)]
    return np.frombuffer(content, np.uint8, offset=4 * (1 + axes)).reshape(shape)


def files(dataset):
    """Images and classes of both parts, one after the other."""
    found = [idx(dataset.folder / name, 3 if "images" in name else 1) for name in dataset.files]
    return np.concatenate(found[::2]), np.concatenate(found[1::2])


@pytest.mark.parametrize("scale", [1.0, 0.75])
def test_images_are_those_of_a_loop_over_samples(twin, whole, scale):
    folder = twin("PolyMNIST").folder
    dataset = PolyMNIST(folder, modalities=3, scale=scale, pairing_seed=4)
    images, labels = files(dataset)
    side = int(28 * scale)
    digits = [shrunk(image, scale) for image in images]
    for split in dataset.splits:
        batch, rows = whole(dataset, split), dataset._samples.rows[split]
        assert (batch.factors[:, 0].numpy() == labels[rows]).all()
        assert torch.equal(batch.targets["label"], batch.factors[:, 0])
        draws = seeds.uniforms(seeds.key(4, "polymnist-v1", "places"), rows, 12).reshape(-1, 3, 4)
        for number in range(3):
            background = procedural_backgrounds()[number]
            used = []
            for place, row in enumerate(rows):
                y, x, down, across = draws[place, number]
                top, left = int(y * (background.shape[1] - 28)), int(x * (background.shape[2] - 28))
                square = background[:, top : top + 28, left : left + 28]
                shown = batch.views[f"m{number}"][place].numpy()
                inverted = (shown != square).all(0)
                assert (np.where(inverted, 255 - square, square) == shown).all()
                window = inverted[int(down * (28 - side)) :, int(across * (28 - side)) :][:side, :side]
                assert window.sum() == inverted.sum()
                differ = {other: (digits[other] != window).sum() for other in rows[labels[rows] == labels[row]]}
                used.append(min(differ, key=differ.get))
                assert differ[used[-1]] <= (scale < 1), "the ink is of no image of the class"
            assert sorted(used) == sorted(rows.tolist())  # each handwriting is in one sample


def shrunk(image, scale):
    """Which pixels a digit covers, shrunk bilinearly by hand."""
    if scale == 1:
        return image > 128
    places = (np.arange(int(28 * scale)) + 0.5) / scale - 0.5
    weights = np.maximum(0, 1 - np.abs(places[:, None] - np.arange(28)))
    return weights @ image @ weights.T > 128


def test_handwriting_differs_between_modalities_and_pairing_seeds(twin):
    folder = twin("PolyMNIST").folder
    one, other = (PolyMNIST(folder, pairing_seed=seed).source("train", 60).batch(np.arange(60)) for seed in (0, 1))
    assert torch.equal(one.factors, other.factors)
    digits = [(one.views[name] != one.views[name].flatten(2).mode(2).values[..., None, None]).any(1) for name in one.views]
    assert all(not torch.equal(digits[0], digit) for digit in digits[1:])
    assert not torch.equal(one.views["m0"], other.views["m0"])
    fewer = PolyMNIST(folder, modalities=3).source("train", 60).batch(np.arange(60))
    assert fewer.views.keys() == {"m0", "m1", "m2"}


def test_inversion_is_visible_everywhere():
    pictures = procedural_backgrounds()
    assert len(pictures) == 10
    for picture in pictures:
        assert np.abs(255 - 2 * picture.astype(int)).min() >= 15
        assert picture.reshape(3, -1).std(1).max() > 10  # it is a texture, no plain colour
    means = np.array([picture.reshape(3, -1).mean(1) for picture in pictures])
    assert min(np.abs(a - b).max() for i, a in enumerate(means) for b in means[:i]) > 5


def test_given_pictures_are_the_backgrounds(twin, tmp_path):
    rng = np.random.default_rng(0)
    pixels = [rng.integers(0, 256, (40, 50, 3), dtype=np.uint8) for _ in range(3)]
    for number, picture in enumerate(pixels):
        Image.fromarray(picture).save(tmp_path / f"{number}.png")
    folder = twin("PolyMNIST").folder
    dataset = PolyMNIST(folder, modalities=2, backgrounds=tmp_path)
    shown = dataset.source("test", 5).batch(np.arange(5)).views["m1"].numpy().astype(int)
    colours = {tuple(pixel) for pixel in pixels[1].reshape(-1, 3)} | {tuple(255 - pixel) for pixel in pixels[1].reshape(-1, 3)}
    assert {tuple(pixel) for pixel in shown.transpose(0, 2, 3, 1).reshape(-1, 3)} <= colours
    assert dataset.settings["backgrounds"] != str(tmp_path)
    before = dataset.settings["backgrounds"]
    Image.fromarray(255 - pixels[0]).save(tmp_path / "0.png")
    assert dataset.settings["backgrounds"] != before
    with pytest.raises(DataError, match="at least 4 pictures, one for each modality, got 3"):
        _ = PolyMNIST(folder, modalities=4, backgrounds=tmp_path).spec
    Image.fromarray(pixels[0][:28]).save(tmp_path / "0.png")
    with pytest.raises(DataError, match=r"0\.png: expected a picture of at least 29 pixels a side, got \(28, 50\)"):
        _ = PolyMNIST(folder, modalities=2, backgrounds=tmp_path).spec
    with pytest.raises(StoreError, match="expected a folder with pictures"):
        _ = PolyMNIST(folder, backgrounds=tmp_path / "absent").spec


def test_settings_that_cannot_be_used_are_told_at_once(tmp_path):
    with pytest.raises(ConfigError) as caught:
        PolyMNIST(tmp_path, modalities=11, scale=0.1)
    assert [problem.partition(":")[0] for problem in caught.value.problems] == ["modalities", "scale"]


def test_published_images_and_tensors_are_the_same_samples(twin, whole, tmp_path):
    dataset = twin("PublishedPolyMNIST")
    for part in ("train", "test"):
        (tmp_path / part).mkdir()
        names = sorted(
            (path.name for path in (dataset.folder / part / "m0").iterdir()),
            key=lambda name: [int(part) for part in name.split(".")[1::-1]],
        )
        torch.save(torch.tensor([int(name.split(".")[1]) for name in names]), tmp_path / part / "labels.pt")
        for place in range(3):
            pixels = [np.asarray(Image.open(dataset.folder / part / f"m{place}" / name)) for name in names]
            stored = torch.from_numpy(np.stack(pixels)).permute(0, 3, 1, 2).float() / 255
            torch.save(stored, tmp_path / part / f"m{place}.pt")
    other = PublishedPolyMNIST(tmp_path)
    for split in dataset.splits:
        first, second = whole(dataset, split), whole(other, split)
        assert first.tensors().keys() == second.tensors().keys()
        order = [
            sorted(zip(batch.factors[:, 0].tolist(), batch.views["m0"].sum((1, 2, 3)).tolist(), strict=True))
            for batch in (first, second)
        ]
        assert order[0] == order[1], split
    labels = {split: whole(dataset, split).factors[:, 0] for split in dataset.splits}
    assert all(len(torch.unique(found)) == 10 for found in labels.values())


def test_published_images_that_do_not_belong_together_are_named(twin, tmp_path):
    import shutil

    shutil.copytree(twin("PublishedPolyMNIST").folder, tmp_path / "copy")
    (tmp_path / "copy/train/m1/0.3.png").unlink()
    with pytest.raises(DataError, match=r"train/m1: expected the images that m0 has, got others, such as 0\.3\.png"):
        _ = PublishedPolyMNIST(tmp_path / "copy").spec
    for number in range(3):
        (tmp_path / f"copy/train/m{number}/0.3.png").unlink(missing_ok=True)
        (tmp_path / f"copy/train/m{number}/three.png").write_bytes(b"")
    with pytest.raises(DataError, match=r"expected images named N\.LABEL\.png, got three\.png"):
        _ = PublishedPolyMNIST(tmp_path / "copy").spec


def test_what_is_dealt_out_is_of_the_class_and_used_in_turn():
    rng = np.random.default_rng(0)
    labels, others = rng.integers(0, 4, 500), rng.integers(-1, 4, 60)
    found = dealt(labels, others, seed=1, names=("x",), what="things")
    assert (others[found] == labels).all()
    for number in range(4):
        counts = np.bincount(found[labels == number], minlength=60)[others == number]
        assert counts.max() - counts.min() <= 1
    assert (found != dealt(labels, others, seed=2, names=("x",), what="things")).any()
    with pytest.raises(DataError, match="things: expected at least one of class 3, got none"):
        dealt(labels, np.where(others == 3, 0, others), seed=1, names=("x",), what="things")


def test_pairs_use_every_image_once_in_a_round():
    rng = np.random.default_rng(1)
    first, second = rng.integers(0, 3, 90), rng.integers(0, 3, 200)
    left, right = matched(first, second, rounds=4, most=25, seed=0, names=("x",))
    assert (first[left] == second[right]).all()
    sizes = [min((first == number).sum(), (second == number).sum(), 25) for number in range(3)]
    assert len(left) == 4 * sum(sizes)
    start = 0
    for number, size in enumerate(sizes):
        for _ in range(4):
            part = slice(start, start + size)
            assert sorted(left[part]) == sorted(np.flatnonzero(first == number)[:size])
            assert sorted(right[part]) == sorted(np.flatnonzero(second == number)[:size])
            start += size
    assert (matched(first, second, rounds=4, most=25, seed=1, names=("x",))[1] != right).any()
    assert len(matched(np.zeros(3, int), np.ones(3, int), rounds=2, most=9, seed=0, names=("x",))[0]) == 0


@pytest.mark.kernels
@pytest.mark.realdata
@pytest.mark.skipif("MOLYNEUX_DATA" not in os.environ, reason="MOLYNEUX_DATA is not set")
def test_the_bytes_of_the_real_data_stay_as_they_are():
    """A change of bytes is a new version of the data set."""
    found = {}
    for name, dataset, splits in (
        ("plain", PolyMNIST(), ("train", "validation", "test")),
        ("small", PolyMNIST(modalities=2, scale=0.75), ("test",)),
    ):
        assert dataset.splits == {"train": 55_000, "validation": 5_000, "test": 10_000}
        for split in splits:
            digest = hashlib.blake2b(digest_size=8)
            for tensor in dataset.rows(np.arange(0, 5_000, 50), split).tensors().values():
                digest.update(tensor.contiguous().numpy().tobytes())
            found[f"{name} {split}"] = digest.hexdigest()
    assert found == REAL
