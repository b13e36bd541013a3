"""Runs that are kept: in a file of SQLite or in PostgreSQL, addressed by content."""

from assay.v02.store.reports import RunTrend, Step, TrendPoint
from assay.v02.store.run import KeptRows, KeptRun, Name, Page
from assay.v02.store.store import Store, default_place

__all__ = [
    "KeptRows",
    "KeptRun",
    "Name",
    "Page",
    "RunTrend",
    "Step",
    "Store",
    "TrendPoint",
    "default_place",
]
