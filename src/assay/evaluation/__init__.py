"""The evaluation of one model."""

from assay.evaluation.evaluate import RunningTally, count, evaluate, evaluate_counts
from assay.evaluation.evaluation import Evaluation
from assay.evaluation.from_files import evaluate_files
from assay.evaluation.functions import MeasureFunction, fbeta, function_of
from assay.evaluation.judge import Judge
from assay.evaluation.of_model import evaluate_model
from assay.evaluation.scorer import Scorer, scorer
from assay.evaluation.views import ByMeasure, Curves

__all__ = [
    "ByMeasure",
    "Curves",
    "Evaluation",
    "Judge",
    "MeasureFunction",
    "RunningTally",
    "Scorer",
    "count",
    "evaluate",
    "evaluate_counts",
    "evaluate_files",
    "evaluate_model",
    "fbeta",
    "function_of",
    "scorer",
]
