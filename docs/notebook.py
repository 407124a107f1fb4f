"""The notebooks: made from scripts with cells, run, and shown as pages.

    python docs/notebook.py [NAME ...]

writes `docs/start/ten-minutes.ipynb` and the others, or those that are named, with their outputs from scripts beside them such as
`docs/start/ten_minutes.py`, whose cells begin with `# %%` (`# %% [markdown]` for text). A test runs the cells.
"""

from __future__ import annotations

import ast
import base64
import contextlib
import io
import json
import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent / "start"
NAMES = ("ten-minutes", "molyneux-question")
_CELL = re.compile(r"^# %%(?P<text> \[markdown\])?\n", re.MULTILINE)


def script_of(name: str) -> Path:
    """The script of a notebook."""
    return FOLDER / f"{name.replace('-', '_')}.py"


def notebook_of(name: str) -> Path:
    """The notebook."""
    return FOLDER / f"{name}.ipynb"


def cells(script: str) -> Iterator[tuple[str, str]]:
    """The cells of a script: `markdown` or `code`, and their source."""
    _, *parts = _CELL.split(script)
    for text, source in zip(parts[::2], parts[1::2], strict=True):
        if text:
            yield "markdown", re.sub(r"^# ?", "", source.strip(), flags=re.MULTILINE)
        else:
            yield "code", source.strip()


def run(source: str, namespace: dict[str, Any]) -> list[dict[str, Any]]:
    """Run a cell and return its outputs as a notebook has them: what it prints, and what its last line gives."""
    *body, last = ast.parse(source).body
    printed = io.StringIO()
    result = None
    with contextlib.redirect_stdout(printed):
        exec(compile(ast.Module(body, []), "cell", "exec"), namespace)
        if isinstance(last, ast.Expr):
            result = eval(compile(ast.Expression(last.value), "cell", "eval"), namespace)
        else:
            exec(compile(ast.Module([last], []), "cell", "exec"), namespace)
    text = printed.getvalue()
    outputs: list[dict[str, Any]] = [{"output_type": "stream", "name": "stdout", "text": text}] if text else []
    if result is not None:
        outputs.append({"output_type": "display_data", "data": _shown(result), "metadata": {}})
    return outputs


def _shown(result: Any) -> dict[str, str]:
    """What a notebook shows of a value: a picture where it is one, else its text."""
    stored = io.BytesIO()
    if hasattr(result, "savefig"):
        result.savefig(stored, format="png", dpi=80, metadata={"Software": None})
    elif hasattr(result, "save") and hasattr(result, "size"):
        result.save(stored, format="PNG")
    if stored.tell():
        return {"image/png": base64.b64encode(stored.getvalue()).decode("ascii"), "text/plain": "a picture"}
    return {"text/plain": repr(result)}


def as_notebook(script: str, *, with_outputs: bool = True) -> dict[str, Any]:
    """The cells of a script as a notebook, run one after another."""
    namespace: dict[str, Any] = {"__name__": "notebook"}
    made = []
    for number, (kind, source) in enumerate(cells(script)):
        cell: dict[str, Any] = {"cell_type": kind, "id": f"cell-{number}", "metadata": {}, "source": source}
        if kind == "code":
            cell |= {"execution_count": None, "outputs": run(source, namespace) if with_outputs else []}
        made.append(cell)
    kernel = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}}
    return {"cells": made, "metadata": kernel, "nbformat": 4, "nbformat_minor": 5}


def as_page(notebook: Mapping[str, Any]) -> str:
    """A notebook as Markdown."""
    return "\n\n".join(part for cell in notebook["cells"] for part in _parts(cell))


def _parts(cell: Mapping[str, Any]) -> Iterator[str]:
    source = "".join(cell["source"])
    yield f"```python\n{source}\n```" if cell["cell_type"] == "code" else source
    for output in cell.get("outputs", ()):
        data = output.get("data", {})
        if "image/png" in data:
            yield f"![What the cell above shows](data:image/png;base64,{data['image/png']})"
        else:
            yield f"```text\n{(output.get('text') or data['text/plain']).rstrip()}\n```"


def main() -> None:
    """Write the notebooks, or those that are named."""
    for name in sys.argv[1:] or NAMES:
        made = as_notebook(script_of(name).read_text(encoding="utf-8"))
        notebook_of(name).write_text(json.dumps(made, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
