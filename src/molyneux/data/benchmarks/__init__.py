"""Benchmarks: published data sets that lie in files, a file each; nothing is downloaded. What several share is in folders."""

from typing import TYPE_CHECKING

from molyneux.core.lazy import lazy_names

if TYPE_CHECKING:
    from molyneux.data.benchmarks.affect import CMUMOSEI, CMUMOSI, MUStARD, URFunny
    from molyneux.data.benchmarks.av_mnist.pairs import AVMNIST
    from molyneux.data.benchmarks.av_mnist.published import PublishedAVMNIST
    from molyneux.data.benchmarks.bases.benchmark import Benchmark
    from molyneux.data.benchmarks.bases.file_benchmark import FileBenchmark
    from molyneux.data.benchmarks.bases.picture_texts import PictureTexts
    from molyneux.data.benchmarks.bases.speaker_videos import RawWords
    from molyneux.data.benchmarks.celeba import CelebA
    from molyneux.data.benchmarks.clevr import CLEVR, CLEVRCoGenT, CLEVRQuestions
    from molyneux.data.benchmarks.clotho import Clotho
    from molyneux.data.benchmarks.crepe import CREPE
    from molyneux.data.benchmarks.cub import CUB
    from molyneux.data.benchmarks.enrico import ENRICO
    from molyneux.data.benchmarks.hanzi_strokes.characters import CharacterBridging, HanziStrokes
    from molyneux.data.benchmarks.kinetics import KineticsLarge, KineticsSmall
    from molyneux.data.benchmarks.labelled_texts import AGNews, DBpedia, LabelledTexts, YahooAnswers
    from molyneux.data.benchmarks.mhd import MHD
    from molyneux.data.benchmarks.mimic import MIMIC
    from molyneux.data.benchmarks.mm_imdb import MMIMDb
    from molyneux.data.benchmarks.mnist import MNIST, FashionMNIST
    from molyneux.data.benchmarks.mnist_svhn import MNISTSVHN
    from molyneux.data.benchmarks.mujoco_push import MuJoCoPush
    from molyneux.data.benchmarks.nlvr import NLVR
    from molyneux.data.benchmarks.polymnist import PolyMNIST
    from molyneux.data.benchmarks.published_polymnist import PublishedPolyMNIST
    from molyneux.data.benchmarks.spoken_digits import SpokenDigits
    from molyneux.data.benchmarks.sprites import Sprites
    from molyneux.data.benchmarks.stocks import Stocks
    from molyneux.data.benchmarks.sugarcrepe import SugarCrepe
    from molyneux.data.benchmarks.twins import write_twin
    from molyneux.data.benchmarks.vision_touch import VisionTouch
    from molyneux.data.benchmarks.winoground import Winoground
    from molyneux.data.benchmarks.yummly import Yummly

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
    "CharacterBridging",
    "Clotho",
    "DBpedia",
    "FashionMNIST",
    "FileBenchmark",
    "HanziStrokes",
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
