"""How rows are divided into what is learned from and what is judged."""

from assay.learn.validation.folds import Folds, GivenFolds
from assay.learn.validation.groups import GroupFolds
from assay.learn.validation.held_out import LeaveOneOut
from assay.learn.validation.holdout import Holdout, Official
from assay.learn.validation.rows import Rows
from assay.learn.validation.scheme import DEFAULT, SCHEMES, Scheme, parse_scheme
from assay.learn.validation.split import Split, SplitCounts
from assay.learn.validation.splitter import BoundSplitter, Splitter
from assay.learn.validation.times import Since, Sliding

__all__ = [
    "DEFAULT",
    "SCHEMES",
    "BoundSplitter",
    "Folds",
    "GivenFolds",
    "GroupFolds",
    "Holdout",
    "LeaveOneOut",
    "Official",
    "Rows",
    "Scheme",
    "Since",
    "Sliding",
    "Split",
    "SplitCounts",
    "Splitter",
    "parse_scheme",
]
