"""The evaluation of one model."""

from assay.evaluation.entries import ByMeasure, Curves
from assay.evaluation.evaluate import (
    MeasureFunction,
    RunningTally,
    count,
    evaluate,
    evaluate_counts,
    fbeta,
    function_of,
)
from assay.evaluation.evaluate_model import evaluate_model
from assay.evaluation.evaluation import Evaluation
from assay.evaluation.judge import Judge
from assay.evaluation.named_columns import evaluate_files
from assay.evaluation.scikit_learn import Scorer, scorer

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
