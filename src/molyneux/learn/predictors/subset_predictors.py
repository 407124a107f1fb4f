"""SubsetPredictors: a predictor for every subset of the modalities, the ceiling for methods that serve all with one model."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations

import torch
from torch import Tensor, nn
from torch.distributions import Bernoulli, Categorical, Distribution, Independent, Normal

from molyneux.core import Batch, ConfigError, Loss, Progress, Spec
from molyneux.learn.encoders.encoding import ViewEncoder
from molyneux.learn.fusion.fusion import Fusion
from molyneux.learn.fusion.pooled import Concatenation
from molyneux.learn.predictors.constant import Constant
from molyneux.learn.predictors.fusion_predictor import FusionPredictor
from molyneux.learn.predictors.head import Head
from molyneux.learn.predictors.predictor import Predictor, target_loss

FUSION, HEAD = Concatenation(), Head()
Answered = tuple[Tensor, Mapping[str, Distribution]]
"""Some samples, (B,) bool of a batch, and their distributions by target."""


class SubsetPredictors(Predictor):
    """A `FusionPredictor` of its own for every subset of the modalities; each sample is answered by that of what it has.

    Nothing is imputed and nothing is shared, so it shows what the samples of each subset allow with these encoders and this
    fusion; it costs 2^M - 1 models. The predictor of a subset trains on every sample that has at least these modalities, and is
    given no others. A sample without any modality gets the distribution of the targets in training (`Constant`). All train in one
    run; the loss is the sum of theirs, of which none depends on the parameters of another, and the best epoch is one for all.

    Terms of the loss: those of the answers to all samples, and `loss.<modalities>` of each subset.

    Args:
        spec: see `Predictor`.
        encoders: see `FusionPredictor`.
        fusion: of the predictors of several modalities; those of a single one have its vector.
        head: see `Head`.
        modalities: which are read; all of them by default.
        most: the largest number of predictors.

    Raises:
        ConfigError: as `FusionPredictor`, or more subsets than `most`. SpecError: as `FusionPredictor`.
    """

    def __init__(
        self,
        spec: Spec,
        *,
        encoders: Mapping[str, ViewEncoder] | None = None,
        fusion: Fusion = FUSION,
        head: Head = HEAD,
        modalities: tuple[str, ...] = (),
        most: int = 15,
    ) -> None:
        super().__init__(spec)
        names = tuple(modalities) or spec.names
        if (count := 2 ** len(names) - 1) > most:
            raise ConfigError(f"most: expected at least {count}, the subsets of {len(names)} modalities, got {most}: name fewer")
        self.subsets = tuple(subset for size in range(1, len(names) + 1) for subset in combinations(names, size))
        made = list[FusionPredictor]()
        for subset in self.subsets:
            own = {key: item for key, item in (encoders or {}).items() if key in subset or key not in spec.names}
            joined = fusion if len(subset) > 1 else FUSION
            made.append(FusionPredictor(spec, encoders=own, fusion=joined, head=head, modalities=subset))
        self.predictors = nn.ModuleList(made)
        self.nothing = Constant(spec)
        self.names, self.widest = names, max(item.fusion.features for item in made)

    def predict(self, batch: Batch, observed: Collection[str] | None = None) -> dict[str, Distribution]:
        """See `core.Predicts`."""
        parts = [(rows, model.predict(_only(batch, rows, model.reads))) for rows, model in self._shares(batch, observed)]
        return self._together(parts, batch, self._present(batch, observed))

    def features(self, batch: Batch, observed: Collection[str] | None = None) -> Tensor:
        """The features of the predictor that answers, of steps their mean, with zeros up to the widest; (B, F)."""
        like = next(self.parameters())
        found = torch.zeros(len(batch), self.widest, device=like.device)
        for rows, model in self._shares(batch, observed):
            features = model.represent(_only(batch, rows, model.reads))["shared"]
            found[rows] = nn.functional.pad(features, (0, self.widest - features.shape[1]))
        return found

    def loss(self, batch: Batch, progress: Progress, generator: torch.Generator | None = None) -> Loss:
        """See `SubsetPredictors`."""
        self.check_targets(batch)
        present, total = self._present(batch), self.nothing.loss(batch, progress, generator).total
        terms, parts = {}, list[Answered]()
        for subset, model, exact in zip(self.subsets, self.predictors, self._exact(present), strict=True):
            rows = present[:, [self.names.index(name) for name in subset]].all(1)
            if not bool(rows.any()):
                continue
            own = _only(batch, rows, subset)
            assert isinstance(model, FusionPredictor)
            found = model.predict(own)
            part = target_loss(found, own, self.spec).total
            total = total + part
            terms[f"loss.{'.'.join(subset)}"] = part.detach()
            if bool(exact.any()):
                parts.append((exact, {name: _rows(item, exact[rows]) for name, item in found.items()}))
        answers = self._together(parts, batch, present)
        return Loss(total, {**target_loss(answers, batch, self.spec).terms, **terms})

    def _together(self, parts: Sequence[Answered], batch: Batch, present: Tensor) -> dict[str, Distribution]:
        """The answers to all samples of a batch, by target, from those of the predictors and for samples without a modality."""
        rest = ~present.any(1)
        if bool(rest.any()) or not len(batch):
            parts = [*parts, (rest, self.nothing.predict(batch[rest]))]
        return {
            target.name: scattered([(rows, found[target.name]) for rows, found in parts], len(batch))
            for target in self.spec.targets
        }

    def _present(self, batch: Batch, observed: Collection[str] | None = None) -> Tensor:
        """Which samples have which modality, (B, M) bool; raises SpecError for an unknown name."""
        chosen = batch.views if observed is None else [self.spec.modality(name).name for name in observed]
        size, device = len(batch), next(iter(batch.views.values())).device
        none = torch.zeros(size, dtype=torch.bool, device=device)
        return torch.stack([batch.mask(name) if name in chosen and name in batch.views else none for name in self.names], 1)

    def _exact(self, present: Tensor) -> Iterator[Tensor]:
        """By subset, which samples have just these modalities, (B,) bool."""
        for subset in self.subsets:
            wanted = torch.tensor([name in subset for name in self.names], device=present.device)
            yield (present == wanted).all(1)

    def _shares(self, batch: Batch, observed: Collection[str] | None) -> Iterator[tuple[Tensor, FusionPredictor]]:
        """The samples that a predictor answers, (B,) bool, and it; those that answer any."""
        for rows, model in zip(self._exact(self._present(batch, observed)), self.predictors, strict=True):
            assert isinstance(model, FusionPredictor)
            if bool(rows.any()):
                yield rows, model


def _only(batch: Batch, rows: Tensor, names: Sequence[str]) -> Batch:
    """Some samples with only these modalities, which all of them have."""
    some = batch[rows]
    return replace(
        some,
        views={name: some.views[name] for name in names},
        present={},
        lengths={name: some.lengths[name] for name in names if name in some.lengths},
    )


def _rows(found: Distribution, rows: Tensor) -> Distribution:
    """The distributions of some samples."""

    def chosen(item: Distribution, name: str) -> Tensor:
        values: Tensor = getattr(item, name)
        return values[rows]

    return _rebuilt(found, chosen)


def scattered(parts: Sequence[tuple[Tensor, Distribution]], size: int) -> Distribution:
    """The distributions of all `size` samples, of those of some at their positions `rows` (size,) bool; each has one."""

    def placed(_: Distribution, name: str) -> Tensor:
        values: list[tuple[Tensor, Tensor]] = [(rows, getattr(_base(found), name)) for rows, found in parts]
        whole = values[0][1].new_zeros(size, *values[0][1].shape[1:])
        for rows, value in values:
            whole = whole.index_put((rows,), value.to(whole.dtype))
        return whole

    return _rebuilt(parts[0][1], placed)


def _base(found: Distribution) -> Distribution:
    return found.base_dist if isinstance(found, Independent) else found


def _rebuilt(found: Distribution, changed: Callable[[Distribution, str], Tensor]) -> Distribution:
    """A distribution of a head (`head.Output`) with changed parameters."""
    if isinstance(found, Independent):
        return Independent(_rebuilt(found.base_dist, changed), found.reinterpreted_batch_ndims, validate_args=False)
    if isinstance(found, Normal):
        return Normal(changed(found, "loc"), changed(found, "scale"), validate_args=False)
    kind = Categorical if isinstance(found, Categorical) else Bernoulli
    return kind(logits=changed(found, "logits"), validate_args=False)
