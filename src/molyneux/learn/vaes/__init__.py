"""Autoencoders, multimodal and of one modality, one file per published model."""

from molyneux.learn.vaes.ae import AE
from molyneux.learn.vaes.aggressive import Aggressive
from molyneux.learn.vaes.autoencoder import Autoencoder
from molyneux.learn.vaes.dmvae import DMVAE
from molyneux.learn.vaes.hsvae import HSVAE
from molyneux.learn.vaes.mmvae import MMVAE
from molyneux.learn.vaes.mopoe import MoPoE
from molyneux.learn.vaes.multimodal_vae import MultimodalVAE
from molyneux.learn.vaes.mvae import MVAE
from molyneux.learn.vaes.observation import Observation
from molyneux.learn.vaes.unimodal import UnimodalAutoencoder
from molyneux.learn.vaes.vae import VAE

__all__ = [
    "AE",
    "DMVAE",
    "HSVAE",
    "MMVAE",
    "MVAE",
    "VAE",
    "Aggressive",
    "Autoencoder",
    "MoPoE",
    "MultimodalVAE",
    "Observation",
    "UnimodalAutoencoder",
]
