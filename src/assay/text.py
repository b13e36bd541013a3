"""Numbers and quoted input as people read them."""

from __future__ import annotations

import math

# A number that is nearer to 1 than this many decimals show is as good as 1.
MOST_DECIMALS = 13
_LONGEST = 60


def significant(number: float, digits: int = 3) -> str:
    """A number to some significant digits, without trailing zeros.

    >>> significant(0.97512), significant(20.0), significant(1234.5, 2)
    ('0.975', '20', '1.2e+03')
    """
    return f"{number:.{digits}g}"


def grouped(number: float, digits: int) -> str:
    """A number to some significant digits, with thousands separators.

    >>> grouped(1234567.5, 12), grouped(0.25, 12)
    ('1,234,567.5', '0.25')
    """
    return f"{number:,.{digits}g}"


def decimal(number: float, digits: int = 3) -> str:
    """A number with some decimals, and more where it would read as 0 or 1 but isn't.

    >>> decimal(0.97545), decimal(0.00004), decimal(0.99999), decimal(0)
    ('0.975', '4e-05', '0.99999', '0.000')
    """
    texts = [f"{number:.{more}f}" for more in range(digits, MOST_DECIMALS)]
    if number and float(texts[0]) == 0:
        return f"{number:.2g}"
    distinct = (text for text in texts if float(text) not in (1, -1) or float(text) == number)
    return next(distinct, texts[0])


def signed(number: float) -> str:
    """A difference with its sign.

    >>> signed(0.0125), signed(-0.5)
    ('+0.0125', '-0.5000')
    """
    return f"{number:+.4f}"


def p_text(p: float) -> str:
    """A p-value in a sentence.

    >>> p_text(0.03), p_text(1e-9)
    ('p = 0.03', 'p < 0.0001')
    """
    return "p < 0.0001" if p < 0.0001 else f"p = {p:.2g}"


def plural(number: float, one: str, many: str) -> str:
    """The singular or the plural of a word.

    >>> [f"{n} {plural(n, 'row', 'rows')}" for n in (1, 2)]
    ['1 row', '2 rows']
    """
    return one if number == 1 else many


def quote(value: object) -> str:
    """A value from the user as messages show it; a very long integer only by its length.

    >>> quote(0.5), quote(10**400)
    ('0.5', 'a number of 401 digits')
    """
    if not isinstance(value, int):
        try:
            return repr(value)
        except ValueError:
            # Python doesn't write integers of more than 4,300 digits.
            return f"a {type(value).__name__} with a number too long to write"
    if abs(value) < 10**_LONGEST:
        return repr(value)
    power = round(math.log10(abs(value)))
    return f"a number of {power + (abs(value) >= 10**power)} digits"
