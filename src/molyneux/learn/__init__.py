"""Samples become a trained model."""

from molyneux.learn.files import load_batch, load_config, load_spec, load_weights, save_batch, save_model
from molyneux.learn.history import History
from molyneux.learn.progress import FitProgress
from molyneux.learn.trainer import fit
from molyneux.learn.training import Training

__all__ = [
    "FitProgress",
    "History",
    "Training",
    "fit",
    "load_batch",
    "load_config",
    "load_spec",
    "load_weights",
    "save_batch",
    "save_model",
]
