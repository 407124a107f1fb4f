"""CREPE: regions of Visual Genome, each with a caption and several hard negatives."""

from __future__ import annotations

import ast
import csv
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple, final

import numpy as np

from molyneux.core import DataError, StoreError, Target, choice_problems, files, store
from molyneux.data.benchmarks.bases.picture_texts import Numbering, PictureTextFiles, PictureTexts, SetSamples, coded_together
from molyneux.data.formats.json_files import Record, read_document

Part = Literal["productivity", "systematicity"]
Training = Literal["cc12m", "laion", "yfcc"]

_WIDEST = 100_000
"""Pixels of a side of a picture at most."""

_COMPLEXITIES = range(4, 13)
_SUFFIXES = (".csv", ".json")
_KINDS: dict[str, tuple[str, ...]] = {"productivity": ("atom", "negate", "swap"), "systematicity": ("atom", "comp", "combined")}
_SEEN = ("seen", "unseen")
_TRAININGS = ("cc12m", "laion", "yfcc")
_PRODUCTIVITY, _SYSTEMATICITY = "prod_hard_negatives/", "syst_hard_negatives/"


class _Table(NamedTuple):
    """A file of CREPE: its name without a suffix, the column of negatives by kind of foil, and what all of its rows have."""

    stem: str
    columns: Mapping[str, str]
    about: Mapping[str, str]


class _Set(NamedTuple):
    """A contrast set: picture, box, caption, negatives and values of factors."""

    image: str
    box: tuple[int, int, int, int]
    caption: str
    negatives: Sequence[str]
    about: Mapping[str, str]


