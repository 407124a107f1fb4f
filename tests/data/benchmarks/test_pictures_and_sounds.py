"""ENRICO, Kinetics, MM-IMDb, AV-MNIST, Clotho and Yummly: what is served is what lies in the files, in the published splits."""

import pickle
import random
import shutil

import h5py
import numpy as np
import pytest
import torch
from PIL import Image

from molyneux.core import ConfigError, DataError, StoreError
from molyneux.data import ENRICO, Clotho, KineticsSmall, MMIMDb, PublishedAVMNIST, Yummly, write_twin


def whole(dataset, split):
    return dataset.rows(np.arange(dataset.splits[split]), split)


@pytest.fixture
def copied(twins, tmp_path):
    """Gives a copy of a twin, whose files a test may change."""

    def copy(name):
        shutil.copytree(twins[name].folder, tmp_path / name)
        return type(twins[name])(tmp_path / name), tmp_path / name

    return copy


def test_enrico_tests_on_its_test_split(twins):
    """The published loaders for testing served the training split."""
    dataset = twins["ENRICO"]
    lines = (dataset.folder / "design_topics.csv").read_text().splitlines()[1:]
    screens = [line.split(",") for line in lines if line[:5] != "50105"]
    assert len(screens) == len(lines) - 1
    order = list(range(len(screens)))
    random.Random(42).shuffle(order)
    cuts = (int(len(screens) * 0.65), int(len(screens) * (0.65 + 0.15)))
    topics = sorted({topic for _, topic in screens})
    for split, rows in {"train": order[: cuts[0]], "validation": order[cuts[0] : cuts[1]], "test": order[cuts[1] :]}.items():
        batch = whole(dataset, split)
        assert batch.targets["topic"].tolist() == [topics.index(screens[row][1]) for row in rows]
        screen = screens[rows[-1]][0]
        with Image.open(dataset.folder / "screenshots" / f"{screen}.jpg") as image:
            wanted = np.asarray(image.convert("RGB").resize((128, 256), Image.Resampling.LANCZOS)).transpose(2, 0, 1)
        np.testing.assert_array_equal(batch.views["screenshot"][-1], wanted)


def test_the_published_number_of_screens_gives_the_published_splits():
    assert (int(1458 * 0.65), int(1458 * (0.65 + 0.15)) - int(1458 * 0.65), 1458 - int(1458 * (0.65 + 0.15))) == (947, 219, 292)


def test_enrico_files_that_are_something_else_are_refused(copied):
    dataset, folder = copied("ENRICO")
    (folder / "wireframes" / "1005.png").unlink()
    with pytest.raises(StoreError, match=r"1005\.png, which is not there: .*github.com/luileito/enrico.*licence: MIT"):
        for split in dataset.splits:
            whole(dataset, split)
    (folder / "design_topics.csv").write_text("screen_id,name\n1,a\n")
    with pytest.raises(DataError, match="expected the columns screen_id and topic, got screen_id, name without topic"):
        _ = ENRICO(folder).splits
    (folder / "design_topics.csv").write_text("screen_id,topic\n1,a\n2,\n")
    with pytest.raises(DataError, match="expected a topic for each screen, got none for '2'"):
        _ = ENRICO(folder).splits
    with pytest.raises(ConfigError, match="image_size"):
        ENRICO(image_size=(0, 3))


