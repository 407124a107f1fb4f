"""Data sets of users' files: what becomes what, splits, missing values, and one clear sentence for every bad file."""

import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import torch
from PIL import Image

from molyneux.core import ConfigError, DataError, MolyneuxError, StoreError
from molyneux.core.views import text_strings
from molyneux.data import ArrayDataset, CdSprites, ImageFolder, TableDataset, export_parquet

RNG = np.random.default_rng(0)
DIGIT = RNG.integers(0, 3, 60)
WORDS = np.array(["zero", "one", "two"])


def arrays(folder: Path, **changes: Any) -> Path:
    content = {
        "image": RNG.integers(0, 256, (60, 5, 4)).astype(np.uint8),
        "text": WORDS[DIGIT],
        "digit": DIGIT,
        "x": RNG.normal(size=(60, 3)),
    }
    np.savez(folder / "mine.npz", **{name: value for name, value in {**content, **changes}.items() if value is not None})
    return folder / "mine.npz"


def whole(dataset: Any) -> dict[str, Any]:
    return {split: dataset.source(split, seed=1).batch(np.arange(size)) for split, size in dataset.splits.items()}


def test_arrays_become_modalities_by_type_and_shape(tmp_path: Path) -> None:
    sound, colour = RNG.normal(size=(60, 7)), RNG.integers(0, 256, (60, 6, 5, 3)).astype(np.uint8)
    path = arrays(tmp_path, sound=sound, colour=colour, mask=RNG.random((60, 4, 4)) > 0.5, series=RNG.normal(size=(60, 8, 2)))
    found = ArrayDataset(path=path, labels=("digit",), targets=("digit",), kinds={"sound": "audio"})
    kinds = {item.name: (item.kind, item.shape, item.dtype) for item in found.spec.modalities}
    assert kinds == {
        "colour": ("image", (3, 6, 5), "uint8"),
        "image": ("image", (1, 5, 4), "uint8"),
        "mask": ("image", (1, 4, 4), "uint8"),
        "series": ("series", (8, 2), "float32"),
        "sound": ("audio", (1, 7), "float32"),
        "text": ("text", (2,), "uint8"),
        "x": ("tabular", (3,), "float32"),
    }
    batch = found._content.batch(np.arange(60))
    assert np.array_equal(batch.views["colour"].numpy(), colour.transpose(0, 3, 1, 2))
    assert set(batch.views["mask"].unique().tolist()) == {0, 255}
    assert batch.factors is not None
    assert batch.factors[:, 0].tolist() == batch.targets["digit"].tolist() == DIGIT.tolist()
    assert text_strings(found.spec.modality("text"), batch.views["text"]) == WORDS[DIGIT].tolist()
    batch.check(found.spec)


def test_the_rate_of_sounds_is_in_the_spec(tmp_path: Path) -> None:
    path = arrays(tmp_path, sound=RNG.normal(size=(60, 7)))
    found = ArrayDataset(path=path, kinds={"sound": "audio"}, rates={"sound": 8000}, ignore=("digit",))
    assert found.spec.modality("sound").rate == 8000
    for rates, told in (({"x": 8000}, "of kind audio alone"), ({"snd": 8000}, "no array 'snd'")):
        with pytest.raises(DataError, match=told):
            ArrayDataset(path=path, kinds={"sound": "audio"}, rates=rates, labels=("digit",)).spec  # noqa: B018


def test_splits_are_disjoint_cover_everything_and_depend_on_their_seed_alone(tmp_path: Path) -> None:
    path = arrays(tmp_path, number=np.arange(60.0))
    found = ArrayDataset(path=path, labels=("digit",), fractions=(0.5, 0.25, 0.25))
    assert dict(found.splits) == {"train": 30, "validation": 15, "test": 15}
    numbers = {split: batch.views["number"][:, 0].tolist() for split, batch in whole(found).items()}
    assert sorted(number for part in numbers.values() for number in part) == list(range(60))
    other = found.source("test", seed=2).batch(np.arange(15)).views["number"][:, 0].tolist()
    assert sorted(other) == sorted(numbers["test"])
    assert other != numbers["test"]
    again = ArrayDataset(path=path, labels=("digit",), fractions=(0.5, 0.25, 0.25), split_seed=1)
    assert sorted(whole(again)["test"].views["number"][:, 0].tolist()) != sorted(numbers["test"])
    assert pickle.loads(pickle.dumps(found)).splits == found.splits


