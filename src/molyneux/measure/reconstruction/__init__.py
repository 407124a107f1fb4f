"""Reconstruction: what becomes of a view that is encoded and decoded again."""

from molyneux.measure.reconstruction.comparison import compare, ssim
from molyneux.measure.reconstruction.reconstruction import Reconstruction

__all__ = ["Reconstruction", "compare", "ssim"]
