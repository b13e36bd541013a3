"""Results as plain values, and back."""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field, make_dataclass
from enum import StrEnum
from typing import Any, ClassVar, Literal, NamedTuple, TypedDict

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.errors import InputError
from assay.inference import Estimate
from assay.inference.fields import Recorded, codec_of, restored, settled, stored, unsettled
from assay.measures import MCC, Measure

NUMBERS = st.floats() | st.integers(-(10**20), 10**20)


class Side(StrEnum):
    LEFT = "left"
    RIGHT = "right"


class Place(NamedTuple):
    column: str
    value: str


class About(TypedDict, total=False):
    name: str
    rows: int


@dataclass(frozen=True)
class Part(Recorded):
    name: str = field(metadata=stored(key="part"))
    share: float


@dataclass(frozen=True)
class Whole(Recorded):
    DERIVED: ClassVar[tuple[str, ...]] = ("twice",)

    label: str
    value: float
    maybe: float | None
    pair: float | tuple[float, float] | None
    numbers: tuple[float, ...]
    by_name: Mapping[str, float]
    pieces: tuple[Part, ...]
    estimate: Estimate = field(metadata=stored(inline=True, renamed={"value": "estimated"}))
    listed: Mapping[str, Estimate] = field(metadata=stored(listed="measure"))
    side: Side
    status: Literal["on", "off"]
    place: Place | None
    about: About
    measure: Measure
    deep: int = field(metadata=stored(key="held/deep"))
    anything: Any = None
    hidden: int = field(default=7, metadata=stored(left_out=True))

    @property
    def twice(self) -> float:
        return 2 * self.value


def estimates() -> st.SearchStrategy[Estimate]:
    text = st.none() | st.text(max_size=5)
    return st.builds(
        Estimate,
        NUMBERS.map(float),
        NUMBERS.map(float),
        NUMBERS.map(float),
        method=st.sampled_from(["", "wilson"]),
        n=st.integers(0, 10**9) | st.floats(0, 1e9),
        level=st.floats(0.5, 0.99),
        undefined=text,
        note=text,
        parts=st.dictionaries(st.text(max_size=3), st.floats(), max_size=2),
        bound=st.none() | st.tuples(st.floats(0, 1), st.floats(0, 1)),
    )


WHOLES = st.builds(
    Whole,
    label=st.text(max_size=5),
    value=NUMBERS,
    maybe=st.none() | st.floats(),
    pair=st.none() | st.floats() | st.tuples(st.floats(), st.floats()),
    numbers=st.lists(NUMBERS, max_size=3).map(tuple),
    by_name=st.dictionaries(st.text(max_size=3), st.floats(), max_size=3),
    pieces=st.lists(st.builds(Part, st.text(max_size=3), st.floats()), max_size=2).map(tuple),
    estimate=estimates(),
    listed=st.dictionaries(st.text(max_size=3), estimates(), max_size=2),
    side=st.sampled_from(Side),
    status=st.sampled_from(["on", "off"]),
    place=st.none() | st.builds(Place, st.text(max_size=3), st.text(max_size=3)),
    about=st.fixed_dictionaries({"name": st.text(max_size=3)}, optional={"rows": st.integers()}),
    measure=st.just(MCC),
    deep=st.integers(),
    anything=st.none() | st.lists(st.integers(), max_size=2),
)


def spelled(value: Any) -> Any:
    """A value with nothing that does not equal itself, and estimates with all of their fields."""
    if isinstance(value, Estimate):
        names = (name for name in Estimate.__slots__ if name != "parts")
        return (repr(float(value)), *(repr(getattr(value, n)) for n in names), repr(value.parts))
    return repr(value)


