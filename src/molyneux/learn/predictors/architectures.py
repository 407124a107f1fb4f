"""The architectures of MultiZoo: encoders, fusion and head with the sizes of the published system, by data set and method.

Liang et al., MultiBench (2021), tables 4 to 12 and the published code. `multizoo("av-mnist/lf", spec)` builds one for samples of
the shapes that the data set has; modalities are taken in the order of the spec. The numbers of weights are those of the published
code, but for four things: the factors of low-rank fusion are weights and trained; a target that is a number has one weight more,
its standard deviation; the prior of sensor fusion is no weight; and the refiner of Vision & Touch's RefNet makes the 65,740
numbers of the inputs, where the published one makes 20 more that are compared with nothing (134,858,254 weights in place of
134,898,274). What objectives add, such as decoders, is needed in training alone (`model.objectives`). MCTN has the published
number where all sequences have 300 numbers, to which that code pads them.

Objectives are those of the papers where these have the same weights: MFM has its discrepancy and MVAE its divergence from the
prior. RefNet reconstructs inputs as the published code does, `RefNetReconstruction`: the paper's `RefNet` has fewer weights.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from molyneux.core import ConfigError, Spec, SpecError, nearest
from molyneux.learn.encoders.composed import Projected
from molyneux.learn.encoders.encoding import ViewEncoder
from molyneux.learn.encoders.general import MLP, Identity, Maxout
from molyneux.learn.encoders.nets import Dense, MirroredLeNet, Net, RecurrentSeries
from molyneux.learn.encoders.pictures.convolutional import CAMERA, DEPTH, VGG11, LeNet, PushLayers
from molyneux.learn.encoders.sequences import RecurrentSteps, TransformerSteps
from molyneux.learn.encoders.sounds import ForceConvolution
from molyneux.learn.encoders.videos import Stepwise
from molyneux.learn.fusion.crossmodal import MulT
from molyneux.learn.fusion.early import AtEachStep, EarlyFusion
from molyneux.learn.fusion.fusion import Fusion
from molyneux.learn.fusion.gated import ProductOfExperts
from molyneux.learn.fusion.multiplicative import MultiplicativeInteractions
from molyneux.learn.fusion.nonlocal_gate import NLGate
from molyneux.learn.fusion.pooled import Concatenation
from molyneux.learn.fusion.tensor import LowRank, TensorFusion
from molyneux.learn.predictors.fusion_predictor import FusionPredictor, TargetLoss
from molyneux.learn.predictors.head import Head
from molyneux.learn.predictors.objectives import (
    MFM,
    AuxiliaryObjective,
    CanonicalCorrelation,
    MultiSimilarity,
    RefNetReconstruction,
    SupervisedMVAE,
)
from molyneux.learn.predictors.structures.cyclic_translation import MCTN
from molyneux.learn.predictors.structures.gradient_blending import GradientBlending, UnimodalBranches


@dataclass(frozen=True)
class Architecture:
    """An architecture of the published system.

    Args:
        encoders: of the modalities, in the order of the spec; one for modalities of any number, where there is only one.
        fusion: of the encodings.
        head: of the features.
        modalities: how many the samples have; None for any number.
        beside: how many of the last modalities stand beside a product of experts.
        objectives: what is added to the loss.
        decoders: nets of the modalities for the objectives that have any, in the order of the spec.
        target_weight: see `FusionPredictor`.
        alone: heads of the modalities in gradient blending, in the order of the spec; one for modalities of any number.
    """

    encoders: tuple[ViewEncoder, ...]
    fusion: Fusion
    head: Head
    modalities: int | None = None
    beside: int = 0
    objectives: tuple[AuxiliaryObjective, ...] = ()
    decoders: tuple[Net, ...] = ()
    target_weight: float = 1.0
    alone: tuple[Head, ...] = ()

    def build(self, spec: Spec) -> FusionPredictor:
        """The model for samples of a spec; raises SpecError for another number of modalities."""
        count = len(spec.modalities)
        if self.modalities is not None and self.modalities != count:
            raise SpecError(f"expected samples of {self.modalities} modalities, got {', '.join(spec.names)}: restrict the spec")
        fusion = self.fusion
        if isinstance(fusion, ProductOfExperts) and self.beside:
            fusion = replace(fusion, beside=spec.names[-self.beside :])
        encoders = dict(zip(spec.names, self.encoders * (count if len(self.encoders) == 1 else 1), strict=True))
        if self.alone:
            heads = dict(zip(spec.names, self.alone * (count if len(self.alone) == 1 else 1), strict=True))
            return GradientBlending(spec, encoders=encoders, fusion=fusion, head=self.head, branches=UnimodalBranches(heads))
        decoders = dict(zip(spec.names, self.decoders, strict=False))
        decoding = (MFM, SupervisedMVAE)
        objectives = tuple(replace(item, decoders=decoders) if isinstance(item, decoding) else item for item in self.objectives)
        return FusionPredictor(
            spec, encoders=encoders, fusion=fusion, head=self.head, objectives=objectives, targets=TargetLoss(self.target_weight)
        )


@dataclass(frozen=True)
class CyclicTranslationNet:
    """A cyclic translation of sequences of the published system, from the last modality to one or two others.

    Args:
        hidden: units of the recurrent layers.
        head: of the joint representation.
    """

    hidden: int
    head: Head

    def build(self, spec: Spec) -> MCTN:
        """The model for samples of a spec; raises ConfigError for other modalities than two or three sequences of numbers."""
        return MCTN(spec, source=spec.names[-1], targets=spec.names[:-1], hidden=self.hidden, head=self.head)


def multizoo(name: str, spec: Spec) -> FusionPredictor | MCTN:
    """The published architecture of a name in `ARCHITECTURES`, for samples of a spec.

    Raises:
        ConfigError: there is none of that name. SpecError: the samples have other modalities.
    """
    if name not in ARCHITECTURES:
        raise ConfigError(f"unknown architecture {name!r}; {nearest(name, ARCHITECTURES)}")
    return ARCHITECTURES[name].build(spec)


_LATE, _LINEAR = Concatenation(), Head(layers=0)
_AV_MNIST = (LeNet(6, 3), LeNet(6, 5))
_MIMIC = (MLP((10,), 10), RecurrentSteps("gru", 30, readout="all"))
_IMDB = (Maxout(512, 512), Maxout(1024, 512))
_STOCKS = TransformerSteps(9, 3, 3, 2048, 0.1, norm_first=False, readout="last")
_PROPRIOCEPTION = MLP((32, 64, 128), 256, "leaky_relu", last=True)
_ACTION = MLP((32,), 32, "leaky_relu", last=True)
_TOUCH = (CAMERA, ForceConvolution(), _PROPRIOCEPTION, DEPTH, _ACTION)
_PUSH = tuple(Stepwise(PushLayers(width), Identity()) for width in (64, 8, 16))
_PUSH_MODEL = Stepwise(MLP((), 64), RecurrentSteps("lstm", 512, 2))
_AV_MNIST_DECODERS = (MirroredLeNet(6, 3), MirroredLeNet(6, 5))
_MIMIC_DECODERS = (Dense(20, layers=1), RecurrentSeries(30, None))
_ALL_HOURS = RecurrentSteps("gru", 30, readout="all")


def _recurrent(*widths: int, outputs: tuple[int | None, ...] = (None, None, None)) -> tuple[ViewEncoder, ...]:
    """GRUs of these widths over vision, audio and text, with a linear layer where there are outputs."""
    return tuple(RecurrentSteps("gru", width, outputs=out) for width, out in zip(widths, outputs, strict=True))


def _attending(*widths: int) -> tuple[ViewEncoder, ...]:
    """Transformers of these widths without positions, of which the last step is read."""
    return tuple(TransformerSteps(width, 5, 5, 2048, 0.1, positions=False, norm_first=False, readout="last") for width in widths)


_MOSI, _HUMOR = (64, 128, 512), (512, 256, 600)
_TENSOR, _RANKED = (4, 19, 79), (32, 32, 128)

ARCHITECTURES: dict[str, Architecture | CyclicTranslationNet] = {
    "affect/ef-gru": Architecture((Identity(),), EarlyFusion(RecurrentSteps("gru", 512)), Head(512)),
    "affect/ef-transformer": Architecture((Identity(),), EarlyFusion(_attending(300)[0]), Head(128)),
    "affect/gradblend": Architecture(
        _attending(70, 150, 600),
        _LATE,
        Head(512),
        3,
        alone=(Head(32), Head(64), Head(256)),
    ),
    "affect/lf-gru": Architecture(_recurrent(*_MOSI), _LATE, Head(512), 3),
    "affect/lf-transformer": Architecture(_attending(40, 10, 600), _LATE, Head(256), 3),
    "affect/lrtf": Architecture(_recurrent(*_MOSI, outputs=_RANKED), LowRank(128, 32), Head(512), 3),
    "affect/mctn": CyclicTranslationNet(32, Head(64)),
    "affect/text": Architecture((RecurrentSteps("gru", 600),), _LATE, Head(512), 1),
    "affect/tf": Architecture(_recurrent(*_MOSI, outputs=_TENSOR), TensorFusion(None), Head(512), 3),
    "affect/mult": Architecture((Identity(),), MulT(40, 8, 4, causal=True, own=True, readout="last"), _LINEAR),
    "av-mnist/audio": Architecture(_AV_MNIST[1:], _LATE, Head(100), 1),
    "av-mnist/cca": Architecture(
        (LeNet(6, 3), Projected(LeNet(6, 5), 48)), _LATE, _LINEAR, 2, objectives=(CanonicalCorrelation(1e-3),)
    ),
    "av-mnist/gradblend": Architecture(_AV_MNIST, _LATE, Head(100), 2, alone=(Head(100),)),
    "av-mnist/image": Architecture(_AV_MNIST[:1], _LATE, Head(100), 1),
    "av-mnist/lf": Architecture(_AV_MNIST, _LATE, Head(100), 2),
    "av-mnist/lrtf": Architecture(_AV_MNIST, LowRank(120, 40), Head(100), 2),
    "av-mnist/mi": Architecture(_AV_MNIST, MultiplicativeInteractions("matrix", 240), Head(100), 2),
    "av-mnist/mfm": Architecture(
        tuple(Projected(item, 200) for item in _AV_MNIST),
        Concatenation((200, 100)),
        Head(40),
        2,
        objectives=(MFM(private=100, hidden=(100,)),),
        decoders=_AV_MNIST_DECODERS,
        target_weight=2.0,
    ),
    "av-mnist/mvae": Architecture(
        _AV_MNIST,
        ProductOfExperts(200, deterministic=True),
        Head(40),
        2,
        objectives=(SupervisedMVAE(scales="auto"),),
        decoders=_AV_MNIST_DECODERS,
        target_weight=2.0,
    ),
    "av-mnist/refnet": Architecture(
        (Projected(LeNet(6, 3), 192), LeNet(6, 5)),
        _LATE,
        Head(100),
        2,
        objectives=(RefNetReconstruction(0.1, (1000,)),),
    ),
    "enrico/cca": Architecture((VGG11(16),), _LATE, _LINEAR, 2, objectives=(CanonicalCorrelation(1e-3),)),
    "enrico/gradblend": Architecture((VGG11(16),), _LATE, _LINEAR, 2, alone=(_LINEAR,)),
    "enrico/image": Architecture((VGG11(16),), _LATE, _LINEAR, 1),
    "enrico/lf": Architecture((VGG11(16),), _LATE, _LINEAR, 2),
    "enrico/lrtf": Architecture((VGG11(16),), LowRank(32, 20), _LINEAR, 2),
    "enrico/mi": Architecture((VGG11(16),), MultiplicativeInteractions("matrix", 32), _LINEAR, 2),
    "enrico/refnet": Architecture((VGG11(16),), _LATE, _LINEAR, 2, objectives=(RefNetReconstruction(0.1, ()),)),
    "enrico/set": Architecture((VGG11(16),), _LATE, _LINEAR, 1),
    "enrico/tf": Architecture((VGG11(16),), TensorFusion(None), _LINEAR, 2),
    "humor/gradblend": Architecture(
        _attending(700, 150, 600),
        _LATE,
        Head(512),
        3,
        alone=(Head(512), Head(64), Head(256)),
    ),
    "humor/lf-gru": Architecture(_recurrent(*_HUMOR), _LATE, Head(512), 3),
    "humor/lf-transformer": Architecture(_attending(400, 100, 600), _LATE, Head(256), 3),
    "humor/lrtf": Architecture(_recurrent(*_HUMOR, outputs=_RANKED), LowRank(128, 32), Head(512), 3),
    "humor/tf": Architecture(_recurrent(*_HUMOR, outputs=_TENSOR), TensorFusion(None), Head(512), 3),
    "mimic/gradblend": Architecture(_MIMIC, _LATE, Head(40), 2, alone=(Head(20), Head(40))),
    "mimic/lf": Architecture(_MIMIC, _LATE, Head(40), 2),
    "mimic/lrtf": Architecture(_MIMIC, LowRank(100, 40), Head(40), 2),
    "mimic/mfm": Architecture(
        (MLP((20,), 200), Projected(_ALL_HOURS, 200)),
        Concatenation((200, 100)),
        Head(20),
        2,
        objectives=(MFM(private=100, hidden=(100,)),),
        decoders=_MIMIC_DECODERS,
        target_weight=2.0,
    ),
    "mimic/mi": Architecture(_MIMIC, MultiplicativeInteractions("matrix", 100), Head(40), 2),
    "mimic/mvae": Architecture(
        (MLP((), 20, last=True), _ALL_HOURS),
        ProductOfExperts(200, deterministic=True),
        Head(20),
        2,
        objectives=(SupervisedMVAE(scales="auto"),),
        decoders=_MIMIC_DECODERS,
        target_weight=2.0,
    ),
    "mimic/nl-gate": Architecture(_MIMIC, NLGate(slots=10, scaled=False, readout="all"), Head(40), 2),
    "mimic/series": Architecture((RecurrentSteps("gru", 30, outputs=15, readout="all"),), _LATE, Head(40), 1),
    "mimic/static": Architecture(_MIMIC[:1], _LATE, Head(40), 1),
    "mm-imdb/cca": Architecture(
        (Maxout(512, 256), Maxout(1024, 256)), _LATE, _LINEAR, 2, objectives=(CanonicalCorrelation(1e-3),)
    ),
    "mm-imdb/ef": Architecture((Identity(),), EarlyFusion(Maxout(512, 512)), _LINEAR, 2),
    "mm-imdb/lf": Architecture(_IMDB, _LATE, _LINEAR, 2),
    "mm-imdb/lrtf": Architecture(_IMDB, LowRank(512, 128), _LINEAR, 2),
    "mm-imdb/mfm": Architecture(
        _IMDB,
        Concatenation((512, 256)),
        _LINEAR,
        2,
        objectives=(MFM(private=256, hidden=(256,)),),
        decoders=(Dense(600, layers=1), Dense(2048, layers=1)),
        target_weight=2.0,
    ),
    "mm-imdb/mi": Architecture(_IMDB, MultiplicativeInteractions("matrix", 1024), _LINEAR, 2),
    "mm-imdb/refnet": Architecture(
        _IMDB, _LATE, _LINEAR, 2, objectives=(RefNetReconstruction(0.1, (3072,)), MultiSimilarity(weight=1e-4))
    ),
    "push/ef": Architecture((_PUSH[0],), EarlyFusion(_PUSH_MODEL, steps=True), Head(64)),
    "push/lf": Architecture((Stepwise(PushLayers(64), RecurrentSteps("lstm", 256)),), AtEachStep(_LATE), _LINEAR),
    "push/mult": Architecture((_PUSH[0],), MulT(64, 4, 3, causal=True, own=True, steps=True), _LINEAR),
    "push/tf": Architecture((_PUSH[1], _PUSH[1], _PUSH[0], _PUSH[2]), AtEachStep(TensorFusion(None)), Head(256), 4),
    "stocks/ef-lstm": Architecture((Identity(),), EarlyFusion(RecurrentSteps("lstm", 128)), _LINEAR),
    "stocks/ef-transformer": Architecture((Identity(),), EarlyFusion(_STOCKS), _LINEAR),
    "stocks/gradblend": Architecture((Identity(),), EarlyFusion(RecurrentSteps("lstm", 128)), _LINEAR, alone=(_LINEAR,)),
    "stocks/lf-lstm": Architecture((RecurrentSteps("lstm", 16),), _LATE, _LINEAR),
    "stocks/lf-transformer": Architecture((_STOCKS,), _LATE, _LINEAR),
    "stocks/mult": Architecture((Identity(),), MulT(9, 3, 3, causal=True, own=True, readout="last"), _LINEAR),
    "vision-touch/force": Architecture((ForceConvolution(), _ACTION), _LATE, Head(128), 2),
    "vision-touch/image": Architecture((CAMERA, DEPTH, _ACTION), _LATE, Head(128), 3),
    "vision-touch/lf": Architecture(_TOUCH, _LATE, Head(128), 5),
    "vision-touch/lrtf": Architecture(_TOUCH, LowRank(200, 40), Head(128), 5),
    "vision-touch/proprioception": Architecture((_PROPRIOCEPTION, _ACTION), _LATE, Head(128), 2),
    "vision-touch/refnet": Architecture(_TOUCH, _LATE, Head(128), 5, objectives=(RefNetReconstruction(1e-4, (2000,)),)),
    "vision-touch/sensor-fusion": Architecture(_TOUCH, ProductOfExperts(128, linear=False), Head(128, layers=2), 5, 1),
}
"""By data set and method. Modalities: MIMIC static, series; MM-IMDb text, image; AV-MNIST image, audio; Push position, force,
image, control; Vision & Touch image, force, proprioception, depth, action; affect and humor vision, audio, text; stocks series,
in any order. `affect` has the sizes for MOSI and MOSEI, `humor` those for UR-FUNNY and MUStARD where they are others; the rest is
of all four. The published code has no script for the multiplicative interactions and MVAE of affect, and low-rank fusion there
has rank 32, where the paper's table says 64; ENRICO's set is an image of its wireframe."""
