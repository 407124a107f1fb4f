"""The pictures and texts of a batch as models of `transformers` read them: RGB and sentences, each of them once."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from PIL import Image
from torch import Tensor

from molyneux.core import Batch, Modality, views
from molyneux.core.characters import whole_characters
from molyneux.core.image_files import image_of


@dataclass(frozen=True)
class DistinctPairs:
    """The pictures and texts of a batch, each once, and which of them the samples have.

    Args:
        pictures: P different pictures.
        texts: T different texts.
        picture: (B,) numbers of pictures, of each sample or pair.
        text: (B,) numbers of texts.
    """

    pictures: Sequence[Image.Image]
    texts: Sequence[str]
    picture: np.ndarray
    text: np.ndarray

    def distinct(self) -> tuple[np.ndarray, np.ndarray]:
        """Different pairs (N, 2) of a picture and a text, those of one picture in a row; and which of them samples have, (B,)."""
        found, places = np.unique(np.stack([self.picture, self.text], 1), axis=0, return_inverse=True)
        return found, places.ravel()

    def only(self, chosen: np.ndarray) -> tuple[DistinctPairs, np.ndarray]:
        """Just the pictures and texts that pairs (N, 2) have, and the numbers of these pairs among them."""
        (pictures, first), (texts, second) = (np.unique(column, return_inverse=True) for column in chosen.T)
        own = DistinctPairs(
            [self.pictures[number] for number in pictures], [self.texts[number] for number in texts], first, second
        )
        return own, np.stack([first, second], 1)


def read_pairs(
    batch: Batch, image: Modality, text: Modality, blank: Image.Image, observed: Collection[str] | None = None
) -> DistinctPairs:
    """The pictures and texts of a batch; what a sample lacks, or is not observed, is the `blank` picture and the empty text.

    Args:
        batch: fits these modalities.
        image: a modality of pictures of 1 or 3 channels.
        text: one of texts.
        blank: see `mean_picture`.
        observed: names of modalities; all by default.
    """
    shown, said = (batch.mask(item.name).cpu().numpy() & (observed is None or item.name in observed) for item in (image, text))
    pictures, picture = _distinct_pictures(image, batch.views[image.name], shown, blank)
    strings = views.text_sentences(text, batch.views[text.name], batch.lengths.get(text.name))
    strings = [whole_characters(sentence) if seen else "" for sentence, seen in zip(strings, said.tolist(), strict=True)]
    texts = {sentence: place for place, sentence in enumerate(dict.fromkeys(strings))}
    return DistinctPairs(pictures, list(texts), picture, np.array([texts[sentence] for sentence in strings], np.int64))


def mean_picture(image_processor: Any, modality: Modality) -> Image.Image:
    """A picture of the colour that a model's preparation takes for the mean; grey where it takes none."""
    mean = getattr(image_processor, "image_mean", None) if getattr(image_processor, "do_normalize", False) else None
    shares = [0.5] * 3 if mean is None else [float(value) for value in np.broadcast_to(mean, 3)]
    colour = tuple(round(255 * share) for share in shares)
    return Image.new("RGB", (modality.shape[2], modality.shape[1]), colour)


def _distinct_pictures(
    modality: Modality, view: Tensor, shown: np.ndarray, blank: Image.Image
) -> tuple[list[Image.Image], np.ndarray]:
    """The different pictures of views (B, C, H, W), the blank one too where some are not shown, and their numbers (B,)."""
    numbers = np.zeros(len(view), np.int64)
    found: list[Image.Image] = []
    if shown.any():
        levels = views.to_stored(Modality("image", "image", modality.shape, "uint8"), view[torch.from_numpy(shown)])
        stored = np.ascontiguousarray(levels.cpu().numpy())
        rows = stored.reshape(len(stored), -1)
        _, first, inverse = np.unique(rows.view(np.dtype((np.void, rows.shape[1]))), return_index=True, return_inverse=True)
        numbers[shown] = inverse.ravel()
        found = [image_of(stored[row]).convert("RGB") for row in first]
    if not shown.all():
        numbers[~shown] = len(found)
        found.append(blank)
    return found, numbers
