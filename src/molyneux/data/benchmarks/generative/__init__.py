"""Data sets on which multimodal generative models are compared, read or built from files; nothing is downloaded."""

from molyneux.data.benchmarks.generative.image_labels import MNIST, FashionMNIST
from molyneux.data.benchmarks.generative.polymnist import PolyMNIST
from molyneux.data.benchmarks.generative.spoken_digits import SpokenDigits

__all__ = ["MNIST", "FashionMNIST", "PolyMNIST", "SpokenDigits"]
