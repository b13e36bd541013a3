"""How numbers are written in every report, and what measures and classes are called.

Digits adapt: as many as it takes to tell the ends of an interval apart, and to tell a small rate
from 0 and a large one from 1. An exact 0 or 1 is written without a point, so that ``0`` means none
and ``0.0004`` means few.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from decimal import ROUND_FLOOR, Decimal

from assay.errors import MethodError
from assay.escaping import name
from assay.evaluation.deployment import (
    ALERTS,
    FALSE_ALARMS,
    MISSED,
    PRECISION_AT_TOP,
    RECALL_AT_TOP,
)
from assay.evaluation.wording import count as count  # noqa: PLC0414 - one of these
from assay.formula import Expression
from assay.inference import Estimate
from assay.inference.significance import exact_percent as exact_percent  # noqa: PLC0414 - another
from assay.inference.significance import p_text
from assay.measures import Measure, find
from assay.measures.measure import spoken
from assay.report.sections import Cell, Formula, Kind, Marked, Rank

UNDEFINED = "undefined"

# Tables show three decimals and sentences a tenth of a percent, where that is enough.
_LEAST, _LEAST_PERCENT = 3, 1
# Ends that still agree after so many decimals are alike for any reader.
_MOST = 9
# No column of a paper's table has more decimals than this.
_EVEN = 5
# So many decimals more than its ends need an interval may have for one number that is near 0 or 1.
_FURTHER = 2
# A float64 is told from all others by so many digits.
_MOST_DIGITS = 17
# What floating point may leave of an exact 1.
_NOISE = 1e-12
# What tells any other number from 1.
_FINEST = 14


def measured(estimate: Estimate) -> str:
    """A measure and its interval, as tables show it.

    >>> measured(Estimate(0.97545, 0.97149, 0.97887))
    '0.975 [0.971, 0.979]'
    >>> measured(Estimate(0.0001, 0.00002, 0.0005))
    '0.00010 [0.00002, 0.00050]'
    >>> measured(Estimate(1, 0.715, 1)), measured(Estimate(0.99823, 0.00000012, 1))
    ('1 [0.715, 1]', '0.998 [1.2e-07, 1]')
    """
    return _joined(*measured_parts(estimate))


def measured_parts(estimate: Estimate) -> tuple[str, str]:
    """A measure and its interval apart; the interval is empty where there is none."""
    if math.isnan(estimate):
        return UNDEFINED, ""
    digits = _decimals((float(estimate), estimate.low, estimate.high), _LEAST)
    value = _written(float(estimate), digits)
    if math.isnan(estimate.low):
        return value, ""
    return value, f"[{_written(estimate.low, digits)}, {_written(estimate.high, digits)}]"


def difference_parts(number: float) -> tuple[str, str]:
    """A difference and its interval apart, with signs.

    >>> difference_parts(Estimate(0.0125, -0.002, 0.027)), difference_parts(-0.5)
    (('+0.013', '[-0.002, +0.027]'), ('-0.500', ''))
    """
    low, high = (number.low, number.high) if isinstance(number, Estimate) else (math.nan, math.nan)
    value, interval = (
        measured_parts(number) if isinstance(number, Estimate) else (plain_number(number), "")
    )
    signed = f"+{value}" if number > 0 else value
    if not interval:
        return signed, ""
    ends = interval.strip("[]").split(", ")
    return signed, "[" + ", ".join(
        f"+{text}" if end > 0 else text for end, text in zip((low, high), ends, strict=True)
    ) + "]"


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


def plain_number(value: float) -> str:
    """A number without an interval.

    >>> plain_number(0.5), plain_number(0.00004), plain_number(1234.5)
    ('0.500', '0.000040', '1,234')
    """
    if math.isnan(value):
        return UNDEFINED
    return _written(value, _decimals((value,), _LEAST))


def percent(share: float) -> str:
    """A share in a sentence, with its interval where it is an estimate that has one.

    >>> percent(Estimate(0.95344, 0.94820, 0.95816))
    '95.3% [94.8, 95.8]'
    >>> percent(0.95671), percent(0.99998), percent(0.0000031)
    ('95.7%', '99.998%', '0.00031%')
    """
    if math.isnan(share):
        return UNDEFINED
    ends = (share.low, share.high) if isinstance(share, Estimate) else (math.nan, math.nan)
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


def daily(number: float) -> str:
    """A number a day and its interval.

    >>> daily(Estimate(1520.4, 1410.2, 1633.9)), daily(0.0312)
    ('1,520 [1,410, 1,634]', '0.031')
    """
    return _joined(*daily_parts(number))


def daily_parts(number: float) -> tuple[str, str]:
    """A number a day and its interval apart."""
    if math.isnan(number):
        return UNDEFINED, ""
    if not isinstance(number, Estimate) or math.isnan(number.low):
        return _of_day(float(number)), ""
    return _of_day(float(number)), f"[{_of_day(number.low)}, {_of_day(number.high)}]"


def p_value(p: float) -> str:
    """A p-value in a table.

    >>> p_value(0.034), p_value(1e-200)
    ('0.034', '< 0.0001')
    """
    return p_text(p).removeprefix("p ").removeprefix("= ")


def cell_parts(cell: Cell, kind: Kind) -> tuple[str, str]:
    """A cell of a table as its value and its interval."""
    if isinstance(cell, Marked):
        cell = cell.cell
    if cell is None:
        return "", ""
    if isinstance(cell, str | Formula):
        return (cell if isinstance(cell, str) else cell.plain), ""
    if isinstance(cell, Rank):
        return f"{cell:.{_LEAST}f}", ""
    if kind is Kind.DAILY:
        return daily_parts(cell)
    if kind is Kind.P_VALUE:
        return p_value(cell), ""
    if kind is Kind.DIFFERENCE:
        return difference_parts(cell)
    if isinstance(cell, Estimate):
        return measured_parts(cell)
    return (count(cell) if kind is Kind.COUNT else plain_number(cell)), ""


def even_parts(number: float, kind: Kind, decimals: int) -> tuple[str, str]:
    """A number and its interval with so many decimals, as all of its column have them.

    >>> even_parts(Estimate(1, 0.715, 1), Kind.SHARE, 3), even_parts(0.0125, Kind.DIFFERENCE, 2)
    (('1.000', '[0.715, 1.000]'), ('+0.01', ''))
    >>> even_parts(0.000001, Kind.SHARE, 3), even_parts(Estimate(0.9, 1e-7, 0.99999), Kind.SHARE, 2)
    (('<0.001', ''), ('0.90', '[<0.01, >0.99]'))
    """
    sign = "+" if kind is Kind.DIFFERENCE else ""
    if math.isnan(number):
        return UNDEFINED, ""
    if kind is Kind.P_VALUE:
        least = 10.0**-decimals
        return (f"<{least:.{decimals}f}" if number < least else _even(number, decimals, "")), ""
    value = _even(float(number), decimals, sign)
    if not isinstance(number, Estimate) or math.isnan(number.low):
        return value, ""
    ends = ", ".join(_even(end, decimals, sign) for end in (number.low, number.high))
    return value, f"[{ends}]"


def _even(number: float, decimals: int, sign: str) -> str:
    if math.isinf(number):
        return _written(number, decimals)
    text = f"{number:{sign}.{decimals}f}"
    least = 10.0**-decimals
    if sign == "" and float(text) == 0 < number:
        return f"<{least:.{decimals}f}"
    if sign == "" and float(text) == 1 > number + _NOISE:
        return f">{1 - least:.{decimals}f}"
    return text.lstrip("+-") if float(text) == 0 else text


def even_decimals(cells: Iterable[float], kind: Kind) -> int:
    """The fewest decimals that serve every number of a column, up to five.

    >>> even_decimals([0.5, Estimate(0.97, 0.9694, 0.9697)], Kind.SHARE)
    4
    """
    texts = [text for cell in cells for text in cell_parts(cell, kind)]
    digits = (len(part) for text in texts for part in re.findall(r"\.(\d+)", text))
    return min(max(digits, default=0), _EVEN)


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


# -- what measures, classes and amounts are called -------------------------------------------------


_DAILY = {
    ALERTS: "alerts a day",
    FALSE_ALARMS: "false alarms a day",
    MISSED: "missed a day",
    PRECISION_AT_TOP: "precision among the top alerts",
    RECALL_AT_TOP: "detection rate among the top alerts",
}
_AVERAGES = {
    "macro": "macro",
    "macro_defined": "macro over the classes that have a value",
    "micro": "micro",
    "weighted": "weighted",
}
# How a row of the usual positive labels is called; any other is a row that "is" its label.
_POSITIVES = {
    "attack": "attacks",
    "malicious": "malicious rows",
    "malware": "malware",
    "anomaly": "anomalies",
    "intrusion": "intrusions",
    "spam": "spam",
    "phishing": "phishing",
    "ddos": "DDoS",
    "fraud": "fraud",
}


def matrix_caption(*, weighted: bool) -> str:
    """How a confusion matrix is to be read."""
    return f"Rows are the truth, columns the decision{'; sums of weights' if weighted else ''}"


def measure_name(measure: Measure | str, average: str | None = None) -> str:
    """A measure as a heading calls it.

    >>> measure_name("recall"), measure_name("recall", "macro"), measure_name("f0.5")
    ('detection rate (recall)', 'recall, macro', 'F0.5')
    >>> measure_name("recall", "normal")  # of a label
    'recall, normal'
    """
    if isinstance(measure, str) and measure in _DAILY:
        return _DAILY[measure]
    declared = find(measure) if isinstance(measure, str) else measure
    if average is not None:
        # The words of the vocabulary are of attacks; an average is of any class.
        called = spoken(declared.name) if declared.aside else declared.title
        return f"{called}, {_AVERAGES.get(average, average)}"
    return f"{declared.title} ({declared.aside})" if declared.aside else declared.title


def count_formula(measure: Measure) -> Expression:
    """The formula of a measure of counts; only these follow a threshold."""
    if measure.formula is None:
        raise MethodError(f"{measure.name} has no formula of counts")
    return measure.formula


def positives(label: str) -> str:
    """The rows of the positive label, as a sentence calls them.

    >>> positives("attack"), positives("1"), positives("not normal")
    ('attacks', "rows that are '1'", "rows that are not 'normal'")
    """
    if label.startswith("not "):
        # What is not the one negative label, with its names as families.
        return f"rows that are not {quoted(label.removeprefix('not '))}"
    return _POSITIVES.get(label.lower(), f"rows that are {quoted(label)}")


def quoted(label: str) -> str:
    """A label in a sentence."""
    return f"'{name(label)}'"
