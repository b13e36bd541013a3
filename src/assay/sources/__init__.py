"""Where rows come from: arrays and dataframe columns, checked and coded into a batch."""

from assay.sources.arrays import (
    FAMILY,
    checked_columns,
    code_arrays,
    from_arrays,
    probability_labels,
)
from assay.sources.batch import Batch, Coded, Named
from assay.sources.columns import columns_of, common_labels, label_text
from assay.sources.indexes import must_share_index
from assay.sources.labelling import infer

__all__ = [
    "FAMILY",
    "Batch",
    "Coded",
    "Named",
    "checked_columns",
    "code_arrays",
    "columns_of",
    "common_labels",
    "from_arrays",
    "infer",
    "label_text",
    "must_share_index",
    "probability_labels",
]
