"""Rows from files: text, Parquet, Arrow, NumPy, and queries on database files."""

from assay.sources.files.inputs import Hashing, Name, given_names, name_of, paths_of, sources
from assay.sources.files.labelled import ranked, typed
from assay.sources.files.matched import Matched, Model, NeedsId, read_models
from assay.sources.files.memory import default_limit, memory_limit
from assay.sources.files.read import Reading, read
from assay.sources.files.request import Input, Progress, Refused, Request, Rows, silent

__all__ = [
    "Hashing",
    "Input",
    "Matched",
    "Model",
    "Name",
    "NeedsId",
    "Progress",
    "Reading",
    "Refused",
    "Request",
    "Rows",
    "default_limit",
    "given_names",
    "memory_limit",
    "name_of",
    "paths_of",
    "ranked",
    "read",
    "read_models",
    "silent",
    "sources",
    "typed",
]