def test_given_splits_are_kept_and_a_missing_one_is_drawn_from_training(tmp_path: Path) -> None:
    split = np.where(np.arange(60) < 40, "train", "test")
    path = arrays(tmp_path, number=np.arange(60.0), split=split)
    found = ArrayDataset(path=path, labels=("digit",), split="split")
    numbers = {name: set(batch.views["number"][:, 0].tolist()) for name, batch in whole(found).items()}
    assert numbers["test"] == set(range(40, 60))
    assert len(numbers["validation"]) == 4
    assert numbers["train"] | numbers["validation"] == set(range(40))
    with pytest.raises(DataError, match=r"row 0: expected the split as train, validation or test, got 'trian'; did you mean"):
        whole(
            ArrayDataset(
                path=arrays(tmp_path, split=np.where(split == "train", "trian", "test")), split="split", ignore=("digit",)
            )
        )


def test_npy_files_are_the_same_as_an_npz(tmp_path: Path) -> None:
    path = arrays(tmp_path)
    (tmp_path / "many").mkdir()
    with np.load(path) as opened:
        for name in opened.files:
            np.save(tmp_path / "many" / f"{name}.npy", opened[name])
    one, many = (ArrayDataset(path=place, labels=("digit",)) for place in (path, tmp_path / "many"))
    assert one.spec == many.spec
    for split, batch in whole(one).items():
        assert all(torch.equal(view, whole(many)[split].views[name]) for name, view in batch.views.items())


def test_missing_values_are_masks_and_absent_codes(tmp_path: Path) -> None:
    x, digit = RNG.normal(size=(60, 3)), DIGIT.copy()
    x[7], digit[9] = np.nan, -1
    price = np.where(np.arange(60) == 3, np.nan, 1.5)
    found = ArrayDataset(
        path=arrays(tmp_path, x=x, digit=digit, price=price), labels=("digit",), targets=("digit",), number_targets=("price",)
    )
    batch = found._content.batch(np.arange(60))
    assert np.flatnonzero(~batch.mask("x").numpy()).tolist() == [7]
    assert np.isfinite(batch.views["x"].numpy()).all()
    assert batch.factors is not None
    assert np.flatnonzero(batch.factors[:, 0].numpy() == -1).tolist() == [9]
    assert np.flatnonzero(~batch.known_mask("digit").numpy()).tolist() == [9]
    assert np.flatnonzero(~batch.known_mask("price").numpy()).tolist() == [3]


@pytest.mark.parametrize(
    ("changes", "settings", "problem"),
    [
        ({}, {"labels": ("digits",)}, r"mine.npz: no array 'digits'; did you mean \"digit\"\?"),
        ({}, {}, "array 'digit': one integer for each sample: name it under labels"),
        ({"x": np.zeros((59, 3))}, {"labels": ("digit",)}, "as many samples, got 60 in 'digit' and 59 in 'x'"),
        (
            {"digit": np.full(60, 7)},
            {"labels": ("digit",)},
            "label 'digit': expected at least two different values, got only '7'",
        ),
        (
            {"digit": np.where(DIGIT > 0, 7, -1)},
            {"labels": ("digit",)},
            "expected at least two different values, got only '7' and -1, which says that there is no label",
        ),
        (
            {"digit": np.arange(60) % 7 - 3},
            {"targets": ("digit",)},
            r"label 'digit': expected one negative number, which says that there is no label, got several \(-3, -2, -1\)",
        ),
        ({"digit": np.arange(60.0) / 7}, {"labels": ("digit",)}, "expected integers or words, got float64"),
        (
            {"x": np.where(np.eye(60, 3) > 0, np.nan, 1.0)},
            {"labels": ("digit",)},
            "'x', row 0: expected finite .* got nan in column 0",
        ),
        (
            {"x": np.where(np.arange(360).reshape(60, 3, 2) == 9, np.inf, 1.0)},
            {"labels": ("digit",)},
            r"row 1: expected finite numbers, or NaN in all of a sample that is missing, got inf at \(1, 1\): correct it",
        ),
        ({"x": np.array([{}] * 60)}, {"labels": ("digit",)}, "Python objects, which are not read"),
        (
            {"digit": np.where(np.arange(60) == 3, np.inf, DIGIT)},
            {"labels": ("digit",)},
            "row 3, label 'digit': expected an integer, got inf: correct it",
        ),
        ({"x": np.zeros((60, 9), np.uint8)}, {"labels": ("digit",)}, r"cannot tell what uint8 \(60, 9\) is"),
        ({"x": np.full((60, 3, 4, 4), 9.0)}, {"labels": ("digit",)}, "floats from 0 to 1, got float64 from 9 to 9"),
        ({"image": None, "text": None, "x": None}, {"labels": ("digit",)}, "expected an array that is a modality, got labels"),
        (
            {},
            {"labels": ("digit",), "names": {"digit": ("a", "b")}},
            "label 'digit': expected one of the 2 values that have names, got 2",
        ),
    ],
)
def test_bad_arrays_are_told_in_a_sentence(tmp_path: Path, changes: Any, settings: Any, problem: str) -> None:
    with pytest.raises(DataError, match=problem):
        ArrayDataset(path=arrays(tmp_path, **changes), **settings).splits  # noqa: B018


