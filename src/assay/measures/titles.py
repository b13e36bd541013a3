"""The name of a measure in words, for the audit alone, until that reads the measures' titles."""

from assay.measures.measure import spoken

__all__ = ["spoken"]
