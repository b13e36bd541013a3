"""What every result can do: be written as plain values and read back, show itself, be saved.

Plain values are those that JSON can hold, derived from the fields of dataclasses.

A frozen dataclass is an object with its fields by name. Measures are written by their names, enums
by their values, estimates as numbers, nan as null. :func:`stored` says where a field is written
otherwise. What reads is as strict as the types of the fields, and names the place of what is wrong.
"""

from __future__ import annotations

import math
import os
import types
from collections.abc import Callable, Mapping
from dataclasses import MISSING, Field, dataclass, fields, is_dataclass
from enum import Enum
from functools import cache, cached_property
from importlib import import_module
from pathlib import Path
from typing import (
    Any,
    ClassVar,
    Literal,
    TypeVar,
    Union,
    cast,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)

from assay.errors import AssayError, InputError
from assay.v02.inference.estimate import Estimate
from assay.v02.measures import Measure, find

T = TypeVar("T")
Write = Callable[[Any], Any]
Read = Callable[[Any, str], Any]

_STORED = "assay.stored"
_NAMES = {dict: "an object", list: "a list", str: "a text", bool: "true or false", int: "a number"}


class Recorded:
    """A dataclass that is written as plain values, and read back.

    ``SCHEMA`` is the name of the document that it is, where it is a whole one. ``DERIVED`` are
    properties that are written too, and not read: the fields tell them. ``FIRST`` are the keys of
    the contract, which stand first.
    """

    SCHEMA: ClassVar[str] = ""
    DERIVED: ClassVar[tuple[str, ...]] = ()
    FIRST: ClassVar[tuple[str, ...]] = ()

    def to_dict(self) -> dict[str, Any]:
        """The plain values of the contract, ready for JSON."""
        kind: Any = type(self)
        values: dict[str, Any] = finite(codec_of(kind).write(self))
        return values

    def shaped(self, plain: dict[str, Any]) -> dict[str, Any]:
        """What is written, where it is not what the fields give."""
        return plain

    @classmethod
    def unshaped(cls, plain: dict[str, Any]) -> dict[str, Any]:
        """What the fields are read from, where :meth:`shaped` changed it."""
        return plain


@dataclass(frozen=True)
class FieldStorage:
    """How a field is written where that is not under its own name and by its type.

    ``key`` may lead into an object, as expected/fpr. ``inline``: its keys stand among those of the
    object, under other names where ``renamed`` says so. ``listed``: a mapping is a list of objects
    that have their key under this name. ``left_out``: it is not written. ``write`` and ``read``
    stand in for those of its type.
    """

    key: str | None = None
    inline: bool = False
    renamed: Mapping[str, str] | None = None
    listed: str | None = None
    left_out: bool = False
    write: Write | None = None
    read: Read | None = None


def stored(**how: Any) -> dict[str, Any]:
    """The metadata of a field that is written in another way; see :class:`FieldStorage`."""
    return {_STORED: FieldStorage(**how)}


def restored(kind: type[T], plain: Any, at: str = "") -> T:
    """The result of a type that plain values tell; ``at`` is their place in a document."""
    any_kind: Any = kind
    return cast("T", codec_of(any_kind).read(plain, at))


# -- codecs by type --------------------------------------------------------------------------------


@dataclass(frozen=True)
class Codec:
    """How values of one type are written, and read at a place of a document."""

    write: Write
    read: Read


@cache
def codec_of(kind: Any) -> Codec:
    """The codec of a type; it is made once."""
    simple = _SIMPLE.get(kind)
    if simple is not None:
        return simple
    origin, inner = get_origin(kind), get_args(kind)
    if origin in (Union, types.UnionType):
        return _union(inner)
    if origin is Literal:
        return Codec(_identity, lambda given, at: _one_of(given, inner, at))
    if origin in (tuple, list):
        return _several(origin, inner)
    if origin is not None and issubclass(origin, Mapping):
        return _mapping(codec_of(inner[0]), codec_of(inner[1]))
    if is_typeddict(kind):
        return _typed(kind)
    if is_dataclass(kind) or hasattr(kind, "_fields"):
        by_field = _ByField(kind)
        return Codec(by_field.write, by_field.read)
    if issubclass(kind, Enum):
        values = tuple(each.value for each in kind)
        return Codec(lambda value: value.value, lambda given, at: kind(_one_of(given, values, at)))
    raise TypeError(f"values of {kind!r} are not written")


def _identity(value: Any) -> Any:
    return value


