"""Runs that are kept: in a file of SQLite or in PostgreSQL, addressed by content."""

from assay.store.reports import RunTrend, Step, TrendPoint
from assay.store.run import KeptRows, KeptRun, Name, Page
from assay.store.store import Store, default_place

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
