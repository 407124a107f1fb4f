"""Homotopy: what changes along a path between the codes of two samples."""

from __future__ import annotations

from typing import Any, ClassVar, final

import numpy as np
import torch
from torch import Tensor

from molyneux.core import Cell, ConfigError, Decodes, Encodes, Gallery, Reader, Score, views
from molyneux.measure.coherence.scores import CEILING
from molyneux.measure.evaluation import Evaluation
from molyneux.measure.galleries.cells import ReadSequence, read_sequence, stepped_cells, view_cells
from molyneux.measure.homotopy.paths import Pairs, decode_paths, draw_pairs
from molyneux.measure.measures import Measure, Measurement, exhibit_name
from molyneux.measure.scores import Recorder, mean_interval, percent, statistic_interval

WHOLE, LEGS = "normal", "dimension-wise"


@final
class Homotopy(Measure):
    """Paths between the codes of two samples: does one factor change at a time, and does one dimension change one factor?

    A pair of test samples gives posterior means z1 and z2. The *normal* path is the straight line, (1 - t) z1 + t z2 for t = 0,
    0.2, ..., 1. The *dimension-wise* one moves the first dimension from z1 to z2 in the same steps, then the second, and so on.
    All codes are decoded to the most probable views and read. Both are those of Zhang et al. (RepL4NLP 2021), whose Table 7 shows
    two pairs; what is counted here is not in the paper. A modality shows the shared code and its own private one.

    Scores, with `about` naming the modality and the path; n is the number of pairs:

    - `homotopy.readable`: outputs that the reader can read, %; control: true views.
    - `homotopy.single_change`: of the steps that change any factor, those that change one, %; control: going from sample to
      sample in one leap. A step goes from one readable output to the next readable one, over unreadable ones between them.
    - `homotopy.factors_per_leg`, `homotopy.factors_per_moving_leg`: how many factors change while one dimension moves, over all
      dimensions and over those that change anything: 1 where each dimension is one factor or a part of one. Same control. Where
      a leg begins unreadably, it is compared with the last readable output of the legs before it.
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
        self.pairs = pairs
        self.shown = shown
        self.steps = steps
        self.dimensions = dimensions

    def measure(self, evaluation: Evaluation) -> Measurement:
        """Scores and one gallery for each modality."""
        pairs = draw_pairs(evaluation, self.pairs)
        parts = (self._modality(evaluation, pairs, name) for name in evaluation.available)
        return sum(parts, Measurement())

    def _modality(self, evaluation: Evaluation, pairs: Pairs, name: str) -> Measurement:
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
        galleries = (self._gallery(name, rows),) if rows else ()
        return Measurement(tuple(score for score in scores if score is not None), galleries)

    def _portions(self, evaluation: Evaluation, pairs: Pairs, name: str) -> list[np.ndarray]:
        """The pairs, so many at a time that their codes are about a batch: views of all of them would not fit into memory."""
        together = max(1, evaluation.batch_size // (self.steps * (1 + sum(pairs.parts(name).values()))))
        return np.split(np.arange(len(pairs)), range(together, len(pairs), together))

    def _rows(
        self, evaluation: Evaluation, pairs: Pairs, name: str, *, pair: int, path: np.ndarray, made: Tensor
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

    def _gallery(self, name: str, rows: list[tuple[Cell, ...]]) -> Gallery:
        return Gallery(
            name=exhibit_name("homotopy", name),
            title=f"From sample to sample: {name}",
            note="Codes move from one sample to another: all dimensions together, then one after the other, each from where the "
            "one before it ended. What a step changed stands after what is read.",
            columns=("", *(f"t = {share:.2g}" for share in np.linspace(0, 1, self.steps))),
            rows=tuple(rows),
        )


def _sequence_scores(
    evaluation: Evaluation, pairs: Pairs, reader: Reader, sequences: list[ReadSequence], recorder: Recorder
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


def _ends(evaluation: Evaluation, pairs: Pairs, name: str, ends: list[Tensor], recorder: Recorder) -> Score | None:
    """How often the ends equal their samples; None without text or a reader."""
    modality, reader = evaluation.spec.modality(name), evaluation.reader(name)
    made, true = torch.cat(ends).transpose(0, 1).flatten(0, 1), pairs.batch.views[name]
    swapped = true.roll(len(pairs), 0)
    if modality.kind == "text":
        strings, own, other = (np.array(views.text_strings(modality, view)) for view in (made, true, swapped))
        right, wrong = strings == own, strings == other
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

    A step goes from one readable output to the next readable one, see `changes_of_legs`.

    Args:
        sequence: P pairs, L legs and S steps of each: codes (P, L, S, F).
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

    Changes behind unreadable outputs count in the leg in which they can be read, see `changes_of_legs`.

    Args:
        sequence: P pairs, one leg for each dimension, S steps: codes (P, D, S, F).
        recorder: writes the scores.
        leap: as in `path_scores`.
    """
    counts = changes_of_legs(sequence).any(2).sum(-1)
    highest = float(len(sequence.factors))
    controls = {} if leap is None else {LEAP: float(leap.mean())}
    moving = np.stack([counts.sum(1), (counts > 0).sum(1)], 1)
    note = "" if moving.any() else "no dimension changes anything"
    return [
        recorder.mean("factors_per_leg", counts.mean(1), bounds=(0.0, highest), higher_is_better=None, controls=controls),
        _ratio(
            "factors_per_moving_leg",
            moving,
            recorder,
            scale=1.0,
            unit="1",
            bounds=(1.0, highest),
            higher_is_better=False,
            controls=controls,
            note=note,
        ),
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
    """The ratio of two sums over pairs. Steps of one pair are no independent samples, so pairs are what is resampled.

    Args:
        name: last part of the name.
        rows: (P, 2) what is counted in each pair, and out of how many.
        recorder: writes the score.
        scale: 100 for a share in %.
        **fields: further fields of the score; a note is needed where nothing was counted out of.
    """
    fields = {"unit": "%", "bounds": (0.0, 100.0), **fields}
    counted = rows[rows[:, 1] > 0]
    if not len(counted):
        return recorder.score(name, None, **fields)

    def ratio(sums: np.ndarray) -> float:
        return scale * float(sums[:, 0].sum() / sums[:, 1].sum())

    value = ratio(counted)
    interval = statistic_interval(ratio, counted, recorder.rng)
    if len(np.unique(counted[:, 0] / counted[:, 1])) == 1:  # a bootstrap of equal numbers would claim certainty
        interval = mean_interval(np.full(len(counted), value), recorder.rng, fields["bounds"])
    return recorder.score(name, value, interval=interval, n=len(counted), **fields)
