"""The figures of an evaluation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from assay.evaluation.evaluation import Evaluation


@dataclass(frozen=True)
class Plots:
    """Figures of one evaluation."""

    evaluation: Evaluation
