"""The measure of two-way choice: in every pair of senses and every group of samples, in several ways."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import permutations
from typing import ClassVar, Literal, final, get_args

import numpy as np

from molyneux.core import (
    ConfigError,
    DataError,
    Decodes,
    Encodes,
    NotApplicableError,
    Score,
    Spec,
    choice_problems,
    nearest,
)
from molyneux.measure.code_controls import RAW, UNTRAINED, control_codes
from molyneux.measure.codes import CodeTable
from molyneux.measure.evaluation import Evaluation
from molyneux.measure.measures import Measure, Measurement, not_applicable
from molyneux.measure.scores import Recorder
from molyneux.measure.two_way_choice.choices import (
    Distance,
    Side,
    among,
    distances,
    pairs_interval,
    percent_right,
    two_way_choices,
)
from molyneux.measure.two_way_choice.shown import LEFT, examples, shown_choices
from molyneux.measure.two_way_choice.ways import drawn_codes, log_ratios

Way = Literal["codes", "likelihood", "drawing"]

_MODEL = "model"
_SHOWN = "shown"


@dataclass(frozen=True)
class _Question:
    """What is asked: a pair of senses, a group, and the things of each sense."""

    source: str
    target: str
    group: Mapping[str, str]
    one: Side
    other: Side

    @property
    def about(self) -> dict[str, str]:
        return {"source": self.source, "target": self.target, **self.group}


@final
class TwoWayChoice(Measure):
    """Whether a model that is given one thing in one sense knows it from another thing in another sense.

    The test of Held et al., "The newly sighted fail to match seen with felt" (Nature Neuroscience, 2011): a sample is given in
    the modality `source`; of two samples in the modality `target`, one has the same value of a factor (another sample of the same
    shape, say), the other one not. Every sample is asked with every pair of others of its group. A model chooses in one of three
    `ways`; of two things that are equally near or likely, each is half chosen:

    - `codes`: the one whose shared code is nearer.
    - `likelihood`: the one of larger `log p(x | given) - log p(x)`, both estimated with `draws` codes, of the posterior given the
      source and of the prior; private codes of the target are those of the prior. If one of two things is drawn given the source
      and the other from all things, this difference decides best (Neyman and Pearson, 1933). The likelihood given the source
      alone (`relative: false`) prefers the same things whatever is given, such as pictures with little in them.
    - `drawing`: the target is generated from what is given, `draws` times with private codes of the prior, and the drawings are
      encoded. The one whose code is nearer to the mean code of the drawings, both in the same sense, is chosen.

    Scores: `two_way_choice.accuracy` in %, with `about` naming source, target, the value of `by`, and the way unless it is
    `codes`; the mean over ordered pairs of values (pairs of shapes), and the interval that holds for new samples *and* new
    values: values are resampled, with all their samples (Owen, "The pigeonhole bootstrap", Annals of Applied Statistics, 2007).
    Chance is 50 %. Likelihood and drawing are asked about the first `asked` samples of each group, in an order that their content
    decides on, since n given things and m to choose from take n x m x `draws` densities.

    `shown` asks again after so many samples of each value were shown in both senses, with the same weights:
    `two_way_choice.shown_accuracy`, with `about.shown`. What is given is taken for that of the two values whose shown samples
    have the nearer mean code in its own sense, and the one whose code is nearer to their mean code in the other sense is chosen;
    the codes of both senses are never compared, nor are other values. 0 is the choice by codes, of the same samples. Samples that
    are shown are not asked after any number of them, and only values of which enough samples are left are.

    Controls: the `untrained net`, but not of likelihoods; and of choices by codes `raw input`, where codes are as many principal
    components of each sense: after samples were shown, a memory that needs no model. What a model learns from wrong pairs is
    asked of one that is trained on them (`Bridging.permuted`).

    Args:
        factor: name of the factor whose values are told apart.
        by: name of a factor by which samples are grouped, such as `role`; both things have the same value of it. None: one group.
        pairs: of modalities, source and target; all ordered pairs of two different ones by default. With the same one twice, one
            thing is felt and so are the two others: what a model knows within a sense.
        distance: of codes.
        alike: name of a factor in which the values of both things have to agree, such as `pair`: then there are also
            `two_way_choice.alike_accuracy` and `two_way_choice.shown_alike_accuracy`, over these pairs of values alone.
        samples: at most so many of each group.
        ways: in which a model chooses; one that it cannot go gives a score without a value that says why.
        draws: codes or drawings of each thing that is given, for likelihood and drawing.
        asked: at most so many samples of each group for likelihood and drawing.
        relative: whether likelihoods are compared with those given the prior.
        shown: numbers of samples of each value that are shown in both senses.

    Raises:
        ConfigError: an unknown distance or way, no way, pairs that are none, fewer than 4 samples, no draws, or numbers below 0.
    """

    name: ClassVar[str] = "two_way_choice"
    needs: ClassVar[tuple[type, ...]] = (Encodes,)

    def __init__(
        self,
        *,
        factor: str = "shape",
        by: str | None = None,
        pairs: Sequence[Sequence[str]] = (),
        distance: Distance = "cosine",
        alike: str | None = None,
        samples: int = 1000,
        ways: Sequence[Way] = ("codes",),
        draws: int = 32,
        asked: int = 300,
        relative: bool = True,
        shown: Sequence[int] = (),
    ) -> None:
        problems = choice_problems(distance=(distance, ("cosine", "euclidean")))
        problems += [problem for way in ways for problem in choice_problems(ways=(way, get_args(Way)))]
        if not ways or len({*ways}) != len(ways):
            problems.append(f"ways: expected at least one and no repeats, got {list(ways)}")
        problems += [f"pairs: expected two modalities, got {list(pair)}" for pair in pairs if len(pair) != 2]
        for what, value in (("samples", samples), ("asked", asked)):
            problems += [f"{what}: expected at least 4, got {value}"] * (value < 4)
        problems += [f"draws: expected at least 1, got {draws}"] * (draws < 1)
        problems += [f"shown: expected different numbers from 0, got {list(shown)}"] * (
            min(shown, default=0) < 0 or len({*shown}) != len(shown)
        )
        if problems:
            raise ConfigError(problems)
        self.factor, self.by, self.distance, self.alike, self.samples = factor, by, distance, alike, samples
        self.pairs = tuple((pair[0], pair[1]) for pair in pairs)
        self.ways, self.draws, self.asked, self.relative, self.shown = tuple(ways), draws, asked, relative, tuple(shown)

    def check(self, spec: Spec) -> None:
        """Raise ConfigError for unknown modalities, and for factors that are named beside the default and unknown."""
        known = [factor.name for factor in spec.factors]
        names = dict.fromkeys(name for pair in self.pairs for name in pair)
        problems = [f"pairs: no modality {name!r}; {nearest(name, spec.names)}" for name in names if name not in spec.names]
        for what, name in (("by", self.by), ("alike", self.alike)):
            if name is not None and name not in known:
                problems.append(f"{what}: no factor {name!r}; {nearest(name, known)}")
        if self.factor != "shape" and self.factor not in known:
            problems.append(f"factor: no factor {self.factor!r}; {nearest(self.factor, known)}")
        if problems:
            raise ConfigError(problems)

    def measure(self, evaluation: Evaluation) -> Measurement:
        """Every pair of modalities, in every group and every way."""
        known = [factor.name for factor in evaluation.spec.factors]
        if self.factor not in known:
            theirs = f"name one of theirs as `factor`: {', '.join(known)}" if known else "they have no factors: give them some"
            raise NotApplicableError(
                f"two_way_choice needs a factor to tell apart; these samples have no {self.factor}: {theirs}"
            )
        questions = list(self._questions(evaluation))
        if not questions:
            raise NotApplicableError("two_way_choice needs samples of two values in two modalities: measure on another source")
        scores = [score for question in questions for score in self._codes(evaluation, question)] if "codes" in self.ways else []
        for way in [way for way in self.ways if way != "codes"]:
            try:
                if not isinstance(evaluation.model, Decodes):
                    raise NotApplicableError(f"it needs a model that decodes; {type(evaluation.model).__name__} does not")
                found = [score for question in questions for score in self._by_decoding(evaluation, question, way)]
            except NotApplicableError as error:
                found = [not_applicable(self, str(error), origin=evaluation.provenance(), about={"way": way})]
            scores += found
        scores += self._after_showing(evaluation, questions)
        if not scores:
            raise NotApplicableError(f"two_way_choice needs two samples of the same {self.factor}: measure on more")
        return Measurement(tuple(scores))

    def _questions(self, evaluation: Evaluation) -> Iterator[_Question]:
        """Those of each pair of modalities and each group that have samples of two values."""
        spec, tables = evaluation.spec, dict[str, CodeTable]()
        pairs = self.pairs or tuple(permutations(evaluation.available, 2))
        for name in dict.fromkeys(name for pair in pairs for name in pair if name in evaluation.available):
            tables[name] = evaluation.table((name,)).by_content()
        beside = {name: control_codes(evaluation, (name,), table, "mean").get("shared", {}) for name, table in tables.items()}
        sides = {name: self._side(spec, table, beside[name]) for name, table in tables.items()}
        place = None if self.by is None else spec.factor_index(self.by)
        for source, target in pairs:
            for number, group in enumerate(("",) if self.by is None else spec.factor(self.by).values):
                if source not in tables or target not in tables:
                    continue
                rows = [
                    np.flatnonzero((sides[name].values >= 0) & (place is None or tables[name].factors[:, place or 0] == number))
                    for name in (source, target)
                ]
                one, other = (sides[name][part] for name, part in zip((source, target), rows, strict=True))
                if len(one) and len(other) and len(np.unique(np.concatenate([one.values, other.values]))) > 1:
                    yield _Question(source, target, {} if self.by is None else {self.by: group}, one, other)

    def _side(self, spec: Spec, table: CodeTable, beside: Mapping[str, np.ndarray]) -> Side:
        kin = np.empty(0, np.int64) if self.alike is None else table.factors[:, spec.factor_index(self.alike)]
        values = table.factors[:, spec.factor_index(self.factor)]
        codes = {_MODEL: table.means["shared"], **{name: beside[name] for name in (UNTRAINED, RAW) if name in beside}}
        return Side(values, kin, table.rows, codes)

    def _codes(self, evaluation: Evaluation, question: _Question) -> Iterator[Score]:
        """Choices by the distance of codes of both senses."""
        question = replace(question, one=question.one[: self.samples], other=question.other[: self.samples])
        found = dict[str, np.ndarray]()
        for name, codes in question.one.codes.items():
            if name in question.other.codes:
                width = min(codes.shape[1], question.other.codes[name].shape[1])
                found[name] = distances(codes[:, :width], question.other.codes[name][:, :width], self.distance)
        yield from self._scores(evaluation, question, found)

    def _by_decoding(self, evaluation: Evaluation, question: _Question, way: Way) -> Iterator[Score]:
        """Choices by likelihood, or by drawing."""
        one, other = question.one[: self.asked], question.other[: self.asked]
        question = replace(question, one=one, other=other)
        names = (self.name, way, *question.about.values())
        if way == "likelihood":
            ratios = log_ratios(
                evaluation,
                one.numbers,
                other.numbers,
                source=question.source,
                target=question.target,
                draws=self.draws,
                generator=evaluation.generator(*names),
                relative=self.relative,
            )
            yield from self._scores(evaluation, question, {_MODEL: -ratios}, about={"way": way})
            return
        found = {_MODEL: self._drawn(evaluation, question, _MODEL, names)}
        start = evaluation.before_training if UNTRAINED in other.codes else None
        if start is not None:
            with suppress(NotApplicableError, DataError):  # an untrained net may need what is fitted later
                found[UNTRAINED] = self._drawn(start, question, UNTRAINED, names)
        yield from self._scores(evaluation, question, found, about={"way": way})

    def _drawn(self, evaluation: Evaluation, question: _Question, name: str, names: Sequence[str]) -> np.ndarray:
        """Distances (n, m) of the codes of what a model draws from those of what there is to choose from."""
        codes = drawn_codes(
            evaluation,
            question.one.numbers,
            source=question.source,
            target=question.target,
            draws=self.draws,
            generator=evaluation.generator(*names),
        )
        return distances(codes, question.other.codes[name], self.distance)

    def _after_showing(self, evaluation: Evaluation, questions: Sequence[_Question]) -> Iterator[Score]:
        """Choices after samples were shown in both senses; a number that some group has too few samples for is told."""
        lacking = dict[int, list[str]]()
        for question in questions if self.shown else ():
            one, other = question.one, question.other
            shown = examples(one, other, self.shown, evaluation.rng(self.name, _SHOWN, *question.about.values()))
            for count in self.shown:
                if shown is None or count not in shown.counts:
                    lacking.setdefault(count, []).append(" ".join(question.about.values()))
                    continue
                part = shown.first(self.samples)
                found = {
                    name: shown_choices(one, other, part, count, name, self.distance) for name in one.codes if name in other.codes
                }
                asked = replace(question, one=one[part.asked_given], other=other[part.asked_choices])
                yield from self._told(evaluation, asked, found, about={_SHOWN: str(count)}, prefix="shown_")
        for count, groups in lacking.items():
            few = f"{count} shown samples of each {self.factor} and {LEFT} to ask need more samples of {', '.join(groups)}"
            about = {_SHOWN: str(count)}
            yield not_applicable(self, f"{few}: measure on more", origin=evaluation.provenance(), about=about)

    def _scores(
        self,
        evaluation: Evaluation,
        question: _Question,
        away: Mapping[str, np.ndarray],
        *,
        about: Mapping[str, str] | None = None,
    ) -> Iterator[Score]:
        """Those of distances (n, m), by whose they are."""
        one, other = question.one, question.other
        same = one.numbers[:, None] == other.numbers
        asked = {name: two_way_choices(part, one.values, other.values, same=same) for name, part in away.items()}
        yield from self._told(evaluation, question, asked, about=about)

    def _told(
        self,
        evaluation: Evaluation,
        question: _Question,
        asked: dict[str, np.ndarray | None],
        *,
        about: Mapping[str, str] | None = None,
        prefix: str = "",
    ) -> Iterator[Score]:
        """Those of shares (K, K) of right choices, by whose they are; of all pairs of values, and of those that are alike."""
        one, other = question.one, question.other
        right = asked.pop(_MODEL)
        if right is None:
            return
        told = {**question.about, **(about or {})}
        recorder = Recorder(self.name, evaluation.rng(self.name, *told.values()), told, evaluation.provenance())
        yield _score(recorder, f"{prefix}accuracy", right, asked, len(one))
        if self.alike is None:
            return
        kin = _kin(one, other)
        if (right := among(right, kin)) is not None:
            within = {name: among(found, kin) for name, found in asked.items() if found is not None}
            yield _score(recorder, f"{prefix}alike_accuracy", right, within, len(one))


def _kin(one: Side, other: Side) -> np.ndarray:
    """Which pairs of values go with one value of the factor `alike`, (K, K) bool."""
    _, first = np.unique(np.concatenate([one.values, other.values]), return_index=True)
    told = np.concatenate([one.kin, other.kin])[first]
    return np.asarray(told[:, None] == told)


def _score(recorder: Recorder, name: str, right: np.ndarray, controls: Mapping[str, np.ndarray | None], count: int) -> Score:
    """The mean over pairs of values, in %."""
    return recorder.score(
        name,
        percent_right(right),
        interval=pairs_interval(right, recorder.rng),
        n=count,
        unit="%",
        bounds=(0.0, 100.0),
        chance=50.0,
        controls={control: value for control, part in controls.items() if (value := percent_right(part)) is not None},
    )
