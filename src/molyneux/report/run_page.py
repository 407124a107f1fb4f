"""The page of one run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from molyneux.core import Gallery, Scatter, Score
from molyneux.report import wording
from molyneux.report.gallery import DrawnGallery, draw_galleries
from molyneux.report.headlines import headlines
from molyneux.report.numbers import write_count
from molyneux.report.page import Block, Drawings, Facts, Listing, Page, Picture, Section
from molyneux.report.plots import factor_bars, few_shot_curves, learning_curves, png_uri, projections
from molyneux.report.published import published_beside
from molyneux.report.run_records import RunRecords, read_run
from molyneux.report.settings import flatten, model_of, seen_of, short, split_of, world_of
from molyneux.report.tables import coherence_scores, coherence_table, factor_scores, factor_table, family_tables
from molyneux.report.write import check_formats, write_page

_SECTIONS = {"confusion": "factors", "homotopy": "codes", "posterior": "codes", "traversal": "codes"}
_SHEET_LIMIT = 600_000
_BAR_KEYS = (("solid", "accuracy"), ("interval", "95 % interval"), ("chance", "guessing"), ("ceiling", "judge ceiling"))
_SHOT_KEYS = (
    ("solid", "code"),
    ("interval", "95 % interval"),
    ("dashed", "bag of words"),
    ("dotted", "random projection"),
    ("chance", "guessing"),
)
_CURVE_KEYS = (("solid", "training"), ("dashed", "validation"))


def write_run(run_folder: Path, formats: Sequence[str] = ("markdown", "html")) -> list[Path]:
    """Write the report of a run into its folder: `report/report.md` and `report/report.html`.

    Args:
        run_folder: what `molyneux run` made.
        formats: any of `csv`, `html`, `latex`, `markdown`; tables go to `report/tables/`.

    Returns:
        The files written.

    Raises:
        ConfigError: an unknown format. StoreError, CorruptFileError: as `read_run`.
    """
    check_formats(formats)
    return write_page(run_page(read_run(run_folder)), run_folder / "report", "report", formats)


def run_page(run: RunRecords) -> Page:
    """Everything a run has recorded, in the order in which it is asked about."""
    settings = flatten(run.config)
    board = published_beside(settings, run.scores)
    galleries = _galleries(run)
    sections = (
        Section("coherence", "Coherence", _COHERENCE, _blocks(coherence_table(run.scores, board))),
        Section("factors", "Factors", _FACTORS, (*_factors(run.scores), *galleries["factors"])),
        Section("made", "What it makes", "", tuple(galleries["made"])),
        Section("measures", "Further measures", "", (*family_tables(_rest(run.scores)), *_shots(run.scores))),
        Section("codes", "Inside the codes", "", (*galleries["codes"], *_projections(run))),
        Section("training", "Training", "", _curves(run)),
        Section("samples", "Samples", "", _sheet(run)),
        Section("repeat", "Run it again", "", _repeat(run)),
    )
    title, facts = _title(run, settings)
    return Page("run", title, facts, headlines(run.scores, run.spec), sections)


_COHERENCE = (
    "One sense is given, another is made, and a reader that knows the world reads it. "
    "Beside each number stands what guessing gives, what the best single answer gives, and what the reader reads in true views."
)
_FACTORS = "The same, one factor at a time: which parts of the meaning arrive and which are lost."


def _title(run: RunRecords, settings: Mapping[str, Any]) -> tuple[str, tuple[str, ...]]:
    """Model and world as the title, and what else must be known at once."""
    world, level = world_of(settings, run.scores)
    name = next((short(value) for path, value in settings.items() if path.endswith("world.class_path")), world)
    parts = [model_of(settings, run.scores), f"{name} level {level}" if level else name]
    title = " on ".join(part for part in parts if part) or run.name
    known = seen_of(run.scores)
    samples = max((score.n for score in run.scores), default=0)
    facts = (
        f"folder {run.name}" if title != run.name else "",
        f"seed {settings['seed']}" if "seed" in settings else "",
        f"{write_count(run.parameters)} parameters" if run.parameters else "",
        f"measured on {write_count(samples)} {split_of(run.scores)} samples" if samples else "",
        f"of these also in training: {known}" if known else "",
    )
    return title, tuple(fact for fact in facts if fact)


def _blocks(*blocks: Block | None) -> tuple[Block, ...]:
    return tuple(block for block in blocks if block is not None)


def _factors(scores: Sequence[Score]) -> tuple[Block, ...]:
    panels = factor_bars(factor_scores(scores))
    return _blocks(Drawings("", tuple(panels), _BAR_KEYS) if panels else None, factor_table(scores))


def _rest(scores: Sequence[Score]) -> list[Score]:
    shown = {id(score) for score in (*coherence_scores(scores), *factor_scores(scores))}
    return [score for score in scores if id(score) not in shown]


def _shots(scores: Sequence[Score]) -> tuple[Block, ...]:
    panels = few_shot_curves(scores)
    return (Drawings("Labels from a few samples", tuple(panels), _SHOT_KEYS),) if panels else ()


def _galleries(run: RunRecords) -> dict[str, list[DrawnGallery]]:
    """The galleries by the section they belong to, which the first word of their name tells."""
    groups: dict[str, list[DrawnGallery]] = {"factors": [], "made": [], "codes": []}
    for gallery in draw_galleries([item for item in run.exhibits if isinstance(item, Gallery)]):
        groups[_SECTIONS.get(gallery.name.partition("_")[0], "made")].append(gallery)
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
    command = Listing("Command", "molyneux run config.yaml")
    config = Listing("config.yaml", run.config_text, folded=True)
    machine = {wording.setting(name): short(value) for name, value in flatten(run.machine).items()}
    return _blocks(command, config, Facts("Machine and versions", machine) if machine else None)
