"""Coherence: whether a view generated from one modality shows the same factors as the modality it was generated from."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import ClassVar, final

from molyneux.core import Decodes, Encodes, NotApplicableError, Reader, Score, Spec
from molyneux.core.reader import read_by
from molyneux.measure.coherence.answers import ReadCodes, asked_factors, judged_true, read, true_answers
from molyneux.measure.coherence.controls import view_controls
from molyneux.measure.coherence.joint import joint_readings, joint_scores, mean_readings
from molyneux.measure.coherence.letters import ConstantText, LetterAccuracy
from molyneux.measure.coherence.scores import (
    answer_scores,
    by_inputs,
    confusion_gallery,
    forced_score,
    judge_scores,
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
    targets_by_source,
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
    - `coherence.strict_judge` % where a judge reads beside an exact reader, and `coherence.readers_agree` %: the views of which
      both say the same, "unreadable" included; `coherence.readers_agree_readable` %: the same of views of which one reads all.
    - `coherence.strict_by_inputs` %: with three modalities and more, the mean of `strict` over all directions from as many
      modalities (`inputs`), of every size whose subsets were all measured; `coherence.strict_forced_by_inputs` %: the same of
      `strict_forced`, where no reader is without it.
    - `coherence.diversity`: number of different scenes that joint generation draws (a perplexity).

    Each has its chance level (uniform guessing; for letters the best constant text), the best constant answer, and the
    reader's own result on the true views of the same samples (`judge ceiling`). Where there are training samples, the same
    reader reads three kinds of views that need no model, as controls: the `mean view`, for each sample the mean of the training
    views with the same asked factors, drawn as a generated view; the `nearest other view`, the training view of other asked
    factors that is nearest to the true view; and the `mean of all views`. What is not above the mean view
    does not say that a model was trained, unless the mean is a true view itself, as of captions.

    An absent factor (-1) is not asked for, nor is a factor that no observed modality shows.

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
        constants = {item.name: ConstantText(item) for item in evaluation.spec.modalities if item.kind == "text"}
        answers, judged, letters = _cross_generate(evaluation, chosen, constants, self.draw)
        ceilings, judge_ceilings = true_answers(evaluation), judged_true(evaluation)
        total, beside = Measurement(), dict[Direction, Mapping[str, ReadCodes]]()
        for direction in chosen:
            rng, target = evaluation.rng("coherence", *direction.observed, direction.target), direction.target
            recorder = Recorder(self.name, rng, direction.about, {**evaluation.provenance((target,)), "draw": self.draw})
            second = replace(recorder, origin={**evaluation.provenance((target,), judged=True), "draw": self.draw})
            unread = replace(recorder, origin={**evaluation.provenance(), "draw": self.draw})
            if direction in answers:
                made_one = ReadCodes.join(answers[direction])
                beside[direction] = _without_model(
                    evaluation, target, evaluation.reader(target), _like(ceilings.get(target), made_one)
                )
                total += self._answered(direction, made_one, ceilings.get(target), recorder, beside[direction])
            if direction in judged:
                made = ReadCodes.join(answers[direction]), ReadCodes.join(judged[direction])
                true = (_like(found.get(target), part) for found, part in zip((ceilings, judge_ceilings), made, strict=True))
                exact, judge = zip(made, true, strict=True)
                shown = _without_model(evaluation, target, evaluation.judge(target), judge[1])
                total += Measurement(tuple(judge_scores(exact, judge, second, shown)))
            if direction in letters:
                total += Measurement(tuple(letter_scores(LetterAccuracy.join(letters[direction]), constants[target], unread)))
        if isinstance(self.directions, str) and len(evaluation.available) > 2:
            total += Measurement(tuple(self._by_inputs(evaluation, answers, ceilings, beside)))
        names = [name for name in evaluation.spec.names if evaluation.reader(name) is not None]
        if self.joint and len(names) > 1:
            recorder = Recorder(self.name, evaluation.rng("coherence", "prior"), origin=evaluation.provenance(names))
            total += Measurement(
                tuple(joint_scores(joint_readings(evaluation), ceilings, recorder, mean_readings(evaluation, ceilings)))
            )
        if not total.scores:
            raise NotApplicableError("coherence needs a reader or a text among the modalities: none is given")
        return total

    def _by_inputs(
        self,
        evaluation: Evaluation,
        answers: Mapping[Direction, Sequence[ReadCodes]],
        ceilings: Mapping[str, ReadCodes],
        beside: Mapping[Direction, Mapping[str, ReadCodes]],
    ) -> list[Score]:
        """Strict coherence by the number of modalities that views are generated from."""
        targets = sorted({direction.target for direction in answers}, key=evaluation.spec.names.index)
        origin = {**evaluation.provenance(targets), "draw": self.draw}

        def recorder(inputs: int) -> Recorder:
            return Recorder(self.name, evaluation.rng("coherence", "inputs", inputs), {"inputs": str(inputs)}, origin)

        joined = {direction: ReadCodes.join(parts) for direction, parts in answers.items()}
        return by_inputs(joined, ceilings, recorder, samples=evaluation.size, beside=beside)

    def _answered(
        self,
        direction: Direction,
        answers: ReadCodes,
        ceiling: ReadCodes | None,
        recorder: Recorder,
        beside: Mapping[str, ReadCodes],
    ) -> Measurement:
        """The scores of what one reader read in one direction, and what it was mistaken for."""
        ceiling = _like(ceiling, answers)
        scores = [*answer_scores(answers, ceiling, recorder, beside), unreadable_score(answers, ceiling, recorder, beside)]
        if answers.forced is not None:
            scores.append(forced_score(answers, ceiling, recorder, beside))
        if not self.values:
            return Measurement(tuple(scores))
        return Measurement(
            (*scores, *value_scores(answers, ceiling, recorder, beside)),
            (confusion_gallery(answers, direction, read_by(recorder.origin)[direction.target]),),
        )


@dataclass(frozen=True)
class _Generated:
    """What there is in what was generated of one batch.

    Args:
        answers: by direction what readers read.
        judged: what judges beside exact readers read.
        letters: the characters that are right.
        constants: the true texts, counted.
    """

    answers: Mapping[Direction, ReadCodes]
    judged: Mapping[Direction, ReadCodes]
    letters: Mapping[Direction, LetterAccuracy]
    constants: Mapping[str, ConstantText]


def _cross_generate(
    evaluation: Evaluation, chosen: Sequence[Direction], constants: Mapping[str, ConstantText], draw: Draw
) -> tuple[dict[Direction, list[ReadCodes]], dict[Direction, list[ReadCodes]], dict[Direction, list[LetterAccuracy]]]:
    """What readers, and judges beside exact readers, read in each direction, and the characters that are right, by batch.

    True texts are counted in `constants`.
    """
    answers, judged = defaultdict[Direction, list[ReadCodes]](list), defaultdict[Direction, list[ReadCodes]](list)
    letters = defaultdict[Direction, list[LetterAccuracy]](list)
    for made in evaluation.by_batch(partial(_generate, tuple(chosen), draw)):
        for name, counted in made.constants.items():
            constants[name].include(counted)
        for direction in chosen:
            if direction in made.answers:
                answers[direction].append(made.answers[direction])
            if direction in made.judged:
                judged[direction].append(made.judged[direction])
            if direction in made.letters:
                letters[direction].append(made.letters[direction])
    return answers, judged, letters


def _generate(chosen: Sequence[Direction], draw: Draw, evaluation: Evaluation, start: int, end: int) -> _Generated:
    """Generate the views of one batch in each direction and read them; the targets of a source are decoded together."""
    batch, spec = evaluation.batch(start, end), evaluation.spec
    found = _Generated({}, {}, {}, {item.name: ConstantText(item) for item in spec.modalities if item.kind == "text"})
    answers, judged, letters = dict[Direction, ReadCodes](), dict[Direction, ReadCodes](), dict[Direction, LetterAccuracy]()
    for name, constant in found.constants.items():
        true = having(evaluation.true_batch(start, batch), (name,)).to("cpu")
        constant.add(true.views[name], true.lengths.get(name))
    for observed, targets in targets_by_source(chosen).items():
        if (generated := evaluation.generated_from(observed, start, batch, draw=draw)) is None:
            continue
        part, made = generated[0].to("cpu"), decoded(evaluation.model, generated[1], spec, only=targets)
        for direction in (Direction(observed, target) for target in targets):
            view, modality = made[direction.target], spec.modality(direction.target)
            reader, asked = evaluation.reader(modality.name), asked_factors(evaluation, direction)
            if reader is not None and asked and part.factors is not None:
                answers[direction] = read(reader, view, spec, part.factors).select(asked)
                if (judge := evaluation.judge(modality.name)) is not None:
                    known = [name for name in asked if name in judge.factors]
                    judged[direction] = read(judge, view, spec, part.factors).select(known)
            known_texts = part.mask(modality.name)
            if modality.kind == "text" and bool(known_texts.any()):
                true = part[known_texts]
                lengths = true.lengths.get(modality.name)
                letters[direction] = LetterAccuracy.of(modality, view[known_texts], true.views[modality.name], lengths)
    return replace(found, answers=answers, judged=judged, letters=letters)


def _without_model(
    evaluation: Evaluation, target: str, reader: Reader | None, ceiling: ReadCodes | None
) -> Mapping[str, ReadCodes]:
    """What a reader reads in views that need no model, of the factors that were asked for; nothing without a reader."""
    return {} if reader is None else view_controls(evaluation, target, reader, ceiling)


def _like(ceiling: ReadCodes | None, answers: ReadCodes) -> ReadCodes | None:
    """What was read in true views, of the factors that were asked for in generated ones."""
    return None if ceiling is None else ceiling.select([factor.name for factor in answers.factors])
