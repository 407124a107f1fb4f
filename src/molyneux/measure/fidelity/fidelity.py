"""Fidelity: how alike generated and true views are as sets, by features of a network."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, final

import numpy as np
import torch
from torch import Tensor

from molyneux.core import ConfigError, Decodes, Encodes, Features, NotApplicableError, Score, Spec
from molyneux.measure.evaluation import Evaluation
from molyneux.measure.fidelity.distances import (
    GROUPS,
    frechet_distance,
    kernel_distance,
    kernel_distances,
    left_out_distances,
)
from molyneux.measure.fidelity.neighbours import Neighbourhoods, neighbourhoods
from molyneux.measure.generation import (
    Direction,
    Directions,
    Draw,
    check_directions,
    check_draw,
    decoded,
    directions,
    having,
    prior_codes,
    targets_by_source,
)
from molyneux.measure.measures import Measure, Measurement
from molyneux.measure.scores import Recorder, jackknife_interval, percent

FLOOR = "real against real"
"""Control: the same number for two sets of true views of the same size."""

_PRECISION, _DENSITY = 3, 5
"""Neighbours, as in the papers."""
_FEWEST = 2 * GROUPS


@final
class Fidelity(Measure):
    """Distances between sets of generated and true views, in the features of a network.

    The features of a modality are those of the network that the evaluation was given for it (`measure.features` in an
    experiment), else the last hidden layer of its judge; `origin` says which, and only numbers of the same network can be
    compared. Test samples are split at random into two halves of true views: the first is the *reference*; views are generated
    from the samples of the second. All sets have the same size. Scores, with `about` naming source and target, source `prior` for
    views generated from codes of the prior:

    - `fidelity.frechet`: the Fréchet distance (FID where the network is Inception); see `frechet_distance`.
    - `fidelity.kid`: the unbiased kernel distance; see `kernel_distance`.
    - `fidelity.precision` and `fidelity.recall` %: generated views among true ones and true ones among generated ones, by three
      nearest neighbours; `fidelity.density` and `fidelity.coverage` % by five; see `neighbourhoods`.

    Control: `real against real`, the same number where the true views of the second half take the place of the generated ones:
    the floor, or ceiling, of these sample sizes. Intervals: distances by the jackknife over 20 groups of samples, for networks of
    up to 512 features; the others over the samples that are counted, for the other set as it is.

    Args:
        samples: at most so many test samples, half of which are the reference.
        draw: codes from one posterior sample or from its mean.
        directions: what is generated from what, see `Coherence`.
        joint: whether to generate from the prior too.

    Raises:
        ConfigError: fewer than 80 samples, or an unknown draw or directions.
    """

    name: ClassVar[str] = "fidelity"
    needs: ClassVar[tuple[type, ...]] = (Encodes, Decodes)

    def __init__(
        self, *, samples: int = 10_000, draw: Draw = "sample", directions: Directions = "singles", joint: bool = True
    ) -> None:
        if samples < 2 * _FEWEST:
            raise ConfigError(f"samples: expected at least {2 * _FEWEST}, got {samples}")
        self.samples, self.draw, self.joint = samples, check_draw(draw), joint
        self.directions = check_directions(directions)

    def check(self, spec: Spec) -> None:
        """Raise ConfigError for too many directions or unknown modalities."""
        directions(spec, self.directions)

    def measure(self, evaluation: Evaluation) -> Measurement:
        """Every direction whose target has features, then generation from the prior."""
        halves = true_halves(evaluation, self.samples)
        chosen = directions(evaluation.spec, self.directions, available=evaluation.available)
        made = self._generated(evaluation, [item for item in chosen if item.target in halves])
        scores: list[Score] = []
        for direction, features in made.items():
            recorder = _recorder(evaluation, self.name, direction.target, *direction.observed).on(**direction.about)
            recorder = replace(recorder, origin={**recorder.origin, "draw": self.draw})
            scores += fidelity_scores(halves[direction.target], features, recorder)
        if self.joint:
            scores += prior_scores(evaluation, halves, self.name)
        return Measurement(tuple(scores))

    def _generated(self, evaluation: Evaluation, chosen: Sequence[Direction]) -> dict[Direction, np.ndarray]:
        """Features of the views generated from the samples of the second half."""
        second = ~first_half(evaluation, self.samples)
        piles = defaultdict[Direction, list[Tensor]](list)
        for start, batch in evaluation.batches(self.samples):
            for observed, targets in targets_by_source(chosen).items():
                found = evaluation.encoded(observed, start, batch)
                if found is None:
                    continue
                rows = (found.rows + start).numpy()
                keep = torch.from_numpy(np.flatnonzero((rows < len(second)) & second[np.minimum(rows, len(second) - 1)]))
                if not len(keep):
                    continue
                codes = found.codes(self.draw, evaluation.device)[keep.to(evaluation.device)]
                for target, view in decoded(evaluation.model, codes, evaluation.spec, only=targets).items():
                    piles[Direction(observed, target)].append(features_of(evaluation, target, view))
        return {direction: torch.cat(parts).double().numpy() for direction, parts in piles.items()}


@dataclass(frozen=True)
class Halves:
    """Features of the true views of one modality, (N, F) each: the reference, and those that stand for perfect generation."""

    reference: np.ndarray
    other: np.ndarray


def first_half(evaluation: Evaluation, samples: int) -> np.ndarray:
    """Which samples are in the first half, (size,) bool."""
    size = min(samples, evaluation.size)
    chosen = np.zeros(size, dtype=bool)
    chosen[evaluation.rng("fidelity", "halves").permutation(size)[: size // 2]] = True
    return chosen


def true_halves(evaluation: Evaluation, samples: int) -> dict[str, Halves]:
    """The two halves of the true views, by modality that some sample has and that a network reads.

    Raises:
        NotApplicableError: there is none, or no modality has enough samples.
    """
    networks = [name for name in evaluation.available if evaluation.network(name) is not None]
    if not networks:
        raise NotApplicableError(
            "fidelity needs features of a modality, of a judge or of a network that is given (measure.features): none is there"
        )
    found = evaluation.once(f"true features {samples}", lambda: _true_features(evaluation, networks, samples))
    first = first_half(evaluation, samples)
    halves = {name: Halves(features[first[rows]], features[~first[rows]]) for name, (rows, features) in found.items()}
    enough = {name: half for name, half in halves.items() if min(len(half.reference), len(half.other)) >= _FEWEST}
    if not enough:
        raise NotApplicableError(f"fidelity needs at least {2 * _FEWEST} samples: measure on more")
    return enough


def _true_features(evaluation: Evaluation, names: Sequence[str], samples: int) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """By modality, the numbers of the samples that have it, and the features of their true views."""
    piles = defaultdict[str, list[tuple[np.ndarray, Tensor]]](list)
    for start, batch in evaluation.batches(samples):
        true = evaluation.true_batch(start, batch)
        for name in names:
            part, rows = having(true, (name,)), true.mask(name).nonzero().flatten().cpu().numpy()
            if len(part):
                piles[name].append((start + rows, features_of(evaluation, name, part.views[name])))
    return {
        name: (np.concatenate([rows for rows, _ in parts]), torch.cat([features for _, features in parts]).double().numpy())
        for name, parts in piles.items()
    }


def features_of(evaluation: Evaluation, name: str, view: Tensor) -> Tensor:
    """Features of stored views, (B, F) on the CPU."""
    network = evaluation.network(name)
    assert isinstance(network, Features)  # only such modalities are asked for
    return network.features(view.cpu()).cpu()


def prior_scores(evaluation: Evaluation, halves: Mapping[str, Halves], family: str, **about: str) -> list[Score]:
    """The scores of views generated from codes of the model's prior, as many as the larger half has.

    Args:
        evaluation: has the model.
        halves: the true views.
        family: first part of the names of the scores.
        **about: further things that the scores are about.
    """
    size, piles = max(len(half.other) for half in halves.values()), defaultdict[str, list[Tensor]](list)
    for start in range(0, size, evaluation.batch_size):
        count = min(evaluation.batch_size, size - start)
        codes = prior_codes(evaluation.model, count, evaluation.generator("fidelity", "prior", start))
        for name, view in decoded(evaluation.model, codes, evaluation.spec, only=list(halves)).items():
            piles[name].append(features_of(evaluation, name, view))
    scores = []
    for name, parts in piles.items():
        recorder = _recorder(evaluation, family, name, "prior").on(source="prior", target=name, **about)
        scores += fidelity_scores(halves[name], torch.cat(parts).double().numpy(), recorder)
    return scores


def _recorder(evaluation: Evaluation, family: str, target: str, *source: str) -> Recorder:
    network = evaluation.network(target)
    origin = {**evaluation.provenance(), "features": dict(network.origin) if network is not None else {}}
    return Recorder(family, evaluation.rng(family, *source, target), origin=origin)


def fidelity_scores(halves: Halves, generated: np.ndarray, recorder: Recorder) -> list[Score]:
    """All scores of one set of generated views, (M, F) features, beside those of true views; all sets get the same size."""
    size = min(len(halves.reference), len(halves.other), len(generated))
    reference, other, made = (features[:size] for features in (halves.reference, halves.other, generated))
    if size < _FEWEST:
        note = f"fewer than {_FEWEST} generated views"
        return [
            recorder.score(name, None, note=note) for name in ("frechet", "kid", "precision", "recall", "density", "coverage")
        ]
    if not np.isfinite(made).all():
        return [recorder.score("frechet", None, note="some features of generated views are not finite")]
    distances: dict[str, tuple[float, list[float], float, dict[str, Any]]] = {
        "frechet": (
            frechet_distance(reference, made),
            left_out_distances(reference, made),
            frechet_distance(reference, other),
            {"bounds": (0.0, None)},
        ),
        "kid": (*kernel_distances(reference, made), kernel_distance(reference, other), {}),
    }
    scores = []
    for name, (value, rest, floor, fields) in distances.items():
        interval = jackknife_interval(value, rest, fields.get("bounds", (None, None))) if rest else None
        controls = {FLOOR: floor}
        scores.append(recorder.score(name, value, interval=interval, n=size, higher_is_better=False, controls=controls, **fields))
    return [*scores, *_neighbour_scores(reference, other, made, recorder)]


def _neighbour_scores(reference: np.ndarray, other: np.ndarray, made: np.ndarray, recorder: Recorder) -> list[Score]:
    near, floor = (neighbourhoods(reference, features, k=_PRECISION) for features in (made, other))
    wide, wide_floor = (neighbourhoods(reference, features, k=_DENSITY) for features in (made, other))

    def share(name: str, found: Neighbourhoods, real: Neighbourhoods, what: str) -> Score:
        return recorder.share(name, getattr(found, what), controls={FLOOR: percent(getattr(real, what))})

    density = recorder.mean("density", wide.density, bounds=(0.0, None), controls={FLOOR: float(wide_floor.density.mean())})
    return [
        share("precision", near, floor, "precise"),
        share("recall", near, floor, "recalled"),
        density,
        share("coverage", wide, wide_floor, "covered"),
    ]
