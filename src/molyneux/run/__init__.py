"""An experiment file becomes a folder with samples, a model, scores and a report; a study file becomes many.

This is where the rooms meet: they know only the core, and `run` carries things from one to the next.
"""

from molyneux.run.experiment import Experiment, load_experiment, make_model, read_experiment
from molyneux.run.folder import default_folder, open_experiment
from molyneux.run.progress import RunProgress, Silent
from molyneux.run.run import Outcome, run_experiment
from molyneux.run.sections import DataSettings, LearnSettings, MeasureSettings, ReportSettings
from molyneux.run.steps import Step

__all__ = [
    "DataSettings",
    "Experiment",
    "LearnSettings",
    "MeasureSettings",
    "Outcome",
    "ReportSettings",
    "RunProgress",
    "Silent",
    "Step",
    "default_folder",
    "load_experiment",
    "make_model",
    "open_experiment",
    "read_experiment",
    "run_experiment",
]
