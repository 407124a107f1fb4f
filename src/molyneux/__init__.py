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
    from molyneux.core import (
        Batch,
        MolyneuxError,
        Reader,
        Score,
        Source,
        Spec,
    )
    from molyneux.data import (
        AVMNIST,
        CdSprites,
        GeBiD,
        Interactions,
        Letters,
        MolyneuxShapes,
        PartsOfSpeech,
        ShapeWorld,
        SimulatedPush,
        StoredSource,
        World,
        Ynoc,
        contact_sheet,
        load,
        store_samples,
    )
    from molyneux.learn import (
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
        ContrastiveEncoders,
        FusionPredictor,
        GPoE,
        MaskedTransformer,
        MMVAEPlus,
        MoPoE,
        Nexus,
        Training,
        fit,
    )
    from molyneux.measure import (
        Coherence,
        LatentProbe,
        Measure,
        Prediction,
        Robustness,
        evaluate,
    )
    from molyneux.report import (
        summary_table,
        write_run,
        write_study,
    )
    from molyneux.run import (
        compare_models,
        evaluate_model,
        load_experiment,
        load_study,
        open_evaluation,
        open_judge,
        open_model,
        read_experiment,
        run_experiment,
        run_study,
    )

__all__ = [
    "AE",
    "AVMNIST",
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
    "Batch",
    "CdSprites",
    "CoDEVAE",
    "Coherence",
    "ContrastiveEncoders",
    "FusionPredictor",
    "GPoE",
    "GeBiD",
    "Interactions",
    "LatentProbe",
    "Letters",
    "MMVAEPlus",
    "MaskedTransformer",
    "Measure",
    "MoPoE",
    "MolyneuxError",
    "MolyneuxShapes",
    "Nexus",
    "PartsOfSpeech",
    "Prediction",
    "Reader",
    "Robustness",
    "Score",
    "ShapeWorld",
    "SimulatedPush",
    "Source",
    "Spec",
    "StoredSource",
    "Training",
    "World",
    "Ynoc",
    "__version__",
    "compare_models",
    "contact_sheet",
    "evaluate",
    "evaluate_model",
    "fit",
    "load",
    "load_experiment",
    "load_study",
    "open_evaluation",
    "open_judge",
    "open_model",
    "read_experiment",
    "run_experiment",
    "run_study",
    "store_samples",
    "summary_table",
    "write_run",
    "write_study",
]

if not TYPE_CHECKING:
    __getattr__ = lazy_names(__name__)


def __dir__() -> list[str]:
    return __all__
