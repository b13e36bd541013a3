"""Small frozen tables of counts, from which everything is computed.

Each is a commutative monoid: it has a zero, it adds, equal data give equal tables whatever the
order and the shards, and it goes to bytes and back.
"""

from assay.tally.by_name import Tally
from assay.tally.clusters import ClusterTally
from assay.tally.codec import from_bytes
from assay.tally.confusion import Confusion
from assay.tally.crosstab import Crosstab
from assay.tally.daily import DailyTally
from assay.tally.incidents import IncidentTally
from assay.tally.joint import JointScores
from assay.tally.pairs import PairTally
from assay.tally.record import Resolved
from assay.tally.sample import Sample
from assay.tally.scores import ScoreTally
from assay.tally.sums import LossSums

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
