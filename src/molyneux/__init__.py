"""A laboratory for multimodal representation learning: worlds, models that join senses, scores that can be believed.

The names below come from the rooms `data`, `learn`, `measure` and `report`, from `core` and from `run`; each is imported when
it is first used, so that `import molyneux` costs nothing.
"""

import sys

if sys.argv[:1] == ["-m"] and sys.orig_argv[-len(sys.argv)].endswith("molyneux") and not sys.flags.safe_path:
    del sys.path[0]  # `python -m molyneux` searches the working folder first, where any file would hide a module

from typing import TYPE_CHECKING

from molyneux.core.lazy import lazy_names
from molyneux.version import __version__

if TYPE_CHECKING:
    from molyneux.core import Batch, Factor, Modality, MolyneuxError, Reader, Score, Source, Spec
    from molyneux.data import (
        AVMNIST,
        CdSprites,
        GeBiD,
        Interactions,
        Letters,
        PartsOfSpeech,
        ShapeClasses,
        ShapeWorld,
        StoredSource,
        World,
        Ynoc,
        contact_sheet,
        generate,
        load,
    )
    from molyneux.learn import AE, DMVAE, HSVAE, MMVAE, MVAE, VAE, FusionPredictor, MoPoE, MultimodalVAE, Training, fit
    from molyneux.measure import (
        Coherence,
        Complexity,
        Evaluation,
        LatentProbe,
        Measure,
        PosteriorGap,
        Prediction,
        Projection,
        Reconstruction,
        Robustness,
        evaluate,
    )
    from molyneux.report import summary_table, write_run, write_study
    from molyneux.run import (
        Comparison,
        Experiment,
        ModelReport,
        Study,
        compare_models,
        evaluate_model,
        load_experiment,
        load_study,
        read_experiment,
        run_experiment,
        run_study,
    )

__all__ = [
    "AE",
    "AVMNIST",
    "DMVAE",
    "HSVAE",
    "MMVAE",
    "MVAE",
    "VAE",
    "Batch",
    "CdSprites",
    "Coherence",
    "Comparison",
    "Complexity",
    "Evaluation",
    "Experiment",
    "Factor",
    "FusionPredictor",
    "GeBiD",
    "Interactions",
    "LatentProbe",
    "Letters",
    "Measure",
    "MoPoE",
    "Modality",
    "ModelReport",
    "MolyneuxError",
    "MultimodalVAE",
    "PartsOfSpeech",
    "PosteriorGap",
    "Prediction",
    "Projection",
    "Reader",
    "Reconstruction",
    "Robustness",
    "Score",
    "ShapeClasses",
    "ShapeWorld",
    "Source",
    "Spec",
    "StoredSource",
    "Study",
    "Training",
    "World",
    "Ynoc",
    "__version__",
    "compare_models",
    "contact_sheet",
    "evaluate",
    "evaluate_model",
    "fit",
    "generate",
    "load",
    "load_experiment",
    "load_study",
    "read_experiment",
    "run_experiment",
    "run_study",
    "summary_table",
    "write_run",
    "write_study",
]

if not TYPE_CHECKING:
    __getattr__ = lazy_names(__name__)


def __dir__() -> list[str]:
    return __all__
