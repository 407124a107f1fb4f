"""What a model says of a target, as numbers in double precision."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.distributions import Distribution, Independent

from molyneux.core import Batch, DataError, NotApplicableError, Target
from molyneux.measure.evaluation import Evaluation


def predicted_of(evaluation: Evaluation, target: Target, batch: Batch, observed: Sequence[str] | None = None) -> Distribution:
    """What is predicted of a target of some samples, given the modalities `observed`, or all that some sample has.

    Errors are those of `found_for`.
    """
    given = evaluation.available if observed is None else tuple(observed)
    return found_for(target, evaluation.model.predict(batch, given), given)


def found_for(target: Target, predicted: Mapping[str, Distribution], observed: Sequence[str]) -> Distribution:
    """The prediction of one target among those of all.

    Raises:
        NotApplicableError: there is none. DataError: it is no probability, or no finite number.
    """
    found = predicted.get(target.name)
    if found is None:
        raise NotApplicableError(f"the model does not predict the target {target.name}: name others in `targets`")
    values = _numbers(target, found)
    finite = values.isfinite().reshape(len(values), -1)
    if not bool(finite.all()):
        wrong, some = int((~finite.all(1)).sum()), values.reshape(finite.shape)[~finite][0].item()
        what = "finite numbers" if target.task == "number" else "probabilities"
        raise DataError(
            f"target {target.name}: expected {what}, got {some} for {wrong} of {len(values)} samples of a batch given "
            f"{' and '.join(observed)}: look at what the model does with them"
        )
    return found


def numbers_from(target: Target, found: Distribution) -> np.ndarray:
    """Probabilities of classes (B, K), disagreement and agreement (B, 2), or labels (B, L), or means of numbers (B, *shape)."""
    values = _numbers(target, found)
    if target.task == "agreement":
        values = torch.stack([1 - values, values], -1)
    return np.asarray(values.cpu().numpy())


def _numbers(target: Target, found: Distribution) -> Tensor:
    """As `numbers_from`, of agreement alone (B,); in double precision, from logits where there are some.

    In single precision all log-odds above 17 are a probability of 1, so that what is ranked by them would be tied.
    """
    base: Any = found.base_dist if isinstance(found, Independent) else found
    if target.task == "number":
        return found.mean.double()
    if "logits" not in vars(base):  # those that torch makes of probabilities are cut
        return base.probs.double() if target.task == "class" else found.mean.double()
    logits: Tensor = base.logits.double()
    return logits.softmax(-1) if target.task == "class" else logits.sigmoid()
