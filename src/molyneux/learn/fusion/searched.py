"""MFAS: a fusion of hidden layers of the encoders, and the search that chooses them."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
import torch
from torch import Tensor, nn

from molyneux.core import SpecError, seeds
from molyneux.learn.checks import refuse, too_small
from molyneux.learn.encoders.encoding import Encoding, EncodingSpec
from molyneux.learn.fusion.fusion import Fusion, FusionLayer

Nonlinearity = Literal["relu", "sigmoid", "leaky_relu"]
Layers = tuple[tuple[Any, ...], ...]
"""For each fusion layer the hidden layer of each modality, and its nonlinearity."""
_FUNCTIONS: dict[Nonlinearity, type[nn.Module]] = {"relu": nn.ReLU, "sigmoid": nn.Sigmoid, "leaky_relu": nn.LeakyReLU}


@dataclass(frozen=True)
class MFAS(Fusion):
    """Layers, each of one hidden layer of every encoder and of the fusion layer before; Perez-Rua et al. (CVPR 2019), equation 2.

    MFAS: Multimodal Fusion Architecture Search: `h_l = s_l(W_l [x_a; y_b; h_{l-1}])`, where `a` and `b` choose the hidden layers
    (`Encoding.hidden`) and `s_l` the nonlinearity. `LayerSearch` searches for the choice.

    Args:
        layers: for each fusion layer, the number of the hidden layer of each modality, from 0, or from the end below 0. By
            default two: the last hidden layers but one (or the last, where an encoder has one), then the last.
        nonlinearities: of each fusion layer: "relu", "sigmoid" or "leaky_relu"; by default "relu" for all.
        width: units of each fusion layer, and numbers of the result.
    """

    layers: tuple[tuple[int, ...], ...] = ()
    nonlinearities: tuple[Nonlinearity, ...] = ()
    width: int = 64

    def __post_init__(self) -> None:
        problems = too_small(self, "width")
        known = get_args(Nonlinearity)
        if any(name not in known for name in self.nonlinearities):
            problems.append(f"nonlinearities: expected names out of {', '.join(known)}, got {', '.join(self.nonlinearities)}")
        count = len(self.layers) or 2
        if self.nonlinearities and len(self.nonlinearities) != count:
            problems.append(f"nonlinearities: expected one for each of the {count} layers, got {len(self.nonlinearities)}")
        refuse(problems)

    def build(self, encodings: Mapping[str, EncodingSpec]) -> FusionLayer:
        """See `Fusion`."""
        self.check(encodings)
        depths = {name: len(spec.layers) for name, spec in encodings.items()}
        layers = self.layers or (tuple(max(-2, -depth) for depth in depths.values()), (-1,) * len(depths))
        for number, choice in enumerate(layers):
            if len(choice) != len(depths):
                raise SpecError(f"layers.{number}: expected a hidden layer of each of {', '.join(depths)}, got {choice}")
            for (name, depth), layer in zip(depths.items(), choice, strict=True):
                if not -depth <= layer < depth:
                    raise SpecError(f"layers.{number}: expected one of the {depth} hidden layers of {name}, got number {layer}")
        return MFASLayer(self, encodings, layers)


class MFASLayer(FusionLayer):
    """See `MFAS`."""

    def __init__(self, settings: MFAS, encodings: Mapping[str, EncodingSpec], layers: tuple[tuple[int, ...], ...]) -> None:
        super().__init__(settings.width)
        self.choices = layers
        default: Nonlinearity = "relu"
        names = settings.nonlinearities or (default,) * len(layers)
        inputs = [sum(spec.layers[layer] for spec, layer in zip(encodings.values(), choice, strict=True)) for choice in layers]
        self.layers = nn.ModuleList(
            nn.Sequential(nn.Linear(size + settings.width * (number > 0), settings.width), _FUNCTIONS[name]())
            for number, (size, name) in enumerate(zip(inputs, names, strict=True))
        )

    def forward(self, encodings: Mapping[str, Encoding], generator: torch.Generator | None = None) -> Tensor:
        """See `FusionLayer`."""
        hidden = list[Tensor]()
        for choice, layer in zip(self.choices, self.layers, strict=True):
            chosen = [item.hidden[place] for item, place in zip(encodings.values(), choice, strict=True)]
            hidden = [layer(torch.cat([*chosen, *hidden], 1))]
        return hidden[0]


@dataclass(frozen=True)
class LayerSearch:
    """A progressive search of the layers of an `MFAS` fusion; Perez-Rua et al. (CVPR 2019), section 3.2 and algorithm 1.

    The best candidates so far of some layers get one layer more, in all ways; a model of all results so far (the surrogate)
    predicts their values, by which `samples` of them are drawn and evaluated, the more greedily the later. This goes on from one
    layer to `depth` of them, for `iterations` rounds. Nothing is evaluated twice.

    Deviations: the surrogate is a ridge regression on which layers and nonlinearities a candidate has at each place, in closed
    form, where the paper trains an LSTM. Candidates share no weights: `evaluate` decides what it trains.

    Args:
        depth: fusion layers of the result at most.
        iterations: rounds over all depths.
        samples: candidates that are evaluated at each depth.
        temperatures: of the draws: the first, the last, and the steps in which they fall.
        nonlinearities: those that a layer may have.
        width: see `MFAS`.
    """

    depth: int = 4
    iterations: int = 3
    samples: int = 15
    temperatures: tuple[float, float, float] = (10.0, 0.2, 4.0)
    nonlinearities: tuple[Nonlinearity, ...] = ("relu", "sigmoid", "leaky_relu")
    width: int = 64

    def __post_init__(self) -> None:
        problems = too_small(self, "depth", "iterations", "samples", "width")
        known = get_args(Nonlinearity)
        if not self.nonlinearities or any(name not in known for name in self.nonlinearities):
            problems.append(f"nonlinearities: expected names out of {', '.join(known)}, got {self.nonlinearities}")
        if not all(number > 0 for number in self.temperatures):
            problems.append(f"temperatures: expected numbers above 0, got {self.temperatures}")
        refuse(problems)

    def temperature(self, step: int) -> float:
        """The temperature of draw number `step`, from 0: `(high - low) exp(-((step + 1) / scale)^2) + low`.

        >>> tuple(round(LayerSearch().temperature(step), 4) for step in (0, 1, 7))
        (9.4062, 7.8322, 0.3795)
        """
        high, low, scale = self.temperatures
        return (high - low) * math.exp(-(((step + 1) / scale) ** 2)) + low

    def run(self, encodings: Mapping[str, EncodingSpec], evaluate: Callable[[MFAS], float], *, seed: int) -> list[Candidate]:
        """Search, and return all that was evaluated, the best first.

        Args:
            encodings: of the modalities (`FusionPredictor.encoding_specs`).
            evaluate: the value of a fusion, such as the accuracy on validation samples after a short training; larger is better.
            seed: of the draws.
        """
        options = [*itertools.product(*(range(len(spec.layers)) for spec in encodings.values()), self.nonlinearities)]
        generator = seeds.generator(seed, "mfas")
        found: dict[Layers, float] = {}
        step = 0
        for _ in range(self.iterations):
            beam: list[Layers] = [()]
            for depth in range(1, self.depth + 1):
                candidates = [layers for before in beam for option in options if (layers := (*before, option)) not in found]
                if candidates:
                    predicted = self._predicted(found, candidates, options)
                    for layers in _drawn(candidates, predicted, self.samples, self.temperature(step), generator):
                        found[layers] = float(evaluate(self._fusion(layers)))
                beam = sorted((layers for layers in found if len(layers) == depth), key=lambda layers: -found[layers])
                beam, step = beam[: self.samples], step + 1
        ranking = sorted(found, key=lambda layers: -found[layers])
        return [Candidate(self._fusion(layers), found[layers]) for layers in ranking]

    def _fusion(self, layers: Layers) -> MFAS:
        return MFAS(tuple(layer[:-1] for layer in layers), tuple(layer[-1] for layer in layers), self.width)

    def _predicted(self, found: Mapping[Layers, float], candidates: list[Layers], options: list[tuple[Any, ...]]) -> np.ndarray:
        """Values that the surrogate predicts; equal ones as long as nothing is known."""
        if len(found) < 2:
            return np.zeros(len(candidates))
        known = np.stack([self._described(layers, options) for layers in found])
        values = np.array([*found.values()])
        weights = np.linalg.solve(known.T @ known + np.eye(known.shape[1]), known.T @ (values - values.mean()))
        described = np.stack([self._described(layers, options) for layers in candidates])
        return np.asarray(values.mean() + described @ weights)

    def _described(self, layers: Layers, options: list[tuple[Any, ...]]) -> np.ndarray:
        """Which option of each setting a candidate has at each place, as zeros and ones."""
        choices = [sorted(set(column)) for column in zip(*options, strict=True)]
        rows = [
            float(place < len(layers) and layers[place][number] == choice)
            for place in range(self.depth)
            for number, known in enumerate(choices)
            for choice in known
        ]
        return np.array(rows)


@dataclass(frozen=True)
class Candidate:
    """A fusion that was evaluated, and its value."""

    fusion: MFAS
    value: float


def _drawn(
    candidates: list[Layers], predicted: np.ndarray, count: int, temperature: float, generator: np.random.Generator
) -> list[Layers]:
    """Different candidates, drawn by the softmax of their standardised predicted values by the temperature (Gumbel top-k)."""
    spread = predicted.std() or 1.0
    noise = generator.gumbel(size=len(candidates))
    order = np.argsort(-((predicted - predicted.mean()) / spread / temperature + noise))[:count]
    return [candidates[place] for place in order]
