"""The types that the other packages exchange: samples, model protocols and scores. This package imports none of the others.

Samples are exchanged as `Spec`, `Batch` and `Source`; models as the small protocols `Compares`, `Encodes`, `Decodes`,
`EpochStart`, `ImportanceWeights`, `EstimatesLikelihood`, `NamesStages`, `PostFit`, `Predicts`, `Priors`, `Representation` and
`Trainable`; results as `Score`. Views are read by a `Reader`, and made into vectors by `Features`. `seeds` gives named random
streams, `store` writes and verifies files, `views` converts stored views to the tensors that models compute with. `views_of`
makes views of strings, pictures, sounds and arrays, and `values_of` turns views into these. Each name is imported when it is
first used: settings and command lines are checked without importing torch.
"""

from typing import TYPE_CHECKING

from molyneux.core.lazy import lazy_names

if TYPE_CHECKING:
    from molyneux.core.batch import Batch, Source
    from molyneux.core.control import Control, HasControls
    from molyneux.core.conversion.conversion import ConvertedViews, values_of, views_of
    from molyneux.core.dataset import Condition, Dataset
    from molyneux.core.errors import (
        ConfigError,
        ConflictError,
        CorruptFileError,
        DataError,
        MolyneuxError,
        NotApplicableError,
        SpecError,
        StoreError,
        TrainingError,
        choice_problems,
        instance_problems,
        instances_problems,
        nearest,
        text_problems,
        whole_problems,
    )
    from molyneux.core.exhibit import Cell, Exhibit, Gallery, Scatter, load_exhibits, save_exhibits
    from molyneux.core.features import Features
    from molyneux.core.history import History, TrainingStep
    from molyneux.core.model import (
        CodeDistribution,
        Codes,
        Compares,
        ConditionalCode,
        Decodes,
        Encodes,
        Epoch,
        EpochStart,
        EstimatesLikelihood,
        FitStore,
        ImportanceWeights,
        Loss,
        NamesStages,
        Posterior,
        PostFit,
        PostFitWeights,
        Predicts,
        Priors,
        Progress,
        Representation,
        Trainable,
    )
    from molyneux.core.reader import NO_LABEL, UNREADABLE, JudgeMaterial, Reader, Reading
    from molyneux.core.score import About, Score, about_names
    from molyneux.core.sources import DerivedSource, Subset
    from molyneux.core.spec import Factor, Kind, Meaning, Modality, Quantity, Spec, Target, Task
    from molyneux.core.understood import CompletedCaption, PicturesSounds, PlaysPictures, TracesContours, Understands, Understood

__all__ = [
    "NO_LABEL",
    "UNREADABLE",
    "About",
    "Batch",
    "Cell",
    "CodeDistribution",
    "Codes",
    "Compares",
    "CompletedCaption",
    "Condition",
    "ConditionalCode",
    "ConfigError",
    "ConflictError",
    "Control",
    "ConvertedViews",
    "CorruptFileError",
    "DataError",
    "Dataset",
    "Decodes",
    "DerivedSource",
    "Encodes",
    "Epoch",
    "EpochStart",
    "EstimatesLikelihood",
    "Exhibit",
    "Factor",
    "Features",
    "FitStore",
    "Gallery",
    "HasControls",
    "History",
    "ImportanceWeights",
    "JudgeMaterial",
    "Kind",
    "Loss",
    "Meaning",
    "Modality",
    "MolyneuxError",
    "NamesStages",
    "NotApplicableError",
    "PicturesSounds",
    "PlaysPictures",
    "PostFit",
    "PostFitWeights",
    "Posterior",
    "Predicts",
    "Priors",
    "Progress",
    "Quantity",
    "Reader",
    "Reading",
    "Representation",
    "Scatter",
    "Score",
    "Source",
    "Spec",
    "SpecError",
    "StoreError",
    "Subset",
    "Target",
    "Task",
    "TracesContours",
    "Trainable",
    "TrainingError",
    "TrainingStep",
    "Understands",
    "Understood",
    "about_names",
    "choice_problems",
    "instance_problems",
    "instances_problems",
    "load_exhibits",
    "nearest",
    "save_exhibits",
    "text_problems",
    "values_of",
    "views_of",
    "whole_problems",
]

if not TYPE_CHECKING:
    __getattr__ = lazy_names(__name__)
