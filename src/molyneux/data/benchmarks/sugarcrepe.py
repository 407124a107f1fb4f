"""SugarCrepe: pictures of COCO, each with a caption and a hard negative that is as fluent."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import final

import numpy as np

from molyneux.core import DataError, Factor, Target
from molyneux.data.benchmarks.bases.picture_texts import Numbering, PictureTextFiles, PictureTexts, SetSamples
from molyneux.data.formats.json_files import read_document, said, value

KINDS = ("add_att", "add_obj", "replace_att", "replace_obj", "replace_rel", "swap_att", "swap_obj")
"""Kinds of foils, each in a file of its own."""


@final
class SugarCrepe(PictureTexts):
    """Contrast sets of one picture with a caption and a foil; Hsieh et al., SugarCrepe (NeurIPS 2023).

    Layout of the GitHub repository `RAIVNLab/sugar-crepe`, folder `data`: seven files such as `swap_obj.json`, each an object
    whose values have `filename`, `caption` and `negative_caption`. Pictures are those of COCO's validation set of 2017, by
    default in the folder `val2017` beside the files; `images` names another place. The only split is `test`.

    The target is `agreement`, with contrast sets of (1, 2): the caption, then the foil. The factor `kind` is the file: what is
    added, replaced or swapped. See `PictureTexts` for views and settings.

    Args:
        folder: see `PictureTexts`.
        images: see `PictureTexts`.
        image_size: see `PictureTexts`.
        words: see `PictureTexts`.
        length: see `PictureTexts`.
    """

    name = "sugarcrepe-v1"
    licence = "MIT; pictures of COCO under the terms of Flickr"
    origin = "SugarCrepe (Hsieh, Zhang, Ma, Kembhavi and Krishna, NeurIPS 2023), pictures of COCO 2017"
    folders = ("sugar-crepe/data", "sugar-crepe", "sugarcrepe")
    files = tuple(f"{kind}.json" for kind in KINDS)
    published_as = "the files of the folder data of RAIVNLab/sugar-crepe on GitHub, and the pictures val2017 of cocodataset.org"
    picture_folder = "val2017"

    def read(self, paths: Mapping[str, Path]) -> PictureTextFiles:
        """See `PictureTexts`."""
        pictures, texts, rows = Numbering(), Numbering(), list[tuple[int, int, int, int]]()
        for code, kind in enumerate(KINDS):
            path = paths[f"{kind}.json"]
            found = read_document(path)
            if not isinstance(found, dict):
                raise DataError(f"{path}: expected an object of captions by number, got {type(found).__name__}: restore the file")
            if not found:
                raise DataError(f"{path}: expected captions, got none: restore the file")
            for number, record in found.items():
                where = f"{path}, {number}"
                if not isinstance(record, dict):
                    raise DataError(f"{where}: expected an object, got {type(record).__name__}: restore the file")
                name, caption, foil = (
                    value(record, "filename", str, where),
                    said(record, "caption", where),
                    said(record, "negative_caption", where),
                )
                if caption == foil:
                    raise DataError(f"{where}: expected a foil that differs from its caption, got the same: restore the file")
                rows.append((pictures(name), texts(caption), texts(foil), code))
        table = np.array(rows, np.int64).reshape(-1, 4)
        records = SetSamples(table[:, :1], table[:, 1:3], table[:, 3:])
        target = Target("agreement", "agreement", contrast=(1, 2))
        return PictureTextFiles(pictures.names, texts.names, {"test": records}, (Factor("kind", KINDS),), target)