def test_files_that_are_none(tmp_path: Path) -> None:
    (tmp_path / "junk.npz").write_bytes(b"no archive at all")
    with pytest.raises(DataError, match=r"junk\.npz: expected arrays .* a file that cannot be read"):
        ArrayDataset(path=tmp_path / "junk.npz", labels=("digit",)).splits  # noqa: B018
    with pytest.raises(StoreError, match=r"expected arrays in .*nothing\.npz, which is not there"):
        ArrayDataset(path=tmp_path / "nothing.npz").splits  # noqa: B018
    with pytest.raises(StoreError, match=r"expected \.npy files in"):
        ArrayDataset(path=tmp_path).splits  # noqa: B018
    (tmp_path / "cut.npz").write_bytes(arrays(tmp_path).read_bytes()[:200])
    with pytest.raises(DataError, match="a file that cannot be read"):
        ArrayDataset(path=tmp_path / "cut.npz").splits  # noqa: B018
    with pytest.raises(ConfigError) as caught:
        ArrayDataset(path=tmp_path, fractions=(0.5, 0.5, 0.5), words=0, labels=("a",), split="a")
    assert [problem.partition(":")[0] for problem in caught.value.problems] == ["fractions", "words", "labels"]


def test_a_data_set_is_known_by_the_content_of_its_files(tmp_path: Path) -> None:
    path = arrays(tmp_path)
    (tmp_path / "elsewhere").mkdir()
    copied = tmp_path / "elsewhere" / "other.npz"
    copied.write_bytes(path.read_bytes())
    one, same = (ArrayDataset(path=place, labels=("digit",)).settings for place in (path, copied))
    assert one == same
    assert str(tmp_path) not in json.dumps(one)
    arrays(tmp_path, x=np.zeros((60, 3)))
    assert ArrayDataset(path=path, labels=("digit",)).settings["files"] != one["files"]


def test_texts_that_determine_labels_are_read_and_others_are_not(tmp_path: Path) -> None:
    found = ArrayDataset(path=arrays(tmp_path, other=RNG.integers(0, 2, 60)), labels=("digit", "other"))
    reader = found.readers()["text"]
    assert reader.factors == ("digit",)
    batch = found.source("test").batch(np.arange(6))
    assert batch.factors is not None
    assert reader.read(batch.views["text"]).codes.tolist() == batch.factors[:, :1].tolist()
    beyond_end = batch.views["text"].clone()
    strange = torch.tensor([[6, 6]], dtype=torch.uint8)
    assert reader.read(beyond_end[:1]).codes.tolist() == batch.factors[:1, :1].tolist()
    reading = reader.read(strange)
    assert reading.codes.tolist() == [[-1]]
    assert reading.reasons
    each = np.array([f"{WORDS[digit]} {number}" for number, digit in enumerate(DIGIT)])
    assert not ArrayDataset(path=arrays(tmp_path, text=each), labels=("digit",)).readers()


def test_characters_and_lengths(tmp_path: Path) -> None:
    found = ArrayDataset(path=arrays(tmp_path), labels=("digit",), unit="characters")
    text = found.spec.modality("text")
    assert (text.shape, text.symbols[0], text.padding) == ((4,), " ", 0)
    assert text_strings(text, found._content.batch(np.arange(60)).views["text"]) == WORDS[DIGIT].tolist()
    cut = ArrayDataset(path=arrays(tmp_path), labels=("digit",), unit="characters", length=2)
    assert text_strings(cut.spec.modality("text"), cut._content.batch(np.arange(2)).views["text"]) == [
        w[:2] for w in WORDS[DIGIT[:2]]
    ]


