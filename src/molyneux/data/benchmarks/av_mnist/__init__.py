"""AV-MNIST, built from the recordings and pictures that its parts publish."""

from typing import TYPE_CHECKING

from molyneux.core.lazy import lazy_names

if TYPE_CHECKING:
    from molyneux.data.benchmarks.av_mnist.av_mnist import AVMNIST

__all__ = ["AVMNIST"]

if not TYPE_CHECKING:
    __getattr__ = lazy_names(__name__)
