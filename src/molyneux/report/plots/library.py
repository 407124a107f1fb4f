"""Imports Matplotlib, before any other module does, without the file `matplotlibrc` of the working folder."""

from __future__ import annotations

from molyneux.core.classes import settings_apart

__all__ = ["matplotlib"]

with settings_apart("matplotlib"):
    import matplotlib
