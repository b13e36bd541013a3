"""Watching a detector in use: figures that hold at every look, rules, and shifts."""

from assay.decisions.monitor.monitor import monitor, monitor_files
from assay.decisions.monitor.result import Monitor, Period, RuleOutcome, WatchedRule

__all__ = ["Monitor", "Period", "RuleOutcome", "WatchedRule", "monitor", "monitor_files"]