def table(folder: Path, rows: list[str], name: str = "items.csv") -> Path:
    (folder / name).write_text("\n".join(rows) + "\n", encoding="utf-8")
    return folder / name


ROWS = ["size,note,kind,fold"] + [
    f"{row}.5,a {('box', 'bag')[row % 2]},{('box', 'bag')[row % 2]},{'train' if row < 14 else 'val' if row < 17 else 'test'}"
    for row in range(20)
]


def test_a_table_with_missing_values(tmp_path: Path) -> None:
    rows = [*ROWS]
    rows[3], rows[5] = ",a box,,train", '7.5,"a ""big"", red box",box,train'
    found = TableDataset(path=table(tmp_path, rows), texts=("note",), tabular=("size",), labels=("kind",), split="fold")
    assert dict(found.splits) == {"train": 14, "validation": 3, "test": 3}
    batch = found._content.batch(np.arange(20))
    assert np.flatnonzero(~batch.mask("tabular").numpy()).tolist() == [2]
    assert batch.factors is not None
    assert np.flatnonzero(batch.factors[:, 0].numpy() < 0).tolist() == [2]
    known = batch.views["tabular"].numpy()[[row for row in range(14) if row != 2]]
    assert (known.mean(), known.std()) == (pytest.approx(0, abs=1e-6), pytest.approx(1, abs=1e-6))
    assert text_strings(found.spec.modality("note"), batch.views["note"])[4] == 'a " big " , red box'


@pytest.mark.parametrize(
    ("rows", "settings", "problem"),
    [
        (ROWS, {"texts": ("notes",)}, r"items.csv: no column 'notes'; did you mean \"note\"\?"),
        (ROWS, {"texts": ("note",), "labels": ("kynd",)}, r"items.csv: no column 'kynd'; did you mean \"kind\"\?"),
        (
            [*ROWS[:3], "big,a,box,train"],
            {"tabular": ("size",)},
            r"items.csv, row 3, column 'size': expected a number, got 'big'",
        ),
        (
            [*ROWS[:3], "1,a"],
            {"tabular": ("size",)},
            r"items.csv, row 3: expected 4 fields separated by ',', as the titles 'size,note,kind,fold' are, got 2 in '1,a'",
        ),
        (["a,a", "1,2"], {"tabular": ("a",)}, "expected titles that differ in the first row, got 'a' twice"),
        (ROWS[:3], {"tabular": ("size",)}, "expected at least 3 samples, one for each split, got 2"),
        (ROWS, {"tabular": ("size",), "labels": ("fold",), "split": "kind"}, "row 2: expected the split as train"),
        (ROWS, {"images": ("note",)}, "row 1, column 'note': expected the image .*a box, which is not there"),
    ],
)
def test_bad_tables_are_told_with_file_row_and_column(tmp_path: Path, rows: list[str], settings: Any, problem: str) -> None:
    with pytest.raises(DataError, match=problem):
        TableDataset(path=table(tmp_path, rows), **settings).splits  # noqa: B018


@pytest.mark.parametrize(
    ("values", "problem"),
    [
        (["-1", "0", "1"], "row 1, label 'y': expected integers from 0, or words, got -1: count classes from 0, or write words"),
        (["0.5", "1.25", "2"], "row 1, label 'y': expected integers from 0, or words, got 0.5: name it under number_targets"),
    ],
)
def test_numbers_that_are_no_classes(tmp_path: Path, values: list[str], problem: str) -> None:
    path = table(tmp_path, ["n,y", *(f"{row},{values[row % 3]}" for row in range(30))])
    with pytest.raises(DataError, match=problem):
        TableDataset(path=path, tabular=("n",), targets=("y",)).splits  # noqa: B018


@pytest.mark.parametrize("values", [["1", "2", "10"], ["1.0", "2.0", "10.0"], ["-1", "0", "some"], ["v0.5", "v1.5", ""]])
def test_words_and_integers_are_classes(tmp_path: Path, values: list[str]) -> None:
    path = table(tmp_path, ["n,y", *(f"{row},{values[row % 3]}" for row in range(30))])
    (target,) = TableDataset(path=path, tabular=("n",), targets=("y",)).spec.targets
    assert set(target.symbols) == {value.removesuffix(".0") for value in values if value}


