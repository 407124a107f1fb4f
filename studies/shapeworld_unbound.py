"""What can be answered without binding: a reader of perfect counts of colours and of shapes as a model.

    python studies/shapeworld_unbound.py

The control `unbound` of ShapeWorld (`UnboundCounts`) is told how many entities of a scene have each colour and how many have each
shape, and the caption, but not which shape has which colour nor where anything is. Boosted trees are trained on that and measured
as a model is, on samples of the training distribution, of validation and of test. Records go to
`studies/results/shapeworld-unbound`; with `--figure6` those of the paper's four kinds, in the variants of the study of Figure 6,
to `studies/results/shapeworld-figure6-unbound`.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from shapeworld_structure import KINDS as PAPER
from shapeworld_structure import SPLITS, measured, print_accuracy

from molyneux.data import ShapeWorld, Split
from molyneux.data.worlds.shapeworld.kinds import KINDS
from molyneux.measure import TrainedControl
from molyneux.report import StudyRun, save_records

RESULTS = Path(__file__).parent / "results"
VARIANTS = ("balanced", "bound", "foils")
CHUNK = 2000


def study_run(kind: str, variant: str, *, splits: tuple[Split, ...], train: int, test: int, seed: int) -> StudyRun:
    """Train the control of a kind and a variant, and measure it on some splits."""
    world = ShapeWorld(kind=kind, variant=variant, views=("meaning",))  # type: ignore[arg-type]
    model = TrainedControl(world.controls()["unbound"], seed=seed, samples=train)
    return measured("unbound counts", model, world, splits, train=train, test=test, seed=seed, chunk=CHUNK)


def main() -> None:
    """Make the record."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--figure6", action="store_true", help="the kinds and variants of the study of Figure 6, on all splits")
    parser.add_argument("--kinds", nargs="+", choices=list(KINDS), help="kinds of captions (default: all)")
    parser.add_argument("--variants", nargs="+", choices=[*VARIANTS, "published"], help="default: those of the study")
    parser.add_argument("--out", type=Path, help="file of the record (default: that of the study)")
    parser.add_argument("--train", type=int, default=16_000, help="samples that are trained on (default: %(default)s)")
    parser.add_argument("--test", type=int, default=4_000, help="samples of each split (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="root of every random number (default: %(default)s)")
    options = parser.parse_args()
    kinds = options.kinds or (PAPER if options.figure6 else tuple(KINDS))
    variants = options.variants or (("published", "balanced") if options.figure6 else VARIANTS)
    splits = SPLITS if options.figure6 else SPLITS[:1]
    out = options.out or RESULTS / ("shapeworld-figure6-unbound" if options.figure6 else "shapeworld-unbound") / "records.jsonl"
    runs = []
    for kind in kinds:
        for variant in variants:
            if (kind, variant) == ("oneshape", "bound"):
                continue  # one entity, so there is nothing to bind
            sizes = {"train": options.train, "test": options.test}
            runs.append(study_run(kind, variant, splits=splits, seed=options.seed, **sizes))
            print_accuracy(runs[-1], kind, variant)
            save_records(out, runs)


if __name__ == "__main__":
    main()
