"""Samples of the twins against their files, read by other means; what files must not hold."""

import gzip
import shutil
from pathlib import Path

import numpy as np
import pytest
import scipy.io
import torch
from PIL import Image

from molyneux.core import ConfigError, DataError, StoreError, views
from molyneux.data import CUB, MHD, MNIST, MNISTSVHN, CelebA, FashionMNIST, Sprites
from molyneux.data.benchmarks.bases.file_benchmark import last_twelfth_of_classes
from molyneux.data.benchmarks.celeba import DISTINCTIVE, NAMES
from molyneux.data.benchmarks.digits.samples import WORDS


@pytest.fixture
def copied(twin, tmp_path):
    """A copy of a twin that may be changed, and its folder."""

    def copy(name):
        shutil.copytree(twin(name).folder, tmp_path / name)
        return type(twin(name))(tmp_path / name), tmp_path / name

    return copy


@pytest.mark.parametrize("kind", [MNIST, FashionMNIST])
def test_images_have_their_labels_as_modality_factor_and_target(twin, whole, kind):
    dataset = twin(kind.__name__)
    content = gzip.decompress((dataset.folder / "t10k-labels-idx1-ubyte.gz").read_bytes())[8:]
    batch = whole(dataset, "test")
    assert batch.views["label"].tolist() == list(content) == batch.factors[:, 0].tolist() == batch.targets["label"].tolist()
    pixels = gzip.decompress((dataset.folder / "t10k-images-idx3-ubyte.gz").read_bytes())[16:]
    assert batch.views["image"].numpy().tobytes() == pixels
    assert len(dataset.spec.factor("label").values) == 10
    assert torch.equal(dataset.readers()["label"].read(batch.views["label"]).codes, batch.factors)


def test_files_without_compression_are_read(copied, whole):
    dataset, folder = copied("FashionMNIST")
    expected = whole(dataset, "train")
    for path in folder.iterdir():
        path.with_suffix("").write_bytes(gzip.decompress(path.read_bytes()))
        path.unlink()
    plain = FashionMNIST(folder)
    assert all(not name.endswith(".gz") for name in plain.settings["files"])
    assert torch.equal(whole(plain, "train").views["image"], expected.views["image"])
    (folder / "train-labels-idx1-ubyte").unlink()
    with pytest.raises(StoreError, match=r"which lacks train-labels-idx1-ubyte\.gz: .*github\.com/zalandoresearch"):
        _ = FashionMNIST(folder).splits


@pytest.mark.parametrize("text", [False, True])
def test_pairs_of_digits_are_of_one_class_and_of_one_part(twin, whole, text):
    folder = twin("MNISTSVHN").folder
    dataset = MNISTSVHN(folder, rounds=3, text=text)
    photos = {part: scipy.io.loadmat(folder / f"svhn/{part}_32x32.mat") for part in ("train", "test")}
    known = {
        part: {
            found["X"][..., row].transpose(2, 0, 1).tobytes(): int(found["y"][row, 0]) % 10 for row in range(found["X"].shape[-1])
        }
        for part, found in photos.items()
    }
    seen = {}
    for split in dataset.splits:
        batch, part = whole(dataset, split), "test" if split == "test" else "train"
        labels = batch.factors[:, 0].tolist()
        assert [known[part][image.tobytes()] for image in batch.views["svhn"].numpy()] == labels
        seen[split] = {image.tobytes() for image in batch.views["svhn"].numpy()}
        counts = np.unique([image.tobytes() for image in batch.views["mnist"].numpy()], return_counts=True)[1]
        assert set(counts.tolist()) == {3}  # once in each round
        if text:
            shown = views.text_strings(dataset.spec.modality("text"), batch.views["text"])
            assert [line.strip() for line in shown] == [WORDS[label] for label in labels]
            assert (batch.views["text"][:, -1] == 0).all()  # as published, the last place stays free
            assert len({len(line) - len(line.strip()) for line in shown}) > 1
            assert torch.equal(dataset.readers()["text"].read(batch.views["text"]).codes, batch.factors)
        else:
            assert not dataset.readers()
    assert not seen["train"] & seen["validation"]
    with pytest.raises(ConfigError, match="rounds: expected at least 1"):
        MNISTSVHN(folder, rounds=0)


