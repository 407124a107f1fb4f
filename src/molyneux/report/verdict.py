"""What a run shows in words: one sentence that answers, remarks about how far it holds, and caveats. All come from its records.

The sentence says whether the run is better than guessing, by `Score.is_guessed`: the interval of a score, and its best constant
answer, against its chance. Codes are called by their recommended MIG: below `ENTANGLED` entangled, from `SEPARATE` on separate.

The remarks, each by one rule:

- few steps: fewer than `FEW_STEPS` optimiser steps were made;
- unfinished: the validation loss of the last quarter of the training still fell by more than `FALLING` of its whole fall;
- refused: readers refuse all, or at least `REFUSED` %, of what is generated in a direction;
- forced choice: readers that may not abstain are no better than guessing;
- mean view: a direction is no better than the mean of the training views with the same factors;
- one sense: from one input alone a target is predicted as well as from all (the intervals overlap), and from each other input
  alone no better than guessing;
- both senses: from all inputs a target is predicted better than guessing, from none of them alone;
- without training: of a factor an untrained net or the raw input tells as much as the code does (by the interval of its score);
- dead code: fewer than half of the dimensions of a code are used.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite

from molyneux.core import Score, Spec
from molyneux.report import wording
from molyneux.report.choice_scores import alike_score, choice_scores
from molyneux.report.headlines import (
    choice_words,
    claim,
    group_scores,
    kinds_of,
    mig_scores,
    noun,
    probe_scores,
    strict_scores,
)
from molyneux.report.settings import train_overlap_of
from molyneux.report.tables import prediction_scores, whole_predictions
from molyneux.report.wording import with_unit, write_count

FEW_STEPS = 1_000
FALLING = 0.1
REFUSED = 90.0
ENTANGLED, SEPARATE = 0.1, 0.5
FEW_SAMPLES = 1_000
_UNTRAINED = {"untrained net": "an untrained net", "raw input": "the input itself"}
"""Controls that need no training, and what they are called in a sentence."""


@dataclass(frozen=True)
class Verdict:
    """What a run shows: the answer in one sentence, remarks and caveats of a sentence each."""

    answer: str
    remarks: tuple[str, ...] = ()
    caveats: tuple[str, ...] = ()


def verdict(
    scores: Sequence[Score], spec: Spec | None = None, history: Mapping[str, Sequence[float]] | None = None, seed: object = None
) -> Verdict:
    """What a run shows.

    Args:
        scores: of the run on the samples as they are.
        spec: kinds of the modalities.
        history: columns of the training log.
        seed: of the run; None where it is not recorded.
    """
    kinds = kinds_of(spec)
    sentences = (
        _generation(scores, kinds),
        _prediction(scores, kinds),
        _sets(scores),
        _choices(scores, kinds),
        _codes(scores),
        _probes(scores),
    )
    told = next((sentence for sentence in sentences if sentence), "") or _rest(scores)
    remarks = (
        *_training(history or {}),
        *_reading(scores, kinds),
        *_senses(scores, kinds),
        *_without_training(scores),
        *_dead(scores),
    )
    return Verdict(told, tuple(dict.fromkeys(remarks)), tuple(_caveats(scores, history or {}, seed)))


def _generation(scores: Sequence[Score], kinds: Mapping[str, str]) -> str:
    known = [score for score in strict_scores(scores) if score.value is not None]
    if not known:
        return ""
    better = [score for score in known if not score.is_guessed]
    best = max(known, key=lambda score: score.value or 0.0)
    said = f"{claim(best, kinds)} {with_unit(best, best.value)} of the time"
    if len(known) == 1:
        return f"{said}, {'better' if better else 'no better'} than guessing{_guess(best)}."
    if not better:
        return f"In none of {len(known)} directions is what it generates right more often than by guessing. Best: {_low(said)}."
    share = "all" if len(better) == len(known) else f"{len(better)} of"
    beside = "" if best.chance is None else f", guessing {with_unit(best, best.chance)}"
    return f"It is better than guessing in {share} {len(known)} directions. Best: {_low(said)}{beside}."


def _prediction(scores: Sequence[Score], kinds: Mapping[str, str]) -> str:
    known = [score for score in whole_predictions(scores) if score.value is not None]
    if not known:
        return ""
    better = [score for score in known if score.chance is not None and not score.is_guessed]
    first = known[0]
    sources = [noun(name, kinds) for name in wording.names_of(first.about.get("source"))]
    given = f"From {wording.listed(sources)} it" if sources else "It"
    said = f"{given} predicts {wording.value_text(first.about.get('target'))} with {_measured(first)}"
    if len(known) == 1:
        if first.chance is None:
            return f"{said}."
        return f"{said}, {'better' if better else 'no better'} than guessing{_guess(first)}."
    return f"It predicts {len(better)} of {len(known)} targets better than guessing. {said}{_guess(first)}."


def _measured(score: Score) -> str:
    measure = wording.measure(score).partition(",")[0]
    measure = measure if measure[:2].isupper() else measure.lower()
    return (
        f"{with_unit(score, score.value)} {measure}" if score.unit == "%" else f"a {measure} of {with_unit(score, score.value)}"
    )


def _sets(scores: Sequence[Score]) -> str:
    for score in group_scores(scores):
        if score.value is not None:
            better = "no better" if score.is_guessed else "better"
            return f"It tells {with_unit(score, score.value)} of contrast sets apart, {better} than guessing{_guess(score)}."
    return ""


def _choices(scores: Sequence[Score], kinds: Mapping[str, str]) -> str:
    """Two-way choices between senses: of things that are new, where they were asked about, those that are alike first."""
    for score in choice_scores(scores)[:1]:
        alike = alike_score(scores, score)
        lead = score if alike is None else alike
        others = "" if alike is None else f"; of any two, {with_unit(score, score.value)}"
        better = "no better" if lead.is_guessed else "better"
        return f"{choice_words(score, alike, kinds)}, {better} than guessing{_guess(lead)}{others}."
    return ""


def _codes(scores: Sequence[Score]) -> str:
    known = [score for score in mig_scores(scores) if score.value is not None]
    if not known:
        return ""
    score = max(known, key=lambda each: each.value or 0.0)
    value = score.value or 0.0
    if value < ENTANGLED or score.is_guessed:
        said = "Its codes are entangled: hardly any dimension stands for one factor alone"
    elif value < SEPARATE:
        said = "Its codes are partly separate: some dimensions stand for one factor alone"
    else:
        said = "Its codes are separate: most factors have a dimension of their own"
    return f"{said} (MIG {with_unit(score, value)} of 1)."


def _probes(scores: Sequence[Score]) -> str:
    known = probe_scores(scores)
    if not known:
        return ""
    better = [score for score in known if not score.is_guessed]
    names = [wording.value_text(score.about.get("factor") or score.about.get("target")) for score in better]
    which = f": {wording.listed(names)}" if 0 < len(names) < 6 else ""
    return f"A linear probe of its codes reads {len(better)} of {len(known)} factors better than guessing{which}."


def _rest(scores: Sequence[Score]) -> str:
    directed = [score for score in scores if score.value is not None and score.higher_is_better is not None]
    known = next((score for score in directed if score.name == "clustering.nmi"), next(iter(directed), None))
    if known is not None:
        family = wording.family_title(wording.family(known.name))
        of = f" ({wording.subject(known)})" if wording.subject(known) else ""
        return f"{family}{of}: {wording.measure(known).partition(',')[0].lower()} {with_unit(known, known.value)}{_guess(known)}."
    return "Nothing could be measured; the cards below say why." if scores else ""


def _guess(score: Score) -> str:
    return "" if score.chance is None else f" ({with_unit(score, score.chance)})"


def _low(text: str) -> str:
    return text[:1].lower() + text[1:]


def _training(history: Mapping[str, Sequence[float]]) -> Iterator[str]:
    steps = max((int(step) for step in history.get("step", ()) if isfinite(step)), default=0)
    if 0 < steps < FEW_STEPS:
        yield f"It was trained for {write_count(steps)} steps, which is few: the shipped experiments take {FEW_STEPS:,} and more."
    losses = [loss for loss in history.get("validation/loss", ()) if isfinite(loss)]
    if len(losses) >= 4:
        before, last = losses[-1 - len(losses) // 4], losses[-1]
        if losses[0] - last > 0 and (before - last) / (losses[0] - last) > FALLING:
            yield "The validation loss was still falling when the training ended: more steps may help."


def _reading(scores: Sequence[Score], kinds: Mapping[str, str]) -> Iterator[str]:
    for score in scores:
        about = set(score.about) <= {"source", "target"}
        if not about or score.value is None:
            continue
        target, source = (wording.value_text(score.about.get(name)) for name in ("target", "source"))
        if score.name == "coherence.unreadable" and score.value >= REFUSED:
            share = "all" if score.value >= 100 else with_unit(score, score.value)
            what = "blurs or no figures" if kinds.get(target) == "image" else "nothing that it knows"
            yield f"The reader refuses {share} of what is generated as {target} from {source}: to it these are {what}."
        if score.name == "coherence.strict_forced" and score.is_guessed:
            yield (
                f"Made to choose, the reader is at guessing ({with_unit(score, score.value)}) for {target} from {source}: "
                "not even a trace of the meaning arrives."
            )
        if score.name == "coherence.strict" and score.is_mean_view and not score.is_guessed:
            yield f"For {target} from {source} it is no better than the mean of training views with the same factors."


def _senses(scores: Sequence[Score], kinds: Mapping[str, str]) -> Iterator[str]:
    """Which inputs a prediction uses."""
    for whole in whole_predictions(scores):
        names = wording.names_of(whole.about.get("source"))
        same = [score for score in prediction_scores(scores) if score.name == whole.name and _of(score) == _of(whole)]
        alone = {_only(score): score for score in same if score.value is not None and len(_source(score)) == 1}
        if whole.value is None or whole.is_guessed or whole.chance is None or len(names) < 2 or set(alone) != set(names):
            continue
        useful = [name for name in names if not alone[name].is_guessed]
        target = wording.value_text(whole.about.get("target"))
        if not useful:
            yield f"It joins its senses: no input alone tells {target} better than guessing, all of them do."
        elif len(useful) == 1 and _overlap(alone[useful[0]], whole):
            own, every = (with_unit(score, score.value) for score in (alone[useful[0]], whole))
            which = f"{noun(useful[0], kinds)} alone it has {own}, as from all {every}"
            yield f"It uses one of its {len(names)} senses for {target}: from {which}, the others alone guess."


def _of(score: Score) -> dict[str, wording.Value]:
    return {name: value for name, value in score.about.items() if name != "source"}


def _source(score: Score) -> tuple[str, ...]:
    return wording.names_of(score.about.get("source"))


def _only(score: Score) -> str:
    return _source(score)[0]


def _overlap(first: Score, second: Score) -> bool:
    """Whether the intervals of two scores have a number in common."""
    ends = [score.interval or (score.value or 0.0, score.value or 0.0) for score in (first, second)]
    return max(low for low, _ in ends) <= min(high for _, high in ends)


def _without_training(scores: Sequence[Score]) -> Iterator[str]:
    """What codes tell that needs no training: no more than an untrained net, or the views themselves."""
    found = dict[str, list[str]]()
    for score in probe_scores(scores):
        low = score.interval[0] if score.interval else score.value or 0.0
        control = max(((score.controls[name], name) for name in _UNTRAINED if name in score.controls), default=None)
        if control is not None and not score.is_guessed and control[0] >= low:
            factor = wording.value_text(score.about.get("factor") or score.about.get("target"))
            found.setdefault(_UNTRAINED[control[1]], []).append(factor)
    for what, names in found.items():
        which = wording.listed(names) if len(names) < 6 else f"{len(names)} factors"
        yield f"{what[:1].upper()}{what[1:]} tells {which} as well as its codes do: that takes no training."


def _dead(scores: Sequence[Score]) -> Iterator[str]:
    """Codes given the most modalities of which few dimensions are used."""
    known = [score for score in scores if score.name == "code_use.active_units" and score.value is not None]
    widest = max((len(_source(score)) for score in known), default=0)
    for score in known:
        most, used = score.bounds[1], score.value or 0.0
        if len(_source(score)) == widest and most and used < most / 2:
            code = wording.value_text(score.about.get("code")).replace(".", " ")
            yield f"Of the {most:g} dimensions of the {code} code {used:g} vary with what is given; the others carry nothing."


def _caveats(scores: Sequence[Score], history: Mapping[str, Sequence[float]], seed: object) -> Iterator[str]:
    if history and seed is not None:
        yield f"This is one training, of seed {seed}: intervals are over samples, and another seed may give another number."
    count = max((score.n for score in scores), default=0)
    if 0 < count < FEW_SAMPLES:
        yield f"Measured on {write_count(count)} samples: intervals are wide. {FEW_SAMPLES:,} and more make them narrow."
    if overlap := train_overlap_of(scores):
        yield overlap
    unread: Mapping[str, str] = next((score.origin["unread"] for score in scores if score.origin.get("unread")), {})
    asked = any(score.name.startswith("coherence") for score in scores)
    for name, why in dict(unread if asked else {}).items():
        yield f"{name[:1].upper()}{name[1:]} is read by nobody: {str(why).rstrip('.')}."
