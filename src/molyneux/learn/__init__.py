"""Samples become a trained model."""

from typing import TYPE_CHECKING

from molyneux.core.lazy import lazy_names

if TYPE_CHECKING:
    from molyneux.core import History
    from molyneux.learn.files import load_batch, load_config, load_spec, load_weights, save_batch, save_model
    from molyneux.learn.judges import Judge, load_judge, shipped_judges, train_judge
    from molyneux.learn.outside import WrappedAutoencoder, WrappedEncoder, WrappedPredictor, load_state
    from molyneux.learn.predictors import (
        MAC,
        MCTN,
        Attention,
        CoAttention,
        CompactBilinear,
        ConceptModules,
        Constant,
        FiLM,
        FusionPredictor,
        GradientBlending,
        JoinedVectors,
        JointTransformer,
        NeuralModules,
        PictureInLSTM,
        PictureOnly,
        Predictor,
        RelationNetwork,
        StackedAttention,
        SubsetPredictors,
        TextOnly,
        VAEAgreement,
    )
    from molyneux.learn.pretrained import Answerer, DualEncoder, ImageTextMatcher, PictureTextModel
    from molyneux.learn.representations import ContrastiveEncoders, MaskedTransformer
    from molyneux.learn.training import Stage, Training
    from molyneux.learn.training.fit_progress import FitProgress
    from molyneux.learn.training.hardware import keep_freed_memory, precision_of
    from molyneux.learn.training.post_fit import post_fit_precision
    from molyneux.learn.training.stacking import StackMember, fit_stacked
    from molyneux.learn.training.start import start_from
    from molyneux.learn.training.trainer import fit
    from molyneux.learn.vaes import (
        AE,
        CMVAE,
        CRMVAE,
        CVAE,
        DMVAE,
        HELVAE,
        HSVAE,
        IDMVAE,
        JMVAE,
        JNF,
        MHVAE,
        MLD,
        MMJSD,
        MMVAE,
        MMVM,
        MVAE,
        MVTCAE,
        TELBO,
        VAE,
        CoDEVAE,
        GPoE,
        MMVAEPlus,
        MoPoE,
        MultimodalVAE,
        Nexus,
    )

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
    "MAC",
    "MCTN",
    "MHVAE",
    "MLD",
    "MMJSD",
    "MMVAE",
    "MMVM",
    "MVAE",
    "MVTCAE",
    "TELBO",
    "VAE",
    "Answerer",
    "Attention",
    "CoAttention",
    "CoDEVAE",
    "CompactBilinear",
    "ConceptModules",
    "Constant",
    "ContrastiveEncoders",
    "DualEncoder",
    "FiLM",
    "FitProgress",
    "FusionPredictor",
    "GPoE",
    "GradientBlending",
    "History",
    "ImageTextMatcher",
    "JoinedVectors",
    "JointTransformer",
    "Judge",
    "MMVAEPlus",
    "MaskedTransformer",
    "MoPoE",
    "MultimodalVAE",
    "NeuralModules",
    "Nexus",
    "PictureInLSTM",
    "PictureOnly",
    "PictureTextModel",
    "Predictor",
    "RelationNetwork",
    "StackMember",
    "StackedAttention",
    "Stage",
    "SubsetPredictors",
    "TextOnly",
    "Training",
    "VAEAgreement",
    "WrappedAutoencoder",
    "WrappedEncoder",
    "WrappedPredictor",
    "fit",
    "fit_stacked",
    "keep_freed_memory",
    "load_batch",
    "load_config",
    "load_judge",
    "load_spec",
    "load_state",
    "load_weights",
    "post_fit_precision",
    "precision_of",
    "save_batch",
    "save_model",
    "shipped_judges",
    "start_from",
    "train_judge",
]

PUBLIC_PATHS = {
    "molyneux.learn.diffusion_fit.ExPostDiffusion": "molyneux.learn.diffusion.ExPostDiffusion",
    "molyneux.learn.flow_priors.ExPostFlow": "molyneux.learn.priors.ExPostFlow",
    "molyneux.learn.imputations": "molyneux.learn.predictors.imputations",
    "molyneux.learn.nets": "molyneux.learn.encoders.nets",
    "molyneux.learn.predictors.BagOfWords": "molyneux.learn.encoders.BagOfWords",
    "molyneux.learn.predictors.NetVector": "molyneux.learn.encoders.NetVector",
    "molyneux.learn.predictors.OutlinesAndColours": "molyneux.learn.encoders.OutlinesAndColours",
    "molyneux.learn.predictors.PaperCNN": "molyneux.learn.encoders.PaperCNN",
    "molyneux.learn.predictors.PixelPatches": "molyneux.learn.encoders.PixelPatches",
    "molyneux.learn.predictors.RecurrentWords": "molyneux.learn.encoders.RecurrentWords",
    "molyneux.learn.predictors.StridedCNN": "molyneux.learn.encoders.StridedCNN",
    "molyneux.learn.predictors.SymbolTrees": "molyneux.learn.encoders.SymbolTrees",
    "molyneux.learn.predictors.encoders": "molyneux.learn.encoders",
    "molyneux.learn.private_priors.ConditionalFlow": "molyneux.learn.priors.ConditionalFlow",
    "molyneux.learn.private_priors.ConditionalMixture": "molyneux.learn.priors.ConditionalMixture",
    "molyneux.learn.private_priors.ConditionalNormal": "molyneux.learn.priors.ConditionalNormal",
}
"""Paths by which settings, runs and records name classes, and where these are: see `core.classes.public_path`."""

if not TYPE_CHECKING:
    __getattr__ = lazy_names(__name__)
