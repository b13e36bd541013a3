"""The zip archive that a model file is, taken apart before anything is made of it.

Nothing is written to disk, so that names of members are labels only. Sizes are checked twice: what
the archive declares, and what really comes out of it.

Long lists of words are arrays in it, since skops would describe each word by itself: a vocabulary
of a million terms is 200 MB of schema, and as JSON inside an array of bytes a tenth.
"""

from __future__ import annotations

import ast
import io
import json
import math
import re
import stat
import struct
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np
import numpy.typing as npt

from assay.errors import InputError
from assay.v02.number_text import byte_size
from assay.v02.sources.files.binary_tables import must_have_units

SCHEMA = "schema.json"
HEADER = "assay.json"

# The largest file, and what may come out of one.
MOST_BYTES = 4 << 30
MOST_MEMBERS = 200_000
_MOST_OF = {SCHEMA: 64 << 20, HEADER: 8 << 20}
# Trees pack to a quarter; what packs to a fiftieth holds nothing but repetition.
_MOST_RATIO = 50
_WITHOUT_RATIO = 64 << 20
_CHUNK = 1 << 20

_NAME = re.compile(r"[A-Za-z0-9_-]{1,100}\.(?:npy|npz|json|bin)")
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_ENCRYPTED = 1
_ZIP = b"PK\x03\x04"
_ENTRY = b"PK\x01\x02"
_PICKLE = "a pickle"
_ZLIB = (b"\x01", b"\x5e", b"\x9c", b"\xda")
# What people may have in place of a model file, by its first bytes.
_KNOWN = (
    (b"\x80", _PICKLE),
    (b"\x1f\x8b", "packed by gzip, as joblib does with its pickles"),
    *((b"x" + level, "packed by zlib, as joblib does with its pickles") for level in _ZLIB),
    (b"BZh", "packed by bzip2, as joblib does with its pickles"),
    (b"\xfd7zXZ", "packed by xz, as joblib does with its pickles"),
    (b"\x04\x22\x4d\x18", "packed by lz4, as joblib does with its pickles"),
    (b"]\x00\x00", "packed by lzma, as joblib does with its pickles"),
    (b"ZF", "a joblib file, which holds pickles"),
    (b"\x89HDF", "an HDF5 file"),
    (b"\x93NUMPY", "a NumPy array"),
    (b"PAR1", "a Parquet file"),
)
_PICKLE_ENDS = b"."
_ARRAY = b"\x93NUMPY"
_LENGTHS = {b"\x01\x00": "<H", b"\x02\x00": "<I"}  # of the head of an array, by its version
_LONGEST_HEAD = 10_000
_TYPE = re.compile(r"[<>|=](?:[biufcSUV]\d+|O|[mM]8(?:\[\w+\])?)")

# What damaged bytes make zipfile and numpy raise.
DAMAGED = (
    zipfile.BadZipFile,
    zlib.error,
    struct.error,
    EOFError,
    ValueError,
    TypeError,
    LookupError,
    ArithmeticError,
    NotImplementedError,
    RecursionError,
    OSError,
)


def may_be_archive(start: bytes) -> bool:
    """Whether a file that begins so is worth reading to its end."""
    return _ZIP.startswith(start[: len(_ZIP)])


def members_of(data: bytes) -> dict[str, bytes]:
    """The members of an archive by name, each read whole; refuses what is odd about any of them."""
    if not data.startswith(_ZIP):
        raise InputError(
            f"it is {_kind_of_file(data)}. Models are files that assay train writes (skops)"
        )
    if data.count(_ENTRY) > MOST_MEMBERS:
        raise InputError(
            f"the archive has more than {MOST_MEMBERS:,} members, too many for a model"
        )
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            infos = archive.infolist()
            _must_be_sound(infos, len(data))
            members = {info.filename: _content(archive, info) for info in infos}
    except InputError:
        raise
    except DAMAGED as error:
        raise InputError(f"the archive is damaged or cut short ({error})") from error
    for name, content in members.items():
        if name.endswith(".npy"):
            must_be_array(content, name)
    return members


def _kind_of_file(data: bytes) -> str:
    if not data:
        return "empty"
    kind = next((kind for start, kind in _KNOWN if data.startswith(start)), None)
    if kind is None and data.endswith(_PICKLE_ENDS):
        kind = _PICKLE
    if kind is None:
        return f"no zip archive: its first bytes are {data[:4]!r}"
    warning = "; a pickle runs code when it is loaded, and is never read"
    return kind + (warning if "pickle" in kind else "")


