"""The report of one run: its page, its main results as sentences, and the table for the terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from rich.table import Table as RichTable

from molyneux.core import Gallery, Scatter, Score, Spec, store
from molyneux.report import wording
from molyneux.report.page import (
    Block,
    Drawings,
    DrawnGallery,
    Facts,
    Headline,
    Listing,
    Page,
    Picture,
    Section,
    check_formats,
    draw_galleries,
    write_page,
)
from molyneux.report.plots import factor_bars, few_shot_curves, learning_curves, png_uri, projections
from molyneux.report.published import published_beside
from molyneux.report.run_records import RunRecords, read_run
from molyneux.report.settings import chosen_of, flatten, model_of, short, split_of, train_overlap_of, world_of
from molyneux.report.tables import (
    base_scores,
    coherence_scores,
    coherence_summary,
    coherence_table,
    condition_tables,
    factor_scores,
    factor_table,
    family_tables,
    prediction_scores,
    prediction_tables,
    score_table,
    scores_to_csv,
    to_terminal,
    whole_predictions,
)
from molyneux.report.tables.table import ceiling, strip
from molyneux.report.wording import places, write, write_count, write_interval

_COHERENCE = (
    "One modality is given, another is generated from it, and a reader extracts the factors of the result. "
    "Beside each score: chance, the best constant answer, and the accuracy of the same reader on true views."
)
_FACTORS = "Coherence of single factors: which parts of the meaning arrive and which are lost."
_PREDICTIONS = "Targets predicted by the model, beside chance and the controls of each score."
_BREAKDOWN = "Accuracy on the samples with each value of a factor: which kinds of samples the model gets right."
_CONDITIONS = (
    "Samples with corruptions, with missing modalities, of another split or of another world, beside the samples as they are."
)
_ROBUSTNESS = "Scores over the strength of an imperfection; strength 0 is the samples as they are."
_GALLERY_SECTIONS = {
    "confusion": "factors",
    "homotopy": "codes",
    "posterior": "codes",
    "traversal": "codes",
    "wrong": "predictions",
}
"""Section of a gallery by the first word of its name; all others stand under what the model generates."""
_SHEET_LIMIT = 600_000
_BAR_KEYS = (("solid", "accuracy"), ("interval", "95 % interval"), ("chance", "chance"), ("ceiling", "judge ceiling"))
_SHOT_KEYS = (
    ("solid", "code"),
    ("interval", "95 % interval"),
    ("dashed", "bag of words"),
    ("dotted", "random projection"),
    ("chance", "chance"),
)
_STRENGTH_KEYS = (("interval", "95 % interval"), ("chance", "chance"))
_CURVE_KEYS = (("solid", "training"), ("dashed", "validation"))
_GENERATES = {
    "audio": "generates the right sound",
    "image": "draws the right picture",
    "label": "names the right label",
    "series": "generates the right {name}",
    "text": "writes the right {text}",
}
_NOUNS = {"audio": "a sound", "image": "a picture", "label": "a label", "text": "a {text}"}


def write_run(run_folder: Path | str, formats: Sequence[str] = ("markdown", "html")) -> list[Path]:
    """Write the report of a run into its folder, and return the files: `report/report.md` and `report/report.html`.

    Args:
        run_folder: folder of a run, made by `molyneux run`.
        formats: any of `csv`, `html`, `latex`, `markdown`; tables go to `report/tables/`, with all scores in `scores.csv`.

    Raises:
        ConfigError: an unknown format. StoreError, CorruptFileError: as `read_run`.
    """
    run_folder = Path(run_folder)
    check_formats(formats)
    run, folder = read_run(run_folder), run_folder / "report"
    written = write_page(run_page(run), folder, "report", formats)
    if "csv" not in formats:
        return written
    store.write_text(folder / "tables" / "scores.csv", scores_to_csv(run.scores))
    return [*written, folder / "tables" / "scores.csv"]


def summary_table(scores: Sequence[Score], config: Mapping[str, Any] | None = None) -> RichTable:
    """The table that a run ends with on the terminal: coherence beside published results, or all scores where there is none.

    Args:
        scores: scores of one run; those under conditions are left out.
        config: its resolved configuration, which names world and level.
    """
    base = base_scores(scores)
    results, left_out = published_beside(flatten(config or {}), base)
    notes = [note for note in (train_overlap_of(base), left_out) if note]
    return to_terminal(coherence_summary(base, results, notes) or score_table("scores", "Scores", base, notes=notes))


def run_page(run: RunRecords) -> Page:
    """The page of a run: main results first, then tables, galleries, curves, and what is needed to run it again."""
    settings, base = flatten(run.config), base_scores(run.scores)
    (results, left_out), galleries = published_beside(settings, base), _galleries(run)
    coherence = coherence_table(base, results, [left_out] if left_out else [])
    sections = (
        Section("coherence", "Coherence", _COHERENCE, _blocks(coherence)),
        Section("factors", "Factors", _FACTORS, (*_factors(base), *galleries["factors"])),
        Section("predictions", "Predictions", _PREDICTIONS, (*prediction_tables(base), *galleries["predictions"])),
        Section("breakdown", "Accuracy by factor", _BREAKDOWN, _breakdowns(run.scores)[1]),
        Section("conditions", "Conditions", _CONDITIONS, tuple(condition_tables(run.scores))),
        Section("robustness", "Robustness", _ROBUSTNESS, _strengths(run.scores, chosen_of(settings))),
        Section("generated", "Generated samples", "", tuple(galleries["generated"])),
        Section("measures", "Further measures", "", (*family_tables(_rest(base)), *_shots(base))),
        Section("codes", "Codes", "", (*galleries["codes"], *_projections(run))),
        Section("training", "Training", "", _curves(run)),
        Section("samples", "Samples", "", _sheet(run)),
        Section("repeat", "Run it again", "", _repeat(run)),
    )
    return Page("run", *_title(run, settings), headlines(base, run.spec), sections)


def _title(run: RunRecords, settings: Mapping[str, Any]) -> tuple[str, tuple[str, ...]]:
    """Model and world as the title, and short facts."""
    world, level = world_of(settings, run.scores)
    name = next((short(value) for path, value in settings.items() if path.endswith("world.class_path")), world)
    parts = [model_of(settings, run.scores), f"{name} level {level}" if level else name]
    title = " on ".join(part for part in parts if part) or run.name
    samples = max((score.n for score in base_scores(run.scores)), default=0)
    facts = (
        f"folder {run.name}" if title != run.name else "",
        f"seed {settings['seed']}" if "seed" in settings else "",
        f"{write_count(run.parameters)} parameters" if run.parameters else "",
        f"started from the weights of {run.parent.get('name', 'another run')}" if run.parent else "",
        f"measured on {write_count(samples)} {split_of(base_scores(run.scores))} samples" if samples else "",
    )
    return title, tuple(fact for fact in facts if fact)


def _blocks(*blocks: Block | None) -> tuple[Block, ...]:
    return tuple(block for block in blocks if block is not None)


def _factors(scores: Sequence[Score]) -> tuple[Block, ...]:
    """Bars, and the table with the same numbers, folded."""
    panels, table = factor_bars(factor_scores(scores)), factor_table(scores)
    drawings = Drawings("", tuple(panels), _BAR_KEYS) if panels else None
    return _blocks(drawings, replace(table, folded=True) if table else None)


def _rest(scores: Sequence[Score]) -> list[Score]:
    shown = {id(score) for shown in (coherence_scores, factor_scores, prediction_scores) for score in shown(scores)}
    return [score for score in scores if id(score) not in {*shown, *map(id, _breakdowns(scores)[0])}]


def _breakdowns(scores: Sequence[Score]) -> tuple[list[Score], tuple[Block, ...]]:
    """The accuracies by values of factors, and their tables, whose module is imported for runs that have any."""
    if not any(score.name.startswith("breakdown.") for score in scores):
        return [], ()
    from molyneux.report.tables import breakdown_scores, breakdown_tables

    return breakdown_scores(scores), tuple(breakdown_tables(scores))


def _shots(scores: Sequence[Score]) -> tuple[Block, ...]:
    panels = few_shot_curves(scores)
    return (Drawings("Labels from a few samples", tuple(panels), _SHOT_KEYS),) if panels else ()


def _strengths(scores: Sequence[Score], of: Sequence[str]) -> tuple[Block, ...]:
    if not any("strength" in score.about for score in scores):
        return ()
    from molyneux.report.plots import strength_curves  # most runs measure no strengths

    panels = strength_curves(scores, of)
    return (Drawings("", tuple(panels), _STRENGTH_KEYS),) if panels else ()


def _galleries(run: RunRecords) -> dict[str, list[DrawnGallery]]:
    """The galleries by section."""
    groups: dict[str, list[DrawnGallery]] = {"factors": [], "predictions": [], "generated": [], "codes": []}
    for gallery in draw_galleries([item for item in run.exhibits if isinstance(item, Gallery)]):
        groups[_GALLERY_SECTIONS.get(gallery.name.partition("_")[0], "generated")].append(gallery)
    return groups


def _projections(run: RunRecords) -> list[Block]:
    scatters = [item for item in run.exhibits if isinstance(item, Scatter)]
    return [Drawings(scatter.title, tuple(projections(scatter)), note=scatter.note) for scatter in scatters]


def _curves(run: RunRecords) -> tuple[Block, ...]:
    panels = learning_curves(run.history)
    return (Drawings("", tuple(panels), _CURVE_KEYS, "Nats per sample, mean over the batch."),) if panels else ()


def _sheet(run: RunRecords) -> tuple[Block, ...]:
    if not 0 < len(run.contact_sheet) <= _SHEET_LIMIT:
        return ()
    return (Picture(png_uri(run.contact_sheet), "Samples of the world with their captions"),)


def _repeat(run: RunRecords) -> tuple[Block, ...]:
    whence = " --continue-from FOLDER_OF_PARENT" if run.parent else ""
    command = Listing("Command", f"molyneux run config.yaml{whence}")
    parent = {"Name": "name", "Run": "run", "Weights": "weights"}
    started = {title: run.parent.get(name, "") for title, name in parent.items()} if run.parent else {}
    config = Listing("config.yaml", run.config_text, folded=True)
    machine = {wording.setting(name): short(value) for name, value in flatten(run.machine).items()}
    return _blocks(
        command,
        Facts("Started from the weights of", started) if started else None,
        config,
        Facts("Machine and versions", machine) if machine else None,
    )


def headlines(scores: Sequence[Score], spec: Spec | None = None) -> tuple[Headline, ...]:
    """One sentence for every direction whose strict coherence was measured, and for every target, as predicted from all inputs.

    Args:
        scores: scores of one run.
        spec: kinds of the modalities, so that a sentence can say picture, caption or sound instead of the name.
    """
    kinds = {} if spec is None else {modality.name: str(modality.kind) for modality in spec.modalities}
    directions = [score for score in coherence_scores(scores) if score.name == "coherence.strict"]
    return (
        *(_direction(score, kinds) for score in directions),
        *(_prediction(score, kinds) for score in whole_predictions(scores)),
    )


def _direction(score: Score, kinds: Mapping[str, str]) -> Headline:
    if score.value is None:
        return _not_measured(score, wording.direction(score))
    top = ceiling(score.controls)
    clauses = [f"{_claim(score, kinds)} {_number(score, score.value)} of the time{_interval(score)}", *_chance(score)]
    clauses += [] if top is None else [f"true ones are read right {_number(score, top)} of the time"]
    return _headline(score, wording.direction(score), clauses, "" if wording.is_joint(score.about) else train_overlap_of([score]))


def _prediction(score: Score, kinds: Mapping[str, str]) -> Headline:
    target, sources = wording.value_text(score.about.get("target")), wording.names_of(score.about.get("source"))
    if score.value is None:
        return _not_measured(score, target)
    measure = wording.measure(score).partition(",")[0]
    measure = measure if measure[:2].isupper() else measure.lower()
    given = f"From {' and '.join(_noun(name, kinds) for name in sources)}, the" if sources else "The"
    claim = f"{given} {measure} of the predicted target {target} is {_number(score, score.value)}{_interval(score)}"
    return _headline(score, target, [claim, *_chance(score)], train_overlap_of([score]))


def _not_measured(score: Score, about: str) -> Headline:
    return Headline(about, "n/a", f"Not measured: {score.note or 'no reason was recorded'}.")


def _headline(score: Score, about: str, clauses: Sequence[str], note: str) -> Headline:
    return Headline(about, _number(score, score.value), "; ".join(clauses) + "." + _warning(score), strip(score), note)


def _interval(score: Score) -> str:
    return f" ({write_interval(score.interval, places(score))})" if score.interval else ""


def _chance(score: Score) -> list[str]:
    return [] if score.chance is None else [f"guessing gives {_number(score, score.chance)}"]


def _number(score: Score, number: float | None) -> str:
    return write(number, places(score)) + (" %" if score.unit == "%" else "")


def _claim(score: Score, kinds: Mapping[str, str]) -> str:
    source, target = (wording.names_of(score.about.get(name)) for name in ("source", "target"))
    if wording.is_joint(score.about):
        return f"Drawn together from the prior, {' and '.join(_noun(name, kinds) for name in target)} agree"
    name = wording.value_text(target)
    generates = _GENERATES.get(kinds.get(name, ""), "generates the right {name}").replace("{text}", _text(kinds))
    return f"From {' and '.join(_noun(name, kinds) for name in source)} it {generates.replace('{name}', name)}"


def _noun(name: str, kinds: Mapping[str, str]) -> str:
    """`a picture` for a modality whose name is its kind, the name for others."""
    kind = kinds.get(name, "")
    return _NOUNS.get(kind, name).replace("{text}", _text(kinds)) if kind == name else name


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
