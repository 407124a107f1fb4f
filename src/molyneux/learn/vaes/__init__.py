"""Autoencoders, multimodal and of one modality, one file per published model."""

from molyneux.learn.vaes.autoencoder import Autoencoder, SharedSettings, reporting
from molyneux.learn.vaes.dmvae import DMVAE
from molyneux.learn.vaes.hsvae import HSVAE
from molyneux.learn.vaes.mmvae import MMVAE
from molyneux.learn.vaes.mopoe import MoPoE
from molyneux.learn.vaes.multimodal import MultimodalSettings, MultimodalVAE
from molyneux.learn.vaes.mvae import MVAE
from molyneux.learn.vaes.networks import Networks, Observation
from molyneux.learn.vaes.stacked import CrossCodes, StackedPosteriors
from molyneux.learn.vaes.unimodal import AE, VAE, Aggressive, UnimodalAutoencoder

__all__ = [
    "AE",
    "DMVAE",
    "HSVAE",
    "MMVAE",
    "MVAE",
    "VAE",
    "Aggressive",
    "Autoencoder",
    "CrossCodes",
    "MoPoE",
    "MultimodalSettings",
    "MultimodalVAE",
    "Networks",
    "Observation",
    "SharedSettings",
    "StackedPosteriors",
    "UnimodalAutoencoder",
    "reporting",
]
