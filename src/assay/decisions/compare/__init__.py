"""Is B really better than A?"""

from assay.decisions.compare.comparing import compare
from assay.decisions.compare.folds import compare_folds
from assay.decisions.compare.of_models import compare_models

__all__ = ["compare", "compare_folds", "compare_models"]
