"""Drawings of scores and exhibits: charts, scatter plots and small pictures of views."""

from typing import TYPE_CHECKING

from molyneux.core.lazy import lazy_names, settings_apart

with settings_apart("matplotlib"):
    import matplotlib  # noqa: F401  # before all that draws, without the file `matplotlibrc` of the working folder

if TYPE_CHECKING:
    from molyneux.report.plots.charts import DotRow, Scale, dot_panel, factor_bars, few_shot_curves, learning_curves, projections
    from molyneux.report.plots.curves import Line, group_curves, line_panel, strength_curves
    from molyneux.report.plots.pictures import contour_svg, finger_paths, image_uri, png_uri
    from molyneux.report.plots.svg import Panel, standalone
    from molyneux.report.plots.tradeoffs import TradeoffPoint, scatter_panel

__all__ = [
    "DotRow",
    "Line",
    "Panel",
    "Scale",
    "TradeoffPoint",
    "contour_svg",
    "dot_panel",
    "factor_bars",
    "few_shot_curves",
    "finger_paths",
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

if not TYPE_CHECKING:
    __getattr__ = lazy_names(__name__)
