"""Runs that are kept: in a file of SQLite or in PostgreSQL, addressed by content."""

from assay.store.rows import KeptRows
from assay.store.run import Name, Page, Point, Run
from assay.store.store import Store, default_place
from assay.store.trend import Step, Trend

__all__ = [
    "KeptRows",
    "Name",
    "Page",
    "Point",
    "Run",
    "Step",
    "Store",
    "Trend",
    "default_place",
]
