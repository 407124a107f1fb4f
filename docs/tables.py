"""Write the tables of the README and the documentation from the records of studies and benchmarks.

A table stands between `<!-- begin: NAME -->` and `<!-- end: NAME -->`. Run by `make tables`; a test runs it with `--check`, which
writes nothing and fails where a page differs from the records or a table is empty because it has no records.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path

from answers import answered
from bridged import all_parts, bridged_table, changed_table, searched_table, shown_table, ways_table, within_table
from checks import checks
from choosers import character_table, chooser_table
from citing import made_by
from compared import of_page
from comparisons import FINANCE, against_constant, best_by, correlations, dci_together, top_three, trials
from costs import cost_table, device_table
from exploited import exploited
from figure6 import said as figure6_said
from matrix import matrix
from missing_senses import rate_table
from names import names_table
from packages import api_table
from pretrained import pretrained_table
from read import read_table
from readers import accepted, beyond, close, of_benchmark, right
from robust import differences, over_data_sets, robustness_table
from scale import scale_table
from shapeworld_kinds import table as kinds_table
from shown import LEADING, SHOWN
from unbound import beside_control, control_table

from molyneux.core import store
from molyneux.core.config import read_document
from molyneux.report import (
    Leaderboard,
    StudyRun,
    chosen_tables,
    leaderboard_overview,
    leaderboard_tables,
    load_records,
    make_boards,
    study_breakdowns,
    study_findings,
    study_tables,
    to_html,
    to_markdown,
)
from molyneux.report.published import published
from molyneux.report.records import seed_order
from molyneux.report.tables import Column, Entry, Table, records_to_markdown
from molyneux.report.tables.formats import escape_markdown

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
PLACE = re.compile(r"(<!-- begin: (?P<name>[\w.+-]+) -->\n).*?(<!-- end: (?P=name) -->)", re.DOTALL)


def study(name: str) -> str:
    """All tables of a study; empty where it has no records yet."""
    return "\n".join(to_markdown(table.visible) for table in study_tables(runs)) if (runs := runs_of(name)) else ""


def heat(names: str) -> str:
    """Accuracy by kinds of samples as coloured tables, of those of several studies, such as `a+b`, that have records.

    Without any, the published numbers of the world that the name begins with.
    """
    found = [run for name in names.split("+") for run in runs_of(name)]
    tables = study_breakdowns(found, names.partition("-")[0])
    return "\n".join(to_html(table) for table in tables)


def known(name: str) -> str:
    """What methods can use of information that is known; empty where the study has no records yet."""
    return exploited(runs) if (runs := runs_of(name)) else ""


def findings(name: str) -> str:
    """What a study found; empty where it has no records yet."""
    return to_markdown(study_findings(runs)) if (runs := runs_of(name)) else ""


def records_of(study_name: str) -> Path:
    """Where the records of a study are."""
    return ROOT / "studies" / "results" / study_name / "records.jsonl"


@cache
def runs_of(names: str) -> list[StudyRun]:
    """The runs of studies, such as `ynoc+ynoc-best`, on record: by the variants of their files, then by the numbers of seeds.

    None where one of the studies has no records yet.
    """
    found = []
    for name in names.split("+"):
        if not records_of(name).exists():
            return []
        config = ROOT / "configs" / "studies" / f"{name}.yaml"
        variants = read_document(config).get("variants", {}) if config.exists() else {}
        places = {settings.get("name", variant): place for place, (variant, settings) in reversed([*enumerate(variants.items())])}
        runs = load_records(records_of(name))
        found += sorted(runs, key=lambda run: (places.get(run.settings["name"], len(places)), seed_order(run.seed)))
    return found


def chosen(name: str) -> str:
    """Chosen scores of a study, such as `ynoc` or `ynoc.published`; empty where it has no records yet."""
    study_name, _, what = name.partition(".")
    shown, beside = SHOWN[what]
    runs = runs_of(study_name)
    return "\n".join(to_markdown(table) for table in chosen_tables(runs, shown, published=beside)) if runs else ""


def leading(names: str) -> str:
    """The best model of a study by MIG beside what goes beyond it, by both variants of the metrics, for `ynoc+ynoc-best`."""
    study_name, _, beyond = names.partition("+")
    if not runs_of(names):
        return ""
    runs = runs_of(study_name)
    first = best_by(runs, LEADING["recommended"][0])
    runs = [run for run in runs if run.settings["name"] == first] + runs_of(beyond)
    tables = {variant: chosen_tables(runs, shown)[0] for variant, shown in LEADING.items()}
    return to_markdown(stacked("Disentanglement of the code of the text", "variant", tables))


def stacked(title: str, head: str, tables: Mapping[str, Table]) -> Table:
    """Tables with the same columns as one, below each other; the column `head` has their names."""
    rows = [(Entry(name, repeated=number > 0), *row) for name, table in tables.items() for number, row in enumerate(table.rows)]
    first = next(iter(tables.values()))
    notes = dict.fromkeys(note for table in tables.values() for note in table.notes)
    return Table(first.name, title, (Column(head, "left"), *first.columns), tuple(rows), tuple(notes))


def compared(name: str) -> str:
    """How measures of a study go together, which models are best by them, what DCI says in all; empty without records."""
    study_name, _, what = name.partition(".")
    runs = runs_of(study_name)
    if not runs:
        return ""
    if what == "top":
        return top_three(runs, published(study_name, ""))
    return {"correlations": correlations, "dci": dci_together}[what](runs)


def relative(name: str) -> str:
    """Errors of the models of a study divided by that of a constant, beside published ones; empty without records."""
    runs = runs_of(name)
    return against_constant(runs, FINANCE) if runs else ""


def robust(names: str) -> str:
    """Relative and effective robustness of the models of a study against its baseline; empty without records."""
    runs = runs_of(names)
    return robustness_table(runs) if runs else ""


def methods(names: str) -> str:
    """Methods over the data sets of studies, such as `av-mnist+stocks`, on one scale; empty where one has no records."""
    runs = runs_of(names)
    return over_data_sets(runs, {}) if runs else ""


def tested(name: str) -> str:
    """Differences of pairs of variants of a study with a test over seeds; empty without records."""
    runs = runs_of(name)
    return differences(runs, name) if runs else ""


def tried(names: str) -> str:
    """Every trial of searches with its MIG; empty where one has no records."""
    runs = runs_of(names)
    return trials(runs, LEADING["recommended"][0]) if runs else ""


def readers(name: str) -> str:
    """What readers accept, for `cdsprites-v1.image`, or read correctly, for `cdsprites-v1.image.right`; empty without records.

    `.sizes` and `.near` are of sizes and shapes that are close to the world's; `.beyond` says what exceeds limits.
    """
    world, modality, *what = name.split(".")
    if not records_of("readers").exists():
        return ""
    found = load_records(records_of("readers"))
    if what == ["beyond"]:
        return beyond(found, world=world, modality=modality)
    if what == ["right"]:
        return right(found, world=world, modality=modality)
    if what:
        return close(found, world=world, modality=modality, prefix={"sizes": "size"}.get(what[0], what[0]))
    return accepted(found, load_records(records_of("readers-before")), world=world, modality=modality)


def judges(world: str) -> str:
    """What the judges of a benchmark, such as `spoken-digits-v1`, say of each kind of view; empty without records."""
    path = records_of("benchmark-readers")
    return of_benchmark(load_records(path), world) if path.exists() else ""


def check(name: str) -> str:
    """What a part of the checks of ShapeWorld found, for `leaks`, or `leaks.published` for one variant; empty without records."""
    part, _, what = name.partition(".")
    path = ROOT / "studies" / "results" / "shapeworld-checks" / f"{part}.json"
    return checks(store.read_json(path), what) if path.exists() else ""


def devices(name: str) -> str:
    """On what each training of a study was made, by variant and level."""
    return device_table(runs_of(name))


def cost(name: str) -> str:
    """What the trainings of a study cost, by variant; empty where none has a cost on record."""
    path = records_of(name).with_name("costs.jsonl")
    return cost_table(store.read_lines(path)) if path.exists() else ""


def rates(name: str) -> str:
    """Accuracy by the rate of missing modalities, of a study; how its records are made, where it has none yet."""
    return rate_table(name, runs_of(name))


def leaderboard(name: str) -> str:
    """Ranked models of studies, by their headlines, for `cdsprites`, or by a score, for `ynoc+ynoc-best.disentanglement.mig`."""
    names, _, score = name.partition(".")
    runs = runs_of(names)
    if not runs:
        return ""
    boards, left = make_boards(runs, scores=[score] if score else [])
    tables = leaderboard_tables(Leaderboard(tuple(boards), len(runs) - len(left)))
    return "\n".join(to_markdown(table) for table in tables)


def overview(names: str) -> str:
    """With which model to start, of the studies `a+b` by their headlines, and a matrix of models and worlds."""
    first = leaderboard_overview(make_boards(runs_of(names))[0])
    cards = "\n".join(f"- **{card.about}** {escape_markdown(card.sentence)}" for card in first.cards)
    return "" if first.matrix is None else f"**{escape_markdown(first.answer)}**\n\n{cards}\n\n{to_html(first.matrix)}"


def benchmark(name: str) -> str:
    """The record of a benchmark as a table; empty where it was not run yet."""
    path = ROOT / "benchmarks" / "results" / f"{name}.json"
    if not path.exists():
        return ""
    record = store.read_json(path)
    machine = record["machine"]
    words = machine if isinstance(machine, str) else "; ".join(f"{what}: {word}" for what, word in machine.items())
    return f"{record['what']}.\n\n{records_to_markdown(record['rows'])}\nMeasured on {words}.\n"


def kinds(_: str) -> str:
    """The kinds of captions of ShapeWorld with an example each, made by the world itself."""
    return kinds_table("../assets/shapeworld")


def situations(group: str) -> str:
    """What people's files hold, of a group such as `labels`, and what becomes of it, by the cases of the tests."""
    return read_table(group)


