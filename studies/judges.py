"""What readers say of pictures and contours that are not of their world, and of true ones.

    python studies/judges.py [--count 1000] [--sheets FOLDER]

Every reader of CdSprites+ and GeBiD, at every level, reads true views, softened ones, these as JPEG and with blocks of noise, and
each kind of wrong view of `molyneux.measure.readers`. The record, in `studies/results/readers`, says per kind how many views were
accepted (every factor read), per factor how many were read, and how many of those that show it were read correctly. Pictures of
CdSprites+ are also shown in sizes near to the world's, drawn by the world itself (`size: 0.95`), and in single shapes near to its
shapes (`near: drop`), with what these were read as. Choices were made with `--seed 1`. With `--only`, other rows of an existing
record stay.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np
import torch
from PIL import Image, ImageDraw

from molyneux.core import Reader, Score
from molyneux.data import CdSprites, GeBiD, World
from molyneux.learn.judges import Judge, load_judge
from molyneux.measure.readers import ALIKE, KINDS, LabelledViews, WrongPictures, kinds_of_views, reading_scores
from molyneux.report import StudyRun, load_records, save_records

RESULTS = Path(__file__).parent / "results" / "readers" / "records.jsonl"
WORLDS = {"cdsprites-v1": CdSprites, "gebid-v1": GeBiD}
LEVELS = range(1, 6)
MODALITIES, READERS = ("image", "touch"), ("exact", "judge")
SCALES = (0.86, 0.89, 0.95, 1.05, 1.12, 1.16, 1.2)
"""Sizes in those of the world."""
SHOWN = 12
"""Views of each kind on a contact sheet."""


def kinds_of(world: World, modality: str, level: int, *, count: int, seed: int) -> Iterator[tuple[str, LabelledViews]]:
    """True views and wrong ones by kind."""
    batch = world.source("test", count, seed=seed).batch(np.arange(count))
    return kinds_of_views(world.name, level, world.spec, batch, modality, world.visible(modality), seed=seed)


def close_kinds(world: World, modality: str, level: int, *, count: int, seed: int) -> Iterator[tuple[str, LabelledViews]]:
    """Pictures of CdSprites+ in other sizes, as the world draws them, and single shapes that resemble its own."""
    if (world.name, modality) != ("cdsprites-v1", "image"):
        return
    for scale in SCALES:
        other = CdSprites(level=level, modalities=("image",), sizes={"small": 0.5 * scale, "big": scale})
        batch = other.source("test", count, seed=seed).batch(np.arange(count))
        names = ("big",) if level == 1 else other.spec.factor("size").values
        sizes = batch.factors[:, other.spec.factor_index("size")].numpy() if level > 1 else np.zeros(count, int)
        for code, name in enumerate(names):
            yield f"size: {name} {scale}", LabelledViews(batch.views["image"].numpy()[sizes == code])
    for name in ALIKE:
        yield f"near: {name}", WrongPictures(world.name, level, seed=seed + 1000).draw_alike(name, count)


def readers_of(world: World, modality: str, judges: dict[tuple[str, str], Judge]) -> dict[str, Reader]:
    """The exact reader, where there is one, and the judge."""
    found = {"exact": world.readers()[modality]} if modality in world.readers() else {}
    judge = judges.get((world.name, modality))
    return {**found, **({} if judge is None else {"judge": judge.reader(world.spec, modality, world.visible(modality))})}


def scores_of(reader: Reader, world: World, drawn: LabelledViews, *, named: bool) -> tuple[list[Score], np.ndarray]:
    """What a reader said and how fast, and its codes; where `named`, also which shapes it accepted."""
    started = time.perf_counter()
    scores, reading = reading_scores(reader, world.spec, drawn, named="shape" if named else "")
    count = len(drawn.views)
    speed = Score("reading.speed", count / (time.perf_counter() - started), n=count, unit="views/s")
    kept = [score for score in scores if score.name != "reading.correct_forced"]
    return [kept[0], speed, *kept[1:]], reading.codes.numpy()


def sheet(path: Path, world: World, rows: list[tuple[str, np.ndarray, list[np.ndarray], tuple[str, ...]]]) -> None:
    """A contact sheet: one row a kind, under each picture what each reader read (? = unreadable)."""
    cell, text = 100, 12
    lines = max(len(codes) * len(factors) for _, _, codes, factors in rows)
    height = cell + text * lines + 6
    out = Image.new("RGB", (90 + SHOWN * (cell + 4), len(rows) * height), "white")
    pen = ImageDraw.Draw(out)
    for row, (kind, views, found, factors) in enumerate(rows):
        pen.text((4, row * height + 40), kind, fill="black")
        for column, view in enumerate(views[:SHOWN]):
            x, y = 90 + column * (cell + 4), row * height
            out.paste(Image.fromarray(view.transpose(1, 2, 0)).resize((cell, cell), Image.Resampling.NEAREST), (x, y))
            for line, (codes, name, i) in enumerate((codes, name, i) for codes in found for i, name in enumerate(factors)):
                code = codes[column, i]
                word = world.spec.factor(name).values[code][-13:] if code >= 0 else f"{name[:5]}?"
                pen.text((x, y + cell + text * line), word, fill="black" if code >= 0 else "red")
    path.parent.mkdir(parents=True, exist_ok=True)
    out.save(path)


def main() -> None:
    """Make the record."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=RESULTS, help="file of the record (default: %(default)s)")
    parser.add_argument("--count", type=int, default=1000, help="views of each kind (default: 1000)")
    parser.add_argument("--seed", type=int, default=77, help="of every view (default: 77)")
    parser.add_argument("--sheets", type=Path, help="folder for contact sheets")
    parser.add_argument("--judges", type=Path, nargs="*", default=(), help="files of judges instead of those of the package")
    parser.add_argument("--only", nargs="*", help="worlds, modalities, levels, readers or kinds, such as image 4 exact near")
    options = parser.parse_args()
    torch.set_num_threads(1)
    given = [Judge.load(path) for path in options.judges]
    judges = {(judge.record.world, judge.record.modality.name): judge for judge in given} or shipped()
    only = Only(options.only or ())
    runs = []
    for name, level, modality in ((n, lv, m) for n in WORLDS for m in MODALITIES for lv in LEVELS):
        if not (only.has(name, WORLDS) and only.has(modality, MODALITIES) and only.has(str(level), map(str, LEVELS))):
            continue
        world = WORLDS[name](level=level, modalities=(modality,))
        readers = {key: reader for key, reader in readers_of(world, modality, judges).items() if only.has(key, READERS)}
        rows = []
        for drawn_by in (kinds_of, close_kinds) if readers else ():
            for kind, drawn in drawn_by(world, modality, level, count=options.count, seed=options.seed):
                if not only.has(kind.split(":")[0], (*KINDS, "size")):
                    continue
                found = {}
                for key, reader in readers.items():
                    scores, found[key] = scores_of(reader, world, drawn, named=kind.startswith("near:"))
                    place = {"world": name, "level": level, "modality": modality, "reader": key, "kind": kind}
                    runs.append(StudyRun({**place, "seed": options.seed}, tuple(scores)))
                    shown = {" ".join([s.name.split(".")[1], *s.about.values()]): round(s.value, 1) for s in scores}
                    print(*place.values(), shown, flush=True)
                rows.append((kind, drawn.views, list(found.values()), next(iter(readers.values())).factors))
        if options.sheets and modality == "image" and rows:
            sheet(options.sheets / f"{name}-{level}.png", world, rows)
    save_records(options.out, merged(load_records(options.out), runs) if options.only and options.out.exists() else runs)


class Only:
    """What is read: everything of a group of which nothing is named, or what is named."""

    def __init__(self, named: Sequence[str]) -> None:
        self._named = set(named)

    def has(self, value: str, group: Iterable[str]) -> bool:
        """Whether a value of a group is read."""
        return value in self._named or not self._named & set(group)


def merged(old: Sequence[StudyRun], new: Sequence[StudyRun]) -> list[StudyRun]:
    """All runs, new ones in place of old ones of the same settings, in the order in which everything is read."""
    runs = {tuple(sorted(run.settings.items())): run for run in (*old, *new)}.values()
    kinds = list(dict.fromkeys(run.settings["kind"] for run in runs))
    orders = {"world": list(WORLDS), "modality": list(MODALITIES), "level": list(LEVELS), "kind": kinds, "reader": list(READERS)}
    return sorted(runs, key=lambda run: [order.index(run.settings[name]) for name, order in orders.items()])


def shipped() -> dict[tuple[str, str], Judge]:
    """The judges of the package."""
    from molyneux.learn.judges import shipped_judges

    return {pair: load_judge(*pair) for pair in shipped_judges()}


if __name__ == "__main__":
    main()
