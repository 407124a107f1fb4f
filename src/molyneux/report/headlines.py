"""The main results of a run as cards: a number, and a sentence with its interval, chance and ceiling. And its first picture.

Every kind of run has at least one card. In this order:

1. strict coherence, a card for each direction;
2. predicted targets, a card for each, from all modalities that were given;
3. contrast sets, the group score of each target;
4. two-way choice from one sense to another, of things that are new where they were asked about, both ways;
5. disentanglement, the mutual information gap (MIG) of each code with its parts;
6. readers, for data of which some modality is read by nobody: which are read, and why others are not;
7. without any of these, probes of the codes, or else clustering, or else the first score of each measure that has a direction;
8. without these too, the reason why nothing was measured.

The one picture below is of what the model generates, or has these scores as dots on a line.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice

from molyneux.core import Score, Spec
from molyneux.report import wording
from molyneux.report.choice_scores import alike_score, choice_scores, of_two
from molyneux.report.page import Block, Drawings, DrawnGallery, Headline
from molyneux.report.settings import train_overlap_of
from molyneux.report.tables import coherence_scores, prediction_scores, whole_predictions
from molyneux.report.tables.table import ceiling, strip
from molyneux.report.wording import places, value_text, with_unit, write_interval

_MOST = 3
"""Cards of a run that has no result of its own kind."""
_ROWS, _DOTS = 3, 8
"""Rows of the gallery, or dots, that the first picture has; further ones are below on the page."""
_GENERATES = {
    "audio": "generates the right sound",
    "image": "draws the right picture",
    "label": "names the right label",
    "series": "generates the right {name}",
    "text": "writes the right {text}",
}
_NOUNS = {"audio": "a sound", "image": "a picture", "label": "a label", "text": "a {text}"}


def headlines(scores: Sequence[Score], spec: Spec | None = None) -> tuple[Headline, ...]:
    """The cards of a run, as the module says.

    Args:
        scores: scores of one run on the samples as they are.
        spec: kinds of the modalities, so that a sentence can say picture, caption or sound instead of the name.
    """
    kinds = kinds_of(spec)
    found = [
        *(_direction(score, kinds) for score in strict_scores(scores)),
        *(_prediction(score, kinds) for score in whole_predictions(scores)),
        *map(_group, group_scores(scores)),
        *(_choice(score, alike_score(scores, score), kinds) for score in choice_scores(scores)),
        *(_mig(score, mig_parts(scores, score)) for score in mig_scores(scores) if score.value is not None),
        *_readers(scores, spec),
    ]
    return tuple(found or _others(scores, kinds) or _nothing(scores))


def kinds_of(spec: Spec | None) -> dict[str, str]:
    """The kinds of modalities by name; none without a Spec."""
    return {} if spec is None else {modality.name: str(modality.kind) for modality in spec.modalities}


def strict_scores(scores: Sequence[Score]) -> list[Score]:
    """Strict coherence of every direction."""
    return [score for score in coherence_scores(scores) if score.name == "coherence.strict"]


def group_scores(scores: Sequence[Score]) -> list[Score]:
    """The group scores of contrast sets, of all sets."""
    return [score for score in scores if score.name == "contrasts.group" and set(score.about) <= {"target"}]


def choice_words(score: Score, alike: Score | None, kinds: Mapping[str, str]) -> str:
    """What a model chooses and how often that is right, of things that are alike where these were asked about.

    `From touch it chooses the right picture of two new ones that are alike 75 % of the time`.
    """
    lead, of = score if alike is None else alike, of_two(score, alike=alike is not None)
    source, target = (noun(value_text(score.about.get(name)), kinds) for name in ("source", "target"))
    return f"From {source} it chooses the right {target.removeprefix('a ')}{of} {with_unit(lead, lead.value)} of the time"


def mig_scores(scores: Sequence[Score]) -> list[Score]:
    """The recommended mutual information gap of every code, given the most modalities that it was measured with."""
    found: dict[str, Score] = {}
    for score in scores:
        about = score.about
        if score.name != "disentanglement.mig" or about.get("variant") != "recommended" or "factor" in about:
            continue
        code = wording.value_text(about.get("code"))
        if code not in found or _width(score) > _width(found[code]):
            found[code] = score
    return list(found.values())


def mig_parts(scores: Sequence[Score], whole: Score) -> list[Score]:
    """The parts of a mutual information gap: those of single factors."""
    return [score for score in scores if "factor" in score.about and score.name == whole.name and _without(score) == whole.about]


def probe_scores(scores: Sequence[Score]) -> list[Score]:
    """Linear probes of every factor or target, in the code that is most telling of it, given the most modalities."""
    probes = [score for score in scores if score.name == "latent_probe.accuracy" and score.value is not None]
    widest = max(map(_width, probes), default=0)
    found: dict[str, Score] = {}
    for score in probes:
        label = _label(score)
        if _width(score) == widest and "classifier" not in score.about:
            found[label] = max(found.get(label, score), score, key=lambda each: each.value or 0.0)
    return list(found.values())


def _label(score: Score) -> str:
    return wording.value_text(score.about.get("factor") or score.about.get("target"))


def _without(score: Score) -> dict[str, wording.Value]:
    return {name: value for name, value in score.about.items() if name != "factor"}


def _width(score: Score) -> int:
    return len(wording.names_of(score.about.get("source")))


def _direction(score: Score, kinds: Mapping[str, str]) -> Headline:
    if score.value is None:
        return _not_measured(score, wording.direction(score))
    top = ceiling(score.controls)
    clauses = [f"{claim(score, kinds)} {with_unit(score, score.value)} of the time{_interval(score)}", *_chance(score)]
    clauses += [] if top is None else [f"true ones are read right {with_unit(score, top)} of the time"]
    return _headline(score, wording.direction(score), clauses, "" if wording.is_joint(score.about) else train_overlap_of([score]))


def _prediction(score: Score, kinds: Mapping[str, str]) -> Headline:
    target, sources = wording.value_text(score.about.get("target")), wording.names_of(score.about.get("source"))
    if score.value is None:
        return _not_measured(score, target)
    measure = wording.measure(score).partition(",")[0]
    measure = measure if measure[:2].isupper() else measure.lower()
    given = f"From {wording.listed([noun(name, kinds) for name in sources])}, the" if sources else "The"
    claim = f"{given} {measure} of the predicted target {target} is {with_unit(score, score.value)}{_interval(score)}"
    return _headline(score, target, [claim, *_chance(score)], train_overlap_of([score]))


def _not_measured(score: Score, about: str) -> Headline:
    return Headline(about, "n/a", f"Not measured: {score.note or 'no reason was recorded'}.")


def _headline(score: Score, about: str, clauses: Sequence[str], note: str) -> Headline:
    return Headline(about, with_unit(score, score.value), "; ".join(clauses) + "." + _warning(score), strip(score), note)


def _interval(score: Score) -> str:
    return f" ({write_interval(score.interval, places(score))})" if score.interval else ""


def _chance(score: Score) -> list[str]:
    return [] if score.chance is None else [f"guessing gives {with_unit(score, score.chance)}"]


def claim(score: Score, kinds: Mapping[str, str]) -> str:
    """What strict coherence of a direction is about, as the beginning of a sentence."""
    source, target = (wording.names_of(score.about.get(name)) for name in ("source", "target"))
    if wording.is_joint(score.about):
        return f"Drawn together from the prior, {' and '.join(noun(name, kinds) for name in target)} agree"
    name = wording.value_text(target)
    kind = name if name in kinds and name in _GENERATES else kinds.get(name, "")  # a spectrogram named audio is a sound
    generates = _GENERATES.get(kind, "generates the right {name}").replace("{text}", _text(kinds))
    return f"From {' and '.join(noun(name, kinds) for name in source)} it {generates.replace('{name}', name)}"


def noun(name: str, kinds: Mapping[str, str]) -> str:
    """`a picture` for a modality whose name is its kind, the name for others."""
    kind, words = kinds.get(name, ""), name.replace("_", " ")
    return _NOUNS.get(kind, words).replace("{text}", _text(kinds)) if kind == name else words


def _text(kinds: Mapping[str, str]) -> str:
    """A text beside pictures is a caption."""
    return "caption" if "image" in kinds.values() else "text"


def _warning(score: Score) -> str:
    if score.chance is None or score.value is None or score.higher_is_better is None:
        return ""
    low, high = score.interval or (score.value, score.value)
    if (high < score.chance) if score.higher_is_better else (low > score.chance):
        return " That is worse than guessing."
    if (low <= score.chance <= high) or score.is_guessed:
        return " That is no better than guessing."
    return " That is no better than the mean of the training views with the same factors." if score.is_mean_view else ""


def _group(score: Score) -> Headline:
    target = wording.value_text(score.about.get("target"))
    if score.value is None:
        return _not_measured(score, "contrast sets")
    said = f"It tells both pictures and both captions of a contrast set apart {with_unit(score, score.value)} of the time"
    blind = [f"{name} {with_unit(score, value)}" for name, value in score.controls.items() if name.endswith("only")]
    clauses = [f"{said}{_interval(score)}", *_chance(score), *([f"blind: {', '.join(blind)}"] if blind else [])]
    return _headline(score, f"contrast sets of {target}", clauses, "")


def _choice(score: Score, alike: Score | None, kinds: Mapping[str, str]) -> Headline:
    lead = score if alike is None else alike
    clauses = [f"{choice_words(score, alike, kinds)}{_interval(lead)}", *_chance(lead)]
    clauses += [] if alike is None else [f"of any two, {with_unit(score, score.value)}{_interval(score)}"]
    ends = (value_text(score.about.get(name)) for name in ("source", "target"))
    return _headline(lead, f"the right one of two, {' to '.join(ends)}", clauses, "")


def _mig(score: Score, parts: Sequence[Score]) -> Headline:
    about = f"MIG of the {wording.value_text(score.about.get('code')).replace('.', ' ')} code"
    if score.value is None:
        return _not_measured(score, about)
    by_factor = [f"{_label(part)} {with_unit(part, part.value)}" for part in parts if part.value is not None]
    said = f"One dimension tells {with_unit(score, score.value)} more of a factor than any other{_interval(score)}, of 1 at best"
    ideal, untrained = score.controls.get("true factors"), score.controls.get("untrained net")
    clauses = [said, *([f"by factor: {', '.join(by_factor)}"] if by_factor else []), *_chance(score)]
    clauses += [] if untrained is None else [f"the net before training has {with_unit(score, untrained)}"]
    clauses += [] if ideal is None else [f"the true factors have {with_unit(score, ideal)}"]
    return _headline(score, about, clauses, "")


def _readers(scores: Sequence[Score], spec: Spec | None) -> Iterator[Headline]:
    """Which modalities are read, where some are not and coherence was asked for."""
    unread: Mapping[str, str] = next((score.origin["unread"] for score in scores if score.origin.get("unread")), {})
    if not unread or spec is None or not any(score.name.startswith("coherence") for score in scores):
        return
    names = [modality.name for modality in spec.modalities]
    known = [name for name in names if name not in unread]
    told = "; ".join(f"{name} is not read: {str(why).rstrip('.')}" for name, why in unread.items())
    head = f"{wording.listed(known)} can be read" if known else "Nothing can be read"
    yield Headline("what can be read", f"{len(known)} of {len(names)}", f"{head[:1].upper()}{head[1:]}; {told}.")


def _others(scores: Sequence[Score], kinds: Mapping[str, str]) -> list[Headline]:
    """Cards of a run without a result of its own kind."""
    probes = probe_scores(scores)
    if probes:
        return [_probe(score, kinds) for score in sorted(probes, key=lambda score: score.is_guessed)[:_MOST]]
    clusters = [score for score in scores if score.name == "clustering.nmi" and score.value is not None]
    known = [score for score in scores if score.value is not None and score.higher_is_better is not None]
    firsts = {score.name.partition(".")[0]: score for score in reversed(known) if "factor" not in score.about}
    chosen = clusters[:1] or [firsts[name] for name in reversed(firsts)]
    return [_plain(score) for score in islice(chosen, _MOST)]


def _probe(score: Score, kinds: Mapping[str, str]) -> Headline:
    sources = " and ".join(noun(name, kinds) for name in wording.names_of(score.about.get("source")))
    said = f"From the code of {sources}, a linear probe reads {_label(score)} right {with_unit(score, score.value)} of the time"
    beside = [
        f"{name} {with_unit(score, value)}" for name, value in score.controls.items() if name in ("untrained net", "raw input")
    ]
    clauses = [f"{said}{_interval(score)}", *_chance(score), *([f"without training: {', '.join(beside)}"] if beside else [])]
    return _headline(score, f"{_label(score)}, read from the code", clauses, "")


def _plain(score: Score) -> Headline:
    subject = wording.subject(score)
    title = f"{wording.family_title(wording.family(score.name))}: {wording.measure(score).partition(',')[0]}"
    said = f"{title}{f' of {subject}' if subject else ''} is {with_unit(score, score.value)}{_interval(score)}"
    better = "higher" if score.higher_is_better else "lower"
    return _headline(score, title, [said, *_chance(score), f"{better} is better"], "")


def _nothing(scores: Sequence[Score]) -> list[Headline]:
    """Why nothing was measured: the reasons that were recorded."""
    reasons = list(dict.fromkeys(score.note.removeprefix("not applicable: ") for score in scores if score.note))
    if not scores:
        return []
    return [Headline("nothing was measured", wording.MISSING, " ".join(f"{reason.rstrip('.')}." for reason in reasons[:_MOST]))]


def first_picture(generated: Sequence[DrawnGallery], scores: Sequence[Score]) -> Block | None:
    """The first rows of the first gallery of what is generated, or else a drawing of the main scores; None without either.

    Args:
        generated: galleries of what the model generates.
        scores: of the run on the samples as they are.
    """
    shown = next((gallery for gallery in generated if not gallery.text_only), generated[0] if generated else None)
    if shown is not None:
        return replace(shown, name=f"first-{shown.name}", title="", note=shown.note, rows=shown.rows[:_ROWS])
    for title, rows in (_directions(scores), _predicted(scores), _compared(scores), _codes(scores), _probed(scores)):
        if len(rows) > 1:
            return _dots(title, rows[:_DOTS])
    return None


_Rows = list[tuple[str, Score]]


def _directions(scores: Sequence[Score]) -> tuple[str, _Rows]:
    """Strict coherence of each direction, of a run without galleries."""
    known = [score for score in strict_scores(scores) if score.value is not None]
    return "Right of what is generated, %", [(wording.direction(score), score) for score in known]


def _predicted(scores: Sequence[Score]) -> tuple[str, _Rows]:
    """The first measure of the first target from all inputs and from each alone, or that of all targets."""
    wholes = [score for score in whole_predictions(scores) if score.value is not None]
    if not wholes:
        return "", []
    first, target = wholes[0], value_text(wholes[0].about.get("target"))
    same = [score for score in prediction_scores(scores) if score.name == first.name and score.value is not None]
    own = [
        score for score in same if set(score.about) <= {"source", "target"} and value_text(score.about.get("target")) == target
    ]
    own.sort(key=lambda score: -len(wording.names_of(score.about.get("source"))))
    if len(own) > 1:
        return f"{wording.measure(first)}, of {target}, by what is given", [
            (value_text(one.about.get("source")), one) for one in own
        ]
    alike = [score for score in wholes if score.name == first.name]
    return wording.measure(first), [(value_text(one.about.get("target")), one) for one in alike]


def _compared(scores: Sequence[Score]) -> tuple[str, _Rows]:
    if not group_scores(scores):
        return "", []
    names = ("contrasts.text", "contrasts.image", "contrasts.group")
    found = [score for score in scores if score.name in names and set(score.about) <= {"target"} and score.value is not None]
    return "Contrast sets that are told apart, %", [(score.name.partition(".")[2], score) for score in found]


def _codes(scores: Sequence[Score]) -> tuple[str, _Rows]:
    known = [score for score in mig_scores(scores) if score.value is not None]
    if not known:
        return "", []
    whole = max(known, key=lambda score: score.value or 0.0)
    parts = [part for part in mig_parts(scores, whole) if part.value is not None]
    rows = [("all factors", whole), *((value_text(part.about.get("factor")), part) for part in parts)]
    return f"MIG of the {value_text(whole.about.get('code')).replace('.', ' ')} code", rows


def _probed(scores: Sequence[Score]) -> tuple[str, _Rows]:
    rows = [(value_text(one.about.get("factor") or one.about.get("target")), one) for one in probe_scores(scores)]
    return "Read from the codes by a linear probe, %", rows


def _dots(title: str, rows: _Rows) -> Drawings:
    """Each score as a dot with its interval; chance as a line where all have the same."""
    from molyneux.report.plots import DotRow, Scale, dot_panel

    ends = [end for _, score in rows for end in (*(score.interval or ()), score.value or 0.0, score.chance) if end is not None]
    low, high = rows[0][1].bounds
    chances = {score.chance for _, score in rows}
    chance = chances.pop() if len(chances) == 1 else None
    scale = Scale(min(ends) if low is None else min(low, *ends), max(ends) if high is None else max(high, *ends), chance)
    drawn = [DotRow(label, (), score.value, score.interval) for label, score in rows]
    keys = (("dot", "measured"), ("interval", "95 % interval"), *((("chance", "guessing"),) if chance is not None else ()))
    return Drawings("", (dot_panel("first", title, drawn, scale),), keys)
