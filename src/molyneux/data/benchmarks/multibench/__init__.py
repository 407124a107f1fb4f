"""The data sets of MultiBench, read from files; nothing is downloaded."""

from typing import TYPE_CHECKING

from molyneux.core.lazy import lazy_names

if TYPE_CHECKING:
    from molyneux.data.benchmarks.file_benchmark import FileBenchmark
    from molyneux.data.benchmarks.multibench.affect import RawWords
    from molyneux.data.benchmarks.multibench.affect_kinds import CMUMOSEI, CMUMOSI, MUStARD, URFunny
    from molyneux.data.benchmarks.multibench.clotho import Clotho
    from molyneux.data.benchmarks.multibench.enrico import ENRICO
    from molyneux.data.benchmarks.multibench.kinetics import KineticsLarge, KineticsSmall
    from molyneux.data.benchmarks.multibench.mimic import MIMIC
    from molyneux.data.benchmarks.multibench.mm_imdb import MMIMDb
    from molyneux.data.benchmarks.multibench.mujoco_push import MuJoCoPush
    from molyneux.data.benchmarks.multibench.published_av_mnist import PublishedAVMNIST
    from molyneux.data.benchmarks.multibench.stocks import Stocks
    from molyneux.data.benchmarks.multibench.vision_touch import VisionTouch
    from molyneux.data.benchmarks.multibench.yummly import Yummly

__all__ = [
    "CMUMOSEI",
    "CMUMOSI",
    "ENRICO",
    "MIMIC",
    "Clotho",
    "FileBenchmark",
    "KineticsLarge",
    "KineticsSmall",
    "MMIMDb",
    "MUStARD",
    "MuJoCoPush",
    "PublishedAVMNIST",
    "RawWords",
    "Stocks",
    "URFunny",
    "VisionTouch",
    "Yummly",
]

if not TYPE_CHECKING:
    __getattr__ = lazy_names(__name__)
