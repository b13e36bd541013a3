import math
import re
from decimal import Decimal

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from assay.decisions.threshold import explanations as threshold_words
from assay.inference import Estimate
from assay.number_text import (
    about,
    brief,
    count,
    daily,
    decimal,
    exact_percent,
    measured,
    measured_parts,
    p_value,
    percent,
    plain_number,
    rate,
    rate_interval,
    rate_percent,
    rows,
    shortest_between,
    threshold_text,
)

shares = st.floats(0, 1)


@st.composite
def estimates(draw: st.DrawFn) -> Estimate:
    low, value, high = sorted(draw(st.lists(shares, min_size=3, max_size=3)))
    return Estimate(value, low, high)


def numbers_in(text: str) -> list[float]:
    digits = re.findall(r"\d[\d,]*(?:\.\d+)?(?:e-?\d+)?", text.replace(", ", " "))
    return [float(number.replace(",", "")) for number in digits]


# -- examples --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("estimate", "text"),
    [
        (Estimate(0.95344, 0.9482, 0.95816), "0.953 [0.948, 0.958]"),
        (Estimate(0, 0, 0.41), "0 [0, 0.410]"),
        (Estimate(1, 0.715, 1), "1 [0.715, 1]"),
        (Estimate(0.0044, 0.0038, 0.0051), "0.0044 [0.0038, 0.0051]"),
        (Estimate(0.00002, 0.000003, 0.0001), "0.000020 [0.000003, 0.000100]"),
        (Estimate(0.99996, 0.9999, 0.99999), "0.99996 [0.99990, 0.99999]"),
        (Estimate(3e-18, 1e-18, 8e-18), "3e-18 [1e-18, 8e-18]"),
        (Estimate(949.486, 785.529, 1147.664), "949 [786, 1,148]"),
        (Estimate(45.16, 38.864, 52.476), "45.16 [38.86, 52.48]"),
        (Estimate(-0.5, -0.6, -0.4), "-0.500 [-0.600, -0.400]"),
        (Estimate(0.9982332, 0.00000012, 1), "0.998 [1.2e-07, 1]"),
        (Estimate(0.5, 0.0004, 0.99999996), "0.500 [0.0004, 0.99999996]"),
        (Estimate(0.0000001, 0, 0.5), "1e-07 [0, 0.500]"),
        (Estimate(0.25), "0.250"),
        (Estimate(math.nan, undefined="nothing was flagged"), "undefined"),
        (Estimate(math.inf), "infinity"),
    ],
)
def test_measure_is_written_with_as_many_digits_as_it_needs(estimate: Estimate, text: str) -> None:
    assert measured(estimate) == text


@pytest.mark.parametrize(
    ("share", "text"),
    [
        (Estimate(0.95344, 0.9482, 0.95816), "95.3% [94.8, 95.8]"),
        (Estimate(1, 0.7151, 1), "100% [71.5, 100]"),
        (Estimate(0, 0, 0.41), "0% [0, 41.0]"),
        (Estimate(0.9982332, 0.00000012, 1), "99.8% [1.2e-05, 100]"),
        (0.95671, "95.7%"),
        (0.99998, "99.998%"),
        (0.000117, "0.012%"),
        (0.0, "0%"),
        (1.0, "100%"),
        (math.nan, "undefined"),
    ],
)
def test_share_is_a_percent_in_a_sentence(share: float, text: str) -> None:
    assert percent(share) == text


def test_count_has_its_thousands_apart() -> None:
    written = [count(number) for number in (0, 7, 14869, 10**19, 2.0, 12.3456789, 1234567.8)]
    assert written == ["0", "7", "14,869", f"{10**19:,}", "2", "12.35", "1,234,568"]


def test_daily_figure_is_whole_from_a_hundred_on() -> None:
    estimate = Estimate(1520.4, 99.96, 163390.2)
    assert daily(estimate) == "1,520 [100.0, 163,390]"
    assert [daily(number) for number in (0.0, 0.0312, 9.87, 12.34)] == ["0", "0.031", "9.9", "12.3"]
    assert daily(math.nan) == "undefined"


def test_prevalence_is_told_roughly_and_never_as_all_or_none() -> None:
    given = (0.468, 0.0134, 0.9962, 0.0001, 0.00012345, 1.0, 0.0, 0.99999)
    said = ["47%", "1.3%", "99.6%", "0.01%", "0.012%", "100%", "0%", "99.999%"]
    assert [about(share) for share in given] == said
    assert about(math.nan) == "undefined"


def test_base_rate_is_told_exactly() -> None:
    given = (0.1, 0.07, 0.001, 0.0001, 1e-7, 0.123456, 1e-15)
    said = ["10%", "7%", "0.1%", "0.01%", "0.00001%", "12.3456%", "1e-13%"]
    assert [exact_percent(share) for share in given] == said


def test_p_value_is_never_zero() -> None:
    assert [p_value(p) for p in (0.0, 1e-300, 0.00009, 0.0412, 1.0)] == [
        "< 0.0001",
        "< 0.0001",
        "< 0.0001",
        "0.041",
        "1",
    ]


def test_one_row_is_singular() -> None:
    assert rows(1) == "1 row"
    assert rows(1.0) == "1 row"
    assert rows(12345) == "12,345 rows"


def test_large_sums_of_weights_are_written_out() -> None:
    assert rows(12345.6) == "12,346 rows"


