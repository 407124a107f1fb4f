"""Dual encoders: a picture and a text agree as far as their codes point in one direction."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import Any, ClassVar, TypeVar, Unpack, final

import numpy as np
import torch
from PIL import Image
from torch import Tensor

from molyneux.core import Batch, Codes, ConfigError, NotApplicableError, Posterior, Spec
from molyneux.learn.posteriors import Point
from molyneux.learn.pretrained.pairs import DistinctPairs
from molyneux.learn.pretrained.picture_text_model import PictureTextModel, Shared, Threshold, parts

T = TypeVar("T")

_PADDED = ("siglip", "siglip2")
"""Types of models whose texts were always padded to the whole length in training, so that the padding is part of the code."""


@final
class DualEncoder(PictureTextModel):
    """A dual encoder from a folder of `transformers`, such as CLIP (Radford et al., 2021) or SigLIP (Zhai et al., 2023).

    The logit of agreement is scale * cosine of the codes (+ bias), with the model's own scale and bias, minus a threshold. The
    models are trained to compare, not to answer: their logits have no natural threshold, so by default it is fitted to training
    samples, never to those that are measured. Scores that compare samples with each other do not depend on it.

    Satisfies `core.Predicts`, `Encodes` and `Representation` too: the code of a sample is the mean of the normalised codes of
    its picture and its text, or that of the one that is observed.

    Args:
        spec: what the batches look like.
        folder: of a class with `get_image_features` and `get_text_features`, such as CLIPModel, SiglipModel or AlignModel.
        threshold: see `PictureTextModel`.
        **shared: see `PictureTextModel`.
    """

    kinds: ClassVar[str] = (
        "a dual encoder, a class with get_image_features and get_text_features such as CLIPModel or SiglipModel"
    )

    def __init__(self, spec: Spec, folder: Path, *, threshold: Threshold = "fitted", **shared: Unpack[Shared]) -> None:
        super().__init__(spec, folder, threshold=threshold, **shared)
        if not any(hasattr(self.model, name) for name in ("logit_scale", "temperature")):
            raise ConfigError(f"expected a model with logit_scale or temperature, got {type(self.model).__name__} without")
        self.whole = self.model.config.model_type in _PADDED
        if self.whole and self.padded_by:
            raise ConfigError(
                f"{folder}: expected a tokenizer with a padding token, which is a part of each text of "
                f"{type(self.model).__name__}, got one without: set pad_token and save it with tokenizer.save_pretrained"
            )

    @classmethod
    def reads(cls, kind: type) -> bool:
        """Whether a class has codes of pictures and of texts."""
        return hasattr(kind, "get_image_features") and hasattr(kind, "get_text_features")

    def logits(self, pairs: DistinctPairs, chosen: np.ndarray) -> Tensor:
        """See `PictureTextModel`."""
        pictures, texts = self.picture_codes(pairs.pictures), self.text_codes(pairs.texts)
        first, second = (torch.from_numpy(column).to(pictures.device) for column in chosen.T)
        cosine = (pictures[first] * texts[second]).sum(-1)
        model: Any = self.model
        scale = model.logit_scale.float().exp() if hasattr(model, "logit_scale") else 1 / model.temperature.float()
        bias = model.logit_bias.float() if hasattr(model, "logit_bias") else 0.0
        return torch.as_tensor(cosine * scale + bias).cpu()

    def picture_codes(self, pictures: Sequence[Image.Image]) -> Tensor:
        """Normalised codes (P, D) of pictures."""
        return self._codes(pictures, lambda part: self.model.get_image_features(**self.inputs(images=list(part))))

    def text_codes(self, texts: Sequence[str]) -> Tensor:
        """Normalised codes (T, D) of texts; raises DataError for one that is too long."""
        return self._codes(texts, lambda part: self.model.get_text_features(**self.tokens(part, whole=self.whole)))

    @torch.no_grad()
    def encode(self, batch: Batch, observed: Collection[str] | None = None) -> Posterior:
        """The codes (B, D) of samples as points; see `core.Encodes`.

        Raises:
            NotApplicableError: neither picture nor text is observed.
        """
        names = [item.name for item in (self.image, self.text) if observed is None or item.name in observed]
        if not names:
            raise NotApplicableError(f"the model encodes {self.image.name} and {self.text.name}, got {', '.join(observed or ())}")
        pairs, device = self.pairs(batch, names), batch.views[self.image.name].device
        total, count = torch.zeros((), device=device), torch.zeros((), device=device)
        for name in names:
            picture = name == self.image.name
            codes = self.picture_codes(pairs.pictures) if picture else self.text_codes(pairs.texts)
            present = batch.mask(name).unsqueeze(-1).to(device, torch.float32)
            found = codes.to(device)[torch.from_numpy(pairs.picture if picture else pairs.text)]
            total, count = total + found * present, count + present
        return Posterior(Point(total / count.clamp(min=1)))

    def represent(self, batch: Batch, observed: Collection[str] | None = None) -> dict[str, Tensor]:
        """The codes as `shared`; see `core.Representation`."""
        codes: Codes = self.encode(batch, observed).mean
        return {"shared": codes.shared}

    def _codes(self, items: Sequence[T], encode: Callable[[Sequence[T]], Any]) -> Tensor:
        """Codes of things, part by part, of length 1."""
        found = [encode(items[part]) for part in parts(len(items), self.batch_size)]
        codes = torch.cat([item if isinstance(item, Tensor) else item.pooler_output for item in found])
        return torch.nn.functional.normalize(codes.float(), dim=-1)
