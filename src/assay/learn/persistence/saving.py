"""A fitted pipeline into a model file: the same bytes for the same model."""

from __future__ import annotations

import contextlib
import io
import json
import os
import secrets
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from assay.errors import InputError
from assay.learn.persistence import header as headers
from assay.learn.persistence.archive import HEADER, SCHEMA, members_of, packed
from assay.learn.persistence.trust import Untrusted, check_names, schema_of
from assay.learn.persistence.vocabularies import must_cut_words, words_packed

# Generators of random numbers serve training, and no prediction.
_DROPPED_LOADERS = ("RandomGeneratorNode", "RandomStateNode")
# An address in memory, by which scikit-learn remembers what it has warned about.
_DROPPED_KEYS = ("_stop_words_id",)
# Values without an identity of their own.
_NAMELESS = ("JsonNode", "TypeNode")
_NOTHING = {
    "__class__": "str",
    "__module__": "builtins",
    "__loader__": "JsonNode",
    "content": "null",
    "is_json": True,
}


def save_model(pipeline: Any, path: str | Path, *, header: Mapping[str, Any]) -> tuple[str, ...]:
    """Write a fitted pipeline with its header, whole or not at all.

    Gives the types that whoever loads it has to trust by name: none for the recipes that come with
    assay.
    """
    content = model_bytes(pipeline, header=header)
    target = Path(path)
    beside = target.with_name(f".{target.name}.{secrets.token_hex(8)}.tmp")
    try:
        with beside.open("xb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
        beside.replace(target)
    finally:
        with contextlib.suppress(FileNotFoundError):
            beside.unlink()
    return types_to_trust(content)


def model_bytes(pipeline: Any, *, header: Mapping[str, Any]) -> bytes:
    """A model file, in memory."""
    from skops.io import dumps

    written = headers.to_bytes(headers.complete(header))
    must_cut_words(pipeline)
    try:
        with words_packed(pipeline):
            raw = dumps(pipeline)
    except (TypeError, ValueError, AttributeError, RecursionError) as odd:
        raise InputError(f"the model can't be saved without pickle: {odd}") from odd
    with zipfile.ZipFile(io.BytesIO(raw)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    schema, arrays = _renumbered(json.loads(members.pop(SCHEMA)), members)
    schema_bytes = json.dumps(schema, separators=(",", ":"), ensure_ascii=False).encode()
    content = packed({HEADER: written, SCHEMA: schema_bytes, **arrays}, small=True)
    types_to_trust(content)  # what could not be loaded again is refused now
    return content


def types_to_trust(content: bytes) -> tuple[str, ...]:
    """The types in a model file that are not trusted by themselves."""
    try:
        check_names(schema_of(members_of(content)[SCHEMA]), frozenset())
    except Untrusted as found:
        return found.names
    return ()


def _renumbered(
    schema: dict[str, Any], members: Mapping[str, bytes]
) -> tuple[dict[str, Any], dict[str, bytes]]:
    """The schema with ids and files counted in order, in place of addresses in memory.

    An object that occurs again is written as it was the first time: skops describes it anew, and
    loads only the first description.
    """
    ids: dict[int, int] = {}
    first: dict[int, Any] = {}
    files: dict[str, str] = {}

    def renumbered(part: Any) -> Any:
        if isinstance(part, list):
            return [renumbered(one) for one in part]
        if not isinstance(part, dict):
            return part
        loader = part.get("__loader__")
        if loader in _DROPPED_LOADERS:
            return _NOTHING
        known = None if loader is None or loader in _NAMELESS else part.get("__id__")
        if known in first:
            return first[known]
        found: dict[str, Any] = {}
        for key, value in part.items():
            if key == "__id__" and loader is not None:
                if known is not None:
                    found[key] = ids.setdefault(value, len(ids) + 1)
            elif key == "file" and loader is not None:
                suffix = Path(value).suffix
                found[key] = files.setdefault(value, f"{len(files) + 1}{suffix}")
            elif key in _DROPPED_KEYS:
                found[key] = _NOTHING
            else:
                found[key] = renumbered(value)
        if known is not None:
            first[known] = found
        return found

    counted = renumbered(schema)
    return counted, {new: members[old] for old, new in files.items()}
