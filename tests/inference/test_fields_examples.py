"""Results as plain values by examples: what is written, in which order, and what is refused."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum, StrEnum
from typing import Any, ClassVar, Literal, NamedTuple, TypedDict

import numpy as np
import pytest

from assay.errors import InputError
from assay.inference import Estimate
from assay.inference.fields import (
    FieldStorage,
    Recorded,
    codec_of,
    field_error,
    finite,
    place_of,
    restored,
    settled,
    shortened,
    stored,
    unsettled,
)
from assay.measures import MCC, Measure


class Side(StrEnum):
    LEFT = "left"
    RIGHT = "right"


class Level(Enum):
    ONE = 1
    TWO = 2


class Place(NamedTuple):
    column: str
    value: int


class About(TypedDict):
    name: str
    rows: int


class Loose(TypedDict, total=False):
    name: str


def both(kind: Any, value: Any, plain: Any) -> None:
    """A value is written so, and read back from that."""
    codec = codec_of(kind)
    assert codec.write(value) == plain
    copy = codec.read(plain, "/at")
    assert copy == value
    assert type(copy) is type(value)


# -- types -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "value", "plain"),
    [
        (str, "a", "a"),
        (int, 3, 3),
        (bool, True, True),
        (float, 0.5, 0.5),
        (float, 2, 2),
        (Any, {"a": 1}, {"a": 1}),
        (Measure, MCC, "mcc"),
        (Side, Side.LEFT, "left"),
        (Level, Level.TWO, 2),
        (Literal["on", "off"], "on", "on"),
        (tuple[int, ...], (1, 2, 3), [1, 2, 3]),
        (tuple[int, ...], (), []),
        (tuple[int, int], (1, 2), [1, 2]),
        (tuple[int], (1,), [1]),
        (list[int], [1, 2], [1, 2]),
        (Mapping[str, int], {"a": 1}, {"a": 1}),
        (int | None, None, None),
        (int | None, 4, 4),
        (float | tuple[float, ...], 0.5, 0.5),
        (float | tuple[float, ...], (0.5, 0.25), [0.5, 0.25]),
        (int | tuple[int, ...] | None, None, None),
        (int | tuple[int, ...] | None, 5, 5),
        (int | tuple[int, ...] | None, (5, 6), [5, 6]),
        (Place, Place("a", 1), {"column": "a", "value": 1}),
        (About, {"name": "a", "rows": 1}, {"name": "a", "rows": 1}),
        (About, {"name": "a", "rows": 1, "more": [2]}, {"name": "a", "rows": 1, "more": [2]}),
        (Loose, {}, {}),
    ],
)
def test_value_is_written_as_its_type_says(kind: Any, value: Any, plain: Any) -> None:
    both(kind, value, plain)


def test_nan_is_null_and_read_back() -> None:
    assert codec_of(float).write(math.nan) is None
    assert math.isnan(codec_of(float).read(None, ""))
    # What may be None keeps its nan, which null would not tell from it.
    assert math.isnan(codec_of(float | None).write(math.nan))
    assert codec_of(float | None).read(None, "") is None


def test_anything_is_plain_values_all_the_way_down() -> None:
    write = codec_of(Any).write
    assert write({"a": ({"b": (1, "x")}, [2])}) == {"a": [{"b": [1, "x"]}, [2]]}


@pytest.mark.parametrize(
    ("kind", "plain", "said"),
    [
        (str, 1, "/at is 1; expected a text"),
        (int, True, "/at is True; expected a number"),
        (int, 1.0, "/at is 1.0; expected a number"),
        (int, None, "/at is None; expected a number"),
        (bool, 1, "/at is 1; expected true or false"),
        (float, "1", "/at is '1'; expected a number"),
        (float, False, "/at is False; expected a number"),
        (Measure, 3, "/at is 3; expected the name of a measure"),
        (Side, "up", "/at is 'up'; expected one of 'left', 'right'"),
        (Level, 3, "/at is 3; expected one of 1, 2"),
        # Of another type, though equal.
        (Level, True, "/at is True; expected one of 1, 2"),
        (Level, 1.0, "/at is 1.0; expected one of 1, 2"),
        (Literal["on", "off"], "of", "/at is 'of'; expected one of 'on', 'off'"),
        (tuple[int, ...], (1, 2), "/at is (1, 2); expected a list"),
        (tuple[int, ...], [1, "2"], "/at/1 is '2'; expected a number"),
        (tuple[int, int], [1, 2, 3], "/at is [1, 2, 3]; expected a list of 2"),
        (tuple[int, int], [1], "/at is [1]; expected a list of 2"),
        (list[int], {}, "/at is {}; expected a list"),
        (Mapping[str, int], [], "/at is []; expected an object"),
        (Mapping[str, int], {"a": "b"}, "/at/a is 'b'; expected a number"),
        (int | None, "1", "/at is '1'; expected a number"),
        (float | tuple[float, ...], ["a"], "/at/0 is 'a'; expected a number"),
        (int | tuple[int, ...], None, "/at is None; expected a number"),
        (Place, [], "/at is []; expected an object"),
        (Place, {"column": "a"}, "/at lacks the key 'value'"),
        (About, 4, "/at is 4; expected an object"),
        (About, {"name": "a"}, "/at lacks the key 'rows'"),
        (About, {"name": 1, "rows": 1}, "/at/name is 1; expected a text"),
    ],
)
def test_what_is_not_of_its_type_is_refused(kind: Any, plain: Any, said: str) -> None:
    with pytest.raises(InputError) as error:
        codec_of(kind).read(plain, "/at")
    assert str(error.value) == said


# -- estimates -------------------------------------------------------------------------------------


def test_estimate_is_an_object_of_all_that_it_knows() -> None:
    full = Estimate(
        0.5, 0.25, 0.75, method="wilson", n=8, level=0.9, note="a", parts={"b": math.nan, "c": 1.0},
        bound=(0.4, 0.6),
    )  # fmt: skip
    plain = codec_of(Estimate).write(full)
    assert plain == {
        "value": 0.5,
        "low": 0.25,
        "high": 0.75,
        "method": "wilson",
        "n": 8,
        "undefined": None,
        "bound": [0.4, 0.6],
        "note": "a",
        "parts": {"b": None, "c": 1.0},
        "level": 0.9,
    }
    copy = codec_of(Estimate).read(plain, "")
    assert codec_of(Estimate).write(copy) == plain
    assert copy.bound == (0.4, 0.6)


def test_estimate_of_nothing_is_an_object_of_nulls() -> None:
    plain = codec_of(Estimate).write(Estimate(math.nan, undefined="no rows"))
    assert plain == {
        **dict.fromkeys(("value", "low", "high", "method", "bound", "note", "parts")),
        "n": 0,
        "undefined": "no rows",
        "level": 0.95,
    }
    copy = codec_of(Estimate).read({"value": None, "low": None, "high": None}, "")
    assert math.isnan(copy)
    assert (copy.method, copy.n, copy.level, copy.parts) == ("", 0, 0.95, {})
    with pytest.raises(InputError, match="/at lacks the key 'high'"):
        codec_of(Estimate).read({"value": None, "low": None}, "/at")


# -- fields ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Inner:
    x: int
    y: int = 5


@dataclass(frozen=True)
class Outer(Recorded):
    SCHEMA: ClassVar[str] = "assay.outer/1"
    DERIVED: ClassVar[tuple[str, ...]] = ("ratio",)
    FIRST: ClassVar[tuple[str, ...]] = ("schema", "kind")

    kind: str
    count: int = field(metadata=stored(key="how/many"))
    inner: Inner = field(metadata=stored(inline=True, renamed={"x": "across"}))
    named: Mapping[str, Inner] = field(metadata=stored(listed="name"))
    spelled: int = field(metadata=stored(write=str, read=lambda given, _: int(given)))
    hidden: int = field(default=7, metadata=stored(left_out=True))
    late: tuple[int, ...] = ()
    size: int = field(default=0, metadata=stored(key="how/large"))
    made: list[int] = field(default_factory=lambda: [1])

    def __post_init__(self) -> None:
        if self.kind == "bad":
            raise InputError("a kind is not bad")

    @property
    def ratio(self) -> float:
        return math.inf if not self.count else 1 / self.count


OUTER = Outer("good", 4, Inner(1, 2), {"a": Inner(3, 4)}, 6, size=9, made=[2])
PLAIN = {
    "schema": "assay.outer/1",
    "kind": "good",
    "how": {"many": 4, "large": 9},
    "across": 1,
    "y": 2,
    "named": [{"name": "a", "x": 3, "y": 4}],
    "spelled": "6",
    "late": [],
    "made": [2],
    "ratio": 0.25,
}


def test_fields_are_written_where_they_say() -> None:
    assert OUTER.to_dict() == PLAIN
    assert list(OUTER.to_dict())[:2] == ["schema", "kind"]
    assert restored(Outer, PLAIN) == OUTER


def test_what_is_derived_is_null_where_it_is_not_finite() -> None:
    assert Outer("good", 0, Inner(1), {}, 6).to_dict()["ratio"] is None


def test_fields_with_a_default_need_not_be_there() -> None:
    needed = {key: PLAIN[key] for key in ("kind", "across", "y", "named", "spelled")}
    copy = restored(Outer, {**needed, "how": {"many": 4}})
    assert (copy.size, copy.late, copy.made, copy.hidden) == (0, (), [1], 7)
    # What is not an object holds no key.
    with pytest.raises(InputError, match=r"the document is 3; expected an object"):
        restored(Outer, {**needed, "how": 3})


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"kind": 1}, "/kind is 1; expected a text"),
        ({"how": {"many": "4"}}, "/how/many is '4'; expected a number"),
        ({"how": {"large": 4}}, "the document lacks the key 'many'"),
        ({"across": "1"}, "/x is '1'; expected a number"),
        ({"named": {}}, "/named is {}; expected a list"),
        ({"named": [{"x": 3}]}, "/named/0 lacks the key 'name'"),
        ({"named": [{"name": 1, "x": 3}]}, "/named/0 is 1; expected a text"),
        ({"named": [{"name": "a", "x": "b"}]}, "/named/0/x is 'b'; expected a number"),
        ({"kind": "bad"}, "the document: a kind is not bad"),
    ],
)
def test_what_is_wrong_is_refused_with_its_place(changed: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError) as error:
        restored(Outer, {**PLAIN, **changed})
    assert str(error.value) == said


@pytest.mark.parametrize("key", ["kind", "how", "across", "named", "spelled"])
def test_key_that_is_not_there_is_named(key: str) -> None:
    with pytest.raises(InputError, match=f"the document lacks the key '{key}'"):
        restored(Outer, {name: value for name, value in PLAIN.items() if name != key})


def test_place_of_a_document_is_told() -> None:
    with pytest.raises(InputError, match="/a/b is 4; expected an object"):
        restored(Outer, 4, "/a/b")
    with pytest.raises(InputError, match="/a/b: a kind is not bad"):
        restored(Outer, {**PLAIN, "kind": "bad"}, "/a/b")


def test_fields_are_written_by_their_names_unless_told_otherwise() -> None:
    assert FieldStorage() == FieldStorage(
        key=None, inline=False, renamed=None, listed=None, left_out=False, write=None, read=None
    )


# -- numbers that JSON does not have ---------------------------------------------------------------


def test_what_is_not_finite_is_null_and_comes_back() -> None:
    values = {"a": [1.5, math.inf, -math.inf], "b/c": (math.nan,), "d~e": math.inf, "n": 3}
    odd_ones: dict[str, str] = {}
    plain = settled(values, odd_ones)
    assert plain == {"a": [1.5, None, None], "b/c": [None], "d~e": None, "n": 3}
    assert odd_ones == {"/a/1": "inf", "/a/2": "-inf", "/b~1c/0": "nan", "/d~0e": "inf"}
    assert finite(values) == plain
    unsettled(plain, odd_ones)
    assert plain["a"] == [1.5, math.inf, -math.inf]
    assert math.isnan(plain["b/c"][0])
    assert plain["d~e"] == math.inf


@pytest.mark.parametrize(
    ("place", "spelled"),
    [
        ("/a/2", "inf"),
        ("/a/-1", "inf"),
        ("/a/x", "inf"),
        ("/b", "inf"),
        ("/a/0/0", "inf"),
        ("/a/1", "inf"),
        ("/a/0", "infinity"),
        ("/a/0", 1),
        ("", "inf"),
    ],
)
def test_place_without_a_null_is_refused(place: str, spelled: Any) -> None:
    with pytest.raises(InputError, match="there is no null at"):
        unsettled({"a": [None, 1.0]}, {place: spelled})


def test_estimates_and_numbers_of_numpy_are_spelled_as_plain_numbers() -> None:
    odd_ones: dict[str, str] = {}
    assert settled([Estimate(math.inf, 0, 1), np.float64(-math.inf), Estimate(math.nan)], odd_ones)
    assert odd_ones == {"/0": "inf", "/1": "-inf", "/2": "nan"}


def test_last_of_a_list_is_put_back() -> None:
    document = {"a": [1.0, None]}
    unsettled(document, {"/a/1": "-inf"})
    assert document == {"a": [1.0, -math.inf]}


# -- messages --------------------------------------------------------------------------------------


def test_text_of_sixty_characters_is_shown_and_a_longer_one_cut() -> None:
    assert shortened("x" * 60) == "x" * 60
    assert shortened("x" * 61) == "x" * 59 + "…"
    assert shortened("a\nb") == "'a\\nb'"


def test_place_that_is_empty_is_the_document() -> None:
    assert (place_of(""), place_of("/a")) == ("the document", "/a")
    assert str(field_error("", 3, "a text")) == "the document is 3; expected a text"