def _of_type(*kinds: type) -> Read:
    def read(given: Any, at: str) -> Any:
        if type(given) not in kinds:
            raise field_error(at, given, " or ".join(_NAMES[kind] for kind in kinds))
        return given

    return read


def _number(given: Any, at: str) -> Any:
    if given is None:
        return math.nan
    if type(given) not in (int, float):
        raise field_error(at, given, "a number")
    return given


def _measure(given: Any, at: str) -> Measure:
    try:
        return find(given)
    except (AssayError, TypeError, AttributeError) as wrong:
        raise field_error(at, given, "the name of a measure") from wrong


def _one_of(given: Any, known: tuple[Any, ...], at: str) -> Any:
    if type(given) not in map(type, known) or given not in known:
        raise field_error(at, given, f"one of {', '.join(map(repr, known))}")
    return given


def _any(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _any(part) for key, part in value.items()}
    return [_any(part) for part in value] if isinstance(value, list | tuple) else value


def _estimate(given: Any, at: str) -> Estimate:
    numbers = {
        key: _number(_got(given, key, at), f"{at}/{key}") for key in ("value", "low", "high")
    }
    others = {name: codec.read(given.get(name), f"{at}/{name}") for name, codec in _OTHERS}
    return Estimate(**numbers, **{name: o for name, o in others.items() if o is not None})


def _estimate_written(estimate: Estimate) -> dict[str, Any]:
    return {
        "value": None if math.isnan(estimate) else float(estimate),
        "low": None if math.isnan(estimate.low) else estimate.low,
        "high": None if math.isnan(estimate.high) else estimate.high,
        "method": estimate.method or None,
        "n": estimate.n,
        "undefined": estimate.undefined,
        "bound": estimate.bound and list(estimate.bound),
        "note": estimate.note,
        "parts": {k: None if math.isnan(v) else v for k, v in estimate.parts.items()} or None,
        "level": estimate.level,
    }


_SIMPLE: dict[Any, Codec] = {
    str: Codec(_identity, _of_type(str)),
    int: Codec(_identity, _of_type(int)),
    bool: Codec(_identity, _of_type(bool)),
    float: Codec(lambda value: None if math.isnan(value) else value, _number),
    Any: Codec(_any, lambda given, at: given),  # noqa: ARG005 - whatever stands there
    Measure: Codec(lambda measure: measure.name, _measure),
    Estimate: Codec(_estimate_written, _estimate),
}


def _union(kinds: tuple[Any, ...]) -> Codec:
    """What may be None, or several values in place of one."""
    *_, last = others = [kind for kind in kinds if kind is not type(None)]
    lists = [get_origin(kind) in (tuple, list) for kind in others]
    if len(others) > 1 and lists != [False, True]:
        raise TypeError(
            f"of {kinds!r} it can't be told which was written: name one, or a tuple last"
        )
    first, second = codec_of(others[0]), codec_of(last)
    optional = len(others) < len(kinds)
    write_one = _identity if others[0] is float else first.write

    def write(value: Any) -> Any:
        if value is None:
            return None
        return second.write(value) if isinstance(value, tuple) else write_one(value)

    def read(given: Any, at: str) -> Any:
        if given is None and optional:
            return None
        return (second if isinstance(given, list) else first).read(given, at)

    return Codec(write, read)


def _several(kind: Any, kinds: tuple[Any, ...]) -> Codec:
    size = None if kind is list or kinds[-1] is Ellipsis else len(kinds)
    if len(set(kinds) - {Ellipsis}) != 1:
        raise TypeError(f"values of one type are written in a list; found {kinds!r}")
    inner = codec_of(kinds[0])

    def read(given: Any, at: str) -> Any:
        if not isinstance(given, list) or (size is not None and len(given) != size):
            raise field_error(at, given, "a list" if size is None else f"a list of {size}")
        return kind(inner.read(part, f"{at}/{i}") for i, part in enumerate(given))

    return Codec(lambda value: [inner.write(part) for part in value], read)


def _mapping(key: Codec, inner: Codec) -> Codec:
    def read(given: Any, at: str) -> dict[Any, Any]:
        if not isinstance(given, dict):
            raise field_error(at, given, "an object")
        return {
            key.read(name, at): inner.read(part, f"{at}/{name}") for name, part in given.items()
        }

    return Codec(lambda value: {k: inner.write(part) for k, part in value.items()}, read)