def _must_be_sound(infos: list[zipfile.ZipInfo], packed: int) -> None:
    names: set[str] = set()
    arrays = 0
    for info in infos:
        name = info.filename
        if not _NAME.fullmatch(name):
            raise InputError(f"the archive has a member {name[:100]!r}, which is no name for one")
        if name in names:
            raise InputError(f"the archive has two members {name!r}")
        names.add(name)
        if stat.S_IFMT(info.external_attr >> 16) not in (0, stat.S_IFREG):
            raise InputError(f"the member {name!r} is a link or a device")
        if info.flag_bits & _ENCRYPTED:
            raise InputError(f"the member {name!r} is encrypted")
        if info.compress_type not in _METHODS:
            raise InputError(f"the member {name!r} is packed in a way that models are not")
        if info.file_size > _MOST_OF.get(name, MOST_BYTES):
            raise InputError(
                f"the member {name!r} unpacks to {byte_size(info.file_size)}, too much"
            )
        arrays += info.file_size if name not in _MOST_OF else 0
    if arrays > min(MOST_BYTES, max(_WITHOUT_RATIO, _MOST_RATIO * packed)):
        raise InputError(
            f"{byte_size(packed)} unpack to {byte_size(arrays)}, which is no model but a way to "
            f"fill memory"
        )


