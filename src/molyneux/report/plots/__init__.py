"""Drawings of scores and exhibits: charts, scatter plots and small pictures of views."""

from molyneux.report.plots import library  # isort: skip  # noqa: F401  # before all that draws
from molyneux.report.plots.charts import DotRow, Scale, dot_panel, factor_bars, few_shot_curves, learning_curves, projections
from molyneux.report.plots.curves import Line, group_curves, line_panel, strength_curves
from molyneux.report.plots.pictures import contour_svg, image_uri, png_uri
from molyneux.report.plots.svg import Panel, standalone
from molyneux.report.plots.tradeoffs import Point, scatter_panel

__all__ = [
    "DotRow",
    "Line",
    "Panel",
    "Point",
    "Scale",
    "contour_svg",
    "dot_panel",
    "factor_bars",
    "few_shot_curves",
    "group_curves",
    "image_uri",
    "learning_curves",
    "line_panel",
    "png_uri",
    "projections",
    "scatter_panel",
    "standalone",
    "strength_curves",
]
