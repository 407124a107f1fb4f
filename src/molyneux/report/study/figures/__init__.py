"""Figures of studies as SVG files for pages and slides, light and dark, drawn from records: dots of scores, and curves."""

from typing import TYPE_CHECKING

from molyneux.core.lazy import lazy_names

if TYPE_CHECKING:
    from molyneux.report.study.figures.curves import CurveFigure, CurvePanel
    from molyneux.report.study.figures.dots import DotFigure, DotScore

__all__ = ["CurveFigure", "CurvePanel", "DotFigure", "DotScore"]

if not TYPE_CHECKING:
    __getattr__ = lazy_names(__name__)
