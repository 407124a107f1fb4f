"""Arrays in `.npz` and `.npy` files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from molyneux.data import ArrayDataset, OwnDataset
from situations.situation import Situation, whole

RNG = np.random.default_rng(0)
KIND = np.arange(24) % 3
LEVELS = RNG.integers(0, 256, (24, 6, 5), dtype=np.uint8)
BITS = RNG.integers(0, 2, (24, 6, 5), dtype=np.uint8)
SHARES = RNG.random((24, 1, 6, 5)).astype(np.float32)
NUMBERS = RNG.normal(size=(24, 3))


def with_value(array: np.ndarray, place: Any, value: float) -> np.ndarray:
    """The array with another value in one place."""
    found = np.array(array)
    found[place] = value
    return found


def npz(name: str = "mine.npz", settings: Any = None, **arrays: Any) -> Callable[[Path], OwnDataset]:
    """Arrays in one file, with the label `kind`."""

    def make(folder: Path) -> OwnDataset:
        with (folder / name).open("wb") as stream:
            np.savez(stream, **{"kind": KIND, **arrays})
        return ArrayDataset(path=folder / name, **{"labels": ("kind",), **(settings or {})})

    return make


def folder_of(*names: str, other: str = "") -> Callable[[Path], OwnDataset]:
    """A folder of `.npy` files of these names, and an empty file of another one."""

    def make(folder: Path) -> OwnDataset:
        for name in names:
            with (folder / name).open("wb") as stream:
                np.save(stream, KIND if name.startswith("kind") else NUMBERS)
        if other:
            (folder / other).write_bytes(b"")
        return ArrayDataset(path=folder, labels=("kind",))

    return make


def seen(expected: Any) -> Callable[[OwnDataset], bool]:
    """Whether the views of the array `x` are these."""
    return lambda data: np.allclose(whole(data).views["x"].numpy(), expected)


def codes(*missing: int) -> Callable[[OwnDataset], bool]:
    """Whether labels are `KIND`, and these rows lack one."""

    def check(data: OwnDataset) -> bool:
        factors = whole(data).factors
        assert factors is not None
        return factors[:, 0].tolist() == [-1 if row in missing else code for row, code in enumerate(KIND.tolist())]

    return check


def lacks(*rows: int) -> Callable[[OwnDataset], bool]:
    """Whether these rows and no others lack `x`."""
    return lambda data: np.flatnonzero(~whole(data).mask("x").numpy()).tolist() == [*rows]


SITUATIONS = [
    Situation("images uint8 (N, H, W)", "read", npz(x=LEVELS), "grey", seen(LEVELS[:, None])),
    Situation("images uint8 (N, H, W, 3)", "read", npz(x=np.stack([LEVELS] * 3, 3)), "colour", seen(np.stack([LEVELS] * 3, 1))),
    Situation("images uint8 (N, 3, H, W)", "read", npz(x=np.stack([LEVELS] * 3, 1)), "colour", seen(np.stack([LEVELS] * 3, 1))),
    Situation(
        "images of which both the first and the last axis may be channels",
        "converted",
        npz(x=LEVELS[:, :4, :, None].repeat(3, 3)),
        "mine.npz, array 'x': (4, 5, 3) was read as 4 channels of 5 x 3 pixels",
        lambda data: data.spec.modality("x").shape == (4, 5, 3),
    ),
    Situation("images of true and false", "read", npz(x=BITS.astype(bool)), "white and black", seen(255 * BITS[:, None])),
    Situation(
        "images uint8 of 0 and 1 (dSprites)",
        "converted",
        npz(x=BITS),
        "mine.npz, array 'x': images of levels 0 and 1 were read as masks, 1 as white (255)",
        seen(255 * BITS[:, None].astype(int)),
    ),
    Situation(
        "images uint8 of 0 to 16 (digits of scikit-learn)",
        "converted",
        npz(x=LEVELS // 16),
        "the largest level of any image is 15 of 255",
        seen(LEVELS[:, None] // 16),
    ),
    Situation("black images alone", "converted", npz(x=0 * LEVELS), "the largest level of any image is 0 of 255"),
    Situation("images as floats from 0 to 1", "read", npz(x=SHARES), "as they are", seen(SHARES)),
    Situation(
        "images as floats from 0 to 255",
        "refused",
        npz(x=255 * SHARES),
        "expected images as uint8, or as floats from 0 to 1, got float32 from",
    ),
    Situation(
        "images as floats from -1 to 1", "refused", npz(x=2 * SHARES - 1), "add 1 and divide by 2 if they are from -1 to 1"
    ),
    Situation(
        "an image whose pixels are all NaN", "read", npz(x=with_value(SHARES, 3, np.nan)), "a sample that lacks it", lacks(3)
    ),
    Situation(
        "images of 16 bits",
        "refused",
        npz(x=LEVELS.astype(np.uint16)),
        "expected images as uint8, or as floats from 0 to 1, got uint16 (24, 6, 5): convert them to 8 bits",
    ),
    Situation("images as int64", "refused", npz(x=LEVELS.astype(np.int64)), "got int64 (24, 6, 5): convert them to 8 bits"),
    Situation(
        "images with 2 or 5 channels", "refused", npz(x=LEVELS.reshape(24, 2, 3, 5)), "expected images with 1, 3 or 4 channels"
    ),
    Situation("one number for each sample", "read", npz(x=NUMBERS[:, 0]), "a modality of one number", seen(NUMBERS[:, :1])),
    Situation("half floats", "read", npz(x=NUMBERS.astype(np.float16)), "as float32", seen(NUMBERS.astype(np.float16))),
    Situation("series (N, T, D)", "read", npz(x=NUMBERS[:, None]), "a series", seen(NUMBERS[:, None])),
    Situation(
        "floats from 0 to 1 with three axes, as grey images have them",
        "converted",
        npz(x=SHARES[:, 0]),
        "mine.npz, array 'x': floats from 0 to 1 of shape (6, 5) were read as series of 6 steps of 5 numbers: "
        "set kinds to {x: image}",
        seen(SHARES[:, 0]),
    ),
    Situation(
        "the same with `kinds: {x: image}`",
        "read",
        npz(x=SHARES[:, 0], settings={"kinds": {"x": "image"}}),
        "grey images",
        seen(SHARES),
    ),
    Situation(
        "integers from 0 to 255 of another type with `kinds: {x: image}`",
        "refused",
        npz(x=LEVELS.astype(np.int64), settings={"kinds": {"x": "image"}}),
        "store them as uint8",
    ),
    Situation(
        "a sample whose numbers are all NaN", "read", npz(x=with_value(NUMBERS, 3, np.nan)), "a sample that lacks it", lacks(3)
    ),
    Situation(
        "a sample with NaN in one place",
        "refused",
        npz(x=with_value(NUMBERS, (3, 1), np.nan)),
        "mine.npz, array 'x', row 3: expected finite numbers, or NaN in all of a sample that is missing, got nan in column 1",
    ),
    Situation(
        "infinity",
        "refused",
        npz(x=with_value(NUMBERS, (3, 1), -np.inf)),
        "mine.npz, array 'x', row 3: expected finite numbers, or NaN in all of a sample that is missing, got -inf in column 1",
    ),
    Situation("NaN in all samples", "refused", npz(x=np.full((24, 3), np.nan)), "expected numbers, got NaN in all samples"),
    Situation("numbers beyond float32", "refused", npz(x=with_value(NUMBERS, (3, 1), 1e39)), "expected numbers up to 3.4e38"),
    Situation("complex numbers", "refused", npz(x=NUMBERS.astype(complex)), "cannot tell what complex128 (24, 3) is"),
    Situation("dates", "refused", npz(x=np.zeros(24, "datetime64[s]")), "x.npy: its values are of type datetime64[s]"),
    Situation(
        "integers that no setting names",
        "refused",
        npz(x=NUMBERS, y=KIND),
        "array 'y': one integer for each sample: name it under labels",
    ),
    Situation(
        "Python objects",
        "refused",
        npz(x=NUMBERS, about=np.array([{}] * 24)),
        "Python objects, which are not read): save them as numbers or strings, or name the array under ignore",
    ),
    Situation(
        "Python objects that `ignore` names (dSprites)",
        "read",
        npz(x=NUMBERS, about=np.array({"title": "t"}, dtype=object), settings={"ignore": ("about",)}),
        "not read",
        seen(NUMBERS),
    ),
    Situation(
        "an array under `ignore` that is not there",
        "refused",
        npz(x=NUMBERS, settings={"ignore": ("z",)}),
        "no array 'z' to ignore",
    ),
    Situation(
        "arrays of other lengths", "refused", npz(x=NUMBERS[:20]), "expected arrays of as many samples, got 24 in 'kind' and 20"
    ),
    Situation(
        "a single number", "refused", npz(x=np.float64(3)), "expected arrays of as many samples, got 24 in 'kind' and 0 in 'x'"
    ),
    Situation("no samples", "refused", npz(x=NUMBERS[:0], kind=KIND[:0]), "expected at least 3 samples"),
    Situation(
        "labels as floats, NaN for none",
        "read",
        npz(x=NUMBERS, kind=with_value(KIND.astype(float), 3, np.nan)),
        "whole numbers, and no label",
        codes(3),
    ),
    Situation(
        "labels of which -1 says that there is none", "read", npz(x=NUMBERS, kind=with_value(KIND, 3, -1)), "no label", codes(3)
    ),
    Situation("labels as a column (N, 1)", "read", npz(x=NUMBERS, kind=KIND[:, None]), "as (N,)", codes()),
    Situation(
        "labels that are one of several places (N, C)",
        "refused",
        npz(x=NUMBERS, kind=np.eye(3)[KIND]),
        "array 'kind': expected one value for each sample, got an array of shape (24, 3)",
    ),
    Situation("labels as words", "read", npz(x=NUMBERS, kind=np.array(["a", "b", "c"])[KIND]), "classes", codes()),
    Situation("labels as bytes", "read", npz(x=NUMBERS, kind=np.array([b"a", b"b", b"c"])[KIND]), "as words", codes()),
    Situation("labels as bool", "read", npz(x=NUMBERS, kind=KIND > 0), "False and True"),
    Situation("a suffix in capital letters", "read", npz("MINE.NPZ", x=NUMBERS), "as in small ones", seen(NUMBERS)),
    Situation("a folder of `.npy` and `.NPY` files", "read", folder_of("kind.npy", "x.NPY"), "an array for each", seen(NUMBERS)),
    Situation(
        "a folder with arrays in another format too",
        "refused",
        folder_of("kind.npy", "x.npy", other="more.npz"),
        "more.npz: expected .npy files alone",
    ),
]
