"""Seeds and files become samples."""

from molyneux.data.arrays import ArraySource, load
from molyneux.data.exports import export_hdf5, export_parquet, export_png
from molyneux.data.generate import generate
from molyneux.data.missing import Missing
from molyneux.data.narrowed import Subset, Views
from molyneux.data.stored import StoredSource
from molyneux.data.worlds.world import World

__all__ = [
    "ArraySource",
    "Missing",
    "StoredSource",
    "Subset",
    "Views",
    "World",
    "export_hdf5",
    "export_parquet",
    "export_png",
    "generate",
    "load",
]
