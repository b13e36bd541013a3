"""Who counts: this machine's threads."""

from assay.engines.local import count, decide

__all__ = ["count", "decide"]
