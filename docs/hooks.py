"""Changes of pages while the site is built: files from elsewhere are put in, formulas become MathML, old addresses lead on."""

from __future__ import annotations

import re
from html import escape, unescape
from os.path import relpath
from pathlib import Path
from typing import Any

import yaml
from latex2mathml.converter import convert

ROOT = Path(__file__).parents[1]
_FILE = re.compile(r"^<!-- file: (?P<path>\S+) -->$", re.MULTILINE)
_LINK = re.compile(r"\]\((?P<target>(?:docs/)?[\w./-]+\.md)(?=[)#])")
_FORMULA = re.compile(r'<(?P<tag>span|div) class="arithmatex">\\[(\[](?P<latex>.*?)\\[)\]]</(?P=tag)>', re.DOTALL)
_MOVED = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>Moved</title>
<link rel="canonical" href="{address}">
<meta http-equiv="refresh" content="0; url={address}">
<script>location.replace("{address}" + location.hash)</script>
</head>
<body><main><h1>Moved</h1><p>This page is <a href="{address}">here</a> now.</p></main></body>
</html>
"""


def on_page_markdown(markdown: str, *, page: Any, **_: Any) -> str:
    """Put in the files that `<!-- file: PATH -->` names, by their path in the repository, with links as from the page."""
    return _FILE.sub(lambda found: _from_elsewhere(found["path"], page.file.src_uri), markdown)


def _from_elsewhere(path: str, page: str) -> str:
    """The text of a file; its links to pages of the site lead from `page`."""

    def led(link: re.Match[str]) -> str:
        target = link["target"]
        return f"]({relpath(target.removeprefix('docs/'), Path(page).parent)}" if target.startswith("docs/") else link[0]

    return _LINK.sub(led, (ROOT / path).read_text(encoding="utf-8"))


def on_page_content(html: str, **_: Any) -> str:
    """Formulas as MathML, which browsers show without a script; those in a line of their own scroll where they are too wide."""
    return _FORMULA.sub(_as_mathml, html)


def _as_mathml(found: re.Match[str]) -> str:
    block = found["tag"] == "div"
    shown = convert(unescape(found["latex"]).strip(), display="block" if block else "inline")
    return f'<div class="formula" tabindex="0">{shown}</div>' if block else shown


def on_post_build(config: Any, **_: Any) -> None:
    """At every address that `docs/moved.yaml` names, a page that leads to where its content is now."""
    moved = yaml.safe_load((ROOT / "docs" / "moved.yaml").read_text(encoding="utf-8"))
    for old, new in moved.items():
        path = Path(config["site_dir"], old, "index.html")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(_MOVED.format(address=escape(f"{relpath(new, old)}/")), encoding="utf-8")
