"""A model file into a pipeline, without running anything that the file could choose."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from assay.errors import InputError
from assay.learn.fitting import in_order
from assay.learn.persistence import header as headers
from assay.learn.persistence.archive import (
    HEADER,
    MOST_BYTES,
    SCHEMA,
    may_be_archive,
    members_of,
    packed,
)
from assay.learn.persistence.trees import must_be_sound, must_be_trees
from assay.learn.persistence.trust import check_names, must_be_trustworthy, parts_of, schema_of
from assay.learn.persistence.vocabularies import must_cut_words, unpack_words
from assay.sources.files.inputs import name_of

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
    except OSError as odd:
        raise InputError(f"{file} can't be read: {odd.strerror}") from odd
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
    names = check_names(schema, trusted)
    must_be_trees(parts_of(schema), members)
    header = headers.from_bytes(members[HEADER])
    # skops gets what was checked, and not the archive that it came in.
    checked = packed({name: members[name] for name in members if name != HEADER}, small=False)
    notes = _version_notes(header)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about versions, of which the notes tell
            pipeline = _made(checked, names, own=bool(trusted & names))
            unpack_words(pipeline)
            must_be_sound(pipeline)
            must_cut_words(pipeline)
            _must_predict(pipeline, header)
            in_order(pipeline)  # whose steps may lack a setting, which would show only later
    except InputError:
        raise
    except _UNREADABLE as odd:
        raise InputError(_unreadable(header, odd)) from odd
    return Loaded(pipeline, header, notes)


def _made(data: bytes, names: frozenset[str], *, own: bool) -> Any:
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
    now, then = headers.versions(), header.get("versions", {})
    package = "scikit-learn"
    if package not in then or then[package] == now.get(package):
        return ()
    note = (
        f"the model was saved with {package} {then[package][:20]} and is read by {now[package]}: "
        f"scores may differ a little; train it again where that matters"
    )
    return (note,)


def _unreadable(header: dict[str, Any], odd: BaseException) -> str:
    now, then = headers.versions(), header.get("versions", {})
    found = f"the model can't be rebuilt ({type(odd).__name__}: {str(odd)[:200]})"
    if then.get("scikit-learn") != now.get("scikit-learn"):
        return (
            f"{found}. It was saved with scikit-learn {str(then.get('scikit-learn'))[:20]}, and "
            f"this is {now.get('scikit-learn')}: install that version, or train it again"
        )
    return f"{found}: the file is damaged, or was made by something else than assay train"
