"""Homotopy: what changes along a path between the codes of two samples."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, final

import numpy as np
import torch
from torch import Tensor

from molyneux.core import Batch, Cell, ConfigError, DataError, Decodes, Encodes, Gallery, NotApplicableError, Reader, Score, views
from molyneux.core.intervals import Interval
from molyneux.measure.code_arrays import require_finite
from molyneux.measure.codes import from_named
from molyneux.measure.coherence.scores import CEILING
from molyneux.measure.evaluation import Evaluation
from molyneux.measure.galleries import ReadSequence, read_sequence, stepped_cells, view_cells
from molyneux.measure.generation import decoded
from molyneux.measure.measures import Measure, Measurement, exhibit_name
from molyneux.measure.scores import Recorder, mean_interval, percent, statistic_interval

WHOLE, LEGS = "normal", "dimension-wise"
_FIRST = 1000
"""Samples from which pairs are drawn, or four times as many as pairs."""


@final
class Homotopy(Measure):
    """Paths between the codes of two samples: does one factor change at a time, and does one dimension change one factor?

    A pair of test samples gives posterior means z1 and z2. The *normal* path is the straight line, (1 - t) z1 + t z2 for t = 0,
    0.2, ..., 1. The *dimension-wise* one moves the first dimension from z1 to z2 in the same steps, then the second, and so on.
    All codes are decoded to the most probable views and read. Both are those of Zhang et al. (RepL4NLP 2021), whose Table 7 shows
    two pairs; what is counted here is not in the paper. A modality shows the shared code and its own private one.

    Scores, with `about` naming the modality and the path; n is the number of pairs:

    - `homotopy.readable`: outputs that the reader can read, %; control: true views.
    - `homotopy.single_change`: of the steps that change any factor, those that change one, %; control: going from one sample to
      the other in one step. A step goes from one readable output to the next readable one, over unreadable ones between them.
    - `homotopy.factors_per_leg`, `homotopy.factors_per_moving_leg`: how many factors change while one dimension moves, over all
      dimensions and over those that change anything: 1 where each dimension is one factor or a part of one. Same control. Where
      the first output of a leg is unreadable, the leg is compared with the last readable output of the legs before it.
    - `homotopy.ends`: first and last outputs that equal their sample, %: the same text, or the same factors where a
      reader reads them; control: the other sample of the pair; n is the number of ends.

    Without a reader, texts have `ends`, other modalities have galleries only.

    Args:
        pairs: how many pairs of samples.
        shown: of how many pairs the gallery shows the paths.
        steps: outputs on the line, and for each dimension; both ends included.
        dimensions: at most so many dimensions of a pair are shown: those that differ most, in their order.

    Raises:
        ConfigError: pairs or dimensions below 1, a negative number of shown pairs, or steps below 2.
    """

    name: ClassVar[str] = "homotopy"
    needs: ClassVar[tuple[type, ...]] = (Encodes, Decodes)

    def __init__(self, *, pairs: int = 50, shown: int = 2, steps: int = 6, dimensions: int = 10) -> None:
        if pairs < 1 or shown < 0 or steps < 2 or dimensions < 1:
            raise ConfigError(
                "expected pairs of at least 1, shown of at least 0, steps of at least 2 and dimensions of at least 1, "
                f"got {pairs}, {shown}, {steps} and {dimensions}"
            )
        self.pairs, self.shown, self.steps, self.dimensions = pairs, shown, steps, dimensions

    def measure(self, evaluation: Evaluation) -> Measurement:
        """Scores and one gallery for each modality."""
        pairs = draw_pairs(evaluation, self.pairs)
        parts = (self._modality(evaluation, pairs, name) for name in evaluation.available)
        return sum(parts, Measurement())

    def _modality(self, evaluation: Evaluation, pairs: SamplePairs, name: str) -> Measurement:
        reader, spec = evaluation.reader(name), evaluation.spec
        recorder = Recorder(self.name, evaluation.rng(self.name, name), {"modality": name}, evaluation.provenance([name]))
        sequences, ends, rows = list[ReadSequence](), list[Tensor](), list[tuple[Cell, ...]]()
        for chosen in self._portions(evaluation, pairs, name):
            paths = pairs.paths(name, chosen, steps=self.steps)
            made = decode_paths(evaluation, pairs, name, chosen=chosen, paths=paths)
            ends.append(made[:, [0, self.steps - 1]])
            if reader is not None:
                sequences.append(read_sequence(reader, spec, made.flatten(0, 1), shape=paths.shape[:3]))
            for place in np.flatnonzero(chosen < self.shown):
                rows += self._rows(evaluation, pairs, name, pair=chosen[place], path=paths[place], made=made[place])
        scores = [_ends(evaluation, pairs, name, ends, recorder)]
        if reader is not None:
            scores += _sequence_scores(evaluation, pairs, reader, sequences, recorder)
        galleries = (self._gallery(name, rows, evaluation.read_by([name])),) if rows else ()
        return Measurement(tuple(score for score in scores if score is not None), galleries)

    def _portions(self, evaluation: Evaluation, pairs: SamplePairs, name: str) -> list[np.ndarray]:
        """The pairs in parts whose codes are about a batch, because the views of all pairs may not fit into memory."""
        together = max(1, evaluation.batch_size // (self.steps * (1 + sum(pairs.parts(name).values()))))
        return np.split(np.arange(len(pairs)), range(together, len(pairs), together))

    def _rows(
        self, evaluation: Evaluation, pairs: SamplePairs, name: str, *, pair: int, path: np.ndarray, made: Tensor
    ) -> list[tuple[Cell, ...]]:
        """The true samples of a pair, the line between their codes, and the legs of the dimensions that differ most."""
        first, last = view_cells(evaluation, name, pairs.batch.views[name][[pair, pair + len(pairs)]])
        rows = [(Cell(text=f"pair {pair + 1}: samples"), first, *(self.steps - 2) * (Cell(),), last)]
        rows.append((Cell(text="all dimensions"), *stepped_cells(evaluation, name, made[: self.steps])))
        titles = [f"{code} {place + 1}" for code, size in pairs.parts(name).items() for place in range(size)]
        moved = np.abs(path[0, -1] - path[0, 0])
        for leg in np.sort(np.argsort(-moved, kind="stable")[: self.dimensions]):
            views = made[(leg + 1) * self.steps : (leg + 2) * self.steps]
            rows.append((Cell(text=titles[leg]), *stepped_cells(evaluation, name, views)))
        return rows

    def _gallery(self, name: str, rows: list[tuple[Cell, ...]], read: str) -> Gallery:
        return Gallery(
            name=exhibit_name("homotopy", name),
            title=f"From sample to sample: {name}",
            note="Codes move from one sample to another: all dimensions together, then one after the other, each from where the "
            f"one before it ended. What a step changed stands after what is read. {read}".strip(),
            columns=("", *(f"t = {share:.2g}" for share in np.linspace(0, 1, self.steps))),
            rows=tuple(rows),
        )


def _sequence_scores(
    evaluation: Evaluation, pairs: SamplePairs, reader: Reader, sequences: list[ReadSequence], recorder: Recorder
) -> list[Score]:
    """The scores of the line and of the legs."""
    codes, readable = (np.concatenate([getattr(sequence, what) for sequence in sequences]) for what in ("codes", "readable"))
    truth = read_sequence(reader, evaluation.spec, pairs.batch.views[reader.modality], shape=(2, len(pairs)))
    differ = (truth.codes[0] != truth.codes[1]).sum(-1)
    leap = differ if truth.readable.all() else None
    ceiling = percent(truth.readable.ravel())
    whole, legs = (ReadSequence(sequences[0].factors, codes[:, part], readable[:, part]) for part in (slice(1), slice(1, None)))
    return [
        *path_scores(whole, recorder.on(path=WHOLE), leap=leap, ceiling=ceiling),
        *path_scores(legs, recorder.on(path=LEGS), leap=leap, ceiling=ceiling),
        *leg_scores(legs, recorder.on(path=LEGS), leap=leap),
    ]


def _ends(evaluation: Evaluation, pairs: SamplePairs, name: str, ends: list[Tensor], recorder: Recorder) -> Score | None:
    """How often the ends equal their samples; None without text or a reader."""
    modality, reader = evaluation.spec.modality(name), evaluation.reader(name)
    made, true = torch.cat(ends).transpose(0, 1).flatten(0, 1), pairs.batch.views[name]
    swapped = true.roll(len(pairs), 0)
    if modality.kind == "text":
        strings, own, other = (np.array(views.text_strings(modality, view)) for view in (made, true, swapped))
        right, wrong = strings == own, strings == other
        recorder = replace(recorder, origin=evaluation.provenance())
    elif reader is not None:
        parts = [read_sequence(reader, evaluation.spec, view, shape=(len(view),)) for view in (made, true, swapped)]
        right, wrong = (parts[0].readable & (parts[0].codes == part.codes).all(1) for part in parts[1:])
    else:
        return None
    return recorder.share("ends", right, controls={"the other sample": percent(wrong)})


LEAP = "one leap"
"""Control: going from one sample to the other in a single step, which changes all factors in which they differ."""


def path_scores(sequence: ReadSequence, recorder: Recorder, *, leap: np.ndarray | None, ceiling: float) -> list[Score]:
    """How many outputs are readable, and in how many steps that change anything a single factor changes.

    Args:
        sequence: P pairs, L legs and S steps of each: codes (P, L, S, F); for the steps see `changes_of_legs`.
        recorder: writes the scores.
        leap: (P,) in how many factors the samples of each pair differ; None where that is not known.
        ceiling: % of the true views of these samples that the same reader reads.
    """
    pairs = len(sequence.readable)
    outputs = sequence.readable.reshape(pairs, -1)
    counts = changes_of_legs(sequence).sum(-1).reshape(pairs, -1)
    readable = np.stack([outputs.sum(1), np.full(pairs, outputs.shape[1])], 1)
    single = np.stack([(counts == 1).sum(1), (counts > 0).sum(1)], 1)
    controls = {} if leap is None or not leap.any() else {LEAP: 100.0 * float((leap == 1).sum() / (leap > 0).sum())}
    return [
        _ratio("readable", readable, recorder, controls={CEILING: ceiling}),
        _ratio("single_change", single, recorder, controls=controls, note="" if single.any() else "no step changes anything"),
    ]


def leg_scores(sequence: ReadSequence, recorder: Recorder, *, leap: np.ndarray | None) -> list[Score]:
    """How many factors change while one dimension moves: the mean over all dimensions, and over those that change anything.

    Arguments as of `path_scores`, with one leg for each dimension: codes (P, D, S, F).
    """
    counts = changes_of_legs(sequence).any(2).sum(-1)
    highest = float(len(sequence.factors))
    controls = {} if leap is None else {LEAP: float(leap.mean())}
    moving = np.stack([counts.sum(1), (counts > 0).sum(1)], 1)
    note = "" if moving.any() else "no dimension changes anything"
    fields = {"bounds": (1.0, highest), "higher_is_better": False}
    return [
        recorder.mean("factors_per_leg", counts.mean(1), bounds=(0.0, highest), higher_is_better=None, controls=controls),
        _ratio("factors_per_moving_leg", moving, recorder, scale=1.0, unit="1", controls=controls, note=note, **fields),
    ]


def changes_of_legs(sequence: ReadSequence) -> np.ndarray:
    """Whether a factor changes in the step that ends at an output, (P, L, S - 1, F), for P pairs of L legs of S outputs.

    Each readable output is compared with the last readable one before it. Legs share their end points: where a leg begins
    unreadably, that is the last readable output of the legs before it. Nothing is compared with the first output of a leg.
    """
    pairs, legs, steps, factors = sequence.codes.shape
    whole = ReadSequence(
        sequence.factors, sequence.codes.reshape(pairs, legs * steps, factors), sequence.readable.reshape(pairs, legs * steps)
    )
    first = np.zeros((pairs, 1, factors), bool)
    return np.concatenate([first, whole.changed], 1).reshape(pairs, legs, steps, factors)[:, :, 1:]


def _ratio(name: str, rows: np.ndarray, recorder: Recorder, *, scale: float = 100.0, **fields: Any) -> Score:
    """`scale` times the ratio of two sums over pairs (P, 2); pairs are resampled, because steps of one are not independent."""
    fields = {"unit": "%", "bounds": (0.0, 100.0), **fields}
    counted = rows[rows[:, 1] > 0]
    if not len(counted):
        return recorder.score(name, None, **fields)

    def ratio(sums: np.ndarray) -> float:
        return scale * float(sums[:, 0].sum() / sums[:, 1].sum())

    value = ratio(counted)
    interval: Interval | None = statistic_interval(ratio, counted, recorder.rng)
    if interval is None:  # all pairs are alike
        interval = mean_interval(np.full(len(counted), value), recorder.rng, fields["bounds"])
    return recorder.score(name, value, interval=interval, n=len(counted), **fields)


def homotopy_codes(z1: np.ndarray, z2: np.ndarray, steps: int = 6) -> np.ndarray:
    """Codes on the straight line from `z1` to `z2`: (1 - t) z1 + t z2 for `steps` evenly spaced t from 0 to 1.

    Bowman et al., "Generating Sentences from a Continuous Space" (CoNLL 2016), section 5.3.

    Args:
        z1: (..., D) where the paths begin.
        z2: (..., D) where they end.
        steps: codes on a path, both ends included.

    Returns:
        (..., steps, D). The ends are `z1` and `z2` to the last bit.

    Raises:
        ConfigError: no whole number of at least two steps. DataError: shapes that differ, or numbers that are not finite.
    """
    z1, z2 = _checked(z1, z2, steps)
    share = np.linspace(0.0, 1.0, steps)[:, None]
    return np.asarray((1.0 - share) * z1[..., None, :] + share * z2[..., None, :])


def dimensionwise_codes(z1: np.ndarray, z2: np.ndarray, steps: int = 6) -> np.ndarray:
    """Codes on the path from `z1` to `z2` that moves one dimension at a time.

    Leg i moves dimension i from z1_i to z2_i; the dimensions before it are at `z2` already, those after it still at `z1`. So each
    leg begins where the one before it ended. Zhang et al., "Unsupervised Representation Disentanglement of Text" (RepL4NLP 2021),
    section 5.

    Arguments as of `homotopy_codes`.

    Returns:
        (..., D, steps, D): leg, step, dimension.

    Raises:
        ConfigError, DataError: as `homotopy_codes`.
    """
    z1, z2 = _checked(z1, z2, steps)
    size = z1.shape[-1]
    leg, dimension = np.arange(size)[:, None, None], np.arange(size)
    share = np.where(dimension == leg, np.linspace(0.0, 1.0, steps)[:, None], (dimension < leg).astype(np.float64))
    return np.asarray((1.0 - share) * z1[..., None, None, :] + share * z2[..., None, None, :])


def _checked(z1: np.ndarray, z2: np.ndarray, steps: int) -> tuple[np.ndarray, np.ndarray]:
    if not isinstance(steps, int | np.integer) or steps < 2:
        raise ConfigError(f"steps: expected a whole number of at least 2, both ends included, got {steps!r}")
    first, second = np.asarray(z1, np.float64), np.asarray(z2, np.float64)
    if first.shape != second.shape or first.ndim < 1:
        raise DataError(f"expected two codes (..., D) of one shape, got {first.shape} and {second.shape}")
    require_finite("z1", first)
    require_finite("z2", second)
    return first, second


@dataclass(frozen=True)
class SamplePairs:
    """Samples two by two: sample p goes to sample P + p.

    Args:
        batch: 2P samples that differ, all modalities present.
        means: by code (`shared`, `private.image`) the posterior means given all modalities, (2P, D) float64.
    """

    batch: Batch
    means: Mapping[str, np.ndarray]

    def __len__(self) -> int:
        return len(self.batch) // 2

    def parts(self, modality: str) -> dict[str, int]:
        """The codes that reach a modality, with their numbers of dimensions."""
        return {code: self.means[code].shape[1] for code in ("shared", f"private.{modality}") if code in self.means}

    def paths(self, modality: str, chosen: np.ndarray, *, steps: int) -> np.ndarray:
        """The codes between the samples of P chosen pairs, (P, 1 + D, steps, D): the line, then a leg for each dimension."""
        means = np.concatenate([self.means[code] for code in self.parts(modality)], 1)
        first, second = means[chosen], means[chosen + len(self)]
        return np.concatenate([homotopy_codes(first, second, steps)[:, None], dimensionwise_codes(first, second, steps)], 1)


def draw_pairs(evaluation: Evaluation, pairs: int) -> SamplePairs:
    """Pairs of samples that have all available modalities, drawn at random from the first samples; fewer where there are too few.

    Raises:
        NotApplicableError: there are not two such samples. DataError: a code is not finite; names code, row and dimension.
    """
    table = evaluation.table(evaluation.available, max(_FIRST, 4 * pairs)).by_content()
    count = min(2 * pairs, len(table) // 2 * 2)
    if not count:
        raise NotApplicableError("homotopy needs two samples that have all modalities: measure on another source")
    chosen = evaluation.rng("homotopy", "pairs").permutation(len(table))[:count]
    means = {name: values[chosen] for name, values in table.means.items()}
    return SamplePairs(evaluation.source.batch(table.rows[chosen]), means)


def decode_paths(evaluation: Evaluation, pairs: SamplePairs, modality: str, *, chosen: np.ndarray, paths: np.ndarray) -> Tensor:
    """The stored views (P, N, *shape) of the N codes (P, ..., D) of each pair; other codes stay those of the first samples."""
    flat = torch.from_numpy(paths.reshape(-1, paths.shape[-1])).to(evaluation.device, torch.float32)
    each, sizes = len(flat) // len(chosen), pairs.parts(modality)
    moved = dict(zip(sizes, torch.split(flat, list(sizes.values()), dim=1), strict=True))
    still = {name: torch.from_numpy(mean[chosen]).to(flat).repeat_interleave(each, 0) for name, mean in pairs.means.items()}
    codes = from_named({**still, **moved})
    portions = [
        decoded(evaluation.model, codes[start : start + evaluation.batch_size], evaluation.spec, only=[modality])[modality]
        for start in range(0, len(flat), evaluation.batch_size)
    ]
    made = torch.cat(portions)
    return made.reshape(len(chosen), each, *made.shape[1:])
