"""The report of one run: its page, its main results as sentences, and the table for the terminal."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from rich.table import Table as RichTable

from molyneux.core import Gallery, Scatter, Score, store
from molyneux.report import wording
from molyneux.report.headlines import first_picture, headlines
from molyneux.report.page import (
    Block,
    Drawings,
    DrawnGallery,
    Facts,
    Listing,
    Page,
    Picture,
    Section,
    Statements,
    check_formats,
    draw_galleries,
    write_page,
)
from molyneux.report.plots import factor_bars, few_shot_curves, learning_curves, png_uri, projections
from molyneux.report.published import published_beside
from molyneux.report.run_records import RunRecords, read_run
from molyneux.report.settings import chosen_of, flatten, run_title, short, split_of, train_overlap_of
from molyneux.report.tables import (
    Table,
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
    told_once,
)
from molyneux.report.tables.table import ceiling
from molyneux.report.verdict import verdict
from molyneux.report.wording import write_count

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
    "disentanglement": "codes",
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
    return to_terminal(summary(scores, config))


def summary(scores: Sequence[Score], config: Mapping[str, Any] | None = None) -> Table:
    """The same as a table that has no format yet."""
    base = base_scores(scores)
    results, left_out = published_beside(flatten(config or {}), base)
    notes = [note for note in (train_overlap_of(base), left_out) if note]
    return coherence_summary(base, results, notes) or score_table("scores", "Scores", base, notes=notes)


def run_page(run: RunRecords) -> Page:
    """The page of a run: main results first, then tables, galleries, curves, and what is needed to run it again."""
    settings, scores = flatten(run.config), told_once(run.scores)
    base = base_scores(scores)
    (results, left_out), galleries = published_beside(settings, base), _galleries(run)
    found = verdict(base, run.spec, run.history, settings.get("seed"))
    coherence = coherence_table(base, results, [left_out] if left_out else [])
    sections = (
        Section("coherence", "Coherence", _COHERENCE, _blocks(coherence)),
        Section("factors", "Factors", _FACTORS, (*_factors(base), *galleries["factors"])),
        Section("predictions", "Predictions", _PREDICTIONS, (*prediction_tables(base), *galleries["predictions"])),
        Section("breakdown", "Accuracy by factor", _BREAKDOWN, _breakdowns(scores)[1]),
        Section("generated", "Generated samples", "", tuple(galleries["generated"])),
        Section("robustness", "Robustness", _ROBUSTNESS, _strengths(scores, settings)),
        Section("conditions", "Conditions", _CONDITIONS, tuple(condition_tables(scores))),
        Section("measures", "Further measures", "", (*family_tables(_rest(base)), *_shots(base))),
        Section("codes", "Codes", "", (*galleries["codes"], *_projections(run))),
        Section("training", "Training", "", _curves(run)),
        Section("samples", "Samples", "", _sheet(run)),
        Section("limits", "What limits these numbers", "", (Statements(found.caveats),) if found.caveats else ()),
        Section("repeat", "Run it again", "", _repeat(run)),
    )
    return Page(
        "run",
        *_title(run, settings),
        headlines(base, run.spec),
        sections,
        answer=found.answer,
        remarks=found.remarks,
        picture=first_picture(galleries["generated"], base),
        command=_command(run),
    )


def _title(run: RunRecords, settings: Mapping[str, Any]) -> tuple[str, tuple[str, ...]]:
    """Model and world as the title, and short facts."""
    title = run_title(settings, run.scores) or run.name
    samples = max((score.n for score in base_scores(run.scores)), default=0)
    facts = (
        f"folder {run.name}" if title != run.name else "",
        f"loaded by {run.loaded_by}" if ":" in run.loaded_by else "",
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
    styles = {"solid"} | {style for score in factor_scores(scores) for style in _marks(score)}
    drawings = Drawings("", tuple(panels), tuple(key for key in _BAR_KEYS if key[0] in styles)) if panels else None
    return _blocks(drawings, replace(table, folded=True) if table else None)


def _marks(score: Score) -> Iterator[str]:
    """What is drawn of a score beside its value."""
    for style, number in (("interval", score.interval), ("chance", score.chance), ("ceiling", ceiling(score.controls))):
        if number is not None:
            yield style


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
    beside = {name for score in scores if score.name == "downstream.few_shot" for name in score.controls}
    keys = tuple(key for key in _SHOT_KEYS if key[0] not in ("dashed", "dotted") or key[1] in map(wording.control, beside))
    return (Drawings("Labels from a few samples", tuple(panels), keys),) if panels else ()


def _strengths(scores: Sequence[Score], settings: Mapping[str, Any]) -> tuple[Block, ...]:
    if not any("strength" in score.about for score in scores):
        return ()
    from molyneux.report.plots import strength_curves  # most runs measure no strengths
    from molyneux.report.strengths import noise_scale

    panels = strength_curves(scores, chosen_of(settings), noise_scale(settings))
    drawn = [score for score in scores if "strength" in score.about]
    marks = {style for score in drawn for style in _marks(score)}
    keys = tuple(key for key in _STRENGTH_KEYS if key[0] in marks)
    return (Drawings("", tuple(panels), keys),) if panels else ()


def _galleries(run: RunRecords) -> dict[str, list[DrawnGallery]]:
    """The galleries by section."""
    groups: dict[str, list[DrawnGallery]] = {"factors": [], "predictions": [], "generated": [], "codes": []}
    for gallery in draw_galleries([item for item in run.exhibits if isinstance(item, Gallery) and item.rows]):
        groups[_GALLERY_SECTIONS.get(gallery.name.partition("_")[0], "generated")].append(gallery)
    return groups


def _projections(run: RunRecords) -> list[Block]:
    scatters = [item for item in run.exhibits if isinstance(item, Scatter)]
    return [Drawings(scatter.title, tuple(projections(scatter)), note=scatter.note) for scatter in scatters]


def _curves(run: RunRecords) -> tuple[Block, ...]:
    panels = learning_curves(run.history)
    splits = {name.partition("/")[0] for name in run.history}
    keys = tuple(key for key in _CURVE_KEYS if key[1] in splits)
    return (Drawings("", tuple(panels), keys, "Nats per sample, mean over the batch."),) if panels else ()


def _sheet(run: RunRecords) -> tuple[Block, ...]:
    if not 0 < len(run.contact_sheet) <= _SHEET_LIMIT:
        return ()
    return (Picture(png_uri(run.contact_sheet), "Samples of the world with their captions"),)


def _repeat(run: RunRecords) -> tuple[Block, ...]:
    command = Listing("Command", _command(run))
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


def _command(run: RunRecords) -> str:
    """What makes the run again: of a model from outside, what measures it."""
    if not run.loaded_by:
        return f"molyneux run config.yaml{' --continue-from FOLDER_OF_PARENT' if run.parent else ''}"
    given = [f"--model.{name} {shlex.quote(_argument(value))}" for name, value in flatten(run.asked).items()]
    return " ".join(["molyneux measure --model", shlex.quote(run.loaded_by), "--data config.yaml", *given, "--out measured"])


def _argument(value: object) -> str:
    """A value of a setting as the command line takes it."""
    return value if isinstance(value, str) else json.dumps(value)
