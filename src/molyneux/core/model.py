"""Protocols of what a model can do, and the types that their methods exchange.

A measure names the protocols it needs and checks them at run time. Shapes: B samples, K posterior samples, D shared and
P private dimensions.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

import numpy as np
import torch
from torch import Tensor, nn
from torch.distributions import Categorical, Distribution

from molyneux.core.batch import Batch, Source


@dataclass(frozen=True)
class Codes:
    """Latent codes: shared (..., B, D), and per modality private (..., B, P); leading axes are posterior samples."""

    shared: Tensor
    private: Mapping[str, Tensor] = field(default_factory=dict)

    def flatten(self) -> Codes:
        """The same codes with every leading axis folded into the batch, (K*B, D)."""
        return Codes(self.shared.flatten(0, -2), {name: code.flatten(0, -2) for name, code in self.private.items()})

    def __getitem__(self, index: int | slice | Tensor) -> Codes:
        """Codes at `index` of the first axis."""
        return Codes(self.shared[index], {name: code[index] for name, code in self.private.items()})


class CodeDistribution(Protocol):
    """A distribution over codes of one space, (B, D). Randomness is an argument."""

    @property
    def mean(self) -> Tensor:
        """The mean, (B, D)."""
        ...

    def rsample(self, sample_shape: torch.Size | tuple[int, ...] = (), generator: torch.Generator | None = None) -> Tensor:
        """Reparameterised samples, (*sample_shape, B, D)."""
        ...

    def log_prob(self, value: Tensor) -> Tensor:
        """Log-density in nats of (*leading, B, D), giving (*leading, B)."""
        ...


@runtime_checkable
class ConditionalCode(Protocol):
    """A distribution over private codes that depends on the shared ones."""

    def given(self, shared: Tensor) -> CodeDistribution:
        """The distribution of private codes (..., B, P) given shared codes (..., B, D)."""
        ...


@dataclass(frozen=True)
class Posterior:
    """A distribution over shared and private codes given the observation; also used for the prior of a model.

    Private codes are independent of each other given the shared one, and of the shared one too unless their part is a
    `ConditionalCode`.
    """

    shared: CodeDistribution
    private: Mapping[str, CodeDistribution | ConditionalCode] = field(default_factory=dict)

    @property
    def mean(self) -> Codes:
        """Posterior means, (B, D); of private codes, given the mean of the shared one."""
        shared = self.shared.mean
        return Codes(shared, {name: _given(part, shared).mean for name, part in self.private.items()})

    def rsample(self, k: int = 1, generator: torch.Generator | None = None) -> Codes:
        """K reparameterised samples, (K, B, D)."""
        shared = self.shared.rsample((k,), generator)
        private = {
            name: part.given(shared).rsample((), generator)
            if isinstance(part, ConditionalCode)
            else part.rsample((k,), generator)
            for name, part in self.private.items()
        }
        return Codes(shared, private)

    def log_prob(self, codes: Codes) -> Tensor:
        """Joint log-density of all parts in nats, (K, B) for codes (K, B, D)."""
        return torch.stack(list(self.log_probs(codes, tuple(self.private)).values())).sum(0)

    def log_probs(self, codes: Codes, private: Collection[str] | None = None) -> dict[str, Tensor]:
        """Log-density of each part in nats, (K, B): `shared`, and `private.<name>` of the private codes given the shared one.

        Args:
            codes: (K, B, D).
            private: names of the private codes wanted; by default all that `codes` has.
        """
        found = {"shared": self.shared.log_prob(codes.shared)}
        for name in codes.private if private is None else private:
            found[f"private.{name}"] = _given(self.private[name], codes.shared).log_prob(codes.private[name])
        return found


def _given(part: CodeDistribution | ConditionalCode, shared: Tensor) -> CodeDistribution:
    return part.given(shared) if isinstance(part, ConditionalCode) else part


@dataclass(frozen=True)
class Progress:
    """Progress of a training; schedules (such as the warm-up of beta) are functions of it.

    Args:
        step: optimiser steps of this stage that are done.
        steps: steps of this stage in all.
        stage: name of the stage; empty where a training has only one.
    """

    step: int
    steps: int
    stage: str = ""

    @property
    def fraction(self) -> float:
        """Fraction of the steps done, 0..1."""
        return min(1.0, self.step / max(1, self.steps))


@dataclass(frozen=True)
class Loss:
    """A training loss: the mean over the batch, in nats per sample, and its named terms, which may be detached."""

    total: Tensor
    terms: Mapping[str, Tensor] = field(default_factory=dict)


@runtime_checkable
class Trainable(Protocol):
    """Has a training loss."""

    def loss(self, batch: Batch, progress: Progress, generator: torch.Generator | None = None) -> Loss:
        """The loss of a batch."""
        ...


@dataclass(frozen=True)
class Epoch:
    """An epoch of a training before its first step, and what a model can find out by training copies of itself.

    Args:
        number: complete epochs of the stage.
        progress: of the stage.
        train: the samples to learn from.
        validation: the samples that choose the best epoch; None where there are none.
        seed: of all randomness before this epoch; another one for every epoch.
        fit: `fit(copy, rows, epochs)` trains a copy of the model on the samples at the positions `rows` (N,) of `train`, by the
            settings of the stage and with an optimiser of its own, from the step on at which the training stands.
        loss: `loss(copy, rows)`, the mean loss of a copy over the samples at these positions, in evaluation mode.
    """

    number: int
    progress: Progress
    train: Source
    validation: Source | None
    seed: int
    fit: Callable[[nn.Module, np.ndarray, int], None]
    loss: Callable[[nn.Module, np.ndarray], float]


@runtime_checkable
class EpochStart(Protocol):
    """Has a step at the beginning of each epoch of a training, such as estimating the weights of its losses."""

    def start_epoch(self, epoch: Epoch) -> None:
        """Do the step; the same model and epoch give the same.

        What it decides must lie in buffers of the model: it is not repeated where a training goes on in the midst of an epoch.
        """
        ...


@runtime_checkable
class NamesStages(Protocol):
    """A module whose loss is another one in some stages of a training, which it knows by their names."""

    @property
    def named_stages(self) -> Collection[str]:
        """The names; a training that lacks one of them is refused."""
        ...


@runtime_checkable
class PostFit(Protocol):
    """Has a step after training, when the weights are final, such as fitting a prior to the codes."""

    def post_fit(self, source: Source, *, seed: int, kept: FitStore | None = None) -> None:
        """Do the step, from the training samples; the same source and seed give the same model.

        The model is on the device of the training, MPS excepted; `source` gives batches on the CPU. A step that takes minutes
        keeps its state in `kept`, so that it goes on where it was stopped.
        """
        ...


@runtime_checkable
class PostFitWeights(Protocol):
    """Has weights that its `post_fit` sets anew, which a training that starts from another model does not take from it."""

    @property
    def post_fit_weights(self) -> tuple[str, ...]:
        """Patterns of their names, such as `fitted.*`, also of those that it would have with other settings of the fit."""
        ...


class FitStore(Protocol):
    """Keeps the state of a fit while it is under way, and tells its progress."""

    def state(self, settings: Mapping[str, Any]) -> Mapping[str, Tensor]:
        """What `keep` wrote last for a fit of the same settings, which are plain data; empty where there is nothing."""
        ...

    def keep(self, done: int, total: int, samples: int, state: Callable[[], Mapping[str, Tensor]]) -> None:
        """After each step of so many samples: steps done and in all, and the state, which is asked for where it is written.

        It is written now and then, and after the last step.
        """
        ...


@runtime_checkable
class Encodes(Protocol):
    """Infers a posterior over codes from any observed modalities."""

    def encode(self, batch: Batch, observed: Collection[str] | None = None) -> Posterior:
        """The posterior given the modalities `observed` (all of the batch's by default), respecting presence masks.

        Private codes of what is not observed follow the prior.
        """
        ...


@runtime_checkable
class Decodes(Protocol):
    """Has a prior over codes, and decodes codes into a distribution per modality."""

    def decode(self, codes: Codes, only: Collection[str] | None = None) -> dict[str, Distribution]:
        """Distribution of each modality (all, or those in `only`) given codes (..., B, D); batch shape (..., B)."""
        ...

    def prior(self, size: int) -> Posterior:
        """The prior over codes of `size` samples."""
        ...


@runtime_checkable
class Priors(Protocol):
    """Has several priors over codes to generate from, such as that of the loss and one that was fitted to codes."""

    @property
    def priors(self) -> Mapping[str, Callable[[int], Posterior]]:
        """By name, what gives the prior over codes of so many samples, as `Decodes.prior` does."""
        ...


@runtime_checkable
class EstimatesLikelihood(Protocol):
    """Estimates the log-likelihood of whole samples."""

    def log_likelihood(self, batch: Batch, k: int, generator: torch.Generator | None = None) -> Tensor:
        """Importance-weighted lower bound on log p(x) with `k` samples, (B,) nats."""
        ...


@runtime_checkable
class ImportanceWeights(Protocol):
    """Gives the importance weights behind its log-likelihoods."""

    def log_weights(self, batch: Batch, k: int, generator: torch.Generator | None = None) -> Tensor:
        """`log p(x, z_k) - log q(z_k | x)` of `k` posterior samples, (K, B) nats, of the modalities that are present."""
        ...


@runtime_checkable
class Predicts(Protocol):
    """Predicts a distribution per target."""

    def predict(self, batch: Batch, observed: Collection[str] | None = None) -> dict[str, Distribution]:
        """A distribution per target of the Spec, given the modalities `observed` (all of the batch's by default).

        Batch shape (B,): Categorical for `class`, Bernoulli for `agreement`, independent Bernoulli for `multilabel`, and a
        distribution over numbers of the target's shape for `number`. Presence masks and lengths are respected.
        """
        ...


@runtime_checkable
class Compares(Protocol):
    """Chooses among texts: says which of several texts goes with a picture, with all of them in view at once."""

    def compare(self, batch: Batch, observed: Collection[str] | None = None) -> dict[str, Categorical]:
        """For each target of task `agreement` with contrast sets of several texts, which of these goes with each picture.

        Args:
            batch: S whole contrast sets in a row, S * P * T samples, where `Target.contrast` is (P, T).
            observed: the modalities that may be used, all of the batch's by default. Presence masks and lengths are respected.

        Returns:
            By the name of the target, batch shape (S, P) over T texts in their order. The order in which a model is shown the
            texts makes no difference.

        Raises:
            NotApplicableError: no target has such contrast sets. DataError: the samples are no whole sets.
        """
        ...


@runtime_checkable
class Representation(Protocol):
    """Maps samples to vectors."""

    def represent(self, batch: Batch, observed: Collection[str] | None = None) -> dict[str, Tensor]:
        """Named representations, each (B, D): `shared`, and `private.<modality>` where the model has them."""
        ...
