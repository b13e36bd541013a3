"""Model files, written and read with skops, never with pickle; needs the extra ``learn``.

Reading runs nothing that the file could choose. Writing gives the same bytes for the same model.
The header says what is known besides the model: labels, columns, and how it was made.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import platform
import re
import secrets
import sys
import warnings
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.errors import InputError, __version__
from assay.v02.learn.fitting import in_order
from assay.v02.learn.model_archive import (
    HEADER,
    MOST_BYTES,
    SCHEMA,
    may_be_archive,
    members_of,
    must_cut_words,
    packed,
    unpack_words,
    words_packed,
)
from assay.v02.learn.model_trust import (
    Untrusted,
    check_names,
    must_be_sound,
    must_be_trees,
    must_be_trustworthy,
    parts_of,
    rename_types,
    schema_of,
)
from assay.v02.sources.files.inputs import name_of

if TYPE_CHECKING:
    import polars as pl

__all__ = [
    "MODEL",
    "Loaded",
    "Untrusted",
    "load_model",
    "model_bytes",
    "model_header",
    "save_model",
    "types_to_trust",
]

MODEL = "model.skops"
_ENOUGH = 1 << 20  # bytes to say what a file is that is no model

# What scikit-learn and skops raise about a state that they can't make sense of.
_UNREADABLE = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    ImportError,
    LookupError,
    MemoryError,
    OSError,
    RuntimeError,
    SystemError,
    TypeError,
    ValueError,
)


@dataclass(frozen=True, eq=False)
class Loaded:
    """A model with its header; ``notes`` says what to know about it."""

    pipeline: Any
    header: dict[str, Any]
    notes: tuple[str, ...] = ()


def load_model(path: str | Path, *, trust: Sequence[str] = ()) -> Loaded:
    """Read a model file, or the one in the folder that a training left.

    ``trust`` names types besides those that the recipes need; to trust a type is to run its code.
    """
    trusted = must_be_trustworthy(trust)
    file = _file(Path(name_of(str(path))))
    data = _content(file)
    try:
        return _loaded(data, trusted)
    except InputError as error:
        raise InputError(f"{file}: {error}") from error


def _file(path: Path) -> Path:
    if path.is_dir():
        if not (path / MODEL).is_file():
            raise InputError(f"the folder {path} has no {MODEL}: it is none that assay train left")
        return path / MODEL
    if not path.exists():
        raise InputError(f"there is no model {path}: name a {MODEL} or the folder it is in")
    return path


def _content(file: Path) -> bytes:
    try:
        with file.open("rb") as stream:
            if not may_be_archive(stream.peek(1)):
                return stream.read(_ENOUGH)
            if os.fstat(stream.fileno()).st_size <= MOST_BYTES:
                data = stream.read(MOST_BYTES + 1)
                if len(data) <= MOST_BYTES:
                    return data
    except OSError as error:
        raise InputError(f"{file} can't be read: {error.strerror}") from error
    raise InputError(f"{file} is larger than {MOST_BYTES >> 30} GiB, too large for a model")


def _loaded(data: bytes, trusted: frozenset[str]) -> Loaded:
    members = members_of(data)
    if SCHEMA not in members:
        raise InputError(f"it is a zip archive without {SCHEMA}, so that it is no skops file")
    if HEADER not in members:
        raise InputError(
            f"it is a skops file without {HEADER}, so that labels and columns are not known; save "
            f"it with assay train or assay.learn.persistence.save_model"
        )
    schema = schema_of(members[SCHEMA])
    if rename_types(schema):
        members[SCHEMA] = json.dumps(schema).encode()
    names = check_names(schema, trusted)
    must_be_trees(parts_of(schema), members)
    header = header_of(members[HEADER])
    # skops gets what was checked, and not the archive that it came in.
    checked = packed({name: members[name] for name in members if name != HEADER}, small=False)
    notes = _version_notes(header)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about versions, of which the notes tell
            pipeline = _rebuilt(checked, names, own=bool(trusted & names))
            unpack_words(pipeline)
            must_be_sound(pipeline)
            must_cut_words(pipeline)
            _must_predict(pipeline, header)
            in_order(pipeline)  # whose steps may lack a setting, which would show only later
    except InputError:
        raise
    except _UNREADABLE as error:
        raise InputError(_unreadable(header, error)) from error
    return Loaded(pipeline, header, notes)


def _rebuilt(data: bytes, names: frozenset[str], *, own: bool) -> Any:
    from skops.io import loads

    # Types of one's own may be in this folder; last, so that nothing in it stands in for others.
    here = str(Path.cwd())
    if own and here not in sys.path:
        sys.path.append(here)
    return loads(data, trusted=sorted(names))


def _must_predict(pipeline: Any, header: dict[str, Any]) -> None:
    if not callable(getattr(pipeline, "predict_proba", None)):
        raise InputError(f"it holds a {type(pipeline).__name__}, which has no probabilities")
    classes = list(pipeline.classes_)
    if not all(0 <= int(code) < len(header["labels"]) for code in classes):
        raise InputError("its classes and the labels of its header do not match")
    steps = getattr(pipeline, "steps", None)
    learned = getattr(steps[0][1], "names_", None) if steps else None
    if learned and sorted(learned) != sorted(feature["name"] for feature in header["features"]):
        raise InputError("its header lists other columns than those that the model learned from")


def _version_notes(header: dict[str, Any]) -> tuple[str, ...]:
    now, then = versions(), header.get("versions", {})
    package = "scikit-learn"
    if package not in then or then[package] == now.get(package):
        return ()
    note = (
        f"the model was saved with {package} {then[package][:20]} and is read by {now[package]}: "
        f"scores may differ a little; train it again where that matters"
    )
    return (note,)


def _unreadable(header: dict[str, Any], error: BaseException) -> str:
    now, then = versions(), header.get("versions", {})
    reason = f"the model can't be rebuilt ({type(error).__name__}: {str(error)[:200]})"
    if then.get("scikit-learn") != now.get("scikit-learn"):
        return (
            f"{reason}. It was saved with scikit-learn {str(then.get('scikit-learn'))[:20]}, and "
            f"this is {now.get('scikit-learn')}: install that version, or train it again"
        )
    return f"{reason}: the file is damaged, or was made by something else than assay train"


# -- writing ---------------------------------------------------------------------------------------

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

    written = header_bytes(completed_header(header))
    must_cut_words(pipeline)
    try:
        with words_packed(pipeline):
            raw = dumps(pipeline)
    except (TypeError, ValueError, AttributeError, RecursionError) as error:
        raise InputError(f"the model can't be saved without pickle: {error}") from error
    with zipfile.ZipFile(io.BytesIO(raw)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    schema, arrays = _renumbered(json.loads(members.pop(SCHEMA)), members)
    schema_bytes = json.dumps(schema, separators=(",", ":"), ensure_ascii=False).encode()
    content = packed({HEADER: written, SCHEMA: schema_bytes, **arrays}, small=True)
    types_to_trust(content)  # what could not be loaded again is refused now
    return content


def types_to_trust(content: bytes) -> tuple[str, ...]:
    """The types in a model file that are not trusted by themselves."""
    schema = schema_of(members_of(content)[SCHEMA])
    rename_types(schema)
    try:
        check_names(schema, frozenset())
    except Untrusted as refusal:
        return refusal.names
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
        identity = None if loader is None or loader in _NAMELESS else part.get("__id__")
        if identity in first:
            return first[identity]
        copy: dict[str, Any] = {}
        for key, value in part.items():
            if key == "__id__" and loader is not None:
                if identity is not None:
                    copy[key] = ids.setdefault(value, len(ids) + 1)
            elif key == "file" and loader is not None:
                suffix = Path(value).suffix
                copy[key] = files.setdefault(value, f"{len(files) + 1}{suffix}")
            elif key in _DROPPED_KEYS:
                copy[key] = _NOTHING
            else:
                copy[key] = renumbered(value)
        if identity is not None:
            first[identity] = copy
        return copy

    counted = renumbered(schema)
    return counted, {new: members[old] for old, new in files.items()}


# -- the header, as the JSON member ``assay.json`` -------------------------------------------------

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


def completed_header(header: Mapping[str, Any]) -> dict[str, Any]:
    """A header with the versions that the model is saved with, checked."""
    completed = {
        "schema": FORMAT,
        **header,
        "versions": {**versions(), **header.get("versions", {})},
    }
    must_be_header(completed)
    return completed


def versions() -> dict[str, str]:
    """The versions of what a model is made with."""
    numbers = {"python": platform.python_version(), "assay": __version__}
    for package in _PACKAGES:
        try:
            numbers[package] = version(package)
        except PackageNotFoundError:
            continue
    return numbers


def header_bytes(header: Mapping[str, Any]) -> bytes:
    """A header as JSON."""
    try:
        return json.dumps(header, ensure_ascii=False, allow_nan=False, indent=1).encode()
    except (TypeError, ValueError) as error:
        raise InputError(f"the header of the model is no plain data: {error}") from error


def header_of(content: bytes) -> dict[str, Any]:
    """A header from JSON, checked."""
    try:
        header = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise InputError(f"its header is no JSON ({error})") from error
    must_be_header(header)
    fields: dict[str, Any] = header
    return fields


def must_be_header(header: Any) -> None:
    """Refuse a header from which nobody could predict."""
    if not isinstance(header, dict) or not isinstance(header.get("schema"), str):
        raise InputError("its header does not say what it is")
    if header["schema"] != FORMAT:
        raise InputError(f"its header is {header['schema'][:50]!r}; this version reads {FORMAT!r}")
    for key in ("positive", "threshold"):
        if key not in header:
            raise InputError(f"its header does not say the {key}, which may be null")
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
    versions_there = header.get("versions", {})
    if not isinstance(versions_there, dict) or not _texts(list(versions_there.values())):
        raise InputError("its header has versions that are no text")


def _features(pipeline: Any, frame: pl.DataFrame) -> list[dict[str, str]]:
    steps = getattr(pipeline, "steps", None)
    first = steps[0][1] if steps else None
    names = getattr(first, "names_", None) or frame.columns
    numbers = getattr(first, "numbers_", None)
    if numbers is None:
        numbers = [name for name in frame.columns if frame[name].dtype.is_numeric()]
    return [{"name": name, "kind": NUMBER if name in numbers else TEXT} for name in names]


def _is_feature(feature: Any) -> bool:
    return (
        isinstance(feature, dict)
        and _texts([feature.get("name")])
        and feature.get("kind") in (NUMBER, TEXT)
    )


def _texts(values: Any) -> bool:
    return isinstance(values, list) and all(
        isinstance(one, str) and not _NO_TEXT.search(one) for one in values
    )


def _finite(number: Any) -> bool:
    if not isinstance(number, int | float) or isinstance(number, bool):
        return False
    return abs(number) <= sys.float_info.max  # a whole number may be too large for isfinite
