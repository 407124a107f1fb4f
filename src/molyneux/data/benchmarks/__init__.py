"""Benchmarks: published data sets that lie in files; nothing is downloaded."""

from molyneux.data.benchmarks.labelled_texts import LabelledTexts
from molyneux.data.benchmarks.topics import AGNews, DBpedia, YahooAnswers

__all__ = ["AGNews", "DBpedia", "LabelledTexts", "YahooAnswers"]
