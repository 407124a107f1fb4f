"""Benchmarks: published data sets that lie in files; nothing is downloaded."""

from molyneux.data.benchmarks.benchmark import Benchmark
from molyneux.data.benchmarks.labelled_texts import AGNews, DBpedia, LabelledTexts, YahooAnswers

__all__ = ["AGNews", "Benchmark", "DBpedia", "LabelledTexts", "YahooAnswers"]
