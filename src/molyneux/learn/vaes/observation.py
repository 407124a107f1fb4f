"""What a model has seen of a batch, encoded once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from torch import Tensor

from molyneux.learn.posteriors import Diagonal


@dataclass(frozen=True)
class Observation:
    """The observed modalities of a batch in model form, and what each expert says about them.

    Args:
        names: the M observed modalities; the order of `experts` and `present`.
        views: per modality (B, *shape), in the form models compute with; 0 where absent, whatever the batch holds there.
        present: (M, B) bool.
        experts: posteriors of the shared codes given each modality alone, loc (M, B, D); meaningless where absent.
        private: posteriors of private codes, (B, P), of the modalities that have any; the prior where absent.
    """

    names: tuple[str, ...]
    views: Mapping[str, Tensor]
    present: Tensor
    experts: Diagonal
    private: Mapping[str, Diagonal]
