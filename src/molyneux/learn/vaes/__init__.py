"""Multimodal variational autoencoders, one file per published model."""

from molyneux.learn.vaes.dmvae import DMVAE
from molyneux.learn.vaes.mmvae import MMVAE
from molyneux.learn.vaes.mopoe import MoPoE
from molyneux.learn.vaes.multimodal_vae import MultimodalVAE
from molyneux.learn.vaes.mvae import MVAE
from molyneux.learn.vaes.observation import Observation
from molyneux.learn.vaes.vae import VAE

__all__ = ["DMVAE", "MMVAE", "MVAE", "VAE", "MoPoE", "MultimodalVAE", "Observation"]
