"""ENRICO: screens of apps, as pictures and as wireframes, and what each is for."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import final

import numpy as np
import pyarrow as pa
import pyarrow.csv

from molyneux.core import Batch, DataError, Modality, Spec, StoreError, Target, files, store
from molyneux.core.image_files import in_threads, read_image
from molyneux.data.benchmarks.bases.file_benchmark import FileBenchmark, FileSamples, shuffled, tensors

TABLE = "design_topics.csv"
PICTURES = {"screenshot": "screenshots/{}.jpg", "wireframe": "wireframes/{}.png"}
DAMAGED = ("50105", "50109")
_SPLIT_SEED = 42
TOPICS = 20


@final
class ENRICO(FileBenchmark):
    """Screens of Android apps with 20 design topics: 1,460 screens; Leiva, Hota and Oulasvirta (MobileHCI, 2020).

    Layout: `design_topics.csv` with the columns `screen_id` and `topic`, and the pictures `screenshots/<id>.jpg` and
    `wireframes/<id>.png`. The screens 50105 and 50109, whose wireframes are damaged, are left out.

    Modalities are `screenshot` and `wireframe`, images (3, 256, 128) by default, decoded when they are asked for and resized by
    Lanczos' filter. The target is the class `topic`, in alphabetical order. Splits are those of `random.Random(42)`: 65 % of the
    screens train, 15 % validate, 20 % test. The published loader tests on the training split; this one does not.

    Args:
        folder: see `FileBenchmark`.
        image_size: height and width of the views in pixels.
    """

    name = "enrico-v1"
    licence = "MIT"
    origin = "Leiva, Hota and Oulasvirta (MobileHCI 2020)"
    page = "https://github.com/luileito/enrico"
    metric = "accuracy"
    sizes = "947 / 219 / 292"
    folders = ("enrico",)
    files = (TABLE,)
    published_as = f"design_topics.csv and the folders screenshots and wireframes of {page}"

    def __init__(self, folder: Path | None = None, *, image_size: tuple[int, int] = (256, 128)) -> None:
        sound = len(image_size) == 2 and min(image_size) >= 1
        problems = [] if sound else [f"image_size: expected a height and a width of at least 1 pixel, got {list(image_size)}"]
        super().__init__(folder, {"image_size": tuple(image_size)}, problems)

    def open(self, paths: Mapping[str, Path]) -> FileSamples:
        """See `FileBenchmark`."""
        path = paths[TABLE]
        try:
            text = pa.csv.ConvertOptions(column_types={"screen_id": pa.string(), "topic": pa.string()})
            table = pa.csv.read_csv(files.require_plain_file(path), convert_options=text)
        except (pa.ArrowInvalid, OSError) as error:
            raise DataError(f"{path}: expected a table with columns screen_id and topic, got none ({error})") from error
        if missing := [name for name in ("screen_id", "topic") if name not in table.column_names]:
            raise self.wrong(
                path, "the columns screen_id and topic", f"{', '.join(table.column_names)} without {', '.join(missing)}"
            )
        pairs = zip(table["screen_id"].to_pylist(), table["topic"].to_pylist(), strict=True)
        screens = [(screen, topic) for screen, topic in pairs if screen not in DAMAGED]
        if unnamed := [screen for screen, topic in screens if not topic or not screen]:
            raise self.wrong(path, "a topic for each screen", f"none for {unnamed[0]!r}")
        topics = sorted({topic for _, topic in screens})
        if len(topics) < 2:
            raise self.wrong(path, "at least two topics", f"{len(topics)}")
        codes = np.array([topics.index(topic) for _, topic in screens], np.int64)
        order, count = shuffled(len(screens), _SPLIT_SEED), len(screens)
        cuts = (int(count * 0.65), int(count * (0.65 + 0.15)))
        rows = {"train": order[: cuts[0]], "validation": order[cuts[0] : cuts[1]], "test": order[cuts[1] :]}
        height, width = self._settings["image_size"]
        shape = (3, height, width)
        spec = Spec(
            tuple(Modality(name, "image", shape, "uint8") for name in PICTURES),
            targets=(Target("topic", "class", tuple(topics)),),
        )

        def read(rows: np.ndarray) -> Batch:
            names = [screens[row][0] for row in rows.tolist()]
            views = {
                sense: np.stack(list(in_threads(partial(self._picture, place, shape), names)))
                if names
                else np.empty((0, *shape), np.uint8)
                for sense, place in PICTURES.items()
            }
            return Batch(tensors(**views), targets=tensors(topic=codes[rows]))

        return FileSamples(spec, rows, read)

    def _picture(self, place: str, shape: tuple[int, int, int], screen: str) -> np.ndarray:
        path = self.folder / place.format(screen)
        if not store.is_file(path):
            raise StoreError(f"expected the picture {path}, which is not there: {self.advice}")
        return read_image(path, shape, str(path))
