"""What is known about a model besides the model: labels, columns, and how it was made.

It travels inside the model file, as the JSON member ``assay.json``.
"""

from __future__ import annotations

import json
import platform
import re
import sys
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any

from assay.errors import InputError, __version__

if TYPE_CHECKING:
    import polars as pl

FORMAT = "assay.model/1"
NUMBER, TEXT = "number", "text"
# Halves of characters, which JSON can hold and no table can.
_NO_TEXT = re.compile("[\ud800-\udfff]")
_PACKAGES = ("numpy", "polars", "scikit-learn", "scipy", "skops")


def model_header(
    pipeline: Any,
    frame: pl.DataFrame,
    *,
    labels: tuple[str, ...],
    positive: str | None,
    threshold: float | None,
    **more: Any,
) -> dict[str, Any]:
    """The header of a fitted pipeline; ``more`` is what else should travel with it.

    ``frame`` holds the features that it learned from. A pipeline that begins with one of our
    encoders takes only the columns that this one kept.
    """
    return {
        "labels": list(labels),
        "positive": positive,
        "threshold": threshold,
        "features": _features(pipeline, frame),
        **more,
    }


def complete(header: Mapping[str, Any]) -> dict[str, Any]:
    """A header with the versions that the model is saved with, checked."""
    found = {"schema": FORMAT, **header, "versions": {**versions(), **header.get("versions", {})}}
    must_be_header(found)
    return found


def versions() -> dict[str, str]:
    """The versions of what a model is made with."""
    found = {"python": platform.python_version(), "assay": __version__}
    for package in _PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


def to_bytes(header: Mapping[str, Any]) -> bytes:
    """A header as JSON."""
    try:
        return json.dumps(header, ensure_ascii=False, allow_nan=False, indent=1).encode()
    except (TypeError, ValueError) as odd:
        raise InputError(f"the header of the model is no plain data: {odd}") from odd


def from_bytes(content: bytes) -> dict[str, Any]:
    """A header from JSON, checked."""
    try:
        header = json.loads(content)
    except (ValueError, RecursionError) as odd:
        raise InputError(f"its header is no JSON ({odd})") from odd
    must_be_header(header)
    found: dict[str, Any] = header
    return found


def must_be_header(header: Any) -> None:
    """Refuse a header from which nobody could predict."""
    if not isinstance(header, dict) or not isinstance(header.get("schema"), str):
        raise InputError("its header does not say what it is")
    if header["schema"] != FORMAT:
        raise InputError(f"its header is {header['schema'][:50]!r}; this version reads {FORMAT!r}")
    labels: Any = header.get("labels")
    positive, threshold = header.get("positive"), header.get("threshold")
    if not _texts(labels) or len(labels) < 2 or len(set(labels)) < len(labels):
        raise InputError("its header has no list of two or more labels")
    if positive is not None and (len(labels) != 2 or positive != labels[1]):
        raise InputError("its header names a positive label that is not the second of two")
    if threshold is not None and not _finite(threshold):
        raise InputError("its header has a threshold that is no number")
    features = header.get("features")
    if not isinstance(features, list) or not features or not all(map(_is_feature, features)):
        raise InputError("its header does not list the columns that the model takes")
    names = [feature["name"] for feature in features]
    if len(set(names)) < len(names):
        raise InputError("its header lists a column twice")
    known = header.get("versions", {})
    if not isinstance(known, dict) or not _texts(list(known.values())):
        raise InputError("its header has versions that are no text")


def _features(pipeline: Any, frame: pl.DataFrame) -> list[dict[str, str]]:
    steps = getattr(pipeline, "steps", None)
    first = steps[0][1] if steps else None
    names = getattr(first, "names_", None) or frame.columns
    numbers = getattr(first, "numbers_", None)
    if numbers is None:
        numbers = [name for name in frame.columns if frame[name].dtype.is_numeric()]
    return [{"name": name, "kind": NUMBER if name in numbers else TEXT} for name in names]


def _is_feature(found: Any) -> bool:
    return (
        isinstance(found, dict)
        and _texts([found.get("name")])
        and found.get("kind") in (NUMBER, TEXT)
    )


def _texts(found: Any) -> bool:
    return isinstance(found, list) and all(
        isinstance(one, str) and not _NO_TEXT.search(one) for one in found
    )


def _finite(found: Any) -> bool:
    if not isinstance(found, int | float) or isinstance(found, bool):
        return False
    return abs(found) <= sys.float_info.max  # a whole number may be too large for isfinite
