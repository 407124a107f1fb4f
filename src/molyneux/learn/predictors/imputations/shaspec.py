"""ShaSpec: a shared and a specific feature of each modality; the shared features of others stand in for a missing modality."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations

import torch
from torch import Tensor, nn
from torch.nn import functional

from molyneux.core import Batch, Loss, Spec
from molyneux.learn.checks import levels_below_zero, refuse, too_small
from molyneux.learn.encoders.by_modality import ModalityDict
from molyneux.learn.encoders.encoding import Encoder, Encoding
from molyneux.learn.predictors.head import TargetHeads
from molyneux.learn.predictors.imputations.imputation import Imputation, Imputer, whole_view, whole_view_spec
from molyneux.learn.predictors.objectives.auxiliary import PredictorStep


@dataclass(frozen=True)
class ShaSpec(Imputation):
    """Wang et al., Multi-modal Learning with Missing Modality via Shared-Specific Feature Modelling (CVPR 2023), section 3.

    Each modality has a specific feature `s_m`, by an encoder of its own, and a shared one `r_m`, by an encoder that all share.
    A present modality becomes `f_m = r_m + P [r_m, s_m]`, a missing one the mean of the shared features of those that are
    present. Distribution alignment makes shared features of a sample alike; domain classification asks of a linear classifier to
    tell the modality from the specific feature.

    Deviations: modalities have different shapes here, so both encoders work on the vectors that the predictor's own encoders
    give, the shared one after a linear layer of each modality; alignment is the mean absolute difference of the shared features
    of every two modalities that a sample has, where the authors' code sums it over neighbouring pairs; and a missing modality
    gets the mean of the shared features that there are, as the paper says, where the code takes the first one. Fusions get `f_m`
    as the only part and layer of a modality. A sample without any modality has none here either.

    Terms: `alignment`, `domain` (cross-entropy in nats) and `domain_accuracy`; 0 of samples that have nothing to compare.

    Args:
        width: numbers of each feature.
        alignment: what distribution alignment counts in the loss; the paper's alpha.
        domain: what domain classification counts; the paper's beta.
    """

    width: int = 128
    alignment: float = 0.1
    domain: float = 0.02

    def __post_init__(self) -> None:
        refuse(too_small(self, "width") + levels_below_zero(alignment=self.alignment, domain=self.domain))

    def build(self, spec: Spec, encoders: ModalityDict[Encoder]) -> Imputer:
        """See `Imputation`."""
        return ShaSpecFeatures(self, encoders)


class ShaSpecFeatures(Imputer):
    """See `ShaSpec`."""

    def __init__(self, settings: ShaSpec, encoders: ModalityDict[Encoder]) -> None:
        width = settings.width
        super().__init__({name: whole_view_spec(name, item.encoding_spec, width) for name, item in encoders.items()})
        self.settings = settings
        self.entries, self.specific = ModalityDict[nn.Linear](), ModalityDict[nn.Module]()
        for name, encoder in encoders.items():
            self.entries[name] = nn.Linear(encoder.vector, width)
            self.specific[name] = _mlp(encoder.vector, width)
        self.shared = nn.Sequential(nn.ReLU(), nn.Linear(width, width))
        self.projection = nn.Linear(2 * width, width)
        self.classifier = nn.Linear(width, len(encoders))

    def forward(
        self,
        encodings: Mapping[str, Encoding],
        encoders: ModalityDict[Encoder],
        batch: Batch | None = None,
        generator: torch.Generator | None = None,
    ) -> dict[str, Encoding]:
        """See `Imputer`."""
        shared, specific = self._features(encodings)
        present = torch.stack([item.present for item in encodings.values()], 1)
        among = torch.stack([shared[name] for name in encodings], 1) * present.unsqueeze(2)
        mean = among.sum(1) / present.sum(1, keepdim=True).clamp(min=1)
        found = {}
        for name, item in encodings.items():
            own = shared[name] + self.projection(torch.cat([shared[name], specific[name]], 1))
            found[name] = whole_view(own.where(item.present.unsqueeze(1), mean), present.any(1))
        return found

    def loss(self, step: PredictorStep, answers: TargetHeads) -> Loss | None:
        """See `Imputer`; from what the samples have, whatever modality dropout hid."""
        shared, specific = self._features(step.encodings)
        alignment = self._alignment(shared, step.encodings)
        entropy, right = self._domain(specific, step.encodings)
        total = self.settings.alignment * alignment + self.settings.domain * entropy
        return Loss(total, {"alignment": alignment.detach(), "domain": entropy.detach(), "domain_accuracy": right})

    def _features(self, encodings: Mapping[str, Encoding]) -> tuple[dict[str, Tensor], dict[str, Tensor]]:
        """Shared and specific features, (B, W) each; meaningless where a modality is absent."""
        shared = {name: self.shared(self.entries[name](item.vector)) for name, item in encodings.items()}
        return shared, {name: self.specific[name](item.vector) for name, item in encodings.items()}

    def _alignment(self, shared: Mapping[str, Tensor], encodings: Mapping[str, Encoding]) -> Tensor:
        """The mean over samples and pairs of modalities that a sample has, ()."""
        total, count = torch.zeros_like(next(iter(shared.values()))[0, 0]).float(), torch.zeros(())
        for first, second in combinations(shared, 2):
            both = encodings[first].present & encodings[second].present
            distance = (shared[first].float() - shared[second].float()).abs().mean(1)
            total, count = total + (distance * both).sum(), count.to(total) + both.sum()
        return total / count.to(total).clamp(min=1)

    def _domain(self, specific: Mapping[str, Tensor], encodings: Mapping[str, Encoding]) -> tuple[Tensor, Tensor]:
        """Cross-entropy and accuracy of the classifier over all present views, () each."""
        logits = torch.cat([self.classifier(item) for item in specific.values()]).float()
        sizes = [len(item) for item in specific.values()]
        truth = torch.arange(len(sizes), device=logits.device).repeat_interleave(torch.tensor(sizes, device=logits.device))
        present = torch.cat([encodings[name].present for name in specific])
        share = present.float() / present.sum().clamp(min=1)
        entropy = functional.cross_entropy(logits, truth, reduction="none")
        return (entropy * share).sum(), ((logits.argmax(1) == truth) * share).sum().detach()


def _mlp(inputs: int, width: int) -> nn.Module:
    return nn.Sequential(nn.Linear(inputs, width), nn.ReLU(), nn.Linear(width, width))
