"""Where rows come from: arrays and dataframe columns, checked and coded."""

from assay.sources.arrays import (
    FAMILY,
    checked_columns,
    code_arrays,
)
from assay.sources.coded import Coded, Named
from assay.sources.columns import columns_of, common_labels, label_text, must_share_index
from assay.sources.labelling import infer
from assay.sources.probabilities import probability_labels

__all__ = [
    "FAMILY",
    "Coded",
    "Named",
    "checked_columns",
    "code_arrays",
    "columns_of",
    "common_labels",
    "infer",
    "label_text",
    "must_share_index",
    "probability_labels",
]
