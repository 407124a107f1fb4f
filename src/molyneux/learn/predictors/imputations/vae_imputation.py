"""Imputation of views by a multimodal VAE: what is missing is decoded from the posterior given what is present, then encoded."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

import torch
from torch import Tensor

from molyneux.core import Batch, ConfigError, Loss, Progress, Spec, views
from molyneux.core.config import Factory, Supplied
from molyneux.learn.encoders.by_modality import ModalityDict
from molyneux.learn.encoders.encoding import Encoder, Encoding
from molyneux.learn.files import load_weights
from molyneux.learn.likelihoods import ViewDistribution
from molyneux.learn.predictors.head import TargetHeads
from molyneux.learn.predictors.imputations.imputation import Imputation, Imputer, encoded_stand_in, filled
from molyneux.learn.predictors.objectives.auxiliary import PredictorStep
from molyneux.learn.vaes import MultimodalVAE


@dataclass(frozen=True)
class VAEImputation(Imputation):
    """A missing view is what a multimodal VAE decodes from the mean of its posterior given the views that are present.

    The decoded view (the mean of its distribution, or its most probable symbols) goes through the encoder of the predictor, where
    batch normalisation takes its running statistics for it, which are those of real views, in training too. The
    VAE is given the presence masks, so it sees and learns nothing but what is present, and the loss of the predictor does not
    train it. It comes from one of:

    - a stage of the same training, named `stage`, in which it trains alone; it is fixed in all other stages:
      `learn.stages: [{name: imputation, epochs: 5}, {name: prediction}]`;
    - the same steps as the predictor, where the training has no stages: its loss is added, also to what chooses the best epoch;
    - the `folder` of a trained model. Whether that one was trained on complete samples is not known here: for a study of missing
      modalities, train it with the same `data.missing`.

    Args:
        vae: class and settings; without a prior that is fitted after training.
        stage: name of the stage in which it trains.
        folder: of the model of a run with the same VAE, such as `runs/vae/model`, whose weights it starts with.
    """

    vae: Annotated[Factory[MultimodalVAE], Supplied(("spec",), "molyneux.learn")]
    stage: str = "imputation"
    folder: Path | None = None

    def build(self, spec: Spec, encoders: ModalityDict[Encoder]) -> Imputer:
        """See `Imputation`; raises ConfigError for a fitted prior, and what `load_weights` raises."""
        vae = self.vae.make("vae", spec=replace(spec.restrict(list(encoders)), targets=()))
        if vae.replaces_prior:
            raise ConfigError("vae.init_args.prior: expected none, since codes follow the posterior: leave it out")
        if self.folder is not None:
            load_weights(vae, self.folder)
        return VAEImputer(self, vae, encoders)


class VAEImputer(Imputer):
    """See `VAEImputation`."""

    trained: Tensor

    def __init__(self, settings: VAEImputation, vae: MultimodalVAE, encoders: ModalityDict[Encoder]) -> None:
        super().__init__({name: encoder.encoding_spec for name, encoder in encoders.items()})
        self.vae, self.stage = vae, settings.stage
        self.register_buffer("trained", torch.tensor(settings.folder is not None))

    def forward(
        self,
        encodings: Mapping[str, Encoding],
        encoders: ModalityDict[Encoder],
        batch: Batch | None = None,
        generator: torch.Generator | None = None,
    ) -> dict[str, Encoding]:
        """See `Imputer`."""
        lacking = {name: ~item.present for name, item in encodings.items()}
        rows = torch.stack(list(lacking.values())).any(0)
        if batch is None or not bool(rows.any()):
            return dict(encodings)
        decoded = self.decoded(batch, encodings, rows)
        found = {}
        for name, item in encodings.items():
            wanted = lacking[name][rows]
            if bool(wanted.any()):
                blank = encoders[name].blank(len(rows), like=item.vector)
                stand_in = encoded_stand_in(encoders[name], decoded[name][wanted])
                item = filled(item, stand_in.scattered(lacking[name], blank))
            found[name] = item
        return found

    @torch.no_grad()
    def decoded(self, batch: Batch, encodings: Mapping[str, Encoding], rows: Tensor) -> dict[str, Tensor]:
        """Views in model form of the samples `rows` (B,) bool, decoded from what the encodings say is present."""
        names = [name for name in encodings if name in batch.views]
        seen = Batch(
            {name: batch.views[name] for name in names},
            present={name: encodings[name].present for name in names},
            lengths={name: batch.lengths[name] for name in names if name in batch.lengths},
        )
        training = self.vae.training
        self.vae.eval()
        try:
            distributions = self.vae.decode(self.vae.encode(seen[rows], names).mean)
        finally:
            self.vae.train(training)
        shown = {}
        for name, found in distributions.items():
            assert isinstance(found, ViewDistribution)
            modality = self.vae.spec.modality(name)
            view = found.view
            shown[name] = views.padded(modality, view) if modality.kind == "text" else view
        return shown

    def stage_loss(self, batch: Batch, progress: Progress, generator: torch.Generator | None) -> Loss | None:
        """See `Imputer`."""
        if progress.stage != self.stage or not self.stage:
            self._require_trained(progress)
            return None
        return self._vae_loss(batch, progress, generator)

    def loss(self, step: PredictorStep, answers: TargetHeads) -> Loss | None:
        """See `Imputer`; that of the VAE where the training has no stages."""
        if step.progress.stage:
            return None
        found = self._vae_loss(step.batch, step.progress, step.generator)
        return Loss(found.total, {"imputation": found.total.detach()})

    def _vae_loss(self, batch: Batch, progress: Progress, generator: torch.Generator | None) -> Loss:
        if self.training:
            self.trained = torch.ones_like(self.trained)
        return self.vae.loss(batch, progress, generator)

    def _require_trained(self, progress: Progress) -> None:
        """Raise ConfigError in a stage whose VAE is untrained and stays so."""
        if progress.stage and not bool(self.trained):
            raise ConfigError(
                f"imputation: expected a trained VAE in the stage {progress.stage}, got one that no stage has trained: name a "
                f"stage {self.stage or 'imputation'} before it in learn.stages, or the folder of a trained one"
            )
