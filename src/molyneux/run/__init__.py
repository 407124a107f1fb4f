"""An experiment file becomes a folder with samples, a model, scores and a report; a study file becomes many.

This is where the rooms meet: they know only the core, and `run` carries things from one to the next.
"""

from molyneux.run.again import Repeated, measure_again
from molyneux.run.comparison import Comparison, compare_models
from molyneux.run.experiment import Experiment, judged_data, load_experiment, make_model, parse_experiment, read_experiment
from molyneux.run.export import ExportSettings, export_run, export_samples, is_run, opened_export, verify_export
from molyneux.run.folder import default_folder, open_experiment
from molyneux.run.launch import Finished, SweepProgress
from molyneux.run.leaderboard import make_leaderboard
from molyneux.run.model_report import ModelReport, evaluate_model, usual_imperfections
from molyneux.run.outside import measure_model, read_data
from molyneux.run.readers import constant_accuracy, make_judge
from molyneux.run.schema import experiment_schema, study_schema
from molyneux.run.sections import ConditionSettings, DataSettings, LearnSettings, MeasureSettings, ReportSettings
from molyneux.run.steps import Outcome, RunProgress, Silent, Step, open_evaluation, report_run, run_experiment
from molyneux.run.study import Goal, Range, Study, check_study, load_study
from molyneux.run.sweep import SweepOutcome, run_study

__all__ = [
    "Comparison",
    "ConditionSettings",
    "DataSettings",
    "Experiment",
    "ExportSettings",
    "Finished",
    "Goal",
    "LearnSettings",
    "MeasureSettings",
    "ModelReport",
    "Outcome",
    "Range",
    "Repeated",
    "ReportSettings",
    "RunProgress",
    "Silent",
    "Step",
    "Study",
    "SweepOutcome",
    "SweepProgress",
    "check_study",
    "compare_models",
    "constant_accuracy",
    "default_folder",
    "evaluate_model",
    "experiment_schema",
    "export_run",
    "export_samples",
    "is_run",
    "judged_data",
    "load_experiment",
    "load_study",
    "make_judge",
    "make_leaderboard",
    "make_model",
    "measure_again",
    "measure_model",
    "open_evaluation",
    "open_experiment",
    "opened_export",
    "parse_experiment",
    "read_data",
    "read_experiment",
    "report_run",
    "run_experiment",
    "run_study",
    "study_schema",
    "usual_imperfections",
    "verify_export",
]