def test_an_answer_is_no_input(tmp_path: Path) -> None:
    for settings in ({"targets": ("y",)}, {"number_targets": ("y",)}):
        for inputs in ({"tabular": ("n", "y")}, {"tabular": {"all": ("n", "y")}}, {"texts": ("y",)}):
            with pytest.raises(ConfigError, match="targets: 'y' is a modality too, which would tell the answer"):
                TableDataset(path=tmp_path / "items.csv", **inputs, **settings)


def test_a_text_in_place_of_names_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        TableDataset(path=tmp_path / "items.csv", tabular="nm", targets="y")  # type: ignore[arg-type]
    assert caught.value.problems == (
        "targets: expected several names, got the text 'y': write ['y']",
        "tabular: expected several names, got the text 'nm': write ['nm']",
    )


def test_settings_of_a_table(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="texts: expected a column that is a modality"):
        TableDataset(path=tmp_path / "a.csv")
    with pytest.raises(StoreError, match=r"expected a table in .*a.csv, which is not there"):
        TableDataset(path=tmp_path / "a.csv", texts=("a",)).splits  # noqa: B018


def test_files_of_a_folder_say_their_splits(tmp_path: Path) -> None:
    for name, part in (("train-00000.csv", ROWS[1:12]), ("validation.csv", ROWS[12:15]), ("test.csv", ROWS[15:])):
        table(tmp_path, [ROWS[0], *part], name)
    found = TableDataset(path=tmp_path, texts=("note",), labels=("kind",))
    assert dict(found.splits) == {"train": 11, "validation": 3, "test": 6}
    table(tmp_path, ROWS, "rest.csv")
    with pytest.raises(DataError, match=r"rest.csv: expected a file of train, validation or test"):
        TableDataset(path=tmp_path, texts=("note",), labels=("kind",)).splits  # noqa: B018


def test_what_this_package_exports_is_read_back(tmp_path: Path) -> None:
    """Images as structs of bytes and classes with names, as Hugging Face `datasets` has them."""
    source = CdSprites(level=2).source("train", 30, seed=1)
    export_parquet(source, tmp_path / "sprites.parquet")
    found = TableDataset(
        path=tmp_path / "sprites.parquet", images=("image",), texts=("text",), labels=("shape",), unit="characters"
    )
    batch, truth = found._content.batch(np.arange(30)), source.batch(np.arange(30))
    assert torch.equal(batch.views["image"], truth.views["image"])
    assert found.spec.factor("shape") == source.spec.factor("shape")
    assert truth.factors is not None
    assert torch.equal(batch.factors, truth.factors[:, [source.spec.factor_index("shape")]])


def test_arrow_streams_of_datasets(tmp_path: Path) -> None:
    content = pa.table({"note": [f"number {n % 3}" for n in range(12)], "kind": pa.array([n % 3 for n in range(12)])})
    with (
        pa.OSFile(str(tmp_path / "data-00000-of-00001.arrow"), "wb") as stream,
        pa.ipc.new_stream(stream, content.schema) as writer,
    ):
        writer.write_table(content)
    pq.write_table(content, tmp_path / "same.parquet")
    streamed, stored = (
        TableDataset(path=tmp_path / name, texts=("note",), labels=("kind",))
        for name in ("data-00000-of-00001.arrow", "same.parquet")
    )
    assert streamed.spec == stored.spec
    assert torch.equal(whole(streamed)["train"].views["note"], whole(stored)["train"].views["note"])


def pictures(
    folder: Path, *, classes: tuple[str, ...] = ("cat", "dog"), count: int = 6, side: int = 5, mode: str = "RGB"
) -> None:
    for number, name in enumerate(classes):
        (folder / name).mkdir(parents=True, exist_ok=True)
        for item in range(count):
            Image.new(mode, (side, side + 1), 40 * item + number).save(folder / name / f"{item}.png")


