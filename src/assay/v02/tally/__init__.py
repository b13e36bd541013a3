"""Small frozen tables of counts, from which everything is computed.

Each is a commutative monoid: it has a zero, it adds, equal data give equal tables whatever the
order and the shards, and it goes to bytes and back.
"""

from assay.v02.tally.codec import from_bytes
from assay.v02.tally.confusion import Confusion, Crosstab
from assay.v02.tally.daily import DailyTally
from assay.v02.tally.incident_tally import IncidentTally
from assay.v02.tally.loss_sums import LossSums
from assay.v02.tally.named_tally import Tally
from assay.v02.tally.pairs import JointScores, PairTally
from assay.v02.tally.resolved_tally import Resolved
from assay.v02.tally.row_sample import ClusterTally, Sample
from assay.v02.tally.scores import ScoreTally

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
