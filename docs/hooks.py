"""Changes of pages while the site is built: files that stand elsewhere are put in, formulas become MathML."""

from __future__ import annotations

import re
from html import unescape
from pathlib import Path
from typing import Any

from latex2mathml.converter import convert

ROOT = Path(__file__).parents[1]
_FILE = re.compile(r"^<!-- file: (?P<path>\S+) -->$", re.MULTILINE)
_FORMULA = re.compile(r'<(?P<tag>span|div) class="arithmatex">\\[(\[](?P<latex>.*?)\\[)\]]</(?P=tag)>', re.DOTALL)


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Put in the files that `<!-- file: PATH -->` names, by their path in the repository, with links as from `docs`."""
    return _FILE.sub(lambda found: (ROOT / found["path"]).read_text(encoding="utf-8").replace("](docs/", "]("), markdown)


def on_page_content(html: str, **_: Any) -> str:
    """Formulas as MathML, which browsers show without a script; those in a line of their own scroll where they are too wide."""
    return _FORMULA.sub(_as_mathml, html)


def _as_mathml(found: re.Match[str]) -> str:
    block = found["tag"] == "div"
    shown = convert(unescape(found["latex"]).strip(), display="block" if block else "inline")
    return f'<div class="formula" tabindex="0">{shown}</div>' if block else shown
