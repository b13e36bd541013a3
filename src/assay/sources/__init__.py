"""Where rows come from: arrays and dataframe columns, checked and coded into a batch."""

from assay.sources.arrays import from_arrays
from assay.sources.batch import Batch, Named
from assay.sources.columns import label_text

__all__ = ["Batch", "Named", "from_arrays", "label_text"]
