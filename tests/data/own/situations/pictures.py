"""Images in folders, and in columns of tables."""

from __future__ import annotations

import io
import json
import unicodedata
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from PIL import Image

from molyneux.core.views import text_strings
from molyneux.data import ImageFolder, OwnDataset
from situations.situation import Situation, whole
from situations.tables import arrow

GREY = [Image.new("L", (4, 6), 100 + number) for number in range(12)]
COLOUR = [Image.new("RGB", (4, 6), (100, 10, 20 * number)) for number in range(12)]
NAMES = [f"{('cat', 'dog')[number % 2]}/{number}.png" for number in range(12)]


def folder_of(
    images: Any, names: Any = NAMES, others: dict[str, str] | None = None, save: Any = None, **settings: Any
) -> Callable[[Path], OwnDataset]:
    """A folder of images, and of other files of text."""

    def make(folder: Path) -> OwnDataset:
        for name, image in zip(names, images, strict=True):
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            if isinstance(image, bytes):
                (folder / name).write_bytes(image)
            else:
                image.save(folder / name, **(save or {}))
        for name, content in (others or {}).items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(content, encoding="utf-8")
        return ImageFolder(path=folder, **settings)

    return make


def first(image: Image.Image, **settings: Any) -> Any:
    """A folder of colour images of which the first is this one."""
    return folder_of([image, *COLOUR[1:]], **settings)


def content(image: Image.Image, form: str = "PNG", **save: Any) -> bytes:
    """The content of the file of an image."""
    stream = io.BytesIO()
    image.save(stream, form, **save)
    return stream.getvalue()


def pixel(*expected: int, near: int = 0) -> Callable[[OwnDataset], bool]:
    """Whether the first pixel of the first image is this one."""

    def check(data: OwnDataset) -> bool:
        found = whole(data).views["image"][0, :, 0, 0].int().numpy()
        return bool(len(found) == len(expected) and (np.abs(found - np.array(expected)) <= near).all())

    return check


def classes(*names: str) -> Callable[[OwnDataset], bool]:
    """Whether the folders are these classes."""
    return lambda data: data.spec.factors[0].values == names


def captioned(rows: list[tuple[str, str]], name: str, **settings: Any) -> Any:
    """A folder of images beside a table of captions."""
    if name.endswith("jsonl"):
        found = "".join(json.dumps({"file_name": file, "text": said}) + "\n" for file, said in rows)
    else:
        found = "file,text\n" + "".join(f"{file},{said}\n" for file, said in rows)
    return folder_of(GREY, others={name: found}, captions=Path(name), texts=("text",), **settings)


def said(data: OwnDataset) -> bool:
    """Whether each image has its own caption."""
    batch = whole(data)
    assert batch.factors is not None
    return text_strings(data.spec.modality("text"), batch.views["text"]) == [
        f"a {('cat', 'dog')[code]}" for code in batch.factors[:, 0].tolist()
    ]


CAPTIONS = [(name, f"a {name[:3]}") for name in NAMES]
SPLIT = [f"{('train', 'train', 'Val', 'test')[number // 2 % 4]}/{name}" for number, name in enumerate(NAMES)]
DECOMPOSED = [unicodedata.normalize("NFC" if n < 6 else "NFD", name.replace("cat", "café")) for n, name in enumerate(NAMES)]
TURNED = Image.Exif()
TURNED[0x0112] = 6
CLEAR = Image.new("RGBA", (4, 6), (0, 0, 0, 0))