def _content(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> bytes:
    """A member, in chunks: asked for all at once, zipfile unpacks more than was declared."""
    parts = []
    with archive.open(info) as stream:
        while chunk := stream.read(_CHUNK):
            parts.append(chunk)
    content = b"".join(parts)
    if len(content) != info.file_size:
        raise InputError(
            f"the member {info.filename!r} holds {len(content):,} bytes and declares "
            f"{info.file_size:,}: the file is damaged"
        )
    return content


def must_be_array(content: bytes, name: str) -> None:
    """Refuse what is no NumPy array of plain numbers or text, and one whose size is made up."""
    try:
        shape, kind, start = _array_head(content)
    except (*DAMAGED, SyntaxError, MemoryError) as error:
        raise InputError(f"the member {name!r} is no array ({str(error)[:100]})") from error
    if kind.hasobject:
        raise InputError(
            f"the array {name!r} holds Python objects, that is a pickle, which runs code when it "
            f"is loaded and is never read"
        )
    values = math.prod(shape)
    declared, there = values * kind.itemsize, len(content) - start
    if declared != there or (values and not kind.itemsize):
        raise InputError(
            f"the array {name!r} declares {declared:,} bytes and holds {there:,}: it is damaged"
        )


def _array_head(content: bytes) -> tuple[list[int], np.dtype[Any], int]:
    """The shape and type of an array, and where its values begin.

    NumPy's own reader takes text of Python 2 for a head too, and warns.
    """
    length = _LENGTHS[content[6:8]]
    start = 8 + struct.calcsize(length)
    (size,) = struct.unpack(length, content[8:start])
    if not content.startswith(_ARRAY) or size > min(_LONGEST_HEAD, len(content)):
        raise ValueError("it does not begin as one")
    must_have_units(content[: start + size])
    head = ast.literal_eval(content[start : start + size].decode("latin1"))
    shape = [int(extent) for extent in head["shape"]]
    if min(shape, default=0) < 0:
        raise ValueError("its shape is negative")
    _must_be_written_by_numpy(head["descr"])
    kind: np.dtype[Any] = np.lib.format.descr_to_dtype(head["descr"])
    return shape, kind, start + size


def _must_be_written_by_numpy(described: Any) -> None:
    """Refuse other names of types, of which NumPy takes many, some with a warning.

    >>> _must_be_written_by_numpy([("left_child", "<i8"), ("", "|V7")])
    >>> _must_be_written_by_numpy([("left_child", "<a8")])
    Traceback (most recent call last):
        ...
    ValueError: NumPy writes no type '<a8'
    """
    if isinstance(described, list):
        for _, kind, *_ in described:
            _must_be_written_by_numpy(kind)
    elif isinstance(described, tuple):
        _must_be_written_by_numpy(described[0])
    elif not _TYPE.fullmatch(described):
        raise ValueError(f"NumPy writes no type {described!r}")


def packed(members: Mapping[str, bytes], *, small: bool) -> bytes:
    """An archive of these members, the same bytes for the same members."""
    stream = io.BytesIO()
    method = zipfile.ZIP_DEFLATED if small else zipfile.ZIP_STORED
    with zipfile.ZipFile(stream, "w") as archive:
        for name, content in members.items():
            info = zipfile.ZipInfo(name)  # whose time is 1980
            info.external_attr = (stat.S_IFREG | 0o600) << 16
            archive.writestr(info, content, compress_type=method)
    return stream.getvalue()


# -- words as arrays -------------------------------------------------------------------------------

VOCABULARY, CATEGORIES = "vocabulary_", "categories_"
# Patterns that look at each character of a text once; the first is scikit-learn's own. Others may
# take longer than anybody waits, and which of them do is hard to tell.
TOKEN_PATTERNS = (r"(?u)\b\w\w+\b", r"(?u)\b\w+\b", r"\b\w\w+\b", r"\b\w+\b", r"\w+", r"\S+")
# The longest run of words or characters that may be a term: a text has as many as it is long.
LONGEST_TERM = 16


@contextmanager
def words_packed(model: Any) -> Iterator[None]:
    """A context in which the words inside a model are arrays."""
    before: list[tuple[Any, str, Any]] = []
    try:
        for part in list(objects_in(model)):
            for name, words in _words(part).items():
                before.append((part, name, getattr(part, name)))
                text = json.dumps(words).encode()
                setattr(part, name, np.frombuffer(text, np.uint8))
        yield
    finally:
        for part, name, value in before:
            setattr(part, name, value)


def unpack_words(model: Any) -> None:
    """Turn the arrays of a loaded model back into words."""
    for part in list(objects_in(model)):
        for name in (VOCABULARY, CATEGORIES):
            value = vars(part).get(name)
            if isinstance(value, np.ndarray) and value.dtype == np.uint8 and value.ndim == 1:
                words = _parsed(value)
                if name == VOCABULARY:
                    setattr(part, name, _vocabulary(words))
                elif all(map(_texts, words)):
                    setattr(part, name, words)
                else:
                    raise InputError("the categories of a column in it are no texts")


def must_cut_words(model: Any) -> None:
    """Refuse what would cut texts into words, or into runs of them, without an end."""
    for part in objects_in(model):
        pattern = vars(part).get("token_pattern")
        if pattern is not None and pattern not in TOKEN_PATTERNS:
            patterns = ", ".join(TOKEN_PATTERNS)
            raise InputError(
                f"it would cut texts by the pattern {str(pattern)[:60]!r}, which may take forever; "
                f"a model file may have {patterns}. For others put a step before it"
            )
        runs = vars(part).get("ngram_range")
        if runs is not None and not _are_runs(runs):
            raise InputError(
                f"it would make terms of {str(runs)[:60]} words or characters; there are 1 to "
                f"{LONGEST_TERM}"
            )


def _are_runs(runs: Any) -> bool:
    pair = isinstance(runs, tuple | list) and len(runs) == 2
    return pair and all(type(end) is int and 1 <= end <= LONGEST_TERM for end in runs)


def _words(part: Any) -> dict[str, list[Any]]:
    """What can be packed of an object: a vocabulary in the order of its columns, categories."""
    packable: dict[str, list[Any]] = {}
    vocabulary = vars(part).get(VOCABULARY)
    if isinstance(vocabulary, dict) and _texts(list(vocabulary)):
        words = sorted(vocabulary, key=lambda word: int(vocabulary[word]))
        if [vocabulary[word] for word in words] == list(range(len(words))):
            packable[VOCABULARY] = words
    categories = vars(part).get(CATEGORIES)
    if isinstance(categories, list) and all(map(_texts, categories)):
        packable[CATEGORIES] = categories
    return packable


def _parsed(value: npt.NDArray[np.uint8]) -> list[Any]:
    try:
        content = json.loads(value.tobytes())
    except (ValueError, RecursionError) as error:
        raise InputError(f"a list of words in it is no JSON ({error})") from error
    if not isinstance(content, list):
        raise InputError("a list of words in it is no list")
    return content


def _vocabulary(words: list[Any]) -> dict[str, int]:
    vocabulary = {word: place for place, word in enumerate(words)} if _texts(words) else {}
    if len(vocabulary) < len(words):
        raise InputError("a vocabulary in it has a word twice, or something that is no word")
    return vocabulary


def _texts(values: Any) -> bool:
    return isinstance(values, list) and all(type(one) is str for one in values)


def objects_in(model: Any) -> Iterator[Any]:
    """Every object with attributes that can be reached from a model, each once."""
    seen: set[int] = set()
    waiting = [model]
    while waiting:
        part = waiting.pop()
        if isinstance(part, str | int | float | None) or id(part) in seen:
            continue
        seen.add(id(part))
        if isinstance(part, dict):
            waiting += part.values()
        elif isinstance(part, list | tuple | set):
            waiting += part
        elif isinstance(part, np.ndarray):
            waiting += part.ravel().tolist() if part.dtype.hasobject else ()
        elif hasattr(part, "__dict__") and not isinstance(part, type):
            yield part
            waiting += vars(part).values()
