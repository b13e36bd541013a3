"""Where rows come from: arrays and dataframe columns, checked and coded."""

from assay.sources.arrays import (
    FAMILY,
    checked_columns,
    code_arrays,
    probability_labels,
)
from assay.sources.batch import Coded, Named
from assay.sources.columns import columns_of, common_labels, label_text
from assay.sources.indexes import must_share_index
from assay.sources.labelling import infer

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
