"""Data sets on which multimodal generative models are compared, read or built from files; nothing is downloaded."""

from typing import TYPE_CHECKING

from molyneux.core.lazy import lazy_names

if TYPE_CHECKING:
    from molyneux.data.benchmarks.generative.celeba import CelebA
    from molyneux.data.benchmarks.generative.cub import CUB
    from molyneux.data.benchmarks.generative.image_labels import MNIST, FashionMNIST
    from molyneux.data.benchmarks.generative.mhd import MHD
    from molyneux.data.benchmarks.generative.mnist_svhn import MNISTSVHN
    from molyneux.data.benchmarks.generative.polymnist import PolyMNIST
    from molyneux.data.benchmarks.generative.published_polymnist import PublishedPolyMNIST
    from molyneux.data.benchmarks.generative.spoken_digits import SpokenDigits
    from molyneux.data.benchmarks.generative.sprites import Sprites

__all__ = [
    "CUB",
    "MHD",
    "MNIST",
    "MNISTSVHN",
    "CelebA",
    "FashionMNIST",
    "PolyMNIST",
    "PublishedPolyMNIST",
    "SpokenDigits",
    "Sprites",
]

if not TYPE_CHECKING:
    __getattr__ = lazy_names(__name__)
