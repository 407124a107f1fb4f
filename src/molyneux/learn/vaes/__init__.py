"""Autoencoders, multimodal and of one modality, one file per published model."""

from molyneux.learn.vaes.autoencoder import Autoencoder, SharedSettings, reporting
from molyneux.learn.vaes.crmvae import CRMVAE
from molyneux.learn.vaes.cvae import CVAE
from molyneux.learn.vaes.dmvae import DMVAE
from molyneux.learn.vaes.hsvae import HSVAE
from molyneux.learn.vaes.jmvae import JMVAE
from molyneux.learn.vaes.jnf import JNF
from molyneux.learn.vaes.joint_encoder import JointEncoder, JointEncoderVAE
from molyneux.learn.vaes.mhvae import MHVAE
from molyneux.learn.vaes.mld import MLD
from molyneux.learn.vaes.mmvae import MMVAE
from molyneux.learn.vaes.mopoe import MoPoE
from molyneux.learn.vaes.multimodal import MultimodalSettings, MultimodalVAE, StackedPosteriors
from molyneux.learn.vaes.mvae import MVAE
from molyneux.learn.vaes.networks import Networks, Observation
from molyneux.learn.vaes.nexus import Nexus
from molyneux.learn.vaes.telbo import TELBO
from molyneux.learn.vaes.unimodal import AE, VAE, Aggressive, UnimodalAutoencoder

__all__ = [
    "AE",
    "CRMVAE",
    "CVAE",
    "DMVAE",
    "HSVAE",
    "JMVAE",
    "JNF",
    "MHVAE",
    "MLD",
    "MMVAE",
    "MVAE",
    "TELBO",
    "VAE",
    "Aggressive",
    "Autoencoder",
    "JointEncoder",
    "JointEncoderVAE",
    "MoPoE",
    "MultimodalSettings",
    "MultimodalVAE",
    "Networks",
    "Nexus",
    "Observation",
    "SharedSettings",
    "StackedPosteriors",
    "UnimodalAutoencoder",
    "reporting",
]
