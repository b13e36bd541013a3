"""Reported numbers without a whole matrix: can any matrix give them together?"""

from assay.decisions.audit.search.binary import matrices_of
from assay.decisions.audit.search.entry import judge_without_matrix

__all__ = ["judge_without_matrix", "matrices_of"]
