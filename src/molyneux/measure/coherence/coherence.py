"""Coherence: whether a view generated from one modality shows the same factors as the modality it was generated from."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, final

from torch import Tensor

from molyneux.core import Batch, Codes, Decodes, Encodes, NotApplicableError, Spec
from molyneux.measure.coherence.answers import Answers, asked_factors, read, true_answers
from molyneux.measure.coherence.joint import joint_readings, joint_scores
from molyneux.measure.coherence.letters import ConstantText, Letters
from molyneux.measure.coherence.scores import (
    answer_scores,
    confusion_gallery,
    forced_score,
    letter_scores,
    unreadable_score,
    value_scores,
)
from molyneux.measure.evaluation import Evaluation
from molyneux.measure.generation import (
    Direction,
    Directions,
    Draw,
    check_directions,
    check_draw,
    decoded,
    directions,
    having,
)
from molyneux.measure.measures import Measure, Measurement
from molyneux.measure.scores import Recorder


@final
class Coherence(Measure):
    """Factors read in generated views, compared with the truth (cross-generation) or with each other (joint generation).

    Scores, with `about` naming source and target (source `prior` for joint generation):

    - `coherence.strict` %: all factors asked for are right. `coherence.features`: how many are.
    - `coherence.accuracy` % for each factor, `coherence.value_accuracy` % for each value of it.
    - `coherence.letters` % for text: equal characters over the true length; `coherence.letters_padded` over the whole.
    - `coherence.unreadable` %: generated views in which the reader cannot read some factor asked for.
    - `coherence.strict_forced` % where a reader may abstain: strict coherence as if it had to choose a value, as published
      evaluations do. Means of many images mislead such a reader.
    - `coherence.diversity`: number of different scenes that joint generation draws (a perplexity).

    Each has its chance level (uniform guessing; for letters the best constant text), the best constant answer, and the
    reader's own result on the true views of the same samples (`judge ceiling`). An absent factor (-1) is not asked for, nor is a
    factor that no observed modality shows.

    Args:
        draw: codes from one posterior sample (as published) or from its mean.
        directions: what is generated from what: `singles`, `leave-one-out` (these, and each from all others), `all` subsets, or
            a list such as `[{source: [image, touch], target: text}]`.
        joint: measure joint generation too.
        values: score each value of each factor too, and show what it is mistaken for.

    Raises:
        ConfigError: unknown draw or directions.
    """

    name: ClassVar[str] = "coherence"
    needs: ClassVar[tuple[type, ...]] = (Encodes, Decodes)

    def __init__(
        self, *, draw: Draw = "sample", directions: Directions = "leave-one-out", joint: bool = True, values: bool = True
    ) -> None:
        self.draw = check_draw(draw)
        self.directions = check_directions(directions)
        self.joint = joint
        self.values = values

    def check(self, spec: Spec) -> None:
        """Raise ConfigError for too many directions or unknown modalities."""
        directions(spec, self.directions)

    def measure(self, evaluation: Evaluation) -> Measurement:
        """Cross-generation in every direction, then joint generation."""
        if len(evaluation.spec.names) < 2 or not evaluation.spec.factors:
            raise NotApplicableError("coherence needs at least two modalities and known factors: choose another source")
        chosen = directions(evaluation.spec, self.directions, available=evaluation.available)
        generated, true = _cross_generate(evaluation, chosen, draw=self.draw)
        total = Measurement()
        for direction, made in generated.items():
            total += self._direction(evaluation, direction, made, true)
        if self.joint:
            total += _joint(evaluation, true)
        if not total.scores:
            raise NotApplicableError("coherence needs a reader or a text among the modalities: none is given")
        return total

    def _direction(self, evaluation: Evaluation, direction: Direction, made: _Generated, true: _TrueViews) -> Measurement:
        recorder = Recorder(
            "coherence",
            evaluation.rng("coherence", *direction.observed, direction.target),
            direction.about,
            {**evaluation.provenance((direction.target,)), "draw": self.draw},
        )
        total, answers = Measurement(), made.answers
        ceiling = true.answers.get(direction.target)
        if answers is not None:
            if ceiling is not None:
                ceiling = ceiling.select([factor.name for factor in answers.factors])
            scores = [*answer_scores(answers, ceiling, recorder), unreadable_score(answers, ceiling, recorder)]
            if answers.forced is not None:
                scores.append(forced_score(answers, ceiling, recorder))
            total += Measurement(tuple(scores))
            if self.values:
                scores = value_scores(answers, ceiling, recorder)
                total += Measurement(tuple(scores), (confusion_gallery(answers, direction),))
        if made.letters is not None:
            total += Measurement(tuple(letter_scores(made.letters, true.constants[direction.target], recorder)))
        return total


@dataclass(frozen=True)
class _Generated:
    """What was read in the views generated in one direction.

    Args:
        answers: the factors asked for; None where nobody reads the target.
        letters: characters right, for text.
    """

    answers: Answers | None
    letters: Letters | None


@dataclass(frozen=True)
class _TrueViews:
    """What holds for the true views of each modality.

    Args:
        answers: what its reader reads in them, by modality: the judge's ceiling.
        constants: the best constant texts.
    """

    answers: dict[str, Answers]
    constants: dict[str, ConstantText]


def _cross_generate(
    evaluation: Evaluation, chosen: Sequence[Direction], *, draw: Draw
) -> tuple[dict[Direction, _Generated], _TrueViews]:
    """Generate in every direction, one pass over the samples; the targets of a source are decoded together."""
    piles: dict[Direction, list[_Generated]] = defaultdict(list)
    constants = {item.name: ConstantText(item) for item in evaluation.spec.modalities if item.kind == "text"}
    for start, batch in evaluation.batches():
        true = evaluation.true_batch(start, batch)
        for name, constant in constants.items():
            part = having(true, (name,)).to("cpu")
            constant.add(part.views[name], part.lengths.get(name))
        for observed in dict.fromkeys(direction.observed for direction in chosen):
            found = evaluation.generated_from(observed, start, batch, draw=draw)
            targets = [direction for direction in chosen if direction.observed == observed]
            for direction, made in ({} if found is None else _generate(evaluation, *found, targets)).items():
                piles[direction].append(made)
    generated = {direction: _join(piles[direction]) for direction in chosen if piles[direction]}
    return generated, _TrueViews(true_answers(evaluation), constants)


def _generate(evaluation: Evaluation, batch: Batch, codes: Codes, targets: Sequence[Direction]) -> dict[Direction, _Generated]:
    """Decode all targets of one source at once, and read them."""
    made = decoded(evaluation.model, codes, evaluation.spec, only=[direction.target for direction in targets])
    part = batch.to("cpu")
    return {direction: _read(evaluation, part, direction, made[direction.target]) for direction in targets}


def _read(evaluation: Evaluation, batch: Batch, direction: Direction, view: Tensor) -> _Generated:
    target = direction.target
    reader, asked = evaluation.reader(target), asked_factors(evaluation, direction)
    answers = letters = None
    if reader is not None and asked and batch.factors is not None:
        answers = read(reader, view, batch.factors, evaluation.spec).select(asked)
    modality, known = evaluation.spec.modality(target), batch.mask(target)
    if modality.kind == "text" and bool(known.any()):
        part = batch[known]
        letters = Letters.of(modality, view[known], part.views[target], part.lengths.get(target))
    return _Generated(answers, letters)


def _join(parts: Sequence[_Generated]) -> _Generated:
    answers = [part.answers for part in parts if part.answers is not None]
    letters = [part.letters for part in parts if part.letters is not None]
    return _Generated(Answers.join(answers) if answers else None, Letters.join(letters) if letters else None)


def _joint(evaluation: Evaluation, true: _TrueViews) -> Measurement:
    names = [name for name in evaluation.spec.names if evaluation.reader(name) is not None]
    if len(names) < 2:
        return Measurement()
    recorder = Recorder("coherence", evaluation.rng("coherence", "prior"), origin=evaluation.provenance(names))
    return Measurement(tuple(joint_scores(joint_readings(evaluation), true.answers, recorder)))
