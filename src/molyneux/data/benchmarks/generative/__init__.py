"""Data sets on which multimodal generative models are compared, read or built from files; nothing is downloaded."""

from molyneux.data.benchmarks.generative.polymnist import PolyMNIST

__all__ = ["PolyMNIST"]