@given(WHOLES)
def test_whatever_is_written_as_json_comes_back(whole: Whole) -> None:
    odd: dict[str, str] = {}
    plain = settled(codec_of(Whole).write(whole), odd)
    again = json.loads(json.dumps({"plain": plain, "odd": odd}, allow_nan=False))
    unsettled(again["plain"], again["odd"])
    copy = restored(Whole, again["plain"])
    for name in Whole.__dataclass_fields__:
        assert spelled(getattr(copy, name)) == spelled(getattr(whole, name)), name
    assert list(map(spelled, copy.listed.values())) == list(map(spelled, whole.listed.values()))


EXAMPLE = Whole(
    *("a", 1.0, None, None, (1.0,), {}, (Part("p", 0.5),), Estimate(0.5), {}, Side.LEFT, "on"),
    *(None, {"name": "x"}, MCC, 3),
)


@pytest.mark.parametrize(
    ("key", "odd", "said"),
    [
        ("label", 5, "/label is 5; expected a text"),
        ("value", "1", "/value is '1'; expected a number"),
        ("value", True, "/value is True; expected a number"),
        ("numbers", {}, "/numbers is {}; expected a list"),
        ("pair", [1], r"/pair is \[1\]; expected a list of 2"),
        ("by_name", [], r"/by_name is \[\]; expected an object"),
        ("pieces", [{"part": "x"}], "/pieces/0 lacks the key 'share'"),
        ("estimated", "x", "/value is 'x'; expected a number"),
        ("side", "up", "/side is 'up'; expected one of 'left', 'right'"),
        ("status", 1, "/status is 1; expected one of"),
        ("measure", "nonsense", "/measure is 'nonsense'; expected the name of a measure"),
        ("measure", None, "/measure is None; expected the name of a measure"),
        ("held", 4, "is 4; expected an object"),
        ("listed", [3], r"/listed/0 is 3; expected an object"),
    ],
)
def test_what_is_not_of_its_type_is_refused_with_its_place(key: str, odd: Any, said: str) -> None:
    with pytest.raises(InputError, match=said):
        restored(Whole, {**EXAMPLE.to_dict(), key: odd})


def test_what_is_derived_is_written_and_what_is_left_out_is_not() -> None:
    plain = EXAMPLE.to_dict()
    assert plain["twice"] == 2
    assert plain["held"] == {"deep": 3}
    assert plain["estimated"] == 0.5
    assert "hidden" not in plain
    assert restored(Whole, plain) == EXAMPLE


@pytest.mark.parametrize(
    ("place", "spelling"),
    [("/a/9", "inf"), ("/x", "inf"), ("/a/b/c", "nan"), ("/a/0", "much"), ("", "inf")],
)
def test_a_place_that_is_not_there_is_refused(place: str, spelling: str) -> None:
    with pytest.raises(InputError, match="there is no null at"):
        unsettled({"a": [None, 1]}, {place: spelling})


def test_a_number_is_not_infinite_as_well() -> None:
    with pytest.raises(InputError, match="there is no null at '/a/1'"):
        unsettled({"a": [None, 1]}, {"/a/1": "inf"})
    assert math.isinf(settled_back())


def settled_back() -> float:
    tree = {"a": [None, 1]}
    unsettled(tree, {"/a/0": "inf"})
    return tree["a"][0]


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        (tuple[int, str], "one type are written in a list"),
        (tuple[float, float, str], "one type are written in a list"),
        (int | str, "can't be told which was written"),
        (str | tuple[str, ...] | Part, "can't be told which was written"),
        (tuple[str, ...] | str | None, "can't be told which was written"),
        (complex, "are not written"),
    ],
)
def test_a_type_that_would_not_come_back_is_no_field(kind: Any, said: str) -> None:
    with pytest.raises(TypeError, match=said):
        codec_of(kind)


@pytest.mark.parametrize("way", [{"write": str}, {"read": lambda given, _: given}])
def test_a_field_written_in_its_own_way_is_read_so(way: dict[str, Any]) -> None:
    kind = make_dataclass("OneWay", [("value", int, field(metadata=stored(**way)))])
    with pytest.raises(TypeError, match="give both"):
        codec_of(kind).write(kind(1))
