"""Rebuilds a judge that comes with the package, and says where it errs: `python studies/judges.py cdsprites-v1 image`.

The same as `molyneux judge`, which it calls, and then a table per level and factor of what was read (columns) for what was
there (rows) on the 10,000 fresh samples of the examination. A run that was stopped goes on when started again.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Mapping
from pathlib import Path

import torch

from molyneux import data
from molyneux.learn.judges import confusion, judge_file
from molyneux.learn.judges import shipped as judges
from molyneux.run import make_judge

WORLDS = {"cdsprites-v1": "CdSprites", "gebid-v1": "GeBiD"}
LEVELS = range(1, 6)
SAMPLES = 120_000


class Printer:
    """Says how it goes, twice a minute."""

    def __init__(self) -> None:
        self.told = 0.0

    def step(self, done: int, total: int, samples_per_second: float, seconds_left: float) -> None:
        if time.monotonic() - self.told > 30 or done == total:
            self.told = time.monotonic()
            print(f"step {done} of {total}, {samples_per_second:.0f} samples/s, {seconds_left:.0f} s left", flush=True)

    def epoch(self, row: Mapping[str, float]) -> None:
        print({name: round(value, 5) for name, value in row.items()}, flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("world", choices=sorted(WORLDS))
    parser.add_argument("modality", choices=["image", "touch"])
    parser.add_argument("--samples", type=int, default=SAMPLES, help="samples to learn from, of each level")
    parser.add_argument("--out", type=Path, help="file to write; the package's own unless given")
    options = parser.parse_args()
    torch.set_num_threads(1)
    out = options.out or Path(judges.__file__).parent / "weights" / judge_file(options.world, options.modality)
    made = getattr(data, WORLDS[options.world])
    worlds = {str(level): made(level=level, modalities=(options.modality,)) for level in LEVELS}
    judge = make_judge(worlds, options.modality, out, samples=options.samples, seed=0, progress=Printer())
    for level, world in worlds.items():
        for factor, table in confusion(judge, world.source("test", judge.record.samples, seed=0)).items():
            print(f"level {level} {factor}: {judge.record.accuracy[level][factor]:.2%} {table.tolist()}")
        for kind, used in judge.record.doubts[level].items():
            for what, shares in used.items():
                print(f"level {level} {kind} {what}:", {factor: round(share, 4) for factor, share in shares.items()})


if __name__ == "__main__":
    main()