@final
class CREPE(PictureTexts):
    """Contrast sets of one region of a picture with its caption and foils; Ma et al., CREPE (CVPR 2023).

    Layout of the folder `data` of the GitHub repository `RAIVNLab/CREPE`, each table as CSV, whose lists are written as in
    Python, or as a list of objects in JSON; all have `image_id`, `x`, `y`, `width`, `height` and `caption`:

    - productivity: `prod_hard_negatives/swap/prod_vg_hard_negs_swap_complexity_4.csv` and so on, of the kinds atom, negate and
      swap and complexities from 4 to 12, or a file `prod_hard_negatives/prod_vg_hard_negs_swap_all.csv` for each kind with the
      complexity as `n`; foils are in `hard_negs`;
    - systematicity: `syst_hard_negatives/syst_vg_hard_negs_seen_compounds_in_cc12m.csv` and `.._unseen_..`, of which there are
      some for each set of training pictures; foils are in `valid_hard_negs_atom`, `valid_hard_negs_comp` and
      `valid_hard_negs_combined`, of which those are used that the file has.

    Pictures are those of Visual Genome in `VG_100K` and `VG_100K_2`, by default beside the files, such as `VG_100K/2.jpg`. A view
    shows the region of the caption, as in the published evaluation. The only split is `test`.

    The target is `agreement`, with contrast sets of (1, 1 + negatives); sets with fewer foils are left out, and foils
    that are empty or the caption itself are none. The text score of
    `contrasts` is then the paper's recall at 1. Factors are `kind`, and `complexity` (number of atoms of the caption) or
    `compounds` (whether the training pictures have them: seen, unseen). See `PictureTexts` for views and settings.

    Args:
        part: which of the two tests.
        training: of systematicity, the training set of the model: conceptual captions, LAION-400M or YFCC-15M.
        negatives: foils of a set.
        folder: see `PictureTexts`.
        images: see `PictureTexts`.
        image_size: see `PictureTexts`.
        words: see `PictureTexts`.
        length: see `PictureTexts`.
    """

    name = "crepe-v1"
    licence = "annotations as their repository states; pictures of Visual Genome: CC BY 4.0"
    origin = "CREPE (Ma, Hong, Gul, Gandhi, Gao and Krishna, CVPR 2023), pictures of Visual Genome"
    folders = ("crepe/data", "crepe", "CREPE/data", "CREPE")
    files = ()
    optional = tuple(
        f"{stem}{suffix}"
        for stem in (
            *(f"{_PRODUCTIVITY}prod_vg_hard_negs_{kind}_all" for kind in _KINDS["productivity"]),
            *(
                f"{_PRODUCTIVITY}{kind}/prod_vg_hard_negs_{kind}_complexity_{number}"
                for kind in _KINDS["productivity"]
                for number in _COMPLEXITIES
            ),
            *(f"{_SYSTEMATICITY}syst_vg_hard_negs_{seen}_compounds_in_{name}" for seen in _SEEN for name in _TRAININGS),
        )
        for suffix in _SUFFIXES
    )
    published_as = (
        "the content of the folder data of RAIVNLab/CREPE on GitHub, and the pictures VG_100K and VG_100K_2 of Visual Genome"
    )
    picture_folder = ""

    def __init__(
        self,
        *,
        part: Part = "productivity",
        training: Training = "cc12m",
        negatives: int = 5,
        folder: Path | None = None,
        images: Path | None = None,
        image_size: tuple[int, int] = (224, 224),
        words: int | None = None,
        length: int | None = None,
    ) -> None:
        problems = choice_problems(part=(part, tuple(_KINDS)), training=(training, _TRAININGS))
        problems += [f"negatives: expected at least 1, got {negatives}"] if negatives < 1 else []
        settings = {
            "image_size": image_size,
            "words": words,
            "length": length,
            "part": part,
            "training": training,
            "negatives": negatives,
        }
        self._begin(folder, images, settings, problems=problems)

    def candidates(self, name: str) -> Sequence[str]:
        """A picture lies in one of two folders, or in the folder of all pictures itself."""
        return tuple(f"{folder}{name}.jpg" for folder in ("VG_100K/", "VG_100K_2/", ""))

    def paths(self) -> dict[str, Path]:
        """The tables of the chosen part, by their stem.

        Raises:
            StoreError: one is missing; the message names the folder, the files, and where they are published.
        """
        found = {table.stem: self._file(table.stem) for table in self._tables()}
        if missing := [f"{stem}.csv" for stem, path in found.items() if path is None]:
            raise StoreError(
                f"expected the tables of {self.name} (as .csv or .json) in {self.folder}, which lacks {', '.join(missing)}: put "
                f"there {self.published_as}; nothing is downloaded"
            )
        return {stem: path for stem, path in found.items() if path is not None}

    def read(self, paths: Mapping[str, Path]) -> PictureTextFiles:
        """See `PictureTexts`."""
        wanted = self._settings["negatives"]
        found = {table.stem: list(_sets(paths[table.stem], table)) for table in self._tables()}
        if empty := [str(paths[stem]) for stem, items in found.items() if not items]:
            raise DataError(f"{', '.join(empty)}: expected rows, got none: restore the file")
        sets = [item for items in found.values() for item in items if len(item.negatives) >= wanted]
        if not sets:
            raise DataError(f"{self.folder}: expected captions with at least {wanted} foils, got none: lower negatives")
        pictures, texts = Numbering(), Numbering()
        shown = np.array([[pictures(item.image)] for item in sets], np.int64)
        said = np.array([[texts(text) for text in (item.caption, *item.negatives[:wanted])] for item in sets], np.int64)
        names = dict.fromkeys(name for item in sets for name in item.about)
        factors, codes = coded_together({name: [item.about.get(name) for item in sets] for name in names}, len(sets))
        records = SetSamples(shown, said, codes, boxes=np.array([item.box for item in sets], np.int64))
        target = Target("agreement", "agreement", contrast=(1, 1 + wanted))
        return PictureTextFiles(pictures.names, texts.names, {"test": records}, factors, target)

    def _tables(self) -> list[_Table]:
        """The tables that are needed; of productivity, one of all complexities for each kind of foils, or one for each."""
        if self._settings["part"] == "systematicity":
            columns = {kind: f"valid_hard_negs_{kind}" for kind in _KINDS["systematicity"]}
            stem = f"{_SYSTEMATICITY}syst_vg_hard_negs_{{}}_compounds_in_{self._settings['training']}"
            return [_Table(stem.format(seen), columns, {"compounds": seen}) for seen in _SEEN]
        found = []
        for kind in _KINDS["productivity"]:
            columns, stem = {kind: "hard_negs"}, f"prod_vg_hard_negs_{kind}"
            whole = _Table(f"{_PRODUCTIVITY}{stem}_all", columns, {})
            each = (f"{_PRODUCTIVITY}{kind}/{stem}_complexity_{number}" for number in _COMPLEXITIES)
            parts = [_Table(name, columns, {"complexity": name.rpartition("_")[2]}) for name in each]
            found += parts if self._file(whole.stem) is None else [whole]
        return found

    def _file(self, stem: str) -> Path | None:
        paths = (self.folder / f"{stem}{suffix}" for suffix in _SUFFIXES)
        return next((path for path in paths if store.is_file(path)), None)


