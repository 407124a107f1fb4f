"""Benchmarks: published data sets that lie in files; nothing is downloaded."""

from typing import TYPE_CHECKING

from molyneux.core.lazy import lazy_names

if TYPE_CHECKING:
    from molyneux.data.benchmarks.av_mnist import AVMNIST
    from molyneux.data.benchmarks.benchmark import Benchmark
    from molyneux.data.benchmarks.clevr import CLEVR, CLEVRCoGenT, CLEVRQuestions
    from molyneux.data.benchmarks.crepe import CREPE
    from molyneux.data.benchmarks.generative import (
        CUB,
        MHD,
        MNIST,
        MNISTSVHN,
        CelebA,
        FashionMNIST,
        PolyMNIST,
        PublishedPolyMNIST,
        SpokenDigits,
        Sprites,
    )
    from molyneux.data.benchmarks.labelled_texts import AGNews, DBpedia, LabelledTexts, YahooAnswers
    from molyneux.data.benchmarks.multibench import (
        CMUMOSEI,
        CMUMOSI,
        ENRICO,
        MIMIC,
        Clotho,
        FileBenchmark,
        KineticsLarge,
        KineticsSmall,
        MMIMDb,
        MuJoCoPush,
        MUStARD,
        PublishedAVMNIST,
        RawWords,
        Stocks,
        URFunny,
        VisionTouch,
        Yummly,
    )
    from molyneux.data.benchmarks.nlvr import NLVR
    from molyneux.data.benchmarks.picture_texts import PictureTexts
    from molyneux.data.benchmarks.sugarcrepe import SugarCrepe
    from molyneux.data.benchmarks.twins import write_twin
    from molyneux.data.benchmarks.winoground import Winoground

__all__ = [
    "AVMNIST",
    "CLEVR",
    "CMUMOSEI",
    "CMUMOSI",
    "CREPE",
    "CUB",
    "ENRICO",
    "MHD",
    "MIMIC",
    "MNIST",
    "MNISTSVHN",
    "NLVR",
    "AGNews",
    "Benchmark",
    "CLEVRCoGenT",
    "CLEVRQuestions",
    "CelebA",
    "Clotho",
    "DBpedia",
    "FashionMNIST",
    "FileBenchmark",
    "KineticsLarge",
    "KineticsSmall",
    "LabelledTexts",
    "MMIMDb",
    "MUStARD",
    "MuJoCoPush",
    "PictureTexts",
    "PolyMNIST",
    "PublishedAVMNIST",
    "PublishedPolyMNIST",
    "RawWords",
    "SpokenDigits",
    "Sprites",
    "Stocks",
    "SugarCrepe",
    "URFunny",
    "VisionTouch",
    "Winoground",
    "YahooAnswers",
    "Yummly",
    "write_twin",
]

if not TYPE_CHECKING:
    __getattr__ = lazy_names(__name__)
