"""The notebook of the ten minutes is that of its script, and its cells run one after another."""

import json
import runpy
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture(scope="module")
def notebook():
    return runpy.run_path(str(DOCS / "notebook.py"))


def test_the_notebook_is_that_of_the_script(notebook):
    stored = json.loads(notebook["NOTEBOOK"].read_text(encoding="utf-8"))
    made = notebook["as_notebook"](notebook["SCRIPT"].read_text(encoding="utf-8"), with_outputs=False)
    for cell in stored["cells"]:
        if cell["cell_type"] == "code":
            assert cell["outputs"] or not cell["source"], "run python docs/notebook.py"
            cell["outputs"] = []
    assert stored == made, "run python docs/notebook.py"
    assert notebook["NOTEBOOK"].stat().st_size < 150_000


@pytest.mark.slow
def test_its_cells_run(notebook):
    cells = notebook["as_notebook"](notebook["SCRIPT"].read_text(encoding="utf-8"))["cells"]
    outputs = [output for cell in cells for output in cell.get("outputs", ())]
    pictures = [output for output in outputs if "image/png" in output.get("data", {})]
    assert len(pictures) == 2
    texts = "".join(output.get("text", "") for output in outputs)
    assert "small red heart at top left on light" in texts
    assert "guessing 33 %" in texts


def test_a_page_has_sources_and_outputs(notebook):
    page = notebook["as_page"](notebook["as_notebook"]("# %% [markdown]\n# ## Two\n# %%\nx = 1\nprint(x)\nx + 1\n"))
    assert page == "## Two\n\n```python\nx = 1\nprint(x)\nx + 1\n```\n\n```text\n1\n```\n\n```text\n2\n```"
