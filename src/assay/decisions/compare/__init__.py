"""Is B really better than A?"""

from assay.decisions.compare.comparing import compare
from assay.decisions.compare.fitted_models import compare_models
from assay.decisions.compare.fold_comparison import compare_folds

__all__ = ["compare", "compare_folds", "compare_models"]
