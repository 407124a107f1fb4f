"""Autoencoders, multimodal and of one modality, one file per published model."""

from typing import TYPE_CHECKING

from molyneux.core.lazy import lazy_names

if TYPE_CHECKING:
    from molyneux.learn.vaes.autoencoder import Autoencoder, SharedSettings, reporting
    from molyneux.learn.vaes.cmvae import CMVAE
    from molyneux.learn.vaes.codevae import CoDEVAE
    from molyneux.learn.vaes.crmvae import CRMVAE
    from molyneux.learn.vaes.cvae import CVAE
    from molyneux.learn.vaes.dmvae import DMVAE
    from molyneux.learn.vaes.gpoe import GPoE
    from molyneux.learn.vaes.helvae import HELVAE
    from molyneux.learn.vaes.hsvae import HSVAE
    from molyneux.learn.vaes.idmvae import IDMVAE
    from molyneux.learn.vaes.jmvae import JMVAE
    from molyneux.learn.vaes.jnf import JNF
    from molyneux.learn.vaes.joint_encoder import JointEncoder, JointEncoderVAE
    from molyneux.learn.vaes.mhvae import MHVAE
    from molyneux.learn.vaes.mld import MLD
    from molyneux.learn.vaes.mmjsd import MMJSD
    from molyneux.learn.vaes.mmvae import MMVAE
    from molyneux.learn.vaes.mmvae_plus import MMVAEPlus
    from molyneux.learn.vaes.mmvm import MMVM
    from molyneux.learn.vaes.mopoe import MoPoE
    from molyneux.learn.vaes.multimodal import MultimodalSettings, MultimodalVAE
    from molyneux.learn.vaes.mvae import MVAE
    from molyneux.learn.vaes.mvtcae import MVTCAE
    from molyneux.learn.vaes.networks import Networks, Observation
    from molyneux.learn.vaes.nexus import Nexus
    from molyneux.learn.vaes.stacked import CrossCodes, StackedPosteriors
    from molyneux.learn.vaes.subsets import Subsets
    from molyneux.learn.vaes.telbo import TELBO
    from molyneux.learn.vaes.unimodal import AE, VAE, Aggressive, PointAutoencoder, UnimodalAutoencoder

__all__ = [
    "AE",
    "CMVAE",
    "CRMVAE",
    "CVAE",
    "DMVAE",
    "HELVAE",
    "HSVAE",
    "IDMVAE",
    "JMVAE",
    "JNF",
    "MHVAE",
    "MLD",
    "MMJSD",
    "MMVAE",
    "MMVM",
    "MVAE",
    "MVTCAE",
    "TELBO",
    "VAE",
    "Aggressive",
    "Autoencoder",
    "CoDEVAE",
    "CrossCodes",
    "GPoE",
    "JointEncoder",
    "JointEncoderVAE",
    "MMVAEPlus",
    "MoPoE",
    "MultimodalSettings",
    "MultimodalVAE",
    "Networks",
    "Nexus",
    "Observation",
    "PointAutoencoder",
    "SharedSettings",
    "StackedPosteriors",
    "Subsets",
    "UnimodalAutoencoder",
    "reporting",
]

if not TYPE_CHECKING:
    __getattr__ = lazy_names(__name__)
