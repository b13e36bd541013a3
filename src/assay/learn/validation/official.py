"""An official split: what to judge came in a file of its own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from assay.learn.validation.rows import Rows
from assay.learn.validation.split import TEST, Split
from assay.learn.validation.splitter import Splitter


@dataclass(frozen=True)
class Official(Splitter):
    """The first ``learned`` rows are the training part, all that follow are judged."""

    learned: int

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:  # noqa: ARG002
        """One."""
        return 1

    def splits(self, rows: Rows) -> tuple[Split, ...]:
        """One split."""
        train, test = np.arange(len(rows))[: self.learned], np.arange(self.learned, len(rows))
        return (Split(TEST, train, test, rows).must_be_of_use("this official split"),)