def test_folders_are_classes_and_a_table_adds_captions(tmp_path: Path) -> None:
    pictures(tmp_path)
    rows = ["file,caption"] + [f"{name}/{item}.png,a {name}" for name in ("dog", "cat") for item in reversed(range(6))]
    table(tmp_path, rows, "captions.csv")
    found = ImageFolder(path=tmp_path, captions=Path("captions.csv"), texts=("caption",))
    assert found.spec.names == ("image", "caption")
    assert found.spec.modality("image").shape == (3, 6, 5)
    batch = found._content.batch(np.arange(12))
    assert found.spec.factor("label").values == ("cat", "dog")
    assert batch.factors is not None
    captions = text_strings(found.spec.modality("caption"), batch.views["caption"])
    assert captions == [f"a {('cat', 'dog')[code]}" for code in batch.factors[:, 0].tolist()]
    assert batch.views["image"][:, 0, 0, 0].tolist() == [40 * item + number for number in range(2) for item in range(6)]
    table(tmp_path, rows[:-1], "captions.csv")
    with pytest.raises(DataError, match=r"captions.csv: expected a row for each image, got none for 'cat/0.png'"):
        ImageFolder(path=tmp_path, captions=Path("captions.csv"), texts=("caption",)).splits  # noqa: B018
    table(tmp_path, [*rows, "cow/1.png,a cow"], "captions.csv")
    with pytest.raises(DataError, match=r"captions.csv, row 13, column 'file': expected the path of an image"):
        ImageFolder(path=tmp_path, captions=Path("captions.csv"), texts=("caption",)).splits  # noqa: B018


def test_folders_may_say_the_splits_too(tmp_path: Path) -> None:
    for split, count in (("train", 4), ("val", 1), ("test", 2)):
        pictures(tmp_path / split, count=count, mode="L")
    found = ImageFolder(path=tmp_path)
    assert dict(found.splits) == {"train": 8, "validation": 2, "test": 4}
    assert found.spec.modality("image").shape == (1, 6, 5)
    assert found.spec.factor("label").values == ("cat", "dog")


def test_images_of_unequal_sizes_and_other_bad_folders(tmp_path: Path) -> None:
    pictures(tmp_path / "photos")
    pictures(tmp_path / "photos", classes=("cow",), side=9)
    with pytest.raises(
        DataError, match=r"expected images of one size, got 6 x 5 in .*cat.0.png and 10 x 9 in .*cow.0.png .*set image_size"
    ):
        ImageFolder(path=tmp_path / "photos").splits  # noqa: B018
    resized = ImageFolder(path=tmp_path / "photos", image_size=(8, 8), image_channels=1)
    assert resized.source("train").batch(np.arange(2)).views["image"].shape == (2, 1, 8, 8)
    pictures(tmp_path / "one", classes=("cat",))
    with pytest.raises(DataError, match="folders of at least two classes, got only 'cat': set class_label: null"):
        ImageFolder(path=tmp_path / "one").splits  # noqa: B018
    assert not ImageFolder(path=tmp_path / "one", class_label=None).spec.factors
    assert not ImageFolder(path=tmp_path / "one" / "cat").spec.factors
    (tmp_path / "one" / "dog").mkdir()
    (tmp_path / "one" / "dog" / "0.png").write_bytes((tmp_path / "one" / "cat" / "0.png").read_bytes()[:45])
    with pytest.raises(DataError, match=r"dog.0.png: expected a whole image, got a damaged file|dog.0.png: cannot read"):
        whole(ImageFolder(path=tmp_path / "one"))
    (tmp_path / "one" / "dog" / "0.png").write_bytes(b"no image")
    with pytest.raises(DataError, match=r"dog.0\.png: expected an image \(BMP, GIF, JPEG"):
        ImageFolder(path=tmp_path / "one").splits  # noqa: B018
    with pytest.raises(StoreError, match=r"expected images .* got none"):
        (tmp_path / "empty").mkdir()
        ImageFolder(path=tmp_path / "empty").splits  # noqa: B018
    with pytest.raises(ConfigError, match="captions: is missing: name the table with the columns note"):
        ImageFolder(path=tmp_path, texts=("note",))


def test_images_that_do_not_fit_into_memory_are_decoded_when_needed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pictures(tmp_path)
    kept = whole(ImageFolder(path=tmp_path))["train"].views["image"]
    monkeypatch.setattr("molyneux.data.own.pictures.KEPT", 0)
    assert torch.equal(whole(ImageFolder(path=tmp_path))["train"].views["image"], kept)


def test_errors_are_those_of_this_package(tmp_path: Path) -> None:
    assert issubclass(DataError, MolyneuxError)
    (tmp_path / "latin.csv").write_bytes("note,kind\ncaf\xe9,1\nb,2\nc,1\n".encode("latin-1"))
    with pytest.raises(DataError, match=r"latin.csv, line 2: expected text in UTF-8, got the byte 0xe9 after 'caf'"):
        TableDataset(path=tmp_path / "latin.csv", texts=("note",), labels=("kind",)).splits  # noqa: B018
