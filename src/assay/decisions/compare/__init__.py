"""Is B really better than A?"""

from assay.decisions.compare.comparing import compare
from assay.decisions.compare.data_sets import compare_folds
from assay.decisions.compare.of_models import compare_models

__all__ = ["compare", "compare_folds", "compare_models"]
