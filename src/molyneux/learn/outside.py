"""Models from outside: torch modules that know nothing of this package, as models that encode, decode or predict."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import Tensor, nn
from torch.distributions import Bernoulli, Categorical, Distribution, Independent, Normal

from molyneux.core import (
    Batch,
    Codes,
    ConfigError,
    CorruptFileError,
    Modality,
    MolyneuxError,
    NotApplicableError,
    Posterior,
    Spec,
    SpecError,
    Target,
    files,
    store,
    views,
)
from molyneux.learn.encoders.by_modality import ModalityDict
from molyneux.learn.files import assign
from molyneux.learn.likelihoods import ViewDistribution, ViewLikelihood, default_likelihood
from molyneux.learn.posteriors import DiagonalNormal, Point, product_of_experts

_UNREADABLE = (*files.DAMAGED, SafetensorError)
"""What torch and safetensors raise for damaged files."""


class WrappedEncoder(nn.Module):
    """Encoders from outside, one for each modality, as a model that encodes (`core.Encodes`).

    An encoder is called with views in the form that models compute with (`core.views.to_model`: images as floats from 0 to 1,
    symbols as int64 ids), (B, *shape), and gives codes (B, D), of the same D for all modalities. The code of several modalities
    is the mean of their codes; with `variances`, encoders give a mean and a log-variance, and it is the product of experts.

    Args:
        spec: of the samples.
        encoders: modules by the name of the modality. A modality without one is not encoded.
        variances: whether an encoder returns a pair, means and log-variances, each (B, D).

    Raises:
        SpecError: the samples have no such modality. ConfigError: there is no encoder.
    """

    def __init__(self, spec: Spec, encoders: Mapping[str, nn.Module], *, variances: bool = False) -> None:
        super().__init__()
        if not encoders:
            raise ConfigError("encoders: expected at least one encoder, got none: name the modality that it encodes")
        self.spec, self.variances = spec, variances
        self.encoders = _by_modality(spec, encoders)

    def encode(self, batch: Batch, observed: Collection[str] | None = None) -> Posterior:
        """The posterior of codes given the modalities `observed`: a point, or a normal distribution with `variances`.

        Raises:
            NotApplicableError: there is no encoder for any of them. SpecError: an encoder fails, or gives codes of another shape
                than (B, D).
        """
        names = [name for name in self.encoders.keys() if observed is None or name in observed]  # noqa: SIM118 - no mapping
        if not names:
            known, asked = ", ".join(self.encoders.keys()), ", ".join(observed or ())
            raise NotApplicableError(f"the model has encoders for {known}, got only {asked}: leave that out of data.modalities")
        present = torch.stack([batch.mask(name) for name in names])
        found = [self._encoded(name, batch) for name in names]
        loc, spread = (torch.stack(parts) for parts in zip(*found, strict=True))
        if self.variances:
            return Posterior(product_of_experts(DiagonalNormal(loc, spread), present, prior_expert=False))
        weight = present.unsqueeze(-1).to(loc)
        return Posterior(Point((loc * weight).sum(0) / weight.sum(0).clamp(min=1)))

    def _encoded(self, name: str, batch: Batch) -> tuple[Tensor, Tensor]:
        """Codes and log-variances of one modality, (B, D) each."""
        given = _called(self.encoders[name], f"the encoder of {name}", _view(self.spec.modality(name), batch))
        pair = given if self.variances else (given, torch.zeros_like(given) if isinstance(given, Tensor) else given)
        if not (isinstance(pair, Sequence) and len(pair) == 2 and all(isinstance(part, Tensor) for part in pair)):
            wanted = "means and log-variances, two tensors" if self.variances else "codes, one tensor"
            raise SpecError(f"expected {wanted} from the encoder of {name}, got {type(given).__name__}")
        if any(part.dim() != 2 or len(part) != len(batch) for part in pair):
            raise SpecError(f"expected codes ({len(batch)}, D) from the encoder of {name}, got {tuple(pair[0].shape)}")
        return pair[0].float(), pair[1].float()


class WrappedAutoencoder(WrappedEncoder):
    """Encoders and decoders from outside as a model that encodes and decodes (`core.Encodes`, `core.Decodes`).

    A decoder is called with codes (N, D) and gives views in the form that models compute with, (N, *shape): images and videos as
    probabilities from 0 to 1, or as logits with `logits`; texts and labels as logits (N, *shape, symbols); the rest as means.
    Codes have a standard normal prior.

    Args:
        spec: of the samples.
        encoders: see `WrappedEncoder`.
        decoders: modules by the name of the modality; one for each modality of the samples.
        latent_dim: D.
        variances: see `WrappedEncoder`.
        logits: whether decoders of images and videos give logits.
        likelihoods: of views, by the name of the modality; by default Bernoulli for images and videos, else normal.

    Raises:
        SpecError: the samples have no such modality. ConfigError: a modality has no decoder, or `latent_dim` below 1.
    """

    def __init__(
        self,
        spec: Spec,
        encoders: Mapping[str, nn.Module],
        decoders: Mapping[str, nn.Module],
        *,
        latent_dim: int,
        variances: bool = False,
        logits: bool = False,
        likelihoods: Mapping[str, ViewLikelihood] | None = None,
    ) -> None:
        super().__init__(spec, encoders, variances=variances)
        if missing := [name for name in spec.names if name not in decoders]:
            raise ConfigError(f"decoders: expected one for each modality, got none for {', '.join(missing)}")
        if latent_dim < 1:
            raise ConfigError(f"latent_dim: expected at least 1, got {latent_dim}")
        self.latent_dim, self.logits = latent_dim, logits
        self.decoders = _by_modality(spec, decoders)
        chosen = {item.name: (likelihoods or {}).get(item.name) or default_likelihood(item) for item in spec.modalities}
        self.heads = _by_modality(spec, {name: item.head(spec.modality(name)) for name, item in chosen.items()})
        self.anchor: Tensor
        self.register_buffer("anchor", torch.zeros(1), persistent=False)  # says on which device codes are drawn

    def decode(self, codes: Codes, only: Collection[str] | None = None) -> dict[str, Distribution]:
        """The distribution of each modality (all, or those in `only`) given codes (..., B, D); batch shape (..., B).

        Raises:
            SpecError: a decoder fails, or gives views of another shape.
        """
        names = [name for name in self.spec.names if only is None or name in only]
        return {name: self._decoded(self.spec.modality(name), codes.shared) for name in names}

    def prior(self, size: int) -> Posterior:
        """The standard normal prior of `size` codes."""
        return Posterior(DiagonalNormal.standard((size, self.latent_dim), self.anchor))

    def _decoded(self, modality: Modality, codes: Tensor) -> ViewDistribution:
        raw = _called(self.decoders[modality.name], f"the decoder of {modality.name}", codes.flatten(0, -2)).float()
        shape = (*modality.shape, len(modality.symbols)) if modality.symbols else modality.shape
        if tuple(raw.shape[1:]) != shape:
            raise SpecError(f"expected views (N, {', '.join(map(str, shape))}) of {modality.name}, got {tuple(raw.shape)}")
        if modality.symbols:
            raw = raw.movedim(-1, 1)
        else:
            unit = modality.kind in ("image", "video") and not self.logits
            raw = (raw.clamp(0, 1).logit(1e-6) if unit else raw).unsqueeze(1)
        found: ViewDistribution = self.heads[modality.name](raw, codes.shape[:-1])
        return found


class WrappedPredictor(nn.Module):
    """A classifier or regressor from outside as a model that predicts a target (`core.Predicts`).

    Args:
        spec: of the samples.
        module: called with the views of `inputs` in that order, in the form that models compute with; gives logits (B, classes)
            for a class, (B,) or (B, labels) for agreement or labels, and numbers (B, *shape).
        inputs: names of modalities; all by default. What a sample lacks, or is not observed, is zero.
        target: name of the target; may be left out where there is only one.

    Raises:
        SpecError: the samples have no such modality or target. ConfigError: the target has to be named.
    """

    def __init__(self, spec: Spec, module: nn.Module, *, inputs: Sequence[str] = (), target: str = "") -> None:
        super().__init__()
        if not target and len(spec.targets) != 1:
            known = ", ".join(item.name for item in spec.targets) or "none"
            raise ConfigError(f"target: expected the name of a target of the samples ({known}), got none")
        self.spec, self.module = spec, module
        self.inputs = tuple(spec.modality(name).name for name in inputs) or spec.names
        self.target: Target = spec.target(target) if target else spec.targets[0]

    def predict(self, batch: Batch, observed: Collection[str] | None = None) -> dict[str, Distribution]:
        """A distribution of the target, batch shape (B,), given the modalities `observed`."""
        given = []
        for name in self.inputs:
            view = _view(self.spec.modality(name), batch)
            given.append(view if observed is None or name in observed else torch.zeros_like(view))
        return {self.target.name: self._distribution(_called(self.module, "the module", *given).float(), len(batch))}

    def _distribution(self, raw: Tensor, size: int) -> Distribution:
        target = self.target
        event = (len(target.symbols),) if target.task in ("class", "multilabel") else target.shape
        if tuple(raw.shape) == (size, 1) and not event:
            raw = raw.squeeze(1)
        if tuple(raw.shape) != (size, *event):
            wanted = (size, *event)
            raise SpecError(f"expected {target.task} outputs {wanted} for the target {target.name}, got {tuple(raw.shape)}")
        if target.task == "class":
            return Categorical(logits=raw, validate_args=False)
        if target.task == "number":
            return Independent(Normal(raw, torch.ones_like(raw), validate_args=False), len(event), validate_args=False)
        return Independent(Bernoulli(logits=raw, validate_args=False), len(event), validate_args=False)


def load_state(module: nn.Module, path: Path | str, *, key: str = "") -> nn.Module:
    """Copy weights of a file into a module; nothing is unpickled but tensors and plain containers.

    Args:
        module: with parameters of the same names and shapes.
        path: a safetensors file, or what `torch.save` wrote of a state dict.
        key: where in the file's dictionary the state dict is, such as `state_dict` or `model`; empty where it is the whole.

    Returns:
        The module.

    Raises:
        StoreError: the file is not there. CorruptFileError: it holds no weights, or more than weights.
        SpecError: names or shapes differ; names both sides.
    """
    path = Path(path)
    if not store.is_file(path):
        raise store.read_error(FileNotFoundError(2, "no such file"), path)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of torch, on protocols of pickles that damaged files name
            found = load_file(path) if path.suffix == ".safetensors" else torch.load(path, map_location="cpu", weights_only=True)
    except _UNREADABLE as error:
        raise CorruptFileError(
            f"{path} holds no weights that can be read ({str(error).partition(chr(10))[0][:200]}): save a state dict, best as "
            "safetensors"
        ) from error
    if key:
        found = found.get(key) if isinstance(found, Mapping) else None
    if not isinstance(found, Mapping) or not all(isinstance(item, Tensor) for item in found.values()):
        what = f"a state dict under {key!r}" if key else "a state dict"
        names = ", ".join(map(str, found)) if isinstance(found, Mapping) else type(found).__name__
        raise CorruptFileError(f"{path}: expected {what}, got {names[:200]}: name where it is with `key`")
    assign(module, found, str(path))
    return module


def _by_modality(spec: Spec, modules: Mapping[str, nn.Module]) -> ModalityDict[nn.Module]:
    found = ModalityDict[nn.Module]()
    for name, module in modules.items():
        found[spec.modality(name).name] = module
    return found


def _called(module: nn.Module, what: str, *given: Tensor) -> Any:
    """What a module from outside gives.

    Raises:
        SpecError: it fails; says on what it was called.
    """
    try:
        return module(*given)
    except MolyneuxError:
        raise
    except Exception as error:  # the user's own code may raise anything
        shapes = " and ".join(str(tuple(view.shape)) for view in given)
        raise SpecError(
            f"{what} failed on {shapes}: {type(error).__name__}: {str(error).partition(chr(10))[0]}: expected a module that "
            "takes tensors of this shape"
        ) from error


def _view(modality: Modality, batch: Batch) -> Tensor:
    """Views in the form that models compute with; zeros where a sample lacks the modality."""
    view, mask = views.to_model(modality, batch.views[modality.name]), batch.mask(modality.name)
    return view if bool(mask.all()) else view.where(mask.reshape(-1, *(1,) * len(modality.shape)), torch.zeros_like(view))
