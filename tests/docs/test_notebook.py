"""The notebooks are those of their scripts, and their cells run one after another."""

import json
import runpy
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
MAKER = runpy.run_path(str(DOCS / "notebook.py"))
SHORT = {"STEPS, SAMPLES, QUESTIONS = 1500, 3000, 400": "STEPS, SAMPLES, QUESTIONS = 4, 600, 20"}
"""What makes the notebook of Molyneux's question short."""


@pytest.mark.parametrize("name", MAKER["NAMES"])
def test_a_notebook_is_that_of_its_script(name):
    stored = json.loads(MAKER["notebook_of"](name).read_text(encoding="utf-8"))
    made = MAKER["as_notebook"](MAKER["script_of"](name).read_text(encoding="utf-8"), with_outputs=False)
    silent = 0
    for cell in stored["cells"]:
        if cell["cell_type"] == "code":
            silent += not cell["outputs"]
            cell["outputs"] = []
    assert stored == made, f"run python docs/notebook.py {name}"
    assert silent == 0, f"run python docs/notebook.py {name}"
    assert MAKER["notebook_of"](name).stat().st_size < 200_000


@pytest.mark.parametrize("name", MAKER["NAMES"])
def test_a_page_shows_each_notebook(name):
    pages = "".join(path.read_text(encoding="utf-8") for path in (DOCS / "start").glob("*.md"))
    assert f"<!-- notebook: docs/start/{name}.ipynb -->" in pages


def outputs_of(script):
    """What the cells of a script show: pictures, and all texts in one."""
    outputs = [output for cell in MAKER["as_notebook"](script)["cells"] for output in cell.get("outputs", ())]
    pictures = [output for output in outputs if "image/png" in output.get("data", {})]
    return pictures, "".join(output.get("text", "") for output in outputs)


@pytest.mark.slow
def test_the_cells_of_the_ten_minutes_run():
    pictures, texts = outputs_of(MAKER["script_of"]("ten-minutes").read_text(encoding="utf-8"))
    assert len(pictures) == 2
    assert "small red heart at top left on light" in texts
    assert "guessing 33 %" in texts


@pytest.mark.slow
def test_the_cells_of_the_question_run():
    """With few steps and questions; what is stored is of many."""
    script = MAKER["script_of"]("molyneux-question").read_text(encoding="utf-8")
    for usual, short in SHORT.items():
        assert usual in script
        script = script.replace(usual, short)
    pictures, texts = outputs_of(script)
    assert len(pictures) == 2
    assert "geometry           any two shapes: 100.0 %   two that are alike: 100.0 %" in texts
    assert texts.count("bridged, ") == 4
    assert "raw input" in texts
    assert "untrained net" in texts


def test_the_question_is_answered_as_the_first_words_of_its_page_say():
    """From what is stored: with 128 bridged shapes the interval is above guessing, with none it is not."""
    stored = json.loads(MAKER["notebook_of"]("molyneux-question").read_text(encoding="utf-8"))
    texts = "".join(output.get("text", "") for cell in stored["cells"] for output in cell.get("outputs", ()))
    lows = {}
    for line in texts.splitlines():
        if " bridged, " in line:
            lows[line.partition(" %")[0].rpartition(":")[0].strip()] = float(line.rpartition("(")[2].split(" to ")[0])
    assert lows["128 bridged, any two shapes"] > 60
    assert lows["128 bridged, two that are alike"] > 50
    assert lows["0 bridged, any two shapes"] < 50
    assert lows["0 bridged, two that are alike"] < 50


def test_a_page_has_sources_and_outputs():
    page = MAKER["as_page"](MAKER["as_notebook"]("# %% [markdown]\n# ## Two\n# %%\nx = 1\nprint(x)\nx + 1\n"))
    assert page == "## Two\n\n```python\nx = 1\nprint(x)\nx + 1\n```\n\n```text\n1\n```\n\n```text\n2\n```"


def test_a_figure_is_shown_as_a_picture():
    script = "# %%\nfrom matplotlib.figure import Figure\nFigure(figsize=(1, 1))\n"
    assert [set(output["data"]) for output in MAKER["as_notebook"](script)["cells"][0]["outputs"]] == [
        {"image/png", "text/plain"}
    ]
