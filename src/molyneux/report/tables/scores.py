"""Tables of the scores of a run: coherence beside published results, one table per family, predicted targets.

Every row is one score; its interval, chance, controls and number of samples stand beside the value.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from molyneux.core import Score
from molyneux.core.reader import EARLIER, readers_of
from molyneux.report import wording
from molyneux.report.published import PublishedResults
from molyneux.report.tables.table import (
    DASH,
    INTERVAL,
    Align,
    Column,
    Entry,
    Footnotes,
    Table,
    count_entry,
    reference_entry,
    value_entry,
)
from molyneux.report.wording import write_count

_FOOTNOTES = 3
"""A table with more different notes than this has a column for them."""
_OWN_TABLE = 6
"""A measure with more scores than this has a table of its own."""
_COHERENCE = (
    "coherence.strict",
    "coherence.strict_judge",
    "coherence.readers_agree",
    "coherence.readers_agree_readable",
    "coherence.strict_forced",
    "coherence.features",
    "coherence.letters",
)
_MEANING = (
    "Strict: every factor is right. Features: number of right factors. Letters: equal characters at equal places. "
    "Forced choice: the reader may not abstain, as in published evaluations. "
    "Judge ceiling: accuracy of the same reader on true views. Intervals: 95 %."
)


@dataclass(frozen=True)
class LabelColumn:
    """A text column on the left of the numbers; text that repeats from row to row is shown once."""

    title: str
    text: Callable[[Score], str]


@dataclass(frozen=True)
class Extra:
    """A column on the right of the numbers."""

    title: str
    entry: Callable[[Score], Entry]
    align: Align = "right"


def about_head(name: str, title: str = "") -> LabelColumn:
    """A text column with one part of `Score.about`, such as the factor."""
    return LabelColumn(title or name.replace("_", " "), lambda score: wording.value_text(score.about.get(name)))


MEASURE = LabelColumn("measure", wording.measure)
SUBJECT = LabelColumn("of what", wording.subject)
DIRECTION = LabelColumn("direction", wording.direction)


def score_table(
    name: str,
    title: str,
    scores: Sequence[Score],
    *,
    heads: Sequence[LabelColumn] = (MEASURE, SUBJECT),
    extras: Sequence[Extra] = (),
    notes: Sequence[str] = (),
    drawn: bool = False,
) -> Table:
    """One row per score in the order given. Columns that would be empty are left out.

    Args:
        name: identifier of the table.
        title: line above the table.
        scores: one per row.
        heads: text columns on the left.
        extras: columns on the right, such as published numbers.
        notes: sentences below; the notes of scores follow as footnotes, or in a column of their own where there are many.
        drawn: whether values are also marks on a line, in formats that can show them.
    """
    footnotes = Footnotes()
    remarks = len({score.note for score in scores if score.note}) > _FOOTNOTES
    title_of_values = f"value{INTERVAL}" if any(score.interval for score in scores) else "value"
    columns = [
        Extra(title_of_values, lambda score: value_entry(score, "" if remarks else footnotes.mark(score.note), drawn=drawn)),
        *_references(scores),
        *extras,
        *([Extra("note", lambda score: Entry(score.note, tone="muted"), "left")] if remarks else []),
    ]
    heads = [head for head in heads if any(head.text(score) for score in scores)]
    rows = []
    for number, score in enumerate(scores):
        texts = head_entries(heads, score, scores[number - 1] if number else None)
        rows.append((*texts, *(column.entry(score) for column in columns)))
    titles = [*(Column(head.title, "left") for head in heads), *(Column(column.title, column.align) for column in columns)]
    return Table(name, title, tuple(titles), tuple(rows), (*notes, *readers_note(scores), *footnotes.notes))


def head_entries(heads: Sequence[LabelColumn], score: Score, above: Score | None) -> list[Entry]:
    """The text entries of a row; those that repeat the row `above` from the left on are marked as repeated."""
    row, same = [], above is not None
    for head in heads:
        same = same and above is not None and head.text(above) == head.text(score)
        row.append(Entry(head.text(score), repeated=same))
    return row


def _references(scores: Sequence[Score]) -> list[Extra]:
    """Chance, controls and number of samples, where there are any; ceilings last."""

    def control(name: str) -> Extra:
        return Extra(wording.control(name), lambda score: reference_entry(score, score.controls.get(name)))

    chance = Extra("chance", lambda score: reference_entry(score, score.chance))
    columns = [chance] if any(score.chance is not None for score in scores) else []
    names = dict.fromkeys(name for score in scores for name in score.controls)
    columns += map(control, sorted(names, key=lambda name: "ceiling" in name))
    return [*columns, Extra("n", count_entry)] if any(score.n for score in scores) else columns


def readers_note(scores: Sequence[Score]) -> tuple[str, ...]:
    """Who read what a table rests on, as its note; nothing where it rests on no reading."""
    found = {modality: reader for score in scores for modality, reader in readers_of(score).items()}
    if not found:
        return ()
    if EARLIER in found.values():
        return (f"Read by {EARLIER}: kept as history, not ranked, and not to be compared with what today's readers read.",)
    return (f"Read by {', '.join(f'{reader} ({modality})' for modality, reader in found.items())}.",)


def told_once(scores: Sequence[Score]) -> list[Score]:
    """The scores without those that tell nothing that another does not.

    Left out are scores of the samples with one value of a factor, where these are all samples, so that they repeat the total; and
    the agreement of two readers on all views, where both of them refuse every one of these views.
    """
    wholes = {_key(score): score for score in scores if "value" not in score.about}
    refused = {_key(score, "coherence.readers_agree") for score in scores if score.name == _BOTH_READ and score.value is None}
    return [score for score in scores if not _repeats(score, wholes.get(_key(score))) and _key(score) not in refused]


_BOTH_READ = "coherence.readers_agree_readable"


def _key(score: Score, name: str = "") -> tuple[object, ...]:
    """What a score is about, whatever the value of a factor."""
    about = {part: value for part, value in score.about.items() if not ("value" in score.about and part in ("factor", "value"))}
    return name or score.name, tuple(sorted(about.items()))


def _repeats(score: Score, whole: Score | None) -> bool:
    return whole is not None and "value" in score.about and (score.n, score.value) == (whole.n, whole.value)


def coherence_scores(scores: Sequence[Score]) -> list[Score]:
    """Strict, Features and Letters of whole views, direction by direction: fewest modalities first, joint last."""
    return _ordered([score for score in scores if score.name in _COHERENCE and not _details(score)])


def factor_scores(scores: Sequence[Score]) -> list[Score]:
    """The accuracies of single factors, direction by direction."""
    return _ordered([score for score in scores if score.name == "coherence.accuracy" and _details(score) == {"factor"}])


def _details(score: Score) -> set[str]:
    return set(score.about) - {"source", "target"}


def _ordered(scores: Sequence[Score]) -> list[Score]:
    """Direction by direction: fewest modalities first, joint last, otherwise as measured; within one, strict first."""
    directions = list(dict.fromkeys(wording.direction(score) for score in scores))

    def rank(score: Score) -> tuple[bool, int, int, int]:
        measure = _COHERENCE.index(score.name) if score.name in _COHERENCE else 0
        modalities = sum(len(wording.names_of(score.about.get(name))) for name in ("source", "target"))
        return wording.is_joint(score.about), modalities, directions.index(wording.direction(score)), measure

    return sorted(scores, key=rank)


def coherence_table(
    scores: Sequence[Score], published: PublishedResults | None = None, notes: Sequence[str] = ()
) -> Table | None:
    """The coherence of every direction beside published numbers; None where it was not measured."""

    def beside(published: PublishedResults, model: str) -> Extra:
        return Extra(f"{model} published", lambda score: _figure_entry(published, model, score))

    extras = [beside(published, model) for model in published.models] if published else []
    return _coherence_table(scores, extras, (*notes, *(published.notes if published else ())))


def coherence_summary(
    scores: Sequence[Score], published: PublishedResults | None = None, notes: Sequence[str] = ()
) -> Table | None:
    """The same in fewer columns: the number of samples in a note, and of the published numbers only the best of each row."""

    def best(score: Score) -> Entry:
        found = published.best(score) if published else None
        return DASH if found is None else Entry(f"{found[1].mean:g}", found[0], found[1].mean, tone="muted")

    counts = sorted({score.n for score in coherence_scores(scores)})
    samples = " to ".join(write_count(count) for count in counts[:: max(1, len(counts) - 1)])
    said = [f"Published best: {published.title}, by another protocol; the report says how."] if published else []
    extras = [Extra("published best", best)] if published else []
    table = _coherence_table(scores, extras, (f"Samples: {samples}.", *notes, *said))
    return table.without("n") if table else None


def _coherence_table(scores: Sequence[Score], extras: Sequence[Extra], notes: Sequence[str]) -> Table | None:
    chosen, title = coherence_scores(scores), "How much of the meaning arrives"
    if not chosen:
        return None
    heads = (DIRECTION, MEASURE)
    return score_table("coherence", title, chosen, heads=heads, extras=extras, notes=(_MEANING, *notes), drawn=True)


def _figure_entry(published: PublishedResults, model: str, score: Score) -> Entry:
    figure = published.figure(model, score)
    return DASH if figure is None else Entry(figure.text, value=figure.mean, tone="muted")


def factor_table(scores: Sequence[Score]) -> Table | None:
    """The accuracy of every factor in every direction; None where it was not measured."""
    chosen, title = factor_scores(scores), "Accuracy of each factor, %"
    return score_table("factors", title, chosen, heads=(DIRECTION, about_head("factor"))) if chosen else None


def prediction_scores(scores: Sequence[Score]) -> list[Score]:
    """The scores of a supervised model, `prediction.*`, target by target."""
    chosen = [score for score in scores if wording.family(score.name) == "prediction"]
    targets = list(dict.fromkeys(wording.value_text(score.about.get("target")) for score in chosen))
    return sorted(chosen, key=lambda score: targets.index(wording.value_text(score.about.get("target"))))


def whole_predictions(scores: Sequence[Score]) -> list[Score]:
    """The predictions that stand for a run: of each target, its first measure, from the most modalities that were given.

    A score from one modality alone says what that one is worth, not how well the model predicts. Scores of single labels stand
    for none.
    """
    found: dict[str, Score] = {}
    for score in sorted(prediction_scores(scores), key=lambda score: score.value is None):
        if not set(score.about) <= {"source", "target"}:
            continue
        best = found.setdefault(wording.value_text(score.about.get("target")), score)
        if score.name == best.name and _width(score) > _width(best):
            found[wording.value_text(score.about.get("target"))] = score
    targets = dict.fromkeys(wording.value_text(score.about.get("target")) for score in prediction_scores(scores))
    return [found[target] for target in targets if target in found]


def _width(score: Score) -> int:
    """The number of modalities that a score is from."""
    return len(wording.names_of(score.about.get("source")))


def prediction_tables(scores: Sequence[Score]) -> list[Table]:
    """How well each target is predicted: a table of whole targets and, where there are any, one of single labels."""
    whole: list[Score] = []
    labels: list[Score] = []
    for score in prediction_scores(scores):
        (labels if _details(score) - set(wording.CONDITIONS) else whole).append(score)
    heads = (about_head("target"), MEASURE, about_head("source", "from"))
    tables = [score_table("prediction", "Predicted targets", whole, heads=heads, drawn=True)] if whole else []
    return tables + ([score_table("prediction-labels", "Single labels", labels, heads=_about_heads(labels))] if labels else [])


def family_tables(scores: Sequence[Score]) -> list[Table]:
    """One table for each family of scores and each measure with many scores, in the order in which they first appear.

    Works for any scores: nothing about a measure need be known.
    """
    counts = Counter(score.name for score in scores)
    groups: dict[str, list[Score]] = {}
    for score in scores:
        own = counts[score.name] > _OWN_TABLE
        groups.setdefault(score.name if own else wording.family(score.name), []).append(score)
    return [_family_table(name, group) for name, group in groups.items()]


def _family_table(name: str, scores: Sequence[Score]) -> Table:
    identifier = wording.identifier(name.replace(".", " ").replace("_", " "))
    if {score.name for score in scores} == {name} and len(scores) > _OWN_TABLE:
        title = f"{wording.family_title(wording.family(name))}: {wording.measure(scores[0]).lower()}"
        return score_table(identifier, title, scores, heads=_about_heads(scores))
    return score_table(identifier, wording.family_title(name), scores)


def _about_heads(scores: Sequence[Score]) -> list[LabelColumn]:
    """The direction, then one text column for every other part of `about`, and the measure where there are several."""
    names = dict.fromkeys(name for score in scores for name in score.about if name not in ("source", "target"))
    measures = [MEASURE] if len({score.name for score in scores}) > 1 else []
    return [DIRECTION, *map(about_head, names), *measures]
