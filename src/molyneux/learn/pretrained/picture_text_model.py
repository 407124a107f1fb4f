"""The contract of models from folders of `transformers` that say whether a picture and a text agree."""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Literal, TypedDict, get_args

import numpy as np
import torch
from torch import Tensor, nn
from torch.distributions import Bernoulli, Distribution

from molyneux.core import (
    Batch,
    ConfigError,
    DataError,
    FitStore,
    Modality,
    NotApplicableError,
    Source,
    Spec,
    Target,
    choice_problems,
)
from molyneux.core.errors import collected
from molyneux.core.tooling.moved import moved
from molyneux.learn.predictors.predictor import modality_names
from molyneux.learn.pretrained.folder import (
    DType,
    fingerprint,
    load_model,
    load_processor,
    read_architecture,
    set_padding,
    transformers,
)
from molyneux.learn.pretrained.pairs import DistinctPairs, mean_picture, read_pairs
from molyneux.learn.training.hardware import choose_device
from molyneux.learn.training.settings import Device, Training

Threshold = float | Literal["fitted"]
"""A logit from which on a model says yes; `fitted` is the one that is right most often on training samples."""

THRESHOLD_SAMPLES = 2_000
"""Training samples that a threshold is fitted to, at most."""

KEPT = 200_000
"""Pairs of which the logits are kept, at most."""


@dataclass(frozen=True)
class Inference:
    """How a model from a folder is computed.

    Args:
        dtype: arithmetic of the model; see `DType`.
        device: `cpu`, `cuda`, `mps`, `gpu`, or `auto`: CUDA where there is a device, the CPU otherwise.
        batch_size: pictures, texts or pairs that pass through the model at once.
    """

    dtype: DType = "float32"
    device: Device = "auto"
    batch_size: int = 32


class Shared(TypedDict, total=False):
    """The settings that all models from folders have; see `PictureTextModel`."""

    image: str
    text: str
    target: str
    inference: Inference


