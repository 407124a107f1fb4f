"""Samples become a trained model."""

from molyneux.core import History
from molyneux.learn.files import load_batch, load_config, load_spec, load_weights, save_batch, save_model
from molyneux.learn.hardware import keep_freed_memory
from molyneux.learn.judges import Judge, load_judge, shipped_judges, train_judge
from molyneux.learn.outside import WrappedAutoencoder, WrappedEncoder, WrappedPredictor, load_state
from molyneux.learn.predictors import (
    MAC,
    Attention,
    CoAttention,
    CompactBilinear,
    ConceptModules,
    Constant,
    FiLM,
    FusionPredictor,
    JoinedVectors,
    JointTransformer,
    NeuralModules,
    PictureInLSTM,
    PictureOnly,
    Predictor,
    RelationNetwork,
    StackedAttention,
    TextOnly,
    VAEAgreement,
)
from molyneux.learn.pretrained import Answerer, DualEncoder, ImageTextMatcher, PictureTextModel
from molyneux.learn.trainer import FitProgress, fit
from molyneux.learn.training import Stage, Training
from molyneux.learn.vaes import AE, DMVAE, HSVAE, MMVAE, MVAE, VAE, MoPoE, MultimodalVAE

__all__ = [
    "AE",
    "DMVAE",
    "HSVAE",
    "MAC",
    "MMVAE",
    "MVAE",
    "VAE",
    "Answerer",
    "Attention",
    "CoAttention",
    "CompactBilinear",
    "ConceptModules",
    "Constant",
    "DualEncoder",
    "FiLM",
    "FitProgress",
    "FusionPredictor",
    "History",
    "ImageTextMatcher",
    "JoinedVectors",
    "JointTransformer",
    "Judge",
    "MoPoE",
    "MultimodalVAE",
    "NeuralModules",
    "PictureInLSTM",
    "PictureOnly",
    "PictureTextModel",
    "Predictor",
    "RelationNetwork",
    "StackedAttention",
    "Stage",
    "TextOnly",
    "Training",
    "VAEAgreement",
    "WrappedAutoencoder",
    "WrappedEncoder",
    "WrappedPredictor",
    "fit",
    "keep_freed_memory",
    "load_batch",
    "load_config",
    "load_judge",
    "load_spec",
    "load_state",
    "load_weights",
    "save_batch",
    "save_model",
    "shipped_judges",
    "train_judge",
]
