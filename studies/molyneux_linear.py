"""What a linear map between hand-made features of both senses makes of Molyneux's question: a control for `molyneux-v1`.

    python studies/molyneux_linear.py

The features do not change with rotation and size, which encoders have to learn: of a picture, how its figure is spread over
rings around its centre, and how unevenly over each ring; of a touch, the same of the points that the fingers pass. Outlines are
not read. A canonical correlation analysis of samples of bridged shapes makes codes, which are compared as those of encoders are,
on the same test samples and on the 200 further shapes. How many directions are kept and how much they are regularised is chosen
as for encoders: once, with 32 bridged shapes, on validation shapes. Takes a quarter of an hour of one core; scores go to
`studies/results/molyneux-v1-linear/records.jsonl`, and those of further shapes to `molyneux-v1-linear-further`.
"""

from __future__ import annotations

import argparse
import itertools
from collections.abc import Collection, Iterator
from pathlib import Path

import numpy as np
import torch
from molyneux_further import OF_EACH, PAIRS, SEED, SHAPES
from molyneux_further import samples as further_samples
from torch import Tensor
from torch.nn import functional

from molyneux.core import Batch, Posterior, Score, Source
from molyneux.data import Bridging, MolyneuxShapes
from molyneux.data.worlds.molyneux_shapes.bridging import ROLES
from molyneux.learn.posteriors import Point
from molyneux.measure import Evaluation, TwoWayChoice, evaluate
from molyneux.report import StudyRun, save_records

RESULTS = Path(__file__).parent / "results"
NAME = "linear map of invariant features"
COUNTS, ASSIGNMENTS, CHOSEN_AT = (2, 8, 16, 32, 64, 128), (1, 2, 3, 4, 5), 32
RIDGES, DIRECTIONS = (1e-3, 1e-2, 1e-1, 1.0), (4, 8, 16, 32)
TRAIN, TEST, PART = 10_000, 12_000, 2_000
RINGS, ANGLES, WAVES, FARTHEST = 14, 64, 9, 2.2
"""Rings around the centre up to so many mean distances from it, angles of each, and the waves around it that are told apart."""


def seen(pictures: Tensor) -> Tensor:
    """Features (N, RINGS * WAVES) of pictures (N, C, H, W), of length 1: amplitudes of waves around rings, in mean distances."""
    shown = pictures.float().mean(1)
    figure = (shown - shown[:, :1, :1]).abs()  # a corner is ground
    places = [torch.linspace(-1 + 1 / size, 1 - 1 / size, size) for size in figure.shape[1:]]
    mass = figure.sum((1, 2)).clamp_min(1e-9)
    down, across = (figure * places[0][:, None]).sum((1, 2)) / mass, (figure * places[1]).sum((1, 2)) / mass
    away = (places[0][:, None] - down[:, None, None]).square() + (places[1] - across[:, None, None]).square()
    reach = ((figure * away).sum((1, 2)) / mass).sqrt()
    angles = torch.arange(ANGLES) * (2 * torch.pi / ANGLES)
    ring = (
        torch.linspace(0.1, FARTHEST, RINGS)[:, None] * torch.stack([angles.cos(), angles.sin()])[:, None]
    )  # (2, RINGS, ANGLES)
    grid = torch.stack([across, down])[..., None, None] + reach[:, None, None] * ring[:, None]  # (2, N, RINGS, ANGLES)
    polar = functional.grid_sample(figure[:, None], grid.permute(1, 2, 3, 0), align_corners=False)[:, 0]
    return functional.normalize(_amplitudes(polar), dim=1)


def felt(touches: Tensor) -> Tensor:
    """Features (N, 16 + RINGS * WAVES) of touches (N, T, 6): quantiles of how far points are from their centre, and waves."""
    points = torch.cat([touches[..., :2], touches[..., 3:5]], 1)
    there = torch.cat([touches[..., 2], touches[..., 5]], 1) > 0.05
    count = there.sum(1, keepdim=True).clamp_min(1)
    away = points - (points * there[..., None]).sum(1, keepdim=True) / count[..., None]
    far = away.norm(dim=2)
    far = far / ((far.square() * there).sum(1, keepdim=True) / count).sqrt().clamp_min(1e-9)
    quantiles = torch.nanquantile(far.masked_fill(~there, torch.nan), torch.linspace(0, 1, 16), dim=1).T.nan_to_num()
    width = (FARTHEST - 0.1) / RINGS
    ring, angle = ((far - 0.1) / width).floor().long(), torch.atan2(away[..., 1], away[..., 0])
    sector = ((angle + torch.pi) * (ANGLES / (2 * torch.pi))).floor().long().clamp(0, ANGLES - 1)
    cell = (ring.clamp(0, RINGS - 1) * ANGLES + sector).masked_fill(~there | (ring < 0) | (ring >= RINGS), RINGS * ANGLES)
    polar = functional.one_hot(cell, RINGS * ANGLES + 1).sum(1)[:, :-1].reshape(-1, RINGS, ANGLES).float()
    return torch.cat([quantiles, functional.normalize(_amplitudes(polar), dim=1)], 1)


def _amplitudes(polar: Tensor) -> Tensor:
    """Sizes (N, RINGS * WAVES) of the first waves around each ring: a rotation changes their phases alone."""
    return torch.fft.rfft(polar, dim=2).abs()[:, :, :WAVES].flatten(1)


FEATURES = {"image": seen, "touch": felt}


