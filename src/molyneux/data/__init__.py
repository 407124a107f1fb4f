"""Seeds and files become samples."""

from molyneux.data.benchmarks import AGNews, Benchmark, DBpedia, LabelledTexts, YahooAnswers
from molyneux.data.contact import contact_sheet, is_contact_sheet
from molyneux.data.dataset import Split, SplitDataset, SplitSource, World
from molyneux.data.exports import export_hdf5, export_parquet, export_png, export_webdataset
from molyneux.data.own import ArrayDataset, ImageFolder, OwnDataset, TableDataset
from molyneux.data.sentence_files import export_sentences, load_sentences
from molyneux.data.sources import ArraySource, Lacking, Missing, Subset, Views, load
from molyneux.data.stored import StoredSource, generate
from molyneux.data.worlds import (
    CdSprites,
    GeBiD,
    GeBiDNoise,
    Letters,
    Noise,
    PartsOfSpeech,
    ShapeWorld,
    Tree,
    Ynoc,
    dmrs_of,
    eds_of,
    ideal_codes,
    mrs_of,
    realise_with_ace,
    tree_of_dmrs,
)

__all__ = [
    "AGNews",
    "ArrayDataset",
    "ArraySource",
    "Benchmark",
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
    "ShapeWorld",
    "Split",
    "SplitDataset",
    "SplitSource",
    "StoredSource",
    "Subset",
    "TableDataset",
    "Tree",
    "Views",
    "World",
    "YahooAnswers",
    "Ynoc",
    "contact_sheet",
    "dmrs_of",
    "eds_of",
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
    "mrs_of",
    "realise_with_ace",
    "tree_of_dmrs",
]
