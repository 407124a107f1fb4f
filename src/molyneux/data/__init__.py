"""Seeds and files become samples."""

from molyneux.data.arrays import ArraySource, load
from molyneux.data.benchmarks import AGNews, DBpedia, LabelledTexts, YahooAnswers
from molyneux.data.contact import contact_sheet, is_contact_sheet
from molyneux.data.exports import export_hdf5, export_parquet, export_png, export_sentences
from molyneux.data.generate import generate
from molyneux.data.missing import Missing
from molyneux.data.narrowed import Subset, Views
from molyneux.data.sentence_files import load_sentences
from molyneux.data.stored import StoredSource
from molyneux.data.worlds import CdSprites, GeBiD, GeBiDNoise, Letters, Noise, PartsOfSpeech, World, Ynoc, ideal_codes

__all__ = [
    "AGNews",
    "ArraySource",
    "CdSprites",
    "DBpedia",
    "GeBiD",
    "GeBiDNoise",
    "LabelledTexts",
    "Letters",
    "Missing",
    "Noise",
    "PartsOfSpeech",
    "StoredSource",
    "Subset",
    "Views",
    "World",
    "YahooAnswers",
    "Ynoc",
    "contact_sheet",
    "export_hdf5",
    "export_parquet",
    "export_png",
    "export_sentences",
    "generate",
    "ideal_codes",
    "is_contact_sheet",
    "load",
    "load_sentences",
]
