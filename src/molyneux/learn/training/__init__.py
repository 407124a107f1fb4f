"""A model is trained on samples: settings, stages, steps, checkpoints, hardware and logs."""

from typing import TYPE_CHECKING

from molyneux.core.lazy import lazy_names

if TYPE_CHECKING:
    from molyneux.learn.training.settings import Stage, Training
    from molyneux.learn.training.trainer import fit

__all__ = ["Stage", "Training", "fit"]

if not TYPE_CHECKING:
    __getattr__ = lazy_names(__name__)
