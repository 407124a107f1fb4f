"""The initial weights of the published code of Kuhnle & Copestake, ShapeWorld (2017), for comparison with its results."""

from __future__ import annotations

from typing import Literal, get_args

from torch import nn

from molyneux.core import choice_problems
from molyneux.learn.checks import refuse

Initialisation = Literal["he", "published"]


def initialise(model: nn.Module, initialisation: Initialisation) -> None:
    """Redraw the weights of a model as the published code does with "published"; leave them as they are with "he".

    Raises:
        ConfigError: it is neither.
    """
    refuse(choice_problems(initialisation=(initialisation, get_args(Initialisation))))
    if initialisation == "published":
        model.apply(published_weights)


def published_weights(layer: nn.Module) -> None:
    """Redraw the weights of one layer: normal, biases 0.

    The standard deviation is `sqrt(2 / inputs)`, where the inputs of a convolution are its channels (He et al. count the area of
    the kernel too, so these weights are up to five times as large), and of a word's vector the square root of its length (5.7 for
    32). Recurrent layers keep their weights.
    """
    if isinstance(layer, nn.Conv1d | nn.Conv2d):
        nn.init.normal_(layer.weight, std=(2 / layer.in_channels) ** 0.5)
    elif isinstance(layer, nn.Linear):
        nn.init.normal_(layer.weight, std=(2 / layer.in_features) ** 0.5)
    elif isinstance(layer, nn.Embedding):
        nn.init.normal_(layer.weight, std=layer.embedding_dim**0.5)
        return
    else:
        return
    if layer.bias is not None:
        nn.init.zeros_(layer.bias)
