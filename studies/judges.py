"""Rebuilds the judges that come with the package: `python studies/judges.py cdsprites-v1 image`.

Each learns from fresh samples of all five levels of its world and is examined on 10,000 samples of the split `test` of
each level. About ten minutes on one core; a run that was stopped goes on when started again.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import time
from collections.abc import Mapping
from pathlib import Path

import torch

from molyneux import data
from molyneux.learn.judges import confusion, judge_file, train_judge
from molyneux.learn.judges import shipped as judges

WORLDS = {"cdsprites-v1": "CdSprites", "gebid-v1": "GeBiD"}
LEVELS = range(1, 6)


class Printer:
    """Says how it goes, once a minute."""

    def __init__(self) -> None:
        self.told = 0.0

    def step(self, done: int, total: int, samples_per_second: float, seconds_left: float) -> None:
        if time.monotonic() - self.told > 30 or done == total:
            self.told = time.monotonic()
            print(f"step {done} of {total}, {samples_per_second:.0f} samples/s, {seconds_left:.0f} s left", flush=True)

    def epoch(self, row: Mapping[str, float]) -> None:
        print({name: round(value, 5) for name, value in row.items()}, flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("world", choices=sorted(WORLDS))
    parser.add_argument("modality", choices=["image", "touch"])
    parser.add_argument("--samples", type=int, default=120_000, help="training samples of each level")
    parser.add_argument("--out", type=Path, help="file to write; the package's own unless given")
    parser.add_argument("--work", type=Path, default=Path("runs/judges"), help="folder of the training")
    options = parser.parse_args()
    torch.set_num_threads(1)
    world = getattr(data, WORLDS[options.world])
    levels = {str(level): world(level=level, modalities=(options.modality,)) for level in LEVELS}
    name = judge_file(options.world, options.modality)
    work = options.work / name.removesuffix(".safetensors")
    judge = train_judge(
        {level: made.source("train", options.samples, seed=0) for level, made in levels.items()},
        held_out := {level: made.source("test", 10_000, seed=1) for level, made in levels.items()},
        work,
        world=options.world,
        modality=options.modality,
        factors=levels["5"].visible(options.modality),
        command=f"python studies/judges.py {options.world} {options.modality}",
        progress=Printer(),
    )
    judge.save(options.out or Path(judges.__file__).parent / "weights" / name)
    shutil.rmtree(work)
    for level, source in held_out.items():
        for factor, table in confusion(judge, source).items():
            print(f"level {level} {factor}: {judge.record.accuracy[level][factor]:.4%} {table.tolist()}")


if __name__ == "__main__":
    sys.exit(main())
