"""Who counts: this machine's threads."""

from assay.engines.local import confusion_at, count, decide

__all__ = ["confusion_at", "count", "decide"]
