"""Changes of pages while the site is built.

Files from elsewhere and notebooks are put in, tables of results say how to cite them, formulas become MathML, and old addresses
lead on.
"""

from __future__ import annotations

import json
import re
import sys
from html import escape, unescape
from os.path import relpath
from pathlib import Path
from typing import Any

import yaml
from latex2mathml.converter import convert

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "docs"))  # mkdocs loads this file by its path

from citing import TABLES, cited  # noqa: E402
from notebook import as_page  # noqa: E402

_FILE = re.compile(r"^<!-- file: (?P<path>[^\s#]+)(?:#(?P<sections>.+))? -->$", re.MULTILINE)
_NOTEBOOK = re.compile(r"^<!-- notebook: (?P<path>\S+) -->$", re.MULTILINE)
_TABLE = re.compile(r"^<!-- end: (?P<place>[\w.+-]+) -->$", re.MULTILINE)
_LINK = re.compile(r"\]\((?P<target>(?:docs/)?[\w./-]+\.md)(?=[)#])")
_FORMULA = re.compile(r'<(?P<tag>span|div) class="arithmatex">\\[(\[](?P<latex>.*?)\\[)\]]</(?P=tag)>', re.DOTALL)
_EMPTY_HEAD = re.compile(r"<th((?: [^>]*)?)>\s*</th>")
_WRITTEN = re.compile(r"(<pre.*?</pre>)", re.DOTALL)
_BLANK = re.compile(r"\s*\n\s*")
_PERCENT = re.compile(r"(?<=\d) %")
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

_STUDIO = """<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Studio</title></head>
<body><main><h1>Studio</h1><p><code>make docs</code> makes these pages: <code>molyneux studio --static site/studio</code>.</p>
<p><a href="../how-to/studio/">The studio</a></p></main></body>
</html>
"""


def on_page_markdown(markdown: str, *, page: Any, **_: Any) -> str:
    """Put in the files that `<!-- file: PATH -->` names, by their path in the repository, with links as from the page.

    `<!-- file: PATH#ONE, OTHER -->` puts in the sections of these headings alone.
    `<!-- notebook: PATH -->` becomes the notebook. On pages of results, how to cite it stands below each generated table.
    """
    if "search" not in page.meta and page.file.src_uri.startswith(("reference/", "project/")):
        page.meta["search"] = {"boost": 0.5}  # people ask for tasks first
    text = _FILE.sub(lambda found: _from_elsewhere(found, page.file.src_uri), markdown)
    text = _NOTEBOOK.sub(lambda found: as_page(json.loads((ROOT / found["path"]).read_text(encoding="utf-8"))), text)
    return _TABLE.sub(_with_citation, text) if page.file.src_uri.startswith("results/") else text


def _with_citation(found: re.Match[str]) -> str:
    return f"{found[0]}\n\n{cited(found['place'])}\n" if found["place"].partition("-")[0] in TABLES else found[0]


def _from_elsewhere(named: re.Match[str], page: str) -> str:
    """The text of a file, or of sections of it; its links to pages of the site lead from `page`."""

    def led(link: re.Match[str]) -> str:
        target = link["target"]
        return f"]({relpath(target.removeprefix('docs/'), Path(page).parent)}" if target.startswith("docs/") else link[0]

    text = (ROOT / named["path"]).read_text(encoding="utf-8")
    if named["sections"]:
        parts = re.split(r"^(?=## )", text, flags=re.MULTILINE)
        wanted = [f"## {heading}\n" for heading in named["sections"].split(", ")]
        text = "".join(part for part in parts if part.startswith(tuple(wanted)))
    return _LINK.sub(led, text)


def on_page_content(html: str, **_: Any) -> str:
    """Formulas as MathML, which browsers show without a script; those in a line of their own scroll where they are too wide.

    A head of a column without words is no head.
    """
    return _shorter(_EMPTY_HEAD.sub(r"<td\1></td>", _FORMULA.sub(_as_mathml, html)))


def on_post_page(output: str, **_: Any) -> str:
    """The search box of the theme with a name, for those who do not see it."""
    return output.replace(
        'data-md-component="search" role="dialog">', 'data-md-component="search" role="dialog" aria-label="Search">'
    )


def _shorter(html: str) -> str:
    """Without empty lines and indents, and without breaks before "%", outside of what is shown as it is written."""
    parts = _WRITTEN.split(html)
    return "".join(part if part.startswith("<pre") else _PERCENT.sub("\u00a0%", _BLANK.sub("\n", part)) for part in parts)


def _as_mathml(found: re.Match[str]) -> str:
    block = found["tag"] == "div"
    shown = convert(unescape(found["latex"]).strip(), display="block" if block else "inline")
    return f'<div class="formula" tabindex="0">{shown}</div>' if block else shown


def on_post_build(config: Any, **_: Any) -> None:
    """At every address that `docs/moved.yaml` names, a page that leads to where its content is now.

    The pages of the studio are made by `make docs` after the site, since they take a minute; until then a page says so.
    """
    studio = Path(config["site_dir"], "studio", "index.html")
    if not studio.exists():
        studio.parent.mkdir(parents=True, exist_ok=True)
        studio.write_text(_STUDIO, encoding="utf-8")
    moved = yaml.safe_load((ROOT / "docs" / "moved.yaml").read_text(encoding="utf-8"))
    for old, new in moved.items():
        path = Path(config["site_dir"], old, "index.html")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(_MOVED.format(address=escape(f"{relpath(new, old)}/")), encoding="utf-8")
