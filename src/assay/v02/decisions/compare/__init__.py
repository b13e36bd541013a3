"""Is B really better than A?"""

from assay.v02.decisions.compare.comparing import compare
from assay.v02.decisions.compare.fitted_models import compare_models
from assay.v02.decisions.compare.fold_comparison import compare_folds

__all__ = ["compare", "compare_folds", "compare_models"]
