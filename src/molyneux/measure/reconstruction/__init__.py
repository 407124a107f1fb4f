"""Reconstruction: what becomes of a view that is encoded and decoded again."""

from molyneux.measure.reconstruction.comparison import compare
from molyneux.measure.reconstruction.reconstruction import Reconstruction
from molyneux.measure.reconstruction.ssim import ssim

__all__ = ["Reconstruction", "compare", "ssim"]
