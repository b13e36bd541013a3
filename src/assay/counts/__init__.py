"""Counts of rows: one keyed table that adds, who counts it, and the tables that measures read."""

from assay.counts.confusion import ClusterCounts, Confusion
from assay.counts.counter import Counter
from assay.counts.counts import Counts
from assay.counts.grid import Exact, Grid
from assay.counts.losses import LossSums, Moments
from assay.counts.pairs import PairCounts
from assay.counts.resolved import Resolved
from assay.counts.sample import Sample
from assay.counts.scores import ScoreCounts

__all__ = [
    "ClusterCounts",
    "Confusion",
    "Counter",
    "Counts",
    "Exact",
    "Grid",
    "LossSums",
    "Moments",
    "PairCounts",
    "Resolved",
    "Sample",
    "ScoreCounts",
]
