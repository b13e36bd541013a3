"""Rows from files: text, Parquet, Arrow, NumPy, and queries on database files."""

from assay.sources.files.inputs import Hashing, Name, given_names, name_of, paths_of, sources
from assay.sources.files.read import Reading, ranked, read, typed
from assay.sources.files.request import (
    InputDigest,
    Progress,
    Refused,
    Request,
    Rows,
    default_limit,
    memory_limit,
    silent,
)
from assay.sources.files.several_models import MatchedRows, Model, NeedsId, read_models

__all__ = [
    "Hashing",
    "InputDigest",
    "MatchedRows",
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