def test_films_are_ranges_of_rows(twins):
    dataset = twins["MMIMDb"]
    cuts = [0, 60 * 15552 // 25959, 60 * 18160 // 25959, 60]
    with h5py.File(dataset.folder / "multimodal_imdb.hdf5") as file:
        for number, split in enumerate(dataset.splits):
            batch, own = whole(dataset, split), slice(cuts[number], cuts[number + 1])
            np.testing.assert_array_equal(batch.views["text"], file["features"][own])
            np.testing.assert_array_equal(batch.views["image"], file["vgg_features"][own])
            np.testing.assert_array_equal(batch.targets["genres"], file["genres"][own])
            posters = whole(MMIMDb(dataset.folder, picture="poster"), split)
            np.testing.assert_array_equal(posters.views["image"], file["images"][own])
    assert posters.views["image"].dtype == torch.uint8
    assert (25959 * 15552 // 25959, 25959 * 18160 // 25959) == (15552, 18160)


def test_chunked_files_are_read_too(copied):
    dataset, folder = copied("MMIMDb")
    wanted = whole(dataset, "test")
    with h5py.File(folder / "multimodal_imdb.hdf5", "r+") as file:
        values = file["features"][:]
        del file["features"]
        file.create_dataset("features", data=values, chunks=(7, 50), compression="gzip")
    assert whole(MMIMDb(folder), "test").views["text"].equal(wanted.views["text"])


@pytest.mark.parametrize(
    ("name", "values", "complaint"),
    [
        (
            "features",
            np.zeros((60, 200), np.float32),
            r"expected 'features' as numbers of shape \(60, 300\), got float32 \(60, 200\)",
        ),
        ("genres", np.full((60, 23), 2), "genres: expected 0 or 1, got 2 in sample"),
        ("genres", None, "expected a data set 'genres', got none"),
        ("vgg_features", np.full((60, 4096), np.nan, np.float32), "features: expected finite numbers, got nan in sample"),
    ],
)
def test_film_files_that_are_something_else_are_refused(name, values, complaint, copied):
    _, folder = copied("MMIMDb")
    with h5py.File(folder / "multimodal_imdb.hdf5", "r+") as file:
        del file[name]
        if values is not None:
            file[name] = values
    with pytest.raises(DataError, match=complaint):
        whole(MMIMDb(folder), "train")


def test_film_settings():
    with pytest.raises(ConfigError) as caught:
        MMIMDb(picture="posters", genres=("Drama",))
    assert len(caught.value.problems) == 2


def test_digits_of_any_number_are_read(twins, copied):
    dataset = twins["PublishedAVMNIST"]
    arrays = {
        path: np.load(dataset.folder / f"{path}.npy")
        for path in ("image/train_data", "audio/train_data", "train_labels", "audio/test_data")
    }
    count = len(arrays["train_labels"])
    cut = count - count // 12
    train, validation = whole(dataset, "train"), whole(dataset, "validation")
    np.testing.assert_allclose(
        train.views["image"].reshape(cut, -1), arrays["image/train_data"][:cut].astype(np.float32) / 255, rtol=1e-6
    )
    np.testing.assert_array_equal(validation.views["audio"][:, 0], arrays["audio/train_data"][cut:])
    assert validation.targets["label"].tolist() == arrays["train_labels"][cut:].tolist()
    np.testing.assert_array_equal(whole(dataset, "test").views["audio"][:, 0], arrays["audio/test_data"])
    _, folder = copied("PublishedAVMNIST")
    for part in ("train", "test"):
        path = folder / "image" / f"{part}_data.npy"
        np.save(path, np.load(path).astype(np.uint8))
    whole_numbers = PublishedAVMNIST(folder)
    assert whole_numbers.spec.modality("image").dtype == "uint8"
    np.testing.assert_array_equal(whole(whole_numbers, "train").views["image"].reshape(cut, -1), arrays["image/train_data"][:cut])


def test_the_last_5000_of_60000_digits_validate():
    assert 60_000 * 5_000 // 60_000 == 5_000


@pytest.mark.parametrize(
    ("name", "change", "complaint"),
    [
        ("image/train_data", lambda found: found[:, :700], r"expected numbers of shape \(any, 784\), got \(52, 700\)"),
        ("audio/test_data", lambda found: found[:3], r"expected numbers of shape \(8, 112, 112\), got \(3, 112, 112\)"),
        ("train_labels", lambda found: found + 5, r"train_labels\.npy: expected labels 0\.\.9, got 1\d in sample"),
        ("test_labels", lambda found: np.zeros(9), r"expected numbers of shape \(8\), got \(9,\)"),
        (
            "image/train_data",
            lambda found: found * np.nan,
            r"train_data\.npy: expected finite numbers, got nan in sample 0, column 0",
        ),
    ],
)
def test_digit_files_that_are_something_else_are_refused(name, change, complaint, copied):
    _, folder = copied("PublishedAVMNIST")
    np.save(folder / f"{name}.npy", change(np.load(folder / f"{name}.npy")))
    with pytest.raises(DataError, match=complaint):
        whole(PublishedAVMNIST(folder), "train")


def test_videos_are_those_of_the_files(twins):
    dataset = twins["KineticsSmall"]
    for split, part in {"train": "train", "validation": "valid", "test": "test"}.items():
        files = sorted((dataset.folder / part).glob("*.pdt"))
        samples = [sample for path in files for sample in torch.load(path, weights_only=True)]
        batch = whole(dataset, split)
        assert len(batch) == len(samples)
        for row, (video, audio, label) in enumerate(samples):
            assert batch.views["video"][row].equal(video.transpose(0, 1))
            assert batch.views["audio"][row].equal(audio.T)
            assert batch.targets["action"][row] == label


class Evil:
    def __reduce__(self):
        return print, ("read",)


@pytest.mark.parametrize(
    ("content", "error", "complaint"),
    [
        (Evil(), StoreError, r"batch_370\.pdt: expected tensors and plain containers, got a file that names .*print"),
        ({"a": 1}, DataError, "expected a list of samples, got dict"),
        (
            [(torch.zeros(3, 4, 16, 16), torch.zeros(40, 9), 1)],
            DataError,
            r"expected a video of shape \(3, 4, 16, 16\) and a spectrogram",
        ),
        ([(torch.zeros(3, 4, 16, 16), 1)], DataError, "expected a video, a spectrogram and a whole number"),
        ([(torch.zeros(3, 4, 16, 16), torch.zeros(40, 763), 9)], DataError, r"expected labels 0\.\.4, got 9"),
    ],
)
def test_video_files_that_are_something_else_are_refused(content, error, complaint, copied):
    _, folder = copied("KineticsSmall")
    torch.save(content, folder / "valid" / "batch_370.pdt")
    with pytest.raises(error, match=complaint):
        _ = KineticsSmall(folder).splits


def test_files_of_videos_that_are_none_are_refused(copied):
    _, folder = copied("KineticsSmall")
    (folder / "test" / "batch_370.pdt").write_bytes(b"nothing")
    with pytest.raises((DataError, StoreError), match=r"test/batch_370\.pdt"):
        _ = KineticsSmall(folder).splits
    (folder / "test" / "batch_370.pdt").unlink()
    with pytest.raises(StoreError, match=r"expected files test/batch_37\*\.pdt"):
        _ = KineticsSmall(folder).splits


def test_sounds_have_lengths_and_captions_end(twins):
    dataset = twins["Clotho"]
    text = dataset.spec.modality("text")
    for split in dataset.splits:
        batch = whole(dataset, split)
        for row in range(len(batch)):
            length, said = int(batch.lengths["audio"][row]), int(batch.lengths["text"][row])
            assert batch.views["audio"][row, :length].any(1).all()
            assert not batch.views["audio"][row, length:].any()
            ids = batch.views["text"][row].tolist()
            assert ids[said - 1] == text.end
            assert set(ids[said:]) <= {text.padding}
    assert text.symbols[0] == "<sos>"


def test_all_captions_of_a_sound_are_in_one_split_and_none_is_left_out(twins):
    """The published loader left out the last batch of the evaluation files."""
    dataset = twins["Clotho"]
    files = dataset.many()
    sounds = {
        split: {files[row].parent.name + files[row].stem.rpartition("_")[0] for row in rows}
        for split, rows in dataset._samples.rows.items()
    }
    assert not sounds["train"] & sounds["validation"]
    assert dataset.splits["test"] == len(list((dataset.folder / "clotho_dataset_eva").iterdir()))
    assert sum(dataset.splits.values()) == len(files)
    assert (
        Clotho(dataset.folder, split_seed=1)._samples.rows["validation"].tolist() != dataset._samples.rows["validation"].tolist()
    )


def test_sound_files_that_are_something_else_are_refused(copied):
    dataset, folder = copied("Clotho")
    path = dataset.many()[0]
    record = np.empty(1, np.dtype([("features", object), ("words_ind", object)]))
    record["features"][0], record["words_ind"][0] = Evil(), np.arange(3)
    np.save(path, record, allow_pickle=True)
    with pytest.raises(StoreError, match=r"names .*print.*: it is not read"):
        _ = Clotho(folder).splits
    for features, words, complaint in (
        (np.zeros((4, 60)), np.arange(3), r"features: expected numbers of shape \(any, 64\), got \(4, 60\)"),
        (np.zeros((4, 64)), np.array([-1, 2]), "words_ind: expected numbers of words from 0"),
    ):
        record["features"][0], record["words_ind"][0] = features, words
        np.save(path, record, allow_pickle=True)
        with pytest.raises(DataError, match=complaint):
            _ = Clotho(folder).splits
    np.save(path, np.zeros(3))
    with pytest.raises(DataError, match="expected a record with features and words_ind, got float64"):
        _ = Clotho(folder).splits


def test_recipes_keep_the_order_of_the_file_and_labels_are_sorted(twins):
    dataset = twins["Yummly"]
    labels = pickle.loads((dataset.folder / "fid_to_label.pkl").read_bytes())
    texts = pickle.loads((dataset.folder / "fid_to_text.pkl").read_bytes())
    names, start = sorted(set(labels.values())), 0
    symbols = dataset.spec.modality("text").symbols
    for split, size in {"train": 48, "validation": 6, "test": 6}.items():
        batch, own = whole(dataset, split), list(labels)[start : start + size]
        assert batch.targets["label"].tolist() == [names.index(labels[recipe]) for recipe in own]
        known = {word for recipe in list(labels)[:48] for word in texts[recipe].split()}
        for row, recipe in enumerate(own):
            said = [symbols[code] for code in batch.views["text"][row].tolist()][: len(texts[recipe].split())]
            assert said == [word if word in known else "<unk>" for word in texts[recipe].split()]
        start += size


def test_recipes_that_are_something_else_are_refused(copied):
    dataset, folder = copied("Yummly")
    labels = pickle.loads((folder / "fid_to_label.pkl").read_bytes())
    (folder / "images" / f"img{next(iter(labels))}.jpg").unlink()
    with pytest.raises(StoreError, match=r"img00000\.jpg, which is not there: .*Being a Supercook"):
        whole(dataset, "train")
    for content, complaint in (
        ({**dict.fromkeys(labels, "x"), "00000": 3}, "expected texts, got int for '00000'"),
        (dict.fromkeys(list(labels)[:3], "x"), "expected a text for each of the 60 recipes, got none for '00003'"),
        ([1], "expected a dictionary"),
    ):
        (folder / "fid_to_text.pkl").write_bytes(pickle.dumps(content))
        with pytest.raises(DataError, match=complaint):
            _ = Yummly(folder).splits
    with pytest.raises(ConfigError) as caught:
        Yummly(image_size=(1,), words=0, length=0)
    assert len(caught.value.problems) == 3


def test_twins_are_the_data_sets_that_read_them(tmp_path):
    assert isinstance(write_twin("av-mnist-published", tmp_path / "digits"), PublishedAVMNIST)
