"""AV-MNIST, built from the recordings and pictures that its parts publish."""

from molyneux.data.benchmarks.av_mnist.av_mnist import AVMNIST

__all__ = ["AVMNIST"]
