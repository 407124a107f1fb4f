"""What answers the two-way choice of `molyneux-v1` without a model: geometry, low-level statistics, single numbers of outlines.

    python studies/molyneux_references.py

Outlines are read in pictures and touches without a list of shapes. One thing is given in one sense, two in the other: that whose
outline, or whose statistics in standard deviations, is nearer is chosen. The record goes to
`studies/results/molyneux-references/records.json`; it takes half a minute of one core.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch
from molyneux_further import samples as further_samples

from molyneux.core import store
from molyneux.data import Bridging, MolyneuxShapes
from molyneux.data.worlds.molyneux_shapes.bridging import ROLES
from molyneux.data.worlds.molyneux_shapes.comparison import SINGLE, STATISTICS, distances, single_numbers, statistics
from molyneux.data.worlds.molyneux_shapes.references import outlines
from molyneux.measure.two_way_choice import pairs_interval, two_way_choices

RESULTS = Path(__file__).parent / "results" / "molyneux-references" / "records.json"
SENSES = ("image", "touch")
FURTHER = "further"
"""In place of a role: shapes that are not of the world, see `molyneux_further.py`."""

CHOOSERS = {
    "compactness": ("compactness",),
    "elongation": ("elongation",),
    "compactness, elongation and unevenness": ("compactness", "elongation", "unevenness"),
    "area and perimeter": ("area", "perimeter"),
}
"""Low-level statistics by which things are compared; the last three are those in which the two of a pair are alike."""

OTHERS = {
    "the farthest point": "farthest point",
    "skewness of the radii": "skewness",
    "kurtosis of the radii": "kurtosis",
}
"""Single numbers of outlines in which the two of a pair differ."""


def rows(level: int, role: str, samples: int, seed: int, assignment: int) -> Iterator[dict[str, Any]]:
    """The accuracy of each chooser in both directions, for shapes of a role in the test split."""
    world = MolyneuxShapes(level=level, bridging=Bridging(assignment=assignment))
    if role == FURTHER:
        source = further_samples(world)
        batch = source.batch(np.arange(len(source)))
    else:
        batch = world.batch(np.arange(samples), split="test", seed=seed)
    assert batch.factors is not None
    codes = {name: batch.factors[:, world.spec.factor_index(name)].numpy() for name in ("shape", "pair", "role")}
    kept = codes["role"] == ROLES.index("new" if role == FURTHER else role)
    batch, shapes = batch[torch.from_numpy(kept)], codes["shape"][kept]
    pair_of = dict(zip(shapes.tolist(), codes["pair"][kept].tolist(), strict=True))
    pairs = np.array([pair_of[shape] for shape in np.unique(shapes).tolist()])
    read = {name: outlines(name, batch.views[name], level=level) for name in SENSES}
    told = {name: statistics(*found) for name, found in read.items()}
    told = {name: (values - values.mean(0)) / values.std(0) for name, values in told.items()}
    for source, target in (SENSES[::-1], SENSES):
        about = {"level": level, "role": role, "source": source, "target": target, "samples": len(shapes), "seed": seed}
        about["assignment"] = assignment
        away = {"geometry": distances(read[source][0], read[target][0], mirrored=False)}
        for name, used in CHOOSERS.items():
            columns = [STATISTICS.index(each) for each in used]
            away[name] = np.linalg.norm(told[source][:, None, columns] - told[target][None][:, :, columns], axis=2)
        for name, used in OTHERS.items():
            given, choices = (single_numbers(read[sense][0])[:, SINGLE.index(used)] for sense in (source, target))
            away[name] = np.abs((given - given.mean())[:, None] / given.std() - (choices - choices.mean()) / choices.std())
        for name, found in away.items():
            right = two_way_choices(found, shapes, shapes, same=np.eye(len(shapes), dtype=bool))
            assert right is not None
            alike = np.where(pairs[:, None] == pairs, right, np.nan)
            yield {**about, "chooser": name, "accuracy": said(right), "alike_accuracy": said(alike), "shapes": len(right)}


def said(right: np.ndarray) -> Mapping[str, Any]:
    """The mean over pairs of shapes, in %, and its interval for new samples and new shapes."""
    interval = pairs_interval(right, np.random.default_rng(0))
    return {
        "value": round(100.0 * float(np.nanmean(right)), 2),
        "interval": None if interval is None else [round(end, 2) for end in interval],
    }


def main() -> None:
    """Make the record."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--samples", type=int, default=10_000, help="test samples of all roles (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="root of every random number (default: %(default)s)")
    parser.add_argument("--assignment", type=int, default=1, help="of roles to shapes, as in the studies (default: %(default)s)")
    parser.add_argument("--out", type=Path, default=RESULTS, help="file of the record (default: that of the documentation)")
    options = parser.parse_args()
    asked = ((2, "new"), (5, "new"), (2, FURTHER))
    found = [row for level, role in asked for row in rows(level, role, options.samples, options.seed, options.assignment)]
    for row in found:
        print(row["level"], row["source"], row["chooser"], row["accuracy"], row["alike_accuracy"])
    store.write_json(options.out, {"world": "molyneux-v1", "rows": found})


if __name__ == "__main__":
    main()
