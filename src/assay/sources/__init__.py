"""Where rows come from: arrays and dataframe columns, checked and coded into a batch."""

from assay.sources.arrays import FAMILY, checked_columns, from_arrays, probability_labels
from assay.sources.batch import Batch, Named
from assay.sources.columns import columns_of, common_labels, label_text
from assay.sources.indexes import must_share_index
from assay.sources.labelling import infer
from assay.sources.open_set import open_arrays

__all__ = [
    "FAMILY",
    "Batch",
    "Named",
    "checked_columns",
    "columns_of",
    "common_labels",
    "from_arrays",
    "infer",
    "label_text",
    "must_share_index",
    "open_arrays",
    "probability_labels",
]
