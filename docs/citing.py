"""How the records of a table are made, and how it is cited; used by `tables.py` and, while the site is built, by `hooks.py`."""

from __future__ import annotations

import re
from html import escape
from pathlib import Path

import yaml

from molyneux.report.page import bibtex
from molyneux.version import __version__

ROOT = Path(__file__).parents[1]
TABLES = ("chosen", "compared", "heat", "known", "leaderboard", "leading", "matrix", "relative", "robust", "study", "tested")
"""The kinds of generated text that are tables of results."""


def made_by(kind: str, subject: str) -> str:
    """The command that makes the records of a table."""
    scripts = {"readers": "judges.py", "judges": "benchmark_judges.py test", "check": f"shapeworld_checks.py --part {subject}"}
    if kind == "benchmark" or kind in scripts:
        return "make benchmark" if kind == "benchmark" else f"python studies/{scripts[kind]}"
    subject = subject.rpartition("+")[2]
    if subject.startswith("ranking-"):
        name = subject.removeprefix("ranking-")
        return f"python studies/ranking.py {name} runs/{name} runs/{name}-best"
    if subject == "shapeworld-figure6-unbound":
        return "python studies/shapeworld_unbound.py --figure6"
    script = ROOT / "studies" / f"{subject.replace('-', '_')}.py"
    return f"python studies/{script.name}" if script.exists() else f"molyneux sweep configs/studies/{subject}.yaml"


def cited(place: str) -> str:
    """How to cite a table, such as `chosen-ynoc.metrics`, and how to make it again: folded, and not found by the search."""
    kind, _, name = place.partition("-")
    studies = name.partition(".")[0]
    software = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    records = "+".join(f"studies/results/{study}" for study in studies.split("+"))
    note = f"Version {__version__}, table {place}, records {records}"
    key = f"molyneux-{re.sub(r'[^a-z0-9]+', '-', place.lower())}"
    entry = bibtex(key, {"title": software["title"], "note": note}, [person["name"] for person in software["authors"]])
    made = "" if kind == "matrix" else f"<code>{escape(made_by(kind, studies))}</code>, then "
    return (
        '<details class="quote cite" data-search-exclude><summary>Cite this table</summary>\n'
        f"<pre><code>{escape(entry)}</code></pre>\n<p>Made again by {made}"
        "<code>make tables</code>.</p>\n</details>"
    )