def unbound(names: str) -> str:
    """What the unbound control of ShapeWorld reaches by kind and variant, or models of `a+b` beside it."""
    runs = runs_of(names)
    return (beside_control(runs) if "+" in names else control_table(runs)) if runs else ""


def said(name: str) -> str:
    """Sentences about studies, such as `control.a+b`, whose numbers are those of the records."""
    part, _, names = name.partition(".")
    return figure6_said(part, runs) if (runs := runs_of(names)) else ""


KINDS: dict[str, Callable[[str], str]] = {
    "answer": lambda name: answered(name, runs_of),
    "api": api_table,
    "benchmark": benchmark,
    "characters": lambda name: character_table(ROOT / "studies" / "results" / name / "records.json"),
    "check": check,
    "bridged": lambda name: bridged_table(name, runs_of(name.partition(".")[2])),
    "changed": lambda name: changed_table(
        name, runs_of(name), runs_of(name.removesuffix("-ablations")) if "-abl" in name else ()
    ),
    "chosen": chosen,
    "compared": compared,
    "cost": cost,
    "devices": devices,
    "choices": lambda name: all_parts(name, runs_of(name)),
    "choosers": lambda name: chooser_table(ROOT / "studies" / "results" / name / "records.json"),
    "findings": findings,
    "heat": heat,
    "judges": judges,
    "kinds": kinds,
    "known": known,
    "leaderboard": leaderboard,
    "leading": leading,
    "rates": rates,
    "readers": readers,
    "matrix": lambda name: matrix(name, runs_of),
    "methods": methods,
    "overview": overview,
    "names": names_table,
    "page": lambda name: of_page(name, runs_of),
    "pretrained": lambda _: pretrained_table(),
    "relative": relative,
    "robust": robust,
    "said": said,
    "searched": lambda name: searched_table(name, runs_of(name)),
    "shown": lambda name: shown_table(name, runs_of(name)),
    "scale": lambda _: scale_table(ROOT / "benchmarks" / "results"),
    "situations": situations,
    "study": study,
    "tested": tested,
    "tried": tried,
    "unbound": unbound,
    "ways": lambda name: ways_table(name, runs_of(name)),
    "within": lambda name: within_table(name, runs_of(name)),
}