def test_small_estimates_keep_their_digits() -> None:
    assert rate_interval(Estimate(0.00012, 0.0000567, 0.000321)) == "0.00012 [5.67e-05, 0.000321]"
    assert rate_interval(Estimate(0.5)) == "0.5"


def test_a_threshold_has_the_digits_that_decide() -> None:
    assert threshold_text(0.123456789) == "0.123456789"
    assert threshold_text(0.5) == "0.5"


# -- laws ------------------------------------------------------------------------------------------


@given(estimates())
@example(Estimate(0.5, 0.49999, 0.50001))
def test_ends_of_an_interval_can_be_told_apart(estimate: Estimate) -> None:
    assume(estimate.high - estimate.low > 1e-8)
    _, interval = measured_parts(estimate)
    low, high = numbers_in(interval)
    assert low < high
    assert percent(estimate).count(", ") == 1
    below, above = numbers_in(percent(estimate).partition("[")[2])
    assert below < above


@given(estimates())
def test_what_is_written_is_what_was_found(estimate: Estimate) -> None:
    written = numbers_in(measured(estimate))
    assert written == pytest.approx([float(estimate), estimate.low, estimate.high], abs=5.1e-4)
    written = numbers_in(percent(estimate).replace("%", ""))
    assert written == pytest.approx(
        [100 * v for v in (estimate, estimate.low, estimate.high)], abs=0.051
    )


@given(st.floats(1e-300, 0.5))
def test_small_rate_is_not_written_as_none(rate: float) -> None:
    for text in (plain_number(rate), percent(rate), percent(1 - rate), about(rate), daily(rate)):
        assert numbers_in(text)[0] > 0
    assert plain_number(rate) != plain_number(0.0)


@given(st.floats(1e-8, 0.5))
@example(0.1)
@example(0.01)
def test_large_rate_is_not_written_as_all(rate: float) -> None:
    for text in (percent(1 - rate), about(1 - rate)):
        assert numbers_in(text)[0] < 100
    assert numbers_in(plain_number(1 - rate))[0] < 1


@given(st.floats(1e-9, 1e9))
def test_number_alone_has_two_digits_that_count(number: float) -> None:
    assert numbers_in(plain_number(number))[0] == pytest.approx(number, rel=0.051)


@given(st.integers(0, 10**19))
def test_count_is_read_back(number: int) -> None:
    assert int(count(number).replace(",", "")) == number


# -- what is not 0 does not read as 0 --------------------------------------------------------------

WRITERS = {
    "plain_number": plain_number,
    "percent": percent,
    "about": about,
    "exact_percent": exact_percent,
    "daily": daily,
    "count": count,
    "Estimate": lambda number: str(Estimate(number)),
    "decimal": decimal,
    "rate": rate,
    "rate_percent": rate_percent,
    "thresholds.rate": threshold_words.rate,
}


@pytest.mark.parametrize("writer", WRITERS)
@given(number=st.floats(0, 1, exclude_min=True, exclude_max=True))
@example(number=1e-14)
@example(number=5e-324)
@example(number=1 - 1e-10)
@example(number=0.99996)
def test_a_number_between_0_and_1_reads_as_neither(writer: str, number: float) -> None:
    assume(number > 1e-300 or writer in ("plain_number", "decimal"))
    text = WRITERS[writer](number)
    whole = 100 if text.endswith("%") else 1
    (shown,) = numbers_in(text)
    assert shown > 0
    # Sums of weights, numbers a day and shares that were given have a whole of their own.
    if writer not in ("daily", "count", "exact_percent") and number < 1 - 1e-11:
        assert shown < whole


@given(number=st.floats(0, 1, exclude_min=True, exclude_max=True), reach=st.floats(0, 1))
def test_ends_of_an_interval_between_0_and_1_read_as_neither(number: float, reach: float) -> None:
    assume(number * (1 - reach) > 1e-300)
    estimate = Estimate(number, number * (1 - reach), number + (1 - number) * reach)
    for text in (measured(estimate), percent(estimate), str(estimate)):
        assert all(end > 0 for end in numbers_in(text))


@given(st.floats(allow_nan=False, allow_infinity=False), st.floats(0, 1e300))
def test_the_shortest_number_separates_two_scores(below: float, gap: float) -> None:
    at = max(below + gap, math.nextafter(below, math.inf))
    assume(math.isfinite(at))
    text = shortest_between(below, at)
    assert below < float(text) <= at
    assert len(text.strip("-")) <= len(repr(at).strip("-"))


@given(st.integers(-999, 999), st.integers(0, 6), st.integers(1, 99))
def test_no_shorter_number_lies_between(whole: int, shift: int, gap: int) -> None:
    at, below = whole / 10**shift, (whole - gap) / 10**shift
    digits = len(Decimal(shortest_between(below, at)).normalize().as_tuple().digits)
    fewer = range(digits - 1)
    assert not any(
        below < float(f"{at:.{n}e}") <= at or below < float(f"{below:.{n}e}") <= at for n in fewer
    )


@given(st.integers(0, 10**19))
def test_a_brief_count_is_short_and_close(number: int) -> None:
    text = brief(number)
    assert len(text) <= 5
    units = {"k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
    power = units.get(text[-1], 0)
    value = float(text.rstrip("kMGTPE").replace(",", "")) * 10**power
    assert value == pytest.approx(number, rel=0.051)
