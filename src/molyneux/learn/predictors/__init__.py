"""Models that predict targets: encoders, a fusion or a joining of picture and text, one file per published model, and a head."""

from typing import TYPE_CHECKING

from molyneux.core.lazy import lazy_names

if TYPE_CHECKING:
    from molyneux.learn.predictors.architectures import ARCHITECTURES, Architecture, multizoo
    from molyneux.learn.predictors.attention import Attention
    from molyneux.learn.predictors.co_attention import CoAttention
    from molyneux.learn.predictors.compact_bilinear import CompactBilinear
    from molyneux.learn.predictors.concept_modules import ConceptModules
    from molyneux.learn.predictors.constant import Constant
    from molyneux.learn.predictors.film import FiLM
    from molyneux.learn.predictors.fusion_predictor import FusionPredictor
    from molyneux.learn.predictors.head import PAPER_HEAD, Head, TargetHeads
    from molyneux.learn.predictors.joined_vectors import JoinedVectors
    from molyneux.learn.predictors.joint_transformer import JointTransformer
    from molyneux.learn.predictors.mac import MAC
    from molyneux.learn.predictors.neural_modules import NeuralModules
    from molyneux.learn.predictors.objectives.auxiliary import AuxiliaryLoss, AuxiliaryObjective, PredictorStep, UnimodalHeads
    from molyneux.learn.predictors.objectives.canonical_correlation import CanonicalCorrelation
    from molyneux.learn.predictors.objectives.functional_entropy import RMFE
    from molyneux.learn.predictors.objectives.gradient_modulation import OGMGE
    from molyneux.learn.predictors.picture_in_lstm import PictureInLSTM
    from molyneux.learn.predictors.predictor import Inputs, JoiningPredictor, PictureTextPredictor, Predictor
    from molyneux.learn.predictors.published import initialise
    from molyneux.learn.predictors.relation_network import RelationNetwork
    from molyneux.learn.predictors.stacked_attention import StackedAttention
    from molyneux.learn.predictors.structures.cyclic_translation import MCTN
    from molyneux.learn.predictors.structures.gradient_blending import Blending, GradientBlending
    from molyneux.learn.predictors.subset_predictors import SubsetPredictors
    from molyneux.learn.predictors.unimodal import PictureOnly, TextOnly
    from molyneux.learn.predictors.vae_agreement import VAEAgreement

__all__ = [
    "ARCHITECTURES",
    "MAC",
    "MCTN",
    "OGMGE",
    "PAPER_HEAD",
    "RMFE",
    "Architecture",
    "Attention",
    "AuxiliaryLoss",
    "AuxiliaryObjective",
    "Blending",
    "CanonicalCorrelation",
    "CoAttention",
    "CompactBilinear",
    "ConceptModules",
    "Constant",
    "FiLM",
    "FusionPredictor",
    "GradientBlending",
    "Head",
    "Inputs",
    "JoinedVectors",
    "JoiningPredictor",
    "JointTransformer",
    "NeuralModules",
    "PictureInLSTM",
    "PictureOnly",
    "PictureTextPredictor",
    "Predictor",
    "PredictorStep",
    "RelationNetwork",
    "StackedAttention",
    "SubsetPredictors",
    "TargetHeads",
    "TextOnly",
    "UnimodalHeads",
    "VAEAgreement",
    "initialise",
    "multizoo",
]

if not TYPE_CHECKING:
    __getattr__ = lazy_names(__name__)
