"""The evaluation of one model."""

from assay.v02.evaluation.entries import ByMeasure, Curves
from assay.v02.evaluation.evaluate import (
    MeasureFunction,
    RunningTally,
    count,
    evaluate,
    evaluate_counts,
    fbeta,
    function_of,
)
from assay.v02.evaluation.evaluate_model import evaluate_model
from assay.v02.evaluation.evaluation import Evaluation
from assay.v02.evaluation.judge import Judge
from assay.v02.evaluation.named_columns import evaluate_files
from assay.v02.evaluation.scikit_learn import Scorer, scorer

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
