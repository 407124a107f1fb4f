"""Judges of spoken digits and PolyMNIST: how they are trained, and what they say of views that are and are not of their world.

    python studies/benchmark_judges.py train FOLDER [--only spoken-digits-v1.audio] [--samples 40000]
    python studies/benchmark_judges.py test [--judges FOLDER] [--disjoint FILE] [--count 1000]

`train` writes one file for each modality, as `molyneux judge` does, and `disjoint.safetensors`: a judge of sounds that knows four
of the six speakers of FSDD, for what a judge makes of speakers that it never heard. Copied into
`src/molyneux/learn/judges/weights`, all but this one come with the package. `test` reads true test views, softened ones, and
each kind of view that shows no digit of its world, and writes the record `studies/results/benchmark-readers`: per kind how many
views were accepted, and how many were read correctly. The files of MNIST, FashionMNIST and FSDD are needed (`MOLYNEUX_DATA`).
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import torch

from molyneux.core import Dataset, Reader
from molyneux.data import FashionMNIST, PolyMNIST, SpokenDigits
from molyneux.learn.judges import Judge, judge_file, shipped_file
from molyneux.measure.readers import LabelledViews, reading_scores, softened
from molyneux.report import StudyRun, save_records
from molyneux.run.run.judge_training import make_judge

RESULTS = Path(__file__).parent / "results" / "benchmark-readers" / "records.jsonl"
CONFIGS = {"spoken-digits-v1": "configs/spoken-digits.yaml", "polymnist-v1": "configs/polymnist.yaml"}
DISJOINT = "disjoint.safetensors"
SEED = 1
TURNED = (2, 3, 4, 5, 7)
"""Digits that are none when they are turned by 180 degrees; of 2 and 5 some look the same, and 7 like an L."""
Kind = tuple[str, np.ndarray, np.ndarray | None]
"""Its name, views (N, C, H, W), and the true codes of the label (N,) where there are any."""


def data_of(world: str) -> Dataset:
    """The data set of a world."""
    return SpokenDigits() if world == SpokenDigits.name else PolyMNIST(modalities=5)


def pairs() -> list[tuple[str, str]]:
    """World and modality of each judge."""
    return [(SpokenDigits.name, "image"), (SpokenDigits.name, "audio"), *((PolyMNIST.name, f"m{i}") for i in range(5))]


def train(folder: Path, only: list[str], samples: int) -> None:
    """Train the judges that are not there yet."""
    folder.mkdir(parents=True, exist_ok=True)
    for world, modality in pairs():
        out = folder / judge_file(world, modality)
        if (not only or f"{world}.{modality}" in only) and not out.exists():
            judge = make_judge({"": data_of(world)}, modality, out, samples=samples, seed=SEED, named=CONFIGS[world])
            print(out, judge.record.accuracy, f"{out.stat().st_size:,} bytes", flush=True)
    out = folder / DISJOINT
    if (not only or "disjoint" in only) and not out.exists():
        four = SpokenDigits(recordings="speakers")
        judge = make_judge({"": four}, "audio", out, samples=samples, seed=SEED, named=CONFIGS[four.name])
        print(out, judge.record.accuracy, flush=True)


def kinds_of(world: str, modality: str, *, count: int, seed: int) -> Iterator[Kind]:
    """Views of the test split and others that show no digit of this world."""
    rng = np.random.default_rng(seed)
    data = data_of(world)
    batch = data.source("test", count, seed=seed).batch(np.arange(count))
    view, labels = batch.views[modality].numpy(), batch.factors[:, data.spec.factor_index("label")].numpy()
    yield "true", view, labels
    yield "soft", softened(view, seed=seed), labels
    other = rng.permutation(count)
    differ = labels != labels[other]
    yield "blends of two", ((view.astype(int) + view[other]) // 2).astype(np.uint8)[differ], None
    yield "noise", rng.integers(0, 256, view.shape, dtype=np.uint8), None
    yield "pixels in another order", view.reshape(count, -1)[:, rng.permutation(view[0].size)].reshape(view.shape), None
    yield "negative", 255 - view, None
    yield "blank", np.zeros_like(view), None
    if modality == "audio":
        yield "reversed in time", view[..., ::-1].copy(), None
        yield "bands in reverse", view[:, :, ::-1].copy(), None
        return
    if world == PolyMNIST.name:
        shrunk = PolyMNIST(modalities=5, scale=0.75).source("test", count, seed=seed).batch(np.arange(count))
        yield "small", shrunk.views[modality].numpy(), shrunk.factors[:, data.spec.factor_index("label")].numpy()
    if world == SpokenDigits.name:
        clothes = FashionMNIST().source("test", count, seed=seed).batch(np.arange(count))
        yield "clothes", clothes.views["image"].numpy(), None
    turned = np.isin(labels, TURNED)
    yield "upside down", view[turned][:, :, ::-1, ::-1].copy(), None
    yield "halves of two", np.concatenate([view[:, :, :14], view[other][:, :, 14:]], 2)[differ], None


def test(folder: Path | None, disjoint: Path | None, *, count: int, seed: int, out: Path) -> None:
    """Read every kind of view with every judge that is there, and write the record."""
    runs = []
    for world, modality in pairs():
        path = shipped_file(world, modality) if folder is None else folder / judge_file(world, modality)
        if path.exists():
            read = Judge.load(path).reader(data_of(world).spec, modality, ("label",))
            kinds = kinds_of(world, modality, count=count, seed=seed)
            runs += [run_of(read, kind, data_of(world), modality, "judge", seed) for kind in kinds]
    if disjoint is not None:
        data = SpokenDigits(recordings="speakers")
        batch = data.source("test", count, seed=seed).batch(np.arange(count))
        labels = batch.factors[:, data.spec.factor_index("label")].numpy()
        read = Judge.load(disjoint).reader(data.spec, "audio", ("label",))
        kind = ("true, of a speaker never heard", batch.views["audio"].numpy(), labels)
        runs.append(run_of(read, kind, data, "audio", "judge of four speakers", seed))
    save_records(out, runs)


def run_of(reader: Reader, kind: Kind, data: Dataset, modality: str, name: str, seed: int) -> StudyRun:
    """The record of one kind of view."""
    _, views, labels = kind
    values = data.spec.factor("label").values
    shown = LabelledViews(views, {} if labels is None else {"label": [values[code] for code in labels]})
    scores = [score for score in reading_scores(reader, data.spec, shown)[0] if score.name != "reading.read"]
    print(data.name, modality, name, kind[0], {score.name: round(score.value, 1) for score in scores}, flush=True)
    settings = {"world": data.name, "modality": modality, "reader": name, "kind": kind[0], "seed": seed}
    return StudyRun(settings, tuple(scores))


def main() -> None:
    """Train judges, or test them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    making = commands.add_parser("train")
    making.add_argument("folder", type=Path)
    making.add_argument("--only", nargs="*", default=[], help="judges such as polymnist-v1.m0, or disjoint")
    making.add_argument("--samples", type=int, default=40_000)
    testing = commands.add_parser("test")
    testing.add_argument("--judges", type=Path, help="their folder; by default those of the package")
    testing.add_argument("--disjoint", type=Path)
    testing.add_argument("--count", type=int, default=1000)
    testing.add_argument("--seed", type=int, default=77)
    testing.add_argument("--out", type=Path, default=RESULTS)
    options = parser.parse_args()
    torch.set_num_threads(1)
    if options.command == "train":
        train(options.folder, options.only, options.samples)
    else:
        test(options.judges, options.disjoint, count=options.count, seed=options.seed, out=options.out)


if __name__ == "__main__":
    main()
