"""Kalman filter: the state of a sequence, from what each modality shows of it at every step."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from molyneux.core import Modality
from molyneux.learn.checks import refuse, too_small
from molyneux.learn.encoders.by_modality import ModalityDict
from molyneux.learn.encoders.encoding import Encoding, EncodingSpec, ViewEncoder
from molyneux.learn.encoders.general import MLP
from molyneux.learn.encoders.layers import he_normal
from molyneux.learn.fusion.fusion import Fusion, FusionLayer, StepsOfModalities

STEPWISE = MLP((64,), 64, last=True, stepwise=True)


@dataclass(frozen=True)
class KalmanFilter(Fusion):
    """Crossmodal extended Kalman filter; Lee et al., Multimodal Sensor Fusion with Differentiable Filters (IROS 2020).

    A belief about a latent state, its mean and covariance, is carried from step to step. Prediction: `x' = x + f(x)` with a
    learned net f, and its Jacobian for the covariance. Each modality is a virtual sensor that gives an observation of the state
    itself and the variances of its noise, and updates the belief by itself (a Kalman filter with observation matrix I). The
    beliefs of the modalities are joined by weights of each state dimension, which depend on all that is seen at the step; weights
    sum to 1 over the modalities that are there (the crossmodal filter of the paper). A step at which a modality shows nothing is
    not updated by it, one at which none shows anything is predicted alone.

    Deviation: the filters of all modalities go on from the joint belief, and share the net f. Controls are a modality as any.

    Args:
        state: dimensions of the state.
        hidden: units of the net of the prediction.
        steps: whether features are the means at each step, for a target with a value for each; else the last mean.
    """

    state: int = 16
    hidden: int = 64
    steps: bool = False

    def __post_init__(self) -> None:
        refuse(too_small(self, "state", "hidden"))

    def encoder(self, modality: Modality) -> ViewEncoder:
        """For series, fully connected layers of each step."""
        return STEPWISE if modality.kind == "series" else super().encoder(modality)

    def build(self, encodings: Mapping[str, EncodingSpec]) -> FusionLayer:
        """See `Fusion`."""
        self.check(encodings)
        return KalmanLayer(self, StepsOfModalities("KalmanFilter", encodings))


class KalmanLayer(FusionLayer):
    """See `KalmanFilter`. All of it computes in 32 bits."""

    def __init__(self, settings: KalmanFilter, steps: StepsOfModalities) -> None:
        super().__init__(settings.state, steps.count if settings.steps else None)
        size, widths = settings.state, steps.widths
        self.inputs = steps
        self.sensors = ModalityDict[nn.Linear]()
        for name, width in widths.items():
            self.sensors[name] = nn.Linear(width, 2 * size)
        self.weights = nn.Linear(sum(widths.values()), len(widths) * size) if len(widths) > 1 else None
        self.prediction = KalmanPrediction(size, settings.hidden) if steps.count > 1 else None
        self.start, self.log_start = nn.Parameter(torch.zeros(size)), nn.Parameter(torch.zeros(size))

    def forward(self, encodings: Mapping[str, Encoding], generator: torch.Generator | None = None) -> Tensor:
        """See `FusionLayer`."""
        with torch.autocast(self.start.device.type, enabled=False):
            observed, noise, weights, there = self._observations(encodings)
            means = self.filter(observed, noise, weights, there, self.inputs.totals(encodings))
        return means[:, -1] if self.steps is None else means

    def filter(self, observed: Tensor, noise: Tensor, weights: Tensor, there: Tensor, total: Tensor) -> Tensor:
        """The mean of the belief after each step, (B, T, S); that after the last step stays.

        Args:
            observed: of the state by each of M modalities, (B, T, M, S).
            noise: variances, as `observed`.
            weights: of the beliefs, as `observed`; over the modalities that are there they sum to 1.
            there: which observations there are, (B, T, M) bool.
            total: steps of each sample, (B,).
        """
        rows = len(observed)
        mean = self.start.expand(rows, -1)
        covariance = torch.diag(self.log_start.exp()).expand(rows, -1, -1)
        means = []
        for step in range(observed.shape[1]):
            before = mean, covariance
            if step and self.prediction is not None:
                mean, covariance = self.prediction(mean, covariance)
            seen = (tensor[:, step] for tensor in (observed, noise, weights, there))
            mean, covariance = _joined(mean, covariance, *seen)
            over = (total <= step)[:, None]
            mean, covariance = before[0].where(over, mean), before[1].where(over[..., None], covariance)
            means.append(mean)
        return torch.stack(means, 1)

    def _observations(self, encodings: Mapping[str, Encoding]) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """What `filter` is given, but for the number of steps."""
        parts, there = self.inputs.parts(encodings)
        found = [sensor(part.float()) for sensor, part in zip(self.sensors.values(), parts, strict=True)]
        observed, raw = torch.stack(found, 2).chunk(2, 3)
        scores = torch.zeros_like(observed)
        if self.weights is not None:
            scores = self.weights(torch.cat(parts, 2).float()).unflatten(2, (there.shape[2], -1))
        scores = scores.masked_fill(~there.unsqueeze(3), torch.finfo(torch.float32).min)
        return observed, nn.functional.softplus(raw) + 1e-3, scores.softmax(2), there


class KalmanPrediction(nn.Module):
    """`x' = x + W2 tanh(W1 x + b1) + b2`, and the covariance by its Jacobian: `J P J^T + Q`, with a diagonal Q."""

    def __init__(self, size: int, hidden: int) -> None:
        super().__init__()
        self.read, self.change = he_normal(nn.Linear(size, hidden)), nn.Linear(hidden, size)
        self.log_noise = nn.Parameter(torch.full((size,), -2.0))

    def forward(self, mean: Tensor, covariance: Tensor) -> tuple[Tensor, Tensor]:
        """Means (B, S) and covariances (B, S, S) one step later."""
        units = self.read(mean).tanh()
        slopes = (1 - units.square()).unsqueeze(2) * self.read.weight
        jacobian = torch.eye(mean.shape[1], device=mean.device) + self.change.weight @ slopes
        after = jacobian @ covariance @ jacobian.transpose(1, 2) + torch.diag(self.log_noise.exp())
        return mean + self.change(units), after


def _joined(
    mean: Tensor, covariance: Tensor, observed: Tensor, noise: Tensor, weights: Tensor, there: Tensor
) -> tuple[Tensor, Tensor]:
    """The joint belief after the updates of all modalities (B, M, S); the belief before where there is none.

    Means are `sum_m w_m * mu_m`, covariances `sum_m (w_m w_m^T) * P_m`.
    """
    beliefs = [update(mean, covariance, observed[:, m], noise[:, m]) for m in range(observed.shape[1])]
    means, covariances = (torch.stack(parts, 1) for parts in zip(*beliefs, strict=True))
    some = there.any(1)[:, None]
    joint = (weights * means).sum(1)
    spread = (weights.unsqueeze(3) * weights.unsqueeze(2) * covariances).sum(1)
    return joint.where(some, mean), spread.where(some[..., None], covariance)


def update(mean: Tensor, covariance: Tensor, observed: Tensor, noise: Tensor) -> tuple[Tensor, Tensor]:
    """A belief (B, S), (B, S, S) after an observation (B, S) of the state with noise of variances (B, S).

    `K = P (P + R)^-1`; the covariance in the form of Joseph, `(I - K) P (I - K)^T + K R K^T`, which stays symmetric and positive.
    """
    noise_matrix = torch.diag_embed(noise)
    gain = torch.linalg.solve(covariance + noise_matrix, covariance).transpose(1, 2)
    rest = torch.eye(mean.shape[1], device=mean.device) - gain
    after = rest @ covariance @ rest.transpose(1, 2) + gain @ noise_matrix @ gain.transpose(1, 2)
    return mean + (gain @ (observed - mean).unsqueeze(2)).squeeze(2), after
