"""Rows from files: text, Parquet, Arrow, NumPy, and queries on database files."""

from assay.v02.sources.files.inputs import Hashing, Name, given_names, name_of, paths_of, sources
from assay.v02.sources.files.read import Reading, ranked, read, typed
from assay.v02.sources.files.request import (
    InputDigest,
    Progress,
    Refused,
    Request,
    Rows,
    default_limit,
    memory_limit,
    silent,
)
from assay.v02.sources.files.several_models import MatchedRows, Model, NeedsId, read_models

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
