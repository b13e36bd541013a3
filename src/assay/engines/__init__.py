"""Who counts: this machine's threads, databases, clusters and devices."""

from assay.engines.ask import Ask, Columns, Grouping
from assay.engines.local import count_coded
from assay.engines.parts import Accumulator, Parts
from assay.engines.resolving import resolve
from assay.tally.resolved_tally import confusion_at

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