def test_photographs_that_cannot_be_used_are_named(copied):
    _, folder = copied("MNISTSVHN")
    path = folder / "svhn/train_32x32.mat"
    for content, words in (
        ({"X": np.zeros((32, 32, 3, 4), np.uint8)}, r"expected the keys X, y"),
        ({"X": np.zeros((32, 32, 4), np.uint8), "y": np.ones((4, 1))}, r"X: expected numbers of shape \(32, 32, 3, any\)"),
        ({"X": np.zeros((32, 32, 3, 4)), "y": np.ones((4, 1))}, r"X: expected bytes, got float64"),
        ({"X": np.zeros((32, 32, 3, 4), np.uint8), "y": np.full((4, 1), 11)}, r"y: expected labels 0\.\.10, got 11"),
    ):
        scipy.io.savemat(path, content)
        with pytest.raises(DataError, match=words):
            _ = MNISTSVHN(folder).spec
    path.write_bytes(b"no such file")
    with pytest.raises(DataError, match=r"train_32x32\.mat: expected a file of MATLAB"):
        _ = MNISTSVHN(folder).spec
    path.unlink()
    with pytest.raises(StoreError, match=r"lacks svhn/train_32x32\.mat: .*ufldl\.stanford\.edu.*nothing is downloaded"):
        _ = MNISTSVHN(folder).spec


@pytest.mark.parametrize("attributes", ["distinctive", "all"])
def test_faces_have_their_attributes(twin, whole, attributes):
    folder = twin("CelebA").folder
    dataset = CelebA(folder, attributes=attributes, image_size=178)
    used = NAMES if attributes == "all" else DISTINCTIVE
    assert len(used) == (40 if attributes == "all" else 18)
    head, *rows = (folder / "list_attr_celeba.txt").read_text().splitlines()[1:]
    table = {row.split()[0]: dict(zip(head.split(), map(int, row.split()[1:]), strict=True)) for row in rows}
    parts = dict(row.split() for row in (folder / "list_eval_partition.txt").read_text().splitlines())
    for number, split in enumerate(dataset.splits):
        batch, names = whole(dataset, split), [name for name, part in parts.items() if int(part) == number]
        assert batch.views["attributes"].tolist() == [[int(table[name][item] == 1) for item in used] for name in names]
        assert torch.equal(batch.factors, batch.views["attributes"].long())
        assert torch.equal(batch.targets["attributes"], batch.views["attributes"])
        read = dataset.readers()["attributes"].read(batch.views["attributes"])
        assert (read.factors, torch.equal(read.codes, batch.factors)) == (used, True)
        shown = np.asarray(Image.open(folder / "img_align_celeba" / names[0]))[20:198]
        assert (batch.views["image"][0].numpy() == shown.transpose(2, 0, 1)).all()


def test_faces_lie_in_the_folders_of_their_owners_too(copied, whole):
    dataset, folder = copied("CelebA")
    expected = whole(dataset, "test")
    for name, inner in (("list_attr_celeba.txt", "Anno"), ("list_eval_partition.txt", "Eval"), ("img_align_celeba", "Img")):
        (folder / inner).mkdir()
        (folder / name).rename(folder / inner / name)
    assert torch.equal(whole(CelebA(folder), "test").views["image"], expected.views["image"])
    (folder / "Img/img_align_celeba").rename(folder / "elsewhere")
    with pytest.raises(StoreError, match=r"expected the image .*\.jpg, which is not there: put there .*mmlab"):
        whole(CelebA(folder), "test")
    path = folder / "Anno/list_attr_celeba.txt"
    lines = path.read_text().splitlines()
    path.write_text("\n".join([*lines[:5], lines[5].replace(" -1", " 7", 1), *lines[6:]]))
    with pytest.raises(DataError, match=r"line 6: expected the numbers 1 and -1, got 7"):
        _ = CelebA(folder, attributes="all").spec
    path.write_text("\n".join([*lines[:4], lines[4][:-3], *lines[5:]]))
    with pytest.raises(DataError, match=r"line 5: expected a file and 40 numbers"):
        _ = CelebA(folder).spec
    path.write_text("\n".join([lines[0], lines[1].replace("Smiling", "Frowning"), *lines[2:]]))
    with pytest.raises(DataError, match=r"line 2: expected the names of the attributes with Smiling"):
        _ = CelebA(folder).spec
    with pytest.raises(ConfigError) as caught:
        CelebA(folder, attributes="some", image_size=0)
    assert len(caught.value.problems) == 2


