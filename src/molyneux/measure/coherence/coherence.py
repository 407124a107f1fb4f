"""The measure of coherence: does what is generated from one sense mean the same in another?"""

from __future__ import annotations

from typing import ClassVar, final

from molyneux.core import Decodes, Encodes, NotApplicableError
from molyneux.measure.coherence.confusion import confusion_gallery
from molyneux.measure.coherence.cross import Generated, Observed, cross_generate
from molyneux.measure.coherence.directions import Direction, Subsets, subsets
from molyneux.measure.coherence.joint import joint_readings, joint_scores
from molyneux.measure.coherence.scores import answer_scores, forced_score, letter_scores, unreadable_score, value_scores
from molyneux.measure.evaluation import Evaluation, Measure, Measurement
from molyneux.measure.generation import Draw, check_draw
from molyneux.measure.recorder import Recorder


@final
class Coherence(Measure):
    """What readers read in generated views, compared with the truth (cross) or with each other (joint).

    Scores, with `about` naming source and target (source `prior` for joint generation):

    - `coherence.strict` %: all factors asked for are right. `coherence.features`: how many are.
    - `coherence.accuracy` % for each factor, `coherence.value_accuracy` % for each value of it.
    - `coherence.letters` % for text: equal characters over the true length; `coherence.letters_padded` over the whole.
    - `coherence.unreadable` %: in how many generated views the reader rejects some factor asked for.
    - `coherence.strict_forced` % where a reader may refuse: strict (forced choice), as if it had to name a value; so published
      evaluations judge, which means of many pictures fool.
    - `coherence.diversity`: how many different scenes joint generation draws.

    Each has its chance (uniform guessing; for letters the best constant text), the best constant answer, and the
    reader's own result on the true views of the same samples (`judge ceiling`). An absent factor (-1) is not asked for.

    Args:
        draw: codes from one posterior sample (as published) or from its mean.
        subsets: which observed subsets: `all` proper ones, `single` ones, or `leave-one-out` (and single ones).
        joint: measure joint generation too.
        values: score each value of each factor too, and show what it is mistaken for.

    Raises:
        ConfigError: unknown draw or subsets.
    """

    name: ClassVar[str] = "coherence"
    needs: ClassVar[tuple[type, ...]] = (Encodes, Decodes)

    def __init__(self, *, draw: Draw = "sample", subsets: Subsets = "all", joint: bool = True, values: bool = True) -> None:
        self.draw = check_draw(draw)
        self.subsets = subsets
        self.joint = joint
        self.values = values
        _directions(("a", "b"), subsets)

    def measure(self, evaluation: Evaluation) -> Measurement:
        """Cross-generation in every direction, then joint generation."""
        directions = _directions(evaluation.spec.names, self.subsets)
        if not directions or not evaluation.spec.factors:
            raise NotApplicableError("coherence needs at least two modalities and known factors: choose another source")
        generated, observed = cross_generate(evaluation, directions, draw=self.draw)
        total = Measurement()
        for direction, made in generated.items():
            total += self._direction(evaluation, direction, made, observed)
        if self.joint:
            total += _joint(evaluation, observed)
        if not total.scores:
            raise NotApplicableError("coherence needs a reader or a text among the modalities: none is given")
        return total

    def _direction(self, evaluation: Evaluation, direction: Direction, made: Generated, observed: Observed) -> Measurement:
        recorder = Recorder(
            "coherence",
            evaluation.rng("coherence", *direction.observed, direction.target),
            direction.about,
            {**evaluation.provenance((direction.target,)), "draw": self.draw},
        )
        total = Measurement()
        if made.answers is not None:
            ceiling = observed.readings[direction.target].select([factor.name for factor in made.answers.factors])
            scores = [*answer_scores(made.answers, ceiling, recorder), unreadable_score(made.answers, ceiling, recorder)]
            if made.answers.forced is not None:
                scores.append(forced_score(made.answers, ceiling, recorder))
            total += Measurement(tuple(scores))
            if self.values:
                scores = value_scores(made.answers, ceiling, recorder)
                total += Measurement(tuple(scores), (confusion_gallery(made.answers, direction),))
        if made.letters is not None:
            total += Measurement(tuple(letter_scores(made.letters, observed.constants[direction.target], recorder)))
        return total


def _directions(names: tuple[str, ...], which: Subsets) -> list[Direction]:
    return [Direction(seen, name) for seen in subsets(names, which) for name in names if name not in seen]


def _joint(evaluation: Evaluation, observed: Observed) -> Measurement:
    read = [name for name in evaluation.spec.names if evaluation.reader(name) is not None]
    if len(read) < 2:
        return Measurement()
    recorder = Recorder("coherence", evaluation.rng("coherence", "prior"), origin=evaluation.provenance(read))
    return Measurement(tuple(joint_scores(joint_readings(evaluation), observed.readings, recorder)))
