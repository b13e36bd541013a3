"""Small frozen tables of counts, from which everything is computed.

Each is a commutative monoid: it has a zero, it adds, equal data give equal tables whatever the
order and the shards, and it goes to bytes and back.
"""

from assay.tally.codec import from_bytes
from assay.tally.confusion import Confusion, Crosstab
from assay.tally.daily import DailyTally
from assay.tally.incident_tally import IncidentTally
from assay.tally.loss_sums import LossSums
from assay.tally.named_tally import Tally
from assay.tally.pairs import JointScores, PairTally
from assay.tally.resolved_tally import Resolved
from assay.tally.row_sample import ClusterTally, Sample
from assay.tally.scores import ScoreTally

__all__ = [
    "ClusterTally",
    "Confusion",
    "Crosstab",
    "DailyTally",
    "IncidentTally",
    "JointScores",
    "LossSums",
    "PairTally",
    "Resolved",
    "Sample",
    "ScoreTally",
    "Tally",
    "from_bytes",
]
