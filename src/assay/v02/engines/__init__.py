"""Who counts: this machine's threads, databases, clusters and devices."""

from assay.v02.engines.ask import Ask, Columns, Grouping
from assay.v02.engines.local import count_coded
from assay.v02.engines.parts import Accumulator, Parts
from assay.v02.engines.resolving import resolve
from assay.v02.tally.resolved_tally import confusion_at

__all__ = [
    "Accumulator",
    "Ask",
    "Columns",
    "Grouping",
    "Parts",
    "confusion_at",
    "count_coded",
    "resolve",
]
