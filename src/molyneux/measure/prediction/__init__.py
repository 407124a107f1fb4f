"""Prediction: targets predicted by supervised models, and labels predicted from codes."""

from typing import TYPE_CHECKING

from molyneux.core.lazy import lazy_names

if TYPE_CHECKING:
    from molyneux.measure.prediction.breakdown import Breakdown
    from molyneux.measure.prediction.calibration import Calibration
    from molyneux.measure.prediction.classifiers import FewShot, few_shot, net_predictions, perceptron_predictions
    from molyneux.measure.prediction.consistency import Consistency
    from molyneux.measure.prediction.contrasts import Contrasts
    from molyneux.measure.prediction.downstream import Downstream
    from molyneux.measure.prediction.forced_choice import ForcedChoice
    from molyneux.measure.prediction.importance import Emap, Shapley
    from molyneux.measure.prediction.leakage import Leakage
    from molyneux.measure.prediction.prediction import Prediction
    from molyneux.measure.prediction.probe import LatentProbe
    from molyneux.measure.prediction.systematicity import Systematicity
    from molyneux.measure.prediction.wrong_answers import WrongAnswers

__all__ = [
    "Breakdown",
    "Calibration",
    "Consistency",
    "Contrasts",
    "Downstream",
    "Emap",
    "FewShot",
    "ForcedChoice",
    "LatentProbe",
    "Leakage",
    "Prediction",
    "Shapley",
    "Systematicity",
    "WrongAnswers",
    "few_shot",
    "net_predictions",
    "perceptron_predictions",
]

if not TYPE_CHECKING:
    __getattr__ = lazy_names(__name__)