def _sets(path: Path, table: _Table) -> Iterator[_Set]:
    """The contrast sets of a file, in its order."""
    for where, record in _rows(path):
        columns = {kind: column for kind, column in table.columns.items() if column in record}
        if not columns:
            raise DataError(f"{where}: expected foils in {' or '.join(table.columns.values())}, got none: restore the file")
        left, top, width, height = (_whole(record, key, where) for key in ("x", "y", "width", "height"))
        about = table.about if "n" not in record else {"complexity": str(_whole(record, "n", where)), **table.about}
        image, caption = str(_whole(record, "image_id", where)), record.get("caption")
        if not isinstance(caption, str) or not caption.strip():
            raise DataError(f"{where}: expected a 'caption', got {caption!r}: restore the file")
        if min(width, height, left + width, top + height) < 1 or max(left, top, width, height) > _WIDEST:
            got = f"x {left}, y {top}, width {width}, height {height}"
            raise DataError(f"{where}: expected a box within a picture, got {got}: restore the file")
        for kind, column in columns.items():
            box = (left, top, left + width, top + height)
            foils = [text for text in _texts(record[column], where, column) if text.strip() and text != caption]
            yield _Set(image, box, caption, foils, {"kind": kind, **about})


def _rows(path: Path) -> Iterator[tuple[str, Record]]:
    """The rows of a table, with what an error calls them."""
    if path.suffix == ".json":
        found = read_document(path)
        if not isinstance(found, list) or not all(isinstance(item, dict) for item in found):
            raise DataError(f"{path}: expected a list of objects: restore the file")
        yield from ((f"{path}, object {number}", item) for number, item in enumerate(found))
        return
    try:
        with files.open_text(path, newline="") as stream:
            for number, row in enumerate(csv.DictReader(stream, strict=True), 1):
                yield f"{path}, row {number}", row
    except OSError as error:
        raise store.read_error(error, path) from error
    except (csv.Error, UnicodeDecodeError) as error:
        raise DataError(f"{path}: expected rows separated by commas, in UTF-8: {error}: restore the file") from error


def _whole(record: Record, key: str, where: str) -> int:
    """A whole number, which CSV and the published JSON write as text."""
    try:
        return int(str(record[key]))
    except (KeyError, ValueError) as error:
        raise DataError(f"{where}: expected {key!r} as a whole number, got {record.get(key)!r}: restore the file") from error


def _texts(found: Any, where: str, column: str) -> list[str]:
    """A list of texts, which CSV writes as Python does."""
    try:
        texts = ast.literal_eval(found) if isinstance(found, str) else found
    except (ValueError, SyntaxError) as error:
        raise DataError(f"{where}: expected {column!r} as a list of texts, got {str(found)[:50]!r}: restore the file") from error
    if not isinstance(texts, list | tuple) or not all(isinstance(text, str) for text in texts):
        raise DataError(f"{where}: expected {column!r} as a list of texts, got {str(found)[:50]!r}: restore the file")
    return list(texts)
