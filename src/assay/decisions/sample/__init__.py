"""Which rows to label, so that few labels tell much about rare attacks."""

from assay.decisions.sample.drawing import sample, sample_files
from assay.decisions.sample.result import DrawnStratum, StratifiedSample

__all__ = ["DrawnStratum", "StratifiedSample", "sample", "sample_files"]