def _typed(kind: Any) -> Codec:
    """A mapping whose known keys have types; others are kept as they are."""
    known = {name: codec_of(hint) for name, hint in get_type_hints(kind).items()}
    otherwise, needed = _SIMPLE[Any], kind.__required_keys__

    def read(given: Any, at: str) -> dict[str, Any]:
        if not isinstance(given, dict):
            raise field_error(at, given, "an object")
        for name in needed:
            _got(given, name, at)
        return {n: known.get(n, otherwise).read(part, f"{at}/{n}") for n, part in given.items()}

    return Codec(
        lambda value: {n: known.get(n, otherwise).write(part) for n, part in value.items()}, read
    )


# -- dataclasses -----------------------------------------------------------------------------------


class _ByField:
    """The codec of a dataclass, or of a named tuple: field by field."""

    def __init__(self, kind: Any) -> None:
        self.kind = kind

    @cached_property
    def parts(self) -> tuple[tuple[str, Codec, FieldStorage, Any], ...]:
        """Name, codec, how it is stored, and the default of each field that is written."""
        hints = get_type_hints(self.kind)
        codecs = []
        for name, how, default in _fields(self.kind):
            if not how.left_out:
                codecs.append((name, _field_codec(hints[name], how), how, default))
        return tuple(codecs)

    @cached_property
    def derived(self) -> tuple[tuple[str, Codec], ...]:
        """Properties that are written too."""
        names = getattr(self.kind, "DERIVED", ())
        hints = ((n, get_type_hints(getattr(self.kind, n).fget)["return"]) for n in names)
        return tuple((name, codec_of(hint)) for name, hint in hints)

    def write(self, value: Any) -> dict[str, Any]:
        schema = getattr(self.kind, "SCHEMA", "")
        values: dict[str, Any] = {"schema": schema} if schema else {}
        for name, codec, how, _ in self.parts:
            written = codec.write(getattr(value, name))
            if how.inline:
                renamed = how.renamed or {}
                values.update({renamed.get(key, key): part for key, part in written.items()})
            else:
                *way, last = (how.key or name).split("/")
                (values.setdefault(way[0], {}) if way else values)[last] = written
        for name, codec in self.derived:
            values[name] = finite(codec.write(getattr(value, name)))
        if not isinstance(value, Recorded):
            return values
        ordered = {key: values[key] for key in (*value.FIRST, *values)} if value.FIRST else values
        return value.shaped(ordered)

    def read(self, given: Any, at: str) -> Any:
        if not isinstance(given, dict):
            raise field_error(at, given, "an object")
        if issubclass(self.kind, Recorded):
            given = self.kind.unshaped(given)
        fields_read = {}
        for name, codec, how, default in self.parts:
            if how.inline:
                renamed = how.renamed or {}
                values = {key: _got(given, other, at) for key, other in renamed.items()}
                fields_read[name] = codec.read({**given, **values}, at)
                continue
            *way, last = (how.key or name).split("/")
            held = _got(given, way[0], at) if way else given
            if default is MISSING or (isinstance(held, dict) and last in held):
                fields_read[name] = codec.read(_got(held, last, at), f"{at}/{how.key or name}")
        try:
            return self.kind(**fields_read)
        except AssayError as wrong:
            raise InputError(f"{place_of(at)}: {wrong}") from wrong


def _fields(kind: Any) -> list[tuple[str, FieldStorage, Any]]:
    if not is_dataclass(kind):
        return [(name, FieldStorage(), MISSING) for name in kind._fields]
    return [(f.name, f.metadata.get(_STORED) or FieldStorage(), _default(f)) for f in fields(kind)]


def _default(field: Field[Any]) -> Any:
    return field.default if field.default_factory is MISSING else field.default_factory


def _field_codec(hint: Any, how: FieldStorage) -> Codec:
    """The codec of a field: its own, that of a mapping that is listed, or that of its type."""
    if how.write is not None and how.read is not None:
        return Codec(how.write, how.read)
    if how.write is not None or how.read is not None:
        raise TypeError(f"a field of {hint!r} is written in its own way and not read so: give both")
    if how.listed is None:
        return codec_of(hint)
    name, inner = how.listed, codec_of(get_args(hint)[1])

    def read(given: Any, at: str) -> dict[str, Any]:
        if not isinstance(given, list):
            raise field_error(at, given, "a list")
        places = [f"{at}/{i}" for i in range(len(given))]
        keys = [_SIMPLE[str].read(_got(g, name, p), p) for g, p in zip(given, places, strict=True)]
        parts = (inner.read(g, p) for g, p in zip(given, places, strict=True))
        return dict(zip(keys, parts, strict=True))

    return Codec(lambda value: [{name: k, **inner.write(v)} for k, v in value.items()], read)


