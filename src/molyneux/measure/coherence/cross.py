"""Cross-generation: encode what is observed, decode what is not, read what was made."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from torch import Tensor

from molyneux.core import Batch
from molyneux.measure.coherence.answers import Answers
from molyneux.measure.coherence.directions import Direction
from molyneux.measure.coherence.letters import ConstantText, Letters
from molyneux.measure.coherence.reading import asked_factors, read
from molyneux.measure.evaluation import Evaluation
from molyneux.measure.generation import Draw, decoded, having, posterior_codes


@dataclass(frozen=True)
class Generated:
    """What was read in the views generated in one direction.

    Args:
        answers: the factors asked for; None where nobody reads the target.
        letters: characters right, for text.
    """

    answers: Answers | None
    letters: Letters | None


@dataclass(frozen=True)
class Observed:
    """What holds for the true views of a modality.

    Args:
        readings: what its reader reads in them, by modality: the judge's ceiling.
        constants: the best constant texts.
    """

    readings: dict[str, Answers]
    constants: dict[str, ConstantText]


def cross_generate(
    evaluation: Evaluation, directions: Sequence[Direction], *, draw: Draw
) -> tuple[dict[Direction, Generated], Observed]:
    """Generate in every direction, one pass over the samples; each subset is encoded once and decoded once a batch."""
    piles: dict[Direction, list[Generated]] = defaultdict(list)
    readings: dict[str, list[Answers]] = defaultdict(list)
    constants = {item.name: ConstantText(item) for item in evaluation.spec.modalities if item.kind == "text"}
    for start, batch in evaluation.batches():
        for name, answers in _read_true(evaluation, batch).items():
            readings[name].append(answers)
        for name, constant in constants.items():
            constant.add(batch.views[name][batch.mask(name)].cpu())
        for observed in dict.fromkeys(direction.observed for direction in directions):
            targets = [direction for direction in directions if direction.observed == observed]
            for direction, made in _generate(evaluation, batch, targets, draw=draw, start=start).items():
                piles[direction].append(made)
    joined = {name: Answers.join(parts) for name, parts in readings.items()}
    return {direction: _join(piles[direction]) for direction in directions if piles[direction]}, Observed(joined, constants)


def _read_true(evaluation: Evaluation, batch: Batch) -> dict[str, Answers]:
    found = {}
    for name in evaluation.spec.names:
        reader, part = evaluation.reader(name), having(batch, (name,))
        if reader is not None and part.factors is not None and len(part):
            found[name] = read(reader, part.views[name], part.factors, evaluation.spec)
    return found


def _generate(
    evaluation: Evaluation, batch: Batch, directions: Sequence[Direction], *, draw: Draw, start: int
) -> dict[Direction, Generated]:
    """One subset of observed modalities: encode once, decode all targets at once."""
    observed = directions[0].observed
    part = having(batch, observed)
    if not len(part):
        return {}
    noise = evaluation.generator("cross", "+".join(observed), start)
    codes = posterior_codes(evaluation.model.encode(part, observed), draw, noise)
    made = decoded(evaluation.model, codes, evaluation.spec, only=[direction.target for direction in directions])
    return {direction: _judge(evaluation, part, direction, made[direction.target]) for direction in directions}


def _judge(evaluation: Evaluation, batch: Batch, direction: Direction, view: Tensor) -> Generated:
    target = direction.target
    reader, asked = evaluation.reader(target), asked_factors(evaluation, direction)
    answers = letters = None
    if reader is not None and asked and batch.factors is not None:
        answers = read(reader, view, batch.factors, evaluation.spec).select(asked)
    modality, known = evaluation.spec.modality(target), batch.mask(target).cpu()
    if modality.kind == "text" and bool(known.any()):
        letters = Letters.of(modality, view[known], batch.views[target].cpu()[known])
    return Generated(answers, letters)


def _join(parts: Sequence[Generated]) -> Generated:
    answers = [part.answers for part in parts if part.answers is not None]
    letters = [part.letters for part in parts if part.letters is not None]
    return Generated(Answers.join(answers) if answers else None, Letters.join(letters) if letters else None)
