"""Where to set the alarm."""

from assay.v02.decisions.threshold.choice import Choice, Point, Shown
from assay.v02.decisions.threshold.choose import choose_threshold, choose_threshold_files

__all__ = ["Choice", "Point", "Shown", "choose_threshold", "choose_threshold_files"]
