"""Autoencoders, multimodal and of one modality, one file per published model."""

from molyneux.learn.vaes.autoencoder import Autoencoder, SharedSettings, reporting
from molyneux.learn.vaes.cmvae import CMVAE
from molyneux.learn.vaes.codevae import CoDEVAE
from molyneux.learn.vaes.dmvae import DMVAE
from molyneux.learn.vaes.gpoe import GPoE
from molyneux.learn.vaes.helvae import HELVAE
from molyneux.learn.vaes.hsvae import HSVAE
from molyneux.learn.vaes.mmjsd import MMJSD
from molyneux.learn.vaes.mmvae import MMVAE
from molyneux.learn.vaes.mmvae_plus import MMVAEPlus
from molyneux.learn.vaes.mmvm import MMVM
from molyneux.learn.vaes.mopoe import MoPoE
from molyneux.learn.vaes.multimodal import MultimodalSettings, MultimodalVAE
from molyneux.learn.vaes.mvae import MVAE
from molyneux.learn.vaes.mvtcae import MVTCAE
from molyneux.learn.vaes.networks import Networks, Observation
from molyneux.learn.vaes.stacked import CrossCodes, StackedPosteriors
from molyneux.learn.vaes.subsets import Subsets
from molyneux.learn.vaes.unimodal import AE, VAE, Aggressive, UnimodalAutoencoder

__all__ = [
    "AE",
    "CMVAE",
    "DMVAE",
    "HELVAE",
    "HSVAE",
    "MMJSD",
    "MMVAE",
    "MMVM",
    "MVAE",
    "MVTCAE",
    "VAE",
    "Aggressive",
    "Autoencoder",
    "CoDEVAE",
    "CrossCodes",
    "GPoE",
    "MMVAEPlus",
    "MoPoE",
    "MultimodalSettings",
    "MultimodalVAE",
    "Networks",
    "Observation",
    "SharedSettings",
    "StackedPosteriors",
    "Subsets",
    "UnimodalAutoencoder",
    "reporting",
]
