"""A model is trained on samples: settings, stages, steps, checkpoints, hardware and logs."""

from molyneux.learn.training.settings import Stage, Training
from molyneux.learn.training.trainer import fit

__all__ = ["Stage", "Training", "fit"]
