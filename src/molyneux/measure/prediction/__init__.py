"""Prediction: what frozen codes are good for."""

from molyneux.measure.prediction.classifier import net_predictions
from molyneux.measure.prediction.downstream import Downstream
from molyneux.measure.prediction.shots import FewShot, few_shot

__all__ = ["Downstream", "FewShot", "few_shot", "net_predictions"]
