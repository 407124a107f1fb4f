"""What passes through the doors between the rooms, and nothing else. This room imports no other.

Samples go through as `Spec`, `Batch` and `Source`; models as the small protocols `Encodes`, `Decodes`, `Learns`,
`Likelihood`, `Predicts`, `Representation` and `Settles`; results as `Score`. `seeds` names the random streams, `store` keeps
files, `views` converts stored views to what models compute with.
"""

from molyneux.core.batch import Batch, Source
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
    nearest,
)
from molyneux.core.exhibit import Cell, Exhibit, Gallery, Scatter, load_exhibits, save_exhibits
from molyneux.core.model import (
    CodeDistribution,
    Codes,
    ConditionalCode,
    Decodes,
    Encodes,
    Learns,
    Likelihood,
    Loss,
    Posterior,
    Predicts,
    Progress,
    Representation,
    Settles,
)
from molyneux.core.reader import Reader, Reading
from molyneux.core.score import Score
from molyneux.core.spec import Factor, Kind, Modality, Spec

__all__ = [
    "Batch",
    "Cell",
    "CodeDistribution",
    "Codes",
    "ConditionalCode",
    "ConfigError",
    "ConflictError",
    "CorruptFileError",
    "DataError",
    "Decodes",
    "Encodes",
    "Exhibit",
    "Factor",
    "Gallery",
    "Kind",
    "Learns",
    "Likelihood",
    "Loss",
    "Modality",
    "MolyneuxError",
    "NotApplicableError",
    "Posterior",
    "Predicts",
    "Progress",
    "Reader",
    "Reading",
    "Representation",
    "Scatter",
    "Score",
    "Settles",
    "Source",
    "Spec",
    "SpecError",
    "StoreError",
    "TrainingError",
    "load_exhibits",
    "nearest",
    "save_exhibits",
]
