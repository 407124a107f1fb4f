"""Curves over the strength of an imperfection: a line for each variant, a band over seeds, a dashed line for chance."""

import re

import pytest

from molyneux.core import DataError, Score
from molyneux.report import CurveFigure, CurvePanel, StudyRun

ABOUT = {"source": ("image", "audio"), "target": "label"}


def run(name, seed, values):
    """A run with an accuracy at strengths 0, 0.5 and 1 of noise on the image."""
    under = {"corruption": "gaussian-noise", "corrupted": "image"}
    plain = Score("prediction.accuracy", values[0], ABOUT, unit="%", chance=10.0)
    noisy = [
        Score("prediction.accuracy", value, {**ABOUT, **under, "strength": strength}, unit="%", chance=10.0)
        for strength, value in zip((0.5, 1.0), values[1:], strict=True)
    ]
    return StudyRun({"name": name, "seed": seed}, (plain, *noisy))


RUNS = [run("A", 1, (90.0, 60.0, 30.0)), run("A", 2, (80.0, 50.0, 20.0)), run("B", 1, (50.0, 50.0, 50.0))]
PANEL = CurvePanel("Noise", "gaussian-noise of image", "prediction.accuracy", {}, {}, 0, 100)


def points(drawn, style):
    (found,) = re.findall(rf'<polyline class="curve {style}" points="([^"]+ [^"]+ [^"]+)"/>', drawn)
    return [tuple(map(float, point.split(","))) for point in found.split()]


def test_lines_are_means_over_seeds_and_the_band_is_their_range():
    drawn = CurveFigure("Title <1>", (PANEL,)).svg(RUNS)
    (a, b) = points(drawn, "s0"), points(drawn, "s1")
    assert [x for x, _ in a] == pytest.approx([46, 171, 296])
    assert [y for _, y in a] == pytest.approx([56 + 190 * (1 - share) for share in (0.85, 0.55, 0.25)], abs=0.1)
    assert [y for _, y in b] == pytest.approx([56 + 190 / 2] * 3, abs=0.1)
    assert len(re.findall(r'<polygon class="s0"', drawn)) == 1
    assert '<polygon class="s1"' not in drawn
    assert "Title &lt;1&gt;" in drawn


def test_variants_and_settings_choose_what_is_drawn():
    assert ">B<" not in CurveFigure("Title", (PANEL,), variants=("A",)).svg(RUNS)
    inside = CurvePanel("Noise", PANEL.under, PANEL.name, {}, {"data.level": 2}, 0, 100)
    with pytest.raises(DataError, match=r"expected a curve of prediction.accuracy under gaussian-noise of image, got none"):
        CurveFigure("Title", (inside,)).svg(RUNS)
