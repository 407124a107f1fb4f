"""Image-text matchers: a picture and a text pass through one network, whose head says whether they belong together."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar, Unpack, final

import numpy as np
import torch
from PIL import Image
from torch import Tensor

from molyneux.core import Spec
from molyneux.learn.pretrained.pairs import DistinctPairs
from molyneux.learn.pretrained.picture_text_model import PictureTextModel, Shared, Threshold, parts

_SETTINGS: dict[str, dict[str, Any]] = {
    "BlipForImageTextRetrieval": {},
    "Blip2ForImageTextRetrieval": {"use_image_text_matching_head": True},
    "BridgeTowerForImageAndTextRetrieval": {},
    "ViltForImageAndTextRetrieval": {},
}
"""By the classes of matchers, what is said in a call so that they match."""


@final
class ImageTextMatcher(PictureTextModel):
    """An image-text matcher from a folder of `transformers`, such as the matching head of BLIP (Li et al., ICML 2022).

    The logit of agreement is log p(match) - log p(no match) of the matching head, or its one number (ViLT, Kim et al., ICML
    2021), minus a threshold.

    Args:
        spec: what the batches look like.
        folder: of BlipForImageTextRetrieval, Blip2ForImageTextRetrieval, BridgeTowerForImageAndTextRetrieval or
            ViltForImageAndTextRetrieval.
        threshold: see `PictureTextModel`. A head of one number is trained to rank: fit the threshold there.
        **shared: see `PictureTextModel`.
    """

    kinds: ClassVar[str] = f"an image-text matcher, one of {', '.join(_SETTINGS)}"

    def __init__(self, spec: Spec, folder: Path, *, threshold: Threshold = 0.0, **shared: Unpack[Shared]) -> None:
        super().__init__(spec, folder, threshold=threshold, **shared)

    @classmethod
    def reads(cls, kind: type) -> bool:
        """Whether a class is a matcher that is known."""
        return kind.__name__ in _SETTINGS

    def logits(self, pairs: DistinctPairs, chosen: np.ndarray) -> Tensor:
        """See `PictureTextModel`."""
        match = self._match_encoded if hasattr(self.model, "text_encoder") else self._match
        found = []
        for part in parts(len(chosen), self.batch_size):
            pictures, places = np.unique(chosen[part, 0], return_inverse=True)
            texts = [pairs.texts[number] for number in chosen[part, 1]]
            found.append(match([pairs.pictures[number] for number in pictures], places.ravel(), texts).float().cpu())
        scores = torch.cat(found)
        return scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores.squeeze(1)

    def _match(self, pictures: Sequence[Image.Image], places: np.ndarray, texts: Sequence[str]) -> Tensor:
        """Scores (N, 1 or 2) of texts with the pictures at these places."""
        self.check_lengths(texts)
        images = [pictures[place] for place in places]
        found = self.model(**self.inputs(images=images, text=list(texts), padding=True), **_SETTINGS[type(self.model).__name__])
        scores: Tensor = found.logits if hasattr(found, "logits") else found.logits_per_image
        return scores

    def _match_encoded(self, pictures: Sequence[Image.Image], places: np.ndarray, texts: Sequence[str]) -> Tensor:
        """As `_match`, of BLIP, which encodes a picture before it meets a text: each picture once."""
        model: Any = self.model
        encoded = model.vision_model(**self.inputs(images=list(pictures))).last_hidden_state
        hidden = model.text_encoder(**self.tokens(texts), encoder_hidden_states=encoded[torch.from_numpy(places)])
        scores: Tensor = model.itm_head(hidden.last_hidden_state[:, 0])
        return scores