class PictureTextModel(nn.Module, ABC):
    """A model from a folder of `transformers` that says whether a picture and a text agree; satisfies `core.Predicts`.

    Texts reach it as sentences (`core.views.text_sentences`), pictures as RGB. A picture that a sample lacks, or that is not
    observed, is one of the colour that the model's preparation takes for the mean (0 in its pixel values); such a text is empty.
    So any model of pictures and texts can be asked about a text alone or a picture alone, as a control. Each picture, text and
    pair of a batch is computed once, however many samples have it.

    Args:
        spec: what the batches look like.
        folder: what `save_pretrained` wrote of the model, its tokenizer and its image processor.
        threshold: subtracted from the logit; see `Threshold`. A fitted one is set by `post_fit`.
        image: name of the modality; needed only where the samples have several of the kind.
        text: the same.
        target: name of the target of task agreement; needed only where there are several. Without any, nothing is predicted.
        inference: how the model is computed.

    Raises:
        ConfigError: with every setting that cannot be used; the folder is not such a model's; `transformers` is not installed.
        CorruptFileError: its files cannot be read.

    Attributes:
        kinds: which models of `transformers` it takes, in words.
    """

    kinds: ClassVar[str]

    @moved(dtype="inference.dtype", device="inference.device", batch_size="inference.batch_size")
    def __init__(
        self,
        spec: Spec,
        folder: Path,
        *,
        threshold: Threshold,
        image: str = "",
        text: str = "",
        target: str = "",
        inference: Inference = Inference(),
    ) -> None:
        super().__init__()
        (self.image, self.text), self.target, kind, place, _ = collected(
            (
                lambda: _modalities(spec, image, text),
                lambda: _agreement(spec, target),
                lambda: self._architecture(folder),
                lambda: choose_device(Training(device=inference.device)),
                lambda: _check(threshold, inference),
            )
        )
        self.spec, self.folder, self.batch_size = spec, folder, inference.batch_size
        self.processor, self.model = load_processor(folder), load_model(folder, kind, dtype=inference.dtype, device=place)
        self.padded_by = set_padding(self.processor.tokenizer, folder)
        self.weights, self._samples = fingerprint(folder), 0
        self.threshold: float | None = None if threshold == "fitted" else float(threshold)
        self.blank = mean_picture(self.processor.image_processor, self.image)
        self._kept: dict[tuple[bytes, str], float] = {}

    @classmethod
    @abstractmethod
    def reads(cls, kind: type) -> bool:
        """Whether models of this class are of its kind."""

    @abstractmethod
    def logits(self, pairs: DistinctPairs, chosen: np.ndarray) -> Tensor:
        """Logits (N,) of agreement, before the threshold, of N pairs (N, 2) of the numbers of a picture and a text."""

    def predict(self, batch: Batch, observed: Collection[str] | None = None) -> dict[str, Distribution]:
        """The probability that picture and text agree; see `core.Predicts`.

        Raises:
            NotApplicableError: the threshold is to be fitted, and was not.
        """
        if self.target is None:
            return {}
        if self.threshold is None:
            raise NotApplicableError(
                "the threshold is not fitted yet: call post_fit with training samples, or set it to a number"
            )
        logits = self.agreement(batch, observed) - self.threshold
        return {self.target.name: Bernoulli(logits=logits, validate_args=False)}

    @torch.no_grad()
    def agreement(self, batch: Batch, observed: Collection[str] | None = None) -> Tensor:
        """Logits (B,) of agreement before the threshold, which tell samples apart without it.

        Those of the last pairs (`KEPT`) are kept, for several measures ask for the same ones: the model does not change.
        """
        pairs = self.pairs(batch, observed)
        chosen, places = pairs.distinct()
        marks = [hashlib.blake2b(picture.tobytes(), digest_size=16).digest() for picture in pairs.pictures]
        keys = [(marks[picture], pairs.texts[text]) for picture, text in chosen]
        new = np.array([place for place, key in enumerate(keys) if key not in self._kept], np.int64)
        if len(self._kept) + len(new) > KEPT:
            self._kept, new = {}, np.arange(len(keys))
        if len(new):
            found = self.logits(*pairs.only(chosen[new])).tolist()
            self._kept.update(zip([keys[place] for place in new], found, strict=True))
        logits = torch.tensor([self._kept[keys[place]] for place in places], dtype=torch.float32)
        return logits.to(batch.views[self.image.name].device)

    def post_fit(self, source: Source, *, seed: int, kept: FitStore | None = None) -> None:
        """Fit the threshold, where it is to be fitted: the one that is right on most of the first training samples.

        Raises:
            NotApplicableError: of no sample both modalities and the target are known.
        """
        if self.threshold is not None or self.target is None:
            return
        scored, answers = [], []
        for start in range(0, min(THRESHOLD_SAMPLES, len(source)), 500):
            batch = source.batch(np.arange(start, min(start + 500, THRESHOLD_SAMPLES, len(source))))
            if self.target.name in batch.targets:
                whole = batch.known_mask(self.target.name) & batch.mask(self.image.name) & batch.mask(self.text.name)
                if not bool(whole.any()):
                    continue
                scored.append(self.agreement(batch[whole]).double().cpu().numpy())
                answers.append(batch.targets[self.target.name][whole].cpu().numpy())
        self._samples = sum(map(len, scored))
        if not self._samples:
            raise NotApplicableError(f"threshold: no training sample tells {self.target.name}: set the threshold to a number")
        self.threshold = best_threshold(np.concatenate(scored), np.concatenate(answers) == 1)

    def pairs(self, batch: Batch, observed: Collection[str] | None = None) -> DistinctPairs:
        """The pictures and texts of a batch, given the modalities `observed`; SpecError where the batch does not fit the spec."""
        for name in observed or ():
            self.spec.modality(name)
        batch.check(self.spec.restrict((self.image.name, self.text.name)))
        return read_pairs(batch, self.image, self.text, self.blank, observed)

    def inputs(self, **given: Any) -> dict[str, Tensor]:
        """What the processor makes of pictures (`images`) and texts (`text`), floats in the model's arithmetic, on its device."""
        made = self.processor(**given, return_tensors="pt")
        device, dtype = self.model.device, self.model.dtype
        tensors = {name: value for name, value in made.items() if isinstance(value, Tensor)}
        return {name: value.to(device, dtype if value.is_floating_point() else None) for name, value in tensors.items()}

    def tokens(self, texts: Sequence[str], *, whole: bool = False) -> dict[str, Tensor]:
        """Texts as the model's tokens, padded as its processor asks for, or else to the longest.

        Args:
            texts: the texts.
            whole: pad to all tokens that the model reads.

        Raises:
            DataError: a text has more tokens than the model reads.
        """
        self.check_lengths(texts)
        padding: dict[str, Any] = {"padding": "max_length", "max_length": self.longest} if whole else {"padding": True}
        return self.inputs(text=list(texts), **({} if "padding" in self._own else padding))

    def check_lengths(self, texts: Sequence[str]) -> None:
        """Raise DataError for a text of more tokens than the model reads; none is cut, for that would change its meaning."""
        lengths = [len(ids) for ids in self.processor.tokenizer(list(texts))["input_ids"]]
        if max(lengths, default=0) > self.longest:
            text = texts[int(np.argmax(lengths))]
            most = f"the model reads at most {self.longest} tokens"
            raise DataError(f"{most}, got {max(lengths)} in {text[:80]!r}: choose samples with shorter texts")

    @cached_property
    def longest(self) -> int:
        """How many tokens of a text the model reads."""
        own = getattr(self.model.config.get_text_config(), "max_position_embeddings", None)
        return int(min(self.processor.tokenizer.model_max_length, own or 10**9, self._own.get("max_length", 10**9)))

    @classmethod
    def _architecture(cls, folder: Path) -> type:
        kind = read_architecture(folder)
        if not cls.reads(kind):
            raise ConfigError(f"expected {cls.kinds}, got {kind.__name__} in {folder}")
        return kind

    @property
    def _own(self) -> Mapping[str, Any]:
        """What the processor's class says of texts."""
        found: Mapping[str, Any] = getattr(type(self.processor), "text_kwargs", {})
        return found

    @property
    def origin(self) -> Mapping[str, Any]:
        """What scores record about the model."""
        fitted = {"threshold_samples": self._samples} if self._samples else {}
        known = {"architecture": type(self.model).__name__, "weights": self.weights, "transformers": transformers().__version__}
        padding = {"padded_by": self.padded_by} if self.padded_by else {}
        return {**known, "threshold": self.threshold, **padding, **fitted}