def test_birds_have_their_captions_and_captions_stay_in_one_split(twin, whole):
    folder = twin("CUB").folder
    dataset = CUB(folder, captions=4, cropped=False)
    images = dict(row.split() for row in (folder / "images.txt").read_text().splitlines())
    trains = dict(row.split() for row in (folder / "train_test_split.txt").read_text().splitlines())
    captions = {
        number: (folder / "text" / Path(name).with_suffix(".txt")).read_text().splitlines()[:4] for number, name in images.items()
    }
    total, texts = 0, {}
    for split in dataset.splits:
        batch = whole(dataset, split)
        shown = views.text_strings(dataset.spec.modality("text"), batch.views["text"])
        texts[split] = sorted(shown)
        kinds = [dataset.spec.factor("label").values[code] for code in batch.factors[:, 0]]
        assert all(("black", "white", "grey")[int(kind[:3]) - 1] in text for kind, text in zip(kinds, shown, strict=True))
        total += len(batch)
        if split == "test":
            numbers = [number for number in images if trains[number] == "0"]
            expected = [" ".join(line.replace(",", " ,").replace(".", " .").split()) for n in numbers for line in captions[n]]
            assert shown == expected
            pixels = np.asarray(Image.open(folder / "images" / images[numbers[0]]).resize((64, 64), Image.Resampling.LANCZOS))
            assert (batch.views["image"][3].numpy() == pixels.transpose(2, 0, 1)).all()
    assert total == 4 * len(images)
    assert all(size % 4 == 0 for size in dataset.splits.values())
    with pytest.raises(ConfigError) as caught:
        CUB(folder, captions=11, image_size=0, words=0)
    assert len(caught.value.problems) == 3


def test_birds_are_cut_out_around_their_boxes(twin, whole):
    from molyneux.data.benchmarks.cub import _square

    assert _square(5, 6, 30, 20) == (20 - 22, 16 - 22, 20 + 22, 16 + 22)
    cut, full = (whole(CUB(twin("CUB").folder, cropped=cropped), "test").views["image"] for cropped in (True, False))
    assert not torch.equal(cut, full)


def test_files_of_birds_that_lack_something_are_named(copied):
    _, folder = copied("CUB")
    text = next(folder.glob("text/*/*.txt"))
    text.write_text("\n".join(text.read_text().splitlines()[:2]))
    with pytest.raises(DataError, match=r"\.txt: expected 10 captions, got 2"):
        _ = CUB(folder).spec
    text.unlink()
    with pytest.raises(StoreError, match=r"expected the file .*\.txt, which is not there: put there CUB_200_2011"):
        _ = CUB(folder).spec
    table = folder / "bounding_boxes.txt"
    lines = table.read_text().splitlines()
    table.write_text("\n".join(lines[1:]))
    with pytest.raises(DataError, match=r"bounding_boxes\.txt: expected a line for every image"):
        _ = CUB(folder).spec
    table.write_text("\n".join([lines[0][:-5], *lines[1:]]))
    with pytest.raises(DataError, match=r"bounding_boxes\.txt, line 1: expected 5 words, got 4"):
        _ = CUB(folder).spec


