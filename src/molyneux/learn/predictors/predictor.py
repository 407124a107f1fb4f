"""The contract of the predictors: encoders of the modalities that they read, a joining of what these give, and a head.

A predictor defines which modalities it encodes and how it joins the encodings to one vector of features. All else, the
distributions of the targets, the loss, missing modalities and lengths, is here.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator, Mapping
from typing import Any, TypedDict

import torch
from torch import Tensor, nn
from torch.distributions import Distribution

from molyneux.core import Batch, ConfigError, DataError, Loss, Progress, Spec, SpecError, Target, nearest
from molyneux.learn.encoders.by_modality import ModalityDict
from molyneux.learn.encoders.encoding import Encoder, Encoding, ViewEncoder, read_view
from molyneux.learn.predictors.head import Head, TargetHeads
from molyneux.learn.predictors.repeats import draws_noise, repeats_of


class Predictor(nn.Module, ABC):
    """A model that predicts the targets of a Spec; satisfies `core.Trainable`, `Predicts` and `Representation`.

    A predictor defines the features of a sample; the head makes distributions of them. Its constructor calls `answer_from` with
    the number of features.

    Args:
        spec: what the batches look like.

    Raises:
        SpecError: the samples have no targets.
    """

    answers: TargetHeads

    def __init__(self, spec: Spec) -> None:
        super().__init__()
        if not spec.targets:
            raise SpecError(f"{type(self).__name__} predicts targets, but the samples have none: choose samples with a target")
        self.spec = spec

    @abstractmethod
    def features(self, batch: Batch, observed: Collection[str] | None = None) -> Tensor:
        """What the head is given, (B, F), from the modalities `observed`, as `core.Predicts` says."""

    def answer_from(self, features: int, head: Head) -> None:
        """Make the head, from so many features to the targets of the spec."""
        self.answers = head.build(features, self.spec.targets)

    def predict(self, batch: Batch, observed: Collection[str] | None = None) -> dict[str, Distribution]:
        """A distribution per target; see `core.Predicts`."""
        found: dict[str, Distribution] = self.answers(self.features(batch, observed))
        return found

    def represent(self, batch: Batch, observed: Collection[str] | None = None) -> dict[str, Tensor]:
        """The features as `shared`; see `core.Representation`."""
        return {"shared": self.features(batch, observed).float()}

    def loss(self, batch: Batch, progress: Progress, generator: torch.Generator | None = None) -> Loss:
        """The negative log-likelihood of the targets in nats, summed over targets; see `core.Trainable`.

        Of each target it is the mean over the samples of which the target is known, `nll.<target>` among the terms; classes and
        agreement also have the share of right answers, `accuracy.<target>`.

        Raises:
            DataError: the batch has no samples or no targets.
        """
        self.check_targets(batch)
        return target_loss(self.predict(batch), batch, self.spec)

    def check_targets(self, batch: Batch) -> None:
        """Raise DataError or SpecError unless the batch has samples, and values of all targets."""
        if not len(batch) or not batch.targets:
            what = "targets in the batch" if len(batch) else "samples in the batch"
            raise DataError(f"expected {what} for a loss, got none: leave the batch out, or choose samples with targets")
        if missing := [target.name for target in self.spec.targets if target.name not in batch.targets]:
            raise SpecError(f"expected the targets {', '.join(missing)} in the batch, got only {', '.join(batch.targets)}")


class JoiningPredictor(Predictor):
    """A predictor whose features are a joining of encodings of modalities.

    A constructor calls this one with the encoders, makes the layers of its joining, and then `answer_from` with the number of
    features that `join` gives. A sample that lacks a modality has zeros in place of its encoding, and no parts. A view
    that occurs several times in the contrast sets of a batch is encoded once (`repeats_of`).

    Args:
        spec: see `Predictor`.
        encoders: settings of the encoders by modality; a modality without one is not read.

    Raises:
        SpecError: an encoder does not fit its modality.
    """

    def __init__(self, spec: Spec, encoders: Mapping[str, ViewEncoder]) -> None:
        super().__init__(spec)
        self.encoders = ModalityDict[Encoder]()
        for name, settings in encoders.items():
            self.encoders[name] = settings.build(spec.modality(name))
        self.reads = tuple(encoders)

    @abstractmethod
    def join(self, encodings: Mapping[str, Encoding]) -> Tensor:
        """Features (B, F) of at least one sample, from an encoding of each modality that has an encoder."""

    def features(self, batch: Batch, observed: Collection[str] | None = None) -> Tensor:
        """See `Predictor`; raises SpecError if the batch does not fit the spec, or a name is unknown."""
        found = self.encodings(batch, observed)
        return self.join(found) if len(batch) else self.no_features()

    def distributions(self, encodings: Mapping[str, Encoding]) -> dict[str, Distribution]:
        """A distribution for each target from encodings of at least one sample."""
        found: dict[str, Distribution] = self.answers(self.join(encodings))
        return found

    def alone(self, encodings: Mapping[str, Encoding]) -> dict[str, dict[str, Distribution]]:
        """By modality, a distribution for each target by joining and head from it alone, as if a sample lacked all others."""
        like = next(self.parameters())
        blank = {name: self.encoders[name].blank(len(item.vector), like) for name, item in encodings.items()}
        return {name: self.distributions({**blank, name: item}) for name, item in encodings.items()}

    def no_features(self) -> Tensor:
        """The features of no samples."""
        return torch.zeros(0, self.answers.features, device=next(self.parameters()).device)

    def encodings(self, batch: Batch, observed: Collection[str] | None = None) -> dict[str, Encoding]:
        """The encoding of each modality that has an encoder; blank where it is not `observed`, absent, or there are no samples.

        Raises:
            SpecError: the batch does not fit the spec, or a name is unknown.
        """
        chosen = batch.views if observed is None else [self.spec.modality(name).name for name in observed]
        names = [name for name in self.reads if name in chosen]
        if names:
            batch.check(self.spec.restrict(names))
        return {name: self._encoded(name, batch, observed=name in names) for name in self.reads}

    def _encoded(self, name: str, batch: Batch, *, observed: bool) -> Encoding:
        """The encoding of one modality; only samples that have it pass through its encoder."""
        encoder, present = self.encoders[name], batch.present.get(name)
        observed = observed and len(batch) > 0
        if present is None and observed:
            return self._call(name, batch)
        blank = encoder.blank(len(batch), like=next(self.parameters()))
        if not observed or present is None or not bool(present.any()):
            return blank
        return self._call(name, batch) if bool(present.all()) else self._call(name, batch[present]).scattered(present, blank)

    def _call(self, name: str, batch: Batch) -> Encoding:
        """The encoding of samples that all have a modality, each view that repeats encoded once."""
        noisy = self.training and draws_noise(self.encoders[name])
        repeats = None if noisy else repeats_of(batch, name, self.spec.targets)
        return self._encode(name, batch) if repeats is None else repeats.spread(self._encode(name, repeats.distinct(batch, name)))

    def _encode(self, name: str, batch: Batch) -> Encoding:
        view, lengths = read_view(batch, self.spec, name), batch.lengths.get(name)
        found: Encoding = self.encoders[name](view) if lengths is None else self.encoders[name](view, lengths)
        return found


class Inputs(TypedDict, total=False):
    """The settings that say which modalities a predictor of pictures and texts reads; see `PictureTextPredictor`."""

    image: str
    text: str


class PictureTextPredictor(JoiningPredictor):
    """A predictor that joins a picture and a text.

    Args:
        spec: see `Predictor`.
        trunk: encoder of the picture.
        words: encoder of the text.
        image: name of the modality of kind image; needed only where the samples have several.
        text: name of the modality of kind text, as `image`. A text may be any sequence of symbols, such as a formula in Polish
            notation.
    """

    def __init__(self, spec: Spec, trunk: ViewEncoder, words: ViewEncoder, *, image: str = "", text: str = "") -> None:
        names = modality_names(spec, image=image, text=text)
        super().__init__(spec, dict(zip(names, (trunk, words), strict=True)))
        self.image, self.text = names

    @property
    def picture(self) -> Encoder:
        """The encoder of the picture."""
        return self.encoders[self.image]

    @property
    def words(self) -> Encoder:
        """The encoder of the text."""
        return self.encoders[self.text]

    def join(self, encodings: Mapping[str, Encoding]) -> Tensor:
        """See `Predictor`."""
        return self.join_both(encodings[self.image], encodings[self.text])

    @abstractmethod
    def join_both(self, picture: Encoding, text: Encoding) -> Tensor:
        """Features (B, F) of pictures and texts."""


def modality_names(spec: Spec, **chosen: str) -> list[str]:
    """The names of the modalities of some kinds, each given or else the only one of its kind.

    Args:
        spec: of the samples.
        chosen: by kind, the name of the modality, or nothing for the only one of that kind.

    Raises:
        ConfigError: with every kind that has no modality, or several of which none is named, and every name of another kind.
    """
    found, problems = [], list[str]()
    for kind, name in chosen.items():
        known = [modality.name for modality in spec.modalities if modality.kind == kind]
        if name in known or (not name and len(known) == 1):
            found.append(name or known[0])
        elif name:
            problems.append(f"{kind}: expected a modality of kind {kind}, got {name!r}; {nearest(name, known)}")
        elif known:
            problems.append(f"{kind}: expected the name of one of the samples' several ({', '.join(known)}), got none")
        else:
            problems.append(f"{kind}: expected samples with a modality of kind {kind}, got only {', '.join(spec.names)}")
    if problems:
        raise ConfigError(problems)
    return found


def target_loss(found: Mapping[str, Distribution], batch: Batch, spec: Spec) -> Loss:
    """The loss of distributions of all targets of a batch; see `Predictor.loss`."""
    terms = {name: term for target in spec.targets for name, term in _terms(target, found[target.name], batch)}
    total = torch.stack([term for name, term in terms.items() if name.startswith("nll.")]).sum()
    return Loss(total, {name: term.detach() for name, term in terms.items()})


def _terms(target: Target, found: Any, batch: Batch) -> Iterator[tuple[str, Tensor]]:
    """Terms of the loss for one target: means over the samples of which it is known; 0 where there are none."""
    known = batch.known_mask(target.name)
    truth = batch.targets[target.name]
    truth = truth.where(known.reshape(-1, *[1] * (truth.dim() - 1)), 0)
    share = known.float() / known.sum().clamp(min=1)
    value = truth if target.task == "class" else truth.float()
    yield f"nll.{target.name}", -(found.log_prob(value) * share).sum()
    if target.task in ("class", "agreement"):
        logits: Tensor = found.logits
        answer = logits.argmax(-1) if target.task == "class" else logits > 0
        yield f"accuracy.{target.name}", ((answer == truth) * share).sum()