def best_threshold(logits: np.ndarray, agree: np.ndarray) -> float:
    """The threshold above which most of the logits (N,) are those that agree (N,); of several, the one nearest to the median."""
    distinct = np.unique(logits)
    cuts = np.concatenate([[distinct[0] - 1], (distinct[1:] + distinct[:-1]) / 2, [distinct[-1] + 1]])
    yes, no = np.sort(logits[agree]), np.sort(logits[~agree])
    right = len(yes) - np.searchsorted(yes, cuts, side="right") + np.searchsorted(no, cuts, side="right")
    best = cuts[right == right.max()]
    return float(best[np.abs(best - np.median(logits)).argmin()])


def parts(count: int, size: int) -> Iterator[slice]:
    """Slices of at most `size` that cover `count`."""
    return (slice(start, start + size) for start in range(0, count, size))


def _modalities(spec: Spec, image: str, text: str) -> tuple[Modality, Modality]:
    """The modalities of pictures and texts."""
    first, second = (spec.modality(name) for name in modality_names(spec, image=image, text=text))
    if first.shape[0] not in (1, 3):
        raise ConfigError(f"image: expected pictures of 1 or 3 channels, got {first.shape[0]} in {first.name}")
    return first, second


def _check(threshold: Threshold, inference: Inference) -> None:
    """Raise ConfigError for settings out of range."""
    problems = choice_problems(**{"inference.dtype": (inference.dtype, get_args(DType))})
    if inference.batch_size < 1:
        problems.append(f"inference.batch_size: expected at least 1, got {inference.batch_size}")
    if threshold != "fitted" and not isinstance(threshold, int | float):
        problems.append(f"threshold: expected a number or fitted, got {threshold!r}")
    if problems:
        raise ConfigError(problems)


def _agreement(spec: Spec, name: str) -> Target | None:
    """The target of task agreement; None where the samples have none."""
    known = [item for item in spec.targets if item.task == "agreement"]
    if name:
        found = spec.target(name)
        if found.task != "agreement":
            raise ConfigError(f"target: expected one of task agreement, got {name} of task {found.task}")
        return found
    if len(known) > 1:
        raise ConfigError(f"target: expected the name of one of several ({', '.join(item.name for item in known)}), got none")
    return known[0] if known else None
