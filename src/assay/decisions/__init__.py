"""What follows from the numbers: which model is better."""

from assay.decisions.compare import compare
from assay.decisions.comparison import Comparison, Difference

__all__ = ["Comparison", "Difference", "compare"]
