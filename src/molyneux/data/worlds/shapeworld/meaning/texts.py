"""Texts of a batch as programs: each distinct one is parsed once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from molyneux.core import DataError, Modality, views
from molyneux.data.worlds.shapeworld.meaning.language import Language
from molyneux.data.worlds.shapeworld.meaning.programs import programs_of
from molyneux.data.worlds.shapeworld.meaning.trees import PADDING, Tree


class ParsedTexts(NamedTuple):
    """What texts mean.

    Args:
        programs: (B, L) int16, in Polish notation; rows of padding where a text is no sentence of the language.
        reasons: why a text is none, by its row.
    """

    programs: np.ndarray
    reasons: Mapping[int, str]

    @property
    def readable(self) -> np.ndarray:
        """Which texts are sentences, (B,) bool."""
        return np.asarray((self.programs != PADDING).any(1))


def parse_texts(modality: Modality, texts: Tensor, language: Language) -> ParsedTexts:
    """The meanings of texts.

    Args:
        modality: of the texts.
        texts: (B, T) ids of its symbols.
        language: of the texts.
    """
    distinct, rows = np.unique(texts.numpy(), axis=0, return_inverse=True)
    trees, reasons = list[Tree](), dict[int, str]()
    places = np.full(len(distinct), -1)
    for row, text in enumerate(views.text_strings(modality, torch.from_numpy(distinct))):
        try:
            trees.append(language.read(text))
            places[row] = len(trees) - 1
        except DataError as error:
            reasons[row] = str(error)
    programs = programs_of(trees)
    programs = np.concatenate([programs, np.full((1, programs.shape[1]), PADDING, np.int16)])  # the last row for -1
    rows = rows.ravel()
    return ParsedTexts(programs[places[rows]], {place: reasons[row] for place, row in enumerate(rows.tolist()) if row in reasons})
