"""A random forest that says the same for any number of threads."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from sklearn.ensemble import RandomForestClassifier

from assay.tally.blocks import map_blocks, threads

Floats: TypeAlias = npt.NDArray[np.float64]

_MOST_JOBS = 2
_ROWS = 1 << 13


class Forest(RandomForestClassifier):  # type: ignore[misc]
    """scikit-learn's forest; trees grow in threads, and are added up in one order.

    Its own way adds the trees in the order in which threads finish, so that the last digits of a
    probability change from run to run.
    """

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Forest:
        """Grow the trees."""
        asked: int | None = self.n_jobs
        self.n_jobs: int | None = min(threads(), _MOST_JOBS)
        try:
            super().fit(X, y, sample_weight)
        finally:
            self.n_jobs = asked
        return self

    def predict_proba(self, X: Any) -> Floats:
        """The mean of what the trees say, in blocks of rows."""
        several = getattr(self, "n_outputs_", 1) > 1
        if several or not hasattr(X, "shape") or X.shape[0] <= _ROWS:
            said: Floats = super().predict_proba(X)
            return said

        def worker() -> Any:
            return lambda i, j: super(Forest, self).predict_proba(X[i:j])

        return np.concatenate(map_blocks(X.shape[0], worker, _ROWS))
