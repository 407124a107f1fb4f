"""NLVR: sentences about three boxes of shapes, true or false."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import chain
from pathlib import Path
from typing import Any, final

import numpy as np

from molyneux.core import DataError, Target
from molyneux.data.benchmarks.bases.picture_texts import Numbering, PictureTextFiles, PictureTexts, SetSamples, coded_together
from molyneux.data.dataset import Split
from molyneux.data.formats.json_files import Record, read_lines, said, value

_FOLDERS: Mapping[Split, str] = {"train": "train", "validation": "dev", "test": "test"}
_PERMUTATIONS = 6
_TOWER = {"type": "square", "size": 20, "x_loc": 40}
"""What all items of a box with a tower have in common."""


@final
class NLVR(PictureTexts):
    """Pictures of three boxes with shapes, and sentences that are true of them or not; Suhr et al. (ACL 2017).

    Layout of the folder `nlvr` of the GitHub repository `lil-lab/nlvr`: `train/train.json`, `dev/dev.json` and `test/test.json`
    (the public test set), an object a line with `sentence`, `label` ("true" or "false"), `identifier` such as `1572-0`,
    `directory` and `structured_rep`, the items of the three boxes; and for each of them six pictures with the boxes in every
    order, such as `dev/images/2/dev-1572-0-5.png`. Each picture is a sample, 400 x 100 pixels.

    `dev` is the split `validation`. The target is `agreement`. Factors are `layout`, whether the boxes hold towers of blocks or
    scattered items, and `items`, how many these are together. See `PictureTexts` for views and settings.

    Args:
        permutations: how many of the six pictures are used.
        folder: see `PictureTexts`.
        images: see `PictureTexts`.
        image_size: see `PictureTexts`.
        words: see `PictureTexts`.
        length: see `PictureTexts`.
    """

    name = "nlvr-v1"
    licence = "as license.txt of its repository states"
    origin = "Cornell NLVR (Suhr, Lewis, Yeh and Artzi, ACL 2017)"
    folders = ("nlvr/nlvr", "nlvr")
    files = tuple(f"{name}/{name}.json" for name in _FOLDERS.values())
    published_as = "the folders train, dev and test of the folder nlvr of lil-lab/nlvr on GitHub"
    picture_folder = ""

    def __init__(
        self,
        *,
        permutations: int = _PERMUTATIONS,
        folder: Path | None = None,
        images: Path | None = None,
        image_size: tuple[int, int] = (100, 400),
        words: int | None = None,
        length: int | None = None,
    ) -> None:
        usable = type(permutations) is int and 1 <= permutations <= _PERMUTATIONS
        problems = [] if usable else [f"permutations: expected 1 to {_PERMUTATIONS}, got {permutations}"]
        settings = {"image_size": image_size, "words": words, "length": length, "permutations": permutations}
        self._begin(folder, images, settings, problems=problems)

    def read(self, paths: Mapping[str, Path]) -> PictureTextFiles:
        """See `PictureTexts`."""
        pictures, texts, count = Numbering(), Numbering(), int(self._settings["permutations"])
        columns: dict[str, list[str | None]] = {"layout": [], "items": []}
        rows, places = dict[Split, np.ndarray](), dict[Split, slice]()
        for split, name in _FOLDERS.items():
            found = list[tuple[int, int, bool]]()
            start = len(columns["items"])
            for where, record in read_lines(paths[f"{name}/{name}.json"]):
                text, label, number = (said(record, key, where) for key in ("sentence", "label", "identifier"))
                if label.lower() not in ("true", "false"):
                    raise DataError(f"{where}: expected the label true or false, got {label!r}: restore the file")
                stem = f"{name}/images/{value(record, 'directory', str, where)}/{name}-{number}"
                found += [(pictures(f"{stem}-{place}.png"), texts(text), label.lower() == "true") for place in range(count)]
                items = list(chain.from_iterable(_boxes(record, where)))
                columns["layout"] += [_layout(items)] * count
                columns["items"] += [str(len(items))] * count
            rows[split] = np.array(found, np.int64).reshape(-1, 3)
            places[split] = slice(start, len(columns["items"]))
        factors, codes = coded_together(columns, len(columns["items"]))
        records = {
            split: SetSamples(table[:, :1], table[:, 1:2], codes[places[split]], answers=table[:, 2])
            for split, table in rows.items()
        }
        return PictureTextFiles(pictures.names, texts.names, records, factors, Target("agreement", "agreement"))


def _boxes(record: Record, where: str) -> Iterator[list[Mapping[str, Any]]]:
    """The items of each box."""
    for box in value(record, "structured_rep", list, where):
        if not isinstance(box, list) or not all(isinstance(item, dict) for item in box):
            raise DataError(f"{where}: expected lists of objects in 'structured_rep': restore the file")
        yield box


def _layout(items: list[Mapping[str, Any]]) -> str:
    return "tower" if all(item.get(key) == wanted for item in items for key, wanted in _TOWER.items()) else "scatter"