@cache
def table(place: str) -> str:
    """The table of a place, such as `study-cdsprites`."""
    kind, _, name = place.partition("-")
    if kind not in KINDS:
        raise SystemExit(f"unknown table {place!r}: expected {', '.join(f'{known}-NAME' for known in KINDS)}")
    return KINDS[kind](name)


def filled(text: str) -> str:
    """A page with every table made anew."""
    return PLACE.sub(lambda match: f"{match[1]}{table(match['name'])}{match[3]}", text)


def problems(page: Path, root: Path = ROOT) -> list[str]:
    """What is wrong with the tables of a page, one sentence each."""
    text = page.read_text(encoding="utf-8")
    name = page.relative_to(root)
    found = [f"{name} differs from the records: run make tables"] if filled(text) != text else []
    for place in (match["name"] for match in PLACE.finditer(text)):
        if not table(place).strip():
            kind, _, subject = place.partition("-")
            found.append(f"{name}: the table {place} is empty, it has no records: run {made_by(kind, subject.partition('.')[0])}")
    return found


def main() -> int:
    """Fill every page, or only look with `--check`."""
    if "--check" in sys.argv:
        found = [problem for page in PAGES for problem in problems(page)]
        for problem in found:
            print(problem)
        return 1 if found else 0
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        if filled(text) != text:
            page.write_text(filled(text), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
