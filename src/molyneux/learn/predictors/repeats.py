"""Views that occur several times in a batch of contrast sets, which need to be encoded once.

A contrast set has all of its pictures with all of its texts (`core.Target.contrast`), so a batch of sets of two pictures and
two texts has every view twice. What repeats is found by comparison, so a batch in another order loses time and nothing else.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from molyneux.core import Batch, Target
from molyneux.learn.encoders.encoding import Encoding


@dataclass(frozen=True)
class RepeatAxes:
    """Along which axis of contrast sets the views of one modality repeat.

    Args:
        first, second: numbers of views of the two sides of a set; samples of the second run fastest.
        axis: along which the views are equal: 1 for those of the second side, 2 for those of the first.
    """

    first: int
    second: int
    axis: int

    def distinct(self, batch: Batch, name: str) -> Batch:
        """Each view of a modality once, with its length, of a batch whose views repeat like this."""
        lengths = {name: self._once(batch.lengths[name])} if name in batch.lengths else {}
        return Batch({name: self._once(batch.views[name])}, lengths=lengths)

    def spread(self, once: Encoding) -> Encoding:
        """The encoding of all samples, of that of each view once."""
        return once.map(self._all)

    def _once(self, tensor: Tensor) -> Tensor:
        return in_sets(tensor, self.first, self.second).select(self.axis, 0).flatten(0, 1)

    def _all(self, tensor: Tensor) -> Tensor:
        kept = self.second if self.axis == 1 else self.first
        sets = tensor.reshape(-1, kept, *tensor.shape[1:]).unsqueeze(self.axis)
        shape = list(sets.shape)
        shape[self.axis] = self.first if self.axis == 1 else self.second
        return sets.expand(shape).flatten(0, 2)


def repeats_of(batch: Batch, name: str, targets: Iterable[Target]) -> RepeatAxes | None:
    """How the views of a modality repeat in a batch, by the contrast sets of its targets; None where they do not."""
    tensors = [batch.views[name], *([batch.lengths[name]] if name in batch.lengths else [])]
    for first, second in {target.contrast for target in targets}:
        if first * second == 1 or not len(batch) or len(batch) % (first * second):
            continue
        sets = [in_sets(tensor, first, second) for tensor in tensors]
        for axis, count in ((2, second), (1, first)):
            if count > 1 and all(_equal_along(tensor, axis) for tensor in sets):
                return RepeatAxes(first, second, axis)
    return None


def in_sets(tensor: Tensor, first: int, second: int) -> Tensor:
    """A tensor (B, ...) of contrast sets as (S, first, second, ...)."""
    return tensor.reshape(-1, first, second, *tensor.shape[1:])


def draws_noise(encoder: nn.Module) -> bool:
    """Whether an encoder has dropout: in training it would then give each sample noise of its own."""
    dropouts = (nn.Dropout, nn.Dropout1d, nn.Dropout2d, nn.AlphaDropout)
    return any(isinstance(part, dropouts) and part.p > 0 for part in encoder.modules())


def _equal_along(sets: Tensor, axis: int) -> bool:
    """Whether all slices along an axis of sets (S, first, second, ...) are equal; most that are not differ in the first set."""
    for some in (sets[:1], sets):
        one = some.narrow(axis, 0, 1)
        if not torch.equal(one.expand_as(some), some):
            return False
    return True