class LinearCodes:
    """Codes by canonical correlation analysis of two senses; satisfies `core.Encodes`.

    Args:
        features: (N, F) of the same samples by sense.
        ridge: added to the variances of principal components of standardised features.
        directions: how many pairs of correlated directions are kept, each weighted by its correlation.
    """

    def __init__(self, features: dict[str, Tensor], *, ridge: float, directions: int) -> None:
        self.centre = {name: values.mean(0) for name, values in features.items()}
        self.spread = {name: values.std(0, correction=0).clamp_min(1e-6) for name, values in features.items()}
        white, maps = dict[str, Tensor](), dict[str, Tensor]()
        for name, values in features.items():
            standard = ((values - self.centre[name]) / self.spread[name]).double()
            variances, axes = torch.linalg.eigh(standard.T @ standard / len(standard))
            maps[name] = axes / (variances.clamp_min(0) + ridge).sqrt()
            white[name] = standard @ maps[name]
        left, correlations, right = torch.linalg.svd(white["image"].T @ white["touch"] / len(white["image"]))
        self.correlations = correlations[:directions]
        kept = {"image": left[:, :directions], "touch": right[:directions].T}
        self.maps = {name: (maps[name] @ kept[name] * correlations[:directions]).float() for name in features}

    def encode(self, batch: Batch, observed: Collection[str] | None = None) -> Posterior:
        """See `core.Encodes`; of one sense."""
        (name,) = batch.views if observed is None else observed
        standard = (FEATURES[name](batch.views[name]) - self.centre[name]) / self.spread[name]
        return Posterior(Point(functional.normalize(standard @ self.maps[name], dim=1)))


def world_of(bridged: int, assignment: int) -> MolyneuxShapes:
    """The world of the study `molyneux-v1`."""
    bridging = Bridging(bridged=bridged, share=0.5, assignment=assignment)
    return MolyneuxShapes(level=2, image_size=32, modalities=["image", "touch"], bridging=bridging)


def bridged_features(world: MolyneuxShapes, seed: int) -> dict[str, Tensor]:
    """Features of both senses of the first training samples that show bridged shapes."""
    source, role, found = world.source("train", 4 * TRAIN, seed=seed), world.spec.factor_index("role"), dict[str, list[Tensor]]()
    for start in range(0, 2 * TRAIN, PART):
        batch = source.batch(np.arange(start, start + PART))
        assert batch.factors is not None
        batch = batch[batch.factors[:, role] == ROLES.index("bridged")]
        for name, read in FEATURES.items():
            found.setdefault(name, []).append(read(batch.views[name]))
    return {name: torch.cat(parts) for name, parts in found.items()}


def scores(model: LinearCodes, source: Source, *, seed: int, samples: int, **origin: str) -> tuple[Score, ...]:
    """Two-way choices by the codes of a model."""
    measure = TwoWayChoice(by="role", alike="pair", pairs=PAIRS, samples=samples)
    return tuple(evaluate([measure], Evaluation(model, source, seed=seed, origin={"world": "molyneux-v1", **origin})).scores)


def chosen() -> tuple[float, int]:
    """Ridge and number of directions that choose best between new validation shapes that are alike."""
    world, best = world_of(CHOSEN_AT, 1), dict[tuple[float, int], float]()
    features, source = bridged_features(world, 11), world.source("validation", TEST, seed=11)
    for ridge, directions in itertools.product(RIDGES, DIRECTIONS):
        found = scores(LinearCodes(features, ridge=ridge, directions=directions), source, seed=11, samples=1_000)
        told = [score.value for score in found if score.name == "two_way_choice.alike_accuracy" and _is_new(score)]
        best[ridge, directions] = sum(value for value in told if value is not None)
    return max(best, key=best.__getitem__)


def _is_new(score: Score) -> bool:
    return score.about["role"] == "new" and score.about["source"] != score.about["target"]


def runs(ridge: float, directions: int) -> Iterator[tuple[StudyRun, StudyRun]]:
    """For every assignment and number of bridged shapes the scores of test samples, and of further shapes."""
    for assignment, bridged in itertools.product(ASSIGNMENTS, COUNTS):
        world = world_of(bridged, assignment)
        model = LinearCodes(bridged_features(world, assignment), ridge=ridge, directions=directions)
        settings = {
            "name": NAME,
            "seed": assignment,
            "data.world.init_args.bridging.bridged": bridged,
            "data.world.init_args.bridging.assignment": assignment,
            "ridge": ridge,
            "directions": directions,
        }
        tested = scores(model, world.source("test", TEST, seed=assignment), seed=assignment, samples=1_000)
        others = scores(model, further_samples(world), seed=SEED, samples=SHAPES * OF_EACH, shapes="further")
        yield StudyRun(settings, tested), StudyRun(settings, others)


def main() -> None:
    """Make the records."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--results", type=Path, default=RESULTS, help="folder of records (default: that of the documentation)")
    options = parser.parse_args()
    torch.set_num_threads(1)
    ridge, directions = chosen()
    print(f"chosen: ridge {ridge:g}, {directions} directions", flush=True)
    found = list[tuple[StudyRun, StudyRun]]()
    for pair in runs(ridge, directions):
        found.append(pair)
        print(f"{len(found)} of {len(COUNTS) * len(ASSIGNMENTS)}", flush=True)
    for name, part in zip(("molyneux-v1-linear", "molyneux-v1-linear-further"), zip(*found, strict=True), strict=True):
        save_records(options.results / name / "records.jsonl", list(part))


if __name__ == "__main__":
    main()
