"""Where rows come from: arrays and dataframe columns, checked and coded."""

from assay.v02.sources.coded import Coded, NameColumn
from assay.v02.sources.columns import columns_of, common_labels, label_text
from assay.v02.sources.labelling import infer, probability_labels
from assay.v02.sources.validation import FAMILY, checked_columns, code_arrays, must_share_index

__all__ = [
    "FAMILY",
    "Coded",
    "NameColumn",
    "checked_columns",
    "code_arrays",
    "columns_of",
    "common_labels",
    "infer",
    "label_text",
    "must_share_index",
    "probability_labels",
]
