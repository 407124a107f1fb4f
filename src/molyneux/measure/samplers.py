"""Samplers: generation from each prior that a model has, compared in one measurement."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import ClassVar, final

from molyneux.core import ConfigError, Decodes, Encodes, NotApplicableError, Score
from molyneux.measure.coherence.answers import true_answers
from molyneux.measure.coherence.coherence import Coherence
from molyneux.measure.coherence.joint import joint_readings, joint_scores, mean_readings
from molyneux.measure.evaluation import Evaluation
from molyneux.measure.fidelity.fidelity import Halves, prior_scores, true_halves
from molyneux.measure.generation import WithPrior, priors_of
from molyneux.measure.measures import Measure, Measurement
from molyneux.measure.scores import Recorder


@final
class Samplers(Measure):
    """Views generated from codes of each prior of a model: that of its loss, and those fitted to codes after training.

    `about` names the prior (`loss`, `fitted`; `prior` for a model that has one and does not name it). The scores are those of
    joint generation, with their controls: `samplers.strict`, `.features`, `.accuracy` and `.diversity` as in `Coherence`, of
    modalities that readers read, and `samplers.frechet`, `.kid`, `.precision`, `.recall`, `.density` and `.coverage` as in
    `Fidelity`, of modalities that have features. All priors are compared on the same samples, with noise from the same streams.

    With `cross`, the same of views generated from one modality, with `about` naming `source` and `target` too: `samplers.strict`,
    `.strict_forced` and all else that `Coherence` reads there. Only of modalities with private codes, which come from the prior;
    what is generated of the others is the same whatever the prior.

    Args:
        samples: at most so many test samples; as many codes are drawn for coherence, half of them for distances.
        coherence: whether to read generated views.
        fidelity: whether to compare their features.
        cross: whether to read modalities with private codes generated from another modality too, where views are read.

    Raises:
        ConfigError: fewer than 80 samples, or neither coherence nor fidelity.
    """

    name: ClassVar[str] = "samplers"
    needs: ClassVar[tuple[type, ...]] = (Decodes,)

    def __init__(self, *, samples: int = 10_000, coherence: bool = True, fidelity: bool = True, cross: bool = False) -> None:
        problems = [] if samples >= 80 else [f"samples: expected at least 80, got {samples}"]
        problems += [] if coherence or fidelity else ["expected coherence or fidelity, got neither"]
        if problems:
            raise ConfigError(problems)
        self.samples, self.coherence, self.fidelity, self.cross = samples, coherence, fidelity, cross

    def measure(self, evaluation: Evaluation) -> Measurement:
        """Generation from every prior."""
        given = replace(evaluation, samples=min(self.samples, evaluation.samples))
        read = self.coherence and sum(given.reader(name) is not None for name in given.spec.names) > 1
        halves = self._halves(given)
        if not read and not halves:
            raise NotApplicableError("samplers needs readers of two modalities, or features of one: none are there")
        ceilings, scores = true_answers(given) if read else {}, list[Score]()
        for name, prior in priors_of(given.model).items():
            one = replace(given, model=WithPrior(given.model, prior))
            if read:
                names = [item for item in given.spec.names if given.reader(item) is not None]
                recorder = Recorder(self.name, given.rng(self.name, name), {"prior": name}, given.provenance(names))
                scores += joint_scores(joint_readings(given, name), ceilings, recorder, mean_readings(given, ceilings))
                scores += _cross_scores(one, list(prior(1).private), name) if self.cross else []
            if halves:
                scores += prior_scores(one, halves, self.name, prior=name)
        return Measurement(tuple(scores))

    def _halves(self, evaluation: Evaluation) -> Mapping[str, Halves]:
        """The true views that generated ones are compared with; none where they have no features."""
        if not self.fidelity or all(evaluation.network(name) is None for name in evaluation.available):
            return {}
        return true_halves(evaluation, self.samples)


def _cross_scores(evaluation: Evaluation, targets: Sequence[str], prior: str) -> list[Score]:
    """What readers read in modalities with private codes of this prior, each generated from each other one."""
    names, model = evaluation.available, evaluation.model
    chosen = [{"source": source, "target": target} for target in targets for source in names if source != target]
    if not chosen or not isinstance(model.model, Encodes) or not any(evaluation.reader(name) for name in targets):
        return []
    found = Coherence(directions=chosen, joint=False)(evaluation).scores
    return [
        replace(score, name=score.name.replace("coherence", Samplers.name), about={**score.about, "prior": prior})
        for score in found
        if score.value is not None
    ]
