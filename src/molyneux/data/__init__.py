"""Seeds and files become samples."""

from molyneux.data.arrays import ArraySource, load
from molyneux.data.contact import contact_sheet, is_contact_sheet
from molyneux.data.exports import export_hdf5, export_parquet, export_png
from molyneux.data.generate import generate
from molyneux.data.missing import Missing
from molyneux.data.narrowed import Subset, Views
from molyneux.data.stored import StoredSource
from molyneux.data.worlds import CdSprites, GeBiD, GeBiDNoise, Noise, World

__all__ = [
    "ArraySource",
    "CdSprites",
    "GeBiD",
    "GeBiDNoise",
    "Missing",
    "Noise",
    "StoredSource",
    "Subset",
    "Views",
    "World",
    "contact_sheet",
    "export_hdf5",
    "export_parquet",
    "export_png",
    "generate",
    "is_contact_sheet",
    "load",
]
