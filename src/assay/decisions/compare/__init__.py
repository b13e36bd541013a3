"""Is B really better than A?"""

from assay.decisions.compare.comparing import compare
from assay.decisions.compare.data_sets import compare_folds

__all__ = ["compare", "compare_folds"]
