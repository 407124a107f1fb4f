"""What every measure is, and `evaluate`, which runs a list of measures under a list of conditions."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, ClassVar, final
from urllib.parse import quote

import torch
from torch import nn

from molyneux.core import (
    About,
    Compares,
    ConfigError,
    Decodes,
    Encodes,
    EstimatesLikelihood,
    Exhibit,
    NotApplicableError,
    Predicts,
    Representation,
    Score,
    Spec,
    seeds,
)
from molyneux.core.tooling.kinds import refuse_wrong_kinds
from molyneux.measure.evaluation import Evaluation

_ABILITIES: dict[type, str] = {
    Compares: "chooses among texts (method `compare`)",
    Decodes: "decodes codes into views (methods `decode` and `prior`)",
    Encodes: "encodes samples into codes (method `encode`)",
    EstimatesLikelihood: "estimates log-likelihoods (method `log_likelihood`)",
    Predicts: "predicts targets (method `predict`)",
    Representation: "gives representations (method `represent`)",
}
_LONGEST = 120


@dataclass(frozen=True)
class Measurement:
    """What a measure gives."""

    scores: tuple[Score, ...] = ()
    exhibits: tuple[Exhibit, ...] = ()

    def __add__(self, other: Measurement) -> Measurement:
        return Measurement(self.scores + other.scores, self.exhibits + other.exhibits)


class Measure(ABC):
    """Something that can be measured. Settings are checked at construction; a call changes nothing.

    Settings of another kind than the constructor's annotations say are refused before it is called (ConfigError).

    Attributes:
        name: family of its scores, such as `coherence`.
        needs: the protocols a model must satisfy.
        scored: whether it gives scores; one that gives exhibits alone is left out under all conditions but the first.
        exhibits_each: whether its exhibits are made under every condition, and not only under the first.
    """

    name: ClassVar[str]
    needs: ClassVar[tuple[type, ...]] = ()
    scored: bool = True
    exhibits_each: ClassVar[bool] = False

    def __init_subclass__(cls, **settings: Any) -> None:
        super().__init_subclass__(**settings)
        refuse_wrong_kinds(cls)

    @final
    def __call__(self, evaluation: Evaluation) -> Measurement:
        """Measure, with the model in evaluation mode and without gradients.

        Scores that a modality cannot have because no sample has it are recorded without a value, with the reason.

        Raises:
            NotApplicableError: the model or the source lacks what this measure needs. ConfigError: see `check`.
        """
        return self._measure(replace(evaluation))  # codes are encoded anew: the model may have been trained since

    @abstractmethod
    def measure(self, evaluation: Evaluation) -> Measurement:
        """What `__call__` does once the protocols are checked."""

    def across(self, scores: Sequence[Score]) -> Measurement:
        """What there is to say about all conditions together, from the scores of all measures under all conditions; called last.

        Nothing, unless a measure compares conditions.
        """
        return Measurement()

    def check(self, spec: Spec) -> None:  # noqa: B027 (most measures suit every Spec)
        """Raise ConfigError where settings do not fit the samples; called before anything is measured."""

    def _measure(self, evaluation: Evaluation) -> Measurement:
        self.check(evaluation.spec)
        if not all(isinstance(evaluation.model, protocol) for protocol in self.needs):
            abilities = [_ABILITIES.get(protocol, f"satisfies {protocol.__name__}") for protocol in self.needs]
            model = type(evaluation.model).__name__
            raise NotApplicableError(f"{self.name} needs a model that {' and '.join(abilities)}; {model} does not")
        with _evaluating(evaluation.model), torch.inference_mode():
            absent = [name for name in evaluation.spec.names if name not in evaluation.available] if self.scored else []
            found = self.measure(evaluation)
        origin = evaluation.provenance()
        reasons = [not_applicable(self, f"no sample has {name}", origin=origin, about={"modality": name}) for name in absent]
        return found + Measurement(tuple(reasons))


def not_applicable(measure: Measure, reason: str, *, origin: Mapping[str, Any], about: About | None = None) -> Score:
    """A score without a value that says why there is none."""
    return Score(measure.name, None, about or {}, origin=origin, note=f"not applicable: {reason}")


def evaluate(
    measures: Sequence[Measure],
    evaluations: Evaluation | Sequence[Evaluation],
    *,
    progress: Callable[[int, int, str], None] | None = None,
) -> Measurement:
    """Run measures under each condition, one after the other.

    All measures share the codes of a condition, which are encoded once. `about` of a condition is merged into its scores.
    Exhibits are made under the first condition only, unless a measure says otherwise. A measure that does not apply leaves a
    score without a value whose note says why.

    Args:
        measures: what to measure.
        evaluations: one for each condition, the samples as they are first.
        progress: is called with (done, total, name of the next measure; "" at the end).

    Raises:
        ConfigError: no condition, conditions that are not told apart by `about`, or settings that do not fit the samples.
    """
    given = _sharing([evaluations] if isinstance(evaluations, Evaluation) else evaluations)
    for measure in measures:
        for evaluation in given:
            measure.check(evaluation.spec)
    work = [
        (number, evaluation, measure)
        for number, evaluation in enumerate(given)
        for measure in measures
        if number == 0 or measure.scored or measure.exhibits_each
    ]
    total = Measurement()
    for done, (number, evaluation, measure) in enumerate(work):
        if progress is not None:
            progress(done, len(work), measure.name)
        try:
            found = measure._measure(evaluation)
        except NotApplicableError as error:
            found = Measurement((not_applicable(measure, str(error), origin=evaluation.provenance()),))
        total += _under(found, evaluation.about, exhibits=number == 0 or measure.exhibits_each)
    scores = total.scores
    for measure in measures:
        total += measure.across(scores)
    if progress is not None:
        progress(len(work), len(work), "")
    return total


def exhibit_name(*parts: str | Sequence[str]) -> str:
    """The name of an exhibit, which is also that of its files: letters, digits, `-`, `.`, `%` and `_`.

    Other characters of modality names are percent-encoded, so different names stay different.

    >>> exhibit_name("projection", ("image", "a/b")), exhibit_name("projection", "image_a")
    ('projection_image_a%2Fb', 'projection_image%5Fa')
    """
    names = [name for part in parts for name in ((part,) if isinstance(part, str) else part)]
    whole = "_".join([names[0], *(quote(name, safe="").replace("_", "%5F") for name in names[1:])])
    if len(whole) <= _LONGEST:
        return whole
    return f"{whole[:_LONGEST]}-{int(seeds.key(0, whole)[0]):016x}"


def _sharing(evaluations: Sequence[Evaluation]) -> list[Evaluation]:
    """Evaluations whose codes are their own, and which share those of the same training samples."""
    if not evaluations:
        raise ConfigError("expected an evaluation for at least one condition, got none")
    abouts = [tuple(sorted(evaluation.about.items())) for evaluation in evaluations]
    if len(set(abouts)) < len(abouts):
        raise ConfigError(f"expected conditions that differ in `about`, got {[dict(about) for about in abouts]}")
    found, trained = [], dict[tuple[Any, ...], Evaluation | None]()
    for evaluation in evaluations:
        fresh = replace(evaluation)
        key = (id(fresh.model), id(fresh.train), fresh.seed, fresh.batch_size)
        fresh.__dict__["training"] = trained.setdefault(key, fresh.training)  # fills the cached property
        found.append(fresh)
    return found


def _under(found: Measurement, about: About, *, exhibits: bool) -> Measurement:
    """A measurement whose scores and exhibits say under which condition they were made."""
    if used := {name for score in found.scores for name in score.about if name in about}:
        raise ConfigError(f"condition {dict(about)}: scores say something else by {', '.join(sorted(used))}: rename it")
    scores = tuple(replace(score, about={**score.about, **about}) for score in found.scores) if about else found.scores
    kept = found.exhibits if exhibits else ()
    if about:
        names = [(value,) if isinstance(value, str) else value for value in about.values()]
        condition = ", ".join(f"{key} {' and '.join(value)}" for key, value in zip(about, names, strict=True))
        flat = [name for value in names for name in value]
        kept = tuple(replace(item, name=exhibit_name(item.name, flat), title=f"{item.title} ({condition})") for item in kept)
    return Measurement(scores, kept)


@contextmanager
def _evaluating(model: Any) -> Iterator[None]:
    """Put a module into evaluation mode and back."""
    if not isinstance(model, nn.Module):
        yield
        return
    modes = [(module, module.training) for module in model.modules()]
    model.eval()
    try:
        yield
    finally:
        for module, training in modes:
            module.training = training