def test_figures_are_those_of_the_files(twin, whole):
    dataset = twin("Sprites")
    assert dataset.spec.modality("frames").shape == (8, 3, 64, 64)
    moves = dataset.spec.factor("move").values
    for split, part in (("train", "train"), ("test", "test")):
        batch = whole(dataset, split)
        for move in range(9):
            rows = (batch.views["move"] == move).nonzero()[:, 0]
            name = moves[move].replace(" ", "_")
            frames = np.load(dataset.folder / f"{name}_frames_{part}.npy")[: len(rows)]
            codes = np.load(dataset.folder / f"{name}_attributes_{part}.npy")[: len(rows), 0].argmax(2)
            assert (batch.views["frames"][rows].numpy().transpose(0, 1, 3, 4, 2) == np.rint(255 * frames)).all()
            assert (batch.views["attributes"][rows].numpy() == codes).all()
            assert (batch.factors[rows, :4].numpy() == codes).all()
        assert torch.equal(batch.factors[:, 4], batch.targets["move"])
        for name, reader in dataset.readers().items():
            columns = [dataset.spec.factor_index(factor) for factor in reader.factors]
            assert torch.equal(reader.read(batch.views[name]).codes, batch.factors[:, columns])
            assert dataset.visible(name) == reader.factors
    assert len(dataset.visible("frames")) == 5


def test_figures_in_bytes_and_in_the_owners_folder_are_the_same(copied, whole):
    dataset, folder = copied("Sprites")
    expected = whole(dataset, "validation")
    (folder / "npy").mkdir()
    for path in list(folder.glob("*.npy")):
        found = np.load(path)
        np.save(folder / "npy" / path.name, np.rint(255 * found).astype(np.uint8) if "frames" in path.name else found[:, 0])
        path.unlink()
    again = whole(Sprites(folder), "validation")
    assert all(torch.equal(tensor, again.tensors()[name]) for name, tensor in expected.tensors().items())
    path = folder / "npy/walk_front_attributes_train.npy"
    np.save(path, np.zeros_like(np.load(path)))
    with pytest.raises(DataError, match=r"walk_front_attributes_train\.npy: expected one value at each place"):
        _ = Sprites(folder).spec


def test_four_modalities_of_digits_are_those_of_the_file(twin, whole):
    dataset = twin("MHD")
    labels, images, trajectories, sounds, *_ = torch.load(dataset.folder / "mhd_test.pt", weights_only=False)
    batch = whole(dataset, "test")
    assert torch.equal(batch.views["label"], labels)
    assert torch.equal(batch.views["image"], images)
    assert torch.equal(batch.views["trajectory"], trajectories)
    for block in range(3):
        part = batch.views["sound"][:, 0, :, 32 * block : 32 * block + 32]
        assert torch.equal(part, sounds[:, block].transpose(1, 2))
    assert torch.equal(dataset.readers()["label"].read(batch.views["label"]).codes, batch.factors)


class Evil:
    def __reduce__(self):
        return print, ("run",)


def test_files_of_four_modalities_run_no_code(copied):
    _, folder = copied("MHD")
    path = folder / "mhd_train.pt"
    found = torch.load(path, weights_only=False)
    for content, error, words in (
        (
            (Evil(), *found[1:]),
            StoreError,
            r"mhd_train\.pt: expected tensors and plain containers, got a file that names .*print",
        ),
        (found[:2], DataError, r"expected a tuple of labels \(N,\)"),
        ((found[0] + 9, *found[1:]), DataError, r"expected labels 0\.\.9"),
        ((*found[:2], found[2][:, :100], *found[3:]), DataError, r"trajectories: expected numbers of shape \(\d+, 200\)"),
    ):
        torch.save(content, path)
        with pytest.raises(error, match=words):
            _ = MHD(folder).spec
    path.write_bytes(b"nothing")
    with pytest.raises((DataError, StoreError), match=r"mhd_train\.pt: expected"):
        _ = MHD(folder).spec


def test_the_last_twelfth_of_each_class_validates():
    classes = np.random.default_rng(0).integers(0, 3, 400)
    trains = np.arange(400) < 300
    rows = last_twelfth_of_classes(classes, trains)
    assert sorted(np.concatenate(list(rows.values())).tolist()) == list(range(400))
    for number in range(3):
        own = np.flatnonzero(trains & (classes == number))
        held = rows["validation"][classes[rows["validation"]] == number]
        assert held.tolist() == own[len(own) - len(own) // 12 :].tolist()
    assert rows["test"].tolist() == list(range(300, 400))
    few = last_twelfth_of_classes(np.zeros(4, int), np.array([True, True, True, False]))
    assert {split: found.tolist() for split, found in few.items()} == {"train": [0, 1], "validation": [2], "test": [3]}