SITUATIONS = [
    Situation("grey images alone", "read", folder_of(GREY), "one channel", pixel(100)),
    Situation("colour images", "read", folder_of(COLOUR), "three channels", pixel(100, 10, 0)),
    Situation(
        "a grey image among colour images",
        "converted",
        first(GREY[0]),
        "cat/0.png: a grey image was given three equal channels (1 of 12 images)",
        pixel(100, 100, 100),
    ),
    Situation(
        "colour images with `image_channels: 1`",
        "converted",
        folder_of(COLOUR, image_channels=1),
        "a colour image was made grey (12 of 12 images)",
    ),
    Situation(
        "a palette", "read", first(COLOUR[0].convert("P", palette=Image.Palette.ADAPTIVE)), "its colours", pixel(100, 10, 0)
    ),
    Situation(
        "an alpha channel",
        "converted",
        first(CLEAR),
        "cat/0.png: shown on white, for it has an alpha channel (1 of 12 images)",
        pixel(255, 255, 255),
    ),
    Situation(
        "a transparent colour of a palette",
        "converted",
        folder_of([content(Image.new("P", (4, 6), 0), transparency=0), *COLOUR[1:]]),
        "shown on white, for it has an alpha channel",
    ),
    Situation(
        "CMYK",
        "converted",
        folder_of([Image.new("CMYK", (4, 6), (255, 0, 0, 0)), *COLOUR[1:]], names=[name.replace("png", "tif") for name in NAMES]),
        "converted from CMYK, without its colour profile",
        pixel(0, 255, 255),
    ),
    Situation(
        "1 bit", "read", folder_of([Image.new("1", (4, 6), number % 2) for number in range(1, 13)]), "white and black", pixel(255)
    ),
    Situation(
        "levels 0 and 1 in 8 bits",
        "refused",
        folder_of([Image.new("L", (4, 6), number % 2) for number in range(12)]),
        "expected levels from 0 to 255, got 0 and 1 alone in all images, which would be black: multiply them by 255",
    ),
    Situation(
        "16 bits",
        "refused",
        first(Image.fromarray(np.full((6, 4), 9000, np.uint16))),
        "cat/0.png: expected 8 bits per channel, got an image of mode I;16: convert it",
    ),
    Situation(
        "turned by EXIF",
        "read",
        folder_of([content(Image.new("RGB", (6, 4), (9, 9, 9)), exif=TURNED), *COLOUR[1:]]),
        "as it is shown",
        lambda data: data.spec.modality("image").shape == (3, 6, 4),
    ),
    Situation(
        "several frames (GIF, WebP, APNG, TIFF)",
        "refused",
        first(COLOUR[0], save={"save_all": True, "append_images": [COLOUR[5]]}),
        "cat/0.png: expected one picture, got several frames: store the one that is meant as a file of its own",
    ),
    Situation(
        "images of several sizes",
        "refused",
        first(Image.new("RGB", (9, 9))),
        "expected images of one size, got 9 x 9 in cat/0.png and 6 x 4 in cat/10.png (height x width): set image_size",
    ),
    Situation(
        "images of several sizes with `image_size`",
        "converted",
        first(Image.new("RGB", (9, 9)), image_size=(6, 4)),
        "cat/0.png: its shape was changed, for it has another ratio of height and width (1 of 12 images)",
    ),
    Situation("an image that was cut", "refused", folder_of([content(COLOUR[0])[:50], *COLOUR[1:]]), "cat/0.png"),
    Situation("a file that is no image", "refused", folder_of([b"no image", *COLOUR[1:]]), "cat/0.png"),
    Situation("an empty file", "refused", folder_of([b"", *COLOUR[1:]]), "cat/0.png"),
    Situation(
        "suffixes in capital letters",
        "read",
        folder_of(COLOUR, names=[name.replace("png", "PNG") for name in NAMES]),
        "as in small ones",
        classes("cat", "dog"),
    ),
    Situation(
        "an image in a format that is not read",
        "refused",
        folder_of(COLOUR, others={"cat/13.heic": ""}),
        "cat/13.heic: expected images in a format that is read",
    ),
    Situation(
        "other files beside images",
        "converted",
        folder_of(COLOUR, others={"cat/notes.txt": ""}),
        "cat/notes.txt: no image, and is not read (1 such)",
        classes("cat", "dog"),
    ),
    Situation(
        "hidden files and folders (`._1.png`, `.ipynb_checkpoints`, `__MACOSX`)",
        "read",
        folder_of([*COLOUR, *COLOUR[:3]], names=[*NAMES, "cat/._1.png", "cat/.ipynb_checkpoints/1.png", "__MACOSX/cat/1.png"]),
        "not used",
        classes("cat", "dog"),
    ),
    Situation(
        "one class",
        "refused",
        folder_of(COLOUR, names=[f"cat/{n}.png" for n in range(12)]),
        "expected images in the folders of at least two",
    ),
    Situation(
        "images outside of the folders of classes",
        "refused",
        folder_of(COLOUR, names=["0.png", *NAMES[1:]]),
        "0.png: expected every image in the folder of its class",
    ),
    Situation(
        "classes in two forms of Unicode (a Mac's and another's)",
        "read",
        folder_of(COLOUR, names=DECOMPOSED),
        "one class",
        classes("caf\u00e9", "dog"),
    ),
    Situation(
        "folders of splits, `train/cat`, `Val/cat`, `test/cat`",
        "read",
        folder_of(COLOUR, names=SPLIT),
        "the splits",
        lambda data: dict(data.splits) == {"train": 8, "validation": 2, "test": 2} and classes("cat", "dog")(data),
    ),
    Situation(
        "a folder beside those of splits",
        "refused",
        folder_of(COLOUR, names=["extra/cat/0.png", *SPLIT[1:]]),
        "extra/cat/0.png: expected every image in a folder of a split",
    ),
    Situation(
        "captions in CSV, in another order", "read", captioned(CAPTIONS[::-1], "captions.csv"), "each with its image", said
    ),
    Situation(
        "captions in Hugging Face's `metadata.jsonl`", "read", captioned(CAPTIONS, "metadata.jsonl"), "each with its image", said
    ),
    Situation(
        "paths with backslashes or `./`",
        "read",
        captioned([(f".\\{name}".replace("/", "\\"), text) for name, text in CAPTIONS], "captions.csv"),
        "each with its image",
        said,
    ),
    Situation(
        "captions in a format that is no table",
        "refused",
        captioned(CAPTIONS, "captions.txt"),
        "got captions.txt: store it as CSV",
    ),
    Situation(
        "an image without a caption",
        "refused",
        captioned(CAPTIONS[1:], "captions.csv"),
        "captions.csv: expected a row for each image, got none for 'cat/0.png'",
    ),
    Situation(
        "a caption without its image",
        "refused",
        captioned([*CAPTIONS, ("cow/1.png", "a cow")], "captions.csv"),
        "captions.csv, row 13, column 'file': expected the path of an image",
    ),
    Situation(
        "two captions of one image",
        "refused",
        captioned([*CAPTIONS, CAPTIONS[3]], "captions.csv"),
        "captions.csv, row 13, column 'file': expected one row for each image",
    ),
    *(
        Situation(
            f"the content of files in a column of type {kind}",
            "read",
            arrow({"image": pa.array([content(image) for image in COLOUR], kind)}, images=("image",)),
            "images",
            pixel(100, 10, 0),
        )
        for kind in (pa.binary(), pa.large_binary(), pa.binary_view())
    ),
    Situation(
        "the content of files as Hugging Face `datasets` stores it (`bytes` and `path`)",
        "read",
        arrow({"image": [{"bytes": content(image), "path": None} for image in COLOUR]}, images=("image",)),
        "images",
        pixel(100, 10, 0),
    ),
    Situation(
        "a row without an image",
        "read",
        arrow({"image": [None, *(content(image) for image in COLOUR[1:])]}, images=("image",)),
        "a sample that lacks it",
        lambda data: whole(data).mask("image").tolist() == [False] + [True] * 11,
    ),
    Situation(
        "the path of an image that is not there",
        "refused",
        arrow({"image": ["a.png"] * 12}, images=("image",)),
        "items.parquet, row 1, column 'image': expected the image",
    ),
    Situation(
        "lists of numbers as an image",
        "refused",
        arrow({"image": [[1.0, 2.0]] * 12}, images=("image",)),
        "column 'image': expected text, got lists",
    ),
]
