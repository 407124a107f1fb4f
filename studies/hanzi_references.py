"""What answers the two-way choice of `hanzi-strokes-v1` without a model: drawings of what is written, and low-level statistics.

    python studies/hanzi_references.py

One character is given in one sense, two in the other, all of them new: that whose drawing is nearer, or whose statistics in
standard deviations are, is chosen. Reads the files of the benchmark, as `HanziStrokes` says. The record goes to
`studies/results/hanzi-references/records.json`; it takes two minutes of one core.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch
from molyneux_references import said

from molyneux.core import store
from molyneux.data import CharacterBridging, HanziStrokes
from molyneux.data.benchmarks.hanzi_strokes.references import drawing_distances, ink, stroke_counts, written_ways
from molyneux.data.worlds.molyneux_shapes.bridging import ROLES
from molyneux.measure.two_way_choice import two_way_choices

RESULTS = Path(__file__).parent / "results" / "hanzi-references" / "records.json"
SENSES = ("image", "strokes")


def rows(folder: Path | None, role: str, samples: int, seed: int) -> Iterator[dict[str, Any]]:
    """The accuracy of each chooser in both directions, for characters of a role in the test split."""
    data = HanziStrokes(folder, bridging=CharacterBridging())
    found = data.factor_codes(np.arange(samples), split="test", seed=seed)
    places = {name: data.spec.factor_index(name) for name in ("character", "pair", "role")}
    kept = np.flatnonzero(found[:, places["role"]] == ROLES.index(role))
    batch = data.batch(kept, split="test", seed=seed)
    signs, pairs = found[kept, places["character"]], found[kept, places["pair"]]
    pair_of = dict(zip(signs.tolist(), pairs.tolist(), strict=True))
    alike = np.array([pair_of[sign] for sign in np.unique(signs).tolist()])
    image, strokes = (batch.views[name].numpy() for name in SENSES)
    away = {"drawings of what is written": drawing_distances(image, strokes)}
    for name, values in (("number of strokes", stroke_counts(strokes)), ("length of what is written", written_ways(strokes))):
        away[f"{name} against ink"] = np.abs(standardised(values)[:, None] - standardised(ink(image)))
    away["raw numbers"] = raw(data, image, strokes, seed)
    for source, target in (SENSES[::-1], SENSES):
        about = {"role": role, "source": source, "target": target, "samples": len(signs), "seed": seed}
        for name, distances in away.items():
            asked = distances if source == "strokes" else distances.T
            right = two_way_choices(asked, signs, signs, same=np.eye(len(signs), dtype=bool))
            assert right is not None
            within = np.where(alike[:, None] == alike, right, np.nan)
            yield {**about, "chooser": name, "accuracy": said(right), "alike_accuracy": said(within), "shapes": len(right)}


def raw(data: HanziStrokes, image: np.ndarray, strokes: np.ndarray, seed: int) -> np.ndarray:
    """Distances (n, m) of pictures from what a linear map makes of raw strokes, fitted to 4,000 bridged training samples."""
    batch = data.source("train", 20_000, seed=seed).batch(np.arange(20_000))
    both = (batch.mask("image") & batch.mask("strokes")).nonzero().flatten()[:4000]
    inputs, wanted = (batch.views[name][both].flatten(1).double() for name in ("strokes", "image"))
    centre, target = inputs.mean(0), wanted.mean(0)
    gram = (inputs - centre).T @ (inputs - centre)
    ridge = 0.01 * gram.trace() / len(gram) * torch.eye(len(gram), dtype=torch.float64)
    weights = torch.linalg.solve(gram + ridge, (inputs - centre).T @ (wanted - target))
    made = (torch.from_numpy(strokes).flatten(1).double() - centre) @ weights
    return torch.cdist(made, torch.from_numpy(image).flatten(1).double() - target).numpy()


def standardised(values: np.ndarray) -> np.ndarray:
    """Numbers (n,) in standard deviations."""
    return np.asarray((values - values.mean()) / values.std())


def main() -> None:
    """Make the record."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, help="folder of the benchmark (default: that in MOLYNEUX_DATA)")
    parser.add_argument("--samples", type=int, default=20_000, help="test samples of all roles (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="root of every random number (default: %(default)s)")
    parser.add_argument("--out", type=Path, default=RESULTS, help="file of the record (default: that of the documentation)")
    options = parser.parse_args()
    found = list(rows(options.folder, "new", options.samples, options.seed))
    for row in found:
        print(row["source"], row["chooser"], row["accuracy"], row["alike_accuracy"])
    store.write_json(options.out, {"world": "hanzi-strokes-v1", "rows": found})


if __name__ == "__main__":
    main()
