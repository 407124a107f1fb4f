"""An encoder for each modality, trained so that what belongs together has like codes, and nothing else."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from itertools import combinations
from typing import Annotated, ClassVar, final

import torch
from torch import Tensor, nn
from torch.nn import functional

from molyneux.core import Batch, DataError, Loss, NotApplicableError, Posterior, Progress, Spec, nearest
from molyneux.core.tooling.classes import ADDED
from molyneux.learn.checks import refuse
from molyneux.learn.encoders.by_modality import ModalityDict
from molyneux.learn.encoders.encoding import read_view
from molyneux.learn.encoders.nets import Net, default_net
from molyneux.learn.objectives.contrast import bounded_scale, info_nce, temperature_problems
from molyneux.learn.posteriors import Point


@final
class ContrastiveEncoders(nn.Module):
    """Encoders whose codes are alike for views of the same sample: Radford et al., CLIP (ICML 2021), figure 3.

    The loss is the mean over pairs of modalities of InfoNCE (Oord et al., 2018, equation 4): by its code each view finds the
    other view of its sample among those of the whole batch. Codes have length 1; the logits are their inner products, multiplied
    by a scale that is learned and stays in 1..100. Samples that have only one of the two modalities teach nothing. Nothing is
    decoded.

    Satisfies `core.Trainable`, `Encodes` and `Representation`.

    Args:
        spec: what the batches look like; two modalities at least.
        latent_dim: numbers of a code.
        nets: by modality, of which only encoders are used; the default of its kind for what is not named.
        temperature: of the logits at the start of the training.
        negatives_differ_in: a factor; a sample is not compared with others that have the same value of it, which would be pushed
            away although they are of one kind. None compares each sample with all others of its batch.

    Raises:
        ConfigError: settings that cannot be used, all problems at once.
        SpecError: a net that does not fit its modality.
    """

    whole_batch: ClassVar[str] = "a contrastive loss"
    """What of the loss is no mean over samples: see `objectives.Criterion`."""

    def __init__(
        self,
        spec: Spec,
        *,
        latent_dim: int = 32,
        nets: Mapping[str, Net] | None = None,
        temperature: float = 0.2,
        negatives_differ_in: Annotated[str | None, ADDED] = None,
    ) -> None:
        super().__init__()
        nets = nets or {}
        problems = [] if latent_dim >= 1 else [f"latent_dim: expected at least 1, got {latent_dim}"]
        problems += temperature_problems(temperature)
        problems += [f"nets: no modality {name!r}; {nearest(name, spec.names)}" for name in nets if name not in spec.names]
        if len(spec.modalities) < 2:
            problems.append(f"ContrastiveEncoders compares modalities: expected two or more, got {', '.join(spec.names)}")
        factors = [factor.name for factor in spec.factors]
        if negatives_differ_in is not None and negatives_differ_in not in factors:
            problems.append(f"negatives_differ_in: no factor {negatives_differ_in!r}; {nearest(negatives_differ_in, factors)}")
        refuse(problems)
        self.spec, self.latent_dim = spec, latent_dim
        self.kind = None if negatives_differ_in is None else spec.factor_index(negatives_differ_in)
        self.encoders = ModalityDict[nn.Module]()
        for modality in spec.modalities:
            net = nets.get(modality.name) or default_net(modality)
            net.check_code(modality, one_random=False)
            self.encoders[modality.name] = net.encoder(modality, latent_dim)
        self.log_scale = nn.Parameter(torch.tensor(-math.log(temperature)))

    def codes(self, batch: Batch, name: str) -> Tensor:
        """Codes of one modality, (B, latent_dim), of length 1; meaningless where it is absent."""
        view, lengths = read_view(batch, self.spec, name), batch.lengths.get(name)
        raw: Tensor = self.encoders[name](view) if lengths is None else self.encoders[name](view, lengths)
        return functional.normalize(raw.float(), dim=1)

    def loss(self, batch: Batch, progress: Progress, generator: torch.Generator | None = None) -> Loss:
        """The mean of InfoNCE over pairs of modalities, nats; see `core.Trainable`. Terms: `contrast.<first>.<second>`.

        Raises:
            DataError: a batch without factors where negatives differ in one.
        """
        batch.check(self.spec)
        compared = torch.stack([batch.mask(name) for name in self.spec.names]).sum(0) >= 2
        compared &= compared.sum() > 1  # one alone costs nothing, and layers that normalise over samples refuse it
        batch, scale, terms = batch[compared], bounded_scale(self.log_scale), dict[str, Tensor]()
        codes = {name: self.codes(batch, name) for name in self.spec.names}
        kinds = self._kinds(batch)
        for first, second in combinations(self.spec.names, 2):
            both = batch.mask(first) & batch.mask(second)
            alike = None if kinds is None else kinds[both]
            terms[f"contrast.{first}.{second}"] = info_nce(codes[first][both], codes[second][both], scale, alike)
        total = torch.stack(list(terms.values())).mean()
        return Loss(total, {**{name: term.detach() for name, term in terms.items()}, "temperature": 1.0 / scale.detach()})

    def _kinds(self, batch: Batch) -> Tensor | None:
        """Values (B,) of the factor in which negatives differ; None where any other sample is one."""
        if self.kind is None:
            return None
        if batch.factors is None:
            raise DataError(
                f"negatives_differ_in: expected a batch with the factor {self.spec.factors[self.kind].name}, got none"
            )
        return batch.factors[:, self.kind]

    def encode(self, batch: Batch, observed: Collection[str] | None = None) -> Posterior:
        """A point: the mean of the codes of what is observed, of length 1 for one modality; see `core.Encodes`.

        Raises:
            NotApplicableError: no modality is observed, for which there is no prior. SpecError: a name that the spec lacks.
        """
        chosen = batch.views if observed is None else [self.spec.modality(name).name for name in observed]
        names = tuple(name for name in self.spec.names if name in chosen)
        if not names:
            raise NotApplicableError("ContrastiveEncoders has no prior: observe at least one modality")
        batch.check(self.spec.restrict(names))
        present = torch.stack([batch.mask(name) for name in names]).unsqueeze(-1)
        codes = torch.stack([self.codes(batch, name) for name in names])
        weight = present.to(codes)
        return Posterior(Point((codes * weight).sum(0) / weight.sum(0).clamp(min=1.0)))

    def represent(self, batch: Batch, observed: Collection[str] | None = None) -> dict[str, Tensor]:
        """The codes; see `core.Representation`."""
        return {"shared": self.encode(batch, observed).mean.shared}
