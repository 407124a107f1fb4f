"""Drawings of records: curves, bars, projections and little pictures."""

from molyneux.report.plots.bars import factor_bars
from molyneux.report.plots.curves import learning_curves
from molyneux.report.plots.pictures import contour_svg, image_uri, png_uri
from molyneux.report.plots.points import projections
from molyneux.report.plots.shots import few_shot_curves
from molyneux.report.plots.svg import Panel, standalone

__all__ = [
    "Panel",
    "contour_svg",
    "factor_bars",
    "few_shot_curves",
    "image_uri",
    "learning_curves",
    "png_uri",
    "projections",
    "standalone",
]
