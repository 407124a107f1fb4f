"""Winoground: two pictures and two captions of the same words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import final

import numpy as np

from molyneux.core import DataError, Target
from molyneux.data.benchmarks.bases.picture_texts import Numbering, PictureTextFiles, PictureTexts, SetSamples, coded_together
from molyneux.data.formats.json_files import read_lines, said, value

_TAGS = ("collapsed_tag", "secondary_tag", "tag", "num_main_preds")
_SUFFIXES = (".png", ".jpg")


@final
class Winoground(PictureTexts):
    """Contrast sets of two pictures and two captions that have the same words in another order; Thrush et al. (CVPR 2022).

    Layout of the Hugging Face repository `facebook/winoground`: `examples.jsonl`, an object a line with `image_0` and `image_1`
    (names of pictures, without a suffix), `caption_0`, `caption_1`, `tag`, `secondary_tag`, `num_main_preds` and `collapsed_tag`;
    and the pictures of `images.zip` in the folder `images`. 400 sets, four samples each; the only split is `test`.

    The target is `agreement`, with contrast sets of (2, 2). Factors are the tags that the file has: `collapsed_tag` (what is
    swapped: objects, relations or both), `secondary_tag`, `tag`, and `num_main_preds`, the number of main predicates. See
    `PictureTexts` for views and settings.

    Args:
        folder: see `PictureTexts`.
        images: see `PictureTexts`.
        image_size: see `PictureTexts`.
        words: see `PictureTexts`.
        length: see `PictureTexts`.
    """

    name = "winoground-v1"
    licence = "research use only, under the agreement of its repository; pictures by Getty Images"
    origin = "Winoground (Thrush, Jiang, Bartolo, Singh, Williams, Kiela and Ross, CVPR 2022)"
    folders = ("winoground/data", "winoground")
    files = ("examples.jsonl",)
    published_as = "examples.jsonl and the folder images, unpacked from images.zip, of facebook/winoground on Hugging Face"

    def candidates(self, name: str) -> Sequence[str]:
        """A picture is named without its suffix."""
        return (name,) if Path(name).suffix else tuple(f"{name}{suffix}" for suffix in _SUFFIXES)

    def read(self, paths: Mapping[str, Path]) -> PictureTextFiles:
        """See `PictureTexts`."""
        pictures, texts, sets = Numbering(), Numbering(), list[tuple[list[int], list[int]]]()
        tags: dict[str, list[str | None]] = {name: [] for name in _TAGS}
        for where, record in read_lines(paths["examples.jsonl"]):
            shown = [value(record, f"image_{number}", str, where) for number in (0, 1)]
            captions = [said(record, f"caption_{number}", where) for number in (0, 1)]
            if shown[0] == shown[1] or captions[0] == captions[1]:
                raise DataError(f"{where}: expected two pictures and two captions, got one twice: restore the file")
            sets.append(([pictures(name) for name in shown], [texts(text) for text in captions]))
            for name, values in tags.items():
                values.append(str(record.get(name) or "") or None)
        factors, codes = coded_together(tags, len(sets))
        shown_numbers = np.array([shown for shown, _ in sets], np.int64).reshape(-1, 2)
        said_numbers = np.array([said for _, said in sets], np.int64).reshape(-1, 2)
        records = SetSamples(shown_numbers, said_numbers, codes)
        return PictureTextFiles(
            pictures.names, texts.names, {"test": records}, factors, Target("agreement", "agreement", contrast=(2, 2))
        )
