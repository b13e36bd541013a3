"""How numbers are written for people: in reports, findings, messages, figures and on pages.

There is one function for each kind of number, and this is the only module with format codes for
floats; a test holds that. Two families differ on purpose:

- Tables and headlines line numbers up. :func:`measured`, :func:`percent` and :func:`daily` have at
  least so many decimals, and more where it takes them to tell the ends of an interval apart, or a
  small rate from 0 and a large one from 1. An exact 0 or 1 is written without a point, so that
  ``0`` means none and ``0.0004`` means few.
- Sentences of findings are short. :func:`rate`, :func:`rate_percent` and :func:`rate_interval` have
  three digits without closing zeros, and more where the number would read as 1 and is less.

An estimate is a float here that may have the ends ``low`` and ``high`` of an interval.
``report/html/script/numbers.js`` writes the same in a browser.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from decimal import ROUND_FLOOR, Decimal

UNDEFINED = "undefined"

# Tables show three decimals and sentences a tenth of a percent, where that is enough.
LEAST = 3
_LEAST_PERCENT = 1
# Ends that still agree after so many decimals are alike for any reader.
_MOST = 9
# So many decimals more than its ends need an interval may have for one number that is near 0 or 1.
_FURTHER = 2
# A float64 is told from all others by so many digits.
_MOST_DIGITS = 17
# What floating point may leave of an exact 1.
_NOISE = 1e-12
# What tells any other number from 1.
_FINEST = 14
# A number that is nearer to 1 than fewer decimals show is as good as 1.
MOST_DECIMALS = 13
# Bounds are written with so many decimals, rounded outwards.
_OF_BOUNDS = 6
# A threshold has so many digits: more than tell any two scores of 32 bits apart.
_OF_THRESHOLDS = 10
_UNITS = ("", "k", "M", "G", "T", "P", "E")


# -- plain numbers ---------------------------------------------------------------------------------


def significant(number: float, digits: int = 3) -> str:
    """A number to so many digits, without closing zeros.

    >>> significant(0.97512), significant(20.0), significant(1234.5, 2)
    ('0.975', '20', '1.2e+03')
    """
    return f"{number:.{digits}g}"


def grouped(number: float, digits: int) -> str:
    """A number to so many digits, with thousands separators.

    >>> grouped(1234567.5, 12), grouped(0.25, 12)
    ('1,234,567.5', '0.25')
    """
    return f"{number:,.{digits}g}"


def rounded(number: float, digits: int) -> float:
    """The number that its text to so many digits is.

    >>> rounded(1234.5, 3)
    1230.0
    """
    return float(f"{number:.{digits}g}")


def fixed(number: float, decimals: int, *, grouped: bool = False) -> str:
    """A number with so many decimals, where a column or a sentence wants all alike.

    >>> fixed(2, 2), fixed(1234.5, 1, grouped=True)
    ('2.00', '1,234.5')
    """
    return f"{number:{',' if grouped else ''}.{decimals}f}"


def signed(number: float, decimals: int = 4) -> str:
    """A difference with its sign and so many decimals.

    >>> signed(0.0125), signed(-0.5)
    ('+0.0125', '-0.5000')
    """
    return f"{number:+.{decimals}f}"


def scientific(number: float, decimals: int) -> str:
    """A number with so many decimals before its power of ten.

    >>> scientific(0.00012, 1)
    '1.2e-04'
    """
    return f"{number:.{decimals}e}"


def even(number: float, decimals: int, *, signed: bool = False) -> str:
    """A number with so many decimals, as all of its column have them; few is not none.

    >>> even(1, 3), even(0.0125, 2, signed=True), even(0.000001, 3), even(0.99999, 2)
    ('1.000', '+0.01', '<0.001', '>0.99')
    """
    if math.isinf(number):
        return _written(number, decimals)
    text = f"{number:{'+' if signed else ''}.{decimals}f}"
    least = 10.0**-decimals
    if not signed and float(text) == 0 < number:
        return f"<{least:.{decimals}f}"
    if not signed and float(text) == 1 > number + _NOISE:
        return f">{1 - least:.{decimals}f}"
    return text.lstrip("+-") if float(text) == 0 else text


def even_p_value(p: float, decimals: int) -> str:
    """A p-value with so many decimals; a smaller one is below the least of them.

    >>> even_p_value(0.04, 3), even_p_value(0.00001, 3)
    ('0.040', '<0.001')
    """
    least = 10.0**-decimals
    return f"<{least:.{decimals}f}" if p < least else even(p, decimals)


def count(number: float) -> str:
    """A count with thousands separators; a sum of weights to about four digits.

    >>> count(14869), count(12345.678), count(0.25)
    ('14,869', '12,346', '0.25')
    """
    if isinstance(number, int) or float(number).is_integer():
        return f"{int(number):,}"
    if abs(number) >= 1000:
        return f"{number:,.0f}"
    return f"{number:,.4g}"


def rows(number: float) -> str:
    """How many rows."""
    return f"{count(number)} row{'' if number == 1 else 's'}"


def decimal(number: float, digits: int = 3, *, sign: str = "") -> str:
    """A number with so many decimals; written otherwise where it would read as 0 or 1 and is not.

    >>> decimal(0.97545), decimal(0.00004), decimal(0.99999), decimal(0)
    ('0.975', '4e-05', '0.99999', '0.000')
    """
    texts = [f"{number:{sign}.{more}f}" for more in range(digits, MOST_DECIMALS)]
    if number and float(texts[0]) == 0:
        return f"{number:{sign}.2g}"
    distinct = (text for text in texts if float(text) not in (1, -1) or float(text) == number)
    return next(distinct, texts[0])


# -- sentences of findings -------------------------------------------------------------------------


def rate(number: float) -> str:
    """A number to three digits, or more where it would read as 1 and is less.

    >>> rate(0.97512), rate(0.0000106), rate(0.99996)
    ('0.975', '1.06e-05', '0.99996')
    """
    return below(number, 1)


def rate_percent(share: float) -> str:
    """A share in percent, to three digits or more.

    >>> rate_percent(0.4681), rate_percent(0.0001), rate_percent(0.99996)
    ('46.8%', '0.01%', '99.996%')
    """
    return f"{below(100 * share, 100)}%"


def rate_interval(estimate: float) -> str:
    """An estimate with its interval, three digits each.

    >>> from assay.v02.inference import Estimate
    >>> rate_interval(Estimate(0.00012, 0.0000567, 0.000321))
    '0.00012 [5.67e-05, 0.000321]'
    """
    low, high = _ends(estimate)
    if math.isnan(low) or math.isnan(high):
        return rate(estimate)
    return f"{rate(estimate)} [{rate(low)}, {rate(high)}]"


def below(number: float, whole: float, digits: int = 3) -> str:
    """A number to so many digits, or more where it would read as the whole and is less."""
    texts = [f"{number:.{more}g}" for more in range(digits, 14)]
    return next((text for text in texts if number >= whole or float(text) < whole), texts[0])


# -- tables and headlines --------------------------------------------------------------------------


def measured(estimate: float) -> str:
    """A measure and its interval, as tables show it.

    >>> from assay.v02.inference import Estimate
    >>> measured(Estimate(0.97545, 0.97149, 0.97887))
    '0.975 [0.971, 0.979]'
    >>> measured(Estimate(0.0001, 0.00002, 0.0005))
    '0.00010 [0.00002, 0.00050]'
    >>> measured(Estimate(1, 0.715, 1)), measured(Estimate(0.99823, 0.00000012, 1))
    ('1 [0.715, 1]', '0.998 [1.2e-07, 1]')
    """
    return _joined(*measured_parts(estimate))


def measured_parts(estimate: float) -> tuple[str, str]:
    """A measure and its interval apart; the interval is empty where there is none."""
    if math.isnan(estimate):
        return UNDEFINED, ""
    low, high = _ends(estimate)
    digits = _decimals((float(estimate), low, high), LEAST)
    value = _written(float(estimate), digits)
    if math.isnan(low):
        return value, ""
    return value, f"[{_written(low, digits)}, {_written(high, digits)}]"


def difference_parts(number: float) -> tuple[str, str]:
    """A difference and its interval apart, with signs.

    >>> from assay.v02.inference import Estimate
    >>> difference_parts(Estimate(0.0125, -0.002, 0.027)), difference_parts(-0.5)
    (('+0.013', '[-0.002, +0.027]'), ('-0.500', ''))
    """
    value, interval = measured_parts(number)
    signed = f"+{value}" if number > 0 else value
    if not interval:
        return signed, ""
    texts = interval.strip("[]").split(", ")
    return signed, "[" + ", ".join(
        f"+{text}" if end > 0 else text for end, text in zip(_ends(number), texts, strict=True)
    ) + "]"


def difference_span(low: float, high: float) -> str:
    """From which difference to which, in two digits.

    >>> difference_span(-0.021, 0.1)
    '-0.021 to +0.1'
    """
    return f"{low:+.2g} to {high:+.2g}"


def plain_number(value: float) -> str:
    """A number without an interval.

    >>> plain_number(0.5), plain_number(0.00004), plain_number(1234.5)
    ('0.500', '0.000040', '1,234')
    """
    if math.isnan(value):
        return UNDEFINED
    return _written(value, _decimals((value,), LEAST))


def percent(share: float) -> str:
    """A share in a sentence, with its interval where it is an estimate that has one.

    >>> from assay.v02.inference import Estimate
    >>> percent(Estimate(0.95344, 0.94820, 0.95816))
    '95.3% [94.8, 95.8]'
    >>> percent(0.95671), percent(0.99998), percent(0.0000031)
    ('95.7%', '99.998%', '0.00031%')
    """
    if math.isnan(share):
        return UNDEFINED
    ends = _ends(share)
    numbers = [100 * number for number in (float(share), *ends)]
    digits = _decimals(numbers, _LEAST_PERCENT, whole=100)
    value, low, high = (_written(number, digits, whole=100) for number in numbers)
    return f"{value}%" if math.isnan(ends[0]) else f"{value}% [{low}, {high}]"


def about(share: float) -> str:
    """A share in a sentence, roughly: two digits of what is the smaller, it or its rest.

    >>> about(0.46802), about(0.0134), about(0.9962), about(0.0001)
    ('47%', '1.3%', '99.6%', '0.01%')
    """
    if math.isnan(share):
        return UNDEFINED
    # A little more than it is, since 1 - 0.99 is a little less than 0.01.
    smaller = 100 * min(share, 1 - share) * (1 + 1e-9)
    if smaller <= 0 or smaller >= 10:
        return f"{100 * share:.0f}%"
    digits = min(1 - math.floor(math.log10(smaller)), _FINEST)
    if share > 0.5:
        return f"{100 * share:.{digits - 1}f}%"
    text = f"{100 * share:.{digits}f}".rstrip("0").rstrip(".")
    return f"{text}%" if text != "0" else f"{100 * share:.2g}%"


def whole_percent(share: float) -> str:
    """A share in whole percent, where no more can be meant.

    >>> whole_percent(0.976)
    '98%'
    """
    return f"{100 * share:.0f}%"


def daily(number: float) -> str:
    """A number a day and its interval.

    >>> from assay.v02.inference import Estimate
    >>> daily(Estimate(1520.4, 1410.2, 1633.9)), daily(0.0312)
    ('1,520 [1,410, 1,634]', '0.031')
    """
    return _joined(*daily_parts(number))


def daily_parts(number: float) -> tuple[str, str]:
    """A number a day and its interval apart."""
    if math.isnan(number):
        return UNDEFINED, ""
    low, high = _ends(number)
    return _of_day(float(number)), "" if math.isnan(low) else f"[{_of_day(low)}, {_of_day(high)}]"


# -- thresholds, levels, p-values, bounds ----------------------------------------------------------


def threshold_text(threshold: float) -> str:
    """A threshold with the digits that decide.

    >>> threshold_text(0.5), threshold_text(0.12345678)
    ('0.5', '0.12345678')
    """
    return f"{threshold:.{_OF_THRESHOLDS}g}"


def shortest_between(below: float, at: float) -> str:
    """The shortest number above one and not above another, as a threshold between two scores.

    >>> shortest_between(0.6592, 0.6593305122804232), shortest_between(0.2, 0.9)
    ('0.6593', '0.9')
    >>> shortest_between(-1e-300, 5e-301), shortest_between(math.nextafter(0.3, 0), 0.3)
    ('0', '0.3')
    """
    if below < 0 <= at:
        return "0"
    written = Decimal(repr(at))
    for digits in range(1, _MOST_DIGITS):
        step = Decimal(1).scaleb(written.adjusted() + 1 - digits)
        rounded = written.quantize(step, ROUND_FLOOR)
        if below < float(rounded) <= at:
            return repr(float(rounded)).removesuffix(".0")
    return repr(at)


def exact_percent(share: float) -> str:
    """A share that was given, such as a base rate or a level, as a percent without loss.

    >>> exact_percent(0.001), exact_percent(0.07), exact_percent(1e-7)
    ('0.1%', '7%', '0.00001%')
    """
    text = f"{100 * share:.12f}".rstrip("0").rstrip(".")
    return f"{text}%" if text != "0" else f"{100 * share:.3g}%"


def p_text(p: float) -> str:
    """A p-value as it stands in a sentence.

    >>> p_text(0.03), p_text(1e-9)
    ('p = 0.03', 'p < 0.0001')
    """
    return "p < 0.0001" if p < 0.0001 else f"p = {p:.2g}"


def p_value(p: float) -> str:
    """A p-value in a table.

    >>> p_value(0.034), p_value(1e-200)
    ('0.034', '< 0.0001')
    """
    return p_text(p).removeprefix("p ").removeprefix("= ")


def bound_text(bound: tuple[float, float] | None) -> str:
    """Between which values something lies for sure, rounded outwards; empty where it is exact.

    >>> bound_text((0.4999999, 0.5000012))
    '[0.499999, 0.500002]'
    """
    if bound is None:
        return ""
    low, high = (_outwards(end, side) for end, side in zip(bound, (-1, 1), strict=True))
    return f"[{low}, {high}]"


def _outwards(end: float, side: int) -> str:
    scale = 10**_OF_BOUNDS
    # What rounding leaves of a whole number of units.
    units = side * math.ceil(side * end * scale - 1e-5)
    return f"{units / scale:.{_OF_BOUNDS}f}"


# -- amounts ---------------------------------------------------------------------------------------


def brief(number: float) -> str:
    """A count in at most four characters or so.

    >>> brief(87), brief(12345), brief(2_600_000), brief(999_999)
    ('87', '12k', '2.6M', '1M')
    """
    if number < 10_000:
        return count(number) if number == int(number) else f"{number:.3g}"
    power = min(int(math.log10(number * 1.0005)) // 3, len(_UNITS) - 1)
    size = number / 1000**power
    text = f"{size:.1f}" if size < 9.95 else f"{size:.0f}"
    return text.removesuffix(".0") + _UNITS[power]


def whole(number: float) -> str:
    """The nearest whole number, with thousands separators.

    >>> whole(12345.6)
    '12,346'
    """
    return f"{number:,.0f}"


def megabytes(size: float) -> str:
    """A number of bytes in whole megabytes.

    >>> megabytes(1_234_567_890)
    '1,235 MB'
    """
    return f"{size / 1e6:,.0f} MB"


def byte_size(size: int) -> str:
    """A number of bytes in the unit that suits it.

    >>> byte_size(512), byte_size(1_234_567), byte_size(22 * 10**9)
    ('512 bytes', '1.23 MB', '22 GB')
    """
    for unit, one in (("GB", 10**9), ("MB", 10**6)):
        if size >= one:
            return f"{size / one:.3g} {unit}"
    return f"{size:,} bytes"


def seconds(number: float) -> str:
    """A time that passed, in whole seconds.

    >>> seconds(12.3)
    '12 s'
    """
    return f"{number:.0f} s"


# -- digits ----------------------------------------------------------------------------------------


def _ends(number: float) -> tuple[float, float]:
    """The ends of the interval of an estimate; nan where there is none."""
    return getattr(number, "low", math.nan), getattr(number, "high", math.nan)


def _joined(value: str, interval: str) -> str:
    return f"{value} {interval}" if interval else value


def _of_day(number: float) -> str:
    """Whole from 100 a day on, else two digits."""
    if abs(number) >= 100 or number == 0:
        return f"{number:,.0f}"
    if abs(number) >= 10:
        return f"{number:.1f}"
    digits = 1 - math.floor(math.log10(abs(number)))
    return f"{number:.{digits}f}" if digits <= _MOST else f"{number:.2g}"


def _decimals(numbers: Iterable[float], least: int, *, whole: float = 1) -> int:
    """The fewest decimals, from ``least`` on, that tell what must be told apart.

    That is each number from 0 and from the whole, and, by two units at least, the ends of an
    interval from each other. A number alone has two digits that count. Large numbers need none.
    Where one number of an interval lies so near to 0 or the whole that all would grow long, it
    alone is written with as many digits as it takes.
    """
    finite = [number for number in numbers if math.isfinite(number)]
    largest = max(map(abs, finite), default=0.0)
    if whole == 1 and largest >= 10:
        least = max(least - math.floor(math.log10(largest)), 0)
    every = range(least, _MOST)
    clear = next((digits for digits in every if _clear(finite, digits, whole)), _MOST)
    if len(finite) < 3:
        return clear
    fewest = next((digits for digits in every if _apart(finite, digits)), _MOST)
    return clear if clear <= fewest + _FURTHER else fewest


def _clear(numbers: list[float], digits: int, whole: float) -> bool:
    for number in numbers:
        shown = round(number, digits)
        exact = number == 0 or abs(abs(number) - whole) <= _NOISE
        if not exact and shown in (0.0, whole, -whole):
            return False
    return _apart(numbers, digits)


def _apart(numbers: list[float], digits: int) -> bool:
    """Whether the ends of an interval differ, or a number alone has two digits that count."""
    unit = 10.0**-digits
    if len(numbers) < 3:
        return all(number == 0 or abs(number) >= 9.5 * unit for number in numbers)
    _, low, high = numbers
    return high - low <= _NOISE or round(high, digits) - round(low, digits) >= 1.5 * unit


def _written(number: float, digits: int, *, whole: float = 1) -> str:
    if math.isnan(number):
        return UNDEFINED
    if math.isinf(number):
        return "infinity" if number > 0 else "-infinity"
    if number == 0 or abs(abs(number) - whole) <= _NOISE:
        return f"{round(number) or 0}"
    text = f"{number:,.{digits}f}"
    shown = float(text.replace(",", ""))
    if shown in (whole, -whole) and digits < _FINEST:
        return _written(number, digits + 1, whole=whole)
    # Smaller than the most decimals can show.
    return f"{number:.2g}" if shown == 0 else text
