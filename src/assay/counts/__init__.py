"""Small tables of counts, from which everything is computed: here, what the mathematics reads."""

from assay.counts.confusion import ClusterCounts, Confusion
from assay.counts.grid import Exact, Grid
from assay.counts.losses import LossSums, Moments
from assay.counts.pairs import PairCounts
from assay.counts.sample import Sample
from assay.counts.scores import ScoreCounts

__all__ = [
    "ClusterCounts",
    "Confusion",
    "Exact",
    "Grid",
    "LossSums",
    "Moments",
    "PairCounts",
    "Sample",
    "ScoreCounts",
]
