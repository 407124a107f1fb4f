"""Samples become a trained model."""

from molyneux.learn.files import load_batch, load_config, load_spec, load_weights, save_batch, save_model
from molyneux.learn.history import History
from molyneux.learn.judges import Judge, load_judge, shipped_judges, train_judge
from molyneux.learn.progress import FitProgress
from molyneux.learn.trainer import fit
from molyneux.learn.training import Training
from molyneux.learn.vaes import AE, DMVAE, HSVAE, MMVAE, MVAE, VAE, MoPoE, MultimodalVAE

__all__ = [
    "AE",
    "DMVAE",
    "HSVAE",
    "MMVAE",
    "MVAE",
    "VAE",
    "FitProgress",
    "History",
    "Judge",
    "MoPoE",
    "MultimodalVAE",
    "Training",
    "fit",
    "load_batch",
    "load_config",
    "load_judge",
    "load_spec",
    "load_weights",
    "save_batch",
    "save_model",
    "shipped_judges",
    "train_judge",
]
