import re
import xml.etree.ElementTree as ET
from dataclasses import replace

import matplotlib as mpl
import numpy as np
import pytest

from molyneux.core import Scatter, Score
from molyneux.report.plots import (
    DotRow,
    Scale,
    dot_panel,
    factor_bars,
    few_shot_curves,
    learning_curves,
    projections,
    standalone,
    svg,
)
from molyneux.report.tables import factor_scores

HISTORY = {
    "epoch": (1.0, 2.0, 3.0),
    "seconds": (1.0, 2.0, 3.0),
    "train/loss": (9.0, 5.0, 4.0),
    "train/kl": (1.0, 2.0, 3.0),
    "validation/loss": (9.5, float("nan"), 4.5),
}


@pytest.fixture(scope="module")
def panels(made):
    rng = np.random.default_rng(0)
    scatter = Scatter(
        "codes",
        "Codes",
        "",
        rng.normal(size=(50, 2)).astype(np.float32),
        {"shape": rng.integers(-1, 3, 50)},
        {"shape": ("a", "b", "c")},
    )
    dots = dot_panel(
        "dots", "Dots", [DotRow("MVAE", (40.0, 50.0), 45.0, (30.0, 60.0), (20.0, (10.0, 30.0)))], Scale(0, 100, 3.3, 99.9)
    )
    curves = [*learning_curves(HISTORY), *few_shot_curves([few_shot(1, 35.0), few_shot(10, 52.0)])]
    return [*curves, *factor_bars(factor_scores(made.coherence())), *projections(scatter), dots]


def few_shot(per_class, value, factor="label"):
    about = {"source": "text", "code": "shared", "factor": factor, "per_class": str(per_class)}
    interval = None if value is None else (value - 6, value + 6)
    controls = {"bag of words": 80.0, "random projection": 30.0}
    return Score("downstream.few_shot", value, about, interval=interval, unit="%", chance=25.0, controls=controls)


def test_few_shot_curves_have_a_panel_for_each_factor_and_leave_out_what_has_no_value():
    scores = [few_shot(10, 52.0), few_shot(1, 35.0), few_shot(100, None), few_shot(10, 60.0, "tone")]
    label, tone = few_shot_curves(scores)
    assert (label.title, tone.title) == ("text, code shared, label", "text, code shared, tone")
    assert ">10<" in label.svg
    assert ">100<" not in label.svg
    assert few_shot_curves([Score("downstream.accuracy", 50.0)]) == []


def test_every_panel_is_xml_and_fetches_nothing(panels):
    for panel in panels:
        ET.fromstring(panel.svg)
        ET.fromstring(standalone(panel).partition("\n")[2])
        assert "http" not in panel.svg
        assert "<style" not in panel.svg
        assert not re.search(r'href="(?!#)', panel.svg)


def test_ids_of_different_panels_do_not_clash(panels):
    found = [re.findall(r'id="([^"]+)"', panel.svg) for panel in panels]
    every = [name for names in found for name in names]
    assert len(every) == len(set(every))
    for panel, names in zip(panels, found, strict=True):
        used = re.findall(r'(?:href="#|url\(#)([^")]+)', panel.svg)
        assert set(used) <= set(names)


def test_colours_follow_the_page_and_files_have_their_own(panels):
    for panel in panels:
        assert "var(--ink)" in panel.svg or "var(--quiet)" in panel.svg
        assert "var(" not in standalone(panel)
        assert svg.INK in standalone(panel) or svg.QUIET in standalone(panel)


def test_drawing_leaves_the_settings_of_matplotlib_alone():
    before = dict(mpl.rcParams)
    learning_curves(HISTORY)
    assert dict(mpl.rcParams) == before


def test_curves_have_one_panel_a_term_and_survive_gaps():
    curves = learning_curves(HISTORY)
    assert [panel.title for panel in curves] == ["loss", "kl"]
    assert learning_curves({}) == []
    assert learning_curves({"epoch": (), "train/loss": ()})[0].title == "loss"
    assert len(learning_curves({"epoch": (1.0,), "train/loss": (2.0,)})) == 1


def test_curves_are_drawn_over_steps_where_they_are_logged():
    assert ">epoch<" in learning_curves(HISTORY)[0].svg
    curve = learning_curves({**HISTORY, "step": (1000.0, 2000.0, 3000.0)})[0].svg
    assert ">step<" in curve
    assert ">3,000<" in curve


def test_bars_have_one_panel_a_direction(made):
    scores = factor_scores(made.coherence())
    bars = factor_bars(scores)
    assert [panel.title for panel in bars] == ["text → image", "image → text", "prior → image + text"]
    assert [f"{score.value:.1f}" in bars[0].svg for score in scores[:3]] == [True] * 3
    assert factor_bars([replace(scores[0], value=None, interval=None)]) == []


@pytest.mark.parametrize("values", [3, 40])
def test_projections_draw_each_point_once(values):
    rng = np.random.default_rng(0)
    scatter = Scatter(
        "codes",
        "Codes",
        "",
        rng.normal(size=(2000, 2)).astype(np.float32),
        {"f": rng.integers(-1, values, 2000)},
        {"f": tuple(map(str, range(values)))},
    )
    (panel,) = projections(scatter)
    drawn = sum(text.count("h0") for text in re.findall(r'<path d="([^"]*)"[^>]*stroke-linecap: round', panel.svg))
    assert drawn == 1000
    assert len(panel.svg) < 36_000
    assert all(f">{name} direction<" in panel.svg for name in ("first", "second"))
    assert projections(replace(scatter, colours={}, values={}))[0].title == "Codes"
