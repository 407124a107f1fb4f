"""What the numbers of a model's codes carry: their ranges and the information of each about each factor, over samples."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import torch

from molyneux.core import Batch, Codes, NotApplicableError, SpecError
from molyneux.run.trained.given import given_of
from molyneux.run.trained.model import TrainedModel

_QUANTILES = (0.01, 0.99)


@dataclass(frozen=True)
class CodeSurvey:
    """The codes of samples, number by number.

    Args:
        parts: what the numbers belong to: `shared`, or the modality whose private code they are; with how many numbers each has.
        codes: (N, C) float32 of all parts, one after the other.
        low: (C,), the hundredth part of the samples lies below.
        high: (C,), the hundredth part of the samples lies above.
        factors: names of the factors that vary.
        information: (C, F) of each number about each factor beyond chance, from 0 to 1; see `measure.adjusted_information`.
        samples: the samples themselves.
    """

    parts: Mapping[str, int]
    codes: np.ndarray
    low: np.ndarray
    high: np.ndarray
    factors: tuple[str, ...]
    information: np.ndarray
    samples: Batch

    def about(self, number: int, *, least: float = 0.05) -> tuple[tuple[str, float], ...]:
        """The factors that a number tells, the most of it first, each with its information; less than `least` is left out."""
        order = np.argsort(-self.information[number], kind="stable")
        found = ((self.factors[place], float(self.information[number, place])) for place in order)
        return tuple((name, share) for name, share in found if share >= least)

    def neighbours(self, code: np.ndarray, count: int) -> np.ndarray:
        """Places of the samples whose codes are nearest, each number in units of its range, (count,)."""
        width = np.where(self.high > self.low, self.high - self.low, 1.0)
        distance = (((self.codes - code) / width) ** 2).sum(1)
        return np.argsort(distance, kind="stable")[:count]


def survey_codes(model: TrainedModel, samples: Batch) -> CodeSurvey:
    """What the numbers of a model's codes carry.

    Args:
        model: encodes all its modalities.
        samples: with factors; some thousand.

    Raises:
        NotApplicableError: the model has no codes.
    """
    from molyneux.measure.disentanglement import adjusted_information, tabulate

    codes = model.encode(inputs=given_of(samples, model.spec, model.modalities), raw=True)
    flat = flat_code(codes)
    low, high = np.quantile(flat, _QUANTILES, axis=0)
    names, information = tuple[str, ...](), np.zeros((flat.shape[1], 0))
    if samples.factors is not None:
        values = samples.factors.numpy()
        varied = [column for column in range(values.shape[1]) if len(np.unique(values[values[:, column] >= 0, column])) > 1]
        try:
            if not varied:
                raise NotApplicableError("no factor varies")
            table = tabulate(flat, values[:, varied], names=[model.spec.factors[column].name for column in varied])
            names, information = table.names, adjusted_information(table)
        except NotApplicableError:
            names, information = (), np.zeros((flat.shape[1], 0))
    parts = {"shared": codes.shared.shape[1], **{name: part.shape[1] for name, part in codes.private.items()}}
    return CodeSurvey(parts, flat, low, high, names, information, samples)


def flat_code(codes: Codes) -> np.ndarray:
    """All parts of codes one after the other, (N, C): the shared one, then the private ones."""
    return torch.cat([codes.shared, *codes.private.values()], 1).numpy()


def parted_code(flat: np.ndarray, parts: Mapping[str, int]) -> Codes:
    """The reverse of `flat_code`.

    Args:
        flat: (N, C).
        parts: numbers of each part, `shared` first.

    Raises:
        SpecError: another number of columns.
    """
    if flat.ndim != 2 or flat.shape[1] != sum(parts.values()):
        raise SpecError(f"expected codes (N, {sum(parts.values())}), got {flat.shape}")
    split = torch.split(torch.from_numpy(np.ascontiguousarray(flat, np.float32)), list(parts.values()), 1)
    named = dict(zip(parts, split, strict=True))
    return Codes(named.pop("shared"), named)


def between_codes(first: np.ndarray, second: np.ndarray, share: float) -> np.ndarray:
    """The code on the straight line from one code to another: the first at a share of 0, the second at 1."""
    return (1.0 - share) * first + share * second
