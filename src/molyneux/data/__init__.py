"""Seeds and files become samples."""

from molyneux.data.benchmarks import (
    CLEVR,
    CREPE,
    NLVR,
    AGNews,
    Benchmark,
    CLEVRCoGenT,
    CLEVRQuestions,
    DBpedia,
    LabelledTexts,
    PictureTexts,
    SugarCrepe,
    Winoground,
    YahooAnswers,
)
from molyneux.data.contact import contact_sheet, is_contact_sheet
from molyneux.data.dataset import Split, SplitDataset, SplitSource, World
from molyneux.data.exports import export_hdf5, export_parquet, export_png, export_webdataset
from molyneux.data.own import ArrayDataset, ImageFolder, OwnDataset, TableDataset
from molyneux.data.sentence_files import export_sentences, load_sentences
from molyneux.data.sources import ArraySource, Lacking, Missing, Subset, Views, load
from molyneux.data.stored import StoredSource, generate
from molyneux.data.worlds import CdSprites, GeBiD, GeBiDNoise, Letters, Noise, PartsOfSpeech, ShapeWorld, Ynoc, ideal_codes

__all__ = [
    "CLEVR",
    "CREPE",
    "NLVR",
    "AGNews",
    "ArrayDataset",
    "ArraySource",
    "Benchmark",
    "CLEVRCoGenT",
    "CLEVRQuestions",
    "CdSprites",
    "DBpedia",
    "GeBiD",
    "GeBiDNoise",
    "ImageFolder",
    "LabelledTexts",
    "Lacking",
    "Letters",
    "Missing",
    "Noise",
    "OwnDataset",
    "PartsOfSpeech",
    "PictureTexts",
    "ShapeWorld",
    "Split",
    "SplitDataset",
    "SplitSource",
    "StoredSource",
    "Subset",
    "SugarCrepe",
    "TableDataset",
    "Views",
    "Winoground",
    "World",
    "YahooAnswers",
    "Ynoc",
    "contact_sheet",
    "export_hdf5",
    "export_parquet",
    "export_png",
    "export_sentences",
    "export_webdataset",
    "generate",
    "ideal_codes",
    "is_contact_sheet",
    "load",
    "load_sentences",
]
