import copy
import json
import math
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.errors import InputError
from assay.inference import Estimate
from assay.text import decimal

PRECISION = Estimate(
    0.975,
    0.971,
    0.979,
    method="wilson",
    n=6802,
    level=0.9,
    note="a remark",
    parts={"p_o": 0.5},
)
FIELDS = ("low", "high", "method", "n", "level", "undefined", "note", "parts")


def fields(estimate: Estimate) -> dict[str, object]:
    return {name: getattr(estimate, name) for name in FIELDS}


# -- it is a float ---------------------------------------------------------------------------------


@given(st.floats(), st.floats(allow_nan=False, min_value=-1e9, max_value=1e9))
def test_arithmetic_is_that_of_the_plain_number(value: float, other: float) -> None:
    estimate = Estimate(value)
    for number, expected in (
        (estimate + other, value + other),
        (other - estimate, other - value),
        (estimate * other, value * other),
        (-estimate, -value),
        (abs(estimate), abs(value)),
    ):
        assert type(number) is float
        assert number == expected or math.isnan(expected)


@given(st.floats(allow_nan=False), st.floats(allow_nan=False))
def test_comparison_is_that_of_the_plain_number(value: float, other: float) -> None:
    estimate = Estimate(value, 0, 1)
    assert (estimate < other) == (value < other)
    assert (estimate >= other) == (value >= other)
    assert (estimate == other) == (value == other)


@given(st.floats(allow_nan=False))
def test_hash_is_that_of_the_plain_number(value: float) -> None:
    assert hash(Estimate(value, 0, 1)) == hash(value)
    assert {Estimate(value): "found"}[value] == "found"


def test_value_is_a_plain_float() -> None:
    assert type(PRECISION.value) is float
    assert PRECISION.value == 0.975


def test_it_is_a_number_in_json() -> None:
    assert json.loads(json.dumps({"precision": PRECISION})) == {"precision": 0.975}


def test_mathematics_takes_it() -> None:
    assert math.log(Estimate(1.0)) == 0.0
    assert sorted([Estimate(0.3), Estimate(0.1)]) == [0.1, 0.3]
    assert round(PRECISION, 2) == 0.97


# -- it is frozen ----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [*FIELDS, "value", "something_new"])
def test_nothing_can_be_set(name: str) -> None:
    with pytest.raises(AttributeError, match="frozen"):
        setattr(copy.copy(PRECISION), name, 1.0)


@pytest.mark.parametrize("name", FIELDS)
def test_nothing_can_be_deleted(name: str) -> None:
    with pytest.raises(AttributeError, match="frozen"):
        delattr(copy.copy(PRECISION), name)


# -- copies ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_pickle_keeps_value_and_fields(protocol: int) -> None:
    twin = pickle.loads(pickle.dumps(PRECISION, protocol))
    assert type(twin) is Estimate
    assert twin == PRECISION
    assert fields(twin) == fields(PRECISION)


@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy])
def test_copy_keeps_value_and_fields(duplicate) -> None:
    twin = duplicate(PRECISION)
    assert twin == PRECISION
    assert fields(twin) == fields(PRECISION)


def test_pickle_keeps_the_reason_of_an_undefined_one() -> None:
    twin = pickle.loads(pickle.dumps(Estimate(math.nan, undefined="nothing was flagged")))
    assert math.isnan(twin)
    assert twin.undefined == "nothing was flagged"


# -- text ------------------------------------------------------------------------------------------


def test_repr_and_str_show_the_interval() -> None:
    assert repr(PRECISION) == "0.975 [0.971, 0.979]"
    assert str(PRECISION) == "0.975 [0.971, 0.979]"
    assert f"{PRECISION}" == "0.975 [0.971, 0.979]"


def test_format_with_a_specification_is_that_of_the_number() -> None:
    assert f"{PRECISION:.1%}" == "97.5%"
    assert f"{PRECISION:8.2f}" == "    0.97"


def test_text_takes_a_number_of_digits() -> None:
    # Not "1.0 [1.0, 1.0]", which it is not.
    assert PRECISION.text(digits=1) == "0.97 [0.97, 0.98]"
    assert PRECISION.text(digits=4) == "0.9750 [0.9710, 0.9790]"
    assert Estimate(2.5, 1.75, 3.75).text(digits=0) == "2 [2, 4]"
    for odd in (-1, 13, 2.0, True):
        with pytest.raises(InputError, match="digits= is a whole number from 0 to 12; found"):
            PRECISION.text(digits=odd)


def test_what_is_nearly_one_on_either_side_does_not_read_as_one() -> None:
    assert [decimal(number) for number in (0.99996, 1.0)] == ["0.99996", "1.000"]
    assert [decimal(number) for number in (-0.99996, -1.0)] == ["-0.99996", "-1.000"]


def test_without_an_interval_only_the_value_is_shown() -> None:
    assert str(Estimate(0.25)) == "0.250"


def test_undefined_shows_its_reason() -> None:
    reason = "nothing was flagged (TP + FP = 0)"
    assert str(Estimate(math.nan, undefined=reason)) == f"undefined: {reason}"
    assert str(Estimate(math.nan)) == "undefined"


def test_defaults_say_that_nothing_is_known() -> None:
    estimate = Estimate(0.5)
    assert math.isnan(estimate.low)
    assert math.isnan(estimate.high)
    assert (estimate.method, estimate.n, estimate.level) == ("", 0, 0.95)
    assert estimate.undefined is None
    assert estimate.note is None
    assert dict(estimate.parts) == {}
