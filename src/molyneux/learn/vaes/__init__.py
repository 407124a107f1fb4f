"""Multimodal variational autoencoders, one file per published model."""

from molyneux.learn.vaes.multimodal_vae import MultimodalVAE
from molyneux.learn.vaes.mvae import MVAE
from molyneux.learn.vaes.observation import Observation
from molyneux.learn.vaes.vae import VAE

__all__ = ["MVAE", "VAE", "MultimodalVAE", "Observation"]