_OTHERS = tuple(
    (name, codec_of(hint))
    for name, hint in {
        "method": str | None,
        "n": float | None,
        "level": float | None,
        "undefined": str | None,
        "note": str | None,
        "parts": Mapping[str, float] | None,
        "bound": tuple[float, float] | None,
    }.items()
)


def _got(given: Any, key: str, at: str) -> Any:
    if not isinstance(given, dict):
        raise field_error(at, given, "an object")
    if key not in given:
        raise InputError(f"{place_of(at)} lacks the key {key!r}")
    return given[key]


# -- places of a document: of numbers that JSON does not have, and of what is wrong ----------------

_SPELLED = {"inf": math.inf, "-inf": -math.inf, "nan": math.nan}
_LONGEST = 60


def finite(values: Any) -> Any:
    """Plain values with null for what is not finite."""
    return settled(values, {})


def settled(values: Any, not_finite: dict[str, str], at: str = "") -> Any:
    """Plain values with null for what is not finite, which ``not_finite`` gets by its place.

    >>> not_finite = {}
    >>> settled({"df": (3, math.inf)}, not_finite), not_finite
    ({'df': [3, None]}, {'/df/1': 'inf'})
    """
    if isinstance(values, float):
        if math.isfinite(values):
            return values
        not_finite[at] = repr(float(values))
        return None
    if isinstance(values, dict):
        return {
            key: settled(part, not_finite, f"{at}/{_escaped(key)}") for key, part in values.items()
        }
    if isinstance(values, list | tuple):
        return [settled(part, not_finite, f"{at}/{i}") for i, part in enumerate(values)]
    return values


def unsettled(document: Any, not_finite: Mapping[str, Any]) -> None:
    """Put back, in place, what :func:`settled` took out."""
    for place, spelled in not_finite.items():
        way = [part.replace("~1", "/").replace("~0", "~") for part in place.split("/")[1:]]
        held, last = _container_of(document, way)
        known = isinstance(spelled, str) and spelled in _SPELLED
        if held is None or not known or held[last] is not None:
            raise InputError(f"there is no null at {shortened(place)!r} to be {spelled!r}")
        held[last] = _SPELLED[spelled]


def _container_of(document: Any, way: list[str]) -> tuple[Any, Any]:
    """The object or list that a way leads into, and the key or place there; None where it fails."""
    held: Any = None
    last: Any = None
    for part in way:
        held, document = document, None
        if isinstance(held, dict) and part in held:
            last = part
        elif isinstance(held, list) and part.isdecimal() and int(part) < len(held):
            last = int(part)
        else:
            return None, None
        document = held[last]
    return held, last


def _escaped(key: str) -> str:
    return key.replace("~", "~0").replace("/", "~1") if "/" in key or "~" in key else key


def shortened(text: str) -> str:
    """A text as it goes into a message: printable and not too long."""
    text = text if text.isprintable() else ascii(text)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def field_error(at: str, given: Any, expected: str) -> InputError:
    """The error of a value that is not what its place asks for."""
    return InputError(f"{place_of(at)} is {shortened(repr(given))}; expected {expected}")


def place_of(at: str) -> str:
    """A place of a document as it goes into a message."""
    return shortened(at) or "the document"


# -- results in a notebook, as a file, as a dataframe ----------------------------------------------

# Reports stand above results, so what draws them is found by its name, when it is asked for.
_DRAWN_BY = "assay.v02.report.results"


class Result:
    """A result that a report is made of.

    >>> import assay
    >>> plan = assay.plan(max_fpr=1e-4)
    >>> print(str(plan).splitlines()[0])
    How many labelled rows are needed
    >>> plan.to_frame("polars").columns[:4]
    ['goal', 'family', 'target', 'confidence']
    """

    def __repr__(self) -> str:
        text: str = _drawing().text_of(self)
        return text

    def _repr_html_(self) -> str:
        """What a notebook shows: at most 40 lines, the rest folded."""
        html: str = _drawing().cell_of(self)
        return html

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the whole report, as the suffix says, and give its path.

        There are .html, .md, .tex, .json, .csv, .txt, and .pdf where Chromium or a TeX is
        installed. A file that is there is replaced when the new one is whole.
        """
        saved: Path = _drawing().save(self, path)
        return saved

    def to_frame(self, library: str | None = None) -> Any:
        """What it found as a tidy dataframe, the rows of its CSV.

        ``library`` is ``"pandas"`` or ``"polars"``; if it is not said, pandas where it is
        installed, else polars.
        """
        return _drawing().frame_of(self, library)


def _drawing() -> Any:
    return import_module(_DRAWN_BY)
