"""What follows from the numbers: which model is better."""

from assay.decisions.compare import Comparison, Difference, compare

__all__ = ["Comparison", "Difference", "compare"]
