"""Who counts: this machine's threads."""

from assay.engines.ask import Ask, Columns
from assay.engines.batches import confusion_at, count, decide
from assay.engines.local import count_coded
from assay.engines.parts import Accumulator, Parts
from assay.engines.resolving import resolve

__all__ = [
    "Accumulator",
    "Ask",
    "Columns",
    "Parts",
    "confusion_at",
    "count",
    "count_coded",
    "decide",
    "resolve",
]
