r"""One cell of a published table: the number as it was printed, without what decorates it."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

from assay.decisions.audit.printed import printed
from assay.errors import InputError

MISSING = frozenset(
    {"", "-", "--", "---", "n/a", "na", "nan", "none", "null", "n.a.", "x", "?", "...", "/"}
)
_DASHES = str.maketrans(dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2212", "-"))
_MARKS = re.compile(
    r"[*†‡§¶#\u2020\u2021\u2191\u2193\u25b2\u25bc✓]+|\[\d+(?:,\s*\d+)*\]|\^\{?\w\}?"
)
_RAISED = re.compile(r"[\u00b2\u00b3\u00b9\u2070-\u207f\u1d43-\u1d9c\u02b0-\u02b8ªº]")
_NUMBER = r"[+-]?(?:\d(?:[\d,.']|[ ](?=\d{3}(?!\d)))*|\.\d+)(?:e[+-]?\d{1,3})?"
_SPREAD = re.compile(
    rf"({_NUMBER})\s*(%?)\s*\(?\s*(?:±|\+/-|\+-)\s*({_NUMBER})\s*(%?)\s*\)?",
    re.IGNORECASE,
)
_INTERVAL = re.compile(
    rf"({_NUMBER})\s*(%?)\s*[(\[]\s*(?:95%?\s*ci:?\s*)?({_NUMBER})\s*%?\s*(?:,|;|-|to)\s*({_NUMBER})\s*%?\s*[)\]]",
    re.IGNORECASE,
)
_ASIDE = re.compile(rf"({_NUMBER})\s*(%?)\s*\(\s*({_NUMBER})\s*%?\s*\)")
_PLAIN = re.compile(rf"({_NUMBER})\s*(%?)", re.IGNORECASE)
_DECIMAL_COMMA = re.compile(r"(?<![\d.,])(?:0,\d+|\d+,(?:\d{1,2}|\d{4,}))(?![\d,.])")
_DECIMAL_POINT = re.compile(r"\d\.\d")


@dataclass(frozen=True)
class Entry:
    """A cell: ``number`` as printed, its ``spread`` or ``interval``; or that nothing stands there.

    ``odd`` holds what could not be read as a number.
    """

    number: str | None = None
    spread: str | None = None
    interval: tuple[str, str] | None = None
    odd: str = ""

    @property
    def missing(self) -> bool:
        """Whether nothing stands in the cell."""
        return self.number is None and not self.odd


def entry_of(text: str, *, comma: bool = False) -> Entry:
    """Read a cell; with ``comma`` a comma is the decimal point.

    >>> entry_of("**98.2%** ± 0.3*"), entry_of("\u2014").missing
    (Entry(number='98.2%', spread='0.3', interval=None, odd=''), True)
    """
    shown = cleaned(text)
    if shown.casefold() in MISSING:
        return Entry()
    number = spread = None
    interval: tuple[str, str] | None = None
    if found := _INTERVAL.fullmatch(shown):
        number, sign, ends = found[1], found[2], (found[3], found[4])
        interval = f"{ends[0]}{sign}", f"{ends[1]}{sign}"
    elif found := _SPREAD.fullmatch(shown):
        number, sign, spread = found[1], found[2] or found[4], found[3]
    elif found := _ASIDE.fullmatch(shown):
        number, sign, spread = found[1], found[2], found[3]
    elif found := _PLAIN.fullmatch(shown):
        number, sign = found[1], found[2]
    else:
        return Entry(odd=text.strip())
    try:
        value = f"{_pointed(number, comma=comma)}{sign}"
        printed(value)
        if interval is not None:
            interval = _pointed(interval[0], comma=comma), _pointed(interval[1], comma=comma)
            list(map(printed, interval))
    except InputError:
        return Entry(odd=text.strip())
    return Entry(value, None if spread is None else _pointed(spread, comma=comma), interval)


def cleaned(text: str) -> str:
    """A cell without marks of emphasis and footnotes, in plain signs."""
    shown = unicodedata.normalize("NFC", text).translate(_DASHES)
    shown = _RAISED.sub("", shown).replace("\u00a0", " ").replace("\u2009", " ")
    shown = re.sub(r"</?(?:b|i|u|em|strong|sub|mark)>|<sup>.*?</sup>|`|~~|__", "", shown)
    return re.sub(r"\s+", " ", _MARKS.sub(" ", shown)).strip()


def count_text(text: str) -> str | None:
    """A count as digits alone, with any separator of thousands; None where it is no count.

    >>> count_text("12,833"), count_text("9 711"), count_text("0.97")
    ('12833', '9711', None)
    """
    shown = cleaned(text).removesuffix(".0")
    if not re.fullmatch(r"\d{1,3}(?:[,.' \u202f]\d{3})+|\d+", shown):
        return None
    return re.sub(r"\D", "", shown)


def are_counts(cells: list[str], *, may_count: bool, comma: bool = False) -> bool:
    """Whether cells of a share can only be counts of rows: whole numbers, one of them beyond 100.

    Where a heading ``may_count``, whole numbers are enough, since 34 is then as likely 34 rows.
    """
    shown = [cleaned(cell) for cell in cells if not entry_of(cell, comma=comma).missing]
    counts = [None if comma and "," in cell else count_text(cell) for cell in shown]
    numbers = [int(count) for count in counts if count is not None and count[0] != "0"]
    return len(numbers) == len(counts) > 0 and max(numbers) > (1 if may_count else 100)


def uses_comma(cells: list[str]) -> bool:
    """Whether a comma is the decimal point of these cells.

    It is where some number can't be read otherwise (0,967 or 96,7) and none has a point.
    """
    shown = [cleaned(cell) for cell in cells]
    return any(map(_DECIMAL_COMMA.search, shown)) and not any(map(_DECIMAL_POINT.search, shown))


def _pointed(text: str, *, comma: bool) -> str:
    """A number with a decimal point, and with no blanks between thousands."""
    shown = text.replace("'", "").replace(" ", "")
    if comma:
        shown = shown.replace(".", "").replace(",", ".")
    return shown
