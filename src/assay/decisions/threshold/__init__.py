"""Where to set the alarm."""

from assay.decisions.threshold.choose import choose_threshold
from assay.decisions.threshold.from_files import choose_threshold_files
from assay.decisions.threshold.result import Choice, Point, Shown

__all__ = ["Choice", "Point", "Shown", "choose_threshold", "choose_threshold_files"]
