"""The estimates of one measure, label by label."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.inference import Estimate
from assay.measures import Measure

if TYPE_CHECKING:
    from assay.evaluation.evaluation import Evaluation


def per_label(evaluation: Evaluation, measure: Measure) -> dict[str, Estimate]:
    """By label; a class may be called macro, so they are not found by key.

    Empty where a measure is of all classes at once.
    """
    return {
        entry.label: entry.estimate
        for entry in evaluation.entries
        if entry.measure == measure.name
        and entry.label is not None
        and entry.slice is None
        and entry.base_rate is None
    }
