"""An experiment file becomes a folder with samples, a model, scores and a report; a study file becomes many.

This is where the rooms meet: they know only the core, and `run` carries things from one to the next.
"""

from typing import TYPE_CHECKING

from molyneux.core.lazy import lazy_names

if TYPE_CHECKING:
    from molyneux.run.cluster.ray_workers import open_workers
    from molyneux.run.comparison import Comparison, compare_models
    from molyneux.run.model_report import ModelReport, evaluate_model, usual_imperfections
    from molyneux.run.outside import measure_model, read_data
    from molyneux.run.run.again import Repeated, measure_again
    from molyneux.run.run.experiment import (
        Experiment,
        judged_data,
        load_experiment,
        parse_experiment,
        read_experiment,
    )
    from molyneux.run.run.folder import default_folder, open_experiment
    from molyneux.run.run.judge_training import constant_accuracy, make_judge
    from molyneux.run.run.making import make_model
    from molyneux.run.run.overview import RunOverview, overview
    from molyneux.run.run.report import Outcome, Silent, report_run
    from molyneux.run.run.sections import ConditionSettings, DataSettings, LearnSettings, MeasureSettings, ReportSettings
    from molyneux.run.run.steps import open_evaluation, run_experiment
    from molyneux.run.run.under_way import RunProgress, Step
    from molyneux.run.schema import experiment_schema, study_schema
    from molyneux.run.sharing.card import ModelFindings, model_findings
    from molyneux.run.sharing.export import ExportSettings, export_run, export_samples
    from molyneux.run.sharing.hub import Pushed, fetched, push_export
    from molyneux.run.sharing.whole import is_run, opened_export, require_whole, verify_export
    from molyneux.run.studies.choices import read_choices
    from molyneux.run.studies.launch import Finished, SweepProgress
    from molyneux.run.studies.leaderboard import make_leaderboard
    from molyneux.run.studies.study import Goal, Range, Study, check_study, load_study
    from molyneux.run.studies.sweep import SweepOutcome, run_study
    from molyneux.run.studies.transfers import read_transfers
    from molyneux.run.trained.broken import SenseCurve, break_sense, sense_curve
    from molyneux.run.trained.doctor import Examination, examine
    from molyneux.run.trained.generated import Generated, Origin
    from molyneux.run.trained.given import GivenInput
    from molyneux.run.trained.judged import JudgedSamples, RightShare, SampleJudge, Slice, sample_judge, slices
    from molyneux.run.trained.judges import TrainedJudge, open_judge
    from molyneux.run.trained.model import TrainedModel, UnreadTextWarning
    from molyneux.run.trained.opened import open_model
    from molyneux.run.trained.paths import PathWalk, walk_path
    from molyneux.run.trained.pictures import picture_sheet
    from molyneux.run.trained.predicted import Predicted
    from molyneux.run.trained.readers import ReadValue, ViewReading, read_batch, read_value
    from molyneux.run.trained.shipped import shipped_folder, shipped_names
    from molyneux.run.trained.surveyed import CodeSurvey, between_codes, flat_code, parted_code, survey_codes
    from molyneux.run.trained.two_way_sheet import two_way_sheet
    from molyneux.run.trained.two_ways import (
        TwoWayAnswers,
        TwoWayQuestions,
        answer_by_codes,
        answer_by_outlines,
        two_way_questions,
    )

__all__ = [
    "CodeSurvey",
    "Comparison",
    "ConditionSettings",
    "DataSettings",
    "Examination",
    "Experiment",
    "ExportSettings",
    "Finished",
    "Generated",
    "GivenInput",
    "Goal",
    "JudgedSamples",
    "LearnSettings",
    "MeasureSettings",
    "ModelFindings",
    "ModelReport",
    "Origin",
    "Outcome",
    "PathWalk",
    "Predicted",
    "Pushed",
    "Range",
    "ReadValue",
    "Repeated",
    "ReportSettings",
    "RightShare",
    "RunOverview",
    "RunProgress",
    "SampleJudge",
    "SenseCurve",
    "Silent",
    "Slice",
    "Step",
    "Study",
    "SweepOutcome",
    "SweepProgress",
    "TrainedJudge",
    "TrainedModel",
    "TwoWayAnswers",
    "TwoWayQuestions",
    "UnreadTextWarning",
    "ViewReading",
    "answer_by_codes",
    "answer_by_outlines",
    "between_codes",
    "break_sense",
    "check_study",
    "compare_models",
    "constant_accuracy",
    "default_folder",
    "evaluate_model",
    "examine",
    "experiment_schema",
    "export_run",
    "export_samples",
    "fetched",
    "flat_code",
    "is_run",
    "judged_data",
    "load_experiment",
    "load_study",
    "make_judge",
    "make_leaderboard",
    "make_model",
    "measure_again",
    "measure_model",
    "model_findings",
    "open_evaluation",
    "open_experiment",
    "open_judge",
    "open_model",
    "open_workers",
    "opened_export",
    "overview",
    "parse_experiment",
    "parted_code",
    "picture_sheet",
    "push_export",
    "read_batch",
    "read_choices",
    "read_data",
    "read_experiment",
    "read_transfers",
    "read_value",
    "report_run",
    "require_whole",
    "run_experiment",
    "run_study",
    "sample_judge",
    "sense_curve",
    "shipped_folder",
    "shipped_names",
    "slices",
    "study_schema",
    "survey_codes",
    "two_way_questions",
    "two_way_sheet",
    "usual_imperfections",
    "verify_export",
    "walk_path",
]

if not TYPE_CHECKING:
    __getattr__ = lazy_names(__name__)
